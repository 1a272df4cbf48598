"""A step on trial: taken, corrected and measured. See `step` for the method."""

import math

import numpy as np

from poise.kernels.body.couplings import coupling_value
from poise.kernels.body.tree import integrate
from poise.kernels.engine.engine import CLOSED, FIRST_TASKS, MECHANISM, MET, PARTING, Engine
from poise.kernels.engine.indirect_calls import call_clamp, call_evaluate_trial
from poise.kernels.goals.contacts import parting_error
from poise.kernels.goals.criteria import criteria_value
from poise.kernels.goals.goals import Evaluation
from poise.kernels.jit.compile import kernel
from poise.kernels.levels.levels import correct_levels
from poise.kernels.loops.closure import closure_residual

Array = np.ndarray

CORRECTIONS, LOOP_CORRECTIONS = 4, 12
"""Most corrections of a step, and of one with loops."""
GAINING = 0.7
"""Share of an error that a correction may leave and be followed by another."""
EXACT, EXACT_AT_REST = 3e-7, 1e-11
"""Error of a met level that needs no correction, of a moving figure and of one that hardly moves."""
EXACT_SHARE = 1e-4
"""The same against the size of the step."""
TIGHT = 1e-2
"""Share of CLOSED that needs no correction of a loop."""


@kernel
def try_step(engine: Engine, q: Array, share: float) -> float:
    """Take `share` of the step into `state.q`, corrected, and measure the levels there; returns its largest entry."""
    there, state = engine.trial, engine.state
    x, dx, trial, new = state.x, state.dx, state.trial, state.q
    n, largest = x.shape[0], 0.0
    for i in range(n):
        trial[i] = share * x[i]
        largest = max(largest, abs(trial[i]))
    exact = min(EXACT, max(EXACT_AT_REST, EXACT_SHARE * largest))
    _land(engine, q, trial, new)
    call_evaluate_trial(engine.calls, engine, new)
    met = met_levels(engine)
    missing = find_missing(engine, new, met, share, exact)
    corrections = CORRECTIONS if state.gap.shape[0] == 0 else LOOP_CORRECTIONS
    while missing > exact and corrections > 0 and met > 0:
        before = missing
        correct_levels(engine.levels, engine.solver, met, state.missing, trial, dx)
        for i in range(n):
            trial[i] += dx[i]
        _land(engine, q, trial, new)
        call_evaluate_trial(engine.calls, engine, new)
        missing = find_missing(engine, new, met, share, exact)
        if missing <= GAINING * before:
            corrections -= 1
            continue
        if missing > before:
            for i in range(n):
                trial[i] -= dx[i]
            _land(engine, q, trial, new)
            call_evaluate_trial(engine.calls, engine, new)
        met -= 1
        missing = find_missing(engine, new, met, share, exact)
    measure(engine, there, new, state.merit_after)
    largest = 0.0
    for i in range(n):
        largest = max(largest, abs(trial[i]))
    return largest


@kernel
def _land(engine: Engine, q: Array, x: Array, new: Array) -> None:
    """new = q ⊕ x, back inside the limits that are curved."""
    integrate(engine.tree, q, x, new)
    call_clamp(engine.calls, engine, q, new)


@kernel
def undamped_levels(engine: Engine) -> int:
    """How many levels, from the top, are solved as they stand: neither damped nor curved."""
    curved, damping = engine.levels.curved, engine.levels.damping
    p = damping.shape[0] - 1
    for k in range(p):
        if curved[k] == 1 or damping[k] > 0.0:
            return k
    return p


@kernel
def met_levels(engine: Engine) -> int:
    """How many levels, from the top, the model met."""
    left, undamped = engine.solver.left, undamped_levels(engine)
    for k in range(undamped):
        if left[k] > MET:
            return k
    return undamped


@kernel
def find_missing(engine: Engine, new: Array, met: int, share: float, exact: float) -> float:
    """What the rows of the met levels lack after a step: actual error less the part not aimed at; the largest.

    Loops count for more, so that they are corrected until they are closed where other rows are until they are `exact`.
    """
    state, start, skip = engine.state, engine.levels.start, engine.skip
    weight, gain = engine.goals.weight, engine.goals.gain
    here, there, missing, bounds, hard = (
        engine.current.error, engine.trial.error, state.missing, engine.bounds, engine.limits.hard
    )  # fmt: skip
    gap, worst = state.gap, 0.0
    if gap.shape[0] > 0:
        open_by = closure_residual(engine.closures, engine.trial.position, engine.trial.rotation, gap)
        worst = exact / (TIGHT * CLOSED) * open_by
    for i in range(gap.shape[0]):
        missing[start[MECHANISM] + i] = -gap[i]
    for i in range(hard.shape[0]):
        row = start[PARTING] - hard.shape[0] + i
        missing[row] = bounds.coupling_lower[hard[i]] - coupling_value(bounds, hard[i], new)
        worst = max(worst, abs(missing[row]))
    for i in range(start[PARTING], start[FIRST_TASKS]):
        missing[i] = 0.0
    for k in range(FIRST_TASKS, met):
        for i in range(start[k], start[k + 1]):
            left = 1.0 - share * state.scale[k] * gain[i - skip]
            missing[i] = weight[i - skip] * (there[i - skip] - left * here[i - skip])
            worst = max(worst, abs(missing[i]))
    return worst


@kernel(inline=True)
def measure(engine: Engine, stance: Evaluation, q: Array, merit: Array) -> None:
    """Size of the weighted error of every level, couplings included, and the criteria's value."""
    start, weight, error, skip = engine.levels.start, engine.goals.weight, stance.error, engine.skip
    bounds, hard, gap = engine.bounds, engine.limits.hard, engine.state.gap
    total = 0.0
    if gap.shape[0] > 0:
        closure_residual(engine.closures, stance.position, stance.rotation, gap)
    for i in range(gap.shape[0]):
        total += gap[i] * gap[i]
    for i in range(hard.shape[0]):
        lacking = coupling_value(bounds, hard[i], q) - bounds.coupling_lower[hard[i]]
        total += lacking * lacking
    merit[MECHANISM] = math.sqrt(total)
    merit[PARTING] = parting_error(engine.current, stance, engine.contacts)
    for k in range(FIRST_TASKS, start.shape[0] - 1):
        total = 0.0
        for i in range(start[k] - skip, start[k + 1] - skip):
            e = weight[i] * error[i]
            total += e * e
        merit[k] = math.sqrt(total)
    merit[start.shape[0] - 1] = criteria_value(engine.tree, engine.criteria, q)
