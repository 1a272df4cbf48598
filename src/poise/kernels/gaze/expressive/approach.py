"""The way to a goal: a posture that is reached in a known number of frames, facing the target as far as possible.

A joint turns by at most `rate` per frame, so the frames that a change needs are the largest distance of a joint from
its goal, divided by the rate. With f frames left, every joint must be within (f - 1) rates of its goal after the next
one. This *tube* shrinks by one rate per frame. Inside it, inside the limits and within one rate of the last frame, the
joints hold the gaze, and in the freedom that is left (`poise.kernels.gaze.expressive.hold_gaze`) they either stay near
the shape of the posture or of its mirror image, whichever is nearer, or move towards the goal: the farthest joint,
usually the root, turns at its full rate, and the others have time to go round. The chain arrives in the last frame,
whatever the gaze does.

Where the gaze would be lost because a joint cannot follow at its rate, the tube may wait for a frame, but only for a
given number of frames in all. Without the gaze all joints move straight to the goal.

What a way costs is found by taking it: `rollout` adds the costs of its frames, for the target that is predicted.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.chains.chain import TWIST_JOINT, Chain, pointing, tip_rotation, wrapped
from poise.kernels.gaze.expressive.aim import copy_row, nearer_aim, turn_to
from poise.kernels.gaze.expressive.descend import face
from poise.kernels.gaze.expressive.follow import nearer_sign
from poise.kernels.gaze.expressive.hold_gaze import hold, moving
from poise.kernels.gaze.expressive.nearest_shape import MIN_SHAPE_CURVATURE
from poise.kernels.gaze.expressive.workspace import (
    AHEAD_ROW,
    BOX_LOWER_ROW,
    BOX_UPPER_ROW,
    COMPLIANCE_ROW,
    FROM_ROW,
    KEPT_ROW,
    REFERENCE_ROW,
    ROLLOUT_ROW,
)
from poise.kernels.gaze.measures import Aim, Scoring, shape_error
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.portable_trigonometry import angle_apart, sine, turn_about
from poise.kernels.maths.quaternion import multiply
from poise.kernels.maths.vector import Vector, length, scale

Array = np.ndarray

HOLD_STEPS = 5
"""Number of Gauss–Newton steps per frame of a way."""
JOINT_STIFFNESS, END_STIFFNESS = 0.02, 1e-3
"""Stiffness towards the preferred angle, added to the weight in the shape error; and that of twisters at the ends."""
GAZE_FALLS_BEHIND = math.radians(0.2)
"""The radius of the tube stops shrinking for a frame whose direction error would exceed this [rad]."""
FRAME_ROUNDING = 0.5
"""A goal may be farther away than the frames left reach by this fraction of a rate, because it moves with its target.
"""


FOLLOW_STEPS = 3
"""Largest number of steps by which the goal of a rollout follows the predicted target in a frame."""
FARTHEST_TURN = math.radians(60.0)
"""Largest turn of the target that is predicted [rad]."""
SMALLEST_TURN = math.radians(0.02)
"""A target that is predicted to turn by less stands still [rad]."""
LOST_SIGHT = math.radians(5.0)
"""A gaze that is off by more than this is lost, and costs no more if it is off by still more [rad]."""
SMALL_TURN = 1e-6
"""The quotient sin x / x of a smaller angle is 1 [rad]."""

STRAIGHT, KEEPING_SHAPE, TOWARDS_GOAL = 0, 1, 2
"""Manners of a way. STRAIGHT gives up the gaze; the others hold it: KEEPING_SHAPE stays near the shape of the posture
for as long as the tube allows, TOWARDS_GOAL leaves it at once."""


class Pace(NamedTuple):
    """Limits and weights of a motion."""

    rate: float
    """Largest turn of a joint in one frame [rad]."""
    gaze: float
    """Cost of a direction error of up to LOST_SIGHT, per radian; the cost of the shape error is 1."""
    horizon: int
    """Horizon: number of frames whose costs are added up, see `poise.kernels.gaze.expressive.advance`."""
    slack: float
    """Direction error that counts as none while the target moves [rad]."""


class Way(NamedTuple):
    """How the chain moves to its goal."""

    left: int
    """Frames until the goal is reached."""
    spare: int
    """Number of frames by which the gaze may delay that."""
    manner: int
    """STRAIGHT, KEEPING_SHAPE or TOWARDS_GOAL."""


class Motion(NamedTuple):
    """A target and its predicted motion."""

    aim: Aim
    """The target of the current frame."""
    turn: Vector
    """Its turn per frame, a rotation vector [rad]."""
    predicted: int
    """Number of frames for which it is expected to turn on; then it is expected to stand still."""


@kernel
def distance(chain: Chain, work: Array, row: int, goal: int) -> float:
    """Largest turn that a joint, other than a twister at the tip, still has to make from `row` to `goal` [rad]."""
    far = 0.0
    for k in range(moving(chain)):
        far = max(far, abs(turn_to(chain, k, work[row, k], work[goal, k])))
    return far


@kernel
def frames_to(chain: Chain, rate: float, work: Array, row: int, goal: int) -> int:
    """Number of frames that the chain needs from `row` to `goal`, at least 1."""
    return max(1, math.ceil(distance(chain, work, row, goal) / rate - FRAME_ROUNDING))


@kernel
def gaze_off(chain: Chain, d: Vector, angles: Array) -> float:
    """Angle between the tip's direction at `angles` (n,) and d [rad]."""
    return angle_apart(pointing(tip_rotation(chain, angles)), d)


@kernel
def frame_cost(chain: Chain, scoring: Scoring, pace: Pace, d: Vector, posture: Array, angles: Array) -> float:
    """Shape error of a frame plus its weighted direction error."""
    off = min(LOST_SIGHT, max(0.0, gaze_off(chain, d, angles) - pace.slack))
    return shape_error(chain, scoring, angles, posture) + pace.gaze * off


@kernel
def _in_tube(chain: Chain, d: Vector, pace: Pace, radius: float, work: Array, row: int, goal: int) -> float:
    """Write the frame after FROM_ROW, within `radius` of the goal, to `work[row]`; returns its direction error."""
    rate = pace.rate
    for k in range(chain.role.shape[0]):
        here = work[FROM_ROW, k]
        turn = turn_to(chain, k, here, work[goal, k])
        low, high = min(0.0, max(chain.lower[k] - here, -rate)), max(0.0, min(chain.upper[k] - here, rate))
        work[BOX_LOWER_ROW, k] = here + min(high, max(low, turn - radius))
        work[BOX_UPPER_ROW, k] = here + max(low, min(high, turn + radius))
        work[row, k] = here
    return hold(chain, d, pace.slack, HOLD_STEPS, work, row)


@kernel
def _prefer(chain: Chain, scoring: Scoring, posture: Array, manner: int, work: Array, goal: int) -> None:
    """Set REFERENCE_ROW and COMPLIANCE_ROW to what the joints of FROM_ROW prefer, and how easily they move.

    These are the angles of the goal or, for KEEPING_SHAPE, those of the posture or of its mirror image.
    """
    negated = manner == KEEPING_SHAPE and nearer_sign(chain, scoring, posture, work, FROM_ROW)
    for k in range(chain.role.shape[0]):
        weight, here = scoring.shapes[k], work[FROM_ROW, k]
        turn, stiffness = turn_to(chain, k, here, work[goal, k]), END_STIFFNESS
        if weight > 0.0:
            if manner == KEEPING_SHAPE:
                turn = wrapped((-posture[k] if negated and chain.role[k] != TWIST_JOINT else posture[k]) - here)
                weight *= max(MIN_SHAPE_CURVATURE, sine(turn) / turn if abs(turn) > SMALL_TURN else 1.0)
            stiffness = weight + JOINT_STIFFNESS
        work[COMPLIANCE_ROW, k] = 1.0 / stiffness
        work[REFERENCE_ROW, k] = here + turn


@kernel
def approach(
    chain: Chain, scoring: Scoring, d: Vector, pace: Pace, posture: Array, way: Way, work: Array, row: int, goal: int
) -> Way:
    """Move `work[row]` by one frame along the way to `work[goal]`, which faces d; returns the rest of the way."""
    rate = pace.rate
    if way.manner == STRAIGHT:
        for k in range(moving(chain)):
            turn = turn_to(chain, k, work[row, k], work[goal, k])
            work[row, k] += min(rate, max(-rate, turn))
        return Way(way.left - 1, way.spare, way.manner)
    copy_row(work, row, FROM_ROW)
    _prefer(chain, scoring, posture, way.manner, work, goal)
    radius = (way.left - 1) * rate
    off = _in_tube(chain, d, pace, radius, work, row, goal)
    if off > GAZE_FALLS_BEHIND and way.spare > 0:
        copy_row(work, row, KEPT_ROW)
        if _in_tube(chain, d, pace, radius + rate, work, row, goal) < off:
            return Way(way.left, way.spare - 1, way.manner)
        copy_row(work, KEPT_ROW, row)
    return Way(way.left - 1, way.spare, way.manner)


@kernel
def target_after(target: Motion, frames: int) -> Aim:
    """The aim predicted after some frames."""
    angle = min(FARTHEST_TURN, length(target.turn) * min(frames, target.predicted))
    if angle < SMALLEST_TURN:
        return target.aim
    turned = turn_about(scale(target.turn, 1.0 / length(target.turn)), angle)
    return Aim(multiply(turned, target.aim.rotation), target.aim.kind)


@kernel
def rollout(
    chain: Chain,
    scoring: Scoring,
    pace: Pace,
    target: Motion,
    posture: Array,
    way: Way,
    most: float,
    work: Array,
    row: int,
    goal: int,
) -> tuple[float, bool]:
    """What a way from `work[row]` costs: the sum of the costs of its frames, less that of its goal in each.

    The goal follows the predicted target. The sum is abandoned above `most`. Also returns whether the gaze delayed the
    way.
    """
    copy_row(work, row, ROLLOUT_ROW)
    copy_row(work, goal, AHEAD_ROW)
    moves = length(target.turn) * target.predicted > SMALLEST_TURN
    d = pointing(target.aim.rotation)
    at_goal = frame_cost(chain, scoring, pace, d, posture, work[AHEAD_ROW])
    total, spare, frame = 0.0, way.spare, 0
    while way.left > 0 and total < most:
        if moves and 0 < frame <= target.predicted:
            there = target_after(target, frame)
            d = pointing(there.rotation)
            near = nearer_aim(there, pointing(tip_rotation(chain, work[AHEAD_ROW])), pace.slack)
            face(chain, scoring, near, work, AHEAD_ROW, FOLLOW_STEPS)
            at_goal = frame_cost(chain, scoring, pace, d, posture, work[AHEAD_ROW])
            way = Way(max(way.left, frames_to(chain, pace.rate, work, ROLLOUT_ROW, AHEAD_ROW)), way.spare, way.manner)
        way = approach(chain, scoring, d, pace, posture, way, work, ROLLOUT_ROW, AHEAD_ROW)
        total += frame_cost(chain, scoring, pace, d, posture, work[ROLLOUT_ROW]) - at_goal
        frame += 1
    return total, way.spare < spare
