"""Damped least squares with two priorities: the orientation first, the posture in the null space of the orientation.

The method that ERIK was compared with [Ribeiro & Paiva 2019, eq. 25; Baerlocher 2001]. With J the Jacobian of the tip's
rotation (3, n), e the residual rotation vector, s the angles and Ψ the posture,

    Δx = J^{†λ₁} e        P = I - J† J        e₂ = Ψ - (s + Δx)        Δθ = Δx + P (S P)^{†λ₂} S e₂

where S selects the joints that define the shape, all but a twister (roll joint) at the root and one at the tip, and
J^{†λ} is the pseudoinverse with the smallest damping that keeps a step within b, see
`poise.kernels.chains.jacobian_steps`. e₂ already contains the step of the first task, which eq. 25 would subtract a
second time. Angles are clamped to their limits after each step, and the solution is the best iterate.

A step depends on the angles alone. So once the angles are equal, to the last bit, to those of an earlier iterate, all
further iterates repeat earlier ones. Most solves that miss the threshold come to rest or to a short cycle within a
hundred steps; they end there and count the largest number of steps, as the repetitions would. The angles are compared
with those of the previous iterate and with those of iterate 2^k, where 2^k is the last power of two [Brent 1980].
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.chains.chain import Chain, clamped, pointing, segment_rotations, world_axis
from poise.kernels.chains.jacobian_steps import damped_step
from poise.kernels.gaze.erik.joint import twist_of
from poise.kernels.gaze.measures import DIRECTED, Aim, Scoring, orientation_error, posture_error, upside_down
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.portable_trigonometry import arc_tangent, rotation_vector, turn_about
from poise.kernels.maths.quaternion import Quaternion, conjugate, direct_rotation, multiply, quaternion_at, unit
from poise.kernels.maths.singular_values import singular_rows
from poise.kernels.maths.vector import Vector, length, scale

Array = np.ndarray


class TwoPriorityOptions(NamedTuple):
    """Bounds on the steps, and stopping criteria."""

    iterations: int
    """Largest number of steps."""
    threshold: float
    """The solve stops at this combined error."""
    max_step: float
    """b: largest length of a damped step [rad]."""
    max_residual: float
    """The residual rotation is clamped to this angle [rad]."""
    posture: int
    """1 to include the second task, the posture; 0 to omit it."""


class TwoPriorityWorkspace(NamedTuple):
    """Workspace arrays of one solve of a chain of n joints."""

    angles: Array
    """(n,) current angles [rad]."""
    best: Array
    """(n,) best angles so far [rad]."""
    step: Array
    """(n,) Δx, then Δθ [rad]."""
    residual: Array
    """(max(n, 3),) e, then S e₂ [rad]."""
    frames: Array
    """(n, 4) world frames of the segments; `_second_task` reuses it as scratch."""
    rows: Array
    """(max(n, 3), n) J or S P, then their scaled right singular vectors σ_i v_iᵀ."""
    left: Array
    """(max(n, 3), max(n, 3)) left singular vectors u_i in columns."""
    sigma: Array
    """(max(n, 3),) singular values."""
    projector: Array
    """(n, n) null-space projector P."""
    mark: Array
    """(n,) an earlier iterate, which the current one is compared with [rad]."""


class TwoPriorityProgress(NamedTuple):
    """The state of a solve between two steps."""

    goal: Quaternion
    """The wanted frame of the tip, or that frame upside down."""
    iterations: int
    """Number of iterates evaluated, or the largest number once they repeat."""
    least: float
    """Smallest combined error so far."""
    done: bool
    """Whether the solve has ended."""


@kernel
def solve_two_priority(
    chain: Chain,
    scoring: Scoring,
    options: TwoPriorityOptions,
    aim: Aim,
    posture: Array,
    start: Array,
    workspace: TwoPriorityWorkspace,
) -> int:
    """Solve one problem from `start`; writes the solution to `workspace.best` and returns the number of steps."""
    progress = begin_two_priority(chain, scoring, aim, start, workspace)
    while not progress.done:
        progress = advance_two_priority(chain, scoring, options, aim, posture, progress, workspace)
    return progress.iterations


@kernel
def begin_two_priority(
    chain: Chain, scoring: Scoring, aim: Aim, start: Array, workspace: TwoPriorityWorkspace
) -> TwoPriorityProgress:
    """Put the clamped `start` (n,) into the workspace; returns the state before the first step."""
    for k in range(start.shape[0]):
        workspace.angles[k] = clamped(chain, k, start[k])
        workspace.mark[k] = math.inf
    goal = upright(aim.rotation) if scoring.symmetric and aim.kind != DIRECTED else aim.rotation
    return TwoPriorityProgress(goal, 0, math.inf, False)


@kernel
def advance_two_priority(
    chain: Chain,
    scoring: Scoring,
    options: TwoPriorityOptions,
    aim: Aim,
    posture: Array,
    progress: TwoPriorityProgress,
    workspace: TwoPriorityWorkspace,
) -> TwoPriorityProgress:
    """Evaluate the current iterate and compute the next one; returns the new state."""
    n = posture.shape[0]
    angles, iterations, least = workspace.angles, progress.iterations + 1, progress.least
    segment_rotations(chain, angles, workspace.frames)
    tip = unit(quaternion_at(workspace.frames, n - 1))
    error = scoring.orientation * orientation_error(scoring, aim, tip)
    if options.posture:
        error += scoring.posture * posture_error(chain, scoring, angles, posture)
    if error < least:
        least = error
        for k in range(n):
            workspace.best[k] = angles[k]
    if error <= options.threshold:
        return TwoPriorityProgress(progress.goal, iterations, least, True)
    _first_task(chain, options, progress.goal, tip, aim.kind, workspace)
    if options.posture:
        _second_task(chain, options, posture, workspace)
    rests, repeats = True, True
    for k in range(n):
        turned = clamped(chain, k, angles[k] + workspace.step[k])
        rests = rests and turned == angles[k]
        repeats = repeats and turned == workspace.mark[k]
        angles[k] = turned
    if rests or repeats:
        iterations = options.iterations
    elif iterations & (iterations - 1) == 0:
        for k in range(n):
            workspace.mark[k] = angles[k]
    return TwoPriorityProgress(progress.goal, iterations, least, iterations >= options.iterations)


@kernel
def upright(target: Quaternion) -> Quaternion:
    """The target or the target upside down: the one that twisters of ±90° at the root and the tip can reach.

    Written as R(y, h) R(x, v) R(y, t) with |h| ≤ 90°, it is the one with |t| ≤ 90° [Ribeiro & Paiva 2019, 4.0.4].
    """
    d = pointing(target)
    heading = arc_tangent(d.x, d.z)
    tilt = arc_tangent(math.sqrt(d.x * d.x + d.z * d.z), d.y)
    if abs(heading) > 0.5 * math.pi:
        heading -= math.copysign(math.pi, heading)
        tilt = -tilt
    untwisted = multiply(turn_about(Vector(0.0, 1.0, 0.0), heading), turn_about(Vector(1.0, 0.0, 0.0), tilt))
    roll = twist_of(multiply(conjugate(untwisted), target))
    return target if abs(roll) <= 0.5 * math.pi else upside_down(target)


@kernel
def _first_task(
    chain: Chain,
    options: TwoPriorityOptions,
    goal: Quaternion,
    tip: Quaternion,
    kind: int,
    workspace: TwoPriorityWorkspace,
) -> None:
    """Compute the step Δx of the orientation and its null-space projector P."""
    n = workspace.angles.shape[0]
    if kind == DIRECTED:
        turn = rotation_vector(direct_rotation(pointing(tip), pointing(goal)))
    else:
        turn = rotation_vector(multiply(goal, conjugate(tip)))
    size = length(turn)
    if size > options.max_residual:
        turn = scale(turn, options.max_residual / size)
    workspace.residual[0], workspace.residual[1], workspace.residual[2] = turn.x, turn.y, turn.z
    for k in range(n):
        axis = world_axis(chain, workspace.frames, k)
        workspace.rows[0, k], workspace.rows[1, k], workspace.rows[2, k] = axis.x, axis.y, axis.z
        workspace.step[k] = 0.0
    singular_rows(3, workspace.rows, workspace.left, workspace.sigma)
    for i in range(n):
        for j in range(n):
            workspace.projector[i, j] = 1.0 if i == j else 0.0
    for r in range(3):
        if workspace.sigma[r] > 0.0:
            weight = 1.0 / (workspace.sigma[r] * workspace.sigma[r])
            for i in range(n):
                for j in range(n):
                    workspace.projector[i, j] -= weight * workspace.rows[r, i] * workspace.rows[r, j]
    damped_step(
        3, workspace.rows, workspace.left, workspace.sigma, workspace.residual, options.max_step, workspace.step
    )


@kernel
def _second_task(chain: Chain, options: TwoPriorityOptions, posture: Array, workspace: TwoPriorityWorkspace) -> None:
    """Add to Δx the step P (S P)^{†λ₂} S e₂ towards the posture."""
    n = workspace.angles.shape[0]
    for i in range(n):
        counts = 1.0 if chain.middle[i] else 0.0
        workspace.residual[i] = counts * (posture[i] - workspace.angles[i] - workspace.step[i])
        for j in range(n):
            workspace.rows[i, j] = counts * workspace.projector[i, j]
    first = workspace.frames
    for i in range(n):
        first[i, 0] = workspace.step[i]
        workspace.step[i] = 0.0
    singular_rows(n, workspace.rows, workspace.left, workspace.sigma)
    damped_step(
        n, workspace.rows, workspace.left, workspace.sigma, workspace.residual, options.max_step, workspace.step
    )
    for i in range(n):
        first[i, 1] = workspace.step[i]
    for i in range(n):
        projected = 0.0
        for j in range(n):
            projected += workspace.projector[i, j] * first[j, 1]
        workspace.step[i] = first[i, 0] + projected
