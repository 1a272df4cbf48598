"""One frame of a character that remembers: track, look ahead, plan, change branch.

Priorities, strictly: limits and rate, direction, progress of a change of branch, roll, shape.

A change is wished for when another branch is better by `Pace.worse`, or when the target is about to leave the one the
chain is on. A plan (`expressive_plan`) is made a few tries per frame while tracking goes on, and is followed (`_follow`)
when it is time; when there is none the chain stays where it is and asks again. Nothing is decided by the clock: same
questions, same frames.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.chain import TWIST, Chain, pointing
from poise.kernels.compile import kernel
from poise.kernels.expressive_ahead import NEVER, expected_aim, frames_left, speed
from poise.kernels.expressive_aim import copy_row, mirror
from poise.kernels.expressive_hold import LOST, box_round, free_root, hold, hold_first, turn_to
from poise.kernels.expressive_path import distance, lifted, moving, polar
from poise.kernels.expressive_plan import LAST_LATITUDE, tries_per_latitude, try_plan
from poise.kernels.expressive_slide import shape_cost
from poise.kernels.expressive_solve import Manner, solve
from poise.kernels.expressive_surface import root_axis
from poise.kernels.expressive_track import LOOSE, Pace, tip_turn, track
from poise.kernels.expressive_work import EASE, GOAL, HERE, LAST, OUT, REFERENCE, SOLVED, START
from poise.kernels.measures import Aim, Scoring, posture_error, shape_error
from poise.kernels.vector import Vector

Array = np.ndarray

FRESH, TRACKING, CHANGING = 0, 1, 2
MODE, NEGATED, COUNT, AT, ATTEMPT, STUCK, WAIT, CHOICE = 0, 1, 2, 3, 4, 5, 6, 7
TALLIES = 8
ANGLES, FROM, TO = 0, 1, 2
MEMORY_ROWS = 3
PATH_MOST = 240
"""Way-points a plan may have."""
STUCK_FOR = 12
"""Frames without progress after which a plan is given up."""
BEHIND = 2.5
"""Rate steps by which the chain may be behind its plan before the plan waits."""
WINDOW = 16
"""Way-points ahead among which the nearest is looked for."""
ASK_AGAIN = 5
"""Frames to wait when no plan was found."""


class Memory(NamedTuple):
    """What a character remembers from one frame to the next; `advance` changes it."""

    rows: Array
    """(MEMORY_ROWS, n) angles of the last frame, and of both ends of a plan."""
    path: Array
    """(PATH_MOST, n + 1) the plan."""
    tally: Array
    """(TALLIES,) integers: mode, sign of the bends, way-points, progress and so on."""
    seen: Array
    """(2, 3) the direction of the last frame, and the one a plan is made for."""


@kernel(borrows=True)
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
) -> int:
    """Move the angles in memory one frame on towards `aim` and `posture`; returns the steps of planning it took."""
    rows, tally, seen = memory.rows, memory.tally, memory.seen
    n = posture.shape[0]
    d = pointing(aim.rotation)
    before = Vector(seen[0, 0], seen[0, 1], seen[0, 2])
    if tally[MODE] == FRESH:
        before = d
        tally[MODE] = TRACKING
        tally[ATTEMPT] = -1
        for k in range(n):
            work[OUT, k] = rows[ANGLES, k]
        tally[NEGATED] = _nearer_sign(chain, scoring, manner, posture, work)
    for k in range(n):
        work[LAST, k] = rows[ANGLES, k]
    tried = 0
    if tally[MODE] == CHANGING:
        _follow(chain, scoring, aim, d, pace.rate, memory, work)
        if tally[MODE] == TRACKING:
            tally[NEGATED] = _nearer_sign(chain, scoring, manner, posture, work)
    else:
        off = track(chain, scoring, aim, d, posture, tally[NEGATED], pace.rate, work)
        copy_row(work, HERE, OUT)
        tried = _consider(chain, scoring, manner, pace, aim, posture, before, off, memory, work)
    for k in range(n):
        rows[ANGLES, k] = work[OUT, k]
    seen[0, 0], seen[0, 1], seen[0, 2] = d.x, d.y, d.z
    return tried


@kernel(borrows=True)
def _nearer_sign(chain: Chain, scoring: Scoring, manner: Manner, posture: Array, work: Array) -> int:
    """1 where OUT is nearer to the posture with all bends negated."""
    if not chain.mirrors:
        return 0
    copy_row(work, OUT, HERE)
    same = shape_cost(chain, scoring, 0.0, work, HERE, posture)
    mirror(chain, work, HERE)
    return 1 if shape_cost(chain, scoring, 0.0, work, HERE, posture) < same else 0


@kernel(borrows=True)
def _cost(chain: Chain, scoring: Scoring, manner: Manner, angles: Array, posture: Array) -> float:
    """What `solve` minimises, as a part of the combined error."""
    shape = shape_error(chain, scoring, angles, posture)
    bent = posture_error(chain, scoring, angles, posture)
    return scoring.posture * ((1.0 - manner.blend) * shape + manner.blend * bent)


@kernel(borrows=True)
def _consider(
    chain: Chain,
    scoring: Scoring,
    manner: Manner,
    pace: Pace,
    aim: Aim,
    posture: Array,
    before: Vector,
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
    turning, nodding = speed(chain, before, d)
    left = 0
    if off < LOST:
        left = frames_left(chain, d, turning, nodding, pace.rate, 2 * pace.ahead, OUT, work)
    solve(chain, scoring, manner, aim, posture, work, work[SOLVED])
    gain = _cost(chain, scoring, manner, work[OUT], posture) - _cost(chain, scoring, manner, work[SOLVED], posture)
    better = gain > pace.worse
    if left == NEVER and not better:
        tally[ATTEMPT] = -1
        return 0
    if tally[ATTEMPT] < 0:
        _choose(chain, scoring, manner, pace, aim, posture, turning, nodding, better, tally[CHOICE], work)
        for k in range(n):
            rows[FROM, k] = work[OUT, k]
            rows[TO, k] = work[GOAL, k]
        seen[1, 0], seen[1, 1], seen[1, 2] = d.x, d.y, d.z
        tally[ATTEMPT] = 0
    return _plan(chain, pace, turning, better or left < pace.ahead, memory, work)


@kernel(borrows=True)
def _choose(
    chain: Chain,
    scoring: Scoring,
    manner: Manner,
    pace: Pace,
    aim: Aim,
    posture: Array,
    turning: float,
    nodding: float,
    better: bool,
    other: int,
    work: Array,
) -> None:
    """GOAL: what `solve` finds now, or where the target is about to be; or its mirror image, whichever is nearer."""
    turn = 0.0
    if not better:
        there, turn = expected_aim(chain, aim, turning, nodding, 2.0 * pace.ahead)
        solve(chain, scoring, manner, there, posture, work, work[SOLVED])
    copy_row(work, SOLVED, GOAL)
    if chain.mirrors:
        copy_row(work, SOLVED, HERE)
        mirror(chain, work, HERE)
        half = math.pi if work[HERE, 0] < 0.0 else -math.pi
        inside = chain.lower[0] - 1e-9 <= work[HERE, 0] + half <= chain.upper[0] + 1e-9
        work[HERE, 0] += half
        nearer = abs(work[HERE, 0] - turn - work[OUT, 0]) < abs(work[GOAL, 0] - turn - work[OUT, 0])
        if inside and nearer != (other == 1):
            copy_row(work, HERE, GOAL)
    if chain.role[0] == TWIST:
        work[GOAL, 0] -= turn
    d = pointing(aim.rotation)
    copy_row(work, GOAL, LAST)
    box_round(chain, work, LAST, math.pi)
    free_root(chain, work, LAST, math.pi)
    for k in range(work.shape[1]):
        work[REFERENCE, k] = work[GOAL, k]
        work[EASE, k] = 1.0
    hold(chain, d, 20, work, GOAL)


@kernel(borrows=True)
def _plan(chain: Chain, pace: Pace, turning: float, urgent: bool, memory: Memory, work: Array) -> int:
    """The next tries; when one arrives and it is time, the change begins."""
    tally, rows, seen, path = memory.tally, memory.rows, memory.seen, memory.path
    n = rows.shape[1]
    d = Vector(seen[1, 0], seen[1, 1], seen[1, 2])
    for tried in range(pace.tries):
        for k in range(n):
            work[START, k] = rows[FROM, k]
            work[GOAL, k] = rows[TO, k]
        count = try_plan(chain, d, tally[ATTEMPT], pace.rate, turning, work, path)
        tally[ATTEMPT] += 1
        if count > 0:
            lift = tally[ATTEMPT] > tries_per_latitude(chain)
            if urgent or lift:
                tally[MODE], tally[COUNT], tally[AT], tally[STUCK] = CHANGING, count, -1, 0
            tally[ATTEMPT] = -1
            return tried + 1
        if tally[ATTEMPT] >= tries_per_latitude(chain) * LAST_LATITUDE:
            tally[ATTEMPT] = -1
            tally[CHOICE] = 1 - tally[CHOICE]
            tally[WAIT] = ASK_AGAIN
            return tried + 1
    return pace.tries


@kernel(borrows=True)
def _follow(
    chain: Chain, scoring: Scoring, aim: Aim, d: Vector, rate: float, memory: Memory, work: Array
) -> None:
    """OUT: one frame on along the plan, facing d, or d lifted as the plan says."""
    tally, path = memory.tally, memory.path
    n = path.shape[1] - 1
    at = tally[AT]
    nearest, gap = max(0, at), math.inf
    for j in range(max(0, at), min(at + WINDOW, tally[COUNT])):
        away = _gap(chain, path, j, work, LAST)
        if away < gap:
            nearest, gap = j, away
    ahead = min(nearest + 1, tally[COUNT] - 1)
    for j in range(nearest + 2, min(nearest + 4, tally[COUNT])):
        if _gap(chain, path, j, work, LAST) <= rate:
            ahead = j
    r = root_axis(chain)
    theta = polar(r, d)
    box_round(chain, work, LAST, rate)
    for k in range(n):
        held = k == 0 or k >= moving(chain)
        work[REFERENCE, k] = work[LAST, k] if held else path[ahead, k]
        work[EASE, k] = 1.0 / LOOSE if held else 1.0
    lift = path[ahead, n]
    seen_from = d
    if lift != 0.0:
        seen_from = lifted(r, d, min(math.pi, max(0.0, theta + lift)))
    off = hold_first(chain, seen_from, 10, work, OUT)
    tip_turn(chain, scoring, aim, work, OUT, rate)
    if off < LOST and _gap(chain, path, ahead, work, OUT) <= BEHIND * rate:
        nearest = ahead
    tally[STUCK] += 1
    if nearest > at:
        tally[AT], tally[STUCK] = nearest, 0
    if tally[AT] >= tally[COUNT] - 2:
        tally[MODE] = TRACKING
    if tally[STUCK] > STUCK_FOR:
        tally[MODE], tally[WAIT] = TRACKING, ASK_AGAIN


@kernel(borrows=True)
def _gap(chain: Chain, path: Array, j: int, work: Array, row: int) -> float:
    """Largest turn of a joint above the root from `work[row]` to way-point `j`."""
    far = 0.0
    for k in range(1, moving(chain)):
        far = max(far, abs(turn_to(chain, k, work[row, k], path[j, k])))
    return far


__all__ = ["Memory", "advance", "distance"]
