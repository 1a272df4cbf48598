"""Crouches, jumps and people on the ground, on the human."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import poise
from poise.motion.clip.clip import Clip
from poise.motion.report.report import measure
from poise.motion.retarget.plan import _toe_out
from tests import real_data
from tests.unit.motion.retarget.performances import crouching, jumping


def captured(*names):
    """Parameters: clips that may be beside the repository."""
    return [pytest.param(name, marks=pytest.mark.real_data) for name in names]


PERFORMANCES = {"crouch": crouching, "jump": jumping}
JUMPS = ["jump", *captured("91_43", "105_39", "118_02", "118_29")]
CROUCHES = ["crouch", *captured("136_09", "136_11", "13_10")]


def clip_of(name):
    if name in PERFORMANCES:
        return PERFORMANCES[name]()
    # Frame 0 is a T-pose that the conversion to BVH added.
    return poise.load_clip(real_data.BVH / "cmu30" / f"{name}.bvh")[1:]


@pytest.mark.parametrize("name", [*JUMPS, *CROUCHES])
def test_the_pelvis_of_somebody_who_crouches_or_jumps_is_as_high_as_in_the_clip(name):
    human = poise.load("human")
    motion = poise.retarget(clip_of(name), human)
    site, offset = motion.track.points["Hips"]
    heights = np.array([human.pose_of(site, posture).apply(offset)[1] for posture in motion])
    assert np.abs(heights - motion.track.targets["Hips"][:, 1]).max() < 0.02
    assert measure(motion).violations == 0


@pytest.mark.parametrize("name", JUMPS)
def test_the_trunk_of_somebody_who_jumps_is_not_smoothed_away(name):
    errors = measure(poise.retarget(clip_of(name), poise.load("human"))).errors
    assert max(errors[joint].max() for joint in ("Hips", "Neck", "Head", "LeftArm", "RightArm")) < 0.06


def moved(posture, changes):
    return np.array([posture.changed(change).q for change in changes])


def test_feet_of_somebody_who_lies_on_the_ground_do_not_stand():
    human = poise.load("human")
    standing, falls = human.posture("standing"), np.clip(np.linspace(-1.0, 2.0, 120), 0.0, 1.0) * np.pi / 4
    height = standing["base"][1]
    bases = [(0.0, height * np.cos(2 * a) + 0.12, 0.0, np.cos(a), np.sin(a), 0.0, 0.0) for a in falls]
    motion = poise.retarget(Clip(human, moved(standing, [{"base": base} for base in bases]), 30.0), human)
    for side in ("left", "right"):
        assert motion.track.contacts.standing(side)[:40].all()
        assert not motion.track.contacts.standing(side)[75:].any()
    assert measure(motion).tracking[85:].max() < 0.02


@pytest.mark.parametrize("turned", [-0.2, 0.1, 0.3])
@pytest.mark.parametrize("heading", [0.0, 1.0])
def test_the_yaw_of_toes_against_the_bent_knee_is_found(turned, heading):
    bends = np.linspace(0.8, 1.8, 40)
    zero = np.zeros_like(bends)
    shank = np.stack([zero, np.cos(bends / 2), np.sin(bends / 2)], axis=1)
    thigh = np.stack([zero, np.cos(bends / 2), -np.sin(bends / 2)], axis=1)
    forward = np.stack([zero, -np.sin(bends / 2), np.cos(bends / 2)], axis=1)
    toe = Rotation.from_rotvec(turned * shank).apply(0.1 * forward - 0.05 * shank)
    whole = Rotation.from_rotvec([0.0, heading, 0.0])
    paths = {"hip": 0.4 * shank + 0.4 * thigh, "knee": 0.4 * shank, "ankle": 0.0 * shank, "toe": toe}
    paths = {name: whole.apply(path) for name, path in paths.items()}
    roles = {f"left_{name}": name for name in paths}
    assert _toe_out("left", paths, roles, np.ones(40, dtype=np.bool_)) == pytest.approx(turned, abs=1e-9)


def test_the_yaw_of_toes_against_straight_knees_is_not_guessed():
    straight = np.tile([0.0, 1.0, 0.0], (40, 1))
    paths = {"hip": 2.0 * straight, "knee": straight, "ankle": 0.0 * straight, "toe": np.tile([0.1, 0.0, 0.1], (40, 1))}
    roles = {f"left_{name}": name for name in paths}
    assert _toe_out("left", paths, roles, np.ones(40, dtype=np.bool_)) == 0.0
