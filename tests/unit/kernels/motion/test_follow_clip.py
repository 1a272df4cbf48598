"""Fits and whole clips, against forward kinematics, differences and perturbed postures."""

import numpy as np
import pytest

import poise
from poise.kernels.motion.posture_curves import clip_frames, clip_rates, curve_clip, smooth_clip
from poise.kernels.motion.weighted_fit import fit_posture
from poise.kernels.motion.weighted_fit_step import make_fit
from poise.motion.retarget.draft import DRAFT_STEP_SIZE, CachedProblem
from poise.tasks.place import Position

HUMAN = poise.load("human")
REACH = np.array([0.35, 1.25, 0.3])


def random_clip(count=6, seed=0):
    rng = np.random.default_rng(seed)
    q = HUMAN.neutral()
    return np.array([HUMAN.integrate(q, 0.2 * rng.standard_normal(HUMAN.nv)).q for _ in range(count)])


def test_frames_of_a_clip_are_those_of_its_postures():
    clip, ride = random_clip(), HUMAN.compiled.attached
    place, turn = np.empty((len(clip), len(ride.node), 3)), np.empty((len(clip), len(ride.node), 4))
    clip_frames(HUMAN.compiled.tree, clip, ride.node, ride.position, ride.rotation, place, turn)
    for i, q in enumerate(clip):
        np.testing.assert_array_equal(place[i], HUMAN.frames(q).position)
        np.testing.assert_array_equal(turn[i], HUMAN.frames(q).rotation)


def test_rates_of_a_clip_are_differences():
    clip = random_clip()
    rates = np.zeros((len(clip) - 1, HUMAN.nv))
    clip_rates(HUMAN.compiled.tree, clip, rates)
    for i in range(len(rates)):
        np.testing.assert_allclose(rates[i], HUMAN.difference(clip[i], clip[i + 1]), atol=1e-12)


def test_smoothing_leaves_steady_motion_and_both_ends_alone():
    rate = 0.02 * np.random.default_rng(1).standard_normal(HUMAN.nv)
    clip = [np.array(HUMAN.neutral().q)]
    for _ in range(20):
        clip.append(np.array(HUMAN.integrate(clip[-1], rate).q))
    clip = np.array(clip)
    out = np.zeros_like(clip)
    smooth_clip(HUMAN.compiled.tree, clip, np.full(len(clip), 2.0), out)
    np.testing.assert_allclose(out, clip, atol=1e-9)


def test_smoothing_flattens_no_bend():
    slide = poise.load("serial12")
    time = np.linspace(-1.0, 1.0, 41)[:, None]
    clip = 0.1 * np.linspace(-1.0, 1.0, slide.nq) * (time - time**2 + time**3)
    out = np.zeros_like(clip)
    smooth_clip(slide.compiled.tree, clip, np.full(len(clip), 2.0), out)
    np.testing.assert_allclose(out, clip, atol=1e-12)


def curved(clip, finer, figure=HUMAN):
    moments = np.linspace(0.0, len(clip) - 1.0, finer * (len(clip) - 1) + 1)
    before = np.clip(np.floor(moments).astype(np.int64), 0, len(clip) - 2)
    out = np.zeros((len(moments), clip.shape[1]))
    curve_clip(figure.compiled.tree, clip, before, moments - before, out)
    return out


def test_a_curve_keeps_both_ends_and_a_steady_motion():
    rate = 0.02 * np.random.default_rng(1).standard_normal(HUMAN.nv)
    clip = np.array([np.array(HUMAN.integrate(HUMAN.neutral(), i * rate).q) for i in range(8)])
    fine = curved(clip, 4)
    for i, q in enumerate(fine):
        assert np.abs(HUMAN.difference(HUMAN.integrate(HUMAN.neutral(), 0.25 * i * rate), q)).max() < 1e-4
    shaken = random_clip(8)
    fine = curved(shaken, 4)
    for end in (0, -1):
        assert np.abs(HUMAN.difference(shaken[end], fine[end])).max() < 1e-12


def test_a_curve_has_no_corners_where_lines_between_frames_do():
    slide, jerks = poise.load("serial12"), []
    clip = 0.1 * np.random.default_rng(3).standard_normal((10, slide.nq))
    for finer in (10, 20):
        jerks.append(np.abs(np.diff(curved(clip, finer, slide), n=3, axis=0)).max() * finer**3)
    # The jerk of a curve is what it is; that of corners grows with the square of how finely one looks.
    assert jerks[1] < 1.1 * jerks[0]


def test_smoothing_removes_jitter():
    clip = random_clip(40)
    out = np.zeros_like(clip)
    smooth_clip(HUMAN.compiled.tree, clip, np.full(len(clip), 2.0), out)
    jitter = [np.abs(np.diff(motion[4:-4, 7:], axis=0)).mean() for motion in (clip, out)]
    assert jitter[1] < 0.4 * jitter[0]
    np.testing.assert_array_equal(out[0], clip[0])


def fitted(near=1e-3, still=0.0, before=None, reached=0):
    cached = CachedProblem(HUMAN, [Position("left_hand", REACH)], DRAFT_STEP_SIZE)
    engine = cached.problem.engine
    count = HUMAN.nv + engine.levels.general.shape[0]
    fit = make_fit(len(engine.goals.position), np.full(HUMAN.nv, near), np.full(HUMAN.nv, still), count, HUMAN.nq)
    fit.active[:] = reached
    neutral = np.array(HUMAN.neutral().q)
    q = neutral.copy()
    last = neutral if before is None else before
    fit_posture(cached.problem.handle, fit, last, neutral, 100, 1e-9, q)
    return q


def cost(q, near=1e-3):
    away = HUMAN.difference(q, HUMAN.neutral())
    return np.sum((HUMAN.pose_of("left_hand", q).position - REACH) ** 2) + near * away @ away


def test_a_fit_is_legal_and_no_legal_posture_near_it_is_better():
    q = fitted()
    assert not HUMAN.violations(q)
    rng = np.random.default_rng(2)
    for _ in range(200):
        other = HUMAN.integrate(q, 1e-3 * rng.standard_normal(HUMAN.nv))
        if not HUMAN.violations(other):
            assert cost(other) >= cost(q) - 1e-12


@pytest.mark.parametrize("side", [-1, 1])
def test_limits_active_in_an_earlier_frame_become_inactive(side):
    q = fitted(reached=side)
    assert not HUMAN.violations(q)
    assert np.isfinite(q).all()
    np.testing.assert_allclose(q, fitted(), atol=1e-6)


@pytest.mark.parametrize("near", [1e-4, 1e-3, 1e-2])
def test_the_less_the_neutral_posture_counts_the_nearer_the_hand(near):
    errors = [np.linalg.norm(HUMAN.pose_of("left_hand", fitted(n)).position - REACH) for n in (near, 0.1 * near)]
    assert errors[1] < errors[0]


def test_a_heavy_frame_before_holds_the_posture():
    before = np.array(HUMAN.neutral().q)
    assert np.abs(HUMAN.difference(fitted(still=1e6, before=before), before)).max() < 1e-5
