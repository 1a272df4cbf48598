"""The curvature of a level that limits stop: that of the edges of supports, of ball joints' limits and of contacts."""

import numpy as np
import pytest

import poise
from poise import CenterOfMass, Frame, Position, Solver
from poise.engine.problem import Problem
from poise.figure import BallLimits, Builder, Ellipse, Polygon, Twist, ball
from poise.kernels.body.step_limits import PER_BALL, _limit_value, add_ball_curvature
from poise.kernels.body.tree import integrate
from poise.kernels.engine.indirect_calls import _evaluate_trial
from poise.kernels.engine.step import examine
from poise.kernels.engine.step_trial import first_edge_limit
from poise.kernels.goals.goal_derivatives import height_over_edge
from poise.kernels.maths.vector import Vector
from poise.tasks.task import Task

FEET = ("left_foot", "right_foot")
STILL = Vector(0.0, 0.0, 0.0)
REGIONS = (
    Ellipse(1.0, 0.5),
    Polygon(((1.0, 0.6, 1.0), (-1.0, 0.9, 1.0), (-1.2, -1.0, 1.0), (1.0, -0.8, 1.0))),
)


@pytest.mark.parametrize("part", range(PER_BALL))
@pytest.mark.parametrize("region", REGIONS, ids=["ellipse", "polygon"])
@pytest.mark.parametrize("seed", range(5))
def test_curvature_of_a_ball_limit_is_its_second_derivative(region: Ellipse | Polygon, part: int, seed: int) -> None:
    made = Builder("stick")
    made.body("base")
    limits = BallLimits(region, Twist.between(-0.8, 0.6))
    made.body("stick", parent="base", joint=ball("ball", limits), at=(0.0, 0.1, 0.0), mass=1.0)
    figure = made.build()
    engine = Problem(figure, [Position("stick", at=(0.0, 1.0, 0.0))]).engine
    rng = np.random.default_rng(seed)
    q, force = figure.random(rng).q.copy(), rng.normal()
    forces = np.zeros(PER_BALL)
    forces[part] = force
    found = np.zeros((3, 3))
    add_ball_curvature(engine.limits, engine.bounds, q, forces, 0, found)
    for _ in range(3):
        turn = rng.normal(size=3)
        values = [_limit_value(engine.bounds, 0, part, q, Vector(*(size * turn))) for size in (-1e-4, 0.0, 1e-4)]
        second = (values[0] - 2.0 * values[1] + values[2]) / 1e-8
        assert turn @ found @ turn == pytest.approx(force * second, abs=2e-3 * abs(force) * (turn @ turn))


@pytest.mark.parametrize("seed", range(4))
def test_curvature_of_a_stopped_level_is_that_of_its_lagrangian(seed: int) -> None:
    """Along directions that move no foot, the model has the second derivative of error and limits with their forces."""
    human = poise.load("human")
    rng = np.random.default_rng(seed)
    start = human.posture("standing")
    feet: list[Task] = [Frame(foot, human.pose_of(foot, start)) for foot in FEET]
    hand = Position("right_hand", at=np.array([0.0, 1.0, 0.0]) + 2.0 * rng.normal(size=3), priority=3)
    solver = Solver(human, [*feet, CenterOfMass(over=FEET, priority=2), hand], criteria=())
    posture = start
    for _ in range(60):
        posture = solver.step(posture)
    problem, q = solver._problem, posture.q.copy()
    engine, handle, n = problem.engine, problem.handle, human.nv
    examine(handle, q)
    level = 4
    assert engine.levels.curved[level] == 1
    multipliers, forces = (np.array(x) for x in (engine.solver.work.row_multipliers, engine.solver.work.limit_forces))
    curvature, rows = engine.levels.curvature[level].copy(), engine.levels.rows.copy()
    first, edges = engine.levels.start[2], n + first_edge_limit(engine)
    goals, weights = engine.goals, engine.goals.weight

    def lagrangian(x: np.ndarray) -> float:
        moved = np.empty_like(q)
        integrate(engine.tree, q, x, moved)
        _evaluate_trial(handle, moved)
        errors = engine.trial.error.copy()
        stand = int(np.flatnonzero(np.diff(goals.corner_start))[0])
        nearest = list(engine.current.hull).index(int(engine.current.nearest[stand, 0]))
        # The error of a support is 0 inside; its rows describe the distance from its nearest edge.
        errors[goals.first[stand]] = height_over_edge(goals, engine.current, engine.trial, stand, nearest)[0]
        total = -multipliers[first:] @ (weights * errors)[first - engine.skip :]
        for e in range(engine.current.hull_count[stand]):
            if forces[edges + e] != 0.0:
                total += forces[edges + e] * height_over_edge(goals, engine.current, engine.trial, stand, e)[0]
        for i in np.flatnonzero(forces[n : n + PER_BALL * len(engine.limits.ball_dof)]):
            b, part = divmod(int(i), PER_BALL)
            total += forces[n + i] * _limit_value(engine.bounds, b, part, moved, STILL)
        return float(total)

    fixed = np.linalg.svd(rows[first : engine.levels.start[3]])[2]
    free, size = fixed[12:], 1e-3
    for _ in range(3):
        way = free.T @ rng.normal(size=len(free))
        way /= np.linalg.norm(way)
        second = (lagrangian(size * way) - 2.0 * lagrangian(0.0 * way) + lagrangian(-size * way)) / size**2
        assert way @ curvature @ way == pytest.approx(second, abs=0.02 * max(1.0, abs(second)))


def test_a_figure_that_leans_to_the_edge_of_its_support_comes_to_rest_soon() -> None:
    human = poise.load("human")
    start = human.posture("standing")
    feet: list[Task] = [Frame(foot, human.pose_of(foot, start)) for foot in FEET]
    rng = np.random.default_rng(0)
    for _ in range(10):
        hand = Position("right_hand", at=np.array([0.0, 1.0, 0.0]) + rng.normal(size=3), priority=3)
        tasks = [*feet, CenterOfMass(over=FEET, priority=2), hand]
        result = poise.solve(human, tasks, start=start, criteria=(), max_steps=500)
        assert result.status != "stalled"
