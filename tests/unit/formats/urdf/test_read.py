"""Reading URDF: the result for each element, and errors for each mistake."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.errors import FormatError
from poise.figure.model.pose import to_matrix
from poise.figure.model.shapes import Box, Capsule, Cylinder, Mesh, Sphere
from poise.formats.urdf.read import parse_urdf, read_urdf
from tests import real_data

ARM = """<?xml version="1.0"?>
<robot name="arm">
  <material name="orange"><color rgba="1 0.5 0 1"/></material>
  <link name="base"/>
  <link name="upper">
    <inertial>
      <origin xyz="0.1 0.2 0.3" rpy="0 0 1.5707963267948966"/>
      <mass value="2"/>
      <inertia ixx="1" ixy="0.1" ixz="0" iyy="2" iyz="0" izz="3"/>
    </inertial>
    <visual>
      <origin xyz="0 0 1"/>
      <geometry><cylinder radius="0.1" length="2"/></geometry>
      <material name="orange"/>
    </visual>
    <collision><geometry><box size="1 2 3"/></geometry></collision>
  </link>
  <link name="lower">
    <visual><geometry><sphere radius="0.2"/></geometry><material name=""><color rgba="0 0 1 0.5"/></material></visual>
    <visual><geometry><capsule radius="0.2" length="0.5"/></geometry></visual>
    <visual><geometry><mesh filename="package://arm/lower.stl" scale="1 -1 0.001"/></geometry></visual>
  </link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="upper"/>
    <origin xyz="1 2 3" rpy="0.1 0.2 0.3"/>
    <limit lower="-1" upper="2" velocity="3" effort="40"/>
  </joint>
  <joint name="elbow" type="prismatic">
    <parent link="upper"/><child link="lower"/>
    <axis xyz="0 0 2"/>
    <limit lower="0" upper="0.5" velocity="0" effort="0"/>
  </joint>
</robot>
"""


def one_joint(joint, links=("a", "b"), head='<robot name="r">'):
    """A document with the joint alone on line 3."""
    return f"{head}{''.join(f'<link name={link!r}/>' for link in links)}\n\n{joint}\n</robot>"


def hinge(inside="", kind="revolute", name="j", ends='<parent link="a"/><child link="b"/>'):
    return f'<joint name="{name}" type="{kind}">{ends}{inside}</joint>'


def refused(source):
    with pytest.raises(FormatError) as caught:
        parse_urdf(source, Path("robot.urdf"))
    assert caught.value.path == Path("robot.urdf")
    return caught.value


@pytest.fixture
def arm():
    return parse_urdf(ARM)


def test_tree(arm):
    assert arm.name == "arm"
    assert arm.up == "z"
    assert arm.bodies.names == ("base", "upper", "lower")
    assert arm.roots == ("base",)
    assert [(joint.name, joint.kind, joint.parent, joint.child) for joint in arm.joints] == [
        ("shoulder", "revolute", "base", "upper"),
        ("elbow", "prismatic", "upper", "lower"),
    ]


def test_joint_frame_and_default_axis(arm):
    shoulder = arm.joints["shoulder"]
    assert shoulder.axes == ((1.0, 0.0, 0.0),)
    assert shoulder.parent_frame.position.tolist() == [1.0, 2.0, 3.0]
    x, y, z = (to_matrix([math.cos(a / 2), *(math.sin(a / 2) * np.eye(3)[i])]) for i, a in enumerate((0.1, 0.2, 0.3)))
    np.testing.assert_allclose(shoulder.parent_frame.matrix, z @ y @ x, atol=1e-15)
    assert arm.joints["elbow"].axes == ((0.0, 0.0, 1.0),)


def test_limits_and_zero_speed_means_unknown(arm):
    shoulder, elbow = arm.joints
    assert (shoulder.lower, shoulder.upper, shoulder.speed, shoulder.strength) == ((-1.0,), (2.0,), 3.0, 40.0)
    assert (elbow.lower, elbow.upper, elbow.speed, elbow.strength) == ((0.0,), (0.5,), math.inf, math.inf)


def test_inertia_is_turned_by_the_origin(arm):
    mass = arm.bodies["upper"].mass
    assert mass.mass == 2.0
    np.testing.assert_allclose(mass.center, [0.1, 0.2, 0.3])
    np.testing.assert_allclose(mass.inertia, [[2, -0.1, 0], [-0.1, 1, 0], [0, 0, 3]], atol=1e-12)


def test_shapes(arm):
    cylinder, box = arm.bodies["upper"].shapes
    assert isinstance(cylinder, Cylinder)
    assert (cylinder.radius, cylinder.length, cylinder.role) == (0.1, 2.0, "visual")
    assert cylinder.color == (1.0, 0.5, 0.0)
    assert cylinder.pose.position.tolist() == [0.0, 0.0, 1.0]
    assert isinstance(box, Box)
    assert (box.size, box.role) == ((1.0, 2.0, 3.0), "collision")
    sphere, capsule, mesh = arm.bodies["lower"].shapes
    assert isinstance(sphere, Sphere)
    assert sphere.color == (0.0, 0.0, 1.0)
    assert isinstance(capsule, Capsule)
    assert isinstance(mesh, Mesh)
    assert (mesh.path, mesh.scale) == ("package://arm/lower.stl", (1.0, -1.0, 0.001))


@pytest.mark.parametrize(
    ("written", "kind"),
    [("continuous", "revolute"), ("fixed", "fixed"), ("planar", "planar"), ("floating", "free"), ("spherical", "ball")],
)
def test_types(written, kind):
    assert parse_urdf(one_joint(hinge(kind=written))).joints["j"].kind == kind


def test_continuous_joints_ignore_limits():
    joint = parse_urdf(one_joint(hinge('<limit lower="1" upper="2" velocity="3" effort="4"/>', "continuous"))).joints[
        "j"
    ]
    assert (joint.lower, joint.upper, joint.speed) == ((-math.inf,), (math.inf,), 3.0)


@pytest.mark.parametrize(
    "limit", ['<limit effort="1" velocity="2"/>', '<limit lower="0" upper="0" effort="0" velocity="0"/>', ""]
)
def test_limits_left_blank_do_not_limit(limit):
    joint = parse_urdf(one_joint(hinge(limit))).joints["j"]
    assert (joint.lower, joint.upper) == ((-math.inf,), (math.inf,))


def test_a_missing_bound_is_zero_and_bounds_may_be_infinite():
    assert parse_urdf(one_joint(hinge('<limit upper="2"/>'))).joints["j"].lower == (0.0,)
    assert parse_urdf(one_joint(hinge('<limit lower="-inf" upper="2"/>'))).joints["j"].lower == (-math.inf,)


def test_a_zero_axis_matters_only_where_it_is_used():
    assert parse_urdf(one_joint(hinge('<axis xyz="0 0 0"/>', "fixed"))).nv == 0


def test_shapes_without_extent_are_left_out():
    link = '<link name="a"><visual><geometry><box size="1 0 1"/></geometry></visual></link>'
    assert parse_urdf(f"<robot name='r'>{link}</robot>").bodies["a"].shapes == ()
    link = '<link name="a"><visual><geometry><capsule radius="1" length="0"/></geometry></visual></link>'
    assert isinstance(parse_urdf(f"<robot name='r'>{link}</robot>").bodies["a"].shapes[0], Sphere)


def test_a_robot_without_a_name_is_called_after_its_file():
    assert parse_urdf(one_joint(hinge(), head="<robot>"), Path("spot.urdf")).name == "spot"


def test_namespaces_and_undeclared_prefixes():
    assert parse_urdf('<robot name="r" xmlns="http://drake.mit.edu"><link name="a"/></robot>').bodies.names == ("a",)
    assert parse_urdf('<robot name="r"><link name="a"/><gazebo><sensor:imu/></gazebo></robot>').bodies.names == ("a",)


def two_hinges(first="", second=""):
    """Joints j and k on one line."""
    ends = '<parent link="b"/><child link="c"/>'
    return one_joint(hinge(first) + hinge(second, name="k", ends=ends), links=("a", "b", "c"))


def test_mimic():
    figure = parse_urdf(two_hinges(second='<mimic joint="j" multiplier="-2" offset="0.5"/>'))
    posture = figure.posture({"j": 0.3})
    assert posture["k"] == pytest.approx(-2 * 0.3 + 0.5)
    assert figure.violations(posture) == []
    assert figure.violations(figure.posture([0.3, 0.0])) != []


def test_mimic_of_fixed_joints():
    fixed = one_joint(
        hinge(kind="fixed")
        + hinge('<mimic joint="j" offset="0.2"/>', name="k", ends='<parent link="b"/><child link="c"/>'),
        links=("a", "b", "c"),
    )
    assert parse_urdf(fixed).neutral()["k"] == pytest.approx(0.2)
    still = hinge('<mimic joint="nobody"/>', kind="fixed")
    assert len(parse_urdf(one_joint(still)).couplings) == 0


def test_mimic_without_the_prefix_of_its_hand(caplog):
    hand = hinge(name="left_q1") + hinge(
        '<mimic joint="q1"/>', name="left_q2", ends='<parent link="b"/><child link="c"/>'
    )
    figure = parse_urdf(one_joint(hand, links=("a", "b", "c")))
    assert [term.joint for term in figure.couplings[0].terms] == ["left_q2", "left_q1"]
    assert "'left_q1' is taken" in caplog.text


MISTAKES = {
    "unknown type": (one_joint(hinge(kind="revolved")), 3, "unknown type 'revolved'. Did you mean 'revolute'?"),
    "no type": (one_joint('<joint name="j"/>'), 3, "needs the attribute 'type'"),
    "no name": (one_joint('<joint type="fixed"/>'), 3, "needs the attribute 'name'"),
    "no parent": (one_joint(hinge(ends='<child link="b"/>')), 3, "has no <parent>"),
    "no child": (one_joint(hinge(ends='<parent link="a"/>')), 3, "has no <child>"),
    "no such link": (
        one_joint(hinge(ends='<parent link="a"/><child link="bb"/>')),
        3,
        "names the child link 'bb', which does not exist. Did you mean 'b'?",
    ),
    "two parents": (one_joint(hinge() + "\n" + hinge(name="k")), 4, "'b' has two parents: joint 'j' and joint 'k'"),
    "two roots": (one_joint("", links=("a", "b")), 1, "the links 'a', 'b' have no parent joint"),
    "cycle": (
        one_joint(hinge() + "\n" + hinge(name="k", ends='<parent link="b"/><child link="a"/>')),
        3,
        "form a circle: b → a → b",
    ),
    "own parent": (one_joint(hinge(ends='<parent link="b"/><child link="b"/>'), ("b",)), 3, "form a circle: b → b"),
    "two links of a name": (one_joint("", links=("a", "a")), 1, "two links named 'a'"),
    "two joints of a name": (one_joint(hinge() + "\n" + hinge()), 4, "two joints named 'j'; the first is on line 3"),
    "zero axis": (one_joint(hinge('<axis xyz="0 0 0"/>')), 3, "axis of length 0"),
    "crossed limits": (one_joint(hinge('<limit lower="1" upper="-1"/>')), 3, "lower limit 1 above its upper limit -1"),
    "negative speed": (one_joint(hinge('<limit lower="0" upper="1" velocity="-1"/>')), 3, "negative velocity limit -1"),
    "not a number": (one_joint(hinge('<axis xyz="0 O 1"/>')), 3, "xyz of <axis> must be a number, not 'O'"),
    "NaN": (one_joint(hinge('<limit lower="nan" upper="1"/>')), 3, "lower of <limit> must be a number, not 'nan'"),
    "infinite": (one_joint(hinge('<origin xyz="0 inf 0"/>')), 3, "must be a finite number, not 'inf'"),
    "too big": (one_joint(hinge('<origin xyz="0 1e200 0"/>')), 3, "must be a finite number, not '1e200'"),
    "other digits": (one_joint(hinge('<origin xyz="0 ٣ 0"/>')), 3, "must be a number"),
    "underscores": (one_joint(hinge('<origin xyz="0 1_0 0"/>')), 3, "must be a number"),
    "two numbers": (one_joint(hinge('<origin xyz="0 1"/>')), 3, "xyz of <origin> must be 3 numbers, not '0 1'"),
    "mimic of nobody": (one_joint(hinge('<mimic joint="x"/>')), 3, "mimics joint 'x', which does not exist"),
    "mimic of itself": (one_joint(hinge('<mimic joint="j"/>')), 3, "in a circle: j → j"),
    "mimic in a circle": (two_hinges('<mimic joint="k"/>', '<mimic joint="j"/>'), 3, "in a circle: j → k → j"),
    "mimic of a plane": (one_joint(hinge('<mimic joint="j"/>', "planar")), 3, "circle"),
    "unmet mimic": (
        two_hinges('<limit lower="0" upper="1"/>', '<limit lower="5" upper="6"/><mimic joint="j"/>'),
        3,
        "joint 'k' cannot mimic joint 'j', which puts it at 0 … 1: its own limits are 5 … 6",
    ),
    "negative mass": (
        '<robot name="r"><link name="a"><inertial>\n<mass value="-1"/></inertial></link></robot>',
        2,
        "a mass must be zero or a positive number of kilograms, not -1",
    ),
    "NaN mass": (
        '<robot name="r"><link name="a"><inertial>\n<mass value="nan"/></inertial></link></robot>',
        2,
        "value of <mass> must be a number, not 'nan'",
    ),
    "negative size": (
        '<robot name="r"><link name="a"><visual><geometry>\n<sphere radius="-1"/></geometry></visual></link></robot>',
        2,
        "must be a positive number, not -1",
    ),
    "unknown shape": (
        '<robot name="r"><link name="a"><visual><geometry>\n<cone radius="1"/></geometry></visual></link></robot>',
        2,
        "<cone> is not a geometry of URDF",
    ),
    "no shape": ('<robot name="r"><link name="a">\n<visual/></link></robot>', 2, "<visual> has no geometry"),
    "mesh without a file": (
        '<robot name="r"><link name="a"><visual><geometry>\n<mesh/></geometry></visual></link></robot>',
        2,
        "<mesh> needs the attribute 'filename'",
    ),
    "other document": ("\n<mujoco/>", 2, "a URDF file must start with <robot>, not with <mujoco>"),
    "no links": ('<robot name="r">\n</robot>', 1, "no links"),
    "macro": ('<robot xmlns:xacro="http://ros.org/wiki/xacro">\n<xacro:include/></robot>', 2, "a xacro file"),
    "undeclared macro": ('<robot name="r">\n<xacro:include/></robot>', 2, "a xacro file"),
    "expression": (one_joint(hinge('\n<origin xyz="${x} 0 0"/>')), 4, "a xacro file"),
    "truncated": (ARM[: ARM.index("</link>")], 17, "."),
    "mismatched": ("<robot>\n<link></robot>", 2, "link"),
    "garbage after the end": ('<robot name="r"><link name="a"/></robot>\n\nrest', 3, "Extra content"),
    "zero byte after the end": (b'<robot name="r"><link name="a"/></robot>\n\0', 2, "Extra content"),
    "empty": ("", 1, "empty"),
    "no XML": ("solid arm\nendsolid", 1, "Start tag expected"),
    "wrong bytes": (b'<robot name="\xff"/>', 1, "encoding"),
    "half a character": ("<robot>\n\ud800</robot>", 2, "surrogate"),
    "unknown encoding": (b'<?xml version="1.0" encoding="elvish"?><robot/>', 1, "encoding"),
    "deep": ("<robot>" + "<link>" * 1000, 1, "depth"),
    "doctype": ('<?xml version="1.0"?>\n<!-- c --><!DOCTYPE robot>\n<robot/>', 2, "DOCTYPE"),
    "entity": ('<!DOCTYPE robot [<!ENTITY a "b">]><robot name="&a;"/>', 1, "DOCTYPE"),
    "doctype in another encoding": ("<!DOCTYPE robot><robot/>".encode("utf-16"), 1, "DOCTYPE"),
}


@pytest.mark.parametrize(("source", "line", "reason"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes(source, line, reason):
    error = refused(source)
    assert reason in error.reason
    assert error.line == line
    assert str(error).startswith(f"robot.urdf:{line}: ")


def test_entities_do_not_multiply():
    laughs = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 12))
    for encoding in ("utf-8", "utf-16"):
        bomb = f'<!DOCTYPE robot [<!ENTITY l0 "ha">{laughs}]><robot name="&l11;"/>'.encode(encoding)
        assert refused(bomb).line == 1


def test_many_comments_before_the_root_cost_nothing():
    assert parse_urdf("<!-- -->" * 5000 + '<robot name="r"><link name="a"/></robot>').name == "r"


def test_a_missing_file():
    with pytest.raises(FormatError, match="does not exist"):
        read_urdf(Path("nowhere.urdf"))


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("name", "line"), [("pybullet_humanoid_trailing_garbage.urdf", 288), ("erd_ur3_xacro_not_urdf.urdf", 6)]
)
def test_broken_files_of_others(name, line):
    with pytest.raises(FormatError) as caught:
        read_urdf(real_data.FOLDER / "malformed" / "urdf" / name)
    assert caught.value.line == line


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(noise):
    for source in (noise, ARM.encode()[:900] + noise + ARM.encode()[900:]):
        try:
            parse_urdf(source)
        except FormatError as error:
            assert error.line is not None


@given(
    st.sampled_from(["xyz", "rpy", "value", "ixx", "radius", "length", "size", "lower", "velocity", "link", "joint"]),
    st.text(max_size=12)
    | st.sampled_from(["nan", "inf", "-inf", "1e400", "1e49 1e49 1e49", "-1", "0 0 0", "1e-300", "", "0x1p4"]),
)
def test_any_value_is_read_or_refused(attribute, value):
    escaped = value.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    at = ARM.index(f' {attribute}="') + len(attribute) + 3 if f' {attribute}="' in ARM else 0
    source = ARM[:at] + escaped + ARM[ARM.index('"', at) :] if at else ARM
    try:
        figure = parse_urdf(source)
    except FormatError as error:
        assert error.line is not None
    else:
        assert np.isfinite(figure.frames(figure.neutral()).position).all()


def test_collada_meshes_that_say_y_up_are_turned_if_that_brings_them_to_their_links(tmp_path):
    from tests.unit.figure.collision.test_collada import text

    # A sheet of 1 m by 2 m with its middle at (0.5, 1, 0).
    (tmp_path / "sheet.dae").write_text(text(), encoding="utf-8")
    for center, middle in (("0.5 0 1", (0.5, 0.0, 1.0)), ("0.5 1 0", (0.5, 1.0, 0.0))):
        urdf = f"""<robot name="r"><link name="a"><inertial><origin xyz="{center}"/><mass value="1"/></inertial>
            <collision><geometry><mesh filename="sheet.dae"/></geometry></collision></link></robot>"""
        (tmp_path / "r.urdf").write_text(urdf, encoding="utf-8")
        (shape,) = read_urdf(tmp_path / "r.urdf").bodies["a"].shapes
        np.testing.assert_allclose(shape.pose.apply((0.5, 1.0, 0.0)), middle, atol=1e-12)
