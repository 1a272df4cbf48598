"""Figures of bones."""

import math

import numpy as np
import pytest

from poise.errors import PoiseError
from poise.figure.model.figure import Figure
from poise.figure.model.pose import Pose, to_matrix, turn
from poise.formats.text.toml_tables import Source
from poise.service.bones import figure_of_bones, value_of_rotation
from tests.unit.service.people import Bones, person


def made(bones: Bones) -> Figure:
    return figure_of_bones(Source.table_of({"bones": bones}, "the message").tables("bones", "bone"), "rig", "z")


def one(**fields: object) -> Figure:
    """A figure of a fixed root and a bone with these fields."""
    locked = {axis: [0, 0] for axis in "xyz"}
    root = {"name": "root", "head": [0, 0, 0], "tail": [0, 0, 1], "moves": False, "limits": locked}
    return made([root, {"name": "bone", "parent": "root", "head": [0, 0, 1], "tail": [0, 0, 2], **fields}])


def test_a_person_has_sixty_bones_where_they_were_sent():
    bones = person()
    figure = made(bones)
    frames = figure.frames(figure.neutral())
    assert len(bones) == len(figure.bodies) == 60
    for bone in bones:
        np.testing.assert_allclose(frames[bone["name"]].position, bone["head"], atol=1e-12)
        np.testing.assert_allclose(frames[f"{bone['name']}.tail"].position, bone["tail"], atol=1e-12)
    assert figure.joints["hips"].kind == "free"
    assert figure.mass > 0.0


@pytest.mark.parametrize(
    ("along", "roll", "rows"),
    [  # from Blender: bpy.types.Bone.MatrixFromAxisRoll
        ((0, 1, 0), 0.0, [[1, 0, 0], [0, 1, 0], [0, 0, 1]]),
        ((0, -1, 0), 0.0, [[-1, 0, 0], [0, -1, 0], [0, 0, 1]]),
        ((0, 0, 1), 0.0, [[1, 0, 0], [0, 0, -1], [0, 1, 0]]),
        ((0, 0, 1), 0.5, [[0.87758256, 0, 0.47942554], [0.47942554, 0, -0.87758256], [0, 1, 0]]),
        ((1, 0, 0), 0.0, [[0, 1, 0], [-1, 0, 0], [0, 0, 1]]),
    ],
)
def test_head_tail_and_roll_mean_what_they_mean_in_blender(along, roll, rows):
    figure = one(head=[0, 0, 0], tail=list(along), roll=roll)
    np.testing.assert_allclose(to_matrix(figure.pose_of("bone", figure.neutral()).rotation), rows, atol=1e-7)


def test_a_matrix_may_scale_and_be_rounded_but_not_shear():
    rotation = to_matrix(turn([1, 2, 3], 40.0))
    rows = np.eye(4)
    rows[:3, :3], rows[:3, 3] = np.float32(2.0 * rotation), (0.1, 0.2, 0.3)
    figure = one(matrix=rows.tolist(), length=0.5)
    pose = figure.pose_of("bone", figure.neutral())
    np.testing.assert_allclose(pose.matrix, rotation, atol=1e-6)
    np.testing.assert_allclose(figure.pose_of("bone.tail", figure.neutral()).position, pose.apply([0, 0.5, 0]))
    rows[0, 1] += 0.1
    with pytest.raises(PoiseError, match="has a shear"):
        one(matrix=rows.tolist())


@pytest.mark.parametrize(
    ("limits", "kind"),
    [
        ({}, "ball"),
        ({"x": [-1, 1]}, "ball"),
        ({"y": [0, 0], "z": [0, 0]}, "revolute"),
        ({"z": [0, 0]}, "universal"),
        ({"x": [0, 0], "y": [0, 0], "z": [0, 0]}, "fixed"),
    ],
)
def test_locked_axes_make_hinges_of_balls(limits, kind):
    assert one(limits=limits).joints["bone"].kind == kind


def test_limits_of_a_ball_are_those_about_each_axis():
    figure = one(limits={"x": [-0.5, 1.0], "y": [-0.2, 0.3], "z": [-0.4, 0.8]})
    inside = {"x": (-0.49, 0.99), "y": (-0.19, 0.29), "z": (-0.39, 0.79)}
    outside = {"x": (-0.51, 1.01), "y": (-0.21, 0.31), "z": (-0.41, 0.81)}
    for legal, values in ((True, inside), (False, outside)):
        for axis, angles in values.items():
            for angle in angles:
                posture = figure.posture({"bone": turn(axis, math.degrees(angle))})
                assert (figure.violations(posture) == []) is legal, (axis, angle)


@pytest.mark.parametrize("limits", [{"z": [0, 0]}, {"x": [0, 0]}, {"y": [0, 0]}, {"y": [0, 0], "z": [0, 0]}])
def test_the_value_of_a_rotation_gives_the_rotation_back(limits):
    figure = one(limits=limits)
    joint = figure.joints["bone"]
    rest = figure.pose_of("bone", figure.neutral())
    for seed in range(5):
        posture = figure.random(seed)
        rotation = (rest.inverse() @ figure.pose_of("bone", posture)).rotation
        np.testing.assert_allclose(value_of_rotation(joint, rotation), np.atleast_1d(posture["bone"]), atol=1e-9)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"parent": "rot"}, "has the parent 'rot', which is no bone. Did you mean 'root'"),
        ({"tail": [0, 0, 1]}, "its tail must not be at its head"),
        ({"limits": {"x": [1, -1]}}, "swap them"),
        ({"limits": {"x": [0.1, 1]}}, "those about x do not"),
        ({"limits": {"w": [0, 1]}}, "unknown key 'w'"),
        ({"moves": True, "limits": {"x": [0, 1]}}, "moves, and so has no limits"),
        ({"colour": "red"}, "unknown key 'colour'"),
        ({"matrix": [[1, 0, 0, 0]]}, "3 or 4 rows"),
        ({"matrix": [[0, 0, 0, 0]] * 4}, "singular"),
        ({"mass": -1.0}, "a mass must be"),
        ({"name": "root"}, "root"),
    ],
)
def test_what_is_wrong_with_a_bone_is_said(fields, sentence):
    with pytest.raises(PoiseError, match=sentence):
        one(**fields)


def test_bones_in_a_circle_are_refused():
    with pytest.raises(PoiseError):
        made([{"name": n, "parent": p, "head": [0, 0, 0], "tail": [0, 0, 1]} for n, p in (("a", "b"), ("b", "a"))])


def test_poses_are_those_of_nested_frames():
    figure = one()
    posture = figure.posture({"bone": turn("x", 30.0)})
    expected = figure.pose_of("bone", figure.neutral()) @ Pose(rotation=turn("x", 30.0))
    np.testing.assert_allclose(figure.pose_of("bone", posture).rotation, expected.rotation, atol=1e-12)
