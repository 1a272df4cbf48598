"""The likely posture: invariance, mirror symmetry, and the formulas of its criterion."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import poise
from poise.figures.people.likely_posture import FILE, POINTS, likely_posture, other_side, people
from poise.kernels.body.likely_posture import feet_frame

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "scripts"))
from posture_values import FeetFrames, PostureValues, feet_frames

FEET = ("left_foot", "right_foot")
POSTURES = ("standing", "crouching", "reaching", "sitting", "waving")


@pytest.fixture(scope="module")
def human() -> poise.Figure:
    return poise.load("human")


def handles_of(human: poise.Figure, posture: poise.Posture, *names: str) -> dict[str, poise.Pose | np.ndarray]:
    points = {name: human.pose_of(name, posture).position for name in names}
    return {foot: human.pose_of(foot, posture) for foot in FEET} | points


def moved(human: poise.Figure, q: np.ndarray, yaw: float, by: tuple[float, float, float]) -> poise.Posture:
    """A posture with its base turned about the vertical and moved."""
    turn = poise.Pose(by, (np.cos(0.5 * yaw), 0.0, np.sin(0.5 * yaw), 0.0))
    base = turn @ poise.Pose(q[:3], q[3:7])
    return human.posture(np.concatenate([base.position, base.rotation, q[7:]]))


def mirrored(human: poise.Figure, q: np.ndarray) -> poise.Posture:
    """The mirror image of a posture, joint by joint."""
    out = np.empty_like(q)
    for joint in human.joints:
        value = q[human.q_slice(other_side(joint.name))].copy()
        if joint.kind in ("ball", "free"):
            value[-2:] *= -1.0
        if joint.kind == "free":
            value[0] *= -1.0
        out[human.q_slice(joint.name)] = value
    return human.posture(out)


@pytest.mark.parametrize("name", POSTURES)
def test_values_give_the_posture_back(human: poise.Figure, name: str) -> None:
    chart = PostureValues(human, people().ball_means)
    q = human.posture(name).q[None]
    feet = FeetFrames(np.array([0.7]), np.array([[1.0, 0.2, -3.0]]))
    back = chart.postures(chart.values(q, feet), feet)
    assert np.abs(human.difference(back[0], q[0])).max() < 1e-12


@pytest.mark.parametrize("name", POSTURES)
def test_mirrored_values_are_those_of_the_mirror_image(human: poise.Figure, name: str) -> None:
    chart = PostureValues(human, people().ball_means)
    q = human.posture(name).q
    image = mirrored(human, q)
    for body in human.bodies:
        place = human.pose_of(body.name, q).position * (-1.0, 1.0, 1.0)
        assert np.allclose(human.pose_of(other_side(body.name), image).position, place, atol=1e-14)
    home = FeetFrames(np.zeros(1), np.zeros((1, 3)))
    assert np.allclose(chart.mirrored(chart.values(q[None], home)), chart.values(image.q[None], home), atol=1e-12)


def test_mirrored_handles_have_the_mirrored_answer(human: poise.Figure) -> None:
    q = human.posture("reaching").q
    answer = likely_posture(human, handles_of(human, q, "right_hand", "head"))
    image = likely_posture(human, handles_of(human, mirrored(human, q).q, "left_hand", "head"))
    assert np.abs(human.difference(mirrored(human, answer.posture.q), image.posture)).max() < 1e-9


def test_place_and_heading_do_not_matter(human: poise.Figure) -> None:
    q = human.posture("reaching").q
    here = likely_posture(human, handles_of(human, q, "right_hand"))
    there = likely_posture(human, handles_of(human, moved(human, q, 2.1, (3.0, 0.5, -1.0)).q, "right_hand"))
    assert np.abs(human.difference(moved(human, here.posture.q, 2.1, (3.0, 0.5, -1.0)), there.posture)).max() < 1e-9


def test_the_likely_posture_is_legal(human: poise.Figure) -> None:
    for name in POSTURES:
        likely = likely_posture(human, handles_of(human, human.posture(name), "left_hand", "right_hand", "head"))
        assert not human.violations(likely.posture)


def test_weights_are_equal_on_both_sides_and_around_ball_joints(human: poise.Figure) -> None:
    weight = people().weight
    for joint in human.joints:
        own = weight[human.v_slice(joint.name)]
        assert own == pytest.approx(weight[human.v_slice(other_side(joint.name))])
        assert (own > 0.0).all() == (joint.kind != "free")
        assert joint.kind != "ball" or np.ptp(own) == 0.0


def test_the_derivative_of_a_difference_of_rotations(human: poise.Figure) -> None:
    """A(r) = 1 + ½ [r]× + κ [r]×² is the derivative of q ⊖ c by the velocity of q."""
    rng = np.random.default_rng(0)
    where = human.v_slice("left_shoulder")
    center = human.neutral()
    for _ in range(5):
        step = np.zeros(human.nv)
        step[where] = rng.uniform(-1.0, 1.0, 3)
        q, r = human.integrate(center, step), step[where]
        angle = float(np.linalg.norm(r))
        cross = np.cross(np.eye(3), r)
        kappa = 1.0 / angle**2 - (1.0 + np.cos(angle)) / (2.0 * angle * np.sin(angle))
        exact = np.eye(3) + 0.5 * cross + kappa * cross @ cross
        for k in range(3):
            nudge = np.zeros(human.nv)
            nudge[where.start + k] = 1e-6
            ends = [human.difference(center, human.integrate(q, s * nudge))[where] for s in (1.0, -1.0)]
            assert np.allclose((ends[0] - ends[1]) / 2e-6, exact[:, k], atol=1e-8)
        assert np.allclose(exact.T @ r, r)


def test_hands_in_front_do_not_turn_the_heading(human: poise.Figure) -> None:
    """The feet's frame of the neutral posture is its own place and heading."""
    poses = [human.pose_of(foot, human.neutral()) for foot in FEET]
    yaw, origin = feet_frame(np.array([p.position for p in poses]), np.array([p.rotation for p in poses]))
    assert yaw == pytest.approx(0.0, abs=1e-12)
    assert origin[:2] == pytest.approx((0.0, 0.0), abs=1e-12)


def test_the_feet_s_frame_turns_and_moves_with_the_feet(human: poise.Figure) -> None:
    """One foot ahead of the other turns it too, by the angle of f."""
    stands = [human.pose_of(foot, human.neutral()) for foot in FEET]
    turn = poise.Pose((1.0, 0.2, -3.0), (np.cos(0.4), 0.0, np.sin(0.4), 0.0))
    poses = [turn @ foot for foot in stands]
    position, rotation = np.array([[p.position for p in poses]]), np.array([[p.rotation for p in poses]])
    feet = feet_frames(position, rotation)
    assert feet.yaw == pytest.approx([0.8])
    assert feet.origin[0] == pytest.approx(turn.apply(np.mean([p.position for p in stands], axis=0)))
    position[0, 0] += 0.3 * feet.rotation[0, :, 2] + (0.0, 0.1, 0.0)
    width = float(np.linalg.norm(stands[0].position - stands[1].position))
    ahead = sum(poise.Pose((0, 0, 0), p.rotation).matrix[:, 2] for p in stands)
    assert feet_frames(position, rotation).yaw == pytest.approx([0.8 - np.arctan2(0.15, ahead[2] + 0.5 * width)])
    assert feet_frames(position, rotation).origin[0, 1] == pytest.approx(feet.origin[0, 1])


def test_what_is_missing_is_said(human: poise.Figure) -> None:
    with pytest.raises(poise.FigureError, match="left_foot and right_foot"):
        likely_posture(human, {"head": (0.0, 1.5, 0.0)})
    with pytest.raises(poise.PoiseError, match="left_hand"):
        likely_posture(human, {"left_hnad": (0.0, 1.5, 0.0)})


def test_the_file_is_small_and_names_what_it_has_not_seen() -> None:
    assert FILE.stat().st_size < 1_000_000
    assert len(people().held_out) >= 30
    assert len(POINTS) == len(people().point_mean)
