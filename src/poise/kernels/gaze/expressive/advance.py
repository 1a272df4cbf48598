"""One frame of a character that remembers: track, look ahead, plan, change branch.

Priorities, strictly: limits and rate, direction, progress of a change of branch, roll, shape. Most frames only `track`.
When `consider` finds a reason to leave the branch and a way to another, `follow_plan` takes it, holding the gaze; when
there is no way the chain stays where it is and asks again, and if the gaze is lost for long it goes straight to a new
solution. Nothing is decided by the clock: same questions, same frames.
"""

import math

import numpy as np

from poise.kernels.chains.chain import Chain, pointing
from poise.kernels.gaze.expressive.aim import copy_row, mirror
from poise.kernels.gaze.expressive.change_branch import consider
from poise.kernels.gaze.expressive.follow_plan import follow_plan, go_back, nearer_solution, worst_between
from poise.kernels.gaze.expressive.look_ahead import sensed
from poise.kernels.gaze.expressive.memory import (
    ANGLES,
    ASTRAY,
    ATTEMPT,
    CHANGING,
    FRESH,
    MODE,
    NEARING,
    NEGATED,
    NOW,
    RETURNING,
    SPEED,
    TRACKING,
    Memory,
)
from poise.kernels.gaze.expressive.nearest_shape import note_wish, shape_cost
from poise.kernels.gaze.expressive.solve import Manner
from poise.kernels.gaze.expressive.track import Pace, track
from poise.kernels.gaze.expressive.workspace import GOAL, HERE, LAST, OUT
from poise.kernels.gaze.measures import Aim, Scoring
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.vector import Vector

Array = np.ndarray

ADRIFT = math.radians(1.0)
ASTRAY_FOR = 10
"""Frames with the gaze off by more than ADRIFT and no plan after which the chain goes straight to a new solution."""
FAR_ASTRAY = math.radians(75.0)
"""Most that the gaze may be off on that way, if it is not already further off [rad]."""


@kernel
def advance(
    chain: Chain,
    scoring: Scoring,
    manner: Manner,
    pace: Pace,
    aim: Aim,
    posture: Array,
    # changed
    memory: Memory,
    work: Array,
    draft: Array,
) -> int:
    """Move the angles in memory one frame on towards `aim` and `posture`; returns the steps of planning it took."""
    rows, tally, seen = memory.rows, memory.tally, memory.seen
    n = posture.shape[0]
    d = pointing(aim.rotation)
    before = Vector(seen[NOW, 0], seen[NOW, 1], seen[NOW, 2])
    if tally[MODE] == FRESH or tally[MODE] == NEARING:
        before = d
        tally[MODE] = TRACKING
        tally[ATTEMPT] = -1
        for k in range(n):
            work[OUT, k] = rows[ANGLES, k]
        tally[NEGATED] = nearer_sign(chain, scoring, posture, work)
    for k in range(n):
        work[LAST, k] = rows[ANGLES, k]
    motion = sensed(chain, before, d, seen[SPEED])
    tried = 0
    if tally[MODE] == CHANGING:
        follow_plan(chain, scoring, aim, d, pace.rate, memory, work)
        if tally[MODE] == TRACKING:
            tally[NEGATED] = nearer_sign(chain, scoring, posture, work)
    elif tally[MODE] == RETURNING:
        go_back(chain, scoring, manner, aim, posture, pace.rate, memory, work)
        if tally[MODE] == TRACKING:
            tally[NEGATED] = nearer_sign(chain, scoring, posture, work)
    else:
        off = track(chain, scoring, aim, d, posture, tally[NEGATED], pace.rate, work)
        copy_row(work, HERE, OUT)
        tried, at_once = consider(chain, scoring, manner, pace, aim, posture, motion, off, memory, work, draft)
        if at_once:
            for k in range(n):
                work[LAST, k] = rows[ANGLES, k]
            follow_plan(chain, scoring, aim, d, pace.rate, memory, work)
        tally[ASTRAY] = tally[ASTRAY] + 1 if off > ADRIFT else 0
        if tally[ASTRAY] > ASTRAY_FOR and tally[MODE] == TRACKING:
            copy_row(work, OUT, LAST)
            nearer_solution(chain, scoring, manner, aim, posture, work)
            if worst_between(chain, d, LAST, GOAL, work) < max(off, FAR_ASTRAY):
                tally[MODE] = RETURNING
            copy_row(work, LAST, OUT)
    for k in range(n):
        rows[ANGLES, k] = work[OUT, k]
    seen[NOW, 0], seen[NOW, 1], seen[NOW, 2] = d.x, d.y, d.z
    return tried


@kernel
def nearer_sign(chain: Chain, scoring: Scoring, posture: Array, work: Array) -> int:
    """1 where OUT is nearer to the posture with all bends negated."""
    if not chain.mirrors:
        return 0
    copy_row(work, OUT, HERE)
    note_wish(chain, posture, work)
    same = shape_cost(chain, scoring, 0.0, work, HERE)
    mirror(chain, work, HERE)
    return 1 if shape_cost(chain, scoring, 0.0, work, HERE) < same else 0
