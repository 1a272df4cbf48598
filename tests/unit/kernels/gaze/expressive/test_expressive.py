"""The kernels of the expressive solver against finite differences, closed forms and scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import lsq_linear

import poise
from poise.chains.chain import chain_of
from poise.kernels.chains.chain import pointing, tip_rotation
from poise.kernels.gaze.expressive.approach import KEEPING_SHAPE, STRAIGHT, TOWARDS_GOAL, Pace, Way, approach, distance
from poise.kernels.gaze.expressive.bounded_step import box_step, remove_roll, tip_and_axes, turn_between
from poise.kernels.gaze.expressive.hold_gaze import GAZE_DAMPING, step_in_box
from poise.kernels.gaze.expressive.surface import height_coefficients, pivots, root_axis, sweep
from poise.kernels.gaze.expressive.workspace import (
    AXIS_ROWS,
    COMPLIANCE_ROW,
    CURRENT_ROW,
    FRAME_ROW,
    GOAL_ROW,
    HEIGHT_CONSTANT_ROW,
    HEIGHT_COS_ROW,
    HEIGHT_SIN_ROW,
    HEIGHT_SLOPE_ROW,
    STEP_LOWER_ROW,
    STEP_ROW,
    STEP_UPPER_ROW,
    WORKSPACE_ROWS,
)
from poise.kernels.maths.vector import Vector

FIGURES = {
    "erik_g": lambda: poise.load("erik_g"),
    "oblique": lambda: poise.chain(["Y", (1, 0.3, 0.2), (0.1, 0.5, 1), "X"], lengths=[0.1] * 4, limits=170),
}


def scratch(figure, seed: int):
    limb = chain_of(figure)
    work = np.zeros((WORKSPACE_ROWS, len(limb.joints)))
    work[CURRENT_ROW] = limb.angles(figure.random(seed))
    return limb.chain, work


@pytest.mark.parametrize("make", FIGURES.values(), ids=FIGURES)
@pytest.mark.parametrize("seed", range(3))
def test_height_is_a_sinusoid_of_every_joint_and_its_slope_the_derivative(make, seed: int) -> None:
    chain, work = scratch(make(), seed)
    r = np.array(root_axis(chain))
    height_coefficients(chain, work, CURRENT_ROW)
    angles = work[CURRENT_ROW].copy()
    for k in range(1, len(angles)):
        for x in (-1.0, 0.3, 2.0):
            there = angles.copy()
            there[k] = x
            height = r @ np.array(pointing(tip_rotation(chain, there)))
            made_of = (
                work[HEIGHT_CONSTANT_ROW, k] + work[HEIGHT_COS_ROW, k] * np.cos(x) + work[HEIGHT_SIN_ROW, k] * np.sin(x)
            )
            assert made_of == pytest.approx(height, abs=1e-13)
        ends = []
        for h in (1e-6, -1e-6):
            there = angles.copy()
            there[k] += h
            ends.append(r @ np.array(pointing(tip_rotation(chain, there))))
        assert work[HEIGHT_SLOPE_ROW, k] == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_a_pivot_meets_the_height_exactly(seed: int) -> None:
    chain, work = scratch(poise.load("erik_g"), seed)
    height_coefficients(chain, work, CURRENT_ROW)
    r, found = np.array(root_axis(chain)), 0
    for k in range(1, 8):
        first, x, second, y = pivots(chain, work, k, 0.4)
        for possible, angle in ((first, x), (second, y)):
            if possible:
                found += 1
                there = work[CURRENT_ROW].copy()
                there[k] = angle
                assert r @ np.array(pointing(tip_rotation(chain, there))) == pytest.approx(0.4, abs=1e-12)
                assert chain.lower[k] <= angle <= chain.upper[k]
    assert found


def test_a_sweep_reaches_what_no_joint_reaches_alone() -> None:
    chain, work = scratch(poise.load("erik_c"), 0)
    work[CURRENT_ROW] = 0.0
    assert sweep(chain, work, CURRENT_ROW, -0.9, 0) == pytest.approx(0.0, abs=1e-12)
    assert pointing(tip_rotation(chain, work[CURRENT_ROW])).y == pytest.approx(-0.9, abs=1e-12)


@pytest.mark.parametrize("make", FIGURES.values(), ids=FIGURES)
def test_rows_of_the_error_are_its_derivative(make) -> None:
    chain, work = scratch(make(), 1)
    p = pointing(tip_and_axes(chain, work, CURRENT_ROW))
    remove_roll(work, work.shape[1], p)
    rows = work[AXIS_ROWS : AXIS_ROWS + 3].copy()
    angles = work[CURRENT_ROW].copy()
    for k in range(len(angles)):
        ends = []
        for h in (1e-6, -1e-6):
            there = angles.copy()
            there[k] += h
            ends.append(np.array(turn_between(p, pointing(tip_rotation(chain, there)))))
        assert rows[:, k] == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-8)


def test_turning_between_opposite_directions_is_half_a_turn_across() -> None:
    p = Vector(0.0, 0.6, 0.8)
    e = np.array(turn_between(p, Vector(0.0, -0.6, -0.8)))
    assert np.linalg.norm(e) == pytest.approx(np.pi)
    assert e @ np.array(p) == pytest.approx(0.0, abs=1e-12)
    assert np.array(turn_between(p, p)) == pytest.approx(np.zeros(3))


@pytest.mark.parametrize("seed", range(20))
def test_a_step_inside_its_box_is_the_optimum_of_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, give = 6, 1e-3
    work = np.zeros((WORKSPACE_ROWS, n))
    work[AXIS_ROWS : AXIS_ROWS + 3] = rng.normal(size=(3, n))
    work[COMPLIANCE_ROW] = rng.uniform(0.2, 5.0, n)
    work[STEP_ROW] = wanted = rng.normal(size=n) * 0.3
    wanted = wanted.copy()
    work[STEP_LOWER_ROW], work[STEP_UPPER_ROW] = -rng.uniform(0.1, 0.6, n), rng.uniform(0.1, 0.6, n)
    e = rng.normal(size=3) * 0.2
    box_step(work, n, Vector(*e.tolist()), give, Vector(0.0, 0.0, 0.0))
    stiff = np.sqrt(1.0 / work[COMPLIANCE_ROW])
    a = np.vstack([np.diag(stiff), work[AXIS_ROWS : AXIS_ROWS + 3] / np.sqrt(give)])
    b = np.concatenate([stiff * wanted, e / np.sqrt(give)])
    best = lsq_linear(a, b, (work[STEP_LOWER_ROW], work[STEP_UPPER_ROW]), tol=1e-14)
    cost = 0.5 * np.sum((a @ work[STEP_ROW] - b) ** 2)
    assert (work[STEP_ROW] >= work[STEP_LOWER_ROW]).all() and (work[STEP_ROW] <= work[STEP_UPPER_ROW]).all()
    assert cost <= best.cost * (1.0 + 1e-6) + 1e-9


@pytest.mark.parametrize("seed", range(40))
def test_a_step_that_holds_the_gaze_is_the_optimum_of_scipy(seed: int) -> None:
    rng = np.random.default_rng([1, seed])
    n = int(rng.integers(2, 9))
    work = np.zeros((WORKSPACE_ROWS, n))
    p = rng.normal(size=3)
    p /= np.linalg.norm(p)
    across = np.eye(3) - np.outer(p, p)
    work[AXIS_ROWS : AXIS_ROWS + 3] = axes = across @ rng.normal(size=(3, n))
    work[COMPLIANCE_ROW] = compliance = rng.choice([0.5, 2.0, 5.0, 1000.0], n)
    work[STEP_ROW] = wanted = rng.normal(size=n)
    wanted = wanted.copy()
    low, high = -rng.uniform(0.0, 0.1, n), rng.uniform(0.0, 0.1, n)
    work[STEP_LOWER_ROW], work[STEP_UPPER_ROW] = low, high
    e = across @ rng.normal(size=3) * 0.1
    step_in_box(work, n, Vector(*e.tolist()), Vector(*p.tolist()))
    step = work[STEP_ROW].copy()
    assert (step >= low).all() and (step <= high).all()
    a = np.vstack([np.diag(compliance**-0.5), axes / np.sqrt(GAZE_DAMPING)])
    b = np.concatenate([wanted * compliance**-0.5, e / np.sqrt(GAZE_DAMPING)])
    best = lsq_linear(a, b, (low - 1e-15, high + 1e-15), tol=1e-15, max_iter=500)
    assert 0.5 * np.sum((a @ step - b) ** 2) <= best.cost * (1.0 + 1e-5) + 1e-7


@pytest.mark.parametrize("name", ["adelino", "erik_b", "erik_d", "erik_g"])
@pytest.mark.parametrize("manner", [STRAIGHT, KEEPING_SHAPE, TOWARDS_GOAL])
@pytest.mark.parametrize("slack", [0.0, 4.5])
def test_a_way_ends_at_its_goal_in_time_whatever_the_gaze_does(name: str, manner: int, slack: float) -> None:
    solver = poise.Expressive(poise.load(name))
    chain, rng = solver.limb.chain, np.random.default_rng(3)
    work = np.zeros((WORKSPACE_ROWS, len(solver.limb.joints)))
    rate = np.radians(5.0)
    pace = Pace(rate, 1.0, 90, np.radians(slack))
    for _ in range(20):
        posture = solver.limb.angles(solver.figure.random(rng))
        work[FRAME_ROW] = solver.limb.angles(solver.figure.random(rng))
        work[GOAL_ROW] = solver.limb.angles(solver.figure.random(rng))
        work[GOAL_ROW, -1] = work[FRAME_ROW, -1]
        d = pointing(tip_rotation(chain, work[GOAL_ROW]))
        frames = int(np.ceil(distance(chain, work, FRAME_ROW, GOAL_ROW) / rate))
        way, taken = Way(frames, frames // 2, manner), 0
        while way.left > 0:
            before = work[FRAME_ROW].copy()
            way = approach(chain, solver.scoring, d, pace, posture, way, work, FRAME_ROW, GOAL_ROW)
            taken += 1
            assert np.abs(work[FRAME_ROW] - before).max() <= rate + 1e-12
            assert (work[FRAME_ROW] >= chain.lower).all() and (work[FRAME_ROW] <= chain.upper).all()
        assert taken <= frames + frames // 2
        np.testing.assert_allclose(work[FRAME_ROW], work[GOAL_ROW], atol=1e-12)
