"""A human that reaches across its own body never reaches through it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import poise
from poise import Avoid, CenterOfMass, Frame, LookAt, Obstacle, Plane, Pose, Position
from poise.figure.collision.collisions import Collisions
from poise.figure.model.shapes import Box
from poise.figures import built_in

HUMAN = built_in("human")
FEET = [Frame(foot, HUMAN.pose_of(foot, "standing"), priority=1) for foot in ("left_foot", "right_foot")]
DEEPEST = 1e-3
"""Deepest penetration that nobody sees [m]."""


def neutral_depths() -> dict[tuple[str, str], float]:
    """How far inside each other bodies are in the neutral posture, where flesh overlaps by design."""
    return {(near.a, near.b): min(0.0, near.distance) for near in reversed(Collisions(HUMAN).at(HUMAN.neutral()))}


OVERLAPS = neutral_depths()
REACHES = [np.random.default_rng(seed).uniform((-0.15, 0.75, -0.25), (0.55, 1.75, 0.5)) for seed in range(20)]


def deepest(posture: poise.Posture) -> float:
    """Penetration beyond that of the neutral posture."""
    found = Collisions(HUMAN).at(posture)
    return max((OVERLAPS.get((near.a, near.b), 0.0) - near.distance for near in found), default=0.0)


@pytest.fixture(scope="module")
def solvers() -> tuple[poise.Solver, poise.Solver, Position]:
    """One that reaches as if bodies were air, one that does not, and the task to give targets to."""
    reach = Position("right_hand", at=REACHES[0], priority=3)
    tasks = [*FEET, CenterOfMass(over=["left_foot", "right_foot"], priority=2), reach]
    return poise.Solver(HUMAN, tasks), poise.Solver(HUMAN, [*tasks, Avoid("self")]), reach


@pytest.mark.parametrize("seed", range(len(REACHES)))
def test_a_reach_across_the_body_goes_around_it(
    solvers: tuple[poise.Solver, poise.Solver, Position], seed: int
) -> None:
    _, solver, reach = solvers
    solver.target(reach, REACHES[seed])
    result = solver.settle("standing")
    assert result.status != "stalled"
    assert deepest(result.posture) < DEEPEST
    assert HUMAN.violations(result.posture) == []
    assert max(result.errors[foot] for foot in FEET) < 1e-6


def test_such_reaches_do_go_through_the_body_when_nobody_minds(
    solvers: tuple[poise.Solver, poise.Solver, Position],
) -> None:
    solver, _, reach = solvers
    depths = []
    for at in REACHES:
        solver.target(reach, at)
        depths.append(deepest(solver.settle("standing").posture))
    assert sum(depth > 0.01 for depth in depths) > len(REACHES) // 3


@settings(max_examples=15, deadline=None)
@given(
    at=st.tuples(st.floats(-0.6, 0.2), st.floats(0.6, 1.4), st.floats(0.2, 0.6)),
    hand=st.tuples(st.floats(-0.6, 0.2), st.floats(0.6, 1.4), st.floats(0.2, 0.8)),
)
def test_no_step_of_a_reach_around_a_box_touches_it(at: tuple[float, ...], hand: tuple[float, ...]) -> None:
    box, ground = Obstacle(Box((0.3, 0.05, 0.3)), Pose((at[0], at[1], at[2] + 0.25))), Plane("y", -0.2)
    seen = Collisions(HUMAN, [box, ground], itself=False)
    posture = HUMAN.posture("standing")
    if any(near.distance < 0.02 for near in seen.at(posture)):
        return
    tasks = [*FEET, LookAt("eyes", at=hand, priority=2), Position("right_hand", at=hand, priority=2)]
    solver = poise.Solver(HUMAN, tasks, obstacles=[box, ground])
    for _ in range(40):
        posture = solver.step(posture)
        assert min((near.distance for near in seen.at(posture)), default=1.0) > 0.01 - DEEPEST
    assert HUMAN.violations(posture) == []
