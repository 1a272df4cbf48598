"""Predict the target, and check whether the chain can follow it without a change of branch.

The prediction continues the motion of the last frame in heading about the root axis and in polar angle, which is exact
for a turn and for a nod. A turn that slows down is predicted to come to rest.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.chains.chain import TWIST_JOINT, Chain, pointing, wrapped
from poise.kernels.gaze.expressive.aim import copy_row
from poise.kernels.gaze.expressive.detour import lifted, polar
from poise.kernels.gaze.expressive.hold_gaze import box_round, hold
from poise.kernels.gaze.expressive.surface import heading, root_axis
from poise.kernels.gaze.expressive.track import LOOSE, stay_at
from poise.kernels.gaze.expressive.workspace import COMPLIANCE_ROW, PREDICTED_ROW, PREVIOUS_ROW
from poise.kernels.gaze.measures import Aim
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.portable_trigonometry import turn_about
from poise.kernels.maths.quaternion import direct_rotation, multiply, rotate
from poise.kernels.maths.vector import Vector

Array = np.ndarray

LOOK_AHEAD_STAGES = 12
"""Number of predicted postures over the look-ahead."""
OUT_OF_SIGHT = math.radians(0.05)
"""A predicted direction error above this counts as lost [rad]."""
WILD = math.radians(15.0)
"""A change of heading above this in one frame is a jump, from which nothing is predicted [rad]."""
SMOOTHED = 0.2
"""Weight of the last frame in the smoothed change of the turn."""
TAKEOVER = 4
"""Frames in which the joints above the root must take over when the root stops at its limit."""
NEVER = 10_000
"""Number of frames that stands for infinity."""


class Motion(NamedTuple):
    """Motion of the target per frame, in heading about the root axis and in polar angle."""

    turning: float
    """Change of heading [rad]."""
    nodding: float
    """Change of polar angle [rad]."""
    turning_more: float
    """Change of `turning` per frame, smoothed [rad]."""


@kernel
def sensed(chain: Chain, before: Vector, d: Vector, speed: Array) -> Motion:
    """The motion of the target from the direction `before` to d; updates `speed` (3,), the motion of the last frame."""
    r = root_axis(chain)
    turned = heading(r, before, d)
    if abs(turned) > WILD:
        turned = 0.0
    more = SMOOTHED * (turned - speed[0]) + (1.0 - SMOOTHED) * speed[2]
    speed[0], speed[1], speed[2] = turned, polar(r, d) - polar(r, before), more
    return Motion(turned, speed[1], more)


@kernel
def expected(chain: Chain, d: Vector, motion: Motion, frames: float) -> tuple[Vector, float]:
    """The predicted direction after `frames` frames, and its turn about the root axis [rad].

    A turn that slows down ends where it comes to rest.
    """
    r = root_axis(chain)
    theta = polar(r, d) + motion.nodding * frames
    turn = motion.turning * frames
    if motion.turning * motion.turning_more < 0.0:
        lasts = min(frames, -motion.turning / motion.turning_more)
        turn = motion.turning * lasts + 0.5 * motion.turning_more * lasts * lasts
    if theta < 0.0:
        theta, turn = -theta, turn + math.pi
    if theta > math.pi:
        theta, turn = 2.0 * math.pi - theta, turn + math.pi
    return rotate(turn_about(r, turn), lifted(r, d, theta)), wrapped(turn)


@kernel
def expected_aim(chain: Chain, aim: Aim, motion: Motion, frames: float) -> tuple[Aim, float]:
    """`expected` for an aim with its roll."""
    r = root_axis(chain)
    there, turn = expected(chain, pointing(aim.rotation), motion, frames)
    turned = multiply(turn_about(r, turn), aim.rotation)
    return Aim(multiply(direct_rotation(pointing(turned), there), turned), aim.kind), turn


@kernel
def frames_left(chain: Chain, d: Vector, motion: Motion, rate: float, frames: int, row: int, work: Array) -> int:
    """Frames, up to `frames`, until the branch of `work[row]` loses the target; NEVER if it does not."""
    n = chain.role.shape[0]
    until = until_stopped(chain, motion, row, work)
    if until < frames and _jerked(chain, d, motion, rate, until, row, work):
        return int(until)
    copy_row(work, row, PREDICTED_ROW)
    for stage in range(1, LOOK_AHEAD_STAGES + 1):
        there, _ = expected(chain, d, motion, frames * stage / LOOK_AHEAD_STAGES)
        copy_row(work, PREDICTED_ROW, PREVIOUS_ROW)
        box_round(chain, work, PREVIOUS_ROW, rate * frames / LOOK_AHEAD_STAGES)
        stay_at(work, PREVIOUS_ROW, n)
        work[COMPLIANCE_ROW, 0] = 1.0 / LOOSE
        if hold(chain, there, 12, work, PREDICTED_ROW) > OUT_OF_SIGHT:
            return frames * (stage - 1) // LOOK_AHEAD_STAGES
    return NEVER


@kernel
def until_stopped(chain: Chain, motion: Motion, row: int, work: Array) -> float:
    """Frames until a twister at the root that follows the target reaches its limit."""
    if chain.role[0] != TWIST_JOINT or abs(motion.turning) < 1e-9:
        return math.inf
    limit = chain.upper[0] if motion.turning > 0.0 else chain.lower[0]
    return max(0.0, (limit - work[row, 0]) / motion.turning)


@kernel
def way_left(chain: Chain, turning: float, root: float) -> float:
    """Fraction of its range that a twister at the root at angle `root` has ahead of it in the direction `turning`."""
    if chain.role[0] != TWIST_JOINT or abs(turning) < 1e-9 or math.isinf(chain.upper[0] - chain.lower[0]):
        return math.inf
    way = chain.upper[0] - root if turning > 0.0 else root - chain.lower[0]
    return way / (chain.upper[0] - chain.lower[0])


@kernel
def _jerked(chain: Chain, d: Vector, motion: Motion, rate: float, until: float, row: int, work: Array) -> bool:
    """Whether the joints above the root are too slow to take over when the root stops after `until` frames."""
    n = chain.role.shape[0]
    copy_row(work, row, PREDICTED_ROW)
    for frame in range(TAKEOVER + 1):
        there, _ = expected(chain, d, motion, until + frame)
        copy_row(work, PREDICTED_ROW, PREVIOUS_ROW)
        box_round(chain, work, PREVIOUS_ROW, rate if frame else max(rate, rate * until))
        stay_at(work, PREVIOUS_ROW, n)
        work[COMPLIANCE_ROW, 0] = 1.0 / LOOSE
        if hold(chain, there, 10, work, PREDICTED_ROW) > OUT_OF_SIGHT:
            return True
    return False
