"""Why a task is not met: the constraints that balance its gradient at the posture where the figure came to rest.

A task with rows A and weighted error r has the gradient g = Aᵀ r, the direction in which it would move the joints. At
rest, other constraints balance it (the Karush–Kuhn–Tucker conditions):

    g = Σ_j A_jᵀ μ_j + Σ_i ν_i c_i,   ν_i ≥ 0

with A_j the rows of other tasks, whose multipliers μ_j have any sign, and c_i the outward normals of the limits that
are reached, whose multipliers ν_i are not negative. Multipliers are sought in stages: with the limits of the figure
alone, then also with the tasks above, with the tasks of the same level, and with the curvature of the levels above that
gave way themselves. A task is thus said to give way to another only if the figure alone does not explain its error. A
gradient that is zero means that the task is out of reach.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from poise.engine.engine_arrays import TaskRows, table
from poise.figure.model.pose import FloatArray
from poise.kernels.engine.engine import FIRST_TASK_LEVEL, MECHANISM_LEVEL, SEPARATION_LEVEL
from poise.kernels.engine.step_model import MAX_EXCLUDED
from poise.kernels.maths.nonnegative import nonnegative_least_squares

if TYPE_CHECKING:
    from poise.engine.problem import Problem
    from poise.figure.model.posture import Posture

NEGLIGIBLE_GRADIENT_SHARE = 2e-3
"""Gradient, as a share of the largest that the task could have for its error, that counts as zero."""
MOST_NAMES = 3
"""Number of tasks, and of limits, that are named as reasons."""
REACHED_DISTANCE = 1e-6
"""Distance up to which a limit counts as reached [rad or m]."""


class Reasons(NamedTuple):
    """Names of the constraints that balance the gradient of a task."""

    above: tuple[str, ...] = ()
    """Tasks of higher levels."""
    beside: tuple[str, ...] = ()
    """Tasks of the same level."""
    limits: tuple[str, ...] = ()
    """Joint limits, couplings and contacts."""


def confirmed(found: Reasons, others: Reasons, falls_without: Callable[[Collection[str]], bool]) -> Reasons:
    """The reasons that hold when tried: tasks without which the error falls, and at most three limits.

    Multipliers are exact for small changes only. So each named task is left out in turn, and only those remain without
    which the error falls, at most three. Where no single task has that effect, but all `others` left out together have
    it, a smallest set that still has it is named: tasks that hold the figure back together.

    Args:
        found: The reasons that balance the gradient, the strongest first.
        others: All tasks above and beside the task in question.
        falls_without: Whether the error of the task in question falls when the tasks with these names are left out.
    """
    named = (*found.above, *found.beside)
    kept = [name for name in named if falls_without([name])][:MOST_NAMES]
    everyone = list(dict.fromkeys((*named, *others.above, *others.beside)))
    if not kept and not found.limits and everyone and falls_without(everyone):
        kept = everyone
        for name in reversed(everyone):
            fewer = [other for other in kept if other != name]
            kept = fewer if fewer and falls_without(fewer) else kept
    return Reasons(
        above=tuple(name for name in kept if name in others.above or name in found.above),
        beside=tuple(name for name in kept if name in others.beside),
        limits=found.limits[:MOST_NAMES],
    )


class Constraint(NamedTuple):
    """Rows and limits that can balance a gradient, under common names."""

    kind: str
    """One of the fields of `Reasons`, or "" for a constraint that is never named."""
    names: tuple[str, ...]
    equality_rows: FloatArray
    """(r, nv) rows whose multipliers have any sign."""
    inequality_normals: FloatArray
    """(s, nv) outward normals whose multipliers are not negative."""


class TaskGradient(NamedTuple):
    """The direction in which a task would move the joints."""

    value: FloatArray
    """(nv,) the gradient."""
    negligible: float
    """Size up to which it counts as zero."""


def find_reasons(
    problem: Problem, of_figure: Sequence[Constraint], rows: TaskRows, unmet: Sequence[TaskRows]
) -> Reasons:
    """The constraints that balance the gradient of a task, where the last step started; see `figure_constraints`."""
    jacobian, error = _jacobian(problem, rows), _weighted_error(problem, rows)
    gradient = _task_gradient(problem, jacobian, error)
    above = [other for other in problem.all_rows if other.level < rows.level]
    beside = [other for other in unmet if other.level == rows.level and other is not rows]
    stages = (
        of_figure,
        [constraint for other in above for constraint in _task_constraints(problem, other)]
        + _excluded_constraints(problem, rows.level),
        [_opposing_task(problem, other) for other in beside],
        _curvature_constraints(problem, unmet, rows.level),
    )
    return explain(gradient, stages)


def find_hold_reasons(
    problem: Problem, of_figure: Sequence[Constraint], gap: FloatArray, unmet: Sequence[TaskRows]
) -> Reasons:
    """The constraints that balance the gradient of the last `Hold` task, whose error is `gap` (nv,)."""
    weighted, last = problem.engine.criteria.posture_weight[0] * gap, problem.engine.levels.start.shape[0] - 1
    negligible_share = max(NEGLIGIBLE_GRADIENT_SHARE, 2.0 * problem.engine.min_gain)
    gradient = TaskGradient(weighted, negligible_share * float(np.linalg.norm(weighted)))
    stages = (
        of_figure,
        [constraint for other in problem.all_rows for constraint in _task_constraints(problem, other)]
        + _excluded_constraints(problem, last),
        _curvature_constraints(problem, unmet, last),
    )
    return explain(gradient, stages)


def explain(gradient: TaskGradient, stages: Sequence[Sequence[Constraint]]) -> Reasons:
    """Names of the constraints that balance a gradient, from as few of the first stages as suffice.

    The constraint that balances most comes first.
    """
    constraints: list[Constraint] = []
    found = Reasons()
    for stage in stages:
        if constraints and not stage:
            continue
        constraints += stage
        left, balanced = balance_gradient(gradient.value, constraints)
        ranked = sorted(zip(balanced, constraints, strict=True), key=lambda pair: -pair[0])
        used = [constraint for size, constraint in ranked if size > gradient.negligible]
        found = Reasons(**{kind: _names(used, kind) for kind in Reasons._fields})
        if left <= gradient.negligible:
            break
    return found


def balance_gradient(gradient: FloatArray, constraints: Sequence[Constraint]) -> tuple[float, list[float]]:
    """Balance a gradient (nv,) by multipliers of the constraints, as far as possible.

    Returns:
        The size of the part that cannot be balanced, and of the part that each constraint balances.
    """
    n = gradient.size
    rows = np.concatenate([constraint.equality_rows for constraint in constraints] or [np.empty((0, n))])
    normals = np.concatenate([constraint.inequality_normals for constraint in constraints] or [np.empty((0, n))])
    basis = _orthonormal_basis(rows)
    projected_normals = normals - (normals @ basis) @ basis.T
    rest = gradient - basis @ (basis.T @ gradient)
    nu = _nonnegative_multipliers(projected_normals, rest)
    left = float(np.linalg.norm(rest - projected_normals.T @ nu))
    mu = np.linalg.lstsq(rows.T, gradient - normals.T @ nu)[0] if rows.size else np.zeros(0)
    balanced, i, j = [], 0, 0
    for constraint in constraints:
        r, s = len(constraint.equality_rows), len(constraint.inequality_normals)
        part = constraint.equality_rows.T @ mu[i : i + r] + constraint.inequality_normals.T @ nu[j : j + s]
        balanced.append(float(np.linalg.norm(part)))
        i, j = i + r, j + s
    return left, balanced


def _nonnegative_multipliers(normals: FloatArray, gradient: FloatArray) -> FloatArray:
    """(s,) the ν ≥ 0 that minimise |normalsᵀ ν - gradient|, for normals (s, nv)."""
    size = float(np.abs(normals).sum(axis=1).max(initial=0.0))
    tolerance = 10.0 * float(np.finfo(np.float64).eps) * max(normals.shape) * size
    return nonnegative_least_squares(normals, gradient, tolerance)


def _orthonormal_basis(rows: FloatArray) -> FloatArray:
    """(nv, rank) an orthonormal basis of the row space."""
    if not rows.size:
        return np.zeros((rows.shape[1], 0))
    basis, sizes, _ = np.linalg.svd(rows.T, full_matrices=False)
    spanned: FloatArray = basis[:, sizes > 1e-9 * max(sizes[0], 1e-9)]
    return spanned


def _names(constraints: Sequence[Constraint], kind: str) -> tuple[str, ...]:
    """Names of the constraints of one kind, each once."""
    return tuple(
        dict.fromkeys(name for constraint in constraints if constraint.kind == kind for name in constraint.names)
    )


def _task_gradient(problem: Problem, jacobian: FloatArray, error: FloatArray) -> TaskGradient:
    """The gradient of a task from its weighted rows and errors."""
    squares = jacobian @ jacobian.T
    size, strength = float(np.linalg.norm(error)), math.sqrt(max(0.0, float(np.linalg.eigvalsh(squares)[-1])))
    return TaskGradient(
        jacobian.T @ error, max(NEGLIGIBLE_GRADIENT_SHARE * strength, 2.0 * problem.engine.min_gain) * size
    )


def _jacobian(problem: Problem, rows: TaskRows) -> FloatArray:
    """The weighted Jacobian rows of a task."""
    skip = problem.engine.skip
    jacobian: FloatArray = problem.engine.levels.rows[skip + rows.rows.start : skip + rows.rows.stop]
    return jacobian


def _weighted_error(problem: Problem, rows: TaskRows) -> FloatArray:
    """The weighted errors of a task."""
    error: FloatArray = problem.engine.goals.weight[rows.rows] * problem.engine.current.error[rows.rows]
    return error


def _task_constraints(problem: Problem, rows: TaskRows) -> list[Constraint]:
    """The rows of a task, and the edges of its support polygon that are reached."""
    jacobian = _jacobian(problem, rows)
    edges = [_normal(problem, i) for i in problem.support_edges_of(rows)]
    normals = table([edge for edge in edges if edge is not None], jacobian.shape[1])
    return [Constraint("above", (rows.task.label,), jacobian, normals)]


def _opposing_task(problem: Problem, rows: TaskRows) -> Constraint:
    """A task of the same level, whose gradient may oppose that of the task in question."""
    jacobian = _jacobian(problem, rows)
    against = -(jacobian.T @ _weighted_error(problem, rows))
    return Constraint("beside", (rows.task.label,), np.empty((0, jacobian.shape[1])), against[None])


def _curvature_constraints(problem: Problem, unmet: Sequence[TaskRows], level: int) -> list[Constraint]:
    """The curvature of the levels above that gave way: directions in which they would lose at second order."""
    levels = problem.engine.levels
    constraints = []
    for k in sorted({rows.level for rows in unmet if rows.level < level}):
        if levels.curved[k] == 1:
            names = tuple(rows.task.label for rows in unmet if rows.level == k)
            constraints.append(Constraint("above", names, levels.curvature[k].copy(), np.empty((0, problem.figure.nv))))
    return constraints


def _excluded_constraints(problem: Problem, level: int) -> list[Constraint]:
    """Directions excluded because they harm a level above at second order: see `kernels.engine.step_model`."""
    levels = problem.engine.levels
    first = levels.general.shape[0] - MAX_EXCLUDED
    constraints = []
    for i in range(first, first + int(problem.engine.state.excluded_count[0])):
        above = levels.limit_level[problem.figure.nv + i] - 1
        names = tuple(rows.task.label for rows in problem.task_rows if rows.level == above)
        if above < level:
            constraints.append(
                Constraint("above", names, levels.general[i : i + 1].copy(), np.empty((0, problem.figure.nv)))
            )
    return constraints


def figure_constraints(problem: Problem, posture: Posture) -> list[Constraint]:
    """Limits that are reached, loops and equality couplings, which are never named, and bodies that are too near.

    The last step must have started from `posture`.
    """
    levels, n = problem.engine.levels, problem.figure.nv
    mechanism = levels.rows[levels.start[MECHANISM_LEVEL] : levels.start[SEPARATION_LEVEL]]
    separated = levels.rows[levels.start[SEPARATION_LEVEL] : levels.start[FIRST_TASK_LEVEL]]
    constraints = [
        Constraint("", (), mechanism, np.empty((0, n))),
        Constraint("limits", ("touching bodies",), separated, np.empty((0, n))),
    ]
    owned = {i for rows in problem.task_rows for i in problem.support_edges_of(rows)}
    reached = [*_reached_joint_limits(problem, posture), *_reached_general_limits(problem)]
    return constraints + [
        Constraint("limits", (problem.limit_name(i),), np.empty((0, n)), outward[None])
        for i, outward in reached
        if i not in owned
    ]


def _reached_joint_limits(problem: Problem, posture: Posture) -> list[tuple[int, FloatArray]]:
    """The limits of single velocities that are reached, with their outward normals: two for a joint with no range."""
    bounds, at = problem.engine.bounds, problem.engine.limits.dof_q
    value, axes = posture._q[at], np.eye(problem.figure.nv)
    below = (at >= 0) & (value - bounds.lower[at] <= REACHED_DISTANCE)
    above = (at >= 0) & (bounds.upper[at] - value <= REACHED_DISTANCE)
    return [
        (int(i), sign * axes[i])
        for i in np.flatnonzero(below | above)
        for sign, is_reached in ((-1.0, below[i]), (1.0, above[i]))
        if is_reached
    ]


def _reached_general_limits(problem: Problem) -> list[tuple[int, FloatArray]]:
    """The other limits that are reached, with their outward normals, but for excluded directions."""
    levels, n = problem.engine.levels, problem.figure.nv
    reached = (levels.lower >= -REACHED_DISTANCE) | (levels.upper <= REACHED_DISTANCE)
    found = np.flatnonzero(reached[n : levels.lower.shape[0] - MAX_EXCLUDED]) + n
    normals = ((int(i), _normal(problem, int(i))) for i in found)
    return [(i, normal) for i, normal in normals if normal is not None]


def _normal(problem: Problem, i: int) -> FloatArray | None:
    """Outward normal of the general limit `i`; None where it is not reached."""
    levels = problem.engine.levels
    row: FloatArray = levels.general[i - problem.figure.nv]
    if levels.lower[i] >= -REACHED_DISTANCE:
        return -row
    return row.copy() if levels.upper[i] <= REACHED_DISTANCE else None
