"""Jacobian methods for one end-point: transpose, pseudoinverse, damped and selectively damped least squares.

Each iteration takes a step q ← q ⊕ Δ [Ribeiro & Paiva 2019, alg. 1]. `jacobian_steps` computes Δ from the Jacobian J of
the end-point and the residual e, whose length is clamped because J is only a local model.

If a joint is at a limit and the step would move it beyond, its column is removed from J and the step is computed again,
so that the other joints do its part. The remaining joints are clamped to their limits after the step. The solution is
the best posture of all iterations.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.body.tree import forward, integrate, jacobian, motion_axes
from poise.kernels.chains.ball_joints import clamp_ball
from poise.kernels.chains.chain import pointing
from poise.kernels.chains.goal import (
    DIRECTION_GOAL,
    LOOK_GOAL,
    ORIENTATION_GOAL,
    POSITION_GOAL,
    ChainGoal,
    Tip,
    goal_error,
    tip_of,
    unpack_goal,
    wanted_direction,
)
from poise.kernels.chains.jacobian_steps import clamp_largest, damped_step, selective_step, transpose_step
from poise.kernels.chains.rounds import record_posture, stalled
from poise.kernels.jit.compile import inner_kernel, kernel
from poise.kernels.maths.quaternion import conjugate, direct_rotation, multiply, to_rotation_vector
from poise.kernels.maths.singular_values import singular_rows
from poise.kernels.maths.vector import Vector, add, cross, dot, length, orthogonal, scale, subtract
from poise.kernels.reach.path import Path, PathMemory, read_path

Array = np.ndarray

TRANSPOSE, PSEUDOINVERSE, DAMPED_LEAST_SQUARES, SELECTIVELY_DAMPED = 0, 1, 2, 3
"""Values of `StepSettings.method`."""
STEPS_PER_STALL_CHECK = 25
"""Steps between two checks for progress."""
AT_LIMIT_DISTANCE = 1e-12
"""A coordinate within this distance of a limit counts as at the limit [rad or m]."""


class StepSettings(NamedTuple):
    """The method, and bounds on its steps; equations of [Ribeiro & Paiva 2019]."""

    method: int
    """TRANSPOSE, PSEUDOINVERSE, DAMPED_LEAST_SQUARES or SELECTIVELY_DAMPED."""
    max_error: float
    """|e| is clamped to this [m or rad]; D_max of eq. 8."""
    max_joint_step: float
    """Largest change of any joint in one step; γ_max of eq. 11 [rad]."""
    max_damped_step: float
    """Largest |Δ| of a damped step; b_max of eq. 15 [rad]."""


class Workspace(NamedTuple):
    """Workspace arrays of one solve, for k nodes and n velocity coordinates."""

    position: Array
    """(k, 3) world positions of the nodes [m]."""
    rotation: Array
    """(k, 4) world rotations of the nodes."""
    axes: Array
    """(n, 3) world axes of the velocity coordinates."""
    tip_jacobian: Array
    """(6, n) Jacobian of the tip: velocity, then angular velocity."""
    rows: Array
    """(3, n) Jacobian J of the goal."""
    scaled_right: Array
    """(3, n) scaled right singular vectors σ_i v_i in rows."""
    left: Array
    """(3, 3) left singular vectors u_i in columns."""
    sigma: Array
    """(3,) singular values."""
    error: Array
    """(3,) residual e [m or rad]."""
    step: Array
    """(n,) step Δ."""
    column_norm: Array
    """(n,) norms |∂s/∂θ_j| of the columns of J."""
    excluded: Array
    """(n,) 1 for columns removed from J: held joints, and joints that the step would move beyond a limit."""
    current: Array
    """(nq,) current posture."""
    trial: Array
    """(nq,) posture after a step."""


@kernel(counts_references=True)
def jacobian_steps(
    memory: PathMemory, start: Array, goal: tuple[float, ...], damping: tuple[float, ...],
    tolerance: float, max_steps: int, trace: Array,
    # outputs
    q: Array,
) -> tuple[float, int]:  # fmt: skip
    """Move one site to a goal by a Jacobian method; returns the remaining error and the number of steps.

    Args:
        memory: The path, stored by `poise.kernels.reach.path.store_path`.
        start: (nq,) initial posture, within limits.
        goal: Kind, vector and rotation of a `ChainGoal`, as eight numbers.
        damping: The fields of a `StepSettings`.
        tolerance: The solve stops at this error [m or rad].
        max_steps: Largest number of steps.
        trace: (t, nq) receives the posture after each of the first t steps.
        q: (nq,) the solution.
    """
    nodes, n = memory.parent.shape[0], memory.dof_node.shape[0]
    workspace = Workspace(
        np.empty((nodes, 3)),
        np.empty((nodes, 4)),
        np.empty((n, 3)),
        np.empty((6, n)),
        np.empty((3, n)),
        np.empty((3, n)),
        np.empty((3, 3)),
        np.empty(3),
        np.empty(3),
        np.empty(n),
        np.empty(n),
        np.empty(n, dtype=np.int64),
        start.copy(),
        start.copy(),
    )
    chain_goal = unpack_goal(goal)
    settings = StepSettings(int(damping[0]), damping[1], damping[2], damping[3])
    return _steps(memory, chain_goal, settings, tolerance, max_steps, trace, workspace, q)


@inner_kernel
def _steps(
    memory: PathMemory, goal: ChainGoal, settings: StepSettings, tolerance: float, max_steps: int,
    trace: Array, workspace: Workspace,
    # outputs
    q: Array,
) -> tuple[float, int]:  # fmt: skip
    path = read_path(memory)
    current = workspace.current
    _copy(current, q)
    forward(path.tree, current, workspace.position, workspace.rotation)
    tip = tip_of(path.site, path.node, workspace.position, workspace.rotation)
    best = goal_error(goal, tip)
    before = best
    for taken in range(max_steps):
        if best <= tolerance:
            return best, taken
        motion_axes(path.tree, workspace.rotation, workspace.axes)
        jacobian(path.tree, workspace.position, workspace.axes, path.node, tip.position, workspace.tip_jacobian)
        m = goal_rows(goal, tip, workspace.tip_jacobian, workspace.rows, workspace.error)
        _shorten(workspace.error, m, settings.max_error)
        _step_within_limits(path, settings, m, workspace)
        moved = _take_step(path, workspace)
        forward(path.tree, current, workspace.position, workspace.rotation)
        tip = tip_of(path.site, path.node, workspace.position, workspace.rotation)
        error = goal_error(goal, tip)
        record_posture(taken, current, trace)
        if error < best:
            best = error
            _copy(current, q)
        is_stalled, before = stalled(taken + 1, STEPS_PER_STALL_CHECK, best, before)
        if is_stalled or not moved:
            return best, taken + 1
    return best, max_steps


@kernel
def _copy(a: Array, b: Array) -> None:
    for k in range(a.shape[0]):
        b[k] = a[k]


@kernel
def goal_vector(goal: ChainGoal, tip: Tip) -> Vector:
    """The residual of a goal: an offset [m], or a rotation vector in world axes [rad]."""
    if goal.kind == POSITION_GOAL:
        return subtract(goal.vector, tip.position)
    if goal.kind == DIRECTION_GOAL or goal.kind == LOOK_GOAL:
        return to_rotation_vector(direct_rotation(pointing(tip.rotation), wanted_direction(goal, tip)))
    return to_rotation_vector(multiply(goal.rotation, conjugate(tip.rotation)))


@kernel
def goal_rows(
    goal: ChainGoal, tip: Tip, tip_jacobian: Array,
    # outputs
    rows: Array,
    error: Array,
) -> int:  # fmt: skip
    """Write the residual of a goal to `error` (3,) and its Jacobian to `rows` (3, n); returns the number of rows.

    `tip_jacobian` (6, n) is the tip's Jacobian. A direction and a line of sight have two rows, perpendicular to the
    tip's +Y, since its roll is free; positions and orientations have three.
    """
    left = goal_vector(goal, tip)
    first = 0 if goal.kind == POSITION_GOAL else 3
    if goal.kind == POSITION_GOAL or goal.kind == ORIENTATION_GOAL:
        error[0], error[1], error[2] = left.x, left.y, left.z
        for r in range(3):
            for k in range(rows.shape[1]):
                rows[r, k] = tip_jacobian[first + r, k]
        return 3
    y = pointing(tip.rotation)
    a = orthogonal(y)
    b = cross(y, a)
    error[0], error[1], error[2] = dot(left, a), dot(left, b), 0.0
    sight = wanted_direction(goal, tip)
    inverse_distance = 0.0
    if goal.kind == LOOK_GOAL:
        inverse_distance = 1.0 / max(1e-9, length(subtract(goal.vector, tip.position)))
    for k in range(rows.shape[1]):
        # A line of sight to a point turns by -d × v / |d| when the tip moves with v.
        v = Vector(tip_jacobian[0, k], tip_jacobian[1, k], tip_jacobian[2, k])
        w = add(
            Vector(tip_jacobian[3, k], tip_jacobian[4, k], tip_jacobian[5, k]), scale(cross(sight, v), inverse_distance)
        )
        rows[0, k] = dot(w, a)
        rows[1, k] = dot(w, b)
    return 2


@kernel
def _shorten(error: Array, m: int, max_error: float) -> None:
    """Scale the residual down to length `max_error` if it is longer: ClampMag of [Ribeiro & Paiva 2019, eq. 8]."""
    square = 0.0
    for r in range(m):
        square += error[r] * error[r]
    if square > max_error * max_error:
        for r in range(m):
            error[r] *= max_error / math.sqrt(square)


@inner_kernel
def _step_within_limits(path: Path, settings: StepSettings, m: int, workspace: Workspace) -> None:
    """Compute `workspace.step`, and again without the joints at a limit that it would move beyond, until none is."""
    n = path.dof_q.shape[0]
    excluded = workspace.excluded
    for k in range(n):
        excluded[k] = path.dof_held[k]
    for _ in range(n):
        _step_of_free_joints(settings, m, workspace)
        more = False
        for k in range(n):
            if excluded[k] == 0 and _pushes_beyond_limit(path, workspace, k):
                excluded[k] = 1
                more = True
        if not more:
            return


@inner_kernel
def _pushes_beyond_limit(path: Path, workspace: Workspace, k: int) -> bool:
    """Whether coordinate `k` is at a limit and the step would move it beyond."""
    at = path.dof_q[k]
    if at < 0:
        return False
    value, way = workspace.current[at], workspace.step[k]
    lower, upper = path.bounds.lower[at], path.bounds.upper[at]
    return (way < 0.0 and value <= lower + AT_LIMIT_DISTANCE) or (way > 0.0 and value >= upper - AT_LIMIT_DISTANCE)


@inner_kernel
def _step_of_free_joints(settings: StepSettings, m: int, workspace: Workspace) -> None:
    """Compute `workspace.step` with the columns that are not excluded, by the method of `settings`."""
    rows, scaled_right, step, excluded = workspace.rows, workspace.scaled_right, workspace.step, workspace.excluded
    n = step.shape[0]
    for r in range(m):
        for k in range(n):
            scaled_right[r, k] = rows[r, k] if excluded[k] == 0 else 0.0
    for k in range(n):
        step[k] = 0.0
    if settings.method == TRANSPOSE:
        transpose_step(m, scaled_right, workspace.error, step)
    else:
        if settings.method == SELECTIVELY_DAMPED:
            for k in range(n):
                workspace.column_norm[k] = 0.0
                for r in range(m):
                    workspace.column_norm[k] += scaled_right[r, k] * scaled_right[r, k]
                workspace.column_norm[k] = math.sqrt(workspace.column_norm[k])
        singular_rows(m, scaled_right, workspace.left, workspace.sigma)
        if settings.method == SELECTIVELY_DAMPED:
            selective_step(
                m,
                scaled_right,
                workspace.left,
                workspace.sigma,
                workspace.error,
                workspace.column_norm,
                settings.max_joint_step,
                step,
            )
        else:
            max_damped_step = settings.max_damped_step if settings.method == DAMPED_LEAST_SQUARES else math.inf
            damped_step(m, scaled_right, workspace.left, workspace.sigma, workspace.error, max_damped_step, step)
    clamp_largest(step, settings.max_joint_step)


@inner_kernel
def _take_step(path: Path, workspace: Workspace) -> bool:
    """Apply the step to the current posture and clamp it to the limits; returns whether any coordinate changed."""
    current, trial, bounds = workspace.current, workspace.trial, path.bounds
    integrate(path.tree, current, workspace.step, trial)
    moved = False
    for i in range(path.moving_q.shape[0]):
        k = path.moving_q[i]
        trial[k] = min(max(trial[k], bounds.lower[k]), bounds.upper[k])
    for b in range(path.balls.shape[0]):
        clamp_ball(path, b, trial)
    for i in range(path.moving_q.shape[0]):
        k = path.moving_q[i]
        moved = moved or abs(trial[k] - current[k]) > 1e-15
        current[k] = trial[k]
    return moved
