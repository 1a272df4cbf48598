"""The engine against closed forms and scipy: the same optimum, and the weighted one where tasks disagree."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize, nnls

import poise
from poise import Hold, Orientation, Position
from poise.figure.model.builder import Builder, prismatic, revolute
from poise.figure.model.pose import turn
from poise.kernels.maths.nonnegative import nonnegative_least_squares


def arm(count: int, limit: float = 3.0) -> poise.Figure:
    """Links of one metre in the plane z = 0."""
    made = Builder("arm")
    upper = made.body("base")
    for i in range(count):
        joint = revolute(f"j{i}", "z", limits=(-limit, limit))
        upper = made.body(f"link{i}", parent=upper, joint=joint, at=(0, 0, 0) if i == 0 else (1, 0, 0), mass=1.0)
        made.site(f"end{i}", upper, at=(1, 0, 0))
    return made.build()


def tip(q: np.ndarray, count: int | None = None) -> np.ndarray:
    """End of link `count` of an arm, by hand."""
    angles = np.cumsum(q[:count])
    return np.array([np.cos(angles).sum(), np.sin(angles).sum()])


def best_of(cost, start: np.ndarray, limit: float, constraints=()) -> float:
    """Lowest cost that SLSQP finds near a posture."""
    bounds = [(-limit, limit)] * start.size
    options = {"maxiter": 500, "ftol": 1e-14}
    found = minimize(cost, start, method="SLSQP", bounds=bounds, constraints=constraints, options=options)
    return float(found.fun)


@pytest.mark.parametrize("x", [0.3, 1.0, 1.7])
@pytest.mark.parametrize("y", [-1.0, 0.2, 0.9])
def test_two_links_have_the_elbow_of_the_law_of_cosines(x, y):
    result = poise.solve(arm(2), [Position("end1", at=(x, y, 0))], start={"j0": 0.3, "j1": 0.5})
    cosine = (x * x + y * y - 2.0) / 2.0
    assert result.status == "solved"
    assert abs(result.posture["j1"]) == pytest.approx(math.acos(cosine), abs=1e-6)
    assert tip(result.q) == pytest.approx([x, y], abs=1e-6)


@pytest.mark.parametrize("angle", [-2.0, -0.4, 0.0, 1.0, 2.5])
@pytest.mark.parametrize("far", [2.05, 3.0, 20.0])
def test_two_links_stretch_towards_what_they_cannot_reach(angle, far):
    goal = far * np.array([math.cos(angle), math.sin(angle)])
    result = poise.solve(arm(2), [Position("end1", at=(*goal, 0))], start={"j0": 0.3, "j1": 0.5})
    assert result.q == pytest.approx([angle, 0.0], abs=1e-4)
    assert result.verdicts[0].error == pytest.approx(far - 2.0, abs=1e-7)


def test_what_is_too_near_is_missed_by_the_difference_of_the_links():
    made = Builder("uneven")
    made.body("base")
    made.body("upper", parent="base", joint=revolute("j0", "z"), mass=1.0)
    made.body("lower", parent="upper", joint=revolute("j1", "z"), at=(1.0, 0, 0), mass=1.0)
    made.site("end", "lower", at=(0.4, 0, 0))
    result = poise.solve(made.build(), [Position("end", at=(0.1, 0.2, 0))], start={"j0": 0.3, "j1": 2.0})
    assert result.verdicts[0].error == pytest.approx(0.6 - math.hypot(0.1, 0.2), abs=1e-7)


@pytest.mark.parametrize("seed", range(12))
def test_the_nearest_point_inside_limits_is_scipys(seed):
    rng = np.random.default_rng(seed)
    figure, limit = arm(4, 0.7), 0.7
    goal, start = rng.uniform(-4.0, 4.0, 2), rng.uniform(-0.6, 0.6, 4)
    result = poise.solve(figure, [Position("end3", at=(*goal, 0))], start=start)
    ours = result.verdicts[0].error ** 2
    theirs = best_of(lambda q: float(((tip(q) - goal) ** 2).sum()), np.array(result.q), limit)
    assert figure.violations(result.posture) == []
    assert ours <= theirs + 1e-6 * (1.0 + theirs)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("ratio", [1.0, 9.0, 0.04])
def test_weights_give_weighted_least_squares(seed, ratio):
    rng = np.random.default_rng(seed)
    figure, start = arm(3), rng.uniform(-1.0, 1.0, 3)
    one, other = rng.uniform(-2.5, 2.5, 2), rng.uniform(-2.5, 2.5, 2)
    tasks = [Position("end2", at=(*one, 0), weight=ratio), Position("end1", at=(*other, 0))]
    result = poise.solve(figure, tasks, start=start)

    def cost(q: np.ndarray) -> float:
        return float(ratio * ((tip(q) - one) ** 2).sum() + ((tip(q, 2) - other) ** 2).sum())

    theirs = best_of(cost, np.array(result.q), 3.0)
    assert cost(result.q) <= theirs + 1e-6 * (1.0 + theirs)


@pytest.mark.parametrize("seed", range(8))
def test_a_second_level_does_what_the_first_leaves_free(seed):
    rng = np.random.default_rng(seed)
    figure = arm(5)
    first = tip(rng.uniform(-0.8, 0.8, 5))
    second = rng.uniform(-3.0, 3.0, 2)
    tasks = [Position("end4", at=(*first, 0)), Position("end2", at=(*second, 0), priority=2)]
    result = poise.solve(figure, tasks, start=rng.uniform(-0.8, 0.8, 5), max_steps=400)
    assert result.errors[tasks[0]] <= 1e-6
    meets = {"type": "eq", "fun": lambda q: tip(q) - first}
    theirs = best_of(lambda q: float(((tip(q, 3) - second) ** 2).sum()), np.array(result.q), 3.0, meets)
    assert result.errors[tasks[1]] ** 2 <= theirs + 1e-5 * (1.0 + theirs)


@pytest.mark.parametrize("seed", range(6))
def test_a_level_below_one_out_of_reach_finds_the_best_of_what_is_left(seed):
    """The first level stretches two of four joints; the rest of the arm is free to turn its hand."""
    rng = np.random.default_rng(seed)
    figure = arm(4)
    angle, facing = rng.uniform(-1.5, 1.5), rng.uniform(-1.0, 1.0)
    far = Position("end1", at=(5.0 * math.cos(angle), 5.0 * math.sin(angle), 0))
    face = Orientation("end3", turn("z", math.degrees(angle + facing)), priority=2)
    result = poise.solve(figure, [far, face], start=rng.uniform(-0.5, 0.5, 4), max_steps=400)
    assert result.q[:2] == pytest.approx([angle, 0.0], abs=1e-4)
    assert result.errors[face] <= 1e-6


@pytest.mark.parametrize("seed", range(6))
def test_the_posture_held_last_is_the_nearest_that_meets_the_rest(seed):
    rng = np.random.default_rng(seed)
    figure = arm(4)
    goal, wanted = tip(rng.uniform(-0.8, 0.8, 4)), rng.uniform(-0.8, 0.8, 4)
    tasks = [Position("end3", at=(*goal, 0)), Hold(wanted, priority=2)]
    result = poise.solve(figure, tasks, start=wanted, max_steps=400)
    meets = {"type": "eq", "fun": lambda q: tip(q) - goal}
    theirs = best_of(lambda q: float(((q - wanted) ** 2).sum()), np.array(result.q), 3.0, meets)
    assert result.errors[tasks[0]] <= 1e-6
    assert result.errors[tasks[1]] ** 2 <= theirs + 1e-5 * (1.0 + theirs)


def test_a_linear_question_inside_a_box_is_a_quadratic_programme():
    """Three slides and two weighted wishes: the answer follows coordinate by coordinate."""
    made = Builder("gantry")
    upper = made.body("base")
    for name, axis, limits in (("x", "x", (-1.0, 0.3)), ("y", "y", (-1.0, 1.0)), ("z", "z", (0.1, 1.0))):
        upper = made.body(name, parent=upper, joint=prismatic(name, axis, limits=limits), mass=1.0)
    made.site("tip", upper)
    tasks = [Position("tip", at=(0.8, 0.5, -0.5), weight=3.0), Position("tip", at=(0.0, -0.5, 0.3), weight=1.0)]
    result = poise.solve(made.build(), tasks)
    assert result.q == pytest.approx([0.3, 0.25, 0.1], abs=1e-7)


def test_multipliers_that_must_not_be_negative_are_those_of_scipy() -> None:
    rng = np.random.default_rng(3)
    for k in range(300):
        A = rng.normal(size=rng.integers(1, 40, size=2)) * 10.0 ** rng.integers(-5, 5)
        if k % 3 == 0:
            A[:, 0] = A[:, -1]  # constraints that depend on each other
        if k % 4 == 0:
            A[:, rng.integers(A.shape[1])] = 0.0
        b = rng.normal(size=len(A))
        tolerance = 10.0 * np.finfo(np.float64).eps * max(A.shape) * float(np.abs(A).sum(axis=0).max())
        x = nonnegative_least_squares(A.T.copy(), b, tolerance)
        assert (x >= 0.0).all()
        assert np.linalg.norm(A @ x - b) <= nnls(A, b)[1] + 1e-10
    assert nonnegative_least_squares(np.zeros((0, 3)), np.ones(3), 1e-12).shape == (0,)
