"""ERIK: hold a posture while the tip faces a target orientation [Ribeiro & Paiva 2019, alg. 2-22].

The posture is first warped: turned towards the target, ignoring limits. Each iteration then computes from the warped
posture the frame that each segment should have (forward phase), fits the joints to those frames within limits (backward
phase), and turns the result towards the target (BWCD). When the error no longer decreases, the target is shifted by a
small angle. If that does not help, CCD takes over, first from the current solution and then from all joints at zero.
"""

from typing import NamedTuple

import numpy as np

from poise.kernels.chains.chain import Chain, clamped, pointing, segment_rotations, tip_rotation, world_axis
from poise.kernels.gaze.erik.descent import Descent, bwcd_posture, bwcd_solution, ccd_solution, descent_aim, twist_tip
from poise.kernels.gaze.erik.forward_as_printed import forward_as_printed
from poise.kernels.gaze.erik.joint import Lalut, step_off_limit
from poise.kernels.gaze.erik.phases import Frames, backward_phase, forward_phase
from poise.kernels.gaze.measures import DIRECTED, Aim, Scoring, combined_error
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.portable_trigonometry import turn_about
from poise.kernels.maths.quaternion import Quaternion, direct_rotation, multiply

Array = np.ndarray


class ErikOptions(NamedTuple):
    """The hyperparameters and extensions [Ribeiro & Paiva 2019, table 2 and 3.9]."""

    threshold: float
    """The solve stops at this combined error."""
    iterations: int
    """Largest number of iterations."""
    descent: Descent
    """Stopping criteria of BWCD and CCD."""
    disturbance: float
    """Distance by which joints are moved off a limit, and angle by which the target is shifted [rad]."""
    stall: float
    """Errors of two iterations that differ by no more than this count as equal."""
    patience: int
    """Iterations before the first check for non-convergence."""
    avoid_edges: int
    """1 to move joints off their limits."""
    offset_trick: int
    """1 to shift the target when the error no longer decreases."""
    ccd_trick: int
    """1 to continue with CCD when shifting the target did not help."""
    as_printed: int
    """1 for the forward phase exactly as printed in the paper."""


class ErikWorkspace(NamedTuple):
    """Workspace arrays of one solve of a chain of n joints."""

    posture: Array
    """(n,) the warped posture [rad]."""
    angles: Array
    """(n,) the current solution [rad]."""
    best: Array
    """(n,) the best solution so far [rad]."""
    frames: Frames
    """Frames of the segments."""


@kernel
def solve_erik(
    chain: Chain,
    scoring: Scoring,
    lalut: Lalut,
    options: ErikOptions,
    aim: Aim,
    posture: Array,
    start: Array,
    workspace: ErikWorkspace,
) -> int:
    """CalculateERIK [Ribeiro & Paiva 2019, alg. 3]: writes the solution to `workspace.best`, returns the iterations.

    Args:
        chain: The chain.
        scoring: Weights of the errors.
        lalut: The look-up table of swing angles; an empty one solves for them instead.
        options: Hyperparameters and extensions.
        aim: Wanted orientation or direction of the tip.
        posture: (n,) wanted angles, which may be outside limits [rad].
        start: (n,) initial best solution: all zeros, or the solution of the previous frame [rad].
        workspace: Workspace arrays.
    """
    n = posture.shape[0]
    edge = options.disturbance if options.avoid_edges else 0.0
    angles, best, warped = workspace.angles, workspace.best, workspace.posture
    for k in range(n):
        warped[k] = posture[k]
        best[k] = clamped(chain, k, start[k])
        angles[k] = best[k]
    least = combined_error(chain, scoring, aim, best, posture)
    bwcd_posture(chain, aim, options.descent, warped)
    if edge > 0.0:
        for k in range(n):
            warped[k] = step_off_limit(chain, k, warped[k], edge)
    segment_rotations(chain, warped, workspace.frames.warped)
    target = _target_frame(chain, aim, warped)
    before, before_that = 2.0, 2.0
    shifted = False
    for i in range(1, options.iterations + 1):
        if options.as_printed:
            segment_rotations(chain, angles, workspace.frames.reached)
            forward_as_printed(chain, lalut, target, edge, angles, workspace.frames)
        else:
            forward_phase(chain, lalut, target, edge, workspace.frames)
        backward_phase(chain, lalut, scoring.symmetric, workspace.frames, angles)
        error, least = _update_best(chain, scoring, aim, posture, least, workspace)
        if error <= options.threshold:
            return i
        working = Aim(target, aim.kind)
        bwcd_solution(chain, descent_aim(chain, working, scoring.symmetric, angles), options.descent, angles)
        twist_tip(chain, working, scoring.symmetric, angles)
        error, least = _update_best(chain, scoring, aim, posture, least, workspace)
        if error <= options.threshold:
            return i
        stalled = abs(error - before) <= options.stall or abs(error - before_that) <= options.stall
        before, before_that = error, before
        if i < options.patience or not stalled:
            continue
        if options.offset_trick and not shifted:
            target = _shifted_target(chain, target, options.disturbance, workspace)
            shifted = True
            continue
        if options.ccd_trick:
            _ccd_fallback(chain, scoring, options, aim, working, posture, least, workspace)
            return i
    return options.iterations


@kernel
def _target_frame(chain: Chain, aim: Aim, warped: Array) -> Quaternion:
    """The target frame: the aim's, or for a direction the warped posture's tip turned by the residual to the aim."""
    if aim.kind != DIRECTED:
        return aim.rotation
    tip = tip_rotation(chain, warped)
    return multiply(direct_rotation(pointing(tip), pointing(aim.rotation)), tip)


@kernel
def _update_best(
    chain: Chain, scoring: Scoring, aim: Aim, posture: Array, least: float, workspace: ErikWorkspace
) -> tuple[float, float]:
    """Replace `workspace.best` by the current solution if that is no worse; returns both errors (alg. 7)."""
    error = combined_error(chain, scoring, aim, workspace.angles, posture)
    if error <= least:
        for k in range(posture.shape[0]):
            workspace.best[k] = workspace.angles[k]
        least = error
    return error, least


@kernel
def _shifted_target(chain: Chain, target: Quaternion, disturbance: float, workspace: ErikWorkspace) -> Quaternion:
    """The target turned by `disturbance` about the axes of the first two joints, each away from its nearer limit.

    NonConvOffsetTrick [Ribeiro & Paiva 2019, 7.1].
    """
    segment_rotations(chain, workspace.angles, workspace.frames.reached)
    for k in range(min(2, workspace.angles.shape[0])):
        angle = workspace.angles[k]
        farther_from_lower = abs(angle - chain.lower[k]) > abs(angle - chain.upper[k])
        turn = disturbance if farther_from_lower else -disturbance
        target = multiply(turn_about(world_axis(chain, workspace.frames.reached, k), turn), target)
    return target


@kernel
def _ccd_fallback(
    chain: Chain,
    scoring: Scoring,
    options: ErikOptions,
    aim: Aim,
    working: Aim,
    posture: Array,
    least: float,
    workspace: ErikWorkspace,
) -> None:
    """Run CCD from the current solution, then, if the error is above the threshold, from zero (alg. 3 l. 23-31)."""
    edge = options.disturbance if options.avoid_edges else 0.0
    for attempt in range(2):
        if attempt == 1:
            for k in range(posture.shape[0]):
                workspace.angles[k] = clamped(chain, k, 0.0)
        ccd_solution(
            chain,
            descent_aim(chain, working, scoring.symmetric, workspace.angles),
            options.descent,
            edge,
            workspace.angles,
        )
        twist_tip(chain, working, scoring.symmetric, workspace.angles)
        error, least = _update_best(chain, scoring, aim, posture, least, workspace)
        if error <= options.threshold:
            return
