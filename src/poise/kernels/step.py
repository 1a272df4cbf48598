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

**Check.** A step is taken only if no level gets worse than the model said, up to the order that the model leaves out.
Otherwise it is shortened, then damped; steps that undo each other are damped too. A step that can be seen but gains
next to nothing is not taken at all: the posture comes to rest when the targets do.

**Criteria.** What freedom is left goes to the criteria. A sum of several bends (see `criteria`): its level is watched
like those of tasks, and steps that only serve it must make it smaller.

**Saddles.** Where a level's curvature is negative in some direction and nothing else moves, the step leaps along it.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.compile import kernel
from poise.kernels.contacts import Contacts, fill_contacts, fill_partings, parting_error
from poise.kernels.couplings import coupling_value
from poise.kernels.criteria import Criteria, add_bend, criteria_value, fill_wish
from poise.kernels.far_call import far_clamp, far_stance
from poise.kernels.goal_rows import fill_fences, fill_rows
from poise.kernels.goals import Goals, Stance
from poise.kernels.handle import Handle
from poise.kernels.levels import GIVES_WAY, Levels, LevelsWork, correct_levels, resume_levels
from poise.kernels.limits import Bounds
from poise.kernels.pulls import Pulls, fill_curvature
from poise.kernels.step_limits import (
    PER_BALL,
    StepLimits,
    coupling_row,
    fill_ball_limits,
    fill_box,
    fill_couplings,
)
from poise.kernels.tree import Tree, integrate

Array = np.ndarray

MECHANISM, PARTING, FIRST_TASKS = 0, 1, 2
"""Levels: what never gives way, what parts touching bodies, and where tasks begin."""

SHORTENINGS = 4
DAMPINGS = 3
CORRECTIONS = 4
EXACT = 3e-7
"""Error of a met level that needs no correction."""
MET = 1e-6
"""Error up to which a level counts as met."""
HELD = 3e-6
"""What a level solved as it stands may lose in a step beyond what was planned."""
EASY = 0.01
"""Error up to which a level is not damped [m or rad]."""
VISIBLE = 1e-4
"""Steps smaller than this are taken whether they are worth it or not [rad or m]."""
SHAKING, SOFTEST, STIFFEST = -0.3, 1e-4, 1.0
"""Cosine between two steps that counts as shaking, and the damping it starts and ends with."""
UNFELT = 1e-24
"""Product of the squares of two steps below which they are rounding, not shaking."""
RELAXING = 0.98
"""How damping fades from step to step."""
TRUST = 2e-5
"""Least damping of bent criteria, whose curvature may vanish."""
LEAP = 0.1
"""Size of a step off a saddle [rad or m]."""


class State(NamedTuple):
    """What the engine remembers from step to step, and numbers to report."""

    x: Array
    """(nv,) the step."""
    dx: Array
    """(nv,) its correction."""
    trial: Array
    """(nv,) a shortened step."""
    last: Array
    """(nv,) the step before."""
    q: Array
    """(nq,) posture after the step."""
    scale: Array
    """(p,) share of each level's errors that a step aims at."""
    merit: Array
    """(p + 1,) size of each level's weighted error before the step, and value of the criteria."""
    merit_after: Array
    """(p + 1,) the same after it."""
    stiffness: Array
    """(p + 1,) extra damping of each level, grown by failure and shaking."""
    curved: Array
    """(p + 1,) 1 for levels that gave way in the step."""
    missing: Array
    """(m,) what a correction has to add to each row."""
    counts: Array
    """(4,) steps, re-solves, shortened steps, steps not taken."""


class Engine(NamedTuple):
    """A figure and what is asked of it, compiled."""

    tree: Tree
    bounds: Bounds
    limits: StepLimits
    goals: Goals
    contacts: Contacts
    criteria: Criteria
    levels: Levels
    solver: LevelsWork
    pulls: Pulls
    here: Stance
    there: Stance
    state: State
    skip: int
    """Rows before the first goal's: partings and equality couplings."""
    farthest: float
    """Largest error a step aims at [m or rad]."""
    choosy: Array
    """(p + 1,) 1 for levels with goals that may move some joints only."""
    calls: Array
    """Addresses for `far_call`."""
    worth: float
    """Error that a visible step must remove from some level, per size of the step."""


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
    far_stance(engine.calls, engine.tree, engine.goals, q, engine.here)
    _measure(engine, engine.here, q, state.merit)
    _prepare(engine, q)
    moved = 0.0
    for _ in range(DAMPINGS):
        solve_model(engine, q)
        failed, share = 0, 1.0
        while failed >= 0 and share > 0.5**SHORTENINGS:
            moved = _try(engine, q, share)
            failed = _worse_level(engine, moved)
            if failed >= 0:
                counts[2] += 1
                share *= 0.5
        if failed < 0:
            break
        counts[1] += 1
        for k in range(max(failed, _undamped_levels(engine)), stiffness.shape[0]):
            stiffness[k] = min(10.0 * STIFFEST, max(8.0 * stiffness[k], 10.0 * SOFTEST))
            damping[k] = math.sqrt(damping[k] * damping[k] + stiffness[k])
        moved = 0.0
    if moved > VISIBLE and not _is_worth_it(engine, moved):
        moved = 0.0
    if moved <= VISIBLE and engine.solver.escape_curvature[0] < 0.0:
        moved = _leap_or_keep(engine, q, moved)
    if moved == 0.0:
        counts[3] += 1
        moved = _meet_again(engine, q)
        if moved == 0.0:
            return 0.0
    _notice_shaking(engine)
    for i in range(q.shape[0]):
        q[i] = state.q[i]
    return moved


@kernel
def _meet_again(engine: Engine, q: Array) -> float:
    """Where no step is taken, only give the levels that are solved as they stand back what earlier steps cost them."""
    state = engine.state
    x, merit = state.x, state.merit
    lost = 0.0
    for k in range(_met_levels(engine)):
        lost = max(lost, merit[k])
    if lost <= EXACT:
        return 0.0
    for i in range(x.shape[0]):
        x[i] = 0.0
    moved = _try(engine, q, 1.0)
    return moved if _is_better(state, 0.0) else 0.0


@kernel
def begin(
    engine: Engine,
    # outputs
    q: Array,
) -> int:
    """Bring a posture `q` (nq,) inside the limits; -1 when it is not finite, 0 when no legal one was found near it."""
    for i in range(q.shape[0]):
        if not math.isfinite(q[i]):
            return -1
    return far_clamp(engine.calls, engine.bounds, engine.state.x[:0], q)


@kernel
def _is_worth_it(engine: Engine, moved: float) -> bool:
    """Whether a step removes enough error from some level to be seen."""
    before, after, worth = engine.state.merit, engine.state.merit_after, engine.worth
    most = 0.0
    for k in range(before.shape[0]):
        most = max(most, before[k] - after[k])
    return most > worth * moved


@kernel
def _notice_shaking(engine: Engine) -> None:
    """Damp levels that gave way, and criteria, when a step undoes the last one; relax slowly when not."""
    x, last, stiffness, curved = engine.state.x, engine.state.last, engine.state.stiffness, engine.levels.curved
    along, now, then = 0.0, 0.0, 0.0
    for i in range(x.shape[0]):
        along += x[i] * last[i]
        now += x[i] * x[i]
        then += last[i] * last[i]
        last[i] = x[i]
    p = stiffness.shape[0] - 1
    shakes = now * then > UNFELT and along < SHAKING * math.sqrt(now * then)
    for k in range(FIRST_TASKS, p + 1):
        if shakes and (curved[k] == 1 or k == p):
            stiffness[k] = min(STIFFEST, max(2.0 * stiffness[k], SOFTEST))
        elif not shakes:
            stiffness[k] = RELAXING * stiffness[k] if stiffness[k] > 0.1 * SOFTEST else 0.0


@kernel
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
        moved = _try(engine, q, 1.0)
        if _is_better(state, HELD) and moved > 0.0:
            return moved
    return 0.0


@kernel
def _is_better(state: State, slack: float) -> bool:
    """Whether the first level that changes by more than `slack` changes for the better."""
    for k in range(state.merit.shape[0]):
        gain = state.merit[k] - state.merit_after[k]
        if abs(gain) > slack:
            return gain > 0.0
    return False


@kernel
def _measure(engine: Engine, stance: Stance, q: Array, merit: Array) -> None:
    """Size of the weighted error of every level, couplings included, and the criteria's value."""
    start, weight, error, skip = engine.levels.start, engine.goals.weight, stance.error, engine.skip
    bounds, hard = engine.bounds, engine.limits.hard
    total = 0.0
    for i in range(hard.shape[0]):
        gap = coupling_value(bounds, hard[i], q) - bounds.coupling_lower[hard[i]]
        total += gap * gap
    merit[MECHANISM] = math.sqrt(total)
    merit[PARTING] = parting_error(engine.here, stance, engine.contacts)
    for k in range(FIRST_TASKS, start.shape[0] - 1):
        total = 0.0
        for i in range(start[k] - skip, start[k + 1] - skip):
            e = weight[i] * error[i]
            total += e * e
        merit[k] = math.sqrt(total)
    merit[start.shape[0] - 1] = criteria_value(engine.tree, engine.criteria, q)


@kernel
def _prepare(engine: Engine, q: Array) -> None:
    """Rows, targets, damping and limits of the model at `q`."""
    levels, goals, here, state, limits, bounds = (
        engine.levels, engine.goals, engine.here, engine.state, engine.limits, engine.bounds
    )  # fmt: skip
    tree, contacts, skip = engine.tree, engine.contacts, engine.skip
    rows, target, start, lower, upper = levels.rows, levels.target, levels.start, levels.lower, levels.upper
    n, p = rows.shape[1], start.shape[0] - 1
    fill_rows(tree, goals, here, skip, rows)
    start[FIRST_TASKS] = skip
    start[PARTING] = fill_partings(tree, here, contacts, skip, engine.farthest, rows, target)
    start[MECHANISM] = start[PARTING] - limits.hard.shape[0]
    for i in range(limits.hard.shape[0]):
        coupling, row = limits.hard[i], start[MECHANISM] + i
        coupling_row(limits, bounds, coupling, q, row, rows)
        target[row] = bounds.coupling_lower[coupling] - coupling_value(bounds, coupling, q)
    fill_box(limits, bounds, q, lower, upper)
    fill_ball_limits(limits, bounds, q, n, levels.general, lower, upper)
    at = PER_BALL * limits.ball_dof.shape[0]
    fill_couplings(limits, bounds, q, at, n, levels.general, lower, upper)
    at += limits.soft.shape[0]
    fill_fences(tree, goals, here, at, n, levels.general, lower, upper)
    at += goals.corner_node.shape[0]
    fill_contacts(tree, here, contacts, at, n, levels.general, lower, upper)
    for k in range(FIRST_TASKS, p):
        aim_level(engine, k)
    for k in range(p + 1):
        levels.curved[k] = 0
        state.curved[k] = 0
    fill_wish(tree, engine.criteria, q, levels.wish)


@kernel
def aim_level(engine: Engine, k: int) -> None:
    """Targets and damping of task level `k`: errors scaled down together to what a linear model may be asked."""
    start, target, weight, error, damping = (
        engine.levels.start, engine.levels.target, engine.goals.weight, engine.here.error, engine.levels.damping
    )  # fmt: skip
    skip, state, gain = engine.skip, engine.state, engine.goals.gain
    worst = 0.0
    for i in range(start[k] - skip, start[k + 1] - skip):
        worst = max(worst, abs(error[i]))
    share = min(1.0, engine.farthest / worst) if worst > 0.0 else 1.0
    state.scale[k] = share
    for i in range(start[k], start[k + 1]):
        target[i] = share * gain[i - skip] * weight[i - skip] * error[i - skip]
    damping[k] = math.sqrt(max(0.0, share * worst - EASY))


@kernel
def solve_model(engine: Engine, q: Array) -> None:
    """Best step of the model; a level that gives way is solved again with its curvature."""
    levels, solver, state = engine.levels, engine.solver, engine.state
    x, target, weight, error, start, skip = (
        state.x, levels.target, engine.goals.weight, engine.here.error, levels.start, engine.skip
    )  # fmt: skip
    p = start.shape[0] - 1
    summed = engine.criteria.summed[0] == 1
    for k in range(p + 1):
        watched = (k < p and state.merit[k] > MET) or (k == p and summed)
        levels.watch[k] = 1 if k >= FIRST_TASKS and watched else 0
        if k >= FIRST_TASKS and levels.curved[k] == 1:
            levels.damping[k] = _bent_damping(state, k)
    if not summed:
        levels.damping[p] = math.sqrt(state.stiffness[p])
    for i in range(x.shape[0]):
        x[i] = 0.0
    status = resume_levels(levels, solver, -1, x)
    while status == GIVES_WAY:
        k = solver.stopped[0]
        if k < p:
            share = 1.0 / state.scale[k]
            for i in range(solver.pull.shape[0]):
                solver.pull[i] *= share
            for i in range(start[k], start[k + 1]):
                target[i] = weight[i - skip] * error[i - skip]
        fill_curvature(engine.tree, engine.goals, engine.here, engine.pulls, skip, solver.pull, levels.curvature[k])
        if k == p:
            add_bend(engine.tree, engine.criteria, q, levels.curvature[k])
        levels.curved[k] = 1
        state.curved[k] = 1
        levels.damping[k] = _bent_damping(state, k)
        status = resume_levels(levels, solver, k, x)
    if summed and levels.curved[p] == 0:
        _bend_granted_wish(engine, q, p)
        resume_levels(levels, solver, p, x)


@kernel
def _bend_granted_wish(engine: Engine, q: Array, p: int) -> None:
    """Curvature of criteria that no task stands in the way of."""
    levels, bend = engine.levels, engine.levels.curvature[p]
    for i in range(bend.shape[0]):
        for j in range(bend.shape[0]):
            bend[i, j] = 0.0
    add_bend(engine.tree, engine.criteria, q, bend)
    levels.curved[p] = 1
    engine.state.curved[p] = 1
    levels.damping[p] = _bent_damping(engine.state, p)


@kernel
def _bent_damping(state: State, k: int) -> float:
    """Damping of level `k` with its curvature."""
    least = TRUST if k == state.stiffness.shape[0] - 1 else 0.0
    return math.sqrt(state.stiffness[k] + least)


@kernel
def _try(engine: Engine, q: Array, share: float) -> float:
    """Take `share` of the step into `state.q`, corrected, and measure the levels there; returns its largest entry."""
    tree, goals, there, state, bounds = engine.tree, engine.goals, engine.there, engine.state, engine.bounds
    x, dx, trial, new = state.x, state.dx, state.trial, state.q
    n = x.shape[0]
    for i in range(n):
        trial[i] = share * x[i]
    _land(engine.calls, tree, bounds, q, trial, new)
    far_stance(engine.calls, tree, goals, new, there)
    met = _met_levels(engine)
    for _ in range(CORRECTIONS):
        if _find_missing(engine, new, met, share) <= EXACT:
            break
        if not correct_levels(engine.levels, engine.solver, met, state.missing, trial, dx):
            break
        for i in range(n):
            trial[i] += dx[i]
        _land(engine.calls, tree, bounds, q, trial, new)
        far_stance(engine.calls, tree, goals, new, there)
    _measure(engine, there, new, state.merit_after)
    largest = 0.0
    for i in range(n):
        largest = max(largest, abs(trial[i]))
    return largest


@kernel
def _land(calls: Array, tree: Tree, bounds: Bounds, q: Array, x: Array, new: Array) -> None:
    """new = q ⊕ x, back inside the limits that are curved."""
    integrate(tree, q, x, new)
    far_clamp(calls, bounds, q, new)


@kernel
def _undamped_levels(engine: Engine) -> int:
    """How many levels, from the top, are solved as they stand: neither damped nor curved."""
    curved, damping = engine.levels.curved, engine.levels.damping
    p = damping.shape[0] - 1
    for k in range(p):
        if curved[k] == 1 or damping[k] > 0.0:
            return k
    return p


@kernel
def _met_levels(engine: Engine) -> int:
    """How many levels, from the top, the model met."""
    left, undamped = engine.solver.left, _undamped_levels(engine)
    for k in range(undamped):
        if left[k] > MET:
            return k
    return undamped


@kernel
def _find_missing(engine: Engine, new: Array, met: int, share: float) -> float:
    """What the rows of the met levels lack after a step: actual error less the part not aimed at; the largest."""
    state, start, skip = engine.state, engine.levels.start, engine.skip
    weight, gain = engine.goals.weight, engine.goals.gain
    here, there, missing, bounds, hard = (
        engine.here.error, engine.there.error, state.missing, engine.bounds, engine.limits.hard
    )  # fmt: skip
    worst = 0.0
    for i in range(hard.shape[0]):
        row = start[MECHANISM] + i
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


@kernel
def _worse_level(engine: Engine, moved: float) -> int:
    """The first level that got worse and should not have, or -1.

    A level that is solved as it stands keeps what it has, but for bodies that are being parted, whose distance is not a
    fixed number to return to. Another may lose what the model cannot see, third order in
    the step, or what the model said it would lose to the levels above, to second order. A level with goals that may
    not use all joints is not asked: its rows do not say what other joints do to it.
    """
    state, left, curved, choosy = engine.state, engine.solver.left, engine.levels.curved, engine.choosy
    before, after, scale = state.merit, state.merit_after, state.scale
    unseen, unsure = 1e-9 + moved * moved * moved, moved * moved
    undamped = _undamped_levels(engine)
    for k in range(before.shape[0] - 1):
        hoped = left[k] if curved[k] == 1 else left[k] + (1.0 - scale[k]) * before[k]
        if k < undamped and choosy[k] == 0 and k != PARTING:
            if after[k] > max(before[k], hoped) + HELD:
                return k
        elif choosy[k] == 0 and after[k] > MET and after[k] > before[k] + unseen and after[k] > hoped + unsure:
            return k
    p = before.shape[0] - 1
    return p if engine.criteria.summed[0] == 1 and _only_criteria_suffer(before, after) else -1


@kernel
def _only_criteria_suffer(before: Array, after: Array) -> bool:
    """Whether a sum of criteria got worse and no level above it better."""
    p = before.shape[0] - 1
    for k in range(p):
        if before[k] - after[k] > HELD:
            return False
    return after[p] > before[p] + 1e-12 * (1.0 + abs(before[p]))


@kernel
def bind(parts: Engine) -> Engine:
    """A handle on an engine, for the functions below."""
    return Handle(  # type: ignore[return-value]
        parts.tree,
        parts.bounds,
        parts.limits,
        parts.goals,
        parts.contacts,
        parts.criteria,
        parts.levels,
        parts.solver,
        parts.pulls,
        parts.here,
        parts.there,
        parts.state,
        parts.skip,
        parts.farthest,
        parts.choosy,
        parts.calls,
        parts.worth,
    )


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
