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

**Check.** A step is taken only if no level gets worse before a higher one got better, up to third order in the step,
which is what the model leaves out. Otherwise it is shortened, then damped, and if nothing helps the posture stays: it
comes to rest when the targets do.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.clamp import clamp
from poise.kernels.compile import kernel
from poise.kernels.contacts import Contacts, fill_contacts, fill_partings
from poise.kernels.couplings import coupling_value
from poise.kernels.criteria import Criteria, fill_wish
from poise.kernels.goal_rows import fill_fences, fill_rows
from poise.kernels.goals import Goals, Stance, take_stance
from poise.kernels.handle import Handle
from poise.kernels.levels import GIVES_WAY, Levels, LevelsWork, correct_levels, resume_levels, solve_levels
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
CORRECTIONS = 2
EXACT = 1e-9
"""Error of a met level that needs no correction."""
EASY = 0.01
"""Error up to which a level is not damped [m or rad]."""


class State(NamedTuple):
    """What the engine remembers from step to step, and numbers to report."""

    x: Array
    """(nv,) the step."""
    dx: Array
    """(nv,) its correction."""
    trial: Array
    """(nv,) a shortened step."""
    q: Array
    """(nq,) posture after the step."""
    scale: Array
    """(p,) share of each level's errors that a step aims at."""
    merit: Array
    """(p + 1,) size of each level's weighted error before the step, and value of the criteria."""
    merit_after: Array
    """(p + 1,) the same after it."""
    stiffness: Array
    """(p + 1,) extra damping ν of each level, grown by failure."""
    curved: Array
    """(p + 1,) 1 for levels that gave way in the step."""
    missing: Array
    """(m,) what a correction has to add to each row."""
    moved: Array
    """(1,) largest entry of the step taken."""
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


@kernel
def take_step(
    engine: Handle,
    # outputs
    q: Array,
) -> float:
    """Move `q` (nq,), a legal posture, by one step; returns how far its fastest joint went [rad or m]."""
    here, there, state, tree, goals = engine.here, engine.there, engine.state, engine.tree, engine.goals
    counts, stiffness = state.counts, state.stiffness
    counts[0] += 1
    take_stance(tree, goals, q, here)
    _measure(engine, here, q, state.merit)
    _prepare(engine, q)
    p = stiffness.shape[0] - 1
    for _attempt in range(DAMPINGS):
        solve_model(engine, q)
        share = 1.0
        failed = -1
        for _ in range(SHORTENINGS):
            moved = _try(engine, q, share)
            failed = _worse_level(state, moved, p)
            if failed < 0:
                break
            counts[2] += 1
            share *= 0.5
        if failed < 0:
            for k in range(p + 1):
                stiffness[k] = 0.125 * stiffness[k] if stiffness[k] > 1e-7 and share == 1.0 else stiffness[k]
            for i in range(q.shape[0]):
                q[i] = state.q[i]
            state.moved[0] = moved
            return moved
        for k in range(failed, p + 1):
            stiffness[k] = max(8.0 * stiffness[k], 1e-3)
        counts[1] += 1
    counts[3] += 1
    state.moved[0] = 0.0
    return 0.0


@kernel
def _measure(engine: Handle, stance: Stance, q: Array, merit: Array) -> None:
    """Size of the weighted error of every level, couplings included, and the criteria's value."""
    start, weight, error, skip = engine.levels.start, engine.goals.weight, stance.error, engine.skip
    bounds, hard = engine.bounds, engine.limits.hard
    total = 0.0
    for i in range(hard.shape[0]):
        gap = coupling_value(bounds, hard[i], q) - bounds.coupling_lower[hard[i]]
        total += gap * gap
    merit[MECHANISM] = math.sqrt(total)
    merit[PARTING] = 0.0
    for k in range(FIRST_TASKS, start.shape[0] - 1):
        total = 0.0
        for i in range(start[k] - skip, start[k + 1] - skip):
            e = weight[i] * error[i]
            total += e * e
        merit[k] = math.sqrt(total)


@kernel
def _prepare(engine: Handle, q: Array) -> None:
    """Rows, targets, damping and limits of the model at `q`."""
    levels, goals, here, state, limits, bounds = (
        engine.levels, engine.goals, engine.here, engine.state, engine.limits, engine.bounds
    )  # fmt: skip
    tree, contacts, skip = engine.tree, engine.contacts, engine.skip
    rows, target, start, damping, lower, upper = (
        levels.rows, levels.target, levels.start, levels.damping, levels.lower, levels.upper
    )  # fmt: skip
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
    fill_wish(tree, engine.criteria, here, q, levels.wish)


@kernel
def aim_level(engine: Handle, k: int) -> None:
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
    damping[k] = math.sqrt(max(0.0, share * worst - EASY) + state.stiffness[k])


@kernel
def solve_model(engine: Handle, q: Array) -> None:
    """Best step of the model; a level that gives way is solved again with its curvature."""
    levels, solver, state = engine.levels, engine.solver, engine.state
    x, target, weight, error, start, skip = (
        state.x, levels.target, engine.goals.weight, engine.here.error, levels.start, engine.skip
    )  # fmt: skip
    p = start.shape[0] - 1
    for k in range(p + 1):
        levels.watch[k] = 1 if k >= FIRST_TASKS and k < p else 0
        if k >= FIRST_TASKS and k < p and levels.curved[k] == 1:
            levels.damping[k] = math.sqrt(state.stiffness[k])
    for i in range(x.shape[0]):
        x[i] = 0.0
    status = solve_levels(levels, solver, x)
    while status == GIVES_WAY:
        k = solver.stopped[0]
        if k < p:
            share = 1.0 / state.scale[k]
            for i in range(solver.pull.shape[0]):
                solver.pull[i] *= share
            for i in range(start[k], start[k + 1]):
                target[i] = weight[i - skip] * error[i - skip]
        fill_curvature(engine.tree, engine.goals, engine.here, engine.pulls, skip, solver.pull, levels.curvature[k])
        levels.curved[k] = 1
        state.curved[k] = 1
        levels.damping[k] = math.sqrt(state.stiffness[k])
        status = resume_levels(levels, solver, k, x)


@kernel
def _try(engine: Handle, q: Array, share: float) -> float:
    """Take `share` of the step into `state.q`, corrected, and measure the levels there; returns its largest entry."""
    tree, goals, there, state, bounds = engine.tree, engine.goals, engine.there, engine.state, engine.bounds
    x, dx, trial, new = state.x, state.dx, state.trial, state.q
    n = x.shape[0]
    for i in range(n):
        trial[i] = share * x[i]
    _land(tree, bounds, q, trial, new)
    take_stance(tree, goals, new, there)
    met = _met_levels(engine)
    for _ in range(CORRECTIONS):
        if _find_missing(engine, new, met, share) <= EXACT:
            break
        if not correct_levels(engine.levels, engine.solver, met, state.missing, trial, dx):
            break
        for i in range(n):
            trial[i] += dx[i]
        _land(tree, bounds, q, trial, new)
        take_stance(tree, goals, new, there)
    _measure(engine, there, new, state.merit_after)
    largest = 0.0
    for i in range(n):
        largest = max(largest, abs(trial[i]))
    return largest


@kernel
def _land(tree: Tree, bounds: Bounds, q: Array, x: Array, new: Array) -> None:
    """new = q ⊕ x, back inside the limits that are curved."""
    integrate(tree, q, x, new)
    clamp(bounds, q, new)


@kernel
def _met_levels(engine: Handle) -> int:
    """How many levels, from the top, the model met exactly."""
    left, curved, damping = engine.solver.left, engine.levels.curved, engine.levels.damping
    p = damping.shape[0] - 1
    for k in range(p):
        if curved[k] == 1 or damping[k] > 0.0 or left[k] > EXACT:
            return k
    return p


@kernel
def _find_missing(engine: Handle, new: Array, met: int, share: float) -> float:
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
def _worse_level(state: State, moved: float, p: int) -> int:
    """The level that got worse before a higher one got better, or -1.

    A level may lose what the model cannot see: third order in the step.
    """
    slack = 1e-9 + moved * moved * moved
    for k in range(p):
        before, after = state.merit[k], state.merit_after[k]
        if after > before + slack and after > 1e-6:
            return k
        if before - after > slack:
            return -1
    return -1


@kernel
def bind(parts: Engine) -> Handle:
    """A handle on an engine, for the functions below."""
    return Handle(
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
    )


@kernel
def settle(engine: Handle, q: Array, steps: int, tolerance: float) -> tuple[int, float]:
    """Step until the posture `q` rests; returns how many steps it took and how far the last one went."""
    moved = math.inf
    for step in range(steps):
        moved = take_step(engine, q)
        if moved <= tolerance:
            return step + 1, moved
    return steps, moved
