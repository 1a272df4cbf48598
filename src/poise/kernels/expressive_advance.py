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
from poise.kernels.expressive_ahead import NEVER, Motion, expected_aim, frames_left, sensed
from poise.kernels.expressive_aim import copy_row, mirror
from poise.kernels.expressive_hold import LOST, box_round, free_root, hold, hold_first, turn_to
from poise.kernels.expressive_path import lifted, moving, polar
from poise.kernels.expressive_plan import LATITUDES_TRIED, tries_per_latitude, try_plan
from poise.kernels.expressive_slide import shape_cost
from poise.kernels.expressive_solve import Manner, solve
from poise.kernels.expressive_surface import root_axis
from poise.kernels.expressive_track import LOOSE, Pace, tip_turn, track
from poise.kernels.expressive_work import EASE, GOAL, HERE, LAST, OUT, RAISED, REFERENCE, SOLVED, START
from poise.kernels.measures import Aim, Scoring, posture_error, shape_error
from poise.kernels.vector import Vector

Array = np.ndarray

FRESH, TRACKING, CHANGING = 0, 1, 2
MODE, NEGATED, COUNT, AT, ATTEMPT, STUCK, WAIT, GOALS = 0, 1, 2, 3, 4, 5, 6, 7
TALLIES = 8
ANGLES, FROM, TO, OR_TO = 0, 1, 2, 3
MEMORY_ROWS = 4
NOW, PLANNED, SPEED = 0, 1, 2
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
    """(MEMORY_ROWS, n) angles of the last frame, of the start of a plan and of its goals."""
    path: Array
    """(PATH_MOST, n + 1) the plan."""
    tally: Array
    """(TALLIES,) integers: mode, sign of the bends, way-points, progress and so on."""
    seen: Array
    """(3, 3) the direction of the last frame, the one a plan is made for, and how fast the target turns and nods."""


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
    before = Vector(seen[NOW, 0], seen[NOW, 1], seen[NOW, 2])
    if tally[MODE] == FRESH:
        before = d
        tally[MODE] = TRACKING
        tally[ATTEMPT] = -1
        for k in range(n):
            work[OUT, k] = rows[ANGLES, k]
        tally[NEGATED] = _nearer_sign(chain, scoring, manner, posture, work)
    for k in range(n):
        work[LAST, k] = rows[ANGLES, k]
    motion = sensed(chain, before, d, seen[SPEED])
    tried = 0
    if tally[MODE] == CHANGING:
        _follow(chain, scoring, aim, d, pace.rate, memory, work)
        if tally[MODE] == TRACKING:
            tally[NEGATED] = _nearer_sign(chain, scoring, manner, posture, work)
    else:
        off = track(chain, scoring, aim, d, posture, tally[NEGATED], pace.rate, work)
        copy_row(work, HERE, OUT)
        tried = _consider(chain, scoring, manner, pace, aim, posture, motion, off, memory, work)
    for k in range(n):
        rows[ANGLES, k] = work[OUT, k]
    seen[NOW, 0], seen[NOW, 1], seen[NOW, 2] = d.x, d.y, d.z
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
    better = gain > pace.worse
    if left == NEVER and not better:
        tally[ATTEMPT] = -1
        return 0
    if tally[ATTEMPT] < 0:
        tally[GOALS] = _choose(chain, scoring, manner, pace, aim, posture, motion, better, work)
        for k in range(n):
            rows[FROM, k] = work[OUT, k]
            rows[TO, k] = work[GOAL, k]
            rows[OR_TO, k] = work[RAISED, k]
        seen[PLANNED, 0], seen[PLANNED, 1], seen[PLANNED, 2] = d.x, d.y, d.z
        tally[ATTEMPT] = 0
    return _plan(chain, pace, motion.turning, better, left, memory, work)


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
    _face_now(chain, pointing(aim.rotation), turn, work, GOAL)
    _face_now(chain, pointing(aim.rotation), turn, work, RAISED)
    return goals


@kernel(borrows=True)
def _face_now(chain: Chain, d: Vector, turn: float, work: Array, row: int) -> None:
    """Bring a goal for a target that has turned by `turn` back to face d."""
    if chain.role[0] == TWIST:
        work[row, 0] -= turn
    copy_row(work, row, LAST)
    box_round(chain, work, LAST, math.pi)
    free_root(chain, work, LAST, math.pi)
    for k in range(work.shape[1]):
        work[REFERENCE, k] = work[row, k]
        work[EASE, k] = 1.0
    hold(chain, d, 20, work, row)


@kernel(borrows=True)
def _plan(
    chain: Chain, pace: Pace, turning: float, better: bool, left: int, memory: Memory, work: Array
) -> int:
    """The next tries; when one arrives and it is time, the change begins.

    The gaze is lifted only if it would be lost otherwise, never for the sake of the shape.
    """
    tally, rows, seen, path = memory.tally, memory.rows, memory.seen, memory.path
    n = rows.shape[1]
    d = Vector(seen[PLANNED, 0], seen[PLANNED, 1], seen[PLANNED, 2])
    per, goals = tries_per_latitude(chain), tally[GOALS]
    latitudes = LATITUDES_TRIED if left < NEVER else 1
    for tried in range(pace.tries):
        block = tally[ATTEMPT] // per
        latitude = block // goals
        if latitude >= latitudes:
            tally[ATTEMPT], tally[WAIT] = -1, ASK_AGAIN
            return tried
        for k in range(n):
            work[START, k] = rows[FROM, k]
            work[GOAL, k] = rows[TO if block % goals == 0 else OR_TO, k]
        count = try_plan(chain, d, tally[ATTEMPT] % per, latitude, pace.rate, turning, work, path)
        tally[ATTEMPT] += 1
        if count > 0:
            tally[ATTEMPT] = -1
            if left < (3 * pace.ahead // 2 if latitude else pace.ahead) or (better and not latitude):
                tally[MODE], tally[COUNT], tally[AT], tally[STUCK] = CHANGING, count, -1, 0
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

