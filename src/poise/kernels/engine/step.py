"""One step of the engine: solve a model of the tasks by priority, try the step, and accept it only if it helps.

**The problem.** Every goal i is a function φ_i(q) of the posture with a wanted value; its error is wanted minus actual.
Goals are grouped into levels by priority. The *merit* of a level is the size of its weighted error vector. The engine
looks for the posture whose merits are lexicographically least, inside all limits: no lower level may worsen a higher
one. Level 0 holds the loop closures and equality couplings, level 1 separates bodies that are too near, tasks follow,
and the criteria come last.

**Model.** At the current posture, each level k has the Jacobian rows A_k and weighted errors b_k of its goals. The
level solver (`kernels.levels`) finds the step x that minimises |A_k x - s_k b_k|² level by level inside the linearised
limits, each level within the freedom that the levels above leave. The share s_k ≤ 1 scales down the errors of a level
together when the largest is too large for a linear model [Baerlocher 2001, 5.4.1]; such levels are also damped.

**Curvature of levels that give way.** A level that cannot be met keeps a residual r. At its best posture the gradient
of the level vanishes, so that its rows no longer describe how the error changes; the Hessian of the level there has the
additional term

    S_k = Σ_i -r_i ∇²φ_i + Σ_j μ_j ∇²φ_j + Σ_l ν_l ∇²g_l

over the rows i of the level, the rows j of the levels above and the limits l that are reached (ball joints, edges of
supports, contacts), with μ_j and ν_l their Lagrange multipliers. A limit that curves inwards makes a place a minimum
that its tangent does not: without ν_l ∇²g_l, the figure creeps along it.
Without S_k, steps overshoot, and lower levels drift along directions in which the level loses at second order. With it,
the level converges quadratically, and lower levels move only in the null space of its full Hessian.

**Trial and corrections.** The step is applied to the posture and clamped to the limits. The levels that the model meets
exactly then have an error of second order, because their rows change along the step; a few Newton corrections, which
reuse the factors of the model, remove it.

**Restoration.** A level that gave way is at its best on a curve or a surface. A step of the lowest level along it costs
that level an amount of second order. Where such a step is refused, `step_restore` follows it by a step of the levels
above the lowest, and both count as one if they are lexicographically better.

**Acceptance.** The engine keeps the best merit of each level since the targets last changed. A trial step is rejected
if it raises the merit of some level above its best, with three exceptions: numerical noise; the increase that the model
predicts; and an increase of second order where a level above improves, because strict priority lets a higher level
improve at any cost to lower ones. A rejected step is first tried without the lowest levels, then halved a few times,
then solved again with more damping or with the curvature of the level that got worse, and without steps across hills;
at last it is halved on until it helps or can no longer be seen.
Where a level that was met got worse because its rows are singular, `step_model` excludes the offending direction
instead.

**No level stops one above it.** A step of all levels can fail, or be too small to see, because of what a low level
wants, while the levels above could still improve. So where a step of all levels fails, or none is visible, the lowest
levels are left out of the model one by one, from the bottom, until the levels that remain find a step, whole or halved,
that improves one of them. What the levels left out lose by it does not count. Only where no such step exists for any
number of levels does the posture rest: each level is then as good as the engine can make it with the levels above it
alone.

**Why the posture comes to rest.** A visible step must also lower the merit of some level below its best by a least gain
in proportion to the size of the step, and must not raise any level above that one; otherwise it is not taken. An
improvement of a level resets the best merits of the levels below it and of no other, so that the vector of best merits
decreases lexicographically, by a least amount at a time. Merits are bounded from below: the first level improves a
finite number of times, after its last improvement the second does, and so on. Hence the visible steps cannot go on for
ever: no cycle persists, and the posture comes to rest when the targets do. Steps that reverse the one before raise the
damping of the levels concerned and the least gain, which ends slow oscillation early.

**Criteria.** The remaining freedom minimises the criteria. A sum of several criteria is solved with its curvature (see
`criteria`), its value is the merit of the last level, and steps that improve no other level must lower it.

**Soft tasks** are part of that sum, as springs that draw no harder than at an error δ: ½ |e|² for their weighted
errors e up to δ, and (|e| - ½ δ) δ beyond [Huber 1964]. With the share s = min(1, δ / |e|), the gradient is -s Jᵀ e,
and the Hessian is replaced by s (Jᵀ J - Σ e_i ∇²φ_i), an upper bound. Their rows come after those of all levels.

**Saddle points.** Where the Hessian of a level, or of the criteria, has negative curvature, a step along that direction
helps although the gradient there vanishes: a straight leg that has to shorten bends, and no joint of it changes its
length to first order. The engine adds a small step along it to the one that it has found, and keeps the sum if it is
lexicographically better. So limbs bend as soon as that helps, while the figure moves and also where it would rest.

**A figure that follows targets.** In a solve, everything is tried wherever the figure would rest. A figure whose
targets have changed since its last step has many more steps to come. There, a step off a saddle point, and one without
the lowest levels where the step is too small to see, are tried again only after a pause if they failed: of one step,
then of three, then of seven. Once the targets are still, nothing pauses.
"""

import math
from collections.abc import Callable, Hashable
from typing import NamedTuple

import numpy as np

from poise.kernels.engine.engine import (
    EXACT_LEVEL_SLACK,
    FIRST_TASK_LEVEL,
    LOOP_SLACK,
    MASKED,
    MET_ERROR,
    REIMPOSES,
    Engine,
    State,
)
from poise.kernels.engine.indirect_calls import (
    INDICES,
    TAKE_STEP,
    address,
    call_build_model,
    call_clamp,
    call_evaluate_current,
    call_evaluate_trial,
    call_solve_model,
    call_take_step,
    call_try_step,
    called_by_address,
)
from poise.kernels.engine.step_model import exclude_direction, leave_out_below
from poise.kernels.engine.step_restore import restore_levels
from poise.kernels.engine.step_trial import (
    CORRECTION_TOLERANCE_AT_REST,
    DOMINANT_STEP_SHARE,
    LEAST_MERIT_GAIN,
    MAX_EXTRA_DAMPING,
    MERIT_NOISE,
    MIN_EXTRA_DAMPING,
    VISIBLE_STEP,
    count_corrected_levels,
    count_undamped_levels,
    damp_oscillation,
    first_worse_level,
    gains_enough,
    is_better,
    is_met_by_model,
    measure_merits,
    note_model_error,
    opens_loops,
    reset_if_targets_changed,
    update_best_merits,
)
from poise.kernels.jit.compile import entry_point_for, kernel
from poise.kernels.jit.memory import Handle
from poise.kernels.loops.closure import closure_residual

Array = np.ndarray

NOT_FINITE, OUTSIDE_LIMITS, LEGAL, LOOPS_OPEN = range(4)
"""States of a start posture.

NOT_FINITE      some value is not a finite number
OUTSIDE_LIMITS  no posture inside the limits was found near it
LEGAL           inside all limits, loops closed
LOOPS_OPEN      inside all limits, but some loop is open
"""
MAX_HALVINGS = 4
"""Times that a rejected step is halved before it is damped."""
MAX_LAST_HALVINGS = 12
"""Times that a step is halved before the posture rests: see `_shorten_until_it_helps`."""
MAX_DAMPINGS = 3
"""Times that a rejected step is solved again with more damping or curvature before the posture stays where it is."""
MAX_REST_LOSS = 2e-7
"""Loss of a level, by starting afresh several times in a solve, up to which it passes for noise [m or rad]."""
CURVATURE_ADDED = -1
"""Answer of `_first_level_to_damp` when the use of curvature changed and no level is to be damped."""
SADDLE_STEP = 0.05
"""Size of a step along a direction of negative curvature [rad or m]."""
MAX_LEAP_PAUSE = 7
"""Largest number of steps between attempts that fail, of a moving figure that wants to leave a saddle point or fewer
levels."""
LEAVING_SHARE = 0.1
"""Part of a step along a direction of negative curvature, as a share of SADDLE_STEP, that needs no further push."""


@called_by_address(TAKE_STEP)
@kernel
def take_step(
    engine: Engine,
    # outputs
    q: Array,
) -> float:
    """Move `q` (nq,), a legal posture, by one step; returns the largest entry of the step [rad or m], 0 for none."""
    state = engine.state
    extra_damping, damping = state.extra_damping, engine.levels.damping
    call_evaluate_current(engine.calls, engine, q)
    measure_merits(engine, engine.current, q, state.merit)
    follows = reset_if_targets_changed(state) and state.follows[0] == 1
    no_leap = follows and _pauses(state.leap_pause)
    engine.solver.work.looks_past_limits = 0 if no_leap else 1
    call_build_model(engine.calls, engine, q)
    moved, share, tries, whole = 0.0, 1.0, 0, True
    engine.solver.work.downhill_only = 0
    while tries < MAX_DAMPINGS:
        call_solve_model(engine.calls, engine, q)
        failed, share, excluded = 0, 1.0, False
        while failed >= 0 and share > 0.5**MAX_HALVINGS and not excluded:
            moved = call_try_step(engine.calls, engine, q, share)
            failed = first_worse_level(engine, moved)
            if failed >= 0:
                excluded = exclude_direction(engine, failed, share)
                if not excluded and tries == 0 and engine.state.excluded_count[0] == 0:
                    restored = restore_levels(engine, q, failed)
                    if restored > 0.0:
                        return _take_trial(engine, q, restored)
                share *= 0.5
            if failed >= 0 and not excluded and whole:
                whole, moved = False, _step_of_higher_levels(engine, q, True, max(failed, FIRST_TASK_LEVEL), failed + 1)
                if moved > 0.0:
                    return _take_trial(engine, q, moved)
        if failed < 0:
            note_model_error(engine, share)
            break
        moved = 0.0
        if excluded:
            continue
        tries += 1
        engine.solver.work.downhill_only = 1
        first = _first_level_to_damp(engine, failed)
        if first == CURVATURE_ADDED:
            continue
        for k in range(first, extra_damping.shape[0]):
            if engine.level_kind[k] == REIMPOSES:
                continue
            extra_damping[k] = min(10.0 * MAX_EXTRA_DAMPING, max(8.0 * extra_damping[k], 10.0 * MIN_EXTRA_DAMPING))
            damping[k] = math.sqrt(damping[k] * damping[k] + extra_damping[k])
    gains_little = moved > VISIBLE_STEP and not gains_enough(engine, moved)
    if gains_little:
        moved = _halve_until_it_gains(engine, q, share) if state.loop_residual.shape[0] > 0 else 0.0
    may_leap = not no_leap and engine.solver.work.escape_curvature < 0.0
    if may_leap and (moved <= VISIBLE_STEP or (share == 1.0 and _tries_to_leave_saddle(engine))):
        moved = _leave_saddle_or_keep(engine, q, moved)
    if moved <= VISIBLE_STEP and not (follows and _pauses(state.fewer_levels_pause)):
        moved = _keep_or_leave_out(engine, q, moved, tries == 0)
    if moved == 0.0 and gains_little:
        moved = _halve_until_it_gains(engine, q, share)
    if moved == 0.0:
        moved = _restore_met_levels(engine, q)
        if moved == 0.0:
            moved = _shorten_until_it_helps(engine, q)
        if moved == 0.0:
            update_best_merits(state, state.merit)
            return 0.0
    return _take_trial(engine, q, moved)


@kernel
def _pauses(pause: Array) -> bool:
    """Whether a figure that follows targets pauses after an attempt that failed; counts the step."""
    if pause[0] == 0:
        return False
    pause[0] -= 1
    return True


@kernel
def _lengthen_pause(pause: Array) -> None:
    """Begin a pause (2,) after an attempt that failed, twice as long as the last one."""
    pause[1] = min(2 * pause[1] + 1, MAX_LEAP_PAUSE)
    pause[0] = pause[1]


@kernel
def _shorten_until_it_helps(engine: Engine, q: Array) -> float:
    """Halve the step on until it helps, as long as it can be seen; returns its size, 0 for none.

    Where rows change much within a short way, no damping of the model foresees what a step costs: a part that looks at
    a point close to itself turns round within a centimetre, and a goal that costs nothing below a speed has no rows
    there.
    """
    share = 0.5**MAX_HALVINGS
    while share > 0.5**MAX_LAST_HALVINGS:
        moved = call_try_step(engine.calls, engine, q, share)
        if moved <= VISIBLE_STEP:
            return 0.0
        if first_worse_level(engine, moved) < 0 and gains_enough(engine, moved):
            return moved
        share *= 0.5
    return 0.0


@kernel
def _take_trial(engine: Engine, q: Array, moved: float) -> float:
    """Move `q` to the trial posture, and remember what the engine learns from the step; returns `moved`, its size."""
    update_best_merits(engine.state, engine.state.merit_after)
    damp_oscillation(engine)
    for i in range(q.shape[0]):
        q[i] = engine.state.trial_q[i]
    return moved


@kernel
def _keep_or_leave_out(engine: Engine, q: Array, moved: float, is_fresh: bool) -> float:
    """Where no visible step was found, look for one of the higher levels, or keep the small one in `state.trial_q`.

    Returns the size of the step. The model `is_fresh` if it was not damped further since it was built.
    """
    _keep_trial(engine.state)
    found = _step_of_higher_levels(engine, q, is_fresh, FIRST_TASK_LEVEL, engine.state.asked_levels[0])
    if found > 0.0:
        engine.state.fewer_levels_pause[1] = 0
        return found
    _restore_trial(engine, moved)
    _lengthen_pause(engine.state.fewer_levels_pause)
    return moved


@kernel
def _keep_trial(state: State) -> None:
    """Keep the trial posture and its step in `state.kept_trial`."""
    nq = state.trial_q.shape[0]
    for i in range(nq):
        state.kept_trial[i] = state.trial_q[i]
    for i in range(state.step.shape[0]):
        state.kept_trial[nq + i] = state.step[i]


@kernel
def _restore_trial(engine: Engine, moved: float) -> None:
    """Restore the trial posture that was kept, its step, and its merits if it has `moved`."""
    state = engine.state
    nq = state.trial_q.shape[0]
    for i in range(nq):
        state.trial_q[i] = state.kept_trial[i]
    for i in range(state.step.shape[0]):
        state.step[i] = state.kept_trial[nq + i]
    if moved > 0.0:
        call_evaluate_trial(engine.calls, engine, state.trial_q)
        measure_merits(engine, engine.trial, state.trial_q, state.merit_after)


@kernel
def _step_of_higher_levels(engine: Engine, q: Array, is_fresh: bool, least: int, most: int) -> float:
    """Look for a visible step that leaves out the lowest levels; returns its size, 0 for none.

    A level that loses can stop a level above it, whose own step would help. The levels are left out one by one from
    the bottom, so that at most the first `most` levels and at least the first `least` remain. If no such step helps,
    the model of all levels is solved again. Levels that had no freedom left are left out together: the step is the
    same without them, and only what they lose by it no longer counts. The model of all levels `is_fresh` if it was not
    damped further since it was built.
    """
    state, solved_again = engine.state, False
    asked = state.asked_levels[0] if _has_wish(engine) else state.asked_levels[0] - 1
    fewest, most = max(least, FIRST_TASK_LEVEL + 1), min(most, asked)
    same = _fewest_levels_of_same_step(engine, fewest, most) if is_fresh else 0
    for count in range(most if same == 0 else same, fewest - 1, -1):
        if not _may_remain_alone(engine, count):
            continue
        if count == same:
            state.kept_levels[0], state.kept_levels[1] = count, 0
        else:
            solved_again = True
            call_build_model(engine.calls, engine, q)
            leave_out_below(engine, count)
            call_solve_model(engine.calls, engine, q)
        share = 1.0
        while share > 0.5**MAX_HALVINGS:
            found = call_try_step(engine.calls, engine, q, share)
            if found <= VISIBLE_STEP:
                break
            if first_worse_level(engine, found) < 0 and gains_enough(engine, found):
                return found
            share *= 0.5
    if solved_again:
        call_build_model(engine.calls, engine, q)
        call_solve_model(engine.calls, engine, q)
    else:
        state.kept_levels[0], state.kept_levels[1] = state.asked_levels[0], state.asked_levels[1]
    return 0.0


@kernel
def _fewest_levels_of_same_step(engine: Engine, fewest: int, most: int) -> int:
    """The fewest first levels, of those that may remain alone, that decide the whole step; 0 for none."""
    decided, n = engine.solver.work.decided, engine.levels.rows.shape[1]
    for count in range(fewest, most + 1):
        if decided[count] == n and _may_remain_alone(engine, count):
            return count
    return 0


@kernel
def _may_remain_alone(engine: Engine, count: int) -> bool:
    """Whether a step of the first `count` levels alone can help: one is not met, and no masked level loses its copy."""
    return engine.level_kind[count] != REIMPOSES and _some_level_is_unmet(engine, count)


@kernel
def _has_wish(engine: Engine) -> bool:
    """Whether criteria move the figure."""
    for i in range(engine.levels.wish.shape[0]):
        if engine.levels.wish[i] != 0.0:
            return True
    return engine.criteria.summed[0] == 1


@kernel
def _some_level_is_unmet(engine: Engine, count: int) -> bool:
    """Whether some task of the first `count` levels is not met."""
    for k in range(FIRST_TASK_LEVEL, count):
        if engine.state.merit[k] > MET_ERROR and engine.level_kind[k] != REIMPOSES:
            return True
    return False


@kernel
def examine(engine: Engine, q: Array) -> None:
    """Solve the model of all levels at a legal posture `q` (nq,), for a verdict on it; the posture stays as it is.

    Leaves rows, limits, curvature and excluded directions in the engine.
    """
    call_evaluate_current(engine.calls, engine, q)
    measure_merits(engine, engine.current, q, engine.state.merit)
    reset_if_targets_changed(engine.state)
    call_build_model(engine.calls, engine, q)
    excluded = True
    while excluded:
        call_solve_model(engine.calls, engine, q)
        failed = first_worse_level(engine, call_try_step(engine.calls, engine, q, 1.0))
        excluded = failed >= 0 and exclude_direction(engine, failed, 1.0)


@kernel
def _halve_until_it_gains(engine: Engine, q: Array, share: float) -> float:
    """Halve a step that gains too little; returns its size, 0 when that does not help.

    Within a shorter step the rows change less, so that it can gain more in proportion.
    """
    for _ in range(MAX_HALVINGS):
        share *= 0.5
        moved = call_try_step(engine.calls, engine, q, share)
        if moved <= VISIBLE_STEP or first_worse_level(engine, moved) >= 0:
            return 0.0
        if gains_enough(engine, moved):
            return moved
    return 0.0


@kernel
def _first_level_to_damp(engine: Engine, failed: int) -> int:
    """The first level to damp, with those below it, after level `failed` got worse; or CURVATURE_ADDED.

    Levels that are met are never damped. The first level that is not met is damped if it has curvature. If it has none
    and decided most of the step, its linear model is wrong: it gets curvature. A level for which curvature and the
    greatest damping did not help goes back to its linear model.
    """
    state, curved = engine.state, engine.levels.curved
    merit, needs_curvature = state.merit, state.needs_curvature
    decided_square, extra_damping = state.decided_square, state.extra_damping
    p = merit.shape[0] - 1
    for k in range(max(failed, FIRST_TASK_LEVEL), min(p, state.kept_levels[0])):
        if merit[k] > MET_ERROR and engine.level_kind[k] != REIMPOSES:
            if curved[k] == 1 and needs_curvature[k] == 1 and extra_damping[k] >= MAX_EXTRA_DAMPING:
                needs_curvature[k], curved[k], extra_damping[k] = 0, 0, 0.0
                return CURVATURE_ADDED
            if curved[k] == 1:
                return k
            if needs_curvature[k] == 0 and decided_square[k] >= DOMINANT_STEP_SHARE * decided_square[p]:
                needs_curvature[k] = 1
                return CURVATURE_ADDED
    return max(failed, count_undamped_levels(engine))


@kernel
def _restore_met_levels(engine: Engine, q: Array) -> float:
    """Where no step is taken, correct the levels that the model meets; returns the size of the correction, 0 for none.

    Earlier steps may have left errors there, each too small to be corrected at the time.
    """
    state = engine.state
    x, merit = state.step, state.merit
    lost = 0.0
    for k in range(count_corrected_levels(engine)):
        if is_met_by_model(engine, k):
            lost = max(lost, merit[k])
    if lost <= CORRECTION_TOLERANCE_AT_REST:
        return 0.0
    for i in range(x.shape[0]):
        x[i] = 0.0
    moved = call_try_step(engine.calls, engine, q, 1.0)
    return moved if is_better(state, state.merit, state.merit_after, 0.0) else 0.0


@kernel
def step_from(
    engine: Engine,
    known: bool,
    # outputs
    q: Array,
) -> int:
    """Make a posture `q` (nq,) legal, unless it is `known` to be, and take a step from it; returns its state.

    No step is taken unless the state is LEGAL: see NOT_FINITE.
    """
    status = LEGAL if known else make_legal(engine, q)
    if status == LEGAL:
        engine.state.follows[0] = 1
        call_take_step(engine.calls, engine, q)
        engine.state.follows[0] = 0
    return status


@kernel
def make_legal(
    engine: Engine,
    # outputs
    q: Array,
) -> int:
    """Move a posture `q` (nq,) inside the limits; returns the state it is in afterwards: see NOT_FINITE."""
    for i in range(q.shape[0]):
        if not math.isfinite(q[i]):
            return NOT_FINITE
    if call_clamp(engine.calls, engine, engine.state.step[:0], q) == 0:
        return OUTSIDE_LIMITS
    trial, loop_residual = engine.trial, engine.state.loop_residual
    if loop_residual.shape[0] > 0:
        call_evaluate_trial(engine.calls, engine, q)
        if closure_residual(engine.closures, trial.position, trial.rotation, loop_residual) > LOOP_SLACK:
            return LOOPS_OPEN
    return LEGAL


@kernel
def _tries_to_leave_saddle(engine: Engine) -> bool:
    """Whether a figure that moves should try a step along the direction of negative curvature.

    It need not if its step already goes some way along it. After attempts that failed, it pauses.
    """
    state, escape = engine.state, engine.solver.work.escape
    if state.may_leap[0] == 0:
        return False
    if _pauses(state.leap_pause):
        return False
    along, square, largest = 0.0, 0.0, 0.0
    for i in range(escape.shape[0]):
        along += state.trial_step[i] * escape[i]
        square += escape[i] * escape[i]
        largest = max(largest, abs(escape[i]))
    return abs(along) * largest < LEAVING_SHARE * SADDLE_STEP * square


@kernel
def _leave_saddle_or_keep(engine: Engine, q: Array, moved: float) -> float:
    """Add a step along the direction of negative curvature, or one against it, to the trial step; returns its size.

    Where neither is better, the trial step, of size `moved`, is kept.
    """
    state, levels = engine.state, engine.levels
    x, escape, lower, upper = state.step, engine.solver.work.escape, levels.lower, levels.upper
    nq, largest = q.shape[0], 0.0
    _keep_trial(state)
    _mask_escape(engine, engine.solver.work.escape_level)
    for k in range(state.merit.shape[0]):
        state.saddle_merit[k] = min(state.best_merit[k], state.merit_after[k] if moved > 0.0 else state.merit[k])
    for i in range(x.shape[0]):
        largest = max(largest, abs(escape[i]))
    for side in range(2 if largest > 0.0 else 0):
        size = SADDLE_STEP / largest if side == 0 else -SADDLE_STEP / largest
        for i in range(x.shape[0]):
            base = state.kept_trial[nq + i] if moved > 0.0 else 0.0
            x[i] = min(max(base + size * escape[i], lower[i]), upper[i])
        found = call_try_step(engine.calls, engine, q, 1.0)
        if found > 0.0 and _leads_off_saddle(state):
            state.leap_pause[1] = 0
            return found
    _restore_trial(engine, moved)
    _lengthen_pause(state.leap_pause)
    return moved


@kernel
def _leads_off_saddle(state: State) -> bool:
    """Whether the first asked level that the leap changes improves on its best merit so far.

    Levels that are met before and after do not change; leaps that cost a level a little each would add up otherwise.
    """
    before, after, asked = state.saddle_merit, state.merit_after, state.asked_levels
    p = before.shape[0] - 1
    if opens_loops(state):
        return False
    for k in range(p + 1):
        met = MET_ERROR if FIRST_TASK_LEVEL <= k < p else 0.0
        gain = max(before[k], met) - max(after[k], met)
        if abs(gain) > MERIT_NOISE and (k < asked[0] or (k == p and asked[1] == 1)):
            return gain > 0.0
    return False


@kernel
def _mask_escape(engine: Engine, k: int) -> None:
    """Leave joints out of the direction of negative curvature of level `k` that it may not move."""
    escape, rows, start = engine.solver.work.escape, engine.levels.rows, engine.levels.start
    for i in range(engine.free.shape[0]):
        escape[i] *= engine.free[i]
    if k < FIRST_TASK_LEVEL or engine.level_kind[k] != MASKED:
        return
    for i in range(escape.shape[0]):
        used = False
        for r in range(start[k], start[k + 1]):
            used = used or rows[r, i] != 0.0
        if not used:
            escape[i] = 0.0


@kernel(counts_references=True)
def bind(parts: Engine) -> Engine:
    """Make a handle on an engine, which all kernels of this package take instead of the engine itself."""
    return Handle(*parts)  # type: ignore[return-value]


@kernel
def settle(engine: Engine, q: Array, steps: int, tolerance: float) -> tuple[int, float]:
    """Take at most `steps` steps, until two in a row are no larger than `tolerance`.

    Where a level is not met, earlier steps may have left damping that hides a way on. The engine then forgets them and
    goes on, until the figure rests where it is no better than where it rested before. Where a level has lost, because
    losses that pass for noise have added up, and no level above it has gained, it goes back there. Returns the number
    of steps and the size of the last one [rad or m].
    """
    state = engine.state
    moved, rests, rested = math.inf, 0, False
    for step in range(steps):
        moved = call_take_step(engine.calls, engine, q)
        rests = rests + 1 if moved <= tolerance else 0
        if rests == 2:
            if rested and _has_lost(state):
                for i in range(q.shape[0]):
                    q[i] = state.rest_q[i]
                call_evaluate_current(engine.calls, engine, q)
                measure_merits(engine, engine.current, q, state.merit)
                return step + 1, moved
            unmet = _some_level_is_unmet(engine, state.asked_levels[0])
            if not unmet or (rested and not is_better(state, state.rest_merit, state.merit, EXACT_LEVEL_SLACK)):
                return step + 1, moved
            _note_rest(state, q, rested)
            forget_all(engine)
            rests, rested = 0, True
    return steps, moved


@kernel
def _has_lost(state: State) -> bool:
    """Whether some level is worse than where the figure rested before, and no level above it is better.

    Beside the best of a level, a gain too small to see costs the levels below what anyone sees. It counts nevertheless:
    otherwise a solve that begins where this one rests would leave that place.
    """
    before, after, asked = state.rest_merit, state.merit, state.asked_levels
    p = before.shape[0] - 1
    for k in range(p + 1):
        if k < asked[0] or (k == p and asked[1] == 1):
            met = MET_ERROR if FIRST_TASK_LEVEL <= k < p else 0.0
            lost = max(after[k], met) - max(before[k], met)
            if lost > MAX_REST_LOSS:
                return True
            if lost < -LEAST_MERIT_GAIN and FIRST_TASK_LEVEL <= k < p:
                return False
    return False


@kernel
def _note_rest(state: State, q: Array, rested: bool) -> None:
    """Note where the figure rests, and the least merits of all places of rest; a gain of a level resets those below."""
    gained = not rested
    for k in range(state.merit.shape[0]):
        least = state.rest_merit[k]
        if gained or state.merit[k] < least:
            state.rest_merit[k] = state.merit[k]
        gained = gained or (state.merit[k] < least - LEAST_MERIT_GAIN and least > MET_ERROR)
    for i in range(q.shape[0]):
        state.rest_q[i] = q[i]


@kernel
def forget_steps(engine: Engine) -> None:
    """Forget what earlier steps left: their directions, extra damping, the use of curvature and the best merits."""
    state = engine.state
    state.leap_pause[0], state.leap_pause[1] = 0, 0
    state.fewer_levels_pause[0], state.fewer_levels_pause[1] = 0, 0
    for k in range(state.extra_damping.shape[0]):
        state.extra_damping[k], state.needs_curvature[k], state.last_merit[k] = 0.0, 0, math.nan
        for i in range(state.last_level_step.shape[1]):
            state.last_level_step[k, i] = 0.0


@kernel
def forget_all(engine: Engine) -> None:
    """Forget what earlier steps left, as `forget_steps` does, and the active sets that warm-start a step."""
    forget_steps(engine)
    work = engine.solver.work
    work.is_corrected = 0
    for k in range(work.side.shape[0]):
        for i in range(work.side.shape[1]):
            work.side[k, i], work.least_side[k, i], work.rows_side[k, i], work.newton_side[k, i] = 0, 0, 0, 0


StepFrom = Callable[[Engine, bool, Array], int]


class EntryPoints(NamedTuple):
    """Compiled kernels for engines of one type."""

    bind: Callable[[Engine], Engine]
    """The kernel `bind`."""
    step_from: StepFrom
    """The kernel `step_from`."""
    calls: Array
    """Addresses of the kernels in `indirect_calls`."""


_known: dict[Hashable, EntryPoints] = {}


def bound(engine: Engine, figure_types: Hashable) -> tuple[Engine, StepFrom]:
    """A handle on an engine that is ready to step, and the kernel `step_from` with the least overhead per call.

    Args:
        engine: The engine. The types of the arrays that it does not share with all engines of its figure are fixed.
        figure_types: A key of the types of the arrays that all engines of its figure share.
    """
    found = _known.get(figure_types)
    if found is None:
        found = _known[figure_types] = _entry_points(engine)
    engine.calls[:] = found.calls
    return found.bind(engine), found.step_from


def _entry_points(engine: Engine) -> EntryPoints:
    """Compile or load the kernels for the types of an engine."""
    make_handle = entry_point_for(bind, engine)
    handle, q = make_handle(engine), engine.state.trial_q
    for index in INDICES:
        engine.calls[index] = address(index, handle, q)
    return EntryPoints(make_handle, entry_point_for(step_from, handle, True, q), engine.calls.copy())
