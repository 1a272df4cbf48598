"""Solids riding on nodes of a tree, and the rows that say how near two of them are.

Every solid has a capsule around it: the segment from `start` to `end` with a `radius`. It is the solid itself for
spheres and capsules and a bound for all others.
"""

from typing import NamedTuple

import numpy as np

from poise.kernels.jit.compile import kernel
from poise.kernels.maths.quaternion import columns, multiply, put_quaternion, quaternion_at, transform
from poise.kernels.maths.vector import add, put_vector, scale, vector_at

Array = np.ndarray

SPHERE, CAPSULE, BOX, CYLINDER, ELLIPSOID, HULL, SURFACE = 0, 1, 2, 3, 4, 5, 6

LIBRARY, CAPSULES, ROUND_FIRST, ROUND_SECOND = 0, 1, 2, 3
"""How a pair is measured: by a library, as two capsules, or as a capsule and a box, cylinder or ellipsoid."""

NEARLY_PARALLEL = 0.1
"""Angle below which two long or flat solids get more than one row [rad]."""


class Solids(NamedTuple):
    """The constants of s solids."""

    kind: Array
    """(s,) one of SPHERE … SURFACE."""
    node: Array
    """(s,) node that carries the solid; 0 for the world."""
    position: Array
    """(s, 3) its own frame in the node's [m]."""
    rotation: Array
    """(s, 4) its own frame in the node's."""
    size: Array
    """(s, 3) half edges of a box, half axes of an ellipsoid, radius, radius and half length of a cylinder [m]."""
    start: Array
    """(s, 3) one end of its capsule, in the node's frame [m]."""
    end: Array
    """(s, 3) the other end [m]."""
    radius: Array
    """(s,) radius of its capsule [m]."""
    extent: Array
    """(s,) radius of the sphere about the middle of its capsule [m]."""
    vertex_start: Array
    """(s + 1,) first vertex of each hull."""
    vertices: Array
    """(v, 3) vertices of all hulls, each in its solid's own frame [m]."""


class Watched(NamedTuple):
    """Pairs whose distance matters: p pairs of solids, then k pairs of a solid and a plane."""

    first: Array
    """(p,) solid a."""
    second: Array
    """(p,) solid b."""
    how: Array
    """(p,) one of LIBRARY … ROUND_SECOND."""
    plane_solid: Array
    """(k,) solid a."""
    plane_normal: Array
    """(k, 3) unit normal of the plane, out of what is forbidden."""
    plane_offset: Array
    """(k,) n · x on the plane [m]."""


class Placed(NamedTuple):
    """Where the solids are in the world."""

    position: Array
    """(s, 3) own frames [m]."""
    rotation: Array
    """(s, 4)"""
    matrix: Array
    """(s, 3, 3) the same rotations."""
    start: Array
    """(s, 3) ends of the capsules [m]."""
    end: Array
    """(s, 3)"""
    middle: Array
    """(s, 3) their middles [m]."""


class Rows(NamedTuple):
    """One row per witness: distance = normal · (point_a - point_b), negative inside."""

    node_a: Array
    """(c,) node that carries point a."""
    node_b: Array
    """(c,) node that carries point b; 0 for the world."""
    point_a: Array
    """(c, 3) world [m]."""
    point_b: Array
    """(c, 3) world [m]."""
    normal: Array
    """(c, 3) unit, from b to a."""
    distance: Array
    """(c,) [m]"""
    pair: Array
    """(c,) which pair, planes after all pairs of solids."""


@kernel
def place_solids(
    solids: Solids,
    position: Array,
    rotation: Array,
    # outputs
    placed: Placed,
) -> None:
    """World frames and capsules of all solids, for node frames `position` (n, 3) and `rotation` (n, 4)."""
    node, own_position, own_rotation, start, end = (
        solids.node, solids.position, solids.rotation, solids.start, solids.end,
    )  # fmt: skip
    out_position, out_rotation, out_matrix, out_start, out_end, out_middle = placed
    for i in range(node.shape[0]):
        place = vector_at(position, node[i])
        turn = quaternion_at(rotation, node[i])
        turned = multiply(turn, quaternion_at(own_rotation, i))
        put_vector(out_position, i, transform(place, turn, vector_at(own_position, i)))
        put_quaternion(out_rotation, i, turned)
        a = transform(place, turn, vector_at(start, i))
        b = transform(place, turn, vector_at(end, i))
        put_vector(out_start, i, a)
        put_vector(out_end, i, b)
        put_vector(out_middle, i, scale(add(a, b), 0.5))
        x, y, z = columns(turned)
        for c in range(3):
            out_matrix[i, c, 0] = x[c]
            out_matrix[i, c, 1] = y[c]
            out_matrix[i, c, 2] = z[c]
