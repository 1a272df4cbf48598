"""The best turn is the best of all turns, and the goal's rows are its derivative."""

import math

import numpy as np
import pytest

import poise
from poise.kernels.chains.goal import (
    DIRECTION_GOAL,
    LOOK_GOAL,
    ORIENTATION_GOAL,
    POSITION_GOAL,
    ChainGoal,
    Tip,
    angle_within_limits,
    best_turn,
    goal_error,
    tip_after_turn,
)
from poise.kernels.chains.jacobian import goal_rows
from poise.kernels.maths.quaternion import Quaternion
from poise.kernels.maths.vector import Vector

KINDS = {"position": POSITION_GOAL, "direction": DIRECTION_GOAL, "orientation": ORIENTATION_GOAL, "look": LOOK_GOAL}
every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


def unit(rng, n):
    v = rng.normal(size=n)
    return v / np.linalg.norm(v)


def goal_of(kind, vector, rotation):
    v = vector / np.linalg.norm(vector) if kind == DIRECTION_GOAL else vector
    return ChainGoal(kind, Vector(*v), Quaternion(*rotation))


@pytest.mark.parametrize("kind", [POSITION_GOAL, DIRECTION_GOAL, ORIENTATION_GOAL])
def test_no_turn_about_an_axis_is_better_than_the_best(kind):
    rng = np.random.default_rng(kind)
    for _ in range(60):
        goal = goal_of(kind, rng.normal(size=3), unit(rng, 4))
        tip = Tip(Vector(*rng.normal(size=3)), Quaternion(*unit(rng, 4)))
        pivot, axis = Vector(*rng.normal(size=3)), Vector(*unit(rng, 3))
        best = goal_error(goal, tip_after_turn(axis, pivot, best_turn(goal, tip, pivot, axis), tip))
        others = [goal_error(goal, tip_after_turn(axis, pivot, a, tip)) for a in np.linspace(-np.pi, np.pi, 721)]
        assert best <= min(others) + 1e-9


def test_a_line_of_sight_in_the_plane_across_the_axis_is_met_exactly():
    rng = np.random.default_rng(1)
    for _ in range(100):
        roll = rng.uniform(-np.pi, np.pi)
        tip = Tip(Vector(*rng.normal(size=2), 0.0), Quaternion(math.cos(roll), 0.0, 0.0, math.sin(roll)))
        goal = ChainGoal(LOOK_GOAL, Vector(*(5.0 * unit(rng, 2)), 0.0), Quaternion(1.0, 0.0, 0.0, 0.0))
        pivot, axis = Vector(0.0, 0.0, 0.0), Vector(0.0, 0.0, 1.0)
        after = tip_after_turn(axis, pivot, best_turn(goal, tip, pivot, axis), tip)
        assert goal_error(goal, after) < 1e-9


@every_kind
def test_the_rows_are_the_derivative_of_what_is_left(kind):
    lamp = poise.chain("YXXZY", lengths=[0.1, 0.3, 0.3, 0.3, 0.1], limits=170)
    rng = np.random.default_rng(kind)
    for _ in range(10):
        q = lamp.random(rng).q
        frame = lamp.pose_of("tip", q)
        there = frame.position if kind == POSITION_GOAL else frame.matrix[:, 1]
        if kind == LOOK_GOAL:
            there = frame.position + 0.8 * frame.matrix[:, 1]
        goal = goal_of(kind, there, frame.rotation)
        rows, error = np.zeros((3, 5)), np.zeros(3)
        m = goal_rows(goal, tip_at(lamp, q), lamp.jacobian("tip", q), rows, error)
        assert m == (2 if kind in (DIRECTION_GOAL, LOOK_GOAL) else 3)
        assert error[:m] == pytest.approx(np.zeros(m), abs=1e-12)
        for k in range(5):
            step = np.zeros(5)
            step[k] = 1e-6
            assert (left_in_basis(lamp, goal, q, q - step) - left_in_basis(lamp, goal, q, q + step))[:m] / 2e-6 == (
                pytest.approx(rows[:m, k], abs=1e-8)
            )


def tip_at(figure, q):
    frame = figure.pose_of("tip", q)
    return Tip(Vector(*frame.position), Quaternion(*frame.rotation))


def left_in_basis(figure, goal, basis_at, q):
    """The residual at q, in the two axes of the rows at another posture."""
    from poise.kernels.chains.jacobian import goal_vector
    from poise.kernels.maths.vector import cross, orthogonal

    left = np.array(goal_vector(goal, tip_at(figure, q)))
    if goal.kind in (POSITION_GOAL, ORIENTATION_GOAL):
        return left
    y = Vector(*figure.pose_of("tip", basis_at).matrix[:, 1])
    a = orthogonal(y)
    return np.array([left @ np.array(a), left @ np.array(cross(y, a))])


@pytest.mark.parametrize(
    ("angle", "low", "high", "near", "known"),
    [
        (0.3, -1.0, 1.0, 0.0, 0.3),
        (0.3 + 4 * math.pi, -1.0, 1.0, 0.0, 0.3),
        (1.2, -1.0, 1.0, 0.0, 1.0),
        (-3.0, -1.0, 1.0, 0.0, -1.0),
        (math.pi + 0.1, -math.pi, math.pi, 3.0, -math.pi + 0.1),
        (0.1, -10.0, 10.0, 6.0, 0.1 + 2 * math.pi),
        (50.0, -math.inf, math.inf, 49.0, 50.0),
        (3.0, 0.5, 0.5, 0.5, 0.5),
    ],
)
def test_a_legal_angle_turns_alike_or_is_the_nearer_bound(angle, low, high, near, known):
    assert angle_within_limits(angle, low, high, near) == pytest.approx(known)
