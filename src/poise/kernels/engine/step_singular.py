"""Directions that the rows of a level call free although its curvature forbids them.

Where the rows of a level depend on each other, or leave no freedom inside the limits that are reached, some combination
of them vanishes: Σ_i ν_i a_i = 0 over the rows a_i of the level and of those above, but for what limits take up. To
first order a step x then costs nothing along ν, and no correction can bring back what it costs to second order,

    ½ xᵀ S x,    S = Σ_i ν_i ∇²φ_i.

A robot with five joints in each leg and both feet held flat is an example: turning its pelvis about the vertical moves
neither foot to first order, and pulls one of them off the ground to second order, whichever way it turns.

Shortening such a step does not help, as what it gains shrinks as fast. It is solved again instead, with S x · y = 0 as
a further limit for the levels below: they may use every direction but the one that failed.
"""

import math

import numpy as np

from poise.kernels.engine.engine import FIRST_TASKS, MECHANISM, MET, Engine
from poise.kernels.engine.step_trial import find_missing, undamped_levels
from poise.kernels.goals.goal_curvature import fill_curvature
from poise.kernels.jit.compile import kernel
from poise.kernels.levels.levels import SLIGHT, correct_damped
from poise.kernels.levels.multipliers import balance_pull
from poise.kernels.loops.closure_curvature import add_closure_curvature

Array = np.ndarray

MOST_EXCLUDED = 4
"""Directions that one step can exclude."""
UNCORRECTABLE = 0.1
"""Share of what a level lost, in the best correction, that makes the loss one of curvature."""
FLAT = 1e-9
"""Change of the rows along a step, against the size of the step, that counts as none [1/rad or 1/m]."""


@kernel
def open_directions(engine: Engine) -> None:
    """Exclude no direction."""
    lower, upper, excluded = engine.levels.lower, engine.levels.upper, engine.state.excluded
    first = lower.shape[0] - MOST_EXCLUDED
    for i in range(first, lower.shape[0]):
        lower[i], upper[i] = -math.inf, math.inf
    excluded[0] = 0


@kernel
def exclude_direction(engine: Engine, k: int, share: float) -> bool:
    """Exclude the direction in which `share` of the step cost level `k` what no correction brings back.

    False when level `k` was not met before the step, when its rows do not say all that it asks (edges of a support,
    chosen joints), when its loss is not one of curvature, or when no more directions can be excluded. Factors of the
    last sweep are used up.
    """
    state, levels, solver = engine.state, engine.levels, engine.solver
    count, n, x, pull = state.excluded[0], state.x.shape[0], state.x, solver.pull
    holds = FIRST_TASKS <= k < undamped_levels(engine) and state.merit[k] <= MET and engine.level_kind[k] == 0
    if not holds or count == MOST_EXCLUDED or not _find_uncorrectable(engine, k, share):
        return False
    balance_pull(solver.tables, solver.lines, solver.whole, k)
    curvature = levels.curvature[k]
    fill_curvature(engine.tree, engine.goals, engine.current, engine.node_forces, engine.skip, pull, curvature)
    if state.gap.shape[0] > 0:
        here, first = engine.current, levels.start[MECHANISM]
        add_closure_curvature(
            engine.tree, engine.closures, here.position, here.rotation, here.axes, pull, first, state.couple, curvature
        )
    at = levels.general.shape[0] - MOST_EXCLUDED + count
    row, size, along, length = levels.general[at], 0.0, 0.0, 0.0
    for i in range(n):
        row[i] = 0.0
        for j in range(n):
            row[i] += curvature[i, j] * x[j]
        size += row[i] * row[i]
        along += row[i] * x[i]
        length += x[i] * x[i]
    if abs(along) <= FLAT * length:
        return False
    for i in range(n):
        row[i] /= math.sqrt(size)
    levels.lower[n + at], levels.upper[n + at], levels.limit_level[n + at] = 0.0, 0.0, k + 1
    state.excluded[0] += 1
    return True


@kernel
def _find_uncorrectable(engine: Engine, k: int, share: float) -> bool:
    """What no correction smaller than the step brings back of the loss of level `k`, as a pull of its rows of length 1.

    The correction is damped: combinations of rows that change within the step by as much as they are worth are left as
    they are, others are corrected.
    """
    state, levels, solver = engine.state, engine.levels, engine.solver
    rows, missing, dx, pull, start = levels.rows, state.missing, state.dx, solver.pull, levels.start
    find_missing(engine, state.q, k + 1, share, 0.0)
    lost, length, left = 0.0, 0.0, 0.0
    for r in range(start[k], start[k + 1]):
        lost += missing[r] * missing[r]
    for i in range(dx.shape[0]):
        length += state.trial[i] * state.trial[i]
    if lost == 0.0 or length == 0.0:
        return False
    correct_damped(levels, solver, k + 1, missing, state.trial, SLIGHT * math.sqrt(length), dx)
    for r in range(pull.shape[0]):
        pull[r] = 0.0
    for r in range(start[k], start[k + 1]):
        pull[r] = missing[r]
        for i in range(dx.shape[0]):
            pull[r] -= rows[r, i] * dx[i]
        left += pull[r] * pull[r]
    if left <= UNCORRECTABLE * UNCORRECTABLE * lost:
        return False
    for r in range(start[k], start[k + 1]):
        pull[r] /= math.sqrt(left)
    return True
