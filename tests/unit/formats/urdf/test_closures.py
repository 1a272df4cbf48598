"""Closures files: loops, motors and joint types of a URDF."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.errors import FormatError
from poise.formats.urdf.closures import parse_closures, with_closures
from poise.formats.urdf.read import parse_urdf, read_urdf
from tests import real_data

GEPETTO = real_data.LOOPS / "gepetto"


def hinge(name, parent, child, at):
    return (
        f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{at}"/><axis xyz="0 0 1"/></joint>'
    )


FIVE_BAR = f"""<robot name="five_bar">
{"".join(f'<link name="{name}"/>' for name in ("ground", "a1", "a2", "a_tip", "b1", "b2", "b_tip"))}
{hinge("motor_a", "ground", "a1", "-1 0 0")}{hinge("knee_a", "a1", "a2", "0 1 0")}
{hinge("tip_a", "a2", "a_tip", "1 1 0")}
{hinge("motor_b", "ground", "b1", "1 0 0")}{hinge("knee_b", "b1", "b2", "0 1 0")}
{hinge("tip_b", "b2", "b_tip", "-1 1 0")}
</robot>"""

CLOSED = """closed_loop: [['tip_a', 'b_tip']]
type: ['6d']
name_mot: [motor_a, motor_b]
"""


@pytest.fixture(scope="module")
def five_bar():
    return parse_urdf(FIVE_BAR)


def closed(figure, text):
    return with_closures(figure, parse_closures(text, Path("robot.yaml")))


def test_loop_between_a_joint_and_a_link(five_bar):
    figure = closed(five_bar, CLOSED)
    (loop,) = figure.loops
    assert (loop.kind, loop.parent, loop.child) == ("fixed", "a_tip", "b_tip")
    assert figure.closure_error(figure.neutral()) < 1e-12
    assert figure.closure_error(figure.posture({"knee_a": 0.3})) > 0.1


def test_only_motors_are_active(five_bar):
    figure = closed(five_bar, CLOSED)
    assert [joint.name for joint in figure.joints if joint.active] == ["motor_a", "motor_b"]
    assert all(joint.active for joint in closed(five_bar, "closed_loop: [[a_tip, b_tip]]").joints)


@pytest.mark.parametrize(("written", "kind"), [("3d", "ball"), ("3D", "ball"), ("6D", "fixed")])
def test_types_of_loops(five_bar, written, kind):
    assert closed(five_bar, f"closed_loop: [[a_tip, b_tip]]\ntype: [{written}]").loops[0].kind == kind


def test_a_point_loop_leaves_turning_free(five_bar):
    figure = closed(five_bar, "closed_loop: [[a_tip, b_tip]]\ntype: [3d]")
    assert figure.closure_error(figure.posture({"tip_a": 1.0})) < 1e-12


def test_loops_are_6d_without_a_type_and_have_different_names(five_bar):
    figure = closed(five_bar, "closed_loop: [[a_tip, b_tip], [a_tip, b_tip]]")
    assert [(loop.name, loop.kind) for loop in figure.loops] == [
        ("a_tip_meets_b_tip", "fixed"),
        ("a_tip_meets_b_tip_2", "fixed"),
    ]


def test_exchanged_joints(five_bar):
    text = "joint_name: [tip_a, tip_b, knee_a]\njoint_type: [SPHERICAL, UJOINT_ZY, FIXED]"
    joints = closed(five_bar, text).joints
    assert [joints[name].kind for name in ("tip_a", "tip_b", "knee_a")] == ["ball", "universal", "fixed"]
    assert joints["tip_b"].axes == ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0))
    np.testing.assert_array_equal(joints["tip_a"].parent_frame.position, [1.0, 1.0, 0.0])


def test_a_joint_to_exchange_that_does_not_exist_is_logged(five_bar, caplog):
    assert closed(five_bar, "joint_name: [tip_c]\njoint_type: [SPHERICAL]").nv == five_bar.nv
    assert "joint_name has the unknown joint 'tip_c'" in caplog.text


def test_an_empty_list_closes_nothing(five_bar):
    assert len(closed(five_bar, "closed_loop:\nname_mot: []").loops) == 0


MISTAKES = {
    "unknown frame": ("\nclosed_loop: [[tip_a,\n tip_x]]", 3, "no link or joint 'tip_x'. Did you mean"),
    "unknown motor": ("name_mot:\n- motor_a\n- motor_x", 3, "no joint 'motor_x'. Did you mean 'motor_"),
    "unknown type": ("closed_loop: [[a_tip, b_tip]]\ntype: [5d]", 2, "must be 6d or 3d, not '5d'"),
    "missing type": ("closed_loop: [[a_tip, b_tip]]\ntype: []", 2, "closed_loop has 1 entries and type has 0"),
    "unknown joint type": ("joint_name: [tip_a]\njoint_type: [CARDAN]", 2, "not 'CARDAN'"),
    "equal axes": ("joint_name: [tip_a]\njoint_type: [UJOINT_XX]", 2, "not 'UJOINT_XX'"),
    "no joint types": ("\njoint_name: [tip_a]", 2, "joint_name has 1 entries and joint_type has 0"),
    "three frames": ("closed_loop: [[a_tip, b_tip],\n [a1, a2, b1]]", 2, "pairs of names, and this one has 3"),
    "no pairs": ("closed_loop: [a_tip, b_tip]", 1, "must be a list of pairs"),
    "no list": ("name_mot: motor_a", 1, "name_mot must be a list of names"),
    "no names": ("name_mot: [[motor_a]]", 1, "name_mot must be a list of names"),
    "unknown key": ("type: []\nclosed_loops: []", 2, "unknown key 'closed_loops'. Did you mean 'closed_loop'?"),
    "key twice": ("type: []\ntype: []", 2, "'type' twice"),
    "list as key": ("[a]: 1", 1, "unknown key"),
    "no map": ("- a", 1, "must map names to lists"),
    "nothing": ("", 1, "must map names to lists"),
    "two documents": ("type: []\n---\ntype: []", 2, "another document"),
    "syntax": ("closed_loop: [[a\ntype: 6d", 2, "."),
    "anchor": ("closed_loop: &a []", 1, "anchor or alias"),
    "alias": ("\nclosed_loop: [*a]", 2, "anchor or alias"),
    "deep": ("closed_loop: " + "[" * 50, 1, "nested"),
    "bytes": (b"closed_loop: []\n\xff", 2, "UTF-8"),
    "control characters": ("closed_loop: \x01", 1, "is not YAML"),
}


@pytest.mark.parametrize(("text", "line", "reason"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes(five_bar, text, line, reason):
    with pytest.raises(FormatError) as caught:
        closed(five_bar, text)
    assert reason in caught.value.reason
    assert (caught.value.path, caught.value.line) == (Path("robot.yaml"), line)


def test_very_deep_documents_are_refused_before_they_are_built(five_bar):
    with pytest.raises(FormatError, match="nested"):
        closed(five_bar, "closed_loop: " + "[" * 100_000)


def test_an_exchanged_joint_that_a_coupling_names():
    mimic = FIVE_BAR.replace('<axis xyz="0 0 1"/></joint>', '<axis xyz="0 0 1"/><mimic joint="motor_b"/></joint>', 1)
    with pytest.raises(FormatError, match="must say which coordinate"):
        closed(parse_urdf(mimic), "joint_name: [motor_b]\njoint_type: [SPHERICAL]")


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("robot", "nv", "loops", "motors"),
    [
        ("5bar_linkage", 6, 1, 2),
        ("5bar_linkage_iso6d", 8, 1, 2),
        ("digit_like", 27, 3, 6),
        ("disney_robot", 50, 6, 12),
        ("robot_delta", 14, 3, 2),
        ("wl16_like", 42, 5, 6),
    ],
)
def test_robots_of_others(robot, nv, loops, motors):
    figure = read_urdf(GEPETTO / robot / "robot.urdf", GEPETTO / robot / "robot.yaml")
    assert (figure.nv, len(figure.loops)) == (nv, loops)
    assert sum(joint.active for joint in figure.joints) == motors


@given(st.binary(max_size=60), st.integers(0, len(CLOSED)))
def test_any_bytes_are_read_or_refused(noise, at):
    figure = parse_urdf(FIVE_BAR)
    for source in (noise, CLOSED[:at].encode() + noise + CLOSED[at:].encode()):
        try:
            with_closures(figure, parse_closures(source))
        except FormatError as error:
            assert error.line is not None
