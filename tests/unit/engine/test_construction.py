"""Constructing a solver: what depends on the figure alone is built once, and everything is freed with the solver."""

import gc
import weakref
from collections.abc import Callable

import numpy as np
import pytest

import poise
from poise import CenterOfMass, Comfort, Flex, Hold, LookAt, Position, TaskError
from poise.engine import figure_arrays as engine_figure_arrays
from poise.engine.figure_arrays import figure_arrays
from poise.engine.problem import Problem
from poise.figure.model.pose import Pose
from poise.figure.model.shapes import Sphere
from poise.kernels.engine import step as kernel_step
from poise.kernels.jit.memory import type_key
from poise.tasks.obstacles import Obstacle, Plane

HAND = Position("right_hand", at=(-0.3, 1.2, 0.5))
LAMP = Obstacle(Sphere(0.1), Pose((0.0, 1.0, 0.6)), name="lamp")


@pytest.fixture(scope="module")
def human() -> poise.Figure:
    return poise.load("human")


def count_calls(monkeypatch: pytest.MonkeyPatch, module: object, name: str) -> list[str]:
    """Record the calls of a function of a module."""
    calls: list[str] = []
    function: Callable[..., object] = getattr(module, name)

    def counted(*arguments: object) -> object:
        calls.append(name)
        return function(*arguments)

    monkeypatch.setattr(module, name, counted)
    return calls


def test_a_second_solver_builds_nothing_of_the_figure_again(monkeypatch):
    figure = poise.load("walker")
    poise.solve(figure, [Position("left_foot", at=(0.1, 0.1, 0.1))])
    built = count_calls(monkeypatch, engine_figure_arrays, "_build")
    looked_up = count_calls(monkeypatch, kernel_step, "_entry_points")
    one = Problem(figure, [Position("left_foot", at=(0.1, 0.1, 0.1))])
    two = Problem(figure, [Position("right_foot", at=(0.1, 0.1, 0.1)), Hold(figure.neutral(), priority=2)], dt=0.01)
    assert (built, looked_up) == ([], [])
    assert one.engine.closures is two.engine.closures
    assert one.engine.limits.dof_q is two.engine.limits.dof_q


def test_another_figure_has_arrays_of_its_own(human):
    other = human.replaced(name="other")
    assert figure_arrays(other) is not figure_arrays(human)
    assert figure_arrays(human) is figure_arrays(human)


def test_the_arrays_of_a_figure_are_freed_with_it():
    figure = poise.load("arm").replaced(name="another arm")
    closures = weakref.ref(figure_arrays(figure).closures.row_start)
    del figure
    gc.collect()
    assert closures() is None


def test_no_solve_changes_the_arrays_that_engines_share(human):
    arrays = figure_arrays(human)
    shared = [*arrays.limits, *arrays.closures, arrays.turns, arrays.neutral, arrays.up, *arrays.empty_contacts]
    shared += [part for part in arrays.no_criteria if isinstance(part, np.ndarray)]
    before = [array.copy() for array in shared]
    poise.solve(human, [HAND, Hold("waving", priority=2)])
    poise.solve(human, [Position("right_hand", at=(9.0, 0.0, 0.0)), LookAt("eyes", at=(0.0, 1.0, 2.0), priority=2)])
    poise.solve(human, [HAND], criteria=[Comfort(), Flex()])
    for array, was in zip(shared, before, strict=True):
        np.testing.assert_array_equal(array, was)


@pytest.mark.parametrize("method", ["step", "settle", "judge"])
def test_an_engine_is_freed_with_its_solver(human, method):
    solver = poise.Solver(human, [HAND])
    getattr(solver, method)(human.neutral())
    engine = solver._problem.engine
    arrays = [weakref.ref(array) for array in (engine.levels.rows, engine.state.merit, engine.current.error)]
    del solver, engine
    gc.collect()
    assert [array() for array in arrays] == [None, None, None]


def test_all_engines_have_the_same_types(human):
    feet = ["left_foot", "right_foot"]
    gravity = [poise.Gravity((0.0, -9.81, 0.0))]
    problems = [
        Problem(human, []),
        Problem(human, [HAND], dt=0.1),
        Problem(human, [HAND, Hold("waving", priority=2)]),
        Problem(human, [HAND, Hold("waving", joints=("neck",), weight=(1.0, 2.0, 3.0), priority=2)]),
        Problem(human, [Position("right_hand", at=(0, 1, 0), joints="nearest branch"), CenterOfMass(over=feet)]),
        Problem(human, [HAND], criteria=[Comfort(), Flex()]),
        Problem(human, [HAND], forces=gravity, criteria=[poise.LeastTorque()]),
        Problem(human, [HAND, poise.Avoid(LAMP), poise.Avoid()]),
        Problem(poise.load("walker"), [Position("left_foot", at=(0.1, 0.1, 0.1))]),
        Problem(poise.load("arm"), [Position("tip", at=(0.1, 0.1, 0.1))]),
    ]
    assert len({tuple(map(type_key, problem.engine)) for problem in problems}) == 1


def test_an_obstacle_is_moved_to_the_place_of_another(human):
    nearer = LAMP.moved(Pose((0.1, 1.1, 0.5)))
    fresh = poise.Solver(human, [HAND], obstacles=[nearer]).settle("standing")
    solver = poise.Solver(human, [HAND], obstacles=[LAMP])
    solver.move(LAMP, nearer)
    np.testing.assert_array_equal(solver.settle("standing").q, fresh.q)
    with pytest.raises(TaskError, match="of another kind"):
        solver.move(LAMP, Plane("y"))
