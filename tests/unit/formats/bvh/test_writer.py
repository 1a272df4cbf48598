"""Writing BVH: every kind of joint, rest rotations, up axes, names, angles."""

from dataclasses import replace

import numpy as np
import pytest

from poise.figure.model.builder import Builder, ball, cartesian, fixed, free, prismatic, revolute, universal
from poise.figure.model.pose import Pose, to_matrix, turn
from poise.formats.bvh.read import read_bvh_clip, read_bvh_figure, write_bvh
from poise.formats.bvh.writer import zyx_angles
from poise.motion.clip.clip import Clip


def machine(up="y"):
    """A figure with all kinds of rotating joints, a slide, rest rotations, and a joint away from its body's origin."""
    builder = Builder("machine", up=up)
    builder.body("base", joint=free("base"))
    builder.body("turret", parent="base", joint=revolute("turret", "y"), at=(0, 0.2, 0))
    builder.body("boom", parent="turret", joint=revolute("boom", (1, 2, 3)), at=(0, 0.3, 0.1), turned=turn("x", 40))
    builder.body("mount", parent="boom", joint=fixed("mount"), at=(0.5, 0, 0), turned=turn("z", 70))
    builder.body("head", parent="mount", joint=ball("head"), at=(0.1, 0.2, 0.3))
    builder.body("wrist", parent="head", joint=universal("wrist", "x", "z"), at=(0, 0.4, 0), turned=turn("y", 20))
    builder.body("tool", parent="wrist", joint=prismatic("slide", "y"), at=(0, 0.1, 0))
    builder.site("tip", "tool", at=(0, 0.05, 0.02))
    return builder.build()


def motion(figure, frames=6):
    return Clip(figure, [figure.random(seed).q for seed in range(frames)], 30.0, "motion")


def test_written_and_read_every_body_is_where_it_was(tmp_path):
    clip = motion(machine())
    write_bvh(clip, tmp_path / "m.bvh")
    back = read_bvh_clip(tmp_path / "m.bvh")
    names = list(clip.figure.bodies.names)
    assert list(back.figure.bodies.names) == names
    assert back.rate == pytest.approx(30.0)
    assert np.abs(back.positions(names) - clip.positions(names)).max() < 1e-7
    assert np.abs(back.positions(["tool_end"]) - clip.positions(["tip"])).max() < 1e-7


def test_the_written_skeleton_has_the_plainest_channels(tmp_path):
    write_bvh(motion(machine()), tmp_path / "m.bvh")
    kinds = {joint.name: joint.kind for joint in read_bvh_figure(tmp_path / "m.bvh").joints}
    assert kinds == {
        "base": "free",
        "turret": "revolute",
        "boom": "ball",
        "mount": "fixed",
        "head": "ball",
        "wrist": "ball",
        "tool": "free",
    }


def test_the_written_skeleton_at_rest_is_the_neutral_posture(tmp_path):
    figure = machine()
    write_bvh(motion(figure), tmp_path / "m.bvh")
    back = read_bvh_figure(tmp_path / "m.bvh")
    for name in figure.bodies.names:
        expected = figure.pose_of(name, figure.neutral()).position
        assert np.allclose(back.pose_of(name, back.neutral()).position, expected, atol=1e-8)


@pytest.mark.parametrize(
    ("up", "upright"), [("z", [[1, 0, 0], [0, 0, 1], [0, -1, 0]]), ("x", [[0, -1, 0], [1, 0, 0], [0, 0, 1]])]
)
def test_figures_with_another_up_axis_are_written_upright(tmp_path, up, upright):
    clip = motion(machine(up))
    write_bvh(clip, tmp_path / "m.bvh")
    back = read_bvh_clip(tmp_path / "m.bvh").positions(clip.figure.bodies.names)
    assert np.abs(back - clip.positions(clip.figure.bodies.names) @ np.array(upright).T).max() < 1e-7


def test_a_joint_away_from_the_origin_of_its_body_is_written_where_it_is(tmp_path):
    figure = machine()
    joints = [
        replace(joint, child_frame=Pose([0.1, 0.2, 0.3])) if joint.name == "head" else joint for joint in figure.joints
    ]
    clip = motion(figure.replaced(joints=joints))
    write_bvh(clip, tmp_path / "m.bvh")
    back = read_bvh_clip(tmp_path / "m.bvh")
    centers = [clip.figure.pose_of("head", posture).apply([0.1, 0.2, 0.3]) for posture in clip]
    assert np.abs(back.positions(["head"])[:, 0] - centers).max() < 1e-7


def test_a_root_that_cannot_move_and_one_that_slides(tmp_path):
    for joint in (None, cartesian("slide"), ball("swivel")):
        builder = Builder("rooted")
        builder.body("base", joint=joint)
        builder.body("arm", parent="base", joint=ball("arm"), at=(0, 1, 0))
        clip = motion(builder.build())
        write_bvh(clip, tmp_path / "m.bvh")
        back = read_bvh_clip(tmp_path / "m.bvh")
        assert np.abs(back.positions(["base", "arm"]) - clip.positions(["base", "arm"])).max() < 1e-8


def test_names_that_bvh_cannot_have_are_changed(tmp_path):
    builder = Builder("odd")
    builder.body("left {arm}", joint=free("base"))
    builder.body("left  arm", parent="left {arm}", joint=ball("b"), at=(1, 0, 0))
    write_bvh(motion(builder.build()), tmp_path / "m.bvh")
    assert read_bvh_figure(tmp_path / "m.bvh").bodies.names == ("left_arm_", "left_arm")


def test_angles_do_not_jump_by_whole_turns(tmp_path):
    builder = Builder("spinner")
    builder.body("base", joint=free("base"))
    builder.body("wheel", parent="base", joint=revolute("wheel", "z"), at=(1, 0, 0))
    figure = builder.build()
    q = np.tile(figure.neutral().q, (40, 1))
    q[:, -1] = np.linspace(0.0, 4.0 * np.pi, 40)
    write_bvh(Clip(figure, q, 30.0), tmp_path / "m.bvh")
    assert np.allclose(read_bvh_clip(tmp_path / "m.bvh").q[:, -1], q[:, -1], atol=1e-9)


@pytest.mark.parametrize("y", [0.0, 30.0, 89.9999999, 90.0, -90.0])
def test_euler_angles_multiply_back_even_where_two_axes_meet(y):
    x, z = turn("x", 20.0), turn("z", -130.0)
    expected = to_matrix(z) @ to_matrix(turn("y", y)) @ to_matrix(x)
    angles = np.degrees(zyx_angles(expected[None]))[0]
    product = to_matrix(turn("z", angles[0])) @ to_matrix(turn("y", angles[1])) @ to_matrix(turn("x", angles[2]))
    assert np.allclose(product, expected, atol=1e-12)
