"""Limiting accelerations with a small correction that keeps the constraints."""

from functools import partial

import numpy as np
import pytest
from scipy.optimize import minimize

import poise
from poise.motion.report.report import measure
from poise.motion.retarget import smoothing
from poise.motion.retarget.smoothing import Style
from tests import real_data
from tests.unit.motion.retarget.performances import dancing
from tests.unit.motion.retarget.stick_man import stepping


def swing(count=40):
    time = np.linspace(0.0, 8.0, count)[:, None]
    return np.hstack([np.sin(time), 0.5 * np.cos(1.3 * time), np.abs(time - 4.0)])


def second_differences(count):
    return np.diff(np.eye(count), n=2, axis=0)


def test_bands_equal_those_of_the_dense_matrix():
    second = second_differences(12)
    matrix = (1.0 + smoothing.CONSTRAINT_PENALTY) * np.eye(12) + smoothing.LIMIT_PENALTY * second.T @ second
    bands = smoothing._normal_matrix_bands(12)
    for k in range(3):
        np.testing.assert_allclose(bands[k, : 12 - k], np.diag(matrix, k))
    rows = np.random.default_rng(0).standard_normal((10, 3))
    np.testing.assert_allclose(smoothing._transposed_second_difference(rows), second.T @ rows)


def test_the_correction_meets_the_limit_and_is_close_to_the_smallest_one():
    path = swing()[:, :1]
    second_difference, bound = np.diff(path, n=2, axis=0), np.array([0.6 * np.abs(np.diff(path, n=2, axis=0)).max()])
    change = smoothing._admm_correction(second_difference, bound, np.ones((len(path), 1, 1)))
    second = second_differences(len(path))
    assert np.abs(second_difference + second @ change).max() <= (1.0 + smoothing.ACCELERATION_TOLERANCE) * bound
    loose = (1.0 + smoothing.ACCELERATION_TOLERANCE) * bound[0]
    known = minimize(
        lambda d: 0.5 * d @ d,
        np.zeros(len(path)),
        jac=lambda d: d,
        constraints=[
            {"type": "ineq", "fun": lambda d: loose - second_difference[:, 0] - second @ d, "jac": lambda d: -second},
            {"type": "ineq", "fun": lambda d: loose + second_difference[:, 0] + second @ d, "jac": lambda d: second},
        ],
        method="SLSQP",
        options={"maxiter": 300},
    )
    assert np.linalg.norm(change) <= 1.6 * np.linalg.norm(known.x)


def test_the_correction_keeps_the_constraints():
    path = swing()
    rows = np.zeros((len(path), 2, 3))
    rows[10:30, 0] = [1.0, -2.0, 0.5]
    second_difference = np.diff(path, n=2, axis=0)
    change = smoothing._admm_correction(
        second_difference, 0.7 * np.abs(second_difference).max(axis=0), smoothing._null_space_projectors(rows)
    )
    assert np.abs(change).max() > 0.01
    assert np.abs(np.einsum("tij,tj->ti", rows, change)).max() < 1e-12


def greatest(motion):
    return float(np.abs(np.diff(motion.velocity, axis=0))[:, 6:].max()) * motion.rate


@pytest.mark.parametrize("share", [0.7, 0.3, 0.05])
def test_the_result_meets_acceleration_limits_and_keeps_contacts(share):
    clip, human = stepping(frames=60), poise.load("human")
    most = share * greatest(poise.retarget(clip, human))
    motion = poise.retarget(clip, human, style=Style(acceleration=most))
    quality = measure(motion)
    assert greatest(motion) <= most
    assert quality.violations == 0
    assert max(quality.drift, quality.penetration.max()) <= 1e-3
    # Playing all of it slower would do as well; what is solved inside the limits is never slower than that.
    assert motion.rate >= 0.99 * clip.rate * np.sqrt(share)


@pytest.mark.parametrize("rate", [None, 100.0])
def test_a_lamp_accelerates_half_as_much_at_the_same_tempo(rate):
    clip, lamp = stepping(frames=60), poise.load("adelino")
    mapping = {"LeftHand": lamp.sites.names[-1]}

    def most(motion):
        return float(np.abs(np.diff(motion.velocity, axis=0)).max()) * motion.rate

    free = poise.retarget(clip, lamp, mapping)
    motion = poise.retarget(clip, lamp, mapping, rate=rate, style=Style(acceleration=0.5 * most(free)))
    assert most(motion) <= 0.5 * most(free)
    assert motion.duration == pytest.approx(clip.duration, abs=0.011)


@pytest.mark.parametrize(
    ("of", "limit"),
    [
        pytest.param(dancing, 80.0, id="dance"),
        pytest.param(
            partial(poise.load_clip, real_data.BVH / "cmu/02_01.bvh"), 400.0, marks=pytest.mark.real_data, id="cmu"
        ),
    ],
)
def test_a_machine_with_loops_keeps_its_tempo_where_slowing_down_would_cost_half(of, limit):
    clip, walker = of(), poise.load("walker")
    free = poise.retarget(clip, walker)
    most = limit * (free.rate / clip.rate) ** 2
    motion = poise.retarget(clip, walker, style=Style(acceleration=limit))
    quality = measure(motion)
    assert greatest(motion) <= limit
    assert most < greatest(free)
    assert motion.rate >= free.rate
    assert quality.violations == 0
    assert quality.closure <= 1e-9
    assert max(quality.drift, quality.penetration.max()) <= 1e-3
    assert not quality.spikes
