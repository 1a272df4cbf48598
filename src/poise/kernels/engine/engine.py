"""What a step of the engine works on: see `step` for the method."""

from typing import NamedTuple

import numpy as np

from poise.kernels.body.limits import Bounds
from poise.kernels.body.step_limits import StepLimits
from poise.kernels.body.tree import Tree
from poise.kernels.goals.contacts import Contacts
from poise.kernels.goals.criteria import Criteria
from poise.kernels.goals.goal_curvature import NodeForces
from poise.kernels.goals.goals import Evaluation, Goals
from poise.kernels.jit.handle import define_handle
from poise.kernels.levels.problem import Levels
from poise.kernels.levels.workspace import LevelsWork
from poise.kernels.loops.closure import Closures

Array = np.ndarray

MECHANISM, PARTING, FIRST_TASKS = 0, 1, 2
"""Levels: what never gives way, what parts touching bodies, and where tasks begin."""
MASKED, SUPPORT_EDGES, REIMPOSES = 1, 2, 3
"""Levels whose Jacobian is masked to some joints, levels bounded by the edges of a support, and levels that re-impose a
masked level on all joints."""
MET = 1e-6
"""Error up to which a level counts as met."""
HELD = 1e-6
"""What a level solved as it stands may lose beyond what was planned, however many steps are taken."""
CLOSED = 1e-11
"""What loops may lose [m]."""


class State(NamedTuple):
    """What the engine remembers from step to step, and numbers to report."""

    x: Array
    """(nv,) the step."""
    dx: Array
    """(nv,) its correction."""
    trial: Array
    """(nv,) a shortened step."""
    part: Array
    """(p + 1, nv) what each level that gave way, and the criteria, added to the step."""
    last: Array
    """(p + 1, nv) the same of the step before, and the whole of it in the first line."""
    decided: Array
    """(p + 1,) square of the part of the step that each level and those above it decided."""
    q: Array
    """(nq,) posture after the step."""
    scale: Array
    """(p,) share of each level's errors that a step aims at."""
    merit: Array
    """(p + 1,) size of each level's weighted error before the step, and value of the criteria."""
    merit_after: Array
    """(p + 1,) the same after it."""
    seen: Array
    """(p + 1,) the same at the end of the step before: another value now means that something else is asked."""
    record: Array
    """(p + 1,) the least of each level since something else was asked, given the records of those above."""
    stiffness: Array
    """(p + 1,) extra damping of each level, grown by failure and shaking."""
    curved: Array
    """(p + 1,) 1 for levels that gave way in the step."""
    needs_curvature: Array
    """(p + 1,) 1 for levels that gained less than their rows predicted, since the targets last changed."""
    gap: Array
    """(r,) what each row of a loop lacks [m]."""
    couple: Array
    """(3, 3) workspace of the loops' curvature."""
    missing: Array
    """(m,) what a correction has to add to each row."""
    gain_factor: Array
    """(1,) by how much the least gain of a step is raised, for oscillation since the targets last changed."""
    excluded: Array
    """(1,) how many directions the step may not use: see `step_singular`."""
    counts: Array
    """(4,) steps, re-solves, shortened steps, steps not taken."""


class Engine(NamedTuple):
    """A figure and what is asked of it, compiled."""

    tree: Tree
    bounds: Bounds
    limits: StepLimits
    goals: Goals
    contacts: Contacts
    closures: Closures
    criteria: Criteria
    levels: Levels
    solver: LevelsWork
    node_forces: NodeForces
    current: Evaluation
    """Errors, and what rows are made of, at the posture a step starts from."""
    trial: Evaluation
    """Errors at the posture a step may end in."""
    state: State
    skip: int
    """Rows before the first goal's: loops, equality couplings and partings."""
    farthest: float
    """Largest error a step aims at [m or rad]."""
    level_kind: Array
    """(p + 1,) MASKED for levels whose Jacobian is masked to some joints, REIMPOSES for those that follow them with the
    same goals and all joints, SUPPORT_EDGES for levels bounded by the edges of a support, else 0."""
    calls: Array
    """Addresses for `far_call`."""
    min_gain: float
    """Error that a visible step must remove from some level, per size of the step."""


define_handle(Engine._fields)
