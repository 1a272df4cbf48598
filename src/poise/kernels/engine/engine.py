"""The data of the engine: a figure, its goals and limits, and the workspace of a step. See `step` for the method."""

from typing import NamedTuple

import numpy as np

from poise.kernels.body.limits import Bounds
from poise.kernels.body.step_limits import StepLimits
from poise.kernels.body.tree import Tree
from poise.kernels.goals.contacts import Contacts
from poise.kernels.goals.criteria import Criteria
from poise.kernels.goals.goal_curvature import NodeForces
from poise.kernels.goals.goals import Evaluation, Goals
from poise.kernels.jit.memory import define_handle
from poise.kernels.levels.levels import LevelsSolver
from poise.kernels.levels.workspace import Levels
from poise.kernels.loops.closure import Closures

Array = np.ndarray

MECHANISM_LEVEL, SEPARATION_LEVEL, FIRST_TASK_LEVEL = 0, 1, 2
"""Indices of levels: loop closures with equality couplings; separation of bodies that are too near; the first tasks."""
MASKED, SUPPORT_EDGES, REIMPOSES = 1, 2, 3
"""Kinds of level: the Jacobian is masked to some joints; the edges of a support polygon bound the level; the level
re-imposes the masked level above it on all joints. Other levels have kind 0."""
MET_ERROR = 1e-6
"""Size of its weighted error up to which a level counts as met."""
EXACT_LEVEL_SLACK = 1e-6
"""Error, beyond the prediction, that steps may add in total to a level solved without damping and curvature."""
LOOP_SLACK = 1e-11
"""Residual that steps may add in total to the loop closures [m]."""


class State(NamedTuple):
    """Workspace of a step, and the quantities that the engine keeps from step to step."""

    step: Array
    """(nv,) the step x that solves the model."""
    correction: Array
    """(nv,) correction of the trial step."""
    trial_step: Array
    """(nv,) the step on trial: the whole step or a fraction of it, corrected."""
    level_step: Array
    """(p + 1, nv) the part of the step that each level with curvature, and the criteria, added."""
    last_level_step: Array
    """(p + 1, nv) `level_step` of the previous step; line 0 holds the whole previous step."""
    decided_square: Array
    """(p + 1,) squared length of the part of the step decided down to each level; last, that of the whole step."""
    trial_q: Array
    """(nq,) posture after the trial step."""
    target_share: Array
    """(p,) share of each level's errors that a step aims to remove."""
    merit: Array
    """(p + 1,) size of each level's weighted error before the step, and value of the criteria."""
    merit_after: Array
    """(p + 1,) the same after the trial step."""
    last_merit: Array
    """(p + 1,) the same at the end of the previous step; a different value now means that the targets have changed."""
    best_merit: Array
    """(p + 1,) least merit of each level since the targets changed or a level above improved."""
    rest_merit: Array
    """(p + 1,) least merit of each level at the places where the figure came to rest in a solve."""
    rest_q: Array
    """(nq,) posture in which the figure last came to rest in a solve."""
    extra_damping: Array
    """(p + 1,) squared damping added to each level after rejected steps and oscillation; decays from step to step."""
    needs_curvature: Array
    """(p + 1,) 1 for levels that gained less than their rows predicted, since the targets last changed."""
    loop_residual: Array
    """(r,) residual of each row of the loop closures [m]."""
    couple: Array
    """(3, 3) workspace of the curvature of the loops."""
    row_correction: Array
    """(m,) change of each row that a correction has to make."""
    gain_factor: Array
    """(1,) factor on the least gain of a step, raised by oscillation since the targets last changed."""
    excluded_count: Array
    """(1,) number of directions excluded from the step: see `step_model`."""
    asked_levels: Array
    """(2,) number of levels, from the top, that steps may solve, and 1 if they may minimise the criteria, else 0."""
    kept_levels: Array
    """(2,) number of levels that the present step solves, and 1 if it minimises the criteria too, else 0."""
    may_leap: Array
    """(1,) 1 if a step may look beyond its model, else 0, since what is measured between steps does not reach there: to
    leave a saddle point while the figure moves, and to restore the levels that it cost something."""
    leap_pause: Array
    """(2,) steps until a figure that moves next tries to leave a saddle point, and the pause after its last failure."""
    fewer_levels_pause: Array
    """(2,) the same for steps without the lowest levels, of a figure that follows targets and hardly moves."""
    follows: Array
    """(1,) 1 while the figure follows targets from step to step, 0 in a solve."""
    saddle_merit: Array
    """(p + 1,) merits of a trial step, while others are compared with it that leave a saddle point."""
    kept_trial: Array
    """(nq + nv,) posture and step of a small step, kept while a step without the lower levels is tried."""
    middle_q: Array
    """(nq,) posture after a step that is followed by a restoring one: see `step_restore`."""
    middle_step: Array
    """(nv,) the first of these steps."""
    start_merit: Array
    """(p + 1,) merits before both."""


class Engine(NamedTuple):
    """A figure with its goals, limits and criteria, compiled, and the workspace of its solver."""

    tree: Tree
    bounds: Bounds
    limits: StepLimits
    goals: Goals
    contacts: Contacts
    closures: Closures
    criteria: Criteria
    levels: Levels
    solver: LevelsSolver
    node_forces: NodeForces
    current: Evaluation
    """Errors, node frames and Jacobian ingredients at the posture from which a step starts."""
    trial: Evaluation
    """Errors and node frames at the posture to which the trial step leads."""
    state: State
    skip: int
    """Number of rows before those of the first goal, reserved for loops, equality couplings and separations."""
    max_target_error: float
    """Largest error that a step aims to remove [m or rad]."""
    level_kind: Array
    """(p + 1,) MASKED, REIMPOSES, SUPPORT_EDGES or 0: see MASKED."""
    calls: Array
    """Addresses of the kernels in `indirect_calls`."""
    min_gain: float
    """Error that a visible step must remove from some level, per size of the step."""
    free: Array
    """(nv,) 1 for the velocities that a step may change, else 0; empty if it may change all."""


define_handle(Engine._fields)
