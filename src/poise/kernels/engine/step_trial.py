"""The trial of a step: it is applied, corrected and measured. See `step` for the method."""

import math

import numpy as np

from poise.kernels.body.couplings import coupling_value
from poise.kernels.body.tree import integrate
from poise.kernels.engine.engine import (
    FIRST_TASK_LEVEL,
    LOOP_SLACK,
    MECHANISM_LEVEL,
    MET_ERROR,
    SEPARATION_LEVEL,
    Engine,
)
from poise.kernels.engine.indirect_calls import call_clamp, call_evaluate_trial
from poise.kernels.goals.contacts import separation_error
from poise.kernels.goals.criteria import criteria_value
from poise.kernels.goals.goals import Evaluation
from poise.kernels.jit.compile import kernel
from poise.kernels.levels.levels import correct_levels
from poise.kernels.loops.closure import closure_residual

Array = np.ndarray

MAX_CORRECTIONS, MAX_LOOP_CORRECTIONS = 4, 12
"""Largest number of corrections of a step, without and with loops."""
MAX_CORRECTION_RATIO = 0.7
"""Share of the error that may remain after a correction that is followed by another one."""
CORRECTION_TOLERANCE, CORRECTION_TOLERANCE_AT_REST = 3e-7, 1e-11
"""Error of a met level up to which it is not corrected: of a figure that moves, and of one that hardly moves."""
CORRECTION_TOLERANCE_SHARE = 1e-4
"""The same tolerance as a share of the step, between these two."""
LOOP_CORRECTION_SHARE = 1e-2
"""Residual of a loop, as a share of LOOP_SLACK, up to which it is not corrected."""


@kernel
def try_step(engine: Engine, q: Array, share: float) -> float:
    """Apply `share` of the step to `q`, correct it, and measure the merits; returns the largest entry of the step.

    The levels that the model meets are corrected together. Where a correction converges slowly, the lowest of them is
    left out from then on. The result is in `state.trial_step`, `state.trial_q` and `state.merit_after`.
    """
    trial, state = engine.trial, engine.state
    x, dx, trial_step, trial_q = state.step, state.correction, state.trial_step, state.trial_q
    n, largest = x.shape[0], 0.0
    for i in range(n):
        trial_step[i] = share * x[i]
        largest = max(largest, abs(trial_step[i]))
    tolerance = min(CORRECTION_TOLERANCE, max(CORRECTION_TOLERANCE_AT_REST, CORRECTION_TOLERANCE_SHARE * largest))
    _apply_step(engine, q, trial_step, trial_q)
    call_evaluate_trial(engine.calls, engine, trial_q)
    met = count_met_levels(engine)
    error = find_row_corrections(engine, trial_q, met, share, tolerance)
    corrections = MAX_CORRECTIONS if state.loop_residual.shape[0] == 0 else MAX_LOOP_CORRECTIONS
    while error > tolerance and corrections > 0 and met > 0:
        before = error
        correct_levels(engine.levels, engine.solver, met, state.row_correction, trial_step, dx)
        for i in range(n):
            trial_step[i] += dx[i]
        _apply_step(engine, q, trial_step, trial_q)
        call_evaluate_trial(engine.calls, engine, trial_q)
        error = find_row_corrections(engine, trial_q, met, share, tolerance)
        if error <= MAX_CORRECTION_RATIO * before:
            corrections -= 1
            continue
        if error > before:
            for i in range(n):
                trial_step[i] -= dx[i]
            _apply_step(engine, q, trial_step, trial_q)
            call_evaluate_trial(engine.calls, engine, trial_q)
        met -= 1
        error = find_row_corrections(engine, trial_q, met, share, tolerance)
    measure_merits(engine, trial, trial_q, state.merit_after)
    largest = 0.0
    for i in range(n):
        largest = max(largest, abs(trial_step[i]))
    return largest


@kernel
def _apply_step(engine: Engine, q: Array, x: Array, new: Array) -> None:
    """new = q ⊕ x, clamped to the limits: those of ball joints are not linear in the step."""
    integrate(engine.tree, q, x, new)
    call_clamp(engine.calls, engine, q, new)


@kernel
def count_undamped_levels(engine: Engine) -> int:
    """Number of levels, from the top, that are solved exactly: neither damped nor with curvature."""
    curved, damping = engine.levels.curved, engine.levels.damping
    p = damping.shape[0] - 1
    for k in range(p):
        if curved[k] == 1 or damping[k] > 0.0:
            return k
    return p


@kernel
def count_met_levels(engine: Engine) -> int:
    """Number of levels, from the top, whose errors the model removes exactly."""
    work, kept = engine.solver.work, engine.state.kept_levels[0]
    left, undamped = work.level_residual, min(count_undamped_levels(engine), kept)
    for k in range(undamped):
        if left[k] > MET_ERROR:
            return k
    return undamped


@kernel
def find_row_corrections(engine: Engine, new: Array, met: int, share: float, tolerance: float) -> float:
    """Write the change that each row of the first `met` levels needs to `state.row_correction`; returns the largest.

    It is the error after the trial step, minus the part of the error that the step did not aim to remove. The residual
    of the loops is scaled up, so that they are corrected to their own tolerance where other rows are to `tolerance`.
    """
    state, start, skip = engine.state, engine.levels.start, engine.skip
    weight, gain = engine.goals.weight, engine.goals.gain
    error, error_after, correction, bounds, hard = (
        engine.current.error, engine.trial.error, state.row_correction, engine.bounds, engine.limits.hard
    )  # fmt: skip
    residuals, worst = state.loop_residual, 0.0
    if residuals.shape[0] > 0:
        residual = closure_residual(engine.closures, engine.trial.position, engine.trial.rotation, residuals)
        worst = tolerance / (LOOP_CORRECTION_SHARE * LOOP_SLACK) * residual
    for i in range(residuals.shape[0]):
        correction[start[MECHANISM_LEVEL] + i] = -residuals[i]
    for i in range(hard.shape[0]):
        row = start[SEPARATION_LEVEL] - hard.shape[0] + i
        correction[row] = bounds.coupling_lower[hard[i]] - coupling_value(bounds, hard[i], new)
        worst = max(worst, abs(correction[row]))
    for i in range(start[SEPARATION_LEVEL], start[FIRST_TASK_LEVEL]):
        correction[i] = 0.0
    for k in range(FIRST_TASK_LEVEL, met):
        for i in range(start[k], start[k + 1]):
            left = 1.0 - share * state.target_share[k] * gain[i - skip]
            correction[i] = weight[i - skip] * (error_after[i - skip] - left * error[i - skip])
            worst = max(worst, abs(correction[i]))
    return worst


@kernel(inline=True)
def measure_merits(engine: Engine, evaluation: Evaluation, q: Array, merit: Array) -> None:
    """Compute the size of the weighted error of every level, and the value of the criteria, into `merit` (p + 1,)."""
    start, weight, error, skip = engine.levels.start, engine.goals.weight, evaluation.error, engine.skip
    bounds, hard, residual = engine.bounds, engine.limits.hard, engine.state.loop_residual
    total = 0.0
    if residual.shape[0] > 0:
        closure_residual(engine.closures, evaluation.position, evaluation.rotation, residual)
    for i in range(residual.shape[0]):
        total += residual[i] * residual[i]
    for i in range(hard.shape[0]):
        lacking = coupling_value(bounds, hard[i], q) - bounds.coupling_lower[hard[i]]
        total += lacking * lacking
    merit[MECHANISM_LEVEL] = math.sqrt(total)
    merit[SEPARATION_LEVEL] = separation_error(engine.current, evaluation, engine.contacts)
    for k in range(FIRST_TASK_LEVEL, start.shape[0] - 1):
        total = 0.0
        for i in range(start[k] - skip, start[k + 1] - skip):
            e = weight[i] * error[i]
            total += e * e
        merit[k] = math.sqrt(total)
    merit[start.shape[0] - 1] = criteria_value(engine.tree, engine.criteria, q)
