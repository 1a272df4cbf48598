"""A plan in hand: found while there is time, made anew from every frame, and taken when it is time.

A chain that tracks while its target is about to leave the branch is *ready* when a plan leads from where it is to
another branch. The plan is made again from every new frame, by the try that made it, so that following it is exact. A
frame from which none is found is not taken: the chain goes along the plan that it has from the frame before. Nothing is
lost by waiting, therefore, and a target that turns back has moved nothing that need not have been.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.chain import Chain
from poise.kernels.compile import kernel
from poise.kernels.expressive_ahead import NEVER, way_left
from poise.kernels.expressive_aim import copy_row, mirror
from poise.kernels.expressive_hold import box_round, free_root, hold
from poise.kernels.expressive_memory import (
    AT,
    ATTEMPT,
    CHANGING,
    COUNT,
    FOR_SHAPE,
    GOALS,
    LATITUDE,
    LIFTING,
    MIRRORED,
    MODE,
    OR_TO,
    ROUND,
    STUCK,
    TO,
    WAIT,
    WHICH,
    Memory,
)
from poise.kernels.expressive_path import polar
from poise.kernels.expressive_plan import DIRECT, LATITUDES_TRIED, try_plan, which_try
from poise.kernels.expressive_surface import root_axis
from poise.kernels.expressive_track import Pace
from poise.kernels.expressive_work import EASE, GOAL, HERE, LAST, OUT, REFERENCE, START
from poise.kernels.vector import Vector

Array = np.ndarray

ASK_AGAIN = 2
"""Frames to wait when no plan was found."""
SLACK = 0.97
"""Share of the rate that a plan uses, so that a chain that is behind can catch up."""
URGENT = 4
"""Times as many tries when the gaze is about to be lost and no plan is in hand."""


SOON = 2
"""Looks ahead that are left before the gaze is lost when lifting it begins to be tried."""
NODS = math.radians(3.0)
"""Nod of the target during a plan from which on the plan must be early [rad]."""
NEAR = 0.25
"""Share of its range that the root of a goal must have before it; one that has less will soon be no goal."""


class Wish(NamedTuple):
    """What a plan is asked for."""

    d: Vector
    """Direction it must face."""
    turning: float
    """Turn of the target per frame [rad]."""
    nodding: float
    """Change of its angle from the root's axis per frame [rad]."""
    left: int
    """Frames until the branch loses the target."""
    better: bool
    """Whether another branch has the better shape."""


@kernel(borrows=True)
def face_now(chain: Chain, d: Vector, rows: Array, row: int, work: Array) -> None:
    """Bring a goal that faces where the target was, or is about to be, to face d."""
    for k in range(rows.shape[1]):
        work[LAST, k] = rows[row, k]
        work[HERE, k] = rows[row, k]
        work[REFERENCE, k] = rows[row, k]
        work[EASE, k] = 1.0
    box_round(chain, work, LAST, math.pi)
    free_root(chain, work, LAST, math.pi)
    hold(chain, d, 20, work, HERE)
    for k in range(rows.shape[1]):
        rows[row, k] = work[HERE, k]


@kernel(borrows=True)
def still_ready(chain: Chain, pace: Pace, wish: Wish, memory: Memory, work: Array, draft: Array) -> bool:
    """Whether the try that made the plan in hand leads from OUT to the same goal; the plan in hand is then that."""
    tally, path = memory.tally, memory.path
    last = tally[COUNT] - 1
    face_now(chain, wish.d, path, last, work)
    if not tally[FOR_SHAPE] and way_left(chain, wish.turning, path[last, 0]) < NEAR:
        return False
    for k in range(work.shape[1]):
        work[START, k] = work[OUT, k]
        work[GOAL, k] = path[last, k]
    rate = SLACK * pace.rate
    count = try_plan(chain, wish.d, tally[WHICH], tally[LATITUDE], rate, wish.turning, work, draft)
    return _keep(count, memory, draft)


@kernel(borrows=True)
def _keep(count: int, memory: Memory, draft: Array) -> bool:
    """Take `count` way-points of a draft in hand."""
    path = memory.path
    for i in range(count):
        for k in range(path.shape[1]):
            path[i, k] = draft[i, k]
    if count > 0:
        memory.tally[COUNT] = count
    return count > 0


@kernel(borrows=True)
def look_for_plan(
    chain: Chain, pace: Pace, wish: Wish, ready: bool, memory: Memory, work: Array, draft: Array
) -> tuple[bool, int]:
    """The next tries of a plan from OUT; whether one arrived, and how many were made.

    The gaze is lifted only if it would be lost otherwise, never for the sake of the shape, and above the horizon only
    when all tries without were in vain once. While the plan in hand is `ready`, only one that lifts the gaze less is
    looked for, and in any case none that lifts it more.
    """
    tally, rows = memory.tally, memory.rows
    below = polar(root_axis(chain), wish.d) > 0.5 * math.pi
    may_lift = wish.left <= SOON * pace.ahead and (below or tally[ROUND] > 0 or wish.left <= pace.ahead // 4)
    if may_lift and not tally[LIFTING]:
        tally[ATTEMPT] = min(tally[ATTEMPT], DIRECT * tally[GOALS])
    tally[LIFTING] = 1 if may_lift else 0
    latitudes = LATITUDES_TRIED if may_lift else 1
    if tally[COUNT] > 0:
        latitudes = min(latitudes, max(1, tally[LATITUDE] + (0 if ready else 1)))
    tries = pace.tries * (URGENT if tally[COUNT] == 0 and wish.left < pace.ahead // 4 else 1)
    for tried in range(tries):
        latitude, goal, which = which_try(chain, tally[ATTEMPT], tally[GOALS], tally[ROUND], latitudes)
        if latitude >= latitudes:
            tally[ATTEMPT], tally[WAIT] = -1, ASK_AGAIN
            tally[ROUND] += 1
            return False, tried
        for k in range(rows.shape[1]):
            work[START, k] = work[OUT, k]
            work[GOAL, k] = rows[TO if goal == 0 else OR_TO, k]
        mirrored = tally[MIRRORED] and goal == tally[GOALS] - 1
        if mirrored:
            copy_row(work, OUT, GOAL)
            mirror(chain, work, GOAL)
            work[GOAL, 0] -= math.copysign(math.pi, wish.turning)
        count = try_plan(chain, wish.d, which, latitude, SLACK * pace.rate, wish.turning, work, draft)
        tally[ATTEMPT] += 1
        if _keep(count, memory, draft):
            tally[ATTEMPT], tally[ROUND] = -1, 0
            tally[WHICH], tally[LATITUDE], tally[FOR_SHAPE] = which, latitude, 1 if wish.better and not mirrored else 0
            return True, tried + 1
    return False, tries


@kernel(borrows=True)
def begin(pace: Pace, wish: Wish, ready: bool, memory: Memory) -> bool:
    """Begin the change if it is time; returns whether the plan in hand is the last chance, and begins a frame before.

    A plan knows of a target that turns, so that it may wait until the gaze is about to be lost; one for a target that
    nods must be through by then. A plan that lifts the gaze waits in any case, and is let go if there is time.
    """
    tally = memory.tally
    if tally[COUNT] == 0:
        return False
    lifts, nods = tally[LATITUDE] > 0, abs(wish.nodding) * tally[COUNT] > NODS
    soon = wish.left <= pace.ahead // 4 + (tally[COUNT] if nods and not lifts else 0)
    if not ready and lifts and (wish.left == NEVER or (nods and wish.left > pace.ahead)):
        tally[COUNT] = 0
        return False
    if not ready or soon or (wish.better and tally[FOR_SHAPE] and not lifts):
        tally[MODE], tally[AT], tally[STUCK], tally[ATTEMPT] = CHANGING, -1, 0, -1
    return not ready
