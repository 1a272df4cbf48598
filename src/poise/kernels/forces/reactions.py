"""Ground reaction forces at the contacts of a figure that balance it as well as friction allows."""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.body.tree import Tree
from poise.kernels.forces.friction import forces_in_cones
from poise.kernels.forces.statics import Wrenches, net_wrench, world_point
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.vector import Vector, add, dot, length, normalized, put_vector, scale, subtract, vector_at

Array = np.ndarray


class Footholds(NamedTuple):
    """Contact points between supports and the ground, one row each."""

    node: Array
    """(c,) node that the point is attached to."""
    point: Array
    """(c, 3) the point in the node's frame [m]."""
    normal: Array
    """(c, 3) unit normal of the ground in world axes."""
    friction: Array
    """(c,) coefficient of friction."""
    support: Array
    """(c,) index of the support that the point belongs to."""


@kernel(counts_references=True)
def contact_reactions(
    tree: Tree,
    position: Array,
    rotation: Array,
    center: Vector,
    wrenches: Wrenches,
    gravity: Vector,
    footholds: Footholds,
    share: Array,
    # outputs
    point: Array,
    force: Array,
    rest: Array,
) -> tuple[Vector, float, float]:
    """Contact forces inside their friction cones that balance weight and wrenches best, and of those the least.

    Args:
        tree: The tree, with the world `position` (n, 3) and `rotation` (n, 4) of its nodes.
        position: Origins of the nodes [m].
        rotation: Rotations of the nodes.
        center: World centre of mass [m].
        wrenches: All other wrenches on the figure; their shares must be zero.
        gravity: Acceleration of gravity in world axes [m/s²].
        footholds: The contact points.
        share: (s,) share of the load along gravity that each support must carry; NaN for any share.
        point: (c, 3) world positions of the contacts [m].
        force: (c, 3) forces at the contacts [N].
        rest: (6,) unbalanced force [N] and moment [N m] about the returned point.

    Returns:
        The mean of the contacts, the length [m] by which moments are divided to compare them with forces, and the
        largest unbalanced entry as a fraction of the load.
    """
    normal = footholds.normal
    c = normal.shape[0]
    middle = _contact_points(position, rotation, footholds, point)
    reach = length(subtract(center, middle))
    for i in range(c):
        reach = max(reach, length(subtract(vector_at(point, i), middle)))
    reach = reach if reach > 0.0 else 1.0
    net, moment = net_wrench(tree, position, rotation, center, wrenches, gravity, middle)
    size = length(net) + length(moment) / reach
    for i in range(c):
        put_vector(force, i, Vector(0.0, 0.0, 0.0))
    for i in range(6):
        rest[i] = 0.0
    if size == 0.0:
        return middle, reach, 0.0
    down = normalized(gravity)
    shares = 0
    for s in range(share.shape[0]):
        shares += 1 if math.isfinite(share[s]) and dot(down, down) > 0.0 else 0
    A, b, residual = np.zeros((6 + shares, 3 * c)), np.zeros(6 + shares), np.zeros(6 + shares)
    b[0], b[1], b[2] = scale(net, -1.0 / size)
    b[3], b[4], b[5] = scale(moment, -1.0 / (size * reach))
    for i in range(c):
        lever = scale(subtract(vector_at(point, i), middle), 1.0 / reach)
        _fill_block(A, i, lever)
    if shares > 0:
        _fill_shares(A, b, footholds.support, share, down, -dot(net, down) / size)
    forces_in_cones(A, b, normal, footholds.friction, force, residual)
    for i in range(c):
        put_vector(force, i, scale(vector_at(force, i), size))
    worst = 0.0
    for i in range(6 + shares):
        worst = max(worst, abs(residual[i]))
    for i in range(3):
        rest[i] = -residual[i] * size
        rest[3 + i] = -residual[3 + i] * size * reach
    return middle, reach, worst


@kernel
def _contact_points(position: Array, rotation: Array, footholds: Footholds, out: Array) -> Vector:
    """Fill `out` (c, 3) with the world positions of the contacts; returns their mean."""
    node, local = footholds.node, footholds.point
    total = Vector(0.0, 0.0, 0.0)
    for i in range(node.shape[0]):
        place = world_point(position, rotation, node[i], local, i)
        put_vector(out, i, place)
        total = add(total, place)
    return scale(total, 1.0 / max(node.shape[0], 1))


@kernel
def _fill_block(A: Array, i: int, lever: Vector) -> None:
    """Fill the columns of A that map the force of contact `i` to total force and moment."""
    for k in range(3):
        A[k, 3 * i + k] = 1.0
    A[3, 3 * i + 1], A[3, 3 * i + 2] = -lever.z, lever.y
    A[4, 3 * i], A[4, 3 * i + 2] = lever.z, -lever.x
    A[5, 3 * i], A[5, 3 * i + 1] = -lever.y, lever.x


@kernel
def _fill_shares(A: Array, b: Array, support: Array, share: Array, down: Vector, needed: float) -> None:
    """Fill one row per support with a given share: the force that it carries along `down`."""
    row = 6
    for s in range(share.shape[0]):
        if math.isfinite(share[s]):
            b[row] = share[s] * needed
            for i in range(support.shape[0]):
                if support[i] == s:
                    A[row, 3 * i], A[row, 3 * i + 1], A[row, 3 * i + 2] = down
            row += 1
