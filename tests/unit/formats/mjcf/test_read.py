"""Reading MJCF: the result for each element, and errors for each mistake."""

import math
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.errors import FormatError, MissingPackageError
from poise.figure.model.shapes import Box, Capsule, Cylinder, Ellipsoid, Sphere
from poise.formats.mjcf import actuators, constraints, model, shapes
from poise.formats.mjcf.read import parse_mjcf, read_mjcf

pytest.importorskip("mujoco", reason="MuJoCo is not installed")

BALL = '<geom size=".1"/>'
LEG = f"""<mujoco model="leg"><compiler angle="radian"/>
<default><default class="visual"><geom contype="0" conaffinity="0"/></default></default>
<asset><material name="skin" rgba=".1 .2 .3 1"/></asset>
<worldbody><geom type="plane" size="1 1 1"/>
  <body name="pelvis" pos="0 0 1">
    <geom type="box" size=".1 .2 .3" material="skin"/>
    <geom class="visual" type="cylinder" size=".1 .2" rgba="1 0 0 1"/>
    <geom type="ellipsoid" size=".1 .2 .3" group="3"/>
    <body name="thigh" pos="0 0 -.1">
      <joint name="hip_x" axis="1 0 0" range="-1 2"/>
      <joint name="hip_y" axis="0 1 0" ref=".5"/>
      <geom type="capsule" size=".05 .2"/>
      <body pos="0 0 -.4"><joint axis="0 1 0"/>{BALL}<site name="sole" pos="0 0 -.1"/><site/>
        <body>{BALL}</body>
      </body>
    </body>
  </body>
</worldbody>
{{}}</mujoco>"""


def with_extra(extra):
    return LEG.format(extra)


def one_body(inside, extra=""):
    return f'<mujoco><worldbody><body name="b">\n{inside}</body></worldbody>\n{extra}</mujoco>'


@pytest.fixture(scope="module")
def leg():
    return parse_mjcf(with_extra(""))


def test_tree(leg):
    assert (leg.name, leg.up) == ("leg", "z")
    assert [(joint.name, joint.kind, joint.parent, joint.child) for joint in leg.joints] == [
        ("pelvis_fixed", "fixed", None, "pelvis"),
        ("hip_x", "revolute", "pelvis", "thigh_hip_x"),
        ("hip_y", "revolute", "thigh_hip_x", "thigh"),
        ("body_3_hinge", "revolute", "thigh", "body_3"),
        ("body_4_fixed", "fixed", "body_3", "body_4"),
    ]
    assert leg.sites.names == ("sole", "site_1")
    assert leg.bodies["thigh_hip_x"].mass.mass == 0.0


def test_shapes_roles_and_colours(leg):
    box, cylinder, ellipsoid = leg.bodies["pelvis"].shapes
    assert isinstance(box, Box)
    assert (box.size, box.role) == ((0.2, 0.4, 0.6), "both")
    assert box.color == pytest.approx((0.1, 0.2, 0.3), abs=1e-6)
    assert isinstance(cylinder, Cylinder)
    assert (cylinder.radius, cylinder.length, cylinder.role) == (0.1, 0.4, "visual")
    assert isinstance(ellipsoid, Ellipsoid)
    assert (ellipsoid.radii, ellipsoid.role) == ((0.1, 0.2, 0.3), "collision")
    (capsule,) = leg.bodies["thigh"].shapes
    assert isinstance(capsule, Capsule)
    assert (capsule.radius, capsule.length) == (0.05, 0.4)
    assert isinstance(leg.bodies["body_4"].shapes[0], Sphere)


def test_ranges_and_references(leg):
    assert (leg.joints["hip_x"].lower, leg.joints["hip_x"].upper) == ((-1.0,), (2.0,))
    assert leg.joints["hip_y"].lower == (-math.inf,)
    assert leg.neutral()["hip_y"] == 0.5
    upright = leg.pose_of("sole", leg.neutral())
    np.testing.assert_allclose(upright.position, [0.0, 0.0, 1.0 - 0.1 - 0.4 - 0.1], atol=1e-12)


def test_the_world_is_a_body_only_when_something_is_on_it(leg):
    assert "world" not in leg.bodies
    with_floor = parse_mjcf(f'<mujoco><worldbody>{BALL}<body name="b">{BALL}</body></worldbody></mujoco>')
    assert with_floor.bodies.names == ("world", "b")


def test_free_joints_hold_the_pose_in_the_world():
    figure = parse_mjcf(f'<mujoco><worldbody><body name="b" pos="1 2 3"><freejoint/>{BALL}</body></worldbody></mujoco>')
    assert (figure.joints[0].name, figure.joints[0].kind, figure.joints[0].parent) == ("b_free", "free", None)
    assert figure.neutral().q.tolist() == [1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0]
    assert figure.with_floating_base() is figure


def test_up_is_against_gravity():
    for gravity, up in (("0 -9.81 0", "y"), ("-1 0 0", "x"), ("0 0 0", "z"), ("0 -1 -1", "z"), ("0 5 0", "z")):
        text = f'<mujoco><option gravity="{gravity}"/><worldbody><body>{BALL}</body></worldbody></mujoco>'
        assert parse_mjcf(text).up == up


def test_keyframes_are_postures():
    keys = '<keyframe><key name="kick" qpos="1 2 3"/><key qpos="0 .1 .2"/></keyframe>'
    figure = parse_mjcf(with_extra(keys))
    assert figure.posture_names == ("neutral", "kick", "key_1")
    assert figure.posture("kick").q.tolist() == [1.0, 2.0, 3.0]


def test_actuated_joints_are_active():
    figure = parse_mjcf(with_extra('<actuator><motor joint="hip_y" gear="5" forcerange="-2 3"/></actuator>'))
    assert [joint.name for joint in figure.joints if joint.nq and joint.active] == ["hip_y"]
    assert figure.joints["hip_y"].strength == 15.0
    assert all(joint.active for joint in parse_mjcf(with_extra("")).joints)


def test_a_joint_may_cap_its_motor():
    text = with_extra('<actuator><motor joint="hip_x" gear="5"/></actuator>')
    figure = parse_mjcf(text.replace('range="-1 2"', 'range="-1 2" actuatorfrcrange="-7 6"'))
    assert figure.joints["hip_x"].strength == 7.0


def test_coupled_joints():
    figure = parse_mjcf(
        with_extra('<equality><joint name="c" joint1="hip_y" joint2="hip_x" polycoef="0 2 0 0 0"/></equality>')
    )
    posture = figure.posture({"hip_x": 0.3})
    assert posture["hip_y"] == pytest.approx(0.5 + 2 * 0.3)


def test_joints_coupled_by_a_polynomial():
    """As MuJoCo has it: q₁ - r₁ = Σ c_k (q₂ - r₂)^k, with the reference 0.5 of hip_y."""
    both = '<joint name="c" joint1="{}" joint2="{}" polycoef="0.1 1 -0.5 0.2 0.3"/>'
    figure = parse_mjcf(with_extra(f"<equality>{both.format('hip_y', 'hip_x')}</equality>"))
    assert figure.posture({"hip_x": 0.3})["hip_y"] == pytest.approx(
        0.5 + 0.1 + 0.3 - 0.5 * 0.3**2 + 0.2 * 0.3**3 + 0.3 * 0.3**4
    )
    figure = parse_mjcf(with_extra(f"<equality>{both.format('hip_x', 'hip_y')}</equality>"))
    assert figure.posture({"hip_y": 0.7})["hip_x"] == pytest.approx(
        0.1 + 0.2 - 0.5 * 0.2**2 + 0.2 * 0.2**3 + 0.3 * 0.2**4
    )


def test_fixed_tendons_bound_their_joints():
    tendon = (
        '<tendon><fixed name="t" range="-.2 .4"><joint joint="hip_x" coef="2"/><joint joint="hip_y" coef="-1"/></fixed>'
    )
    figure = parse_mjcf(with_extra(tendon + '</tendon><actuator><motor tendon="t"/></actuator>'))
    (coupling,) = figure.couplings
    assert (coupling.lower, coupling.upper) == (-0.2, 0.4)
    assert [(term.joint, term.factor) for term in coupling.terms] == [("hip_x", 2.0), ("hip_y", -1.0)]
    assert [joint.name for joint in figure.joints if joint.nq and joint.active] == ["hip_x", "hip_y"]


def test_inactive_equalities_close_nothing():
    equality = '<equality><connect body1="pelvis" body2="thigh" anchor="0 0 0" active="false"/></equality>'
    assert len(parse_mjcf(with_extra(equality)).loops) == 0


def test_parts_share_no_name():
    text = with_extra('<equality><connect name="hip_x" body1="pelvis" body2="thigh" anchor="0 0 0"/></equality>')
    assert parse_mjcf(text).loops.names == ("hip_x_2",)


SPATIAL = (
    '<tendon>\n<spatial name="t"><site site="sole"/><site site="top"/></spatial></tendon>',
    '<site name="top"/>',
)

MISTAKES = {
    "syntax": ("<mujoco>\n<worldbody></mujoco>", 2, "worldbody"),
    "doctype": ("<!DOCTYPE mujoco><mujoco/>", 1, "DOCTYPE"),
    "other document": ("<robot/>", 1, "an MJCF file must start with <mujoco>, not with <robot>"),
    "unknown element": ("<mujoco>\n<worldbdy/></mujoco>", 2, "MuJoCo cannot compile it: XML Error: Schema violation"),
    "zero axis": (one_body(f'<joint axis="0 0 0"/>{BALL}'), 2, "axis too small"),
    "NaN": (one_body(f'<joint axis="0 nan 1"/>{BALL}'), 2, "axis of <joint> is not a number: '0 nan 1'"),
    "no mass": (one_body("<joint/>"), 1, "mass and inertia of moving bodies"),
    "nothing": ("<mujoco/>", 1, "has no bodies"),
    "spatial tendon": (
        with_extra(SPATIAL[0]).replace('<body name="thigh"', SPATIAL[1] + '<body name="thigh"'),
        20,
        "'t'",
    ),
    "copies": (
        one_body('<replicate count="1000"><replicate count="1000"><geom size=".1"/></replicate></replicate>'),
        2,
        "more than 3000 copies",
    ),
    "cells": ('<mujoco><asset>\n<hfield nrow="1e6" ncol="1e6"/></asset></mujoco>', 2, "more than 40000000 cells"),
    "entries": ('<mujoco>\n<size nkey="100000000"/></mujoco>', 2, "more than 1000000 entries"),
    "missing mesh": ('<mujoco><asset><mesh name="m" file="nowhere.stl"/></asset></mujoco>', 1, "nowhere.stl"),
    "latin-1": (
        '<?xml version="1.0" encoding="iso-8859-1"?>\n<mujoco model="é"/>'.encode("latin-1"),
        2,
        "is not UTF-8 text",
    ),
    "empty": (b"", 1, "empty"),
}


@pytest.mark.parametrize(("source", "line", "reason"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes(source, line, reason):
    with pytest.raises(FormatError) as caught:
        parse_mjcf(source, Path("robot.xml"))
    assert reason in caught.value.reason
    assert (caught.value.path, caught.value.line) == (Path("robot.xml"), line)


def test_enumeration_values_equal_mujocos():
    """The reader has the values of MuJoCo's enumerations as constants, so that it can be imported without MuJoCo."""
    mujoco = pytest.importorskip("mujoco")
    joints = [name.removeprefix("mjJNT_").lower() for name in mujoco.mjtJoint.__members__]
    assert tuple(joints) == model.JOINT_KINDS
    equalities = [name.removeprefix("mjEQ_").lower() for name in mujoco.mjtEq.__members__]
    assert tuple(equalities) == constraints._EQUALITY_NAMES
    assert int(mujoco.mjtObj.mjOBJ_SITE) == constraints._SITE_OBJECT
    assert int(mujoco.mjtWrap.mjWRAP_JOINT) == constraints._JOINT_WRAP
    transmissions = (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT, mujoco.mjtTrn.mjTRN_TENDON)
    assert tuple(map(int, transmissions)) == (
        actuators._JOINT_TRANSMISSION,
        actuators._JOINT_IN_PARENT_TRANSMISSION,
        actuators._TENDON_TRANSMISSION,
    )
    solids = ("SPHERE", "CAPSULE", "ELLIPSOID", "CYLINDER", "BOX", "MESH")
    for solid in solids:
        assert int(getattr(mujoco.mjtGeom, f"mjGEOM_{solid}")) == getattr(shapes, f"_{solid}_GEOM")


def test_warnings_go_to_the_log_and_leave_no_file(tmp_path, monkeypatch, caplog):
    monkeypatch.chdir(tmp_path)
    parse_mjcf(one_body(f'<joint axis="0 0 1"/><joint axis="0 0 1"/>{BALL}'))
    assert "Inertia matrix is too close to singular" in caplog.text
    assert list(tmp_path.iterdir()) == []


def test_files_beside_the_file_are_found(tmp_path):
    (tmp_path / "hand.xml").write_text(f'<mujocoinclude><body name="hand">{BALL}</body></mujocoinclude>')
    (tmp_path / "robot.xml").write_text('<mujoco><worldbody><include file="hand.xml"/></worldbody></mujoco>')
    figure = read_mjcf(tmp_path / "robot.xml")
    assert (figure.name, figure.bodies.names) == ("robot", ("hand",))


def test_the_extra_to_install_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'poise\[mjcf\]'"):
        parse_mjcf(with_extra(""))


@given(st.binary(max_size=40), st.integers(0, 900))
def test_any_bytes_are_read_or_refused(noise, at):
    text = with_extra("").encode()
    for source in (noise, text[:at] + noise + text[at:]):
        try:
            parse_mjcf(source)
        except FormatError as error:
            assert error.line is not None
