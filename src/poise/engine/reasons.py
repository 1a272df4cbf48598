"""Why a task is not met: what it leans against at the posture where everything came to rest.

A task with rows A and weighted error r pushes the joints along g = Aᵀ r. At rest something takes that push up:

    g = Σ_j A_jᵀ μ_j + Σ_i ν_i c_i,   ν_i ≥ 0

with A_j rows of other tasks, which may be leant against from both sides, and c_i the outward normals of limits that are
reached, from one. The sum is looked for first among the limits alone, then with the tasks above, then with tasks of the
same level, then with the curvature of levels above that gave way themselves: a task is said to give way to another only
if the figure alone does not explain what it lacks. Nothing to take up means that the task is out of reach.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.optimize import nnls

from poise.engine.goal_arrays import Asked
from poise.figure.model.pose import FloatArray
from poise.kernels.engine.engine import FIRST_TASKS, MECHANISM, PARTING
from poise.kernels.engine.step_singular import MOST_EXCLUDED

if TYPE_CHECKING:
    from poise.engine.problem import Problem
    from poise.figure.model.posture import Posture

SLIGHT = 2e-3
"""Share of the strongest push a task could have that counts as none."""
REACHED = 1e-6
"""Distance at which a limit is reached [rad or m]."""


class Reasons(NamedTuple):
    """Names of what a task leans against."""

    above: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()


class Prop(NamedTuple):
    """Something to lean against."""

    kind: str
    """One of the fields of `Reasons`, or "" for what is never named."""
    names: tuple[str, ...]
    both: FloatArray
    """(r, nv) rows that take a push up either way."""
    one: FloatArray
    """(s, nv) outward normals that take it up one way."""


class Push(NamedTuple):
    """What a task wants the joints to do."""

    along: FloatArray
    """(nv,)"""
    slight: float
    """Size below which a push is none."""


def reasons_of(problem: Problem, posture: Posture, asked: Asked, unmet: Sequence[Asked]) -> Reasons:
    """What a task leans against; the last step must have been made at `posture`."""
    rows, error = _rows(problem, asked), _weighted_error(problem, asked)
    push = _push(problem, rows, error)
    above = [other for other in problem.laid if other.level < asked.level]
    beside = [other for other in unmet if other.level == asked.level and other is not asked]
    stages = (
        _figure_props(problem, posture),
        [prop for other in above for prop in _task_props(problem, other)] + _excluded_props(problem, asked.level),
        [_opposing(problem, other) for other in beside],
        _bent_props(problem, unmet, asked.level),
    )
    return explain(push, stages)


def reasons_of_hold(problem: Problem, posture: Posture, gap: FloatArray, unmet: Sequence[Asked]) -> Reasons:
    """What the posture held last leans against, `gap` (nv,) away from it."""
    weighted, last = problem.engine.criteria.posture_weight[0] * gap, problem.engine.levels.start.shape[0] - 1
    push = Push(weighted, max(SLIGHT, 2.0 * problem.engine.min_gain) * float(np.linalg.norm(weighted)))
    stages = (
        _figure_props(problem, posture),
        [prop for other in problem.laid for prop in _task_props(problem, other)] + _excluded_props(problem, last),
        _bent_props(problem, unmet, last),
    )
    return explain(push, stages)


def explain(push: Push, stages: Sequence[Sequence[Prop]]) -> Reasons:
    """The props of the first stages that take a push up, by name."""
    props: list[Prop] = []
    found = Reasons()
    for stage in stages:
        if props and not stage:
            continue
        props += stage
        left, taken = take_up(push.along, props)
        leant = [prop for prop, size in zip(props, taken, strict=True) if size > push.slight]
        found = Reasons(**{kind: _names(leant, kind) for kind in Reasons._fields})
        if left <= push.slight:
            break
    return found


def take_up(along: FloatArray, props: Sequence[Prop]) -> tuple[float, list[float]]:
    """How much of a push no prop takes up, and how much each of them takes."""
    n = along.size
    both = np.concatenate([prop.both for prop in props] or [np.empty((0, n))])
    one = np.concatenate([prop.one for prop in props] or [np.empty((0, n))])
    basis = _row_space(both)
    across = one - (one @ basis) @ basis.T
    rest = along - basis @ (basis.T @ along)
    pressed = nnls(across.T, rest)[0] if one.size else np.zeros(0)
    left = float(np.linalg.norm(rest - across.T @ pressed))
    pulled = np.linalg.lstsq(both.T, along - one.T @ pressed)[0] if both.size else np.zeros(0)
    taken, i, j = [], 0, 0
    for prop in props:
        r, s = len(prop.both), len(prop.one)
        taken.append(float(np.linalg.norm(prop.both.T @ pulled[i : i + r] + prop.one.T @ pressed[j : j + s])))
        i, j = i + r, j + s
    return left, taken


def _row_space(rows: FloatArray) -> FloatArray:
    """(nv, rank) an orthonormal basis of what rows span."""
    if not rows.size:
        return np.zeros((rows.shape[1], 0))
    basis, sizes, _ = np.linalg.svd(rows.T, full_matrices=False)
    spanned: FloatArray = basis[:, sizes > 1e-9 * max(sizes[0], 1e-9)]
    return spanned


def _names(props: Sequence[Prop], kind: str) -> tuple[str, ...]:
    """Names of the props of a kind, each once."""
    return tuple(dict.fromkeys(name for prop in props if prop.kind == kind for name in prop.names))


def _push(problem: Problem, rows: FloatArray, error: FloatArray) -> Push:
    size, strength = float(np.linalg.norm(error)), float(np.linalg.norm(rows, 2))
    return Push(rows.T @ error, max(SLIGHT * strength, 2.0 * problem.engine.min_gain) * size)


def _rows(problem: Problem, asked: Asked) -> FloatArray:
    skip = problem.engine.skip
    rows: FloatArray = problem.engine.levels.rows[skip + asked.rows.start : skip + asked.rows.stop]
    return rows


def _weighted_error(problem: Problem, asked: Asked) -> FloatArray:
    error: FloatArray = problem.engine.goals.weight[asked.rows] * problem.engine.current.error[asked.rows]
    return error


def _task_props(problem: Problem, asked: Asked) -> list[Prop]:
    """Rows of a task, and the edges of its support."""
    rows = _rows(problem, asked)
    fences = [_normal(problem, i) for i in problem.fences_of(asked)]
    return [Prop("above", (asked.task.label,), rows, _stacked([f for f in fences if f is not None], rows.shape[1]))]


def _opposing(problem: Problem, asked: Asked) -> Prop:
    """A task of the same level that pulls the other way."""
    rows = _rows(problem, asked)
    against = -(rows.T @ _weighted_error(problem, asked))
    return Prop("beside", (asked.task.label,), np.empty((0, rows.shape[1])), against[None])


def _bent_props(problem: Problem, unmet: Sequence[Asked], level: int) -> list[Prop]:
    """Curvature of the levels above that gave way: what they would lose to second order."""
    levels = problem.engine.levels
    props = []
    for k in sorted({asked.level for asked in unmet if asked.level < level}):
        if levels.curved[k] == 1:
            names = tuple(asked.task.label for asked in unmet if asked.level == k)
            props.append(Prop("above", names, levels.curvature[k].copy(), np.empty((0, problem.figure.nv))))
    return props


def _excluded_props(problem: Problem, level: int) -> list[Prop]:
    """Directions that cost a level above what no correction brings back: see `kernels.engine.step_singular`."""
    levels = problem.engine.levels
    first = levels.general.shape[0] - MOST_EXCLUDED
    props = []
    for i in range(first, first + int(problem.engine.state.excluded[0])):
        above = levels.limit_level[problem.figure.nv + i] - 1
        names = tuple(asked.task.label for asked in problem.asked if asked.level == above)
        if above < level:
            props.append(Prop("above", names, levels.general[i : i + 1].copy(), np.empty((0, problem.figure.nv))))
    return props


def _figure_props(problem: Problem, posture: Posture) -> list[Prop]:
    """Limits that are reached; equality couplings, which are part of the figure; bodies that are being parted."""
    levels, n = problem.engine.levels, problem.figure.nv
    mechanism = levels.rows[levels.start[MECHANISM] : levels.start[PARTING]]
    parted = levels.rows[levels.start[PARTING] : levels.start[FIRST_TASKS]]
    props = [Prop("", (), mechanism, np.empty((0, n))), Prop("limits", ("touching bodies",), parted, np.empty((0, n)))]
    owned = {i for asked in problem.asked for i in problem.fences_of(asked)}
    for i in range(levels.lower.shape[0] - MOST_EXCLUDED):
        if i not in owned:
            for outward in _outward(problem, posture, i):
                props.append(Prop("limits", (problem.limit_name(i),), np.empty((0, n)), outward[None]))
    return props


def _outward(problem: Problem, posture: Posture, i: int) -> list[FloatArray]:
    """Outward normals of limit `i` where it is reached: none, one, or both of a joint that cannot move."""
    n = problem.figure.nv
    if i >= n:
        normal = _normal(problem, i)
        return [] if normal is None else [normal]
    c = problem.engine.limits.dof_q[i]
    if c < 0:
        return []
    bounds, value, axis = problem.engine.bounds, posture._q[c], np.eye(n)[i]
    below, above = value - bounds.lower[c] <= REACHED, bounds.upper[c] - value <= REACHED
    return ([-axis] if below else []) + ([axis] if above else [])


def _normal(problem: Problem, i: int) -> FloatArray | None:
    """Outward normal of the general limit `i`, None where it is not reached."""
    levels = problem.engine.levels
    row: FloatArray = levels.general[i - problem.figure.nv]
    if levels.lower[i] >= -REACHED:
        return -row
    return row.copy() if levels.upper[i] <= REACHED else None


def _stacked(rows: Sequence[FloatArray], width: int) -> FloatArray:
    return np.array(rows, dtype=np.float64).reshape(len(rows), width)
