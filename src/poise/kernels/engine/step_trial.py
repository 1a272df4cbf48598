"""The trial of a step: it is applied, corrected and measured, then accepted or not. See `step` for the method."""

import math

import numpy as np

from poise.kernels.body.limits import coupling_value
from poise.kernels.body.step_limits import PER_BALL
from poise.kernels.body.tree import difference, integrate
from poise.kernels.engine.engine import (
    EXACT_LEVEL_SLACK,
    FIRST_TASK_LEVEL,
    LOOP_SLACK,
    MASKED,
    MECHANISM_LEVEL,
    MET_ERROR,
    REIMPOSES,
    SEPARATION_LEVEL,
    SUPPORT_EDGES,
    Engine,
    State,
)
from poise.kernels.engine.indirect_calls import TRY_STEP, call_clamp, call_evaluate_trial, called_by_address
from poise.kernels.goals.contacts import distance_after, separation_error
from poise.kernels.goals.criteria import CRITERIA_SCALE, criteria_value
from poise.kernels.goals.goal_derivatives import height_over_edge
from poise.kernels.goals.goals import STAND_GOAL, Evaluation, Goals
from poise.kernels.jit.compile import kernel
from poise.kernels.levels.levels import correct_levels
from poise.kernels.levels.workspace import CURVATURE_OWNER, LIMIT_OWNER
from poise.kernels.loops.closure import closure_residual

Array = np.ndarray

MAX_CORRECTIONS, MAX_LOOP_CORRECTIONS = 4, 12
"""Largest number of corrections of a step, without and with loops."""
MAX_SLOWER_TRIES, SPEED_SLACK = 3, 1e-7
"""How often a step that exceeds the speed of a joint is shortened, and the excess that is left, as a share."""
MAX_CORRECTION_RATIO = 0.7
"""A correction converges if it leaves at most this share of the error; otherwise the lowest level is left out."""
CORRECTION_TOLERANCE, CORRECTION_TOLERANCE_AT_REST = 3e-7, 1e-11
"""Largest and smallest tolerance: a met level with a smaller error is not corrected. Between these two bounds, the
tolerance is of third order in the step, as what one correction leaves."""
LOOP_CORRECTION_SHARE = 1e-2
"""Residual of a loop, as a share of LOOP_SLACK, up to which it is not corrected."""

SOFT_ERROR = 0.003
"""Error above which the force of a soft task no longer grows [m or rad]."""


@called_by_address(TRY_STEP)
@kernel
def try_step(engine: Engine, q: Array, share: float) -> float:
    """Apply `share` of the step to `q`, correct it, and measure the merits; returns the largest entry of the step.

    Corrections and couplings can turn a joint faster than the model did; a smaller share is tried then.
    """
    moved = _try_share(engine, q, share)
    for _ in range(MAX_SLOWER_TRIES):
        haste = _haste(engine, q)
        if haste <= 1.0 + SPEED_SLACK:
            break
        share /= haste
        moved = _try_share(engine, q, share)
    return moved


@kernel
def _haste(engine: Engine, q: Array) -> float:
    """Largest speed of a joint on the way from `q` to the trial posture, as a share of its limit."""
    limits, way, found = engine.limits, engine.state.correction, 0.0
    if math.isinf(limits.clock[0]):
        return found
    difference(engine.tree, q, engine.state.trial_q, way)
    for i in range(way.shape[0]):
        if not math.isinf(limits.speed[i]):
            found = max(found, abs(way[i]) / (limits.speed[i] * limits.clock[0]))
    return found


@kernel
def _try_share(engine: Engine, q: Array, share: float) -> float:
    """Apply `share` of the step to `q`, correct it, and measure the merits; returns the largest entry of the step.

    The levels that the model meets are corrected together, also those below a level that gave way. Where a correction
    converges slowly, the lowest of them is left out from then on. The result is in `state.trial_step`, `state.trial_q`
    and `state.merit_after`.
    """
    trial, state = engine.trial, engine.state
    x, dx, trial_step, trial_q = state.step, state.correction, state.trial_step, state.trial_q
    n, largest = x.shape[0], 0.0
    for i in range(n):
        trial_step[i] = share * x[i]
        largest = max(largest, abs(trial_step[i]))
    tolerance = min(CORRECTION_TOLERANCE, max(CORRECTION_TOLERANCE_AT_REST, largest * largest * largest))
    _apply_step(engine, q, trial_step, trial_q)
    call_evaluate_trial(engine.calls, engine, trial_q)
    met = count_corrected_levels(engine)
    error = max(find_row_corrections(engine, trial_q, met, share, tolerance), find_limit_corrections(engine))
    corrections = MAX_CORRECTIONS if state.loop_residual.shape[0] == 0 else MAX_LOOP_CORRECTIONS
    while error > tolerance and corrections > 0 and met > 0:
        before = error
        correct_levels(engine.levels, engine.solver, met, state.row_correction, trial_step, dx)
        for i in range(n):
            trial_step[i] += dx[i]
        _apply_step(engine, q, trial_step, trial_q)
        call_evaluate_trial(engine.calls, engine, trial_q)
        error = max(find_row_corrections(engine, trial_q, met, share, tolerance), find_limit_corrections(engine))
        if error <= MAX_CORRECTION_RATIO * before:
            corrections -= 1
            continue
        if error > before:
            for i in range(n):
                trial_step[i] -= dx[i]
            _apply_step(engine, q, trial_step, trial_q)
            call_evaluate_trial(engine.calls, engine, trial_q)
        met -= 1
        error = max(find_row_corrections(engine, trial_q, met, share, tolerance), find_limit_corrections(engine))
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
def is_met_by_model(engine: Engine, k: int) -> bool:
    """Whether the model removes the errors of level `k` exactly: it is neither damped nor curved, and leaves none."""
    levels = engine.levels
    exact = levels.curved[k] == 0 and levels.damping[k] == 0.0 and k < engine.state.kept_levels[0]
    return exact and engine.solver.work.level_residual[k] <= MET_ERROR


@kernel
def count_corrected_levels(engine: Engine) -> int:
    """Number of levels, from the top, down to the last whose errors the model removes exactly."""
    for k in range(engine.state.kept_levels[0] - 1, -1, -1):
        if is_met_by_model(engine, k):
            return k + 1
    return 0


@kernel
def find_row_corrections(engine: Engine, new: Array, met: int, share: float, tolerance: float) -> float:
    """Write to `state.row_correction` by how much each row of the first `met` levels is to change; returns the largest.

    It is the error after the trial step, minus the part of the error that the step did not aim to remove. Levels among
    them that the model does not meet keep the values of their rows. Loops have a tolerance of their own: the largest
    value counts their residual times `tolerance` divided by that tolerance.
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
    if start[SEPARATION_LEVEL] < start[FIRST_TASK_LEVEL]:
        if is_met_by_model(engine, SEPARATION_LEVEL):
            lacking = _find_separation_corrections(engine, share)
            worst = max(worst, lacking) if met > SEPARATION_LEVEL else worst
        else:
            for i in range(start[SEPARATION_LEVEL], start[FIRST_TASK_LEVEL]):
                correction[i] = 0.0
    for k in range(FIRST_TASK_LEVEL, met):
        if not is_met_by_model(engine, k):
            for i in range(start[k], start[k + 1]):
                correction[i] = 0.0
            continue
        for i in range(start[k], start[k + 1]):
            left = 1.0 - share * state.target_share[k] * gain[i - skip]
            correction[i] = weight[i - skip] * (error_after[i - skip] - left * error[i - skip])
            worst = max(worst, abs(correction[i]))
    return worst


@kernel
def _find_separation_corrections(engine: Engine, share: float) -> float:
    """Write by how much each pair that is too near is separated less than `share` of the step predicted.

    Returns the largest; pairs that are farther apart than they should be need no correction.
    """
    contacts, row, worst = engine.contacts, engine.levels.start[FIRST_TASK_LEVEL], 0.0
    for c in range(contacts.used[0]):
        if contacts.distance[c] < 0.0:
            row -= 1
            wanted = contacts.distance[c] + share * engine.levels.target[row]
            lacking = max(0.0, wanted - distance_after(engine.current, engine.trial, contacts, c))
            engine.state.row_correction[row] = lacking
            worst = max(worst, lacking)
    return worst


@kernel
def find_limit_corrections(engine: Engine) -> float:
    """Write by how much the trial step violates each locked support edge and contact; returns the largest.

    A linear step along an edge or a contact leaves it by an error of second order, and is corrected if it leaves it to
    the forbidden side. Other limits need no correction.
    """
    work, current, trial, goals, contacts = (
        engine.solver.work, engine.current, engine.trial, engine.goals, engine.contacts
    )  # fmt: skip
    errors, n, worst = work.limit_errors, engine.levels.rows.shape[1], 0.0
    at = n + first_edge_limit(engine)
    corners = goals.corner_node.shape[0]
    if corners == 0 and contacts.used[0] == 0:
        return 0.0
    for c in range(work.decided[work.level_count]):
        i = LIMIT_OWNER - work.owner[c]
        if i < at or work.owner[c] == CURVATURE_OWNER or i >= at + corners + contacts.used[0]:
            continue
        errors[i] = 0.0
        if i < at + corners:
            g = 0
            while goals.kind[g] != STAND_GOAL or goals.corner_start[g + 1] <= i - at:
                g += 1
            e = i - at - goals.corner_start[g]
            before, after = (
                height_over_edge(goals, current, current, g, e)[0], height_over_edge(goals, current, trial, g, e)[0]
            )  # fmt: skip
        else:
            pair = i - at - corners
            before, after = contacts.distance[pair], distance_after(current, trial, contacts, pair)
        errors[i] = max(0.0, min(0.0, before) - after)
        worst = max(worst, errors[i])
    return worst


@kernel(inline=True)
def first_edge_limit(engine: Engine) -> int:
    """The general limit of the first edge of a support; those of contacts follow after all edges."""
    return PER_BALL * engine.limits.ball_dof.shape[0] + engine.limits.soft.shape[0]


@kernel
def soft_share(goals: Goals, error: Array, row: int) -> float:
    """The force of the soft goal that a row belongs to, as a share of that of a spring: 1 up to SOFT_ERROR."""
    g = 0
    while goals.first[g + 1] <= row:
        g += 1
    total = 0.0
    for r in range(goals.first[g], goals.first[g + 1]):
        if goals.weight[r] > 0.0:
            total += error[r] * error[r]
    size = math.sqrt(total)
    return SOFT_ERROR / size if size > SOFT_ERROR else 1.0


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
    total = 0.0
    for i in range(start[start.shape[0] - 1] - skip, error.shape[0]):
        share = soft_share(engine.goals, error, i)
        total += (2.0 - share) * share * weight[i] * weight[i] * error[i] * error[i]
    merit[start.shape[0] - 1] = criteria_value(engine.tree, engine.criteria, q) + 0.5 * CRITERIA_SCALE * total


MERIT_NOISE, MERIT_ROUNDING = 1e-7, 1e-9
"""Greatest change of a merit that terms of third order explain, and that rounding explains."""
LEAST_MERIT_GAIN = 1e-13
"""Gain of a level, beyond terms of third order, for which the levels below may lose what the model predicts, in a step
that is too small to see; in one that can be seen, the level must gain what any such step must. Just beside the best of
a level, less than a nanometre is left to gain, and what the levels below lose by it, or could gain where it is taken,
can be a thousand times as much."""
LEAST_CRITERIA_GAIN = 1e-6
"""Least decrease of the criteria by a visible step, per radian or metre: they have no best that a level below needs."""
VISIBLE_STEP = 1e-4
"""Size from which on a step must have a least gain [rad or m]."""
REVERSAL_COSINE = -0.3
"""Cosine of the angle between two steps below which the second reverses the first."""
MIN_EXTRA_DAMPING, MAX_SHARED_DAMPING, MAX_EXTRA_DAMPING = 1e-4, 0.03, 1.0
"""Squared damping that oscillation starts with, and its maxima when only the whole step reverses, and when the level's
own part of the step does."""
MIN_GAIN_RATIO = 0.25
"""Ratio of actual to predicted gain below which the linear model of a level is wrong."""
DOMINANT_STEP_SHARE = 0.5
"""A step counts as decided by the first levels if they determine at least this share of its squared length."""
NEARLY_MET_SHARE = 0.1
"""A level with curvature no longer needs it after a step that leaves less than this share of its error."""
NEGLIGIBLE_STEP_PRODUCT = 1e-24
"""Product of the squared lengths of two steps up to which their directions are rounding."""
GAIN_FACTOR_GROWTH = 1.15
"""Factor by which each oscillating step raises the least gain of later steps."""
DAMPING_DECAY = 0.9
"""Factor by which extra damping decays from step to step."""


@kernel
def first_worse_level(engine: Engine, moved: float) -> int:
    """The first level that the trial step makes worse than is acceptable, or -1 for none.

    A level may exceed its best merit by numerical noise. Beyond that:

    * A level solved exactly, neither damped nor curved, may lose what the model predicts.
    * Where a level above improves by more than the errors left in those above it explain, a level may lose what the
      model predicts, up to terms of second order.
    * A level bounded by the edges of a support may lose anything while bodies are being separated, because its rows do
      not predict that the separation moves the centre of mass over an edge.
    * A level whose Jacobian is masked is not checked, because its rows do not predict the effect of other joints.

    The separation level counts as inexact: bodies that are being separated have no fixed distance to return to.
    """
    state, kind = engine.state, engine.level_kind
    before, after, best = state.merit, state.merit_after, state.best_merit
    noise = MERIT_ROUNDING + min(moved * moved * moved, MERIT_NOISE)
    least = LEAST_MERIT_GAIN + moved * moved * moved
    if moved > VISIBLE_STEP:
        least = min(MERIT_NOISE, engine.min_gain * moved)
    undamped, second_order = count_undamped_levels(engine), 0.0
    for i in range(state.trial_step.shape[0]):
        second_order += state.trial_step[i] * state.trial_step[i]
    gained, separated = False, after[SEPARATION_LEVEL] < best[SEPARATION_LEVEL] - MERIT_NOISE
    p, kept = before.shape[0] - 1, state.kept_levels[0]
    for k in range(kept):
        if after[k] > before[k] and kind[k] != MASKED:
            exact = k < undamped and k != SEPARATION_LEVEL
            slack = noise
            if exact:
                slack = LOOP_SLACK if k == MECHANISM_LEVEL and state.loop_residual.shape[0] > 0 else EXACT_LEVEL_SLACK
            if after[k] > best[k] + slack and (exact or after[k] > MET_ERROR):
                lost = after[k] - _predicted_merit(engine, k)
                if not (exact and lost <= slack) and not (
                    gained and (lost <= second_order or (separated and kind[k] == SUPPORT_EDGES))
                ):
                    return k
        gained = gained or after[k] < best[k] - least
        if k < undamped and kind[k] != MASKED:
            least += max(0.0, after[k] - before[k])
    return (
        p
        if state.kept_levels[1] == 1 and engine.criteria.summed[0] == 1 and _only_criteria_worsen(before, after)
        else -1
    )


@kernel
def opens_loops(state: State) -> bool:
    """Whether the trial step opens loops, or violates equality couplings, by more than a step may."""
    slack = LOOP_SLACK if state.loop_residual.shape[0] > 0 else EXACT_LEVEL_SLACK
    return state.merit_after[MECHANISM_LEVEL] > state.merit[MECHANISM_LEVEL] + slack


@kernel
def is_lexicographic_gain(engine: Engine, moved: float) -> bool:
    """Whether a level that is not met gets better than its best before one gets worse than its best, up to noise."""
    state, kind = engine.state, engine.level_kind
    after, best = state.merit_after, state.best_merit
    noise = MERIT_ROUNDING + min(moved * moved * moved, MERIT_NOISE)
    if opens_loops(state):
        return False
    for k in range(state.asked_levels[0]):
        if kind[k] == MASKED:
            continue
        if after[k] > best[k] + noise and (after[k] > MET_ERROR or k < FIRST_TASK_LEVEL):
            return False
        if best[k] > MET_ERROR and after[k] < best[k] - MERIT_NOISE:
            return True
    return False


@kernel
def _predicted_merit(engine: Engine, k: int) -> float:
    """Merit of level `k` after the whole step, as the model predicts it."""
    state, left = engine.state, engine.solver.work.level_residual[k]
    if engine.levels.curved[k] == 0:
        return left + (1.0 - state.target_share[k]) * state.merit[k]
    x, curvature = state.step, engine.levels.curvature
    total = left * left
    for i in range(x.shape[0]):
        along = 0.0
        for j in range(x.shape[0]):
            along += curvature[k, i, j] * x[j]
        total += along * x[i]
    return math.sqrt(max(0.0, total))


@kernel
def _only_criteria_worsen(before: Array, after: Array) -> bool:
    """Whether a sum of criteria gets worse and no level above it improves; met levels do not improve any further."""
    p = before.shape[0] - 1
    for k in range(p):
        met = MET_ERROR if k >= FIRST_TASK_LEVEL else 0.0
        if before[k] - max(after[k], met) > MERIT_ROUNDING:
            return False
    return after[p] > before[p] + 1e-12 * (1.0 + abs(before[p]))


@kernel
def gains_enough(engine: Engine, moved: float) -> bool:
    """Whether a step of size `moved` lowers the merit of some level below its best by the least gain.

    The merit of a level that is above its best by more than the slack is compared with its value before the step.
    """
    state, least = engine.state, engine.min_gain * engine.state.gain_factor[0] * moved
    before, best, after = state.merit, state.best_merit, state.merit_after
    for k in range(best.shape[0]):
        if k >= state.kept_levels[0] and (k < best.shape[0] - 1 or state.kept_levels[1] == 0):
            continue
        if k == best.shape[0] - 1:
            least *= max(1.0, LEAST_CRITERIA_GAIN / engine.min_gain) if engine.min_gain > 0.0 else 1.0
        reference = before[k] if before[k] > best[k] + EXACT_LEVEL_SLACK else best[k]
        if reference - after[k] > least:
            return True
    return False


@kernel
def is_better(state: State, before: Array, after: Array, slack: float) -> bool:
    """Whether the first asked level whose merit (p + 1,) changes by more than `slack` improves."""
    asked, p = state.asked_levels, before.shape[0] - 1
    for k in range(p + 1):
        gain = before[k] - after[k]
        if abs(gain) > slack and (k < asked[0] or (k == p and asked[1] == 1)):
            return gain > 0.0
    return False


@kernel
def reset_if_targets_changed(state: State) -> bool:
    """Reset the best merits, the gain factor and the use of curvature if the targets changed since the last step.

    Returns whether they changed. They have if some merit differs from that at the end of the last step. The best merits
    of the levels above the tasks are always reset, because contacts are measured again before every step.
    """
    merit, last_merit, best = state.merit, state.last_merit, state.best_merit
    same = True
    for k in range(FIRST_TASK_LEVEL, merit.shape[0]):
        same = same and merit[k] == last_merit[k]
    for k in range(merit.shape[0] if not same else FIRST_TASK_LEVEL):
        best[k] = merit[k]
    if not same:
        state.gain_factor[0] = 1.0
        for k in range(merit.shape[0]):
            state.needs_curvature[k] = 0
    return not same


@kernel
def note_model_error(engine: Engine, share: float) -> None:
    """Update which levels need curvature, from the gains of the accepted `share` of the step.

    A level without curvature that decided most of the step needs it if it gained little of what its rows predicted. A
    level with curvature that lost nearly all of its error does not need it any more.
    """
    state, levels, wish = engine.state, engine.levels, engine.levels.wish
    before, after, needs_curvature, curved = state.merit, state.merit_after, state.needs_curvature, levels.curved
    decided_square = state.decided_square
    p = before.shape[0] - 1
    for k in range(FIRST_TASK_LEVEL, p + 1):
        if engine.level_kind[k] == REIMPOSES:
            continue
        if curved[k] == 1:
            if after[k] < NEARLY_MET_SHARE * before[k]:
                needs_curvature[k] = 0
            continue
        predicted = 0.0
        if k < p:
            predicted = before[k] - _predicted_merit(engine, k) if before[k] > MET_ERROR else -1.0
        else:
            for i in range(wish.shape[0]):
                predicted += wish[i] * wish[i]
            predicted = math.sqrt(predicted) - engine.solver.work.level_residual[p]
        responsible = k == p or decided_square[k] >= DOMINANT_STEP_SHARE * decided_square[p]
        if responsible and before[k] - after[k] < MIN_GAIN_RATIO * share * predicted:
            needs_curvature[k] = 1


@kernel
def update_best_merits(state: State, merit: Array) -> None:
    """Update the best merits with those at the end of a step; a clearly improved level resets all levels below it."""
    last_merit, best = state.last_merit, state.best_merit
    improved = False
    for k in range(merit.shape[0]):
        improved = improved or merit[k] < best[k] - EXACT_LEVEL_SLACK
        best[k] = merit[k] if improved else min(best[k], merit[k])
        last_merit[k] = merit[k]


@kernel
def damp_oscillation(engine: Engine) -> None:
    """Add damping to levels with curvature, and to the criteria, where a step reverses the one before.

    The damping grows further where the level's own part of the step reverses. Any reversal raises the gain factor;
    without one the extra damping decays.
    """
    state, curved = engine.state, engine.levels.curved
    x, level_step, last, extra_damping = state.step, state.level_step, state.last_level_step, state.extra_damping
    p = extra_damping.shape[0] - 1
    along, now, then = 0.0, 0.0, 0.0
    for i in range(x.shape[0]):
        along += x[i] * last[0, i]
        now += x[i] * x[i]
        then += last[0, i] * last[0, i]
        last[0, i] = x[i]
    whole_reverses = _reverses(along, now, then)
    some_reverse = whole_reverses
    for k in range(FIRST_TASK_LEVEL, p + 1):
        along, now, then = 0.0, 0.0, 0.0
        for i in range(x.shape[0]):
            along += level_step[k, i] * last[k, i]
            now += level_step[k, i] * level_step[k, i]
            then += last[k, i] * last[k, i]
            last[k, i] = level_step[k, i]
        level_reverses = _reverses(along, now, then)
        some_reverse = some_reverse or level_reverses
        most = MAX_EXTRA_DAMPING if level_reverses else MAX_SHARED_DAMPING if whole_reverses else 0.0
        if most > extra_damping[k] and (curved[k] == 1 or k == p):
            extra_damping[k] = min(most, max(2.0 * extra_damping[k], MIN_EXTRA_DAMPING))
        elif most == 0.0:
            extra_damping[k] = DAMPING_DECAY * extra_damping[k] if extra_damping[k] > 0.1 * MIN_EXTRA_DAMPING else 0.0
    if some_reverse:
        state.gain_factor[0] *= GAIN_FACTOR_GROWTH


@kernel
def _reverses(along: float, now: float, then: float) -> bool:
    """Whether a step reverses the one before, from their dot product and their squared lengths."""
    return now * then > NEGLIGIBLE_STEP_PRODUCT and along < REVERSAL_COSINE * math.sqrt(now * then)
