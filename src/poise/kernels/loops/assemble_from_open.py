"""Closing loops from an open start, by the Levenberg–Marquardt method.

It uses *far* closure rows, whose direction residuals grow with the angle up to half a turn. It minimises ½ |c|² over
the velocities that are not held, inside the limits. Each step solves

    (JᵀJ + μ D) x = -Jᵀc        D the largest diagonal of JᵀJ so far

with the damping μ after [Nielsen 1999], which decreases when the model predicted the gain well and increases when it
did not. A joint at a limit is left out of a step that would push it outside. Violated couplings and ball joint limits
are rows beside the closures.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.body.tree import Tree, integrate, motion_axes
from poise.kernels.jit.compile import kernel
from poise.kernels.loops.assemble import Assembling, residual
from poise.kernels.loops.assemble_inequalities import activate_violated, fill_inequality_rows
from poise.kernels.loops.closure import Closures, closure_rows

Array = np.ndarray

MAX_DESCENT_STEPS = 300
"""Largest number of Levenberg–Marquardt steps."""
NEWTON_RESIDUAL = 1e-10
"""Residual at which the caller continues with Newton's method [m]."""
STATIONARY_GRADIENT = 1e-12
"""The descent ends when the largest entry of the gradient is below this."""
LONGEST_DESCENT_STEP = 0.7
"""Largest change of any velocity in one step [rad or m]."""
FIRST_RELATIVE_DAMPING = 1e-3
"""μ of the first step, relative to D."""


class Normal(NamedTuple):
    """Workspace for the normal equations."""

    matrix: Array
    """(nv, nv) JᵀJ."""
    factor: Array
    """(nv, nv) Cholesky factor of JᵀJ + μ D."""
    diagonal: Array
    """(nv,) D."""
    gradient: Array
    """(nv,) Jᵀc."""
    value: Array
    """(nv,) the coordinate of each turn and slide, 0 for others."""
    left_out: Array
    """(nv,) 1 for velocities that a step does not use."""


def make_normal(nv: int) -> Normal:
    """Workspace for `nv` velocities."""
    return Normal(
        np.zeros((nv, nv)),
        np.zeros((nv, nv)),
        np.zeros(nv),
        np.zeros(nv),
        np.zeros(nv),
        np.zeros(nv, dtype=np.int64),
    )


@kernel
def close_from_afar(
    tree: Tree,
    closures: Closures,
    work: Assembling,
    normal: Normal,
    # outputs
    q: Array,
) -> float:
    """Move the velocities of `q` (nq,) that are not held until the loops are nearly closed.

    `closures` must have far rows. Values outside their limits are moved inside first. Returns the largest residual [m].
    """
    step, gradient, diagonal, trial = work.step, normal.gradient, normal.diagonal, work.trial
    nv = step.shape[0]
    _move_inside(tree, work, q)
    worst, cost = _evaluate(tree, closures, work, q)
    for k in range(nv):
        diagonal[k] = 0.0
    damping, growth, fresh = FIRST_RELATIVE_DAMPING, 2.0, False
    for _ in range(MAX_DESCENT_STEPS):
        if worst <= NEWTON_RESIDUAL:
            break
        if not fresh:
            _fill_normal(tree, closures, work, normal, q)
            fresh = True
            if _steepest(normal) <= STATIONARY_GRADIENT:
                break
        if not solve_damped(normal.matrix, gradient, diagonal, normal.left_out, damping, normal.factor, step):
            damping, growth = damping * growth, 2.0 * growth
            continue
        predicted = _limit_step(work, normal, step, damping)
        integrate(tree, q, step, trial)
        after, less = _evaluate(tree, closures, work, trial)
        gain = (cost - less) / predicted if predicted > 0.0 else -1.0
        if gain > 0.0 and math.isfinite(less):
            for i in range(q.shape[0]):
                q[i] = trial[i]
            damping *= max(1.0 / 3.0, 1.0 - (2.0 * gain - 1.0) ** 3)
            growth, worst, cost, fresh = 2.0, after, less, False
        else:
            damping, growth = damping * growth, 2.0 * growth
            if damping > 1e12:
                break
    return worst


@kernel
def _evaluate(tree: Tree, closures: Closures, work: Assembling, q: Array) -> tuple[float, float]:
    """The largest residual and ½ |c|² at `q`, with the violated inequalities active."""
    activate_violated(work.inequalities, q)
    worst = residual(tree, closures, work, q)
    cost = 0.0
    for i in range(work.residuals.shape[0]):
        cost += 0.5 * work.residuals[i] * work.residuals[i]
    return worst, cost


@kernel
def _move_inside(tree: Tree, work: Assembling, q: Array) -> None:
    """Clamp all turns and slides of `q` that are not held to their limits."""
    for k in range(work.step.shape[0]):
        i = tree.dof_node[k]
        if tree.v_count[i] == 1 and work.held[k] == 0:
            at = tree.q_start[i]
            q[at] = min(max(q[at], work.lower[k]), work.upper[k])


@kernel
def _fill_normal(tree: Tree, closures: Closures, work: Assembling, normal: Normal, q: Array) -> None:
    """Evaluate JᵀJ, D and the gradient at `q`, and mark the velocities that the step leaves out."""
    matrix, gradient, value, rows, residuals = normal.matrix, normal.gradient, normal.value, work.rows, work.residuals
    nv = gradient.shape[0]
    activate_violated(work.inequalities, q)
    residual(tree, closures, work, q)
    motion_axes(tree, work.rotation, work.axes)
    closure_rows(tree, closures, work.position, work.rotation, work.axes, 0, rows)
    fill_inequality_rows(work.inequalities, q, rows)
    for j in range(nv):
        gradient[j] = 0.0
        for k in range(nv):
            matrix[j, k] = 0.0
    for i in range(rows.shape[0]):
        for j in range(nv):
            a = rows[i, j]
            if a != 0.0:
                gradient[j] += a * residuals[i]
                for k in range(nv):
                    matrix[j, k] += a * rows[i, k]
    for k in range(nv):
        normal.diagonal[k] = max(normal.diagonal[k], matrix[k, k])
        i = tree.dof_node[k]
        value[k] = q[tree.q_start[i]] if tree.v_count[i] == 1 else 0.0
        pushed_down = value[k] <= work.lower[k] and gradient[k] > 0.0
        pushed_up = value[k] >= work.upper[k] and gradient[k] < 0.0
        idle = normal.diagonal[k] == 0.0
        normal.left_out[k] = 1 if work.held[k] == 1 or pushed_down or pushed_up or idle else 0


@kernel
def _steepest(normal: Normal) -> float:
    """Largest entry of the gradient among the velocities of the step."""
    most = 0.0
    for k in range(normal.gradient.shape[0]):
        if normal.left_out[k] == 0:
            most = max(most, abs(normal.gradient[k]))
    return most


@kernel
def _limit_step(work: Assembling, normal: Normal, step: Array, damping: float) -> float:
    """Shorten `step`, clamp it to the limits, and return the decrease of ½ |c|² that the linear model predicts."""
    nv = step.shape[0]
    largest = 0.0
    for k in range(nv):
        largest = max(largest, abs(step[k]))
    share = min(1.0, LONGEST_DESCENT_STEP / largest) if largest > 0.0 else 0.0
    for k in range(nv):
        if normal.left_out[k] == 0:
            step[k] = min(max(share * step[k], work.lower[k] - normal.value[k]), work.upper[k] - normal.value[k])
    decrease = 0.0
    for j in range(nv):
        product = 0.0
        for k in range(nv):
            product += normal.matrix[j, k] * step[k]
        decrease -= step[j] * (normal.gradient[j] + 0.5 * product)
    return decrease


@kernel
def solve_damped(
    matrix: Array,
    gradient: Array,
    diagonal: Array,
    left_out: Array,
    damping: float,
    # outputs
    factor: Array,
    step: Array,
) -> bool:
    """Solve (matrix + damping D) step = -gradient over the velocities with left_out = 0, by Cholesky's method.

    Returns False when the matrix is not positive definite.
    """
    n = step.shape[0]
    for j in range(n):
        step[j] = 0.0
        if left_out[j] == 1:
            continue
        for k in range(j + 1):
            if left_out[k] == 1:
                continue
            total = matrix[j, k]
            if j == k:
                total += damping * diagonal[j]
            for c in range(k):
                if left_out[c] == 0:
                    total -= factor[j, c] * factor[k, c]
            if j > k:
                factor[j, k] = total / factor[k, k]
            elif total <= 1e-14 * (matrix[j, j] + damping * diagonal[j]):
                return False
            else:
                factor[j, j] = math.sqrt(total)
    for j in range(n):
        if left_out[j] == 0:
            total = -gradient[j]
            for c in range(j):
                if left_out[c] == 0:
                    total -= factor[j, c] * step[c]
            step[j] = total / factor[j, j]
    for j in range(n - 1, -1, -1):
        if left_out[j] == 0:
            total = step[j]
            for c in range(j + 1, n):
                if left_out[c] == 0:
                    total -= factor[c, j] * step[c]
            step[j] = total / factor[j, j]
    return True
