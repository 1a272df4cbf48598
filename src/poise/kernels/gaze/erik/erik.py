"""ERIK: hold a posture while the tip faces a target orientation [Ribeiro & Paiva 2019, alg. 2-22].

The posture is first warped towards the target without regard for limits. Each iteration then lays segments where the
warped posture has them (forward), takes a legal solution as near to that as joints can (backward), and turns it
towards the target (BWCD). When the error no longer falls, the target is shifted a little, and at last CCD takes over,
first from the solution at hand and then from all joints at zero.
"""

from typing import NamedTuple

import numpy as np

from poise.kernels.chains.chain import Chain, clamped, pointing, segment_rotations, tip_rotation, world_axis
from poise.kernels.gaze.erik.descent import Descent, climb, descend, descent_aim, twist_tip, warp
from poise.kernels.gaze.erik.forward_as_printed import forward_as_printed
from poise.kernels.gaze.erik.joint import Lalut, off_edge
from poise.kernels.gaze.erik.phases import Frames, backward_phase, forward_phase
from poise.kernels.gaze.measures import DIRECTED, Aim, Scoring, combined_error
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.portable_trigonometry import turn_about
from poise.kernels.maths.quaternion import Quaternion, direct_rotation, multiply

Array = np.ndarray


class ErikOptions(NamedTuple):
    """The hyperparameters and extensions [Ribeiro & Paiva 2019, table 2 and 3.9]."""

    threshold: float
    """Combined error that is good enough."""
    iterations: int
    """Most iterations."""
    descent: Descent
    """When BWCD and CCD stop."""
    disturbance: float
    """Step off a limit, and shift of the target [rad]."""
    stall: float
    """Two errors that differ by no more than this are the same."""
    patience: int
    """Iterations before non-convergence is looked for."""
    avoid_edges: int
    """1 to step off limits."""
    offset_trick: int
    """1 to shift the target when the error no longer falls."""
    ccd_trick: int
    """1 to let CCD take over when that did not help."""
    as_printed: int
    """1 for the forward phase as it is printed."""


class ErikRoom(NamedTuple):
    """Room for one solve of a chain of n joints."""

    posture: Array
    """(n,) the warped posture [rad]."""
    angles: Array
    """(n,) the solution at hand [rad]."""
    best: Array
    """(n,) the best solution so far [rad]."""
    frames: Frames


@kernel
def solve_erik(
    chain: Chain,
    scoring: Scoring,
    lalut: Lalut,
    options: ErikOptions,
    aim: Aim,
    posture: Array,
    start: Array,
    room: ErikRoom,
) -> int:
    """CalculateERIK [Ribeiro & Paiva 2019, alg. 3]: leaves the solution in `room.best` and returns the iterations.

    Args:
        chain: The chain.
        scoring: What the errors weigh.
        lalut: The look-up table, empty to solve for swings.
        options: Hyperparameters and extensions.
        aim: What the tip is to face.
        posture: (n,) wanted angles, which may be outside limits [rad].
        start: (n,) the solution to beat, which is all zeros or the previous one [rad].
        room: Where to work.
    """
    n = posture.shape[0]
    edge = options.disturbance if options.avoid_edges else 0.0
    angles, best, warped = room.angles, room.best, room.posture
    for k in range(n):
        warped[k] = posture[k]
        best[k] = clamped(chain, k, start[k])
        angles[k] = best[k]
    least = combined_error(chain, scoring, aim, best, posture)
    warp(chain, aim, options.descent, warped)
    if edge > 0.0:
        for k in range(n):
            warped[k] = off_edge(chain, k, warped[k], edge)
    segment_rotations(chain, warped, room.frames.warped)
    target = _full(chain, aim, warped)
    before, before_that = 2.0, 2.0
    shifted = False
    for i in range(1, options.iterations + 1):
        if options.as_printed:
            segment_rotations(chain, angles, room.frames.reached)
            forward_as_printed(chain, lalut, target, edge, angles, room.frames)
        else:
            forward_phase(chain, lalut, target, edge, room.frames)
        backward_phase(chain, lalut, scoring.symmetric, room.frames, angles)
        error, least = _judged(chain, scoring, aim, posture, least, room)
        if error <= options.threshold:
            return i
        working = Aim(target, aim.kind)
        climb(chain, descent_aim(chain, working, scoring.symmetric, angles), options.descent, angles)
        twist_tip(chain, working, scoring.symmetric, angles)
        error, least = _judged(chain, scoring, aim, posture, least, room)
        if error <= options.threshold:
            return i
        stalled = abs(error - before) <= options.stall or abs(error - before_that) <= options.stall
        before, before_that = error, before
        if i < options.patience or not stalled:
            continue
        if options.offset_trick and not shifted:
            target = _shifted(chain, target, options.disturbance, room)
            shifted = True
            continue
        if options.ccd_trick:
            _last_resort(chain, scoring, options, aim, working, posture, least, room)
            return i
    return options.iterations


@kernel
def _full(chain: Chain, aim: Aim, warped: Array) -> Quaternion:
    """The frame to work towards: where any roll will do, the warped posture's tip turned the last bit to the aim."""
    if aim.kind != DIRECTED:
        return aim.rotation
    tip = tip_rotation(chain, warped)
    return multiply(direct_rotation(pointing(tip), pointing(aim.rotation)), tip)


@kernel
def _judged(
    chain: Chain, scoring: Scoring, aim: Aim, posture: Array, least: float, room: ErikRoom
) -> tuple[float, float]:
    """The error of the solution at hand, and of the best so far, which it replaces if it is no worse (alg. 7)."""
    error = combined_error(chain, scoring, aim, room.angles, posture)
    if error <= least:
        for k in range(posture.shape[0]):
            room.best[k] = room.angles[k]
        least = error
    return error, least


@kernel
def _shifted(chain: Chain, target: Quaternion, disturbance: float, room: ErikRoom) -> Quaternion:
    """The target turned a little about the first two joints, each away from its nearer limit.

    NonConvOffsetTrick [Ribeiro & Paiva 2019, 7.1].
    """
    segment_rotations(chain, room.angles, room.frames.reached)
    for k in range(min(2, room.angles.shape[0])):
        angle = room.angles[k]
        farther_from_lower = abs(angle - chain.lower[k]) > abs(angle - chain.upper[k])
        turn = disturbance if farther_from_lower else -disturbance
        target = multiply(turn_about(world_axis(chain, room.frames.reached, k), turn), target)
    return target


@kernel
def _last_resort(
    chain: Chain,
    scoring: Scoring,
    options: ErikOptions,
    aim: Aim,
    working: Aim,
    posture: Array,
    least: float,
    room: ErikRoom,
) -> None:
    """CCD from the solution at hand, and from all joints at zero if that is not good enough (alg. 3 l. 23-31)."""
    edge = options.disturbance if options.avoid_edges else 0.0
    for attempt in range(2):
        if attempt == 1:
            for k in range(posture.shape[0]):
                room.angles[k] = clamped(chain, k, 0.0)
        descend(chain, descent_aim(chain, working, scoring.symmetric, room.angles), options.descent, edge, room.angles)
        twist_tip(chain, working, scoring.symmetric, room.angles)
        error, least = _judged(chain, scoring, aim, posture, least, room)
        if error <= options.threshold:
            return
