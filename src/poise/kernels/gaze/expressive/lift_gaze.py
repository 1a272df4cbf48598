"""Lowering a gaze that was lifted to pass from one branch to another: as soon as it can be.

What lies between two branches is short; most of a way on a latitude that is not the target's could be gone on its own.
So from way-points along the crossing the gaze is lowered, the first ones first. It may stay down if the goal can be
reached from there, or if the chain has come to a place that serves as well: one that keeps a target that turns.
"""

import math

import numpy as np

from poise.kernels.chains.chain import TWIST_JOINT, Chain
from poise.kernels.gaze.expressive.aim import copy_row
from poise.kernels.gaze.expressive.detour import first_stride, glide, lifted, polar, rise
from poise.kernels.gaze.expressive.hold_gaze import Going
from poise.kernels.gaze.expressive.look_ahead import NEVER, Motion, frames_left, way_left
from poise.kernels.gaze.expressive.surface import root_axis
from poise.kernels.gaze.expressive.workspace import GOAL, HERE, LAST, TRIAL
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.portable_trigonometry import turn_about
from poise.kernels.maths.quaternion import rotate
from poise.kernels.maths.vector import Vector

Array = np.ndarray

MARGIN = 5
"""Way-points by which the gaze is lowered later than it could be, for a chain that is behind its plan."""
PARTS = 12
"""Way-points from which lowering the gaze is tried."""
ROOM = 0.3
"""Share of its range that the root must have before it where a plan ends without reaching its goal."""


@kernel
def lower_soon(
    chain: Chain,
    d: Vector,
    to: float,
    going: Going,
    first: int,
    count: int,
    # changed
    work: Array,
    path: Array,
) -> int:
    """Leave the latitude `to`, on which way-points `first` … `count` - 1 are, as soon as that serves.

    Returns the way-points of the shorter path, or -1.
    """
    last = first - 1
    for part in range(1, PARTS):
        at = first + (count - first) * part // PARTS
        if at == last:
            continue
        last = at
        if _lower_from(chain, d, to, going, at, count, work, path) > 0:
            at = min(at + MARGIN, count - 1)
            end = _lower_from(chain, d, to, going, at, count, work, path)
            if end > 0:
                cut = count - at - 1
                for i in range(count, end):
                    for k in range(path.shape[1]):
                        path[i - cut, k] = path[i, k]
                return end - cut
    return -1


@kernel
def _lower_from(
    chain: Chain,
    d: Vector,
    to: float,
    going: Going,
    at: int,
    count: int,
    # changed
    work: Array,
    path: Array,
) -> int:
    """Go from way-point `at` down to d, and on to GOAL unless it serves to stay, writing way-points from `count`.

    Returns their number, -1 if stuck.
    """
    r = root_axis(chain)
    theta = polar(r, d)
    n = path.shape[1] - 1
    for k in range(n):
        work[HERE, k] = path[at, k]
    cut = count - at - 1
    down = rise(chain, lifted(r, d, to), theta, going, first_stride(going), LAST, 0.0, GOAL, count, cut, work, path)
    if down < 0:
        return -1
    for i in range(count, down):
        path[i, n] += to - theta
    if _serves(chain, d, going, down - cut, work):
        return down
    arrived, end = glide(chain, d, GOAL, 0.3, going, 0.0, down, cut, work, path)
    return end if arrived else -1


@kernel
def _serves(chain: Chain, d: Vector, going: Going, frames: int, work: Array) -> bool:
    """Whether HERE, reached after so many frames, keeps a target that turns for as long as it must."""
    room = way_left(chain, going.drift, work[HERE, 0])
    if room < ROOM or math.isinf(room):
        return False
    turn = going.drift * frames
    copy_row(work, HERE, TRIAL)
    work[TRIAL, 0] += turn
    there = rotate(turn_about(root_axis(chain), turn), d)
    motion = Motion(going.drift, 0.0, 0.0)
    return frames_left(chain, there, motion, going.rate, going.lasting, TRIAL, work) == NEVER


@kernel
def plan_cost(chain: Chain, turning: float, path: Array, count: int) -> tuple[float, float]:
    """Angle by which the gaze is off at way-points, lifted or behind: the largest, and the sum of all [rad]."""
    n = path.shape[1] - 1
    most, total = 0.0, 0.0
    for i in range(count):
        off = abs(path[i, n]) + _behind(chain, turning, path, i)
        most, total = max(most, off), total + off
    return most, total


@kernel
def falls_behind(chain: Chain, turning: float, path: Array, count: int) -> float:
    """Largest angle by which the gaze falls behind a target that turns [rad]."""
    most = 0.0
    for i in range(count):
        most = max(most, _behind(chain, turning, path, i))
    return most


@kernel
def _behind(chain: Chain, turning: float, path: Array, i: int) -> float:
    """Angle by which the root would have to turn beyond its limits at way-point `i` [rad]."""
    if chain.role[0] != TWIST_JOINT:
        return 0.0
    root = path[i, 0] + turning * (i + 1)
    return max(0.0, root - chain.upper[0], chain.lower[0] - root)
