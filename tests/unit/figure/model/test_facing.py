"""Which way heads face: built in, found by name in files, saved, and unknown."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import poise
from poise import FigureError, FormatError, LookAt
from poise.figure.model.builder import Builder, ball, free, revolute
from poise.figure.model.facing import with_facing_head
from poise.figure.model.pose import turn

NAMES = {
    "plain": ("pelvis", "head", "left_foot", "right_foot", "left_hand", "right_hand"),
    "mixamo": tuple(f"mixamorig:{name}" for name in ("Hips", "Head", "LeftFoot", "RightFoot", "LeftHand", "RightHand")),
    "robot": ("pelvis_link", "head_link", "l_foot_link", "r_foot_link", "l_hand_link", "r_hand_link"),
}
PLACES = ((0, 1, 0), (0, 0.7, 0.03), (0.1, -0.9, 0), (-0.1, -0.9, 0), (0.2, 0, 0), (-0.2, 0, 0))
"""Places of those parts on a body that faces +z: the pelvis in the world, the others on the pelvis."""


def body_with(names, turned=(1.0, 0.0, 0.0, 0.0), up="y"):
    """A body with these names, turned as a whole at its root; the frame of its head is turned once more."""
    builder = Builder("body", up=up)
    pelvis = builder.body(names[0], joint=free("base"), turned=turned)
    for name, at in zip(names[1:], PLACES[1:], strict=True):
        builder.body(name, parent=pelvis, joint=ball(f"{name}_joint"), at=at, turned=turn("x", 20.0))
    return builder.build()


def sight(figure, part):
    """Where a part looks in the neutral posture."""
    return figure.pose_of(part, figure.neutral()).matrix @ figure.facing_axis(part)


@pytest.mark.parametrize("part", ["head", "eyes", "crown"])
def test_a_human_looks_with_its_face(part):
    assert sight(poise.load("human"), part) == pytest.approx([0, 0, 1], abs=1e-12)


def test_a_built_in_head_looks_where_its_eyes_do():
    for name in ("human", "cyclist"):
        figure = poise.load(name)
        assert sight(figure, "head") == pytest.approx(sight(figure, "eyes"), abs=1e-12)


@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
@pytest.mark.parametrize("heading", [0.0, 90.0, -90.0, 180.0, 37.0])
def test_a_head_that_is_found_by_its_name_faces_forward(names, heading):
    figure = with_facing_head(body_with(names, turn("y", heading)))
    ahead = np.array([np.sin(np.radians(heading)), 0.0, np.cos(np.radians(heading))])
    assert sight(figure, names[1]) == pytest.approx(ahead, abs=1e-9)


def test_a_body_that_stands_along_another_axis_than_its_file_says_is_found_all_the_same():
    figure = with_facing_head(body_with(NAMES["plain"], turn("x", 90.0)))
    assert sight(figure, "head") == pytest.approx([0, -1, 0], abs=1e-9)


def test_a_skewed_skeleton_is_straightened():
    figure = with_facing_head(body_with(NAMES["plain"], turn("y", 4.0)))
    assert sight(figure, "head") == pytest.approx([0, 0, 1], abs=1e-9)


def test_a_head_that_says_where_it_faces_keeps_that():
    human = poise.load("human")
    assert with_facing_head(human) is human


BVH = """HIERARCHY
ROOT Hips
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT Head
  {
    OFFSET 0 0.7 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 0 0.2 0
    }
  }
  JOINT LeftUpLeg
  {
    OFFSET %s
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 0 -0.9 0
    }
  }
  JOINT RightUpLeg
  {
    OFFSET %s
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 0 -0.9 0
    }
  }
}
MOTION
Frames: 1
Frame Time: 0.1
0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
"""
URDF = """<robot name="tin">
<link name="pelvis"/><link name="head"/><link name="l_foot"/><link name="r_foot"/>
<joint name="neck" type="revolute"><parent link="pelvis"/><child link="head"/><origin xyz="0 0 0.7"/>
<axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<joint name="l" type="fixed"><parent link="pelvis"/><child link="l_foot"/><origin xyz="0 0.1 -0.9"/></joint>
<joint name="r" type="fixed"><parent link="pelvis"/><child link="r_foot"/><origin xyz="0 -0.1 -0.9"/></joint>
</robot>"""


@pytest.mark.parametrize(
    ("name", "text", "head", "ahead"),
    [
        ("a.bvh", BVH % ("0.1 0 0", "-0.1 0 0"), "Head", (0, 0, 1)),
        ("b.bvh", BVH % ("0 0 0.1", "0 0 -0.1"), "Head", (-1, 0, 0)),
        ("c.urdf", URDF, "head", (1, 0, 0)),
    ],
)
def test_a_loaded_body_looks_with_its_face_and_keeps_that_in_its_file(tmp_path, name, text, head, ahead):
    (tmp_path / name).write_text(text)
    figure = poise.load(tmp_path / name)
    assert sight(figure, head) == pytest.approx(ahead, abs=1e-9)
    figure.save(tmp_path / "saved.figure.toml")
    assert poise.load(tmp_path / "saved.figure.toml") == figure
    for other in (figure.with_floating_base() if name == "c.urdf" else figure, figure.rerooted(head)):
        assert np.array_equal(other.facing_axis(head), figure.facing_axis(head))


def test_sites_of_a_head_look_where_it_does(tmp_path):
    (tmp_path / "a.bvh").write_text(BVH % ("0.1 0 0", "-0.1 0 0"))
    figure = poise.load(tmp_path / "a.bvh")
    assert sight(figure, "Head_end") == pytest.approx([0, 0, 1], abs=1e-9)


def test_a_file_may_state_where_a_part_faces(tmp_path):
    text = 'name = "nod"\n[[body]]\nname = "head"\nfacing = %s\n[[site]]\nname = "lens"\nbody = "head"\nfacing = "-x"\n'
    (tmp_path / "nod.figure.toml").write_text(text % "[0, 3, 4]")
    figure = poise.load(tmp_path / "nod.figure.toml")
    assert figure.facing_axis("head") == pytest.approx([0, 0.6, 0.8])
    assert figure.facing_axis("lens").tolist() == [-1, 0, 0]
    for wrong in ('"ahead"', "[0, 0, 0]", "3"):
        (tmp_path / "nod.figure.toml").write_text(text % wrong)
        with pytest.raises(FormatError, match="facing"):
            poise.load(tmp_path / "nod.figure.toml")


def test_a_part_that_does_not_exist_has_no_axis():
    with pytest.raises(FigureError, match="Did you mean 'head'"):
        poise.load("human").facing_axis("haed")


def test_looking_with_a_head_that_faces_nobody_knows_where_warns():
    figure = body_with(NAMES["plain"])
    assert "head looks along its own +Y, which may be its crown" in figure.describe()
    with pytest.warns(UserWarning, match="does not say where 'head' faces.*axis="):
        poise.solve(figure, [LookAt("head", at=(0, 2, 3))], max_steps=2)
    poise.solve(figure, [LookAt("head", at=(0, 2, 3), axis="z")], max_steps=2)
    poise.solve(figure, [LookAt("left_hand", at=(0, 2, 3))], max_steps=2)


def test_an_expressive_head_that_faces_nobody_knows_where_warns():
    made = Builder("bracket")
    made.body("foot")
    made.body("head", parent="foot", joint=revolute("pan", "y"), at=(0, 0.2, 0))
    with pytest.warns(UserWarning, match="expressive: .* does not say where 'head' faces.*facing="):
        poise.Expressive(made.build())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made.bodies[-1] = replace(made.bodies[-1], facing="z")
        poise.Expressive(made.build())
        poise.Expressive(poise.load("adelino"))


def test_the_description_says_what_holds_the_base_and_where_the_head_faces():
    human = poise.load("human")
    assert "base: pelvis is floating" in human.describe()
    assert "head looks along its own +Z: +Z in the neutral posture" in human.describe()
    assert "base: base is fixed to the world" in poise.load("adelino").describe()
    assert "crown" in human.describe()
    assert "may be its crown" not in human.describe()


def test_a_given_axis_comes_before_the_face():
    human = poise.load("human")
    target = human.pose_of("head", human.neutral()).apply((0.0, 5.0, 0.0))
    assert poise.solve(human, [LookAt("head", at=target, axis="y")], stand=False).posture == human.neutral()
