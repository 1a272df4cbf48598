"""Retargeting people onto the human and a walking machine: clips made here, and recordings where there are any."""

from functools import cache, partial

import numpy as np
import pytest
from scipy.spatial import Delaunay
from scipy.spatial.transform import Rotation

import poise
from poise.formats.bvh.writer import write_bvh
from poise.motion.clip.clip import Source
from poise.motion.mapping.mapping import JointMap
from poise.motion.report.report import measure
from poise.motion.retarget.build import Build
from poise.motion.retarget.plan import Plan
from tests import real_data
from tests.unit.motion.retarget.performances import dancing, walking, waving

PERFORMANCES = {"walk": partial(walking, 300), "dance": dancing, "wave": waving}
WALK, DANCE, WAVE = PERFORMANCES


def recorded(name, *values):
    """A parameter: a clip that may be beside the repository, and what is expected of it."""
    return pytest.param(name, *values, marks=pytest.mark.real_data)


WALKS = [WALK, recorded("cmu/02_01.bvh")]
DANCES = [DANCE, recorded("cmu/05_06.bvh")]
GESTURES = [WAVE, recorded("animated_drawings/dab.bvh"), recorded("animated_drawings/wave_hello.bvh")]


@cache
def clip_at(name):
    return PERFORMANCES[name]() if name in PERFORMANCES else poise.load_clip(real_data.BVH / name)


@cache
def motion_of(name):
    return poise.retarget(clip_at(name), poise.load("human"))


@pytest.mark.parametrize("name", [*WALKS, *GESTURES, *DANCES])
def test_feet_that_stand_neither_slip_nor_sink_and_limits_hold(name):
    motion = motion_of(name)
    quality = measure(motion)
    assert len(motion) == len(clip_at(name))
    assert np.isfinite(motion.q).all()
    assert quality.violations == 0
    assert quality.drift <= 1e-3
    assert quality.skate.max() <= 1e-3
    assert quality.penetration.max() <= 1e-3
    assert not quality.spikes


@pytest.mark.parametrize("name", [*WALKS, *GESTURES])
def test_the_clip_is_followed(name):
    assert measure(motion_of(name)).tracking.max() <= 0.05


@pytest.mark.parametrize(
    ("name", "mean"),
    [(WALK, 3e-3), (DANCE, 6e-3), recorded("cmu/02_01.bvh", 5.3e-3), recorded("cmu/05_06.bvh", 19e-3)],
)
def test_people_are_followed_as_closely_as_limits_let(name, mean):
    assert measure(motion_of(name)).tracking.mean() <= mean


@pytest.mark.parametrize("name", WALKS)
def test_someone_walks(name):
    motion = motion_of(name)
    left, right = motion.track.contacts.standing("left"), motion.track.contacts.standing("right")
    assert 0.4 < left.mean() < 0.8
    assert 0.4 < right.mean() < 0.8
    assert (left | right).mean() > 0.9
    assert np.linalg.norm(motion.q[-1, :3] - motion.q[0, :3]) > 3.0


def plan_of(clip):
    human = poise.load("human")
    links = JointMap.of(None, clip, human)
    return Plan.of(Source(clip), links, Build.of(human, links))


def assert_same_plan(one, other, frames=slice(None)):
    for joint, path in one.places.items():
        np.testing.assert_allclose(path[frames], other.places[joint][frames], atol=1e-9)
    for side, foot in one.feet.items():
        np.testing.assert_allclose(foot.place[frames], other.feet[side].place[frames], atol=1e-9)


def moved_base(clip, change):
    q = clip.q.copy()
    q[:, :3], turned = change(q[:, :3]), Rotation.from_quat(np.roll(q[:, 3:7], -1, axis=1))
    return q, turned


def test_the_heading_of_a_clip_does_not_matter():
    clip = clip_at(WALK)
    turn = Rotation.from_euler("y", 1.1)
    q, turned = moved_base(clip, lambda p: turn.apply(p) + np.array([300.0, 0.0, -20.0]))
    q[:, 3:7] = np.roll((turn * turned).as_quat(), 1, axis=1)
    assert_same_plan(plan_of(clip), plan_of(poise.Clip(clip.figure, q, clip.rate, clip.name)))


def test_the_up_axis_of_a_clip_does_not_matter():
    clip = clip_at(WALK)
    turn = Rotation.from_euler("x", np.pi / 2)
    q, turned = moved_base(clip, turn.apply)
    q[:, 3:7] = np.roll((turn * turned).as_quat(), 1, axis=1)
    assert_same_plan(plan_of(clip), plan_of(poise.Clip(clip.figure, q, clip.rate, clip.name)))


def test_the_units_of_a_clip_do_not_matter(tmp_path):
    write_bvh(clip_at(WALK), tmp_path / "walk.bvh")
    lines, motion = [], False
    for line in (tmp_path / "walk.bvh").read_text().splitlines():
        words = line.split()
        if words[:1] == ["OFFSET"]:
            line = "OFFSET " + " ".join(repr(100.0 * float(x)) for x in words[1:])
        elif motion and len(words) > 10:
            line = " ".join([*(repr(100.0 * float(x)) for x in words[:3]), *words[3:]])
        motion = motion or words[:1] == ["MOTION"]
        lines.append(line)
    (tmp_path / "large.bvh").write_text("\n".join(lines) + "\n")
    assert_same_plan(plan_of(poise.load_clip(tmp_path / "walk.bvh")), plan_of(poise.load_clip(tmp_path / "large.bvh")))


def test_calibration_does_not_depend_on_the_frame_that_comes_first():
    clip = clip_at(WALK)
    rolled = poise.Clip(clip.figure, np.roll(clip.q, -60, axis=0), clip.rate, clip.name)
    one, other = plan_of(clip).calibration, plan_of(rolled).calibration
    np.testing.assert_allclose(one.turn, other.turn, atol=1e-9)
    np.testing.assert_allclose(one.scale, other.scale, rtol=1e-9)
    np.testing.assert_allclose(one.center, other.center, atol=0.1)


def rolled(clip, shift):
    return poise.Clip(clip.figure, np.roll(clip.q, -shift, axis=0), clip.rate, clip.name)


@pytest.mark.parametrize(
    ("name", "shift"), [(WALK, 60), (WALK, 110), recorded("cmu/02_01.bvh", 120), recorded("cmu/02_01.bvh", 200)]
)
def test_postures_do_not_depend_on_the_frame_that_comes_first(name, shift):
    clip, one = clip_at(name), motion_of(name)
    other = poise.retarget(rolled(clip, shift), poise.load("human"))
    back = poise.Clip(other.figure, np.roll(other.q, shift, axis=0), clip.rate)
    seam = round(0.5 * clip.rate)
    frames = np.arange(len(clip))
    inner = (frames >= seam) & (frames < len(clip) - seam) & (np.abs(frames - shift) >= seam)
    gaps = np.abs([one.figure.difference(one[i], back[i])[6:] for i in np.flatnonzero(inner)])
    assert np.degrees(np.median(gaps)) < 0.1
    assert np.degrees(np.percentile(gaps, 95)) < 0.5


@pytest.mark.parametrize(("name", "shift"), [(WALK, 110), recorded("cmu/02_01.bvh", 120)])
def test_a_balanced_walk_does_not_depend_on_the_frame_that_comes_first(name, shift):
    clip, one = clip_at(name), walked(name, True)
    other = poise.retarget(rolled(clip, shift), poise.load("walker"), balance=True)
    back = poise.Clip(other.figure, np.roll(other.q, shift, axis=0), clip.rate)
    seam, frames = round(0.5 * clip.rate), np.arange(len(clip))
    inner = (frames >= seam) & (frames < len(clip) - seam) & (np.abs(frames - shift) >= seam)
    gaps = np.abs([one.figure.difference(one[i], back[i])[6:] for i in np.flatnonzero(inner)])
    assert np.degrees(np.median(gaps)) < 0.5
    assert np.degrees(np.percentile(gaps, 95)) < 3.0


def support(motion, frame):
    """(k, 2) corners of the standing soles in plan view."""
    figure, contacts = motion.figure, motion.track.contacts
    frames = figure.frames(motion[frame])
    sites = [
        site for side, site in zip(contacts.heel, motion.track.locks, strict=True) if contacts.standing(side)[frame]
    ]
    marks = [name for site in sites for name in figure.sites.names if name.startswith(f"{site}_")]
    return np.array([frames[name].position for name in marks])[:, [0, 2]]


@cache
def walked(name, balance):
    return poise.retarget(clip_at(name), poise.load("walker"), balance=balance)


@pytest.mark.parametrize("balance", [False, True])
@pytest.mark.parametrize("name", WALKS)
def test_a_walking_machine_stands_stays_closed_and_inside_all_limits(name, balance):
    motion = walked(name, balance)
    quality = measure(motion)
    speeds = np.array([j.speed for j in motion.figure.joints for _ in range(j.nv)])
    assert quality.violations == 0
    assert quality.closure <= 1e-9
    assert quality.drift <= 1e-3
    assert quality.penetration.max() <= 1e-3
    assert not quality.spikes
    assert (np.abs(motion.velocity) <= speeds * (1.0 + 1e-9)).all()
    assert quality.tracking.mean() <= 0.04


@pytest.mark.parametrize("name", WALKS)
def test_a_balanced_walk_never_leaves_its_support_and_a_naive_one_does(name):
    balanced, naive = walked(name, True), walked(name, False)
    outside = {}
    for motion in (balanced, naive):
        standing = [
            i for i in range(len(motion)) if any(motion.track.contacts.standing(s)[i] for s in ("left", "right"))
        ]
        centers = {i: motion.figure.center_of_mass(motion[i])[[0, 2]] for i in standing}
        outside[motion.track.center is None] = sum(
            Delaunay(support(motion, i)).find_simplex(center) < 0 for i, center in centers.items()
        )
        assert len(standing) >= len(motion) - 1
    assert outside[False] == 0
    assert outside[True] > 0.3 * len(naive)


@pytest.mark.parametrize("name", [*DANCES, *GESTURES])
def test_a_machine_performs_every_clip(name):
    quality = measure(poise.retarget(clip_at(name), poise.load("walker")))
    assert quality.violations == 0
    assert max(quality.drift, quality.penetration.max()) <= 1e-3
    assert not quality.spikes


def test_joints_that_are_too_slow_slow_the_motion_down():
    clip = clip_at(WALK)
    assert walked(WALK, False).rate < clip.rate
    assert motion_of(WALK).rate == clip.rate
    assert len(walked(WALK, False)) == len(clip)


@pytest.mark.parametrize("figure", ["human", "walker"])
def test_a_clip_of_one_frame_becomes_a_motion_of_one_frame(figure):
    assert len(poise.retarget(clip_at(WALK)[50:51], poise.load(figure))) == 1


def test_a_balanced_walk_at_another_rate_is_as_slow_as_it_must_be():
    motion = poise.retarget(clip_at(WALK), poise.load("walker"), balance=True, rate=30.0)
    speeds = np.array([j.speed for j in motion.figure.joints for _ in range(j.nv)])
    assert motion.rate == 30.0
    assert (np.abs(motion.velocity) <= speeds * (1.0 + 1e-9)).all()
    assert measure(motion).drift <= 1e-3


@pytest.mark.parametrize("tempo", [1.0, 0.5])
def test_feet_stand_between_the_frames_of_a_clip_with_few(tempo):
    few = clip_at(WALK).resampled(20.0)
    motion = poise.retarget(few, poise.load("human"), rate=60.0, tempo=tempo)
    quality = measure(motion)
    assert len(motion) == pytest.approx(few.duration * 60.0 / tempo, abs=2)
    assert max(quality.drift, quality.penetration.max()) <= 1e-3
    assert quality.violations == 0


@pytest.mark.parametrize("rate", [24.0, 60.0])
def test_a_slow_balanced_walk_is_as_good_at_many_more_frames_than_its_clip_has(rate):
    motion = poise.retarget(clip_at(WALK), poise.load("walker"), balance=True, tempo=0.1, rate=rate)
    quality = measure(motion)
    assert motion.rate == rate
    assert len(motion) == pytest.approx(10.0 * clip_at(WALK).duration * rate, abs=2)
    assert quality.violations == quality.unbalanced == quality.airborne == 0
    assert not quality.hurried
    assert not quality.spikes
    assert quality.closure <= 1e-9
    assert max(quality.drift, quality.penetration.max()) <= 1e-3


def test_a_filter_passes_over_figures_of_hinges():
    clip, adelino = clip_at(WAVE), poise.load("adelino")
    calm = poise.MotionFilter(2.0, 8.0, 60.0)
    motion = poise.retarget(clip, adelino, {"RightHand": adelino.sites.names[-1]}, motion_filter=calm)
    assert np.abs(motion.velocity).max() <= 2.0 + 1e-9
    with pytest.raises(poise.TaskError, match="loops"):
        poise.retarget(clip, poise.load("walker"), motion_filter=calm)


def test_progress_ends_with_all_frames():
    clip = clip_at(WAVE)
    seen = []
    poise.retarget(clip, poise.load("human"), progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (len(clip), len(clip))
    assert all(done <= total for done, total in seen)


def test_an_edited_contact_is_kept():
    clip = clip_at(WAVE)
    motion = motion_of(WAVE)
    edited = motion.track.contacts.changed("left", 0, 5, heel=False, ball=False)
    other = poise.retarget(clip, poise.load("human"), contacts=edited)
    assert not other.track.contacts.standing("left")[:6].any()


def test_any_rate_comes_out():
    clip = clip_at(WAVE)
    assert poise.retarget(clip, poise.load("human"), rate=10.0).rate == 10.0
    with pytest.raises(poise.TaskError, match="tempo"):
        poise.retarget(clip, poise.load("human"), tempo=0.0)


def test_an_unknown_joint_raises_an_error_that_lists_known_ones():
    clip = clip_at(WALK)
    with pytest.raises(poise.TaskError, match="Did you mean 'LeftHand'"):
        poise.retarget(clip, poise.load("human"), {"LeftHnad": "left_hand"})
