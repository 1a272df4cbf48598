"""Rows of goals against finite differences of their errors."""

from __future__ import annotations

import numpy as np
import pytest

import poise
from poise.engine.engine_arrays import TaskRows, goal_arrays, number_rows
from poise.figure.model.figure import Figure
from poise.figure.model.pose import Pose, turn
from poise.forces import Force, Gravity, Support, equilibrium_error
from poise.kernels.goals.contacts import make_contacts
from poise.kernels.goals.goal_curvature import fill_curvature, make_node_forces
from poise.kernels.goals.goal_derivatives import fill_rows
from poise.kernels.goals.goals import make_evaluation
from poise.tasks.custom import Custom
from poise.tasks.distance import Distance, OnEllipsoid
from poise.tasks.equilibrium import Equilibrium
from poise.tasks.look_at import LookAt
from poise.tasks.mass import CenterOfMass, MomentOfInertia
from poise.tasks.place import Frame, Orientation, Position
from poise.tasks.posture import Hold
from poise.tasks.task import Task
from tests.unit.figure.model.samples import every_kind
from tests.unit.forces.scenes import CASES, all_kinds
from tests.unit.kernels.goals.evaluation import evaluate

AT = (0.3, 1.1, 0.4)
TURN = turn((1.0, 2.0, 3.0), 50.0)


def _errors_and_rows(figure: Figure, task: Task, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    task_rows = [TaskRows(task, 2, task.goals(figure))]
    goals = goal_arrays(figure, task_rows, number_rows(task_rows, figure))
    evaluation = make_evaluation(figure.compiled.tree, goals)
    evaluate(figure.compiled.tree, goals, q, evaluation)
    rows = np.zeros((goals.direction.shape[0], figure.nv))
    fill_rows(figure.compiled.tree, goals, evaluation, 0, rows)
    return goals.weight * evaluation.error, rows


def _check(figure: Figure, task: Task, seed: int, exact: float = 1e-6) -> None:
    posture = figure.random(seed)
    _, rows = _errors_and_rows(figure, task, posture._q)
    h = 1e-6
    for k in range(figure.nv):
        step = np.zeros(figure.nv)
        step[k] = h
        ahead, _ = _errors_and_rows(figure, task, figure.integrate(posture, step)._q)
        behind, _ = _errors_and_rows(figure, task, figure.integrate(posture, -step)._q)
        assert rows[:, k] == pytest.approx(-(ahead - behind) / (2.0 * h), abs=exact)


HUMAN_TASKS = [
    Position("right_hand", AT),
    Position("right_hand", AT, axes="xz", offset=(0.0, 0.1, 0.0)),
    Position("right_hand", AT, relative_to="left_hand", axes=[[1, 1, 0], [0, 1, -1]], weight=[2.0, 0.5]),
    Orientation("head", TURN),
    Orientation("head", TURN, relative_to="pelvis", axes="xz"),
    Orientation("right_hand", TURN, relative_to="left_hand", weight=[1.0, 2.0, 3.0]),
    Orientation("right_hand", TURN, axes="xy", own_axes=True),
    Orientation("right_hand", TURN, relative_to="left_hand", weight=[1.0, 2.0, 3.0], own_axes=True),
    Distance("right_hand", "left_foot", 0.3),
    Distance("right_hand", "pelvis", 0.3, weight=2.0),
    OnEllipsoid("right_hand", AT, (0.1, 0.2, 0.3), TURN),
    OnEllipsoid("right_hand", (0.1, 0.2, 0.0), (0.3, 0.2, 0.6), relative_to="chest"),
    Frame("right_foot", Pose(AT, TURN), weight=[1, 2, 3, 4, 5, 6]),
    Frame("right_foot", Pose(AT, TURN), weight=[1, 2, 3, 4, 5, 6], own_axes=True),
    Frame("right_foot", Pose(AT, TURN), relative_to="left_foot"),
    CenterOfMass(AT),
    CenterOfMass(AT, axes="xz", weight=[1.0, 4.0]),
    MomentOfInertia("y", 3.0),
]


@pytest.mark.parametrize("task", HUMAN_TASKS, ids=[f"{i}-{type(task).__name__}" for i, task in enumerate(HUMAN_TASKS)])
@pytest.mark.parametrize("seed", [0, 1])
def test_rows_of_the_human_are_derivatives(task: Task, seed: int) -> None:
    tolerance = 1e-4 if isinstance(task, MomentOfInertia) else 1e-6
    _check(poise.load("human").with_floating_base(), task, seed, tolerance)


@pytest.mark.parametrize("seed", range(3))
def test_aim_has_the_gradient_of_the_square_of_its_angle(seed: int) -> None:
    figure = poise.load("human").with_floating_base()
    for task in (LookAt("eyes", AT), LookAt("eyes", direction=(1, 2, 3)), LookAt("eyes", AT, relative_to="left_hand")):
        posture = figure.random(seed)
        error, rows = _errors_and_rows(figure, task, posture._q)
        gradient = -rows.T @ error
        for k in range(figure.nv):
            step = np.zeros(figure.nv)
            step[k] = 1e-6
            ahead, _ = _errors_and_rows(figure, task, figure.integrate(posture, step)._q)
            behind, _ = _errors_and_rows(figure, task, figure.integrate(posture, -step)._q)
            slope = (ahead @ ahead - behind @ behind) / 4e-6
            assert gradient[k] == pytest.approx(slope, abs=2e-6)


@pytest.mark.parametrize("behind", [False, True])
def test_the_error_of_an_aim_is_continuous(behind: bool) -> None:
    """Errors change no faster than the posture does, whichever world axis the line of sight is nearest to."""
    figure = poise.load("human").with_floating_base()
    posture = figure.neutral()
    eyes = figure.pose_of("eyes", posture)
    axis = eyes.matrix[:, 1]
    for away in np.random.default_rng(1).normal(size=(40, 3)):
        target = eyes.position + 2.0 * (away - (axis @ away + 0.5) * axis if behind else away + 2.0 * axis)
        step = np.zeros(figure.nv)
        step[:6] = 1e-4
        here, _ = _errors_and_rows(figure, LookAt("eyes", target), posture._q)
        there, _ = _errors_and_rows(figure, LookAt("eyes", target), figure.integrate(posture, step)._q)
        assert np.linalg.norm(there - here) < 0.02


def test_aim_measures_the_angle() -> None:
    figure = poise.load("human")
    posture = figure.random(3)
    eyes = figure.pose_of("eyes", posture)
    error, _ = _errors_and_rows(figure, LookAt("eyes", AT), posture._q)
    sight = np.asarray(AT) - eyes.position
    cosine = sight @ eyes.matrix[:, 1] / np.linalg.norm(sight)
    assert np.linalg.norm(error) == pytest.approx(np.arccos(cosine), abs=1e-12)


def test_hold_measures_the_way_to_the_posture() -> None:
    figure = every_kind()
    wanted, posture = figure.random(1), figure.random(2)
    error, rows = _errors_and_rows(figure, Hold(wanted, joints=list(figure.moving_joints)), posture._q)
    assert error == pytest.approx(figure.difference(posture, wanted), abs=1e-12)
    assert np.array_equal(rows, np.eye(figure.nv))


@pytest.mark.parametrize("seed", range(6))
def test_leaving_the_support_is_a_distance(seed: int) -> None:
    figure = poise.load("human")
    task = CenterOfMass(over=["left_foot", "right_foot"])
    posture = figure.random(seed)
    error, rows = _errors_and_rows(figure, task, posture._q)
    if error[0] == 0.0:
        assert not rows.any()
        return
    _check(figure, task, seed, 1e-5)
    assert error[0] < 0.0


def test_standing_human_is_over_its_feet() -> None:
    figure = poise.load("human")
    error, _ = _errors_and_rows(figure, CenterOfMass(over=["left_foot", "right_foot"]), figure.neutral()._q)
    assert error == pytest.approx(0.0)
    error, _ = _errors_and_rows(figure, CenterOfMass(over=["left_foot", "right_foot"], margin=0.3), figure.neutral()._q)
    assert error[0] < -0.1


def test_custom_goals_predict_their_error_elsewhere() -> None:
    figure = every_kind()
    rng = np.random.default_rng(2)
    task = Custom(lambda _: np.zeros(2), size=2)
    task_rows = [TaskRows(task, 2, task.goals(figure))]
    goals = goal_arrays(figure, task_rows, number_rows(task_rows, figure))
    evaluation = make_evaluation(figure.compiled.tree, goals)
    here, step = figure.random(1), 0.1 * rng.normal(size=figure.nv)
    goals.custom_at[:] = here.q
    goals.custom_error[:], goals.custom_rows[:] = rng.normal(size=2), rng.normal(size=(2, figure.nv))
    evaluate(figure.compiled.tree, goals, figure.integrate(here, step)._q, evaluation)
    assert evaluation.error == pytest.approx(goals.custom_error - goals.custom_rows @ step, abs=1e-12)


FEET = (Support("left_foot", 0.3), Support("right_foot"))
PULLS = (Force("right_hand", (20.0, -50.0, 30.0), (1.0, 2.0, -3.0)), Force("head", (0.0, 10.0, -40.0)))


@pytest.mark.parametrize("case", CASES)
def test_rows_of_equilibrium_are_derivatives(case: str) -> None:
    _check(all_kinds(), Equilibrium(CASES[case], level=False, weight=[1.0, 2.0, 3.0]), 1, 1e-5)


def test_equilibrium_is_the_moment_over_the_weight() -> None:
    figure = poise.load("human").with_floating_base()
    posture, loads = figure.random(2), (*PULLS, *FEET)
    error, rows = _errors_and_rows(figure, Equilibrium(loads), posture._q)
    moment = equilibrium_error(figure, posture, loads)
    weight = figure.mass * 9.80665
    assert error == pytest.approx(-moment.error / weight, abs=1e-12)
    assert rows == pytest.approx(moment.jacobian / weight, abs=1e-12)


def test_parallel_forces_leave_two_moments() -> None:
    figure = poise.load("human").with_floating_base()
    assert len(_errors_and_rows(figure, Equilibrium(FEET), figure.neutral()._q)[0]) == 2
    assert len(_errors_and_rows(figure, Equilibrium((*FEET, *PULLS)), figure.neutral()._q)[0]) == 3
    assert len(_errors_and_rows(figure, Equilibrium((*FEET, *PULLS), level=True), figure.neutral()._q)[0]) == 2
    tilted = (*FEET, Gravity((0.0, -9.0, 3.0)))
    assert len(_errors_and_rows(figure, Equilibrium(tilted), figure.neutral()._q)[0]) == 2


CURVED_TASKS = [
    Equilibrium((*PULLS, *FEET)),
    CenterOfMass(AT),
    Position("right_hand", AT, weight=[1.0, 2.0, 3.0]),
    Position("right_hand", AT, relative_to="left_hand"),
    Position("right_hand", AT, relative_to="chest", axes=[[1, 1, 0], [0, 1, -1]]),
    Orientation("head", TURN),
    Orientation("head", TURN, relative_to="pelvis", axes="xz"),
    Orientation("right_hand", TURN, relative_to="left_hand", weight=[1.0, 2.0, 3.0]),
    Orientation("right_hand", TURN, relative_to="left_hand", weight=[1.0, 2.0, 3.0], own_axes=True),
    Distance("right_hand", "left_foot", 0.3),
    Distance("right_hand", "chest", 0.3),
    OnEllipsoid("right_hand", AT, (0.1, 0.2, 0.3), TURN),
    OnEllipsoid("right_hand", (0.1, 0.2, 0.0), (0.3, 0.2, 0.6), TURN, relative_to="chest"),
    OnEllipsoid("right_hand", (0.0, 0.1, 0.0), (0.05, 0.05, 0.1), relative_to="left_hand"),
]


def _curvature(figure: Figure, task: Task, q: np.ndarray, multipliers: np.ndarray) -> np.ndarray:
    """Σ μ ∇²φ over the weighted rows of a task."""
    tree = figure.compiled.tree
    task_rows = [TaskRows(task, 2, task.goals(figure))]
    goals = goal_arrays(figure, task_rows, number_rows(task_rows, figure))
    evaluation = make_evaluation(tree, goals)
    evaluate(tree, goals, q, evaluation)
    got = np.zeros((figure.nv, figure.nv))
    forces = make_node_forces(tree, len(goals.corner_node))
    fill_curvature(tree, goals, evaluation, make_contacts(0), forces, 0, multipliers, got)
    return got


def _row_slopes(figure: Figure, task: Task, posture: poise.Posture, multipliers: np.ndarray) -> np.ndarray:
    """Differences of Σ μ ∇φ, symmetrised: rates of one ball do not commute."""
    found = np.zeros((figure.nv, figure.nv))
    for k in range(figure.nv):
        step = np.zeros(figure.nv)
        step[k] = 1e-5
        ahead = _errors_and_rows(figure, task, figure.integrate(posture, step)._q)[1]
        behind = _errors_and_rows(figure, task, figure.integrate(posture, -step)._q)[1]
        found[k] = multipliers @ (ahead - behind) / 2e-5
    return 0.5 * (found + found.T)


@pytest.mark.parametrize(
    "task", CURVED_TASKS, ids=[f"{i}-{type(task).__name__}" for i, task in enumerate(CURVED_TASKS)]
)
def test_curvature_is_the_derivative_of_rows(task: Task) -> None:
    figure = poise.load("human").with_floating_base()
    posture = figure.random(4)
    multipliers = np.array([0.7, -1.3, 0.4])[: len(_errors_and_rows(figure, task, posture._q)[0])]
    wanted = _row_slopes(figure, task, posture, multipliers)
    assert _curvature(figure, task, posture._q, multipliers) == pytest.approx(wanted, abs=1e-7)


GAZES = [
    LookAt("eyes", AT),
    LookAt("eyes", (0.0, 5.0, 1.0), axis=(1.0, 2.0, -1.0)),
    LookAt("eyes", direction=(1, 2, 3)),
    LookAt("eyes", (0.0, 0.2, 0.1), relative_to="left_hand"),
]


@pytest.mark.parametrize("task", GAZES, ids=["point", "axis", "direction", "relative"])
@pytest.mark.parametrize("seed", range(3))
def test_rows_and_curvature_of_an_aim_make_the_second_derivative_of_the_square_of_its_angle(
    task: Task, seed: int
) -> None:
    """Its rows are not derivatives of its errors, whose axes turn with the site: only the angle has a meaning."""
    figure = poise.load("human").with_floating_base()
    posture = figure.random(seed)
    error, rows = _errors_and_rows(figure, task, posture._q)
    assert np.linalg.norm(error) < 3.0
    slopes = np.zeros((figure.nv, figure.nv))
    for k in range(figure.nv):
        step = np.zeros(figure.nv)
        step[k] = 1e-5
        for sign in (1.0, -1.0):
            there, rows_there = _errors_and_rows(figure, task, figure.integrate(posture, sign * step)._q)
            slopes[k] -= sign * (rows_there.T @ there) / 2e-5
    got = rows.T @ rows + _curvature(figure, task, posture._q, -error)
    assert got == pytest.approx(0.5 * (slopes + slopes.T), abs=3e-6)


@pytest.mark.parametrize("relative_to", [None, "left_hand"])
@pytest.mark.parametrize("seed", range(3))
def test_curvature_of_an_aim_that_is_met(relative_to: str | None, seed: int) -> None:
    """Steps that keep it met to first order see the derivative of its rows, whatever its multipliers."""
    figure = poise.load("human").with_floating_base()
    posture = figure.random(seed)
    ahead = figure.pose_of("eyes", posture).apply(0.7 * figure.facing_axis("eyes"))
    base = Pose() if relative_to is None else figure.pose_of(relative_to, posture)
    task = LookAt("eyes", base.inverse().apply(ahead), relative_to=relative_to)
    _, rows = _errors_and_rows(figure, task, posture._q)
    kept = np.linalg.svd(rows)[2][2:]
    multipliers = np.array([0.7, -1.3])
    wanted = kept @ _row_slopes(figure, task, posture, multipliers) @ kept.T
    got = kept @ _curvature(figure, task, posture._q, multipliers) @ kept.T
    assert got == pytest.approx(wanted, abs=1e-6)
