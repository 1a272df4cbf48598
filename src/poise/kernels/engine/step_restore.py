"""Restoration: after a step that raised higher levels too much, a step of these levels alone.

A long step of the lowest level along the optima of a level above, which are curved, leaves that level with a loss of
second order. Shortening the step until the loss passes for noise makes the figure creep. Newton corrections restore
levels that are met, but a level that gave way has no error to return to: it must return to its optimum, for which its
rows and its curvature are needed where the step ended. So the model is built there, the levels above the lowest are
solved alone, and both steps together count as one. [Maratos 1978] describes the effect, and [Nocedal & Wright 2006,
15.6] restoring steps of this kind for constraints.
"""

import numpy as np

from poise.kernels.body.tree import difference
from poise.kernels.engine.engine import FIRST_TASK_LEVEL, REIMPOSES, Engine
from poise.kernels.engine.indirect_calls import (
    call_build_model,
    call_evaluate_current,
    call_solve_model,
    call_try_step,
)
from poise.kernels.engine.step_model import leave_out_below
from poise.kernels.engine.step_trial import gains_enough, is_lexicographic_gain, measure_merits
from poise.kernels.jit.compile import kernel

Array = np.ndarray

SPEED_SLACK = 1e-9
"""Factor by which both steps together may exceed the largest step."""


@kernel
def restore_levels(engine: Engine, q: Array, failed: int) -> float:
    """Follow the trial step, which made level `failed` worse, by a step of all levels above the lowest.

    Returns the size of both steps together where they are lexicographically better than none, with the posture in
    `state.trial_q` and its merits; else 0, and the model at `q` is solved again. Criteria alone are no reason for it.
    """
    state = engine.state
    count = _levels_above_the_lowest(engine)
    if not FIRST_TASK_LEVEL <= failed < count or state.may_leap[0] == 0:
        return 0.0
    middle, p = state.middle_q, state.merit.shape[0] - 1
    for i in range(q.shape[0]):
        middle[i] = state.trial_q[i]
    for i in range(state.step.shape[0]):
        state.middle_step[i] = state.trial_step[i]
    for k in range(p + 1):
        state.start_merit[k] = state.merit[k]
    call_evaluate_current(engine.calls, engine, middle)
    measure_merits(engine, engine.current, middle, state.merit)
    call_build_model(engine.calls, engine, middle)
    leave_out_below(engine, count)
    _limit_both_steps(engine)
    call_solve_model(engine.calls, engine, middle)
    call_try_step(engine.calls, engine, middle, 1.0)
    for k in range(p + 1):
        state.merit[k] = state.start_merit[k]
    state.kept_levels[0], state.kept_levels[1] = state.asked_levels[0], state.asked_levels[1]
    moved = _size_of_both(engine, q)
    if moved > 0.0 and is_lexicographic_gain(engine, moved) and gains_enough(engine, moved):
        return moved
    call_evaluate_current(engine.calls, engine, q)
    call_build_model(engine.calls, engine, q)
    call_solve_model(engine.calls, engine, q)
    return 0.0


@kernel
def _levels_above_the_lowest(engine: Engine) -> int:
    """Number of the levels above the lowest that the step solves; the criteria are the lowest if there are any."""
    kept, kind = engine.state.kept_levels, engine.level_kind
    if kept[1] == 1 and engine.criteria.summed[0] == 1:
        return kept[0]
    count = kept[0] - 1
    while count > FIRST_TASK_LEVEL and kind[count] == REIMPOSES:
        count -= 1
    return count


@kernel
def _limit_both_steps(engine: Engine) -> None:
    """Limit a step so that its sum with the previous one does not exceed the largest step."""
    limits, levels, before = engine.limits, engine.levels, engine.state.middle_step
    for k in range(before.shape[0]):
        far = min(limits.largest[k], limits.speed[k] * limits.clock[0])
        levels.lower[k] = min(0.0, max(levels.lower[k], -far - before[k]))
        levels.upper[k] = max(0.0, min(levels.upper[k], far - before[k]))


@kernel
def _size_of_both(engine: Engine, q: Array) -> float:
    """Largest entry of the way from `q` to the trial posture, written to `state.step`; 0 where it exceeds a limit."""
    state, limits, largest = engine.state, engine.limits, 0.0
    difference(engine.tree, q, state.trial_q, state.step)
    for k in range(state.step.shape[0]):
        size = abs(state.step[k])
        if size > (1.0 + SPEED_SLACK) * min(limits.largest[k], limits.speed[k] * limits.clock[0]):
            return 0.0
        largest = max(largest, size)
        for j in range(FIRST_TASK_LEVEL, state.level_step.shape[0]):
            state.level_step[j, k] = 0.0
    return largest
