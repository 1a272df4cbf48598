"""Lower a gaze that was lifted to pass from one branch of solutions to another, as soon as possible.

The part of a plan that needs the other latitude is short; most of the path could also be followed on the target's own
latitude. So from way-points along the crossing, the first ones first, the planner tries to lower the gaze. It may stay
lowered if the goal can be reached from there, or if the posture reached can follow a turning target for long enough.
"""

import math

import numpy as np

from poise.kernels.chains.chain import TWIST_JOINT, Chain
from poise.kernels.gaze.expressive.aim import copy_row
from poise.kernels.gaze.expressive.detour import first_stride, glide, lifted, polar, rise
from poise.kernels.gaze.expressive.hold_gaze import Going
from poise.kernels.gaze.expressive.look_ahead import NEVER, Motion, frames_left, way_left
from poise.kernels.gaze.expressive.surface import root_axis
from poise.kernels.gaze.expressive.workspace import CURRENT_ROW, GOAL_ROW, PREVIOUS_ROW, TRIAL_ROW
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.portable_trigonometry import turn_about
from poise.kernels.maths.quaternion import rotate
from poise.kernels.maths.vector import Vector

Array = np.ndarray

LOWERING_DELAY = 5
"""Number of way-points by which the gaze is lowered later than possible, for a chain that is behind its plan."""
LOWERING_TRIALS = 12
"""Number of way-points from which lowering the gaze is tried."""
MIN_ROOT_RANGE = 0.3
"""Fraction of its range that the root must have ahead of it where a plan ends without reaching its goal."""


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
    """Leave the latitude `to` of way-points `first` … `count` - 1 as early as possible; returns the count, or -1."""
    last = first - 1
    for part in range(1, LOWERING_TRIALS):
        at = first + (count - first) * part // LOWERING_TRIALS
        if at == last:
            continue
        last = at
        if _lower_from(chain, d, to, going, at, count, work, path) > 0:
            at = min(at + LOWERING_DELAY, count - 1)
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
    """Lower the gaze from way-point `at` to d and continue to GOAL_ROW; returns the new count, or -1 on failure.

    Way-points are appended from `count`. The path ends before GOAL_ROW if `_serves` accepts the posture reached.
    """
    r = root_axis(chain)
    theta = polar(r, d)
    n = path.shape[1] - 1
    for k in range(n):
        work[CURRENT_ROW, k] = path[at, k]
    cut = count - at - 1
    down = rise(
        chain, lifted(r, d, to), theta, going, first_stride(going), PREVIOUS_ROW, 0.0, GOAL_ROW, count, cut, work, path
    )
    if down < 0:
        return -1
    for i in range(count, down):
        path[i, n] += to - theta
    if _serves(chain, d, going, down - cut, work):
        return down
    arrived, end = glide(chain, d, GOAL_ROW, 0.3, going, 0.0, down, cut, work, path)
    return end if arrived else -1


@kernel
def _serves(chain: Chain, d: Vector, going: Going, frames: int, work: Array) -> bool:
    """Whether CURRENT_ROW, reached after `frames` frames, can follow the turning target for `going.lasting` frames."""
    room = way_left(chain, going.drift, work[CURRENT_ROW, 0])
    if room < MIN_ROOT_RANGE or math.isinf(room):
        return False
    turn = going.drift * frames
    copy_row(work, CURRENT_ROW, TRIAL_ROW)
    work[TRIAL_ROW, 0] += turn
    there = rotate(turn_about(root_axis(chain), turn), d)
    motion = Motion(going.drift, 0.0, 0.0)
    return frames_left(chain, there, motion, going.rate, going.lasting, TRIAL_ROW, work) == NEVER


@kernel
def plan_cost(chain: Chain, turning: float, path: Array, count: int) -> tuple[float, float]:
    """Largest direction error over all way-points, by lifting or by falling behind, and the sum of them [rad]."""
    n = path.shape[1] - 1
    most, total = 0.0, 0.0
    for i in range(count):
        off = abs(path[i, n]) + _behind(chain, turning, path, i)
        most, total = max(most, off), total + off
    return most, total


@kernel
def falls_behind(chain: Chain, turning: float, path: Array, count: int) -> float:
    """Largest angle by which the gaze falls behind a turning target over all way-points [rad]."""
    most = 0.0
    for i in range(count):
        most = max(most, _behind(chain, turning, path, i))
    return most


@kernel
def _behind(chain: Chain, turning: float, path: Array, i: int) -> float:
    """Angle by which the root would have to exceed its limits at way-point `i` [rad]."""
    if chain.role[0] != TWIST_JOINT:
        return 0.0
    root = path[i, 0] + turning * (i + 1)
    return max(0.0, root - chain.upper[0], chain.lower[0] - root)
