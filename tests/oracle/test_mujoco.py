"""MJCF models against MuJoCo: frames, Jacobians, centre of mass, gravity torques and the gaps of loops.

Values keep their meaning, so q is MuJoCo's qpos and rates are its qvel.
"""

from pathlib import Path

import numpy as np
import pytest

from poise.figure.model.pose import to_matrix
from poise.formats.mjcf.read import parse_mjcf, read_mjcf
from tests.mechanisms import FOUR_BARS, four_bar

mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed")

GRAVITY = np.array([0.3, -9.7, 0.2])
EXACT = {"rtol": 0.0, "atol": 1e-9}

SOLID = '<geom type="box" size=".1 .2 .3" pos=".1 -.1 .05" euler=".3 .2 .1"/>'

ZOO = f"""<mujoco model="zoo"><compiler angle="radian"/>
<default><joint damping="1"/><default class="tilted"><joint axis="1 2 -1" pos=".05 .1 -.2"/></default></default>
<worldbody>
  <geom type="plane" size="1 1 1"/><site name="target" pos="1 2 3" euler="1 0 0"/>
  <body name="torso" pos=".1 .2 .3" quat=".5 .5 .5 -.5"><freejoint name="root"/>{SOLID}
    <body name="thigh" pos=".3 0 .1" euler=".1 .2 .3">
      <joint name="hip_x" axis="1 0 0" pos=".05 .1 0" ref=".3"/>
      <joint name="hip_slide" type="slide" axis="0 1 .3" ref=".1"/>
      <joint name="hip_z" axis="0 0 1" pos=".1 0 0" range="-1 1"/>{SOLID}
      <site name="knee_cap" pos=".1 .2 .3" euler="1 2 3"/>
      <frame pos=".1 0 0" euler="0 .4 0">
        <body name="shin" pos="0 .3 .1"><joint name="knee" type="ball" pos=".1 .02 .03"/>{SOLID}
          <body name="foot" pos="0 0 .4" euler="0 1 0">{SOLID}<site name="toe" pos=".3 0 .1"/></body>
        </body>
      </frame>
    </body>
    <body name="arm" pos="-.3 0 .1"><joint name="shoulder" class="tilted"/>
      <joint name="reach" type="slide" class="tilted"/>{SOLID}
      <body name="hand" pos="0 0 .3"><joint name="wrist" type="ball"/>{SOLID}<site name="grip" pos="0 .1 .1"/></body>
    </body>
  </body>
  <body name="crane" pos="2 0 0" euler=".3 .1 0">{SOLID}
    <body name="boom" pos="0 0 .5"><joint axis="0 1 0"/>{SOLID}
      <body name="hook" pos=".5 0 0"><joint type="slide" axis="0 0 1"/><inertial mass="2" pos=".1 .1 0"
        fullinertia="1 2 2.5 .1 .2 .3"/></body>
    </body>
  </body>
  <body name="ball" pos="0 1 0"><freejoint/>{SOLID}</body>
</worldbody></mujoco>"""

LOOPS = f"""<mujoco model="loops"><compiler angle="radian"/>
<worldbody>
  <body name="a" pos=".1 0 0"><joint name="a" axis="0 1 0" ref=".4"/>{SOLID}
    <site name="sa" pos=".1 .2 .3" euler=".1 .2 .3"/>
    <body name="b" pos="0 0 1"><joint name="b" type="ball"/>{SOLID}</body>
  </body>
  <body name="c" pos="1 0 0" euler="0 .2 0"><joint name="c" type="slide" axis="1 1 0"/>{SOLID}
    <body name="d" pos="0 0 1"><joint name="d" axis="1 0 0"/>{SOLID}
      <site name="sd" pos="-.1 0 .2" euler="0 1 0"/></body>
  </body>
</worldbody>
<equality>{{}}</equality></mujoco>"""

EQUALITIES = {
    "connect": '<connect body1="b" body2="d" anchor=".1 .2 .3"/>',
    "connect to the world": '<connect body1="d" anchor=".1 .2 .3"/>',
    "connect of sites": '<connect site1="sa" site2="sd"/>',
    "weld": '<weld body1="b" body2="d" anchor=".2 0 .1"/>',
    "weld with a pose": '<weld body1="b" body2="d" relpose=".1 .2 .3 .5 .5 -.5 .5" anchor=".3 .1 .2"/>',
    "weld to the world": '<weld body1="d"/>',
    "weld of sites": '<weld site1="sa" site2="sd"/>',
}


def moving_posture(figure, rng):
    """A posture far from rest: limits are not looked at."""
    return figure.posture(rng.uniform(-1.0, 1.0, figure.nq))


def forward(model, posture):
    data = mujoco.MjData(model)
    data.qpos[:] = posture.q
    mujoco.mj_forward(model, data)
    return data


def jacobian(model, data, point, body):
    out = np.zeros((6, model.nv))
    mujoco.mj_jac(model, data, out[:3], out[3:], point, body)
    return out


def check_frames(figure, model, posture, data):
    for i in range(1, model.nbody):
        name = model.body(i).name
        pose = figure.pose_of(name, posture)
        np.testing.assert_allclose(pose.position, data.xpos[i], **EXACT)
        np.testing.assert_allclose(pose.matrix.ravel(), data.xmat[i], **EXACT)
        np.testing.assert_allclose(figure.jacobian(name, posture), jacobian(model, data, data.xpos[i], i), **EXACT)
    for i in range(model.nsite):
        name = model.site(i).name
        pose = figure.pose_of(name, posture)
        np.testing.assert_allclose(pose.position, data.site_xpos[i], **EXACT)
        np.testing.assert_allclose(pose.matrix.ravel(), data.site_xmat[i], **EXACT)
        expected = np.zeros((6, model.nv))
        mujoco.mj_jacSite(model, data, expected[:3], expected[3:], i)
        np.testing.assert_allclose(figure.jacobian(name, posture), expected, **EXACT)


def check_mass(figure, model, posture, data):
    np.testing.assert_allclose(figure.center_of_mass(posture), data.subtree_com[0], **EXACT)
    expected = np.zeros((3, model.nv))
    mujoco.mj_jacSubtreeCom(model, data, expected, 0)
    np.testing.assert_allclose(figure.center_of_mass_jacobian(posture), expected, **EXACT)
    np.testing.assert_allclose(figure.gravity_torques(posture, GRAVITY), data.qfrc_bias, **EXACT)
    total = sum(about_center(model, data, i) for i in range(1, model.nbody))
    axis = np.array([2.0, -1.0, 2.0]) / 3.0
    assert figure.moment_of_inertia(posture, axis) == pytest.approx(axis @ total @ axis, rel=1e-12)


def about_center(model, data, body):
    """Inertia of one body about the centre of mass of all, in world axes."""
    turn, arm = data.ximat[body].reshape(3, 3), data.xipos[body] - data.subtree_com[0]
    own = turn @ np.diag(model.body_inertia[body]) @ turn.T
    return own + model.body_mass[body] * (arm @ arm * np.eye(3) - np.outer(arm, arm))


def check_model(figure, model):
    model.opt.gravity[:] = GRAVITY
    assert (figure.nq, figure.nv) == (model.nq, model.nv)
    rng = np.random.default_rng(0)
    for _ in range(20):
        posture = moving_posture(figure, rng)
        data = forward(model, posture)
        check_frames(figure, model, posture, data)
        check_mass(figure, model, posture, data)


def gaps(model, data):
    """MuJoCo's own residuals of its equalities: what its constraint solver would pull to zero."""
    residuals = []
    for i in range(model.neq):
        rows = (data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY) & (data.efc_id == i)
        residuals.append(data.efc_pos[rows])
    return residuals


def test_all_joints():
    check_model(parse_mjcf(ZOO), mujoco.MjModel.from_xml_string(ZOO))


def test_rest_posture_is_that_of_the_file():
    figure, model = parse_mjcf(ZOO), mujoco.MjModel.from_xml_string(ZOO)
    np.testing.assert_allclose(figure.neutral().q, model.qpos0, **EXACT)


def test_integration_moves_alike():
    figure, model = parse_mjcf(ZOO), mujoco.MjModel.from_xml_string(ZOO)
    rng = np.random.default_rng(1)
    for _ in range(20):
        posture, rates = moving_posture(figure, rng), rng.uniform(-2.0, 2.0, figure.nv)
        q = posture.q.copy()
        mujoco.mj_integratePos(model, q, rates, 1.0)
        ours = figure.integrate(posture, rates)
        np.testing.assert_allclose(figure.difference(ours, q), np.zeros(figure.nv), **EXACT)


@pytest.mark.parametrize("equality", EQUALITIES.values(), ids=EQUALITIES)
def test_gaps_of_loops(equality):
    text = LOOPS.format(equality)
    figure, model = parse_mjcf(text), mujoco.MjModel.from_xml_string(text)
    check_model(figure, model)
    rng = np.random.default_rng(2)
    for _ in range(20):
        posture = moving_posture(figure, rng)
        (residual,) = gaps(model, forward(model, posture))
        distance = np.linalg.norm(residual[:3])
        # MuJoCo's rotation residual is the vector part of the relative quaternion.
        turned = 2.0 * np.arcsin(min(np.linalg.norm(residual[3:]), 1.0))
        expected = max(distance, turned)
        assert figure.closure_error(posture) == pytest.approx(expected, abs=1e-7)


def test_loops_are_closed_where_the_file_closes_them():
    for equality in ("connect", "connect to the world", "weld", "weld to the world"):
        figure = parse_mjcf(LOOPS.format(EQUALITIES[equality]))
        assert figure.closure_error(figure.neutral()) < 1e-12


@pytest.mark.parametrize("linkage", FOUR_BARS)
def test_four_bar_linkage(linkage, tmp_path):
    path = four_bar(linkage, tmp_path)
    figure, model = read_mjcf(path), mujoco.MjModel.from_xml_path(str(path))
    check_model(figure, model)
    rng = np.random.default_rng(3)
    for _ in range(20):
        posture = moving_posture(figure, rng)
        (residual,) = gaps(model, forward(model, posture))
        assert figure.closure_error(posture) == pytest.approx(np.linalg.norm(residual), abs=1e-9)
    assert [joint.name for joint in figure.joints if joint.nq and not joint.active] == ["hinge_3"]


def test_coupled_joints():
    text = LOOPS.format(
        '<joint joint1="a" joint2="d" polycoef=".2 -1.5 0 0 0"/><joint joint1="c" polycoef=".1 0 0 0 0"/>'
    )
    figure, model = parse_mjcf(text), mujoco.MjModel.from_xml_string(text)
    rng = np.random.default_rng(4)
    for _ in range(20):
        posture = figure.random(rng)
        for residual in gaps(model, forward(model, posture)):
            np.testing.assert_allclose(residual, 0.0, **EXACT)


def test_limited_balls_stay_inside_the_angle():
    text = ZOO.replace('name="wrist" type="ball"', 'name="wrist" type="ball" range="0 1.2"')
    figure, model = parse_mjcf(text), mujoco.MjModel.from_xml_string(text)
    at = model.jnt_qposadr[model.joint("wrist").id]
    rng = np.random.default_rng(5)
    angles = [2.0 * np.arccos(min(abs(figure.random(rng).q[at]), 1.0)) for _ in range(300)]
    assert max(angles) <= 1.2 + 1e-9
    assert max(angles) > 1.0


def test_meshes_stand_where_the_file_puts_them(tmp_path):
    """MuJoCo moves a mesh to its principal axes; ours is given in the axes of its file."""
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3]], dtype=float)
    faces = [(1, 3, 2), (1, 2, 4), (1, 4, 3), (2, 3, 4)]
    lines = [f"v {x} {y} {z}" for x, y, z in corners] + [f"f {a} {b} {c}" for a, b, c in faces]
    (tmp_path / "wedge.obj").write_text("\n".join(lines))
    (tmp_path / "robot.xml").write_text(
        '<mujoco><compiler angle="radian"/><asset><mesh name="w" file="wedge.obj" scale=".1 .2 .3"/></asset><worldbody>'
        '<body name="b" pos="1 0 0"><freejoint/><geom type="mesh" mesh="w" pos=".1 .2 .3" euler=".3 .2 .1"/></body>'
        "</worldbody></mujoco>"
    )
    figure = read_mjcf(tmp_path / "robot.xml")
    (mesh,) = figure.bodies["b"].shapes
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml"))
    placed = to_matrix(model.geom_quat[0]) @ model.mesh_vert.T + model.geom_pos[0][:, None]
    ours = np.array([mesh.pose.apply(corner * np.array(mesh.scale)) for corner in corners])
    assert Path(mesh.path) == tmp_path / "wedge.obj"
    for point in ours:
        assert np.linalg.norm(placed.T - point, axis=1).min() < 1e-6
