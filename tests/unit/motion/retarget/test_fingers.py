"""Fingers bend as those of the clip do."""

import numpy as np

import poise
from poise.figure.model.builder import Builder, ball, free, revolute
from poise.motion.clip.clip import Clip, Source
from poise.motion.report import measure
from poise.motion.retarget.fingers import with_fingers
from tests.unit.motion.retarget.stick_man import BONES, bend, stepping

FINGERS = ("LeftHandIndex1", "LeftHandIndex2", "LeftHandThumb1")
BENT = {"LeftHandIndex1": 80.0, "LeftHandIndex2": 90.0, "LeftHandThumb1": 0.0}


def with_hand(hinges):
    """A stick man with a finger of two joints and a thumb of one: hinges of a robot, or balls of a recording."""
    builder = Builder("handy")
    builder.body("Hips", joint=free("base"), at=(0.0, 0.0, 0.0))
    parents = {"LeftHandIndex1": "LeftHand", "LeftHandIndex2": "LeftHandIndex1", "LeftHandThumb1": "LeftHand"}
    for bone, (parent, offset) in BONES.items():
        builder.body(bone, parent=parent, joint=ball(f"{bone}_joint"), at=offset)
    for bone in FINGERS:
        limits = (-60.0, 60.0) if "Thumb" in bone else (-90.0, 0.0)
        joint = (
            revolute(f"{bone}_joint", "x", limits=np.radians(limits), speed=5.0) if hinges else ball(f"{bone}_joint")
        )
        builder.body(bone, parent=parents[bone], joint=joint, at=(0.0, -0.05, 0.0))
    return builder.build()


def closing(frames=60):
    """A clip in which the finger closes, and the thumb stays."""
    figure, plain = with_hand(hinges=False), stepping(frames)
    q = np.tile(figure.neutral().q, (frames, 1))
    for joint in plain.figure.joints:
        q[:, figure.q_slice(joint.name)] = plain.q[:, plain.figure.q_slice(joint.name)]
    for bone, angle in BENT.items():
        bend(figure, q, bone, angle * np.linspace(0.0, 1.0, frames))
    return Clip(figure, q, 30.0, "closing")


def angles(motion, bone):
    return motion.q[:, motion.figure.q_slice(f"{bone}_joint").start]


def test_a_finger_closes_with_that_of_the_clip():
    motion = poise.retarget(closing(), with_hand(hinges=True))
    for bone in FINGERS[:2]:
        closed = angles(motion, bone)
        assert abs(closed[0]) < 0.05
        assert closed[-1] < np.radians(-85.0)
        assert (np.diff(closed) <= 1e-12).all()
    np.testing.assert_allclose(angles(motion, "LeftHandThumb1"), 0.0, atol=1e-6)
    assert measure(motion).violations == 0


def test_a_finger_turns_no_faster_than_it_can():
    clip = closing(12)
    motion = poise.retarget(clip, with_hand(hinges=True))
    assert motion.rate == clip.rate
    assert np.abs(np.diff(angles(motion, "LeftHandIndex1"))).max() * motion.rate <= 5.0


def test_a_finger_is_open_where_it_would_be_in_another_part():
    clip, figure = closing(), with_hand(hinges=True)
    q = np.tile(figure.neutral().q, (len(clip), 1))
    at = figure.q_slice("LeftHandIndex1_joint").start
    out = with_fingers(Source(clip), figure, q, clip.rate, lambda q: q[:, at] < np.radians(-45.0))
    assert np.degrees(out[:, at]).min() > -50.0
    assert np.degrees(out[:, at]).min() < -30.0


def test_a_figure_or_a_clip_without_fingers_stays_as_it_is():
    clip, figure = stepping(), with_hand(hinges=True)
    q = np.tile(figure.neutral().q, (len(clip), 1))
    np.testing.assert_array_equal(with_fingers(Source(clip), figure, q, 30.0, lambda q: np.zeros(len(q), bool)), q)
    human = poise.load("human")
    q = np.tile(human.neutral().q, (len(clip), 1))
    assert with_fingers(Source(closing()), human, q, 30.0, lambda q: np.zeros(len(q), bool)) is q
