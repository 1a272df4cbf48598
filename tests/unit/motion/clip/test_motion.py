"""Motions: slices, blends, resampling, saving and loading."""

import json
import pickle
import socket
from dataclasses import replace

import numpy as np
import pytest

import poise
from poise.cli.app import run
from poise.errors import FigureError, FormatError
from poise.figure.model.pose import turn
from poise.formats.osc import decode
from poise.motion.clip.motion import Motion, moved_to
from poise.motion.mapping.mapping import JointMap
from poise.motion.report.report import measure
from tests.unit.motion.clip.test_clip import FIGURE
from tests.unit.motion.report.test_report import standing
from tests.unit.motion.retarget.stick_man import BONES, stepping


def wander(frames=30, rate=24.0, seed=0, name="wander"):
    rng = np.random.default_rng(seed)
    q = np.tile(FIGURE.neutral().q, (frames, 1))
    start = FIGURE.q_slice("base").start
    q[:, start : start + 3] = np.cumsum(rng.normal(0.0, 0.01, (frames, 3)), axis=0) + rng.normal(0.0, 5.0, 3)
    heading = rng.uniform(-180, 180)
    q[:, start + 3 : start + 7] = [turn("y", heading + 1.3 * k) for k in range(frames)]
    q[:, FIGURE.q_slice("spine")] = [turn("x", 20.0 * np.sin(0.2 * k)) for k in range(frames)]
    q[:, -1] = np.cumsum(rng.normal(0.0, 0.05, frames))
    return Motion(FIGURE, q, rate, name)


def swaying_walker(frames=12, rate=20.0):
    """A motion of the walker with closed loops in which one motor swings."""
    walker = poise.load("walker").with_floating_base()
    rest = float(walker.neutral()["left_inner_horn"])
    found = [walker.assemble({"left_inner_horn": rest + 0.1 * np.sin(0.9 * k)}).posture.q for k in range(frames)]
    return Motion(walker, found, rate, "sway")


# Cutting and resampling


def test_a_slice_is_a_motion_that_knows_its_part_of_the_track():
    motion = standing()
    part = motion[10:50:2]
    assert isinstance(part, Motion)
    assert part.rate == motion.rate / 2
    assert len(part.track.contacts.heel["left"]) == len(part) == 20
    np.testing.assert_array_equal(part.track.targets["trunk"], motion.track.targets["trunk"][10:50:2])
    assert len(measure(part).tracking) == 20


def test_resampling_carries_the_track_over():
    def slide(q):
        q[:, standing().figure.q_slice("base").start] = 0.001 * np.arange(len(q))

    motion = standing(slide)
    contacts = motion.track.contacts.changed("left", 0, 9, heel=False, ball=True)
    motion = Motion(motion.figure, motion.q, motion.rate, motion.name, track=motion.track.__class__(
        motion.track.mapping, contacts, motion.track.points, motion.track.targets, motion.track.locks,
        motion.track.soles, motion.track.ground, motion.q[:, :3],
    ))  # fmt: skip
    twice = motion.resampled(2.0 * motion.rate)
    assert len(twice) == 2 * len(motion) - 1
    for name in ("tracking", "penetration"):
        dense, sparse = getattr(measure(twice), name), getattr(measure(motion), name)
        np.testing.assert_allclose(dense[::2], sparse, atol=1e-12)
    np.testing.assert_array_equal(twice.track.contacts.heel["left"][:22], [False] * 20 + [True] * 2)
    np.testing.assert_allclose(twice.track.center[1::2], 0.5 * (motion.q[1:, :3] + motion.q[:-1, :3]))
    back = twice.resampled(motion.rate)
    np.testing.assert_allclose(back.q, motion.q, atol=1e-12)
    np.testing.assert_array_equal(back.track.contacts.heel["left"], contacts.heel["left"])


def test_resampling_keeps_loops_closed():
    motion = swaying_walker()
    dense = motion.resampled(50.0)
    assert max(motion.figure.closure_error(posture) for posture in dense) < 1e-9
    # Plain interpolation opens them, so there was something to close.
    plain = poise.Clip(motion.figure, motion.q, motion.rate).resampled(50.0)
    assert max(motion.figure.closure_error(posture) for posture in plain) > 1e-7
    np.testing.assert_allclose(dense.q, plain.q, atol=2e-3)


# Blending


def test_a_blend_begins_as_one_and_ends_as_the_other():
    first, second = wander(seed=1), wander(seed=2, frames=40)
    mixed = first.blended(second, 0.5)
    assert len(mixed) == 30 + 40 - 12
    np.testing.assert_array_equal(mixed.q[:18], first.q[:18])
    np.testing.assert_array_equal(mixed.q[-28:], second.q[12:])


def test_a_blend_of_a_motion_with_itself_from_the_same_posture_stays_there():
    still = Motion(FIGURE, np.tile(wander().q[:1], (20, 1)), 24.0)
    np.testing.assert_allclose(still.blended(still, 0.5).q, np.tile(still.q[:1], (28, 1)), atol=1e-12)


def test_a_blend_of_nothing_is_one_after_the_other():
    first, second = wander(seed=1), wander(seed=2)
    np.testing.assert_array_equal(first.blended(second, 0.0).q, np.concatenate([first.q, second.q]))


def test_a_blend_is_at_most_as_long_as_the_shorter_motion():
    first, second = wander(seed=1, frames=5), wander(seed=2, frames=50)
    assert len(first.blended(second, 10.0)) == 50
    assert len(second.blended(first, np.inf)) == 50


def test_another_rate_is_resampled_first():
    mixed = wander(seed=1).blended(wander(seed=2, rate=48.0, frames=61), 0.0)
    assert mixed.rate == 24.0
    assert len(mixed) == 30 + 31


def test_joined_motions_go_on_from_where_they_are():
    first, second = wander(seed=3), wander(seed=4)
    mixed = first.blended(second, 0.25, joined=True)
    start = FIGURE.q_slice("base").start
    steps = np.linalg.norm(np.diff(mixed.q[:, start : start + 3], axis=0)[:, [0, 2]], axis=1)
    assert steps.max() < 0.1
    apart = first.blended(second, 0.25).q[:, start : start + 3]
    assert np.linalg.norm(np.diff(apart, axis=0)[:, [0, 2]], axis=1).max() > 0.1


def test_moving_a_motion_keeps_its_heights_its_steps_and_its_shape():
    motion, there = wander(seed=5), wander(seed=6)[0]
    moved = moved_to(motion, there)
    base = FIGURE.q_slice("base")
    np.testing.assert_allclose(moved.q[:, base][:, 1], motion.q[:, base][:, 1], atol=1e-12)
    np.testing.assert_allclose(moved.q[0, base][[0, 2]], there.q[base][[0, 2]], atol=1e-12)
    assert abs(moved.q[0, base][3:] @ there.q[base][3:]) == pytest.approx(1.0)
    np.testing.assert_array_equal(moved.q[:, base.stop :], motion.q[:, base.stop :])
    ours, theirs = (np.linalg.norm(np.diff(m.positions(["hand"])[:, 0], axis=0), axis=1) for m in (moved, motion))
    np.testing.assert_allclose(ours, theirs, atol=1e-12)


def test_a_figure_with_a_fixed_base_is_not_moved():
    lamp = poise.load("adelino")
    motion = Motion(lamp, np.full((4, 5), 0.1), 30.0)
    assert moved_to(motion, lamp.neutral()) is motion
    assert len(motion.blended(motion, 0.1, joined=True)) == 5


def test_blends_keep_loops_closed():
    motion = swaying_walker()
    mixed = motion.blended(motion[::-1], 0.3)
    assert max(motion.figure.closure_error(posture) for posture in mixed) < 1e-9


@pytest.mark.parametrize("seconds", [-1.0, np.nan])
def test_a_negative_blend_is_refused(seconds):
    with pytest.raises(FigureError, match="zero seconds or more"):
        wander().blended(wander(), seconds)


def test_another_figure_cannot_follow():
    lamp = poise.load("adelino")
    with pytest.raises(FigureError, match="two motions of the same figure, not one of 'puppet' and one of 'adelino'"):
        wander().blended(Motion(lamp, np.zeros((2, 5)), 24.0), 0.1)


# Files


@pytest.mark.parametrize("ending", ["csv", "json", "npz", "NPZ"])
def test_joint_values_read_back_to_the_last_bit(ending, tmp_path):
    motion = wander()
    motion.save(tmp_path / f"wander.{ending}")
    assert [file.name for file in tmp_path.iterdir()] == [f"wander.{ending}"]
    back = Motion.load(tmp_path / f"wander.{ending}", FIGURE)
    assert back == motion
    assert isinstance(back, Motion)


def test_a_bvh_reads_back_as_the_same_places(tmp_path):
    motion = wander()
    motion.save(tmp_path / "wander.bvh")
    back = Motion.load(tmp_path / "wander.bvh")
    assert back.rate == pytest.approx(motion.rate)
    names = list(FIGURE.bodies.names)
    np.testing.assert_allclose(back.positions(names), motion.positions(names), atol=1e-6)


@pytest.mark.parametrize("ending", ["csv", "json", "npz"])
def test_a_file_of_a_built_in_figure_needs_no_figure_argument(ending, tmp_path):
    motion = swaying_walker(frames=3)
    motion.save(tmp_path / f"sway.{ending}")
    back = poise.load_clip(tmp_path / f"sway.{ending}")
    assert back.figure == motion.figure
    np.testing.assert_array_equal(back.q, motion.q)


def test_pickled_and_back():
    motion = standing()
    copy = pickle.loads(pickle.dumps(motion))
    assert copy == motion
    np.testing.assert_array_equal(copy.track.targets["trunk"], motion.track.targets["trunk"])


def test_repr():
    assert repr(wander()) == "Motion('wander' of 'puppet', 30 frames at 24/s)"


def test_an_unknown_ending_is_refused(tmp_path):
    with pytest.raises(FormatError, match=r"end in \.csv, \.bvh, \.json, \.npz, not in \.txt"):
        wander().save(tmp_path / "wander.txt")


GOOD = {"figure": "puppet", "name": "x", "rate": 24.0, "joints": list(FIGURE.moving_joints), "q": wander(2).q.tolist()}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("[1, 2]", "is not a motion, which is an object with figure"),
        ("{", "is not JSON"),
        ("[" * 100_000, "too deeply"),
        (json.dumps(GOOD).replace("24.0", "NaN"), "NaN is not a finite number"),
        (json.dumps({k: v for k, v in GOOD.items() if k != "q"}), "it has no 'q'"),
        (json.dumps({**GOOD, "rate": "fast"}), "its rate must be a number"),
        (json.dumps({**GOOD, "rate": -1}), "positive number of frames per second"),
        (json.dumps({**GOOD, "q": [[1.0, 2.0]]}), r"has the shape \(frames, 12\), not \(1, 2\)"),
        (json.dumps({**GOOD, "q": "none"}), "array of numbers"),
        (json.dumps({**GOOD, "joints": ["a", "b"]}), "is a motion of joints a, b; figure 'puppet' has base"),
        (json.dumps({**GOOD, "joints": 3}), "must be a list of names"),
    ],
)
def test_json_files_that_are_not_motions_are_refused(content, sentence, tmp_path):
    (tmp_path / "bad.json").write_text(content)
    with pytest.raises(FormatError, match=sentence):
        poise.load_clip(tmp_path / "bad.json", FIGURE)


def test_npz_files_that_are_not_motions_are_refused(tmp_path):
    path = tmp_path / "bad.npz"
    path.write_bytes(b"PK\x03\x04 nothing")
    with pytest.raises(FormatError, match="is not an NPZ of plain arrays"):
        poise.load_clip(path, FIGURE)
    np.savez(path, figure=np.array([{"a": 1}], dtype=object))
    with pytest.raises(FormatError, match="is not an NPZ of plain arrays"):
        poise.load_clip(path, FIGURE)
    np.savez(path, q=np.zeros((2, 12)))
    with pytest.raises(FormatError, match="it has no 'figure'"):
        poise.load_clip(path, FIGURE)
    np.savez(path, **{**GOOD, "rate": [1.0, 2.0]})
    with pytest.raises(FormatError, match="has 2 values as its rate"):
        poise.load_clip(path, FIGURE)


def test_joint_values_without_a_figure_are_refused(tmp_path):
    wander().save(tmp_path / "wander.json")
    with pytest.raises(FormatError, match="give the figure that its joint values are of"):
        poise.load_clip(tmp_path / "wander.json")


# Playing


@pytest.mark.parametrize("ending", ["csv", "json", "npz"])
def test_a_saved_motion_is_played(ending, tmp_path, capsys):
    lamp = poise.load("adelino")
    Motion(lamp, np.full((30, 5), 0.25), 30.0, "lean").save(tmp_path / f"lean.{ending}")
    assert run(["play", "adelino", "--clip", str(tmp_path / f"lean.{ending}"), "--seconds", "0.3"]) == 0
    assert capsys.readouterr().out.startswith("18 frames at 60 Hz")


def test_a_motion_that_walks_is_played_by_a_figure_that_can(tmp_path, capsys):
    swaying_walker(frames=4).save(tmp_path / "sway.npz")
    assert run(["play", "walker", "--clip", str(tmp_path / "sway.npz"), "--seconds", "0.2"]) == 0
    assert "12 frames at 60 Hz, 0 skipped, played without filtering." in capsys.readouterr().out


def test_a_motion_played_as_it_is_arrives_unchanged(tmp_path):
    motion = swaying_walker(frames=4)
    motion.save(tmp_path / "sway.csv")
    receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    receiver.bind(("127.0.0.1", 0))
    receiver.settimeout(5.0)
    to = f"127.0.0.1:{receiver.getsockname()[1]}"
    rate = ["--rate", "20", "--seconds", "0.4", "--loop"]
    assert run(["play", "walker", "--clip", str(tmp_path / "sway.csv"), "--send", to, *rate]) == 0
    sent = [np.concatenate([m.arguments for m in decode(receiver.recv(8192))]) for _ in range(8)]
    receiver.close()
    np.testing.assert_allclose(sent, np.tile(motion.q, (2, 1)), atol=1e-6)


def test_a_figure_whose_joints_depend_on_each_other_has_no_gaze(tmp_path, capsys):
    swaying_walker(frames=4).save(tmp_path / "sway.npz")
    assert run(["play", "walker", "--clip", str(tmp_path / "sway.npz"), "--face", "0,0,1"]) == 2
    assert "a character moves each joint by itself, and figure 'walker' has loops" in capsys.readouterr().err


def test_a_clip_of_another_skeleton_is_retargeted_first(tmp_path, capsys):
    clip = stepping(frames=6)
    Motion(clip.figure, clip.q, clip.rate).save(tmp_path / "step.bvh")
    assert run(["play", "human", "--clip", str(tmp_path / "step.bvh"), "--seconds", "0.2"]) == 0
    assert "retargeted to human" in capsys.readouterr().err


def test_a_motion_reports_its_tracking_errors():
    motion = poise.retarget(stepping(frames=12), poise.load("human"))
    said = motion.report().splitlines()
    assert said[0] == measure(motion).sentence()
    assert said[1].startswith("The figure would fall if it stopped in ")
    errors = {joint: error.mean() for joint, error in measure(motion).errors.items()}
    worst = max(errors, key=errors.get)
    assert said[2] == f"{worst} is {1e3 * errors[worst]:.1f} mm from its target on average."


def test_a_table_of_frames_leads_another_figure(tmp_path):
    human = poise.load("human")
    poise.retarget(stepping(frames=12), human).save(tmp_path / "step.csv")
    clip = poise.load_clip(tmp_path / "step.csv", human.with_floating_base())
    motion = poise.retarget(clip, poise.load("walker"))
    assert len(motion) == 12
    assert measure(motion).violations == 0


def test_joints_of_other_names_that_are_mapped_lead_as_well(tmp_path):
    clip, human = stepping(frames=12), poise.load("human")
    strange = {bone: f"b{i}" for i, bone in enumerate([*BONES, "Hips"])}
    one = poise.retarget(clip, human)
    links = [replace(link, joint=strange[link.joint]) for link in one.track.mapping.links]
    JointMap(tuple(links)).save(tmp_path / "links.toml")
    other = poise.retarget(stepping(frames=12, rename=strange), human, tmp_path / "links.toml")
    np.testing.assert_allclose(other.q, one.q, atol=1e-9)
