"""Criteria: objective functions to minimise in the freedom that the tasks leave.

The criteria are added up, below every task [Baerlocher 2001, 7.2.5]:

    f(q) = ½ Σ W_i |q_i - q|² + s·(q - o) + ½ Σ_t Σ_k (c_tk τ_tk)²

The first term is the distance to given postures q_i (or, with suitable weights, to the middle of the joint ranges). The
second is linear with slope s; it makes joints flex, or it is the gradient of a user's function, which comes with an
estimate of its Hessian. The third is the effort of holding loads with joint torques τ.

Near a posture with gradient g and Hessian B, the best step minimises ½ xᵀ B x + g·x. The last level of the level solver
minimises ½ |x - w|² + ½ xᵀ S x, which is the same for

    w = -g        S = B - 1 + Σ_j μ_j ∇²φ_j

with μ the multipliers of the tasks' rows at the optimum. The Hessian of the effort is computed by differences of its
exact gradient.

A single posture to be near to has B = 1 wherever it has weight: it is solved without curvature, and its value is the
distance itself.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from poise.kernels.body.tree import Tree, difference, forward, integrate, motion_axes
from poise.kernels.forces.joint_torques import LoadWork, make_load_work, torque_gradient
from poise.kernels.forces.statics import Wrenches
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.vector import vector_at

Array = np.ndarray

GRADIENT_DIFFERENCE = 1e-6
"""Step of the differences of the effort's gradient [rad or m]."""
CRITERIA_SCALE = 1000.0
"""Factor on the value of a sum, such that a step of 1e-3 along a curvature of 2e-3 still has the least gain."""


class Criteria(NamedTuple):
    """The terms of the sum of criteria, and workspace."""

    summed: Array
    """(1,) 1 for a sum as above, 0 for the distance to the first posture alone."""
    postures: Array
    """(c, nq) postures to be near to."""
    posture_weight: Array
    """(c, nv) weight W of each velocity in the distance to each posture."""
    origin: Array
    """(nq,) the posture o at which the linear term is zero."""
    slope: Array
    """(nv,) gradient s of the linear term."""
    slope_hessian: Array
    """(nv, nv) estimated Hessian of the functions whose gradients are part of the slope."""
    loads: Wrenches
    """Loads on the figure for each effort term, one after another."""
    load_start: Array
    """(t + 1,) range of each effort's loads."""
    gravity: Array
    """(t, 3) acceleration of gravity [m/s²]."""
    weakness: Array
    """(t, nv) weight c of each joint torque, 1 / strength."""
    gap: Array
    """(nv,) workspace."""
    gradient: Array
    """(2, nv) workspace: gradient of the sum, and of one effort."""
    torque: Array
    """(nv,) workspace."""
    nudged: Array
    """(nq,) workspace."""
    position: Array
    """(n, 3) workspace."""
    rotation: Array
    """(n, 4) workspace."""
    axes: Array
    """(nv, 3) workspace."""
    work: LoadWork
    """Workspace of the torques."""


def make_criteria(tree: Tree, summed: bool, postures: Array, posture_weight: Array, **parts: Any) -> Criteria:
    """Criteria with their workspace; `parts` are the other fields that define terms."""
    n, nv, nq = tree.parent.shape[0], tree.dof_node.shape[0], postures.shape[1]
    return Criteria(
        summed=np.array([int(summed)], dtype=np.int64),
        postures=postures,
        posture_weight=posture_weight,
        **parts,
        gap=np.zeros(nv),
        gradient=np.zeros((2, nv)),
        torque=np.zeros(nv),
        nudged=np.zeros(nq),
        position=np.zeros((n, 3)),
        rotation=np.zeros((n, 4)),
        axes=np.zeros((nv, 3)),
        work=make_load_work(n),
    )


@kernel(inline=True)
def fill_wish(
    tree: Tree,
    criteria: Criteria,
    q: Array,
    # outputs
    wish: Array,
) -> None:
    """Compute the desired step (nv,) of the criteria at `q`: the way to the posture, or the negative gradient."""
    if criteria.summed[0] == 1:
        criteria_gradient(tree, criteria, q, wish)
        for k in range(wish.shape[0]):
            wish[k] = -wish[k]
        return
    difference(tree, q, criteria.postures[0], criteria.gap)
    for k in range(wish.shape[0]):
        wish[k] = criteria.posture_weight[0, k] * criteria.gap[k]


@kernel(inline=True)
def criteria_value(tree: Tree, criteria: Criteria, q: Array) -> float:
    """Value of the criteria at `q`: the distance to the posture, or the sum times CRITERIA_SCALE."""
    if criteria.summed[0] == 1:
        return CRITERIA_SCALE * criteria_gradient(tree, criteria, q, criteria.gradient[0])
    return math.sqrt(2.0 * _distance(tree, criteria, 0, q))


@kernel(inline=True)
def _distance(tree: Tree, criteria: Criteria, c: int, q: Array) -> float:
    """½ Σ W (q_c - q)² for posture `c`; the difference is left in `gap`."""
    gap, weight = criteria.gap, criteria.posture_weight
    difference(tree, q, criteria.postures[c], gap)
    total = 0.0
    for k in range(gap.shape[0]):
        total += weight[c, k] * gap[k] * gap[k]
    return 0.5 * total


@kernel
def criteria_gradient(
    tree: Tree,
    criteria: Criteria,
    q: Array,
    # outputs
    gradient: Array,
) -> float:
    """Compute the `gradient` (nv,) of the sum of criteria at `q`; returns its value."""
    gap, slope, weight, n = criteria.gap, criteria.slope, criteria.posture_weight, gradient.shape[0]
    total = 0.0
    difference(tree, criteria.origin, q, gap)
    for k in range(n):
        total += slope[k] * gap[k]
        gradient[k] = slope[k]
    for c in range(weight.shape[0]):
        total += _distance(tree, criteria, c, q)
        for k in range(n):
            gradient[k] -= weight[c, k] * gap[k]
    if criteria.weakness.shape[0] > 0:
        total += _add_effort(tree, criteria, q, gradient)
    return total


@kernel
def _add_effort(tree: Tree, criteria: Criteria, q: Array, gradient: Array) -> float:
    """Add the gradients of all efforts at `q` to `gradient`; returns the sum of the efforts."""
    position, rotation, axes, own = criteria.position, criteria.rotation, criteria.axes, criteria.gradient[1]
    node, point, force, torque, local, share = criteria.loads
    forward(tree, q, position, rotation)
    motion_axes(tree, rotation, axes)
    total = 0.0
    for t in range(criteria.weakness.shape[0]):
        a, b = criteria.load_start[t], criteria.load_start[t + 1]
        loads = Wrenches(node[a:b], point[a:b], force[a:b], torque[a:b], local[a:b], share[a:b])
        gravity, weakness = vector_at(criteria.gravity, t), criteria.weakness[t]
        total += torque_gradient(
            tree, position, rotation, axes, loads, gravity, weakness, criteria.work, criteria.torque, own
        )
        for k in range(gradient.shape[0]):
            gradient[k] += own[k]
    return total


@kernel
def add_criteria_curvature(
    tree: Tree,
    criteria: Criteria,
    q: Array,
    # outputs
    out: Array,
) -> None:
    """Add B - 1 to `out` (nv, nv), with B the Hessian of the sum at `q`."""
    weight, n = criteria.posture_weight, out.shape[0]
    for k in range(n):
        out[k, k] -= 1.0
        for c in range(weight.shape[0]):
            out[k, k] += weight[c, k]
        for j in range(n):
            out[k, j] += criteria.slope_hessian[k, j]
    if criteria.weakness.shape[0] == 0:
        return
    gap, nudged, gradient = criteria.gap, criteria.nudged, criteria.gradient[0]
    for side in range(2):
        step = GRADIENT_DIFFERENCE if side == 0 else -GRADIENT_DIFFERENCE
        for j in range(n):
            for k in range(n):
                gap[k] = 0.0
                gradient[k] = 0.0
            gap[j] = step
            integrate(tree, q, gap, nudged)
            _add_effort(tree, criteria, nudged, gradient)
            for k in range(n):
                half = 0.25 * gradient[k] / step
                out[j, k] += half
                out[k, j] += half
