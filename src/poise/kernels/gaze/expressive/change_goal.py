"""Decide whether a chain stays with its goal or changes to another one, see `poise.kernels.gaze.expressive.advance`."""

import math

import numpy as np

from poise.kernels.chains.chain import Chain, pointing
from poise.kernels.gaze.expressive.aim import copy_row, mirror, swap_rows
from poise.kernels.gaze.expressive.approach import (
    KEEPING_SHAPE,
    STRAIGHT,
    TOWARDS_GOAL,
    Motion,
    Pace,
    Way,
    frame_cost,
    frames_to,
    gaze_off,
    rollout,
    target_after,
)
from poise.kernels.gaze.expressive.follow import follow
from poise.kernels.gaze.expressive.hold_gaze import LOST
from poise.kernels.gaze.expressive.solve import SearchSettings, solve
from poise.kernels.gaze.expressive.tracking_state import FOR_GAZE, FOR_SHAPE, TrackingState
from poise.kernels.gaze.expressive.workspace import AHEAD_ROW, GOAL_ROW, MIRRORED_ROW, PREVIOUS_ROW, SOLVED_ROW
from poise.kernels.gaze.measures import Aim, Scoring
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.vector import Vector, length

Array = np.ndarray

NEARER, FARTHER, AHEAD, OPPOSITE, GOALS = 0, 1, 2, 3, 4
"""The other goals, in turn: the nearer and the farther one of the single solve and its mirror image; the single solve
of the predicted target; the mirror image of the goal. And their number."""
LOOKS, FRAMES_PER_LOOK = 6, 1.0 / 9.0
"""Number of predictions of the target, and the frames between them as a fraction of the horizon."""
MIN_LOSS = 0.011
"""Loss per frame of the horizon below which no change is considered: hardly any change costs less."""
AS_GOOD = 0.003
"""Difference in cost per frame up to which a posture is as good as a single solve, when the target rests."""
WORTH_LEAVING = 0.7
"""A chain on its way to a goal changes to another one that costs less than this fraction of the rest of the way. So
does a chain at its goal, unless the other one is the nearer of the single solve and its mirror image."""
SPARE = 0.5
"""Number of frames for which a way may wait for the gaze, as a fraction of its frames."""
LONGEST_WAIT = 0.8
"""A way to a target that does not move does not wait longer than this fraction of the horizon, all frames included."""
FRAMES_BETWEEN = 2
"""Frames between two times that another goal is considered."""
RESTED = 0.5
"""Frames at rest after which a target is expected to stay at rest, as a fraction of the horizon."""
STILL = math.radians(0.02)
"""A target that turns by less than this per frame rests [rad]."""
LIMIT_ROUNDING = 1e-9
"""Rounding error allowed when the root of a mirror image is compared with its limits [rad]."""
OUT_OF_SIGHT = math.radians(1.0)
"""A goal that loses its target by more than this beyond the slack is left for the gaze, not for the shape [rad]."""


@kernel
def consider(
    chain: Chain,
    scoring: Scoring,
    search: SearchSettings,
    pace: Pace,
    aim: Aim,
    posture: Array,
    # changed
    memory: TrackingState,
    work: Array,
) -> int:
    """Change GOAL_ROW and the way in `memory` if that costs less than staying; returns the number of ways tried."""
    turn = Vector(memory.turn[0], memory.turn[1], memory.turn[2])
    target = Motion(aim, turn, LOOKS * _frames_per_look(pace) if length(turn) > STILL else 0)
    memory.wait = FRAMES_BETWEEN
    solves = _cost_of_solves(chain, scoring, search, pace, target, posture, work)
    least, off = _cost_of_goal(chain, scoring, search, pace, target, posture, work, GOAL_ROW)
    least -= solves
    if memory.resting > RESTED * pace.horizon:
        rests_off = gaze_off(chain, pointing(aim.rotation), work[SOLVED_ROW])
        if least < AS_GOOD * pace.horizon and off < rests_off + LOST:
            return 0
        least = math.inf
    elif memory.left <= 1 and least < MIN_LOSS * pace.horizon:
        return 0
    reason = FOR_GAZE if off > OUT_OF_SIGHT + pace.slack else FOR_SHAPE
    tried = 0
    if memory.left > 1:
        way = Way(memory.left, memory.spare, memory.manner)
        rest, _ = rollout(chain, scoring, pace, target, posture, way, math.inf, work, PREVIOUS_ROW, GOAL_ROW)
        least = WORTH_LEAVING * (least + rest)
        copy_row(work, PREVIOUS_ROW, SOLVED_ROW)
        follow(chain, scoring, search, aim, pace.slack, posture, SOLVED_ROW, work)
        least, tried = _try_ways(chain, scoring, search, pace, target, posture, solves, least, reason, memory, work)
    _choose_goal(chain, scoring, search, pace, target, posture, memory, work)
    if memory.candidate != NEARER:
        least *= WORTH_LEAVING
    _, more = _try_ways(chain, scoring, search, pace, target, posture, solves, least, reason, memory, work)
    return tried + more


@kernel
def spare_frames(frames: int, horizon: int, memory: TrackingState) -> int:
    """Number of frames for which a way of so many frames may wait for the gaze."""
    spare = int(SPARE * frames)
    if length(Vector(memory.turn[0], memory.turn[1], memory.turn[2])) > STILL:
        return spare
    return max(0, min(spare, int(LONGEST_WAIT * horizon) - frames))


@kernel
def _cost_of_goal(
    chain: Chain,
    scoring: Scoring,
    search: SearchSettings,
    pace: Pace,
    target: Motion,
    posture: Array,
    work: Array,
    row: int,
) -> tuple[float, float]:
    """Σ c_g of the module docstring for the goal in `work[row]`, and its largest predicted direction error [rad]."""
    copy_row(work, row, AHEAD_ROW)
    total, off = 0.0, 0.0
    for look in range(_looks(target) + 1):
        there = target_after(target, look * _frames_per_look(pace))
        d = pointing(there.rotation)
        if look > 0:
            follow(chain, scoring, search, there, pace.slack, posture, AHEAD_ROW, work)
        total += frame_cost(chain, scoring, pace, d, posture, work[AHEAD_ROW]) * _frames_of(look, target, pace)
        off = max(off, gaze_off(chain, d, work[AHEAD_ROW]))
    return total, off


@kernel
def _cost_of_solves(
    chain: Chain, scoring: Scoring, search: SearchSettings, pace: Pace, target: Motion, posture: Array, work: Array
) -> float:
    """Σ c_solve of the module docstring; SOLVED_ROW receives the single solve of the current frame."""
    total = 0.0
    for look in range(_looks(target), -1, -1):
        there = target_after(target, look * _frames_per_look(pace))
        solve(chain, scoring, search, there, posture, work, work[SOLVED_ROW])
        cost = frame_cost(chain, scoring, pace, pointing(there.rotation), posture, work[SOLVED_ROW])
        total += cost * _frames_of(look, target, pace)
    return total


@kernel
def _looks(target: Motion) -> int:
    """Number of times that the predicted target is looked at."""
    return LOOKS if target.predicted > 0 else 0


@kernel
def _frames_per_look(pace: Pace) -> int:
    """Number of frames between two looks at the predicted target."""
    return int(FRAMES_PER_LOOK * pace.horizon)


@kernel
def _frames_of(look: int, target: Motion, pace: Pace) -> int:
    """Number of frames of the horizon for which a look counts."""
    looks, frames = _looks(target), _frames_per_look(pace)
    return frames if look < looks else pace.horizon - looks * frames


@kernel
def _try_ways(
    chain: Chain,
    scoring: Scoring,
    search: SearchSettings,
    pace: Pace,
    target: Motion,
    posture: Array,
    solves: float,
    least: float,
    reason: int,
    # changed
    memory: TrackingState,
    work: Array,
) -> tuple[float, int]:
    """Make SOLVED_ROW the goal if a way to it costs less than `least`; returns the new least and the ways tried."""
    loss, _ = _cost_of_goal(chain, scoring, search, pace, target, posture, work, SOLVED_ROW)
    loss -= solves
    frames = frames_to(chain, pace.rate, work, PREVIOUS_ROW, SOLVED_ROW)
    tried = 0
    delayed = True
    most = spare_frames(frames, pace.horizon, memory)
    for manner, spare in (
        (KEEPING_SHAPE, most),
        (KEEPING_SHAPE, 0),
        (TOWARDS_GOAL, most),
        (TOWARDS_GOAL, 0),
        (STRAIGHT, 0),
    ):
        if manner != STRAIGHT and spare == 0 and not delayed:
            continue
        way = Way(frames, spare, manner)
        cost, delayed = rollout(
            chain, scoring, pace, target, posture, way, least - loss, work, PREVIOUS_ROW, SOLVED_ROW
        )
        tried += 1
        if cost + loss < least:
            least = cost + loss
            copy_row(work, SOLVED_ROW, GOAL_ROW)
            memory.left, memory.spare, memory.manner = frames, spare, manner
            memory.reason = reason
    return least, tried


@kernel
def _choose_goal(
    chain: Chain,
    scoring: Scoring,
    search: SearchSettings,
    pace: Pace,
    target: Motion,
    posture: Array,
    # changed
    memory: TrackingState,
    work: Array,
) -> None:
    """Write another goal to SOLVED_ROW, one of GOALS in turn; when the target rests, always the nearer one."""
    memory.candidate = NEARER if memory.resting > 0 else (memory.candidate + 1) % GOALS
    if not chain.mirrors and memory.candidate != AHEAD:
        memory.candidate = NEARER
    if memory.candidate == OPPOSITE:
        copy_row(work, GOAL_ROW, SOLVED_ROW)
        _turn_round(chain, work, SOLVED_ROW)
        follow(chain, scoring, search, target.aim, pace.slack, posture, SOLVED_ROW, work)
        return
    seen = target_after(target, target.predicted) if memory.candidate == AHEAD else target.aim
    solve(chain, scoring, search, seen, posture, work, work[SOLVED_ROW])
    if memory.candidate == AHEAD:
        follow(chain, scoring, search, target.aim, pace.slack, posture, SOLVED_ROW, work)
        return
    copy_row(work, SOLVED_ROW, MIRRORED_ROW)
    if not chain.mirrors or _turn_round(chain, work, MIRRORED_ROW) > LIMIT_ROUNDING:
        return
    there = frames_to(chain, pace.rate, work, PREVIOUS_ROW, MIRRORED_ROW)
    nearer = there < frames_to(chain, pace.rate, work, PREVIOUS_ROW, SOLVED_ROW)
    if nearer == (memory.candidate == NEARER):
        swap_rows(work, SOLVED_ROW, MIRRORED_ROW)


@kernel
def _turn_round(chain: Chain, work: Array, row: int) -> float:
    """Change `work[row]` to its mirror image, with the root half a turn away; returns by how much the root is short."""
    mirror(chain, work, row)
    root = work[row, 0] + (math.pi if work[row, 0] < 0.0 else -math.pi)
    work[row, 0] = min(chain.upper[0], max(chain.lower[0], root))
    return abs(root - work[row, 0])
