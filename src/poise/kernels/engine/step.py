"""One step of the engine: levels of goals inside limits, second-order information, and a check that it helped.

**Model.** At a posture the rows and errors of all goals are known; `levels` finds the step that is best for the first
level, then for the second without costing the first anything, and so on. Errors of a level are scaled down together
when one is too large for its linear model [Baerlocher 2001, 5.4.1].

**Giving way.** A level whose goals cannot be met keeps a residual r. Its rows alone then say too little: at the best
reachable posture the gradient of the level vanishes, and what remains of it is the curvature

    Σ_i -r_i ∇²φ_i + Σ_j μ_j ∇²φ_j

with μ_j the multipliers of the rows above that it leans on. Without it steps overshoot, and lower levels walk off along
directions that cost the level only to second order; with it the level converges quadratically and hands down just the
directions in which it is truly indifferent.

**Corrections.** The levels that are met are met again after the step, with the same factors, so that the bending of
their rows within a step leaves no error behind.

**Check.** A step is taken only if no level loses what it has reached: each has a record, the least error since
something else was asked, and may lose to the order that the model leaves out what cannot be seen, and to levels above
that gain what the model foresees. Otherwise the step is shortened, then damped; steps that undo each other are damped
too, and ask more of those to come. A step that can be seen but brings no level far enough below its record is not taken
at all: no cycle can go on, and the posture comes to rest when the targets do.

**Criteria.** What freedom is left goes to the criteria. A sum of several bends (see `criteria`): its level is watched
like those of tasks, and steps that only serve it must make it smaller.

**Saddles.** Where a level's curvature is negative in some direction and nothing else moves, the step leaps along it.
"""

import math

import numpy as np

from poise.kernels.engine.engine import CLOSED, FIRST_TASKS, HELD, MET, REIMPOSES, Engine
from poise.kernels.engine.indirect_calls import call_clamp, call_evaluate_current, call_evaluate_trial
from poise.kernels.engine.step_acceptance import (
    OWN,
    SOFTEST,
    STIFFEST,
    is_better,
    is_worth_it,
    note_model_error,
    note_oscillation,
    recall,
    remember,
    worse_level,
)
from poise.kernels.engine.step_model import prepare, solve_model
from poise.kernels.engine.step_singular import exclude_direction
from poise.kernels.engine.step_trial import EXACT_AT_REST, measure, met_levels, try_step, undamped_levels
from poise.kernels.jit.compile import kernel
from poise.kernels.jit.handle import Handle
from poise.kernels.loops.closure import closure_residual

Array = np.ndarray

REFUSED, ILLEGAL, LEGAL, OPEN = range(4)
"""A posture that is not finite, that has no legal one near it, that is legal now, and that is but for open loops."""
SHORTENINGS = 4
DAMPINGS = 3
VISIBLE = 1e-4
"""Steps smaller than this are taken whether they are worth it or not [rad or m]."""
CURVATURE_ADDED = -1
LEAP = 0.1
"""Size of a step off a saddle [rad or m]."""


@kernel
def take_step(
    engine: Engine,
    # outputs
    q: Array,
) -> float:
    """Move `q` (nq,), a legal posture, by one step; returns how far its fastest joint went [rad or m]."""
    state = engine.state
    counts, stiffness, damping = state.counts, state.stiffness, engine.levels.damping
    counts[0] += 1
    call_evaluate_current(engine.calls, engine, q)
    measure(engine, engine.current, q, state.merit)
    recall(state)
    prepare(engine, q)
    moved, share, tries = 0.0, 1.0, 0
    while tries < DAMPINGS:
        solve_model(engine, q)
        failed, share, excluded = 0, 1.0, False
        while failed >= 0 and share > 0.5**SHORTENINGS and not excluded:
            moved = try_step(engine, q, share)
            failed = worse_level(engine, moved)
            if failed >= 0:
                counts[2] += 1
                excluded = exclude_direction(engine, failed, share)
                share *= 0.5
        if failed < 0:
            note_model_error(engine, share)
            break
        moved = 0.0
        if excluded:
            continue
        tries += 1
        counts[1] += 1
        first = _first_to_damp(engine, failed)
        if first == CURVATURE_ADDED:
            continue
        for k in range(first, stiffness.shape[0]):
            if engine.level_kind[k] == REIMPOSES:
                continue
            stiffness[k] = min(10.0 * STIFFEST, max(8.0 * stiffness[k], 10.0 * SOFTEST))
            damping[k] = math.sqrt(damping[k] * damping[k] + stiffness[k])
    if moved > VISIBLE and not is_worth_it(engine, moved):
        moved = _shorten(engine, q, share)
    if moved <= VISIBLE and engine.solver.escape_curvature[0] < 0.0:
        moved = _leap_or_keep(engine, q, moved)
    if moved == 0.0:
        counts[3] += 1
        moved = _meet_again(engine, q)
        if moved == 0.0:
            remember(state, state.merit)
            return 0.0
    remember(state, state.merit_after)
    note_oscillation(engine)
    for i in range(q.shape[0]):
        q[i] = state.q[i]
    return moved


@kernel
def _shorten(engine: Engine, q: Array, share: float) -> float:
    """Shorten a step of loops that is not worth it, as they bend less in a shorter one; 0 when that does not help."""
    for _ in range(SHORTENINGS if engine.state.gap.shape[0] > 0 else 0):
        share *= 0.5
        moved = try_step(engine, q, share)
        if moved <= VISIBLE or worse_level(engine, moved) >= 0:
            return 0.0
        if is_worth_it(engine, moved):
            return moved
    return 0.0


@kernel
def _first_to_damp(engine: Engine, failed: int) -> int:
    """The level to damp, with those below it, when level `failed` lost, or CURVATURE_ADDED if one is solved anew.

    What is met is never damped. A level that goes by its rows alone is to blame if most of the step is its own, and its
    rows then say too little; otherwise the levels below it are.
    """
    state, curved = engine.state, engine.levels.curved
    merit, needs_curvature, decided, stiffness = state.merit, state.needs_curvature, state.decided, state.stiffness
    p = merit.shape[0] - 1
    for k in range(max(failed, FIRST_TASKS), p):
        if merit[k] > MET and engine.level_kind[k] != REIMPOSES:
            if curved[k] == 1 and needs_curvature[k] == 1 and stiffness[k] >= STIFFEST:
                # Curvature and all that damping have not helped: its rows may.
                needs_curvature[k], curved[k], stiffness[k] = 0, 0, 0.0
                return CURVATURE_ADDED
            if curved[k] == 1:
                return k
            if needs_curvature[k] == 0 and decided[k] >= OWN * decided[p]:
                needs_curvature[k] = 1
                return CURVATURE_ADDED
    return max(failed, undamped_levels(engine))


@kernel
def _meet_again(engine: Engine, q: Array) -> float:
    """Where no step is taken, only give the levels that are solved as they stand back what earlier steps cost them."""
    state = engine.state
    x, merit = state.x, state.merit
    lost = 0.0
    for k in range(met_levels(engine)):
        lost = max(lost, merit[k])
    if lost <= EXACT_AT_REST:
        return 0.0
    for i in range(x.shape[0]):
        x[i] = 0.0
    moved = try_step(engine, q, 1.0)
    return moved if is_better(state, 0.0) else 0.0


@kernel
def step_from(
    engine: Engine,
    known: bool,
    # outputs
    q: Array,
) -> int:
    """Bring a posture `q` (nq,) inside the limits, unless it is `known` to be there, and take a step from it.

    Returns how bringing it there went; no step is taken unless it is LEGAL.
    """
    status = LEGAL if known else begin(engine, q)
    if status == LEGAL:
        take_step(engine, q)
    return status


@kernel
def begin(
    engine: Engine,
    # outputs
    q: Array,
) -> int:
    """Bring a posture `q` (nq,) inside the limits; returns how that went: see REFUSED."""
    for i in range(q.shape[0]):
        if not math.isfinite(q[i]):
            return REFUSED
    if call_clamp(engine.calls, engine, engine.state.x[:0], q) == 0:
        return ILLEGAL
    there, gap = engine.trial, engine.state.gap
    if gap.shape[0] > 0:
        call_evaluate_trial(engine.calls, engine, q)
        if closure_residual(engine.closures, there.position, there.rotation, gap) > CLOSED:
            return OPEN
    return LEGAL


@kernel(counts_references=True)
def _leap_or_keep(engine: Engine, q: Array, moved: float) -> float:
    """Leave a saddle, or keep the small step already in `state.q` where no leap helps; returns how far it goes."""
    new, x = engine.state.q, engine.state.x
    kept, step = new.copy(), x.copy()
    leapt = _leave_saddle(engine, q)
    if leapt > 0.0:
        return leapt
    for i in range(new.shape[0]):
        new[i] = kept[i]
    for i in range(x.shape[0]):
        x[i] = step[i]
    return moved


@kernel
def _leave_saddle(engine: Engine, q: Array) -> float:
    """Leap along a direction of negative curvature, to the side that helps; returns how far, 0 when neither does.

    A straight arm asked to shorten stands on a saddle: no joint changes anything to first order.
    """
    state, solver, levels = engine.state, engine.solver, engine.levels
    x, escape, lower, upper = state.x, solver.escape, levels.lower, levels.upper
    largest = 0.0
    for i in range(x.shape[0]):
        largest = max(largest, abs(escape[i]))
    if largest == 0.0:
        return 0.0
    for side in range(2):
        size = LEAP / largest if side == 0 else -LEAP / largest
        for i in range(x.shape[0]):
            x[i] = min(max(size * escape[i], lower[i]), upper[i])
        moved = try_step(engine, q, 1.0)
        if is_better(state, HELD) and moved > 0.0:
            return moved
    return 0.0


@kernel(counts_references=True)
def bind(parts: Engine) -> Engine:
    """A handle on an engine, for the functions below."""
    return Handle(*parts)  # type: ignore[return-value]


@kernel
def settle(engine: Engine, q: Array, steps: int, tolerance: float) -> tuple[int, float]:
    """Step until the posture `q` rests; returns how many steps it took and how far the last one went."""
    moved, rests = math.inf, 0
    for step in range(steps):
        moved = take_step(engine, q)
        rests = rests + 1 if moved <= tolerance else 0
        if rests == 2:
            return step + 1, moved
    return steps, moved
