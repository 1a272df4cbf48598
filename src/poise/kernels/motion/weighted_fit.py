"""A posture nearest to all goals at once, each by its weight: levels, loops and limits of an engine as one quadratic.

At a posture q the rows A of all goals and their errors b are known, weighted; so are limits l ≤ C x ≤ u of the step x.
The step is the least of

    |A x - b|² + ν |x - (neutral ⊖ q)|² + η |x - (q_before ⊖ q)|² + λ |x|²

inside the limits: ν and η make it the only one, however straight a limb is, and let no joint run away along a
direction that the goals hardly notice; λ is Levenberg and Marquardt's, grown where a step made things worse. Loops and
limits that are reached are springs so stiff that what gives is far below a goal's error; the posture is clamped
afterwards. Compared with levels, it costs a factorisation, and nothing is strict: it drafts motions, and has the last
word on a posture only where every goal is met.
"""

import math

import numpy as np

from poise.kernels.body.tree import difference, integrate
from poise.kernels.engine.engine import CLOSED, FIRST_TASKS, MECHANISM, MET, Engine
from poise.kernels.engine.indirect_calls import call_clamp, call_evaluate_current
from poise.kernels.engine.step_model import prepare
from poise.kernels.jit.compile import kernel
from poise.kernels.loops.closure import closure_residual, closure_rows
from poise.kernels.motion.weighted_fit_step import RIGID, Fit, add_row, best_step, factorise, substitute

Array = np.ndarray

CLOSINGS = 8
"""Most rounds of closing loops."""
BENDING = 0.01
"""Step after which loops are so far open that springs would not close them in the next [rad or m]."""
FIRST_DAMPING, MOST_DAMPING = 1e-4, 1e2


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
    """Move `q` (nq,) to what is asked, by at most `steps` steps; returns whether it came to rest there.

    `before` (nq,) is the posture of the frame before, `neutral` (nq,) the one to be near to where nothing is asked.
    """
    best, step, n, nq = fit.best, fit.step, fit.step.shape[0], q.shape[0]
    least, damping, has_loops = math.inf, fit.damping[0], engine.state.gap.shape[0] > 0
    for k in range(steps):
        call_evaluate_current(engine.calls, engine, q)
        prepare(engine, q)
        cost = _gather(engine, fit, q, before, neutral)
        if k > 0 and not cost <= least:
            damping = max(FIRST_DAMPING, 10.0 * damping)
            if damping > MOST_DAMPING:
                damping = 0.0
                break
            for i in range(nq):
                q[i] = best[i]
            call_evaluate_current(engine.calls, engine, q)
            prepare(engine, q)
            _gather(engine, fit, q, before, neutral)
        else:
            if k > 0:
                damping = 0.1 * damping if damping > FIRST_DAMPING else 0.0
            least = cost
            for i in range(nq):
                best[i] = q[i]
        best_step(engine, fit, damping)
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
        if has_loops and (moved > BENDING or moved <= tolerance or k == steps - 1):
            _close(engine, fit, q)
        if moved <= tolerance:
            fit.damping[0] = damping
            return True
    fit.damping[0] = damping
    if steps > 1:
        call_evaluate_current(engine.calls, engine, q)
        prepare(engine, q)
        if not _gather(engine, fit, q, before, neutral) <= least:
            for i in range(nq):
                q[i] = best[i]
    return False


@kernel(counts_references=True)
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
        add_row(rows, i, RIGID, target[i], hessian, pull)
    first, slack = engine.goals.first, fit.slack
    for g in range(slack.shape[0]):
        square = 0.0
        for i in range(skip + first[g], skip + first[g + 1]):
            square += target[i] * target[i]
        # [Huber 1964]: what is far out of reach pulls, but no harder for being farther.
        weight = engine.goals.weight[first[g]]
        loose = slack[g] * weight if weight > 0.0 else math.inf
        size, share = math.sqrt(square), fit.strict
        if size > loose:
            share *= loose / size
            square = loose * (2.0 * size - loose)
        total += fit.strict * square
        if size > 0.0 or weight > 0.0:
            for i in range(skip + first[g], skip + first[g + 1]):
                add_row(rows, i, share, target[i], hessian, pull)
    total += _draw_to(engine, fit.near, neutral, q, fit)
    total += _draw_to(engine, fit.still, before, q, fit)
    return total


@kernel(counts_references=True)
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


@kernel(counts_references=True)
def _close(engine: Engine, fit: Fit, q: Array) -> None:
    """Close the loops of `q` with the least motion: they bend too much within a step for any spring.

    The rows of the first round do for all: what they miss is of second order, and every round removes most of it.
    """
    levels, here, gap, hessian, step = engine.levels, engine.current, engine.state.gap, fit.hessian, fit.step
    rows, first, n = levels.rows, levels.start[MECHANISM], step.shape[0]
    for k in range(CLOSINGS):
        call_evaluate_current(engine.calls, engine, q)
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
                add_row(rows, first + i, RIGID, -gap[i], hessian, step)
            factorise(hessian)
        else:
            for i in range(gap.shape[0]):
                for a in range(n):
                    step[a] -= RIGID * gap[i] * rows[first + i, a]
        substitute(hessian, step)
        integrate(engine.tree, q, step, q)
        call_clamp(engine.calls, engine, fit.best, q)


@kernel(counts_references=True)
def is_met(engine: Engine, q: Array) -> bool:
    """Whether every goal that counts is met at `q` (nq,), and every loop closed."""
    here, goals, gap = engine.current, engine.goals, engine.state.gap
    weight, error = goals.weight, here.error
    call_evaluate_current(engine.calls, engine, q)
    for i in range(weight.shape[0]):
        if weight[i] > 0.0 and not abs(error[i]) <= MET:
            return False
    return gap.shape[0] == 0 or closure_residual(engine.closures, here.position, here.rotation, gap) < CLOSED
