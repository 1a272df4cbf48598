"""Weighted least-squares inverse kinematics: the posture that minimises the weighted errors of all goals at once.

Each Gauss–Newton step linearises the goals of an engine at the posture q, with weighted Jacobian A and weighted errors
b, and its limits l ≤ C x ≤ u of the step x. The step minimises the quadratic

    |A x - b|² + ν |x - (neutral ⊖ q)|² + η |x - (q_before ⊖ q)|² + λ |x|²

inside the limits, which may include a greatest change from the frame before; parts of the figure that should stay apart
add springs (`separation`). The regularisers ν (towards a neutral
posture) and η (towards the frame before) make the minimum unique at singular postures too, and bound joints that the
goals hardly determine. λ is Levenberg–Marquardt damping, which grows after a step that increased the cost. Loop
closures and active limits are quadratic penalties with a weight far above those of the goals (`PENALTY_WEIGHT`); the
posture is clamped to the limits afterwards, and loops are closed by least-norm steps.

One step costs one Cholesky factorisation, which is cheaper than the engine's priority levels, but no goal has strict
priority. Retargeting therefore uses it for drafts, and for the final posture only of frames in which every goal is met.
"""

import math

import numpy as np

from poise.kernels.body.tree import difference, integrate
from poise.kernels.engine.engine import FIRST_TASK_LEVEL, LOOP_SLACK, MECHANISM_LEVEL, MET_ERROR, Engine
from poise.kernels.engine.indirect_calls import call_build_model, call_clamp, call_evaluate_current
from poise.kernels.jit.compile import kernel
from poise.kernels.loops.closure import closure_residual, closure_rows
from poise.kernels.motion.separation import distance_rate, measure_separation
from poise.kernels.motion.weighted_fit_step import (
    PENALTY_WEIGHT,
    Fit,
    add_rows,
    constrained_step,
    factorise,
    substitute,
)

Array = np.ndarray

MAX_LOOP_CLOSINGS = 8
"""Largest number of steps that close the loops after one step of the fit."""
LOOP_OPENING_STEP = 0.01
"""After a step longer than this, the loops are too far open for the penalty of the next step [rad or m]."""
FIRST_FIT_DAMPING, MOST_FIT_DAMPING = 1e-4, 1e2
"""λ after the first step that increased the cost, and the λ above which the fit gives up."""


@kernel(counts_references=True)
def fit_posture(
    engine: Engine,
    fit: Fit,
    before: Array,
    neutral: Array,
    steps: int,
    tolerance: float,
    # outputs
    q: Array,
) -> bool:
    """Minimise the weighted errors from the start `q` (nq,), in at most `steps` Gauss–Newton steps.

    Args:
        engine: The engine, whose goals have the targets.
        fit: Weights and workspace.
        before: (nq,) the posture of the frame before, q_before.
        neutral: (nq,) the posture of the regulariser ν.
        steps: Largest number of steps.
        tolerance: The fit has converged when no velocity of a step is larger [rad or m].
        q: The posture; the best one found, on return.

    Returns:
        Whether the fit converged.
    """
    best, step, n, nq = fit.best, fit.step, fit.step.shape[0], q.shape[0]
    least, damping, has_loops = math.inf, fit.damping[0], engine.state.loop_residual.shape[0] > 0
    for k in range(steps):
        call_evaluate_current(engine.calls, engine, q)
        call_build_model(engine.calls, engine, q)
        cost = _fill_quadratic(engine, fit, q, before, neutral)
        if k > 0 and not cost <= least:
            damping = max(FIRST_FIT_DAMPING, 10.0 * damping)
            if damping > MOST_FIT_DAMPING:
                damping = 0.0
                break
            for i in range(nq):
                q[i] = best[i]
            call_evaluate_current(engine.calls, engine, q)
            call_build_model(engine.calls, engine, q)
            _fill_quadratic(engine, fit, q, before, neutral)
        else:
            if k > 0:
                damping = 0.1 * damping if damping > FIRST_FIT_DAMPING else 0.0
            least = cost
            for i in range(nq):
                best[i] = q[i]
        constrained_step(engine, fit, damping)
        moved, total = 0.0, 0.0
        for i in range(n):
            moved = max(moved, abs(step[i]))
            total += abs(step[i])
        if not math.isfinite(total):
            for i in range(nq):
                q[i] = best[i]
            break
        integrate(engine.tree, best, step, q)
        call_clamp(engine.calls, engine, best, q)
        if has_loops and (moved > LOOP_OPENING_STEP or moved <= tolerance or k == steps - 1):
            _close_loops(engine, fit, q)
        if moved <= tolerance:
            fit.damping[0] = damping
            return True
    fit.damping[0] = damping
    if steps > 1:
        call_evaluate_current(engine.calls, engine, q)
        call_build_model(engine.calls, engine, q)
        if not _fill_quadratic(engine, fit, q, before, neutral) <= least:
            for i in range(nq):
                q[i] = best[i]
    return False


@kernel(counts_references=True)
def fit_cost(engine: Engine, fit: Fit, q: Array, before: Array, neutral: Array) -> float:
    """The cost that `fit_posture` minimises, at posture `q` (nq,)."""
    call_evaluate_current(engine.calls, engine, q)
    call_build_model(engine.calls, engine, q)
    return _fill_quadratic(engine, fit, q, before, neutral)


@kernel(counts_references=True)
def _fill_quadratic(engine: Engine, fit: Fit, q: Array, before: Array, neutral: Array) -> float:
    """Fill the Hessian and the right-hand side of the quadratic at `q`, without limits; returns the cost at `q`."""
    levels, hessian, right_side = engine.levels, fit.hessian, fit.right_side
    rows, target, start = levels.rows, levels.target, levels.start
    n = rows.shape[1]
    for a in range(n):
        right_side[a] = 0.0
        for b in range(a + 1):
            hessian[a, b] = 0.0
    total, skip = 0.0, start[FIRST_TASK_LEVEL]
    for i in range(start[MECHANISM_LEVEL], skip):
        total += PENALTY_WEIGHT * target[i] * target[i]
        add_rows(rows, i, i + 1, PENALTY_WEIGHT, target, fit.columns, hessian, right_side)
    first, slack = engine.goals.first, fit.slack
    for g in range(slack.shape[0]):
        square = 0.0
        for i in range(skip + first[g], skip + first[g + 1]):
            square += target[i] * target[i]
        # Robust loss [Huber 1964]: beyond the threshold the cost grows linearly, so that far targets do not dominate.
        weight = engine.goals.weight[first[g]]
        threshold = slack[g] * weight if weight > 0.0 else math.inf
        size, share = math.sqrt(square), fit.strict
        if size > threshold:
            share *= threshold / size
            square = threshold * (2.0 * size - threshold)
        total += fit.strict * square
        if size > 0.0 or weight > 0.0:
            begin, end = skip + first[g], skip + first[g + 1]
            add_rows(rows, begin, end, share, target, fit.columns, hessian, right_side)
    total += _add_separation(engine, fit)
    total += _add_regulariser(engine, fit.near, neutral, q, fit)
    total += _add_regulariser(engine, fit.still, before, q, fit)
    _limit_change(engine, fit)
    return total


@kernel(counts_references=True)
def _add_separation(engine: Engine, fit: Fit) -> float:
    """Add the springs of all pairs that are nearer than they should be (see `separation`); returns their cost."""
    apart, total = fit.apart, 0.0
    rows = apart.rows
    for r in range(measure_separation(engine, apart)):
        lack = apart.watched.reach[rows.pair[r]] - rows.distance[r]
        distance_rate(engine, rows, r, apart.row)
        apart.lack[0] = lack
        add_rows(apart.row, 0, 1, apart.weight, apart.lack, fit.columns, fit.hessian, fit.right_side)
        total += apart.weight * lack * lack
    return total


@kernel(counts_references=True)
def _limit_change(engine: Engine, fit: Fit) -> None:
    """Tighten the limits of the step so that no coordinate is farther from the frame before than `fit.most_change`.

    `fit.gap` is the difference before ⊖ q.
    """
    lower, upper, gap, most = engine.levels.lower, engine.levels.upper, fit.gap, fit.most_change
    for a in range(gap.shape[0]):
        if math.isfinite(most[a]):
            lower[a] = max(lower[a], min(gap[a] - most[a], upper[a]))
            upper[a] = min(upper[a], max(gap[a] + most[a], lower[a]))


@kernel(counts_references=True)
def _add_regulariser(engine: Engine, weight: Array, wanted: Array, q: Array, fit: Fit) -> float:
    """Add the regulariser Σ weight (x - (wanted ⊖ q))² to the quadratic; returns its cost at `q`."""
    gap, hessian, right_side = fit.gap, fit.hessian, fit.right_side
    difference(engine.tree, q, wanted, gap)
    total = 0.0
    for a in range(gap.shape[0]):
        hessian[a, a] += weight[a]
        right_side[a] += weight[a] * gap[a]
        total += weight[a] * gap[a] * gap[a]
    return total


@kernel(counts_references=True)
def _close_loops(engine: Engine, fit: Fit, q: Array) -> None:
    """Close the loops of `q` by least-norm steps, since the penalty of one linearised step leaves them open.

    The Jacobian and its factor are computed once: their error is of second order, and the iteration still converges.
    """
    levels, current, hessian, step = engine.levels, engine.current, fit.hessian, fit.step
    gap = engine.state.loop_residual
    rows, first, n = levels.rows, levels.start[MECHANISM_LEVEL], step.shape[0]
    for k in range(MAX_LOOP_CLOSINGS):
        call_evaluate_current(engine.calls, engine, q)
        if closure_residual(engine.closures, current.position, current.rotation, gap) < LOOP_SLACK:
            return
        for a in range(n):
            step[a] = 0.0
        if k == 0:
            closure_rows(engine.tree, engine.closures, current.position, current.rotation, current.axes, first, rows)
            for a in range(n):
                for b in range(a + 1):
                    hessian[a, b] = 0.0
                hessian[a, a] = 1.0
            for i in range(gap.shape[0]):
                levels.target[first + i] = -gap[i]
                add_rows(rows, first + i, first + i + 1, PENALTY_WEIGHT, levels.target, fit.columns, hessian, step)
            factorise(hessian)
        else:
            for i in range(gap.shape[0]):
                for a in range(n):
                    step[a] -= PENALTY_WEIGHT * gap[i] * rows[first + i, a]
        substitute(hessian, step)
        integrate(engine.tree, q, step, q)
        call_clamp(engine.calls, engine, fit.best, q)


@kernel(counts_references=True)
def is_met(engine: Engine, q: Array) -> bool:
    """Whether all errors with a weight above 0 are at most `MET_ERROR`, and all loops closed, in posture `q` (nq,)."""
    current, goals, gap = engine.current, engine.goals, engine.state.loop_residual
    weight, error = goals.weight, current.error
    call_evaluate_current(engine.calls, engine, q)
    for i in range(weight.shape[0]):
        if weight[i] > 0.0 and not abs(error[i]) <= MET_ERROR:
            return False
    return gap.shape[0] == 0 or closure_residual(engine.closures, current.position, current.rotation, gap) < LOOP_SLACK
