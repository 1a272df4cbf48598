"""The motion filter keeps its limits whatever it is asked.

Limits are judged by differences of the output, as whoever receives it would. A third difference of positions carries
their rounding divided by dt³, so jerk is judged on the accelerations the filter reports, and these on its positions:
over a frame of constant or switching jerk the position moves within J dt³ of what they predict.
"""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.motion.filter.filter import MotionFilter

JOINTS = 500


def random_filter(rng, joints=JOINTS):
    degree = math.pi / 180.0
    velocity = rng.uniform(30, 400, joints) * degree
    acceleration = velocity * rng.uniform(1, 20, joints)
    motion = MotionFilter(
        velocity,
        acceleration,
        acceleration * rng.uniform(2, 40, joints),
        lower=-rng.uniform(1, 180, joints) * degree,
        upper=rng.uniform(1, 180, joints) * degree,
        smoothness=rng.choice([0.0, 0.0, 0.25, 0.5, 0.75, 0.9, 1.0], joints),
        responsiveness=rng.choice([0.0, 0.5, 0.9, 0.95, 0.999], joints),
        beta=rng.choice([0.5, 1.0, 2.0, 50.0, math.inf], joints),
        bounce=rng.choice([0.0, 0.0, 0.1, 0.3, 0.6, 0.9], joints),
    )
    motion.reset(rng.uniform(motion.limits.lower, motion.limits.upper))
    return motion


def adversary(rng, motion, held):
    """Set-points that jump, chatter, flee, tease, leave the limits and are no numbers, one habit per joint."""
    n = held.size
    limits, x, v = motion.limits, motion.position, motion.velocity
    habit = np.arange(n) % 7
    jump = rng.random(n) < 0.04
    held[jump] = rng.uniform(2.0 * limits.lower, 2.0 * limits.upper)[jump]
    wanted = held.copy()
    wanted[habit == 1] = rng.uniform(limits.lower, limits.upper)[habit == 1]
    tease = x - np.sign(v) * 10.0 ** rng.uniform(-9, 0, n)
    wanted[habit == 2] = tease[habit == 2]
    wanted[habit == 3] = np.where(rng.random(n) < 0.5, limits.lower, limits.upper)[habit == 3]
    wanted[habit == 4] = (x + np.sign(v + 1e-300) * 10.0)[habit == 4]
    strange = rng.choice([math.nan, math.inf, -math.inf, 1e300, -1e300, 0.0], n)
    wanted[habit == 5] = np.where(rng.random(n) < 0.2, strange, held)[habit == 5]
    # Just short of where it could stop: the certificate's edge.
    edge = x + v * np.abs(v) / limits.acceleration * rng.uniform(0.3, 0.8, n)
    wanted[habit == 6] = edge[habit == 6]
    return wanted


def worst_excess(motion, rng, frames, rate, *, steady):
    """Largest excess of any limit, relative to it; positions relative to the range."""
    limits, held = motion.limits, motion.position
    x, v, a = motion.position, motion.velocity, motion.acceleration
    worst = 0.0
    for _ in range(frames):
        dt = (1.0 if steady else rng.uniform(0.05, 3.0)) / rate
        x1 = motion.step(adversary(rng, motion, held), dt)
        v1, a1 = motion.velocity, motion.acceleration
        assert np.isfinite(x1).all()
        excesses = (
            np.maximum(limits.lower - x1, x1 - limits.upper) / (limits.upper - limits.lower),
            np.abs(x1 - x) / dt / limits.velocity - 1.0,
            np.abs(v1) / limits.velocity - 1.0,
            np.abs(v1 - v) / dt / limits.acceleration - 1.0,
            np.abs(a1) / limits.acceleration - 1.0,
            np.abs(a1 - a) / dt / limits.jerk - 1.0,
            # What it reports is what it did: x₁ = x + v dt + a dt²/2 and a jerk's worth, as v₁ and v.
            (np.abs(x1 - x - v * dt - 0.5 * a * dt * dt) - limits.jerk * dt**3 / 6.0) / (limits.jerk * dt**3) - 1e-6,
            (np.abs(v1 - v - a * dt) - 0.5 * limits.jerk * dt * dt) / (limits.jerk * dt * dt) - 1e-6,
        )
        worst = max(worst, *(float(excess.max()) for excess in excesses))
        x, v, a = x1, v1, a1
    return worst


@given(seed=st.integers(0, 2**32 - 1), rate=st.floats(20.0, 240.0), steady=st.booleans())
def test_limits_hold_for_any_input(seed, rate, steady):
    rng = np.random.default_rng(seed)
    assert worst_excess(random_filter(rng, 70), rng, 40, rate, steady=steady) <= 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_limits_hold_for_ten_million_samples(seed):
    rng = np.random.default_rng([seed, 7])
    rate = rng.uniform(20.0, 240.0)
    assert worst_excess(random_filter(rng), rng, 1000, rate, steady=seed % 3 > 0) <= 1e-9


@pytest.mark.parametrize("rate", [20.0, 60.0, 240.0])
def test_every_constant_set_point_is_reached_and_the_motion_ends(rate):
    rng = np.random.default_rng(int(rate))
    motion = random_filter(rng, 300)
    held = motion.position
    for _ in range(30):
        motion.step(adversary(rng, motion, held), 1.0 / rate)
    limits = motion.limits
    goal = rng.uniform(0.8 * limits.lower, 0.8 * limits.upper)
    for _ in range(int(60.0 * rate)):
        motion.step(goal, 1.0 / rate)
    assert np.abs(motion.position - goal).max() < math.radians(0.05)
    assert (np.abs(motion.velocity) / limits.velocity).max() < 1e-3
