"""Whether to leave a branch, for which other one, and by which way.

A change is wished for when another branch is better by `Pace.worse`, or when the target is about to leave the one the
chain is on. The plan (`expressive_plan`) is made a few tries per frame while tracking goes on.
"""

import math

import numpy as np

from poise.kernels.chain import TWIST, Chain, pointing, tip_rotation
from poise.kernels.compile import kernel
from poise.kernels.expressive_ahead import NEVER, Motion, expected_aim, frames_left
from poise.kernels.expressive_aim import copy_row, mirror
from poise.kernels.expressive_hold import LOST, box_round, free_root, hold
from poise.kernels.expressive_memory import (
    AT,
    ATTEMPT,
    CHANGING,
    COUNT,
    FROM,
    GOALS,
    MODE,
    OR_TO,
    PLANNED,
    ROUND,
    STUCK,
    TO,
    WAIT,
    Memory,
)
from poise.kernels.expressive_path import lifted, polar
from poise.kernels.expressive_plan import LATITUDES_TRIED, try_plan, which_try
from poise.kernels.expressive_solve import Manner, solve
from poise.kernels.expressive_surface import root_axis
from poise.kernels.expressive_track import Pace
from poise.kernels.expressive_work import EASE, GOAL, LAST, OUT, RAISED, REFERENCE, SOLVED, START
from poise.kernels.measures import Aim, Scoring, posture_error, shape_error
from poise.kernels.vector import Vector

Array = np.ndarray

STRAINED = 0.33
"""Share of `Pace.worse` that is enough to leave a branch whose root is at its limit."""
ASK_AGAIN = 2
"""Frames to wait when no plan was found."""


@kernel(borrows=True)
def consider(
    chain: Chain,
    scoring: Scoring,
    manner: Manner,
    pace: Pace,
    aim: Aim,
    posture: Array,
    motion: Motion,
    off: float,
    memory: Memory,
    work: Array,
) -> int:
    """Whether to leave the branch of OUT, and the next tries of a plan for it; returns how many."""
    tally, rows, seen = memory.tally, memory.rows, memory.seen
    if tally[WAIT] > 0:
        tally[WAIT] -= 1
        return 0
    n = posture.shape[0]
    d = pointing(aim.rotation)
    left = 0
    if off < LOST:
        left = frames_left(chain, d, motion, pace.rate, 2 * pace.ahead, OUT, work)
    solve(chain, scoring, manner, aim, posture, work, work[SOLVED])
    gain = _cost(chain, scoring, manner, work[OUT], posture) - _cost(chain, scoring, manner, work[SOLVED], posture)
    better = gain > pace.worse * (STRAINED if _strained(chain, work) else 1.0)
    if left == NEVER and not better:
        tally[ATTEMPT] = -1
        return 0
    if tally[ATTEMPT] < 0:
        if off > LOST:
            r = root_axis(chain)
            d = lifted(r, pointing(tip_rotation(chain, work[OUT])), polar(r, d))
        tally[GOALS] = _choose(chain, scoring, manner, pace, aim, posture, motion, better, work)
        _face_now(chain, d, work, GOAL)
        _face_now(chain, d, work, RAISED)
        for k in range(n):
            rows[FROM, k] = work[OUT, k]
            rows[TO, k] = work[GOAL, k]
            rows[OR_TO, k] = work[RAISED, k]
        seen[PLANNED, 0], seen[PLANNED, 1], seen[PLANNED, 2] = d.x, d.y, d.z
        tally[ATTEMPT] = 0
    return _plan(chain, pace, motion.turning, better, left, memory, work)


@kernel(borrows=True)
def _cost(chain: Chain, scoring: Scoring, manner: Manner, angles: Array, posture: Array) -> float:
    """What `solve` minimises, as a part of the combined error."""
    shape = shape_error(chain, scoring, angles, posture)
    bent = posture_error(chain, scoring, angles, posture)
    return scoring.posture * ((1.0 - manner.blend) * shape + manner.blend * bent)


@kernel(borrows=True)
def _strained(chain: Chain, work: Array) -> bool:
    """Whether a twister at the root is at its limit, so that the joints above make up for it."""
    x = work[OUT, 0]
    return chain.role[0] == TWIST and (x < chain.lower[0] + 1e-6 or x > chain.upper[0] - 1e-6)


@kernel(borrows=True)
def _choose(
    chain: Chain,
    scoring: Scoring,
    manner: Manner,
    pace: Pace,
    aim: Aim,
    posture: Array,
    motion: Motion,
    better: bool,
    work: Array,
) -> int:
    """GOAL: what `solve` finds now, or for where the target is about to be; RAISED: its mirror image.

    The one whose root is nearer comes first; returns how many there are.
    """
    turn, goals = 0.0, 1
    if not better:
        there, turn = expected_aim(chain, aim, motion, 2.0 * pace.ahead)
        solve(chain, scoring, manner, there, posture, work, work[SOLVED])
    copy_row(work, SOLVED, GOAL)
    copy_row(work, SOLVED, RAISED)
    if chain.mirrors:
        mirror(chain, work, RAISED)
        work[RAISED, 0] += math.pi if work[RAISED, 0] < 0.0 else -math.pi
        if chain.lower[0] - 1e-9 <= work[RAISED, 0] <= chain.upper[0] + 1e-9:
            goals = 2
            if abs(work[RAISED, 0] - turn - work[OUT, 0]) < abs(work[GOAL, 0] - turn - work[OUT, 0]):
                for k in range(work.shape[1]):
                    work[GOAL, k], work[RAISED, k] = work[RAISED, k], work[GOAL, k]
    if chain.role[0] == TWIST:
        work[GOAL, 0] -= turn
        work[RAISED, 0] -= turn
    return goals


@kernel(borrows=True)
def _face_now(chain: Chain, d: Vector, work: Array, row: int) -> None:
    """Bring a goal that faces where the target is about to be back to face d."""
    copy_row(work, row, LAST)
    box_round(chain, work, LAST, math.pi)
    free_root(chain, work, LAST, math.pi)
    for k in range(work.shape[1]):
        work[REFERENCE, k] = work[row, k]
        work[EASE, k] = 1.0
    hold(chain, d, 20, work, row)


@kernel(borrows=True)
def _plan(chain: Chain, pace: Pace, turning: float, better: bool, left: int, memory: Memory, work: Array) -> int:
    """The next tries; when one arrives and it is time, the change begins.

    The gaze is lifted only if it would be lost otherwise, never for the sake of the shape; above the horizon, where a
    way without may still turn up, at the last moment only.
    """
    tally, rows, seen, path = memory.tally, memory.rows, memory.seen, memory.path
    n = rows.shape[1]
    d = Vector(seen[PLANNED, 0], seen[PLANNED, 1], seen[PLANNED, 2])
    below = polar(root_axis(chain), d) > 0.5 * math.pi
    may_lift = left < (NEVER if below else pace.ahead // 4)
    latitudes = LATITUDES_TRIED if may_lift else 1
    for tried in range(pace.tries):
        latitude, goal, which = which_try(chain, tally[ATTEMPT], tally[GOALS], tally[ROUND])
        if latitude >= latitudes:
            tally[ATTEMPT], tally[WAIT] = -1, ASK_AGAIN
            tally[ROUND] += 1
            return tried
        for k in range(n):
            work[START, k] = rows[FROM, k]
            work[GOAL, k] = rows[TO if goal == 0 else OR_TO, k]
        count = try_plan(chain, d, which, latitude, pace.rate, turning, work, path)
        tally[ATTEMPT] += 1
        if count > 0:
            tally[ATTEMPT], tally[ROUND] = -1, 0
            if latitude or better or left < max(pace.ahead, count // 2):
                tally[MODE], tally[COUNT], tally[AT], tally[STUCK] = CHANGING, count, -1, 0
            return tried + 1
    return pace.tries
