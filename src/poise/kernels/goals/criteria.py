"""Criteria: what a figure does with the freedom that tasks leave.

Each criterion is a function of the posture to make small; all are summed, below every task [Baerlocher 2001, 7.2.5]:

    f(q) = ½ Σ W_i |q_i - q|² + s·(q - o) + ½ Σ_t Σ_k (c_tk τ_tk)²

for the distance to postures (and, with ranges in the weights, to the middle of the ranges), a slope s that flexes or
comes from outside, then with a curvature of its own, and the effort of holding loads. Near a posture with gradient g
and curvature B the best step of the sum is that of ½ xᵀ B x + g·x, which the last level of `levels` finds as that of
½ |x - w|² + ½ xᵀ S x with

    w = -g        S = B - 1 + Σ_j μ_j ∇²φ_j

in the freedom that is left, μ the pulls of the wish on the tasks' rows. The curvature of effort is taken by differences
of its exact gradient.

A single posture has B = 1 wherever it has weight; its wish is granted as it is, without curvature, and its value is the
distance itself.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from poise.kernels.body.tree import Tree, difference, forward, integrate, motion_axes
from poise.kernels.forces.effort import torque_gradient
from poise.kernels.forces.joint_torques import WORK_COLUMNS
from poise.kernels.forces.statics import Wrenches
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.vector import vector_at

Array = np.ndarray

NUDGE = 1e-6
"""Step of the differences [rad or m]."""
MAGNIFIED = 1000.0
"""Factor of a sum's value, such that a step of 1e-3 along a curvature of 2e-3 is still worth taking."""


class Criteria(NamedTuple):
    """What to make small, and room to work in."""

    summed: Array
    """(1,) 1 for a sum as above, 0 for the distance to the first posture alone."""
    postures: Array
    """(c, nq) postures to be near to."""
    posture_weight: Array
    """(c, nv) how much each velocity matters for that."""
    origin: Array
    """(nq,) where the slope counts from."""
    slope: Array
    """(nv,) a constant gradient."""
    bend: Array
    """(nv, nv) the curvature that comes with it from outside."""
    loads: Wrenches
    """What acts on the figure, for each effort, one after another."""
    load_start: Array
    """(t + 1,) range of each effort's loads."""
    gravity: Array
    """(t, 3) acceleration of gravity [m/s²]."""
    weakness: Array
    """(t, nv) how much each torque matters for that."""
    gap: Array
    """(nv,) workspace."""
    gradient: Array
    """(2, nv) workspace: of the sum, and of one effort."""
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
    work: Array
    """(n, WORK_COLUMNS) workspace."""


def make_criteria(tree: Tree, summed: bool, postures: Array, posture_weight: Array, **parts: Any) -> Criteria:
    """Criteria with their workspace; `parts` are the other fields that ask for something."""
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
        work=np.zeros((n, WORK_COLUMNS)),
    )


@kernel(inline=True)
def fill_wish(
    tree: Tree,
    criteria: Criteria,
    q: Array,
    # outputs
    wish: Array,
) -> None:
    """The step (nv,) that the criteria wish for at `q`: the way to the posture, or minus the gradient of the sum."""
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
    """How far the posture is from what the criteria want: a distance, or the magnified sum."""
    if criteria.summed[0] == 1:
        return MAGNIFIED * criteria_gradient(tree, criteria, q, criteria.gradient[0])
    return math.sqrt(2.0 * _distance(tree, criteria, 0, q))


@kernel(inline=True)
def _distance(tree: Tree, criteria: Criteria, c: int, q: Array) -> float:
    """½ Σ W (q_c - q)², with the difference left in `gap`."""
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
    """Value of the sum at `q`, and its `gradient` (nv,)."""
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
    """Sum of all efforts at `q`; adds their gradients."""
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
def add_bend(
    tree: Tree,
    criteria: Criteria,
    q: Array,
    # outputs
    out: Array,
) -> None:
    """Add B - 1 to `out` (nv, nv), B the curvature of the sum at `q`."""
    weight, n = criteria.posture_weight, out.shape[0]
    for k in range(n):
        out[k, k] -= 1.0
        for c in range(weight.shape[0]):
            out[k, k] += weight[c, k]
        for j in range(n):
            out[k, j] += criteria.bend[k, j]
    if criteria.weakness.shape[0] == 0:
        return
    gap, nudged, gradient = criteria.gap, criteria.nudged, criteria.gradient[0]
    for side in range(2):
        step = NUDGE if side == 0 else -NUDGE
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
