"""A posture nearest to all goals at once, each by its weight: levels, loops and limits of an engine as one quadratic.

At a posture q the rows A of all goals and their errors b are known, weighted; so are limits l ≤ C x ≤ u of the step x.
The step is the least of

    |A x - b|² + ν |x - (neutral ⊖ q)|² + η |x - (q_before ⊖ q)|² + λ |x|²

inside the limits: ν and η make it the only one, however straight a limb is, and let no joint run away along a
direction that the goals hardly notice; λ is Levenberg and Marquardt's, grown where a step made things worse. Loops and
limits that are reached are springs so stiff that what gives is far below a goal's error; the posture is clamped
afterwards. Compared with levels, it costs a factorisation, and nothing is strict: it is the first draft of a motion,
not its last word.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.closure import closure_residual, closure_rows
from poise.kernels.compile import kernel
from poise.kernels.engine import CLOSED, FIRST_TASKS, MECHANISM, MET, Engine
from poise.kernels.far_call import far_clamp, far_stance
from poise.kernels.step_model import prepare
from poise.kernels.tree import difference, integrate

Array = np.ndarray

RIGID = 1e6
"""Stiffness of loops and of limits that are reached, against goals of weight 1."""
SURE = 1e-12
"""What a limit may be crossed by before it counts [rad or m]."""
ROUNDS, RELEASES = 6, 2
"""How often the limits that are reached may change within a step, and how often some may be let go: none cycles."""
CLOSINGS = 8
"""Most rounds of closing loops."""
BENDING = 0.01
"""Step after which loops are so far open that springs would not close them in the next [rad or m]."""
FIRST_DAMPING, MOST_DAMPING = 1e-4, 1e2


class Fit(NamedTuple):
    """Weights of a fit, and room to work in."""

    slack: Array
    """(goals,) error of a place beyond which it counts by its size and no longer by its square [m]; inf for never."""
    near: Array
    """(nv,) ν of each velocity: how much the neutral posture counts."""
    still: Array
    """(nv,) η of each velocity: how much the posture of the frame before counts."""
    hessian: Array
    """(nv, nv)"""
    factor: Array
    """(nv, nv) its Cholesky factor, row by row."""
    pull: Array
    """(nv,) right-hand side."""
    step: Array
    """(nv,)"""
    gap: Array
    """(nv,)"""
    reached: Array
    """(nv + g,) -1 or 1 for limits that are reached on their lower or upper side, 0 for others."""
    best: Array
    """(nq,) the best posture so far."""
    damping: Array
    """(1,) λ, from which the next posture goes on: hard frames come together."""
    strict: float
    """How many times the weight of each goal counts."""


def make_fit(goals: int, near: Array, still: Array, limits: int, nq: int, strict: float = 1.0) -> Fit:
    """Room for a fit of a figure with so many goals and limits."""
    n = near.shape[0]
    return Fit(
        slack=np.full(goals, math.inf),
        near=near,
        still=still,
        hessian=np.zeros((n, n)),
        factor=np.zeros((n, n)),
        pull=np.zeros(n),
        step=np.zeros(n),
        gap=np.zeros(n),
        reached=np.zeros(limits, dtype=np.int64),
        best=np.zeros(nq),
        damping=np.zeros(1),
        strict=strict,
    )


@kernel
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
    """Move `q` (nq,) to what is asked, by at most `steps` steps; returns whether it came to rest there.

    `before` (nq,) is the posture of the frame before, `neutral` (nq,) the one to be near to where nothing is asked.
    """
    best, step, n, nq = fit.best, fit.step, fit.step.shape[0], q.shape[0]
    least, damping, has_loops = math.inf, fit.damping[0], engine.state.gap.shape[0] > 0
    for k in range(steps):
        far_stance(engine.calls, engine.tree, engine.goals, q, engine.here)
        prepare(engine, q)
        cost = _gather(engine, fit, q, before, neutral)
        if k > 0 and not cost <= least:
            damping = max(FIRST_DAMPING, 10.0 * damping)
            if damping > MOST_DAMPING:
                damping = 0.0
                break
            for i in range(nq):
                q[i] = best[i]
            far_stance(engine.calls, engine.tree, engine.goals, q, engine.here)
            prepare(engine, q)
            _gather(engine, fit, q, before, neutral)
        else:
            if k > 0:
                damping = 0.1 * damping if damping > FIRST_DAMPING else 0.0
            least = cost
            for i in range(nq):
                best[i] = q[i]
        _best_step(engine, fit, damping)
        moved, total = 0.0, 0.0
        for i in range(n):
            moved = max(moved, abs(step[i]))
            total += abs(step[i])
        if not math.isfinite(total):
            for i in range(nq):
                q[i] = best[i]
            break
        integrate(engine.tree, best, step, q)
        far_clamp(engine.calls, engine.bounds, best, q)
        if has_loops and (moved > BENDING or moved <= tolerance or k == steps - 1):
            _close(engine, fit, q)
        if moved <= tolerance:
            fit.damping[0] = damping
            return True
    fit.damping[0] = damping
    if steps > 1:
        far_stance(engine.calls, engine.tree, engine.goals, q, engine.here)
        prepare(engine, q)
        if not _gather(engine, fit, q, before, neutral) <= least:
            for i in range(nq):
                q[i] = best[i]
    return False


@kernel
def _gather(engine: Engine, fit: Fit, q: Array, before: Array, neutral: Array) -> float:
    """Hessian and pull of the quadratic at `q`, without limits; returns its value there."""
    levels, hessian, pull = engine.levels, fit.hessian, fit.pull
    rows, target, start = levels.rows, levels.target, levels.start
    n = rows.shape[1]
    for a in range(n):
        pull[a] = 0.0
        for b in range(n):
            hessian[a, b] = 0.0
    total, skip = 0.0, start[FIRST_TASKS]
    for i in range(start[MECHANISM], skip):
        total += RIGID * target[i] * target[i]
        _add_row(rows, i, RIGID, target[i], hessian, pull)
    first, slack = engine.goals.first, fit.slack
    for g in range(slack.shape[0]):
        square = 0.0
        for i in range(skip + first[g], skip + first[g + 1]):
            square += target[i] * target[i]
        # [Huber 1964]: what is far out of reach pulls, but no harder for being farther.
        loose = slack[g] * engine.goals.weight[first[g]]
        size, share = math.sqrt(square), fit.strict
        if size > loose:
            share *= loose / size
            square = loose * (2.0 * size - loose)
        total += fit.strict * square
        if size > 0.0 or engine.goals.weight[first[g]] > 0.0:
            for i in range(skip + first[g], skip + first[g + 1]):
                _add_row(rows, i, share, target[i], hessian, pull)
    total += _draw_to(engine, fit.near, neutral, q, fit)
    total += _draw_to(engine, fit.still, before, q, fit)
    return total


@kernel(borrows=True)
def _add_row(rows: Array, i: int, weight: float, target: float, hessian: Array, pull: Array) -> None:
    """Add one row of the goals to the quadratic."""
    n = rows.shape[1]
    for a in range(n):
        value = weight * rows[i, a]
        if value != 0.0:
            pull[a] += value * target
            for b in range(a, n):
                hessian[a, b] += value * rows[i, b]


@kernel
def _draw_to(engine: Engine, weight: Array, wanted: Array, q: Array, fit: Fit) -> float:
    """Add the pull towards a posture; returns its cost."""
    gap, hessian, pull = fit.gap, fit.hessian, fit.pull
    difference(engine.tree, q, wanted, gap)
    total = 0.0
    for a in range(gap.shape[0]):
        hessian[a, a] += weight[a]
        pull[a] += weight[a] * gap[a]
        total += weight[a] * gap[a] * gap[a]
    return total


@kernel
def _close(engine: Engine, fit: Fit, q: Array) -> None:
    """Close the loops of `q` with the least motion: they bend too much within a step for any spring.

    The rows of the first round do for all: what they miss is of second order, and every round removes most of it.
    """
    levels, here, gap, hessian, step = engine.levels, engine.here, engine.state.gap, fit.hessian, fit.step
    rows, first, n = levels.rows, levels.start[MECHANISM], step.shape[0]
    for k in range(CLOSINGS):
        far_stance(engine.calls, engine.tree, engine.goals, q, here)
        if closure_residual(engine.closures, here.position, here.rotation, gap) < CLOSED:
            return
        for a in range(n):
            step[a] = 0.0
        if k == 0:
            closure_rows(engine.tree, engine.closures, here.position, here.rotation, here.axes, first, rows)
            for a in range(n):
                for b in range(n):
                    hessian[a, b] = 0.0
                hessian[a, a] = 1.0
            for i in range(gap.shape[0]):
                _add_row(rows, first + i, RIGID, -gap[i], hessian, step)
            _factor(hessian)
        else:
            for i in range(gap.shape[0]):
                for a in range(n):
                    step[a] -= RIGID * gap[i] * rows[first + i, a]
        _substitute(hessian, step)
        integrate(engine.tree, q, step, q)
        far_clamp(engine.calls, engine.bounds, fit.best, q)


@kernel
def is_met(engine: Engine, q: Array) -> bool:
    """Whether every goal that counts is met at `q` (nq,), and every loop closed."""
    here, goals, gap = engine.here, engine.goals, engine.state.gap
    weight, error = goals.weight, here.error
    far_stance(engine.calls, engine.tree, goals, q, here)
    for i in range(weight.shape[0]):
        if weight[i] > 0.0 and not abs(error[i]) <= MET:
            return False
    return gap.shape[0] == 0 or closure_residual(engine.closures, here.position, here.rotation, gap) < CLOSED


@kernel
def _best_step(engine: Engine, fit: Fit, damping: float) -> None:
    """Least of the quadratic inside the limits, in `fit.step`; limits that were reached last are tried first."""
    for k in range(ROUNDS):
        _solve_with_limits(engine, fit, damping)
        if _settle_limits(engine, fit, k < RELEASES) == 0:
            return


@kernel
def _solve_with_limits(engine: Engine, fit: Fit, damping: float) -> None:
    """The step with springs at the limits that are reached."""
    hessian, factor, pull, step, reached = fit.hessian, fit.factor, fit.pull, fit.step, fit.reached
    lower, upper, general = engine.levels.lower, engine.levels.upper, engine.levels.general
    n = step.shape[0]
    for a in range(n):
        step[a] = pull[a]
        for b in range(a, n):
            factor[a, b] = hessian[a, b]
        factor[a, a] += damping
        room = lower[a] if reached[a] < 0 else upper[a]
        if reached[a] != 0 and math.isfinite(room):
            factor[a, a] += RIGID
            step[a] += RIGID * room
    for g in range(general.shape[0]):
        side = reached[n + g]
        room = lower[n + g] if side < 0 else upper[n + g]
        if side == 0 or not math.isfinite(room):
            continue
        for a in range(n):
            value = RIGID * general[g, a]
            if value != 0.0:
                step[a] += value * room
                for b in range(a, n):
                    factor[a, b] += value * general[g, b]
    _factor(factor)
    _substitute(factor, step)


@kernel(borrows=True)
def _factor(factor: Array) -> None:
    """Turn the upper triangle of A into that of R with A = Rᵀ R, in place."""
    n = factor.shape[0]
    for k in range(n):
        pivot = math.sqrt(max(factor[k, k], 1e-12))
        factor[k, k] = pivot
        inverse = 1.0 / pivot
        for j in range(k + 1, n):
            factor[k, j] *= inverse
        for i in range(k + 1, n):
            value = factor[k, i]
            if value != 0.0:
                for j in range(i, n):
                    factor[i, j] -= value * factor[k, j]


@kernel(borrows=True)
def _substitute(factor: Array, x: Array) -> None:
    """Solve Rᵀ R x = b in place: R is the upper triangle of `factor`, b is in `x`."""
    n = x.shape[0]
    for k in range(n):
        x[k] /= factor[k, k]
        along = x[k]
        for i in range(k + 1, n):
            x[i] -= along * factor[k, i]
    for k in range(n - 1, -1, -1):
        total = x[k]
        for j in range(k + 1, n):
            total -= factor[k, j] * x[j]
        x[k] = total / factor[k, k]


@kernel
def _settle_limits(engine: Engine, fit: Fit, lets_go: bool) -> int:
    """Add limits that the step crosses, and let go of those it stays inside of; returns how many changed."""
    step, reached = fit.step, fit.reached
    lower, upper, general = engine.levels.lower, engine.levels.upper, engine.levels.general
    n = step.shape[0]
    changed = 0
    for i in range(n + general.shape[0]):
        if i < n:
            value = step[i]
        else:
            if lower[i] == -math.inf and upper[i] == math.inf:
                reached[i] = 0
                continue
            value = 0.0
            for a in range(n):
                value += general[i - n, a] * step[a]
        side = -1 if value < lower[i] - SURE else (1 if value > upper[i] + SURE else 0)
        if side != reached[i] and (side != 0 or lets_go):
            reached[i] = side
            changed += 1
    return changed
