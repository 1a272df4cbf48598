"""Whether a step on trial is to be taken, and what is learnt from it: see `step` for the method."""

import math

import numpy as np

from poise.kernels.engine.engine import (
    CLOSED,
    FIRST_TASKS,
    HELD,
    MASKED,
    MECHANISM,
    MET,
    PARTING,
    REIMPOSES,
    SUPPORT_EDGES,
    Engine,
    State,
)
from poise.kernels.engine.step_trial import undamped_levels
from poise.kernels.jit.compile import kernel

Array = np.ndarray

UNSEEN, ROUNDING = 3e-7, 1e-9
"""What a level that gave way may lose of its best to what the model leaves out, and to rounding."""
SHAKING = -0.3
"""Cosine between two steps below which one undoes the other."""
SOFTEST, STIFF, STIFFEST = 1e-4, 0.03, 1.0
"""Damping that shaking starts with, and the most it grows to for others' shaking and for a level's own."""
KEPT_PROMISE = 0.25
"""Share of what its rows promise that a level must gain and be known by them alone."""
OWN = 0.5
"""Share of the square of a step that makes it a level's own."""
EASED = 0.1
"""Share of its error that a level with curvature leaves when its rows alone will do."""
UNFELT = 1e-24
"""Product of the squares of two steps below which they are rounding, not shaking."""
DEMANDING = 1.15
"""How each step that shakes raises what further steps must gain."""
RELAXING = 0.9
"""How damping fades from step to step."""


@kernel
def worse_level(engine: Engine, moved: float) -> int:
    """The first level that got worse and should not have, or -1.

    A level keeps the best it had but for what cannot be seen, and loses what the model said it would: to second order
    where one above it gains, and exactly where it is solved as it stands. Bodies that are being parted have no fixed
    distance to return to, and no row foresees that parting them may take a step over the edge of a support. A level
    with goals that may not use all joints is not asked: its rows do not say what other joints do to it.
    """
    state, kind = engine.state, engine.level_kind
    before, after, record = state.merit, state.merit_after, state.record
    unseen = ROUNDING + min(moved * moved * moved, UNSEEN)
    undamped, unsure = undamped_levels(engine), 0.0
    for i in range(state.trial.shape[0]):
        unsure += state.trial[i] * state.trial[i]
    gained, parted = False, after[PARTING] < record[PARTING] - UNSEEN
    for k in range(before.shape[0] - 1):
        if after[k] > before[k] and kind[k] != MASKED:
            stands = k < undamped and k != PARTING
            small = unseen
            if stands:
                small = CLOSED if k == MECHANISM and state.gap.shape[0] > 0 else HELD
            if after[k] > record[k] + small and (stands or after[k] > MET):
                lost = after[k] - _hoped(engine, k)
                if not (stands and lost <= small) and not (
                    gained and (lost <= unsure or (parted and kind[k] == SUPPORT_EDGES))
                ):
                    return k
        gained = gained or after[k] < record[k] - UNSEEN
    p = before.shape[0] - 1
    return p if engine.criteria.summed[0] == 1 and _only_criteria_suffer(before, after) else -1


@kernel
def _hoped(engine: Engine, k: int) -> float:
    """What the model says a whole step leaves of the error of level `k`."""
    state, left = engine.state, engine.solver.left[k]
    if engine.levels.curved[k] == 0:
        return left + (1.0 - state.scale[k]) * state.merit[k]
    x, curvature = state.x, engine.levels.curvature
    total = left * left
    for i in range(x.shape[0]):
        along = 0.0
        for j in range(x.shape[0]):
            along += curvature[k, i, j] * x[j]
        total += along * x[i]
    return math.sqrt(max(0.0, total))


@kernel
def _only_criteria_suffer(before: Array, after: Array) -> bool:
    """Whether a sum of criteria got worse and no level above it better."""
    p = before.shape[0] - 1
    for k in range(p):
        if before[k] - after[k] > ROUNDING:
            return False
    return after[p] > before[p] + 1e-12 * (1.0 + abs(before[p]))


@kernel
def is_worth_it(engine: Engine, moved: float) -> bool:
    """Whether a step brings some level below its record by enough to be seen.

    A level above its record, which it may be by a little, is compared with where it is.
    """
    state, least = engine.state, engine.min_gain * engine.state.gain_factor[0] * moved
    before, record, after = state.merit, state.record, state.merit_after
    for k in range(record.shape[0]):
        best = before[k] if before[k] > record[k] + HELD else record[k]
        if best - after[k] > least:
            return True
    return False


@kernel
def is_better(state: State, slack: float) -> bool:
    """Whether the first level that changes by more than `slack` changes for the better."""
    for k in range(state.merit.shape[0]):
        gain = state.merit[k] - state.merit_after[k]
        if abs(gain) > slack:
            return gain > 0.0
    return False


@kernel
def recall(state: State) -> None:
    """Forget the records when something else is asked than at the end of the step before; contacts always are new."""
    merit, seen, record = state.merit, state.seen, state.record
    same = True
    for k in range(FIRST_TASKS, merit.shape[0]):
        same = same and merit[k] == seen[k]
    for k in range(merit.shape[0] if not same else FIRST_TASKS):
        record[k] = merit[k]
    if not same:
        state.gain_factor[0] = 1.0
        for k in range(merit.shape[0]):
            state.needs_curvature[k] = 0


@kernel
def note_model_error(engine: Engine, share: float) -> None:
    """Levels that gained little of what `share` of a step of their own promised: their rows say too little of them.

    One that gained nearly all with its curvature will do without.
    """
    state, levels, wish = engine.state, engine.levels, engine.levels.wish
    before, after, needs_curvature, curved = state.merit, state.merit_after, state.needs_curvature, levels.curved
    decided = state.decided
    p = before.shape[0] - 1
    for k in range(FIRST_TASKS, p + 1):
        if engine.level_kind[k] == REIMPOSES:
            continue
        if curved[k] == 1:
            if after[k] < EASED * before[k]:
                needs_curvature[k] = 0
            continue
        promised = 0.0
        if k < p:
            promised = before[k] - _hoped(engine, k) if before[k] > MET else -1.0
        else:
            for i in range(wish.shape[0]):
                promised += wish[i] * wish[i]
            promised = math.sqrt(promised) - engine.solver.left[p]
        own = k == p or decided[k] >= OWN * decided[p]
        if own and before[k] - after[k] < KEPT_PROMISE * share * promised:
            needs_curvature[k] = 1


@kernel
def remember(state: State, merit: Array) -> None:
    """Where a step ended, and its records: a level's new record begins the records below it anew."""
    seen, record = state.seen, state.record
    anew = False
    for k in range(merit.shape[0]):
        anew = anew or merit[k] < record[k] - HELD
        record[k] = merit[k] if anew else min(record[k], merit[k])
        seen[k] = merit[k]


@kernel
def note_oscillation(engine: Engine) -> None:
    """Damp levels that gave way, and criteria, when a step undoes the last; more when their own part of it does."""
    state, curved = engine.state, engine.levels.curved
    x, part, last, stiffness = state.x, state.part, state.last, state.stiffness
    p = stiffness.shape[0] - 1
    along, now, then = 0.0, 0.0, 0.0
    for i in range(x.shape[0]):
        along += x[i] * last[0, i]
        now += x[i] * x[i]
        then += last[0, i] * last[0, i]
        last[0, i] = x[i]
    shaken = _undoes(along, now, then)
    shakes = shaken
    for k in range(FIRST_TASKS, p + 1):
        along, now, then = 0.0, 0.0, 0.0
        for i in range(x.shape[0]):
            along += part[k, i] * last[k, i]
            now += part[k, i] * part[k, i]
            then += last[k, i] * last[k, i]
            last[k, i] = part[k, i]
        alone = _undoes(along, now, then)
        shakes = shakes or alone
        most = STIFFEST if alone else STIFF if shaken else 0.0
        if most > stiffness[k] and (curved[k] == 1 or k == p):
            stiffness[k] = min(most, max(2.0 * stiffness[k], SOFTEST))
        elif most == 0.0:
            stiffness[k] = RELAXING * stiffness[k] if stiffness[k] > 0.1 * SOFTEST else 0.0
    if shakes:
        state.gain_factor[0] *= DEMANDING


@kernel
def _undoes(along: float, now: float, then: float) -> bool:
    """Whether a step undoes the one before, from their product and their squares."""
    return now * then > UNFELT and along < SHAKING * math.sqrt(now * then)
