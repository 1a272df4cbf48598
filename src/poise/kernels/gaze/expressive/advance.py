"""One frame of a motion that continues the previous frame: track, look ahead, plan, and change branch.

The priorities, strictly ordered, are limits and rate, direction, progress of a change of branch, roll, shape. (A branch
is one of several families of postures that face the same target, see `poise.kernels.gaze.expressive.hold_gaze`.) Most
frames only run `track`. When `consider` finds a reason to leave the branch and a plan that leads to another,
`follow_plan` executes the plan while it holds the direction. Without a plan the chain stays on its branch and plans
again in later frames; if the direction is lost for many frames, the chain moves straight to a new solution. No decision
depends on the clock, so the same inputs give the same frames.
"""

import math

import numpy as np

from poise.kernels.chains.chain import Chain, pointing
from poise.kernels.gaze.expressive.aim import copy_row, mirror
from poise.kernels.gaze.expressive.change_branch import consider
from poise.kernels.gaze.expressive.follow_plan import follow_plan, go_back, nearer_solution, worst_between
from poise.kernels.gaze.expressive.look_ahead import sensed
from poise.kernels.gaze.expressive.nearest_shape import shape_cost, store_posture_terms
from poise.kernels.gaze.expressive.solve import SearchSettings
from poise.kernels.gaze.expressive.track import Pace, track
from poise.kernels.gaze.expressive.tracking_state import CHANGING, FRESH, NEARING, RETURNING, TRACKING, TrackingState
from poise.kernels.gaze.expressive.workspace import CURRENT_ROW, FRAME_ROW, GOAL_ROW, PREVIOUS_ROW
from poise.kernels.gaze.measures import Aim, Scoring
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.vector import Vector

Array = np.ndarray

ADRIFT = math.radians(1.0)
"""A direction error above this counts as lost [rad]."""
ASTRAY_FOR = 10
"""After this many frames with an error above ADRIFT and no plan, the chain moves straight to a new solution."""
FAR_ASTRAY = math.radians(75.0)
"""Largest direction error allowed on that way, unless the error is larger already [rad]."""


@kernel
def advance(
    chain: Chain,
    scoring: Scoring,
    search: SearchSettings,
    pace: Pace,
    aim: Aim,
    posture: Array,
    # changed
    memory: TrackingState,
    work: Array,
    draft: Array,
) -> int:
    """Advance the angles in `memory` by one frame towards `aim` and `posture`; returns the number of planning steps."""
    n = posture.shape[0]
    d = pointing(aim.rotation)
    before = Vector(memory.direction[0], memory.direction[1], memory.direction[2])
    if memory.mode == FRESH or memory.mode == NEARING:
        before = d
        memory.mode = TRACKING
        memory.attempt = -1
        for k in range(n):
            work[FRAME_ROW, k] = memory.angles[k]
        memory.negated = nearer_sign(chain, scoring, posture, work)
    for k in range(n):
        work[PREVIOUS_ROW, k] = memory.angles[k]
    motion = sensed(chain, before, d, memory.speed)
    tried = 0
    if memory.mode == CHANGING:
        follow_plan(chain, scoring, aim, d, pace.rate, memory, work)
        if memory.mode == TRACKING:
            memory.negated = nearer_sign(chain, scoring, posture, work)
    elif memory.mode == RETURNING:
        go_back(chain, scoring, search, aim, posture, pace.rate, memory, work)
        if memory.mode == TRACKING:
            memory.negated = nearer_sign(chain, scoring, posture, work)
    else:
        off = track(chain, scoring, aim, d, posture, memory.negated, pace.rate, work)
        copy_row(work, CURRENT_ROW, FRAME_ROW)
        tried, at_once = consider(chain, scoring, search, pace, aim, posture, motion, off, memory, work, draft)
        if at_once:
            for k in range(n):
                work[PREVIOUS_ROW, k] = memory.angles[k]
            follow_plan(chain, scoring, aim, d, pace.rate, memory, work)
        memory.lost_frames = memory.lost_frames + 1 if off > ADRIFT else 0
        if memory.lost_frames > ASTRAY_FOR and memory.mode == TRACKING:
            copy_row(work, FRAME_ROW, PREVIOUS_ROW)
            nearer_solution(chain, scoring, search, aim, posture, work)
            if worst_between(chain, d, PREVIOUS_ROW, GOAL_ROW, work) < max(off, FAR_ASTRAY):
                memory.mode = RETURNING
            copy_row(work, PREVIOUS_ROW, FRAME_ROW)
    for k in range(n):
        memory.angles[k] = work[FRAME_ROW, k]
    memory.direction[0], memory.direction[1], memory.direction[2] = d.x, d.y, d.z
    return tried


@kernel
def nearer_sign(chain: Chain, scoring: Scoring, posture: Array, work: Array) -> int:
    """1 if FRAME_ROW is nearer to the posture with all swings negated, else 0."""
    if not chain.mirrors:
        return 0
    copy_row(work, FRAME_ROW, CURRENT_ROW)
    store_posture_terms(chain, posture, work)
    same = shape_cost(chain, scoring, 0.0, work, CURRENT_ROW)
    mirror(chain, work, CURRENT_ROW)
    return 1 if shape_cost(chain, scoring, 0.0, work, CURRENT_ROW) < same else 0
