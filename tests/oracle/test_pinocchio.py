"""URDF robots against Pinocchio: frames, Jacobians, mass and gravity torques; on the ground, afloat and re-rooted."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from poise.errors import FormatError
from poise.figure.model.figure import Figure
from poise.figure.model.pose import to_matrix
from poise.formats.urdf.closures import parse_closures
from poise.formats.urdf.read import parse_urdf, read_urdf
from tests.mechanisms import MADE, parallel_robot

pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed on this platform")

ROBOTS = Path(pin.__file__).parents[4] / "share" / "example-robot-data" / "robots"
REFUSED = {"falcon_description/urdf/falcon.urdf", "ur_description/urdf/ur3.urdf"}
"""Files that are no URDF, such as one that a program should have made of a xacro file."""
URDFS = sorted({str(file.relative_to(ROBOTS)) for file in ROBOTS.rglob("*.urdf")} - REFUSED)
GRAVITY = np.array([0.0, 0.0, -9.81])
EXACT = {"rtol": 0.0, "atol": 1e-9}
POSTURES = 20
SAMPLED_FRAMES = 6

EVERY_TYPE = """<robot name="every_type">
  <link name="base"><inertial><mass value="2"/><origin xyz="0.1 0 0.2" rpy="0.3 0.2 0.1"/>
    <inertia ixx="1" ixy="0.1" ixz="0.05" iyy="2" iyz="0.2" izz="1.5"/></inertial></link>
  <link name="sled"><inertial><mass value="1"/><origin xyz="0 0.3 0.1"/>
    <inertia ixx="1" ixy="0" ixz="0.1" iyy="2" iyz="0" izz="1.5"/></inertial></link>
  <link name="wheel"><inertial><mass value="3"/><origin xyz="0 0 0.4"/>
    <inertia ixx="1" ixy="0" ixz="0.1" iyy="2" iyz="0" izz="1.5"/></inertial></link>
  <link name="kite"><inertial><mass value="0.5"/><origin xyz="0.2 0 0"/>
    <inertia ixx="1" ixy="0" ixz="0.1" iyy="2" iyz="0" izz="1.5"/></inertial></link>
  <link name="rod"><inertial><mass value="0.7"/><origin xyz="0.2 0.1 0"/>
    <inertia ixx="1" ixy="0" ixz="0.1" iyy="2" iyz="0" izz="1.5"/></inertial></link>
  <link name="tip"/>
  <joint name="glide" type="planar"><parent link="base"/><child link="sled"/><axis xyz="0 0 1"/>
    <origin xyz="0.5 0 0.1" rpy="0.4 -0.3 0.2"/></joint>
  <joint name="spin" type="continuous"><parent link="sled"/><child link="wheel"/><axis xyz="0.6 0 -0.8"/>
    <origin xyz="0 0.2 0" rpy="1 2 3"/></joint>
  <joint name="fly" type="floating"><parent link="wheel"/><child link="kite"/><origin xyz="0 0 1" rpy="0 1 0"/></joint>
  <joint name="push" type="prismatic"><parent link="kite"/><child link="rod"/><axis xyz="1 2 -2"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <joint name="weld" type="fixed"><parent link="rod"/><child link="tip"/><origin xyz="0.3 0 0" rpy="0 0 1"/></joint>
</robot>"""


@dataclass
class Twin:
    """A figure and Pinocchio's model of the same robot."""

    figure: Figure
    model: "pin.Model"

    def __post_init__(self):
        self.data = self.model.createData()
        self.frames = [
            (i, name) for i, frame in enumerate(self.model.frames) if (name := self._body(frame)) is not None
        ]

    def _body(self, frame):
        """Our body at one of Pinocchio's frames: a link, or the child of a joint."""
        if frame.type == pin.FrameType.BODY:
            return frame.name
        return self.figure.joints[frame.name].child if frame.name in self.figure.joints else None

    def joint_pairs(self):
        for joint in self.figure.joints:
            if joint.nq:
                name = joint.name if self.model.existJointName(joint.name) else "root_joint"
                yield joint, self.model.joints[self.model.getJointId(name)]

    def q(self, posture):
        """Pinocchio's q: angles without end as cosine and sine, quaternions with w last."""
        q = np.zeros(self.model.nq)
        for joint, other in self.joint_pairs():
            ours = posture.q[self.figure.q_slice(joint.name)]
            theirs = {
                "revolute": lambda a: a if other.nq == 1 else (np.cos(a[0]), np.sin(a[0])),  # noqa: B023
                "prismatic": lambda a: a,
                "planar": lambda a: (a[0], a[1], np.cos(a[2]), np.sin(a[2])),
                "free": lambda a: (*a[:3], *a[4:], a[3]),
            }[joint.kind](ours)
            q[other.idx_q : other.idx_q + other.nq] = theirs
        return q

    def rates(self, posture):
        """(nv, nv) map from our rates to Pinocchio's, whose planar and free joints move along their own moved axes."""
        convert = np.zeros((self.model.nv, self.figure.nv))
        for joint, other in self.joint_pairs():
            ours = posture.q[self.figure.q_slice(joint.name)]
            block = np.eye(joint.nv)
            if joint.kind == "free":
                block[:3, :3] = to_matrix(ours[3:]).T
            if joint.kind == "planar":
                c, s = np.cos(ours[2]), np.sin(ours[2])
                block[:2, :2] = [[c, s], [-s, c]]
            convert[other.idx_v : other.idx_v + other.nv, self.figure.v_slice(joint.name)] = block
        return convert

    def postures(self, count=POSTURES, seed=0):
        """Postures inside a moderate range, whatever the limits and couplings say."""
        rng = np.random.default_rng(seed)
        for _ in range(count):
            yield self.figure.posture(rng.uniform(-1.0, 1.0, self.figure.nq))

    def place(self, posture):
        """Let Pinocchio compute frames, and return them as (m, 3) and (m, 3, 3) in the order of `frames`."""
        pin.framesForwardKinematics(self.model, self.data, self.q(posture))
        placed = [self.data.oMf[i] for i, _ in self.frames]
        return np.array([f.translation for f in placed]), np.array([f.rotation for f in placed])

    def jacobian(self, frame, posture):
        """(6, nv) of one of Pinocchio's frames, for our rates."""
        J = pin.computeFrameJacobian(
            self.model, self.data, self.q(posture), frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        )
        return J @ self.rates(posture)

    def center(self, posture):
        """Centre of mass and its Jacobian, with what is welded to the world, which Pinocchio leaves out."""
        moving = pin.computeTotalMass(self.model)
        still = self.model.inertias[0]
        if moving == 0.0:
            return still.lever, np.zeros((3, self.figure.nv))
        q, total = self.q(posture), moving + still.mass
        J = pin.jacobianCenterOfMass(self.model, self.data, q) @ self.rates(posture)
        com = pin.centerOfMass(self.model, self.data, q)
        return (moving * com + still.mass * still.lever) / total, J * moving / total


def load(urdf, *, floating):
    path = ROBOTS / urdf
    root = (pin.JointModelFreeFlyer(),) if floating else ()
    model = pin.buildModelFromUrdf(str(path), *root)
    figure = read_urdf(path)
    return Twin(figure.with_floating_base() if floating else figure, model)


def check_everything(twin):
    names = [name for _, name in twin.frames]
    assert set(names) == set(twin.figure.bodies.names)
    rows = [twin.figure.frame_row(name) for name in names]
    rng = np.random.default_rng(1)
    for posture in twin.postures():
        position, rotation = twin.place(posture)
        frames = twin.figure.frames(posture)
        np.testing.assert_allclose(frames.position[rows], position, **EXACT)
        np.testing.assert_allclose([to_matrix(frames.rotation[row]) for row in rows], rotation, **EXACT)
        for pick in rng.choice(len(names), min(SAMPLED_FRAMES, len(names)), replace=False):
            frame, name = twin.frames[pick]
            np.testing.assert_allclose(twin.figure.jacobian(name, posture), twin.jacobian(frame, posture), **EXACT)
        check_mass(twin, posture)


def check_mass(twin, posture):
    torques = pin.computeGeneralizedGravity(twin.model, twin.data, twin.q(posture)) @ twin.rates(posture)
    np.testing.assert_allclose(twin.figure.gravity_torques(posture, GRAVITY), torques, **EXACT)
    if twin.figure.mass > 0.0:
        center, jacobian = twin.center(posture)
        np.testing.assert_allclose(twin.figure.center_of_mass(posture), center, **EXACT)
        np.testing.assert_allclose(twin.figure.center_of_mass_jacobian(posture), jacobian, **EXACT)
    if twin.figure.mass > 0.0 and twin.model.inertias[0].mass == 0.0:
        pin.ccrba(twin.model, twin.data, twin.q(posture), np.zeros(twin.model.nv))
        axis = np.array([2.0, -1.0, 2.0]) / 3.0
        expected = axis @ twin.data.Ig.inertia @ axis
        assert twin.figure.moment_of_inertia(posture, axis) == pytest.approx(expected, rel=1e-11, abs=1e-9)


def test_the_robots_are_there():
    assert len(URDFS) > 50


@pytest.mark.parametrize("urdf", sorted(REFUSED))
def test_both_refuse_what_is_no_robot(urdf):
    with pytest.raises(ValueError, match="not"):
        pin.buildModelFromUrdf(str(ROBOTS / urdf))
    with pytest.raises(FormatError) as refused:
        read_urdf(ROBOTS / urdf)
    assert refused.value.line is not None


@pytest.mark.parametrize("urdf", URDFS)
def test_robot_on_the_ground(urdf):
    twin = load(urdf, floating=False)
    assert twin.figure.nv == twin.model.nv
    check_everything(twin)


@pytest.mark.parametrize("urdf", URDFS)
def test_robot_afloat(urdf):
    twin = load(urdf, floating=True)
    assert twin.figure.nv == twin.model.nv
    check_everything(twin)


@pytest.mark.parametrize("floating", [False, True])
def test_every_joint_type_of_the_format(floating):
    figure = parse_urdf(EVERY_TYPE)
    root = (pin.JointModelFreeFlyer(),) if floating else ()
    twin = Twin(figure.with_floating_base() if floating else figure, pin.buildModelFromXML(EVERY_TYPE, *root))
    check_everything(twin)


def far_from_root(figure):
    """The body with the most joints above it."""
    depth = {None: 0}
    for body, joint in figure.tree_order:
        depth[body] = depth[joint.parent if joint else None] + 1
    del depth[None]
    return max(depth, key=depth.get)


def same_rates(figure, other):
    """(nv, nv') selection that gives `figure` the rates of equally named joints of `other`, free joints left out."""
    pick = np.zeros((figure.nv, other.nv))
    for joint in figure.joints:
        if joint.kind != "free":
            pick[figure.v_slice(joint.name), other.v_slice(joint.name)] = np.eye(joint.nv)
    return pick


def seen_from(root, body):
    """(6, nv) velocity of `body` relative to `root` in the root's axes."""
    (J_root, p_root, R), (J, p) = root, body
    arm = pin.skew(p - p_root)
    linear = J[:3] - J_root[:3] + arm @ J_root[3:]
    return np.vstack([R.T @ linear, R.T @ (J[3:] - J_root[3:])])


@pytest.mark.parametrize("urdf", URDFS)
def test_robot_rooted_elsewhere(urdf):
    """Rooted at another body, all bodies keep their places and velocities relative to that body."""
    twin = load(urdf, floating=False)
    root = far_from_root(twin.figure)
    frame_of = {name: i for i, name in twin.frames}
    names = [name for _, name in twin.frames]
    turned = twin.figure.rerooted(root)
    rows = [turned.frame_row(name) for name in names]
    at_root = names.index(root)
    pick = same_rates(turned, twin.figure)
    rng = np.random.default_rng(2)
    for posture in twin.postures():
        same = turned.adopt(posture)
        position, rotation = twin.place(posture)
        frames = turned.frames(same)
        home, R = turned.pose_of(root, same), rotation[at_root]
        places = (position - position[at_root]) @ R
        np.testing.assert_allclose((frames.position[rows] - home.position) @ home.matrix, places, **EXACT)
        turns = [home.matrix.T @ to_matrix(frames.rotation[row]) for row in rows]
        np.testing.assert_allclose(turns, R.T @ rotation, **EXACT)
        base = (twin.jacobian(frame_of[root], posture), position[at_root], R)
        for name in rng.choice(names, min(SAMPLED_FRAMES, len(names)), replace=False):
            expected = seen_from(base, (twin.jacobian(frame_of[name], posture), position[names.index(name)]))
            ours = turned.jacobian(name, same) @ pick
            turn = home.matrix.T
            np.testing.assert_allclose(np.vstack([turn @ ours[:3], turn @ ours[3:]]), expected, **EXACT)


@pytest.mark.parametrize("urdf", URDFS)
def test_robot_afloat_rooted_elsewhere(urdf):
    """Afloat, the same motion described from another body moves every body and lifts every mass alike."""
    twin = load(urdf, floating=True)
    root = far_from_root(twin.figure)
    frame_of = {name: i for i, name in twin.frames}
    turned = twin.figure.rerooted(root)
    base = next(joint for joint in turned.joints if joint.kind == "free")
    rng = np.random.default_rng(3)
    for posture in twin.postures():
        same = turned.adopt(posture)
        position, rotation = twin.place(posture)
        rows = [turned.frame_row(name) for _, name in twin.frames]
        frames = turned.frames(same)
        np.testing.assert_allclose(frames.position[rows], position, **EXACT)
        np.testing.assert_allclose([to_matrix(frames.rotation[row]) for row in rows], rotation, **EXACT)
        v = rng.uniform(-1.0, 1.0, twin.figure.nv)
        moved = twin.jacobian(frame_of[root], posture) @ v
        w = same_rates(turned, twin.figure) @ v
        w[turned.v_slice(base.name)] = [*moved[:3], *(turned.pose_of(root, same).matrix.T @ moved[3:])]
        for pick in rng.choice(len(rows), min(SAMPLED_FRAMES, len(rows)), replace=False):
            frame, name = twin.frames[pick]
            np.testing.assert_allclose(turned.jacobian(name, same) @ w, twin.jacobian(frame, posture) @ v, **EXACT)
        torques = pin.computeGeneralizedGravity(twin.model, twin.data, twin.q(posture)) @ twin.rates(posture)
        assert turned.gravity_torques(same, GRAVITY) @ w == pytest.approx(torques @ v, rel=1e-11, abs=1e-9)


GEPETTO = ("5bar_linkage", "5bar_linkage_iso6d", "digit_like", "robot_delta", "wl16_like")


@pytest.mark.parametrize("robot", [*MADE, *(pytest.param(name, marks=pytest.mark.real_data) for name in GEPETTO)])
def test_gaps_of_loops(robot, tmp_path):
    """A closure's gap is that between the two frames that Pinocchio finds under the names in the YAML file."""
    urdf, yaml = parallel_robot(robot, tmp_path)
    twin = Twin(read_urdf(urdf, yaml), pin.buildModelFromUrdf(str(urdf)))
    pairs = [(a.text, b.text) for a, b, _ in parse_closures(yaml.read_bytes()).loops]
    assert len(pairs) == len(twin.figure.loops) > 0
    for posture in twin.postures():
        pin.framesForwardKinematics(twin.model, twin.data, twin.q(posture))
        gaps = []
        for pair in pairs:
            near, far = (twin.data.oMf[twin.model.getFrameId(name)] for name in pair)
            gap = near.actInv(far)
            gaps += [np.linalg.norm(gap.translation), np.linalg.norm(pin.log3(gap.rotation))]
        assert twin.figure.closure_error(posture) == pytest.approx(max(gaps), abs=1e-7)
