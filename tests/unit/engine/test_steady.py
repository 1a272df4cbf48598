"""Regulariser tasks `StayStill`, `TurnSlowly` and `MoveSlowly`, compared with the costs in their definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize

import poise
from poise import Hold, MoveSlowly, Position, StayStill, TaskError, TurnSlowly
from poise.engine.problem import Problem
from poise.kernels.goals.goal_curvature import fill_curvature
from poise.kernels.goals.goal_derivatives import fill_rows
from tests.unit.kernels.goals.evaluation import evaluate

RATE = 100.0


@pytest.fixture(scope="module")
def boxer():
    return poise.load("boxer")


def cost(figure, start, q, goal, still, slow, gentle):
    """The cost that one level with all four tasks minimises, from their definitions."""
    total = 0.5 * float(np.sum((figure.pose_of("glove", q).position - goal) ** 2))
    for body in figure.bodies[1:]:
        then, now = figure.pose_of(body.name, start), figure.pose_of(body.name, q)
        gap = now.rotation - math.copysign(1.0, now.rotation @ then.rotation) * then.rotation
        total += 0.5 * still.weight * float(np.sum((now.position - then.position) ** 2) + gap @ gap)
        x = 3.0 - float(np.trace(then.matrix.T @ now.matrix))
        total += slow.weight * math.log(x / slow.threshold) ** 3 if x > slow.threshold else 0.0
        way = now.apply(body.mass.center) - then.apply(body.mass.center)
        far = float(way @ way) / (gentle.speed / gentle.rate) ** 2
        total += gentle.weight * math.log(far) ** 3 if far > 1.0 else 0.0
    return total


@pytest.mark.parametrize("seed", range(4))
def test_the_level_minimises_what_the_definitions_say(boxer, seed):
    rng = np.random.default_rng(seed)
    start = boxer.posture(boxer.posture("guard").q + rng.uniform(-0.2, 0.2, boxer.nq))
    goal = boxer.pose_of("glove", start).position + rng.uniform(-0.05, 0.05, 3)
    still, slow = StayStill(weight=1e-3), TurnSlowly(speed=2.0, rate=RATE)
    gentle = MoveSlowly(speed=0.4, rate=RATE)
    tasks = [Position("glove", at=goal), still, slow, gentle]
    result = poise.solve(boxer, tasks, start=start, max_steps=400, tolerance=1e-9)

    def of(q):
        return cost(boxer, start, boxer.posture(q), goal, still, slow, gentle)

    options = {"xatol": 1e-10, "fatol": 1e-16, "maxiter": 4000, "maxfev": 4000}
    theirs = minimize(of, result.q, method="Nelder-Mead", options=options).fun
    assert of(result.q) < of(start.q)
    assert of(result.q) <= theirs * (1.0 + 1e-4) + 1e-12


SLOW = [TurnSlowly(speed=0.5, rate=RATE, weight=2.0), MoveSlowly(speed=0.01, rate=RATE, weight=2.0)]


def turned(boxer, task):
    """A slow task whose every row counts, ready for the kernels."""
    problem = Problem(boxer, [task])
    start = boxer.posture("guard")
    problem.start_targets.store(start._q)
    return problem, boxer.integrate(start, np.array([0.1, -0.2, 0.15, 0.3]))


def errors_at(problem, q):
    engine = problem.engine
    evaluate(engine.tree, engine.goals, q, engine.current)
    return engine.current.error.copy()


def rows_at(problem, q):
    engine = problem.engine
    errors_at(problem, q)
    rows = np.zeros((engine.goals.weight.size, problem.figure.nv))
    fill_rows(engine.tree, engine.goals, engine.current, 0, rows)
    return rows / engine.goals.weight[:, None]


def differences(problem, posture, of, size=1e-6):
    figure, steps = problem.figure, np.eye(problem.figure.nv) * size
    ends = [[of(figure.integrate(posture, sign * step)._q) for sign in (1.0, -1.0)] for step in steps]
    return np.array([(a - b) / (2.0 * size) for a, b in ends])


@pytest.mark.parametrize("task", SLOW, ids=["turn", "move"])
def test_rows_are_the_derivatives_of_errors(boxer, task):
    problem, posture = turned(boxer, task)
    assert np.count_nonzero(errors_at(problem, posture._q) < 0.0) >= 2, "the shoulder's motors turn without moving"
    slopes = differences(problem, posture, lambda q: errors_at(problem, q))
    np.testing.assert_allclose(rows_at(problem, posture._q), -slopes.T, atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("task", SLOW, ids=["turn", "move"])
def test_curvature_is_the_derivative_of_rows(boxer, task):
    problem, posture = turned(boxer, task)
    engine, multipliers = problem.engine, np.array([0.3, -0.7, 1.1, 0.4])
    slopes = differences(problem, posture, lambda q: multipliers @ (rows_at(problem, q) * engine.goals.weight[:, None]))
    errors_at(problem, posture._q)
    found = np.zeros((boxer.nv, boxer.nv))
    fill_curvature(
        engine.tree, engine.goals, engine.current, engine.contacts, engine.node_forces, 0, multipliers, found
    )
    np.testing.assert_allclose(found, 0.5 * (slopes + slopes.T), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(
    "task", [TurnSlowly(speed=2.0, rate=RATE), MoveSlowly(speed=2.0, rate=RATE)], ids=["turn", "move"]
)
def test_below_its_speed_a_slow_task_costs_nothing(boxer, task):
    problem = Problem(boxer, [task])
    start = boxer.posture("guard")
    problem.start_targets.store(start._q)
    moved = boxer.integrate(start, np.full(boxer.nv, 0.3 * 2.0 / RATE / boxer.nv))
    assert np.all(errors_at(problem, moved._q) == 0.0)
    assert np.all(rows_at(problem, moved._q) == 0.0)


def test_what_other_tasks_leave_open_stays_still(boxer):
    start = boxer.posture("guard")
    away = boxer.posture(start.q + 0.3)
    height = boxer.pose_of("glove", start).position
    task = Position("glove", at=height, axes="y")
    result = poise.solve(boxer, [task, StayStill(weight=1e-6)], start=start)
    np.testing.assert_allclose(result.q, start.q, atol=1e-9)
    gone = poise.solve(boxer, [task, Hold(away, priority=2)], start=start)
    assert np.abs(gone.q - start.q).max() > 0.1


def test_each_step_of_a_solver_starts_anew(boxer):
    """In a live solver the start posture of each step is the end of the last one."""
    goal = boxer.pose_of("glove", boxer.posture("guard")).position + np.array([0.0, 0.05, 0.0])
    solver = poise.Solver(boxer, [Position("glove", at=goal), TurnSlowly(speed=1.0, rate=RATE)])
    posture = boxer.posture("guard")
    for _ in range(300):
        posture = solver.step(posture)
    assert np.linalg.norm(boxer.pose_of("glove", posture).position - goal) < 1e-4


JUMPS = {"boxer": "glove", "arm": "tip", "human": "right_hand", "cyclist": "left_hand"}


@pytest.mark.parametrize(
    ("name", "task"),
    [
        (name, task)
        for name in JUMPS
        for task in (MoveSlowly(speed=0.5, rate=RATE, weight=1e-3), TurnSlowly(speed=1.0, rate=RATE, weight=1e-3))
    ],
    ids=[f"{name}-{kind}" for name in JUMPS for kind in ("move", "turn")],
)
@pytest.mark.parametrize("seed", range(3))
def test_a_target_that_jumps_is_followed_in_many_frames(name, task, seed):
    """Every body of the figure is slower than without the task, and the target is reached all the same."""
    figure, site = poise.load(name), JUMPS[name]
    start = figure.random(seed)
    steps = 0.4 * np.random.default_rng(seed).uniform(-1.0, 1.0, figure.nv)
    goal = Position(site, at=figure.pose_of(site, figure.clamp(figure.integrate(start, steps))).position)

    def largest(before, after):
        frames = [(figure.pose_of(body.name, before), figure.pose_of(body.name, after), body) for body in figure.bodies]
        if isinstance(task, MoveSlowly):
            return max(np.linalg.norm(b.apply(body.mass.center) - a.apply(body.mass.center)) for a, b, body in frames)
        return max(2.0 * np.linalg.norm((a.inverse() @ b).rotation[1:]) for a, b, _ in frames)

    at_once = largest(start, poise.solve(figure, [goal], start=start, criteria=()).posture)
    solver, posture, moves = poise.Solver(figure, [goal, task], criteria=()), start, []
    for _ in range(400):
        after = solver.settle(posture).posture
        moves.append(largest(posture, after))
        posture = after
    assert max(moves) < 0.5 * at_once
    assert np.linalg.norm(figure.pose_of(site, posture).position - goal.at) < 1e-4


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: TurnSlowly(speed=0.0, rate=60.0), "speed must be a positive number"),
        (lambda: TurnSlowly(speed=1.0, rate=math.nan), "rate must be a positive number"),
        (lambda: TurnSlowly(speed=100.0, rate=10.0), "half a turn"),
        (lambda: MoveSlowly(speed=-1.0, rate=60.0), "move slowly: speed must be a positive number"),
        (lambda: StayStill(weight=-1.0), "weight"),
    ],
)
def test_nonsense_is_refused(make, words):
    with pytest.raises(TaskError, match=words):
        make()


def test_bodies_that_cannot_move_and_targets_are_refused(boxer):
    with pytest.raises(TaskError, match="can move"):
        poise.Solver(boxer, [StayStill(bodies="torso")])
    still = StayStill(bodies=["forearm"])
    with pytest.raises(TaskError, match="no target"):
        poise.Solver(boxer, [still]).target(still, [0.0, 0.0, 0.0])
