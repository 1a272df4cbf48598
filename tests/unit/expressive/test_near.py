"""Points within a chain's own reach: the chain comes to rest, and faces them wherever it can."""

from __future__ import annotations

import math

import numpy as np
import pytest

import poise
from poise.chains.targets import at, facing
from poise.expressive.expressive import Expressive
from poise.figure.model.pose import FloatArray
from poise.kernels.chains.chain import tip_position
from poise.kernels.gaze.expressive.bounded_step import turn_between
from poise.kernels.gaze.expressive.near_point import look_near
from poise.kernels.gaze.expressive.workspace import AXIS_ROWS, CURRENT_ROW, WORKSPACE_ROWS
from poise.kernels.maths.vector import Vector

RATE = math.radians(5.0)


def missed(solver: Expressive, posture: poise.Posture, point: FloatArray) -> float:
    """Angle between the tip's direction and the direction from the tip to the point [degrees]."""
    frame = solver.figure.pose_of(solver.limb.tip, posture)
    way = point - frame.position
    points = frame.matrix[:3, 1]
    return math.degrees(math.atan2(float(np.linalg.norm(np.cross(points, way))), float(points @ way)))


@pytest.mark.parametrize("name", ["adelino", "erik_c", "erik_g"])
@pytest.mark.parametrize("seed", range(3))
def test_rows_of_the_error_know_that_the_tip_moves(name: str, seed: int) -> None:
    limb = Expressive(poise.load(name)).limb
    rng = np.random.default_rng(seed)
    work = np.zeros((WORKSPACE_ROWS, len(limb.joints)))
    work[CURRENT_ROW] = limb.angles(limb.figure.random(rng))
    p, _ = look_near(limb.chain, Vector(0.0, 0.0, 0.0), work, CURRENT_ROW)
    # The formula is of first order in the error: a point straight ahead has none.
    point = Vector(*(np.array(tip_position(limb.chain, work[CURRENT_ROW])) + 0.3 * np.array(p)))
    look_near(limb.chain, point, work, CURRENT_ROW)
    rows = work[AXIS_ROWS : AXIS_ROWS + 3].copy()
    for k in range(len(limb.joints)):
        ends = []
        for h in (1e-6, -1e-6):
            work[CURRENT_ROW, k] += h
            ends.append(np.array(turn_between(*look_near(limb.chain, point, work, CURRENT_ROW))))
            work[CURRENT_ROW, k] -= h
        np.testing.assert_allclose((ends[1] - ends[0]) / 2e-6, rows[:, k], atol=1e-7)


@pytest.mark.parametrize(("name", "reach"), [("adelino", 0.55), ("erik_c", 1.1)])
@pytest.mark.parametrize("seed", range(8))
def test_a_chain_that_looks_at_a_point_within_its_reach_comes_to_rest(name: str, reach: float, seed: int) -> None:
    solver = Expressive(poise.load(name))
    rng = np.random.default_rng([2, seed])
    posture, way = solver.figure.random(rng), rng.normal(size=3)
    point = way / np.linalg.norm(way) * rng.uniform(0.2, 0.9) * reach
    target = at(point, roll=None if seed % 2 else 0.0)
    result = solver.solve(posture, facing(rng.normal(size=3), roll=0.3))
    steps = []
    for _ in range(160):
        before, result = result.posture.q, solver.solve(posture, target, previous=result)
        steps.append(float(np.abs(result.posture.q - before).max()))
    assert max(steps) <= RATE + 1e-12
    assert max(steps[-30:]) < math.radians(0.05)
    alone = solver.solve(posture, target)
    assert missed(solver, result.posture, point) < missed(solver, alone.posture, point) + 5.0


@pytest.mark.parametrize("name", ["adelino", "erik_c", "erik_g"])
def test_a_near_point_that_can_be_seen_is_seen(name: str) -> None:
    solver = Expressive(poise.load(name))
    rng = np.random.default_rng(8)
    for _ in range(15):
        there = solver.figure.pose_of(solver.limb.tip, solver.figure.random(rng))
        point = there.position + 0.25 * there.matrix[:3, 1]
        result = solver.solve(solver.figure.random(rng), at(point, roll=None))
        assert missed(solver, result.posture, point) < 1e-4
        assert not solver.figure.violations(result.posture)


def test_a_point_that_comes_near_and_goes_again_is_followed_without_a_jump() -> None:
    solver = Expressive(poise.load("adelino"))
    posture, off, steps = solver.figure.posture("attentive"), [], []
    result = solver.solve(posture, at([0.0, 0.5, 4.0]))
    for f in range(300):
        point = np.array([0.3 * math.sin(f / 60), 0.5, 2.2 + 1.8 * math.cos(f / 48)])
        before, result = result.posture.q, solver.solve(posture, at(point), previous=result)
        steps.append(float(np.abs(result.posture.q - before).max()))
        off.append(missed(solver, result.posture, point))
    assert max(steps) <= RATE + 1e-12
    assert max(off) < 0.1
