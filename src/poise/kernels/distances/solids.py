"""Solids fixed to the nodes of a tree, the pairs to measure, and the rows that hold the distances.

Every solid has a bounding capsule: the segment from `start` to `end` with a `radius`. For spheres and capsules it is
the solid itself.
"""

from typing import Annotated, NamedTuple

import numpy as np

from poise.kernels.jit.compile import kernel
from poise.kernels.jit.memory import Memory
from poise.kernels.maths.quaternion import columns, multiply, put_quaternion, quaternion_at, transform
from poise.kernels.maths.vector import Vector, add, put_vector, scale, vector_at

Array = np.ndarray

SPHERE, CAPSULE, BOX, CYLINDER, ELLIPSOID, HULL, SURFACE = 0, 1, 2, 3, 4, 5, 6
"""Kinds of solids: a hull is the convex hull of vertices, a surface a triangle mesh."""

LIBRARY, CAPSULES, ROUND_FIRST, ROUND_SECOND, CONVEX = 0, 1, 2, 3, 4
"""Methods for a pair: the collision library, two capsules, a capsule and another solid, another solid and a capsule,
two convex solids."""

TIPPED_SIDES = 4
"""Number of directions in which a long or flat solid is tilted, to find further contact points."""
TIPPING_REACH = 0.5
"""Solids nearer than this share of the reach are tilted."""
NEARLY_PARALLEL = 0.1
"""Angle below which two long or flat solids get more than one row [rad]."""


class Solids(Memory):
    """Constants of s solids, the hulls of which have v vertices."""

    kind: Annotated[Array, int, "solids"]
    """(s,) one of SPHERE … SURFACE."""
    node: Annotated[Array, int, "solids"]
    """(s,) node that the solid is attached to; 0 for the world."""
    position: Annotated[Array, float, "solids", "three"]
    """(s, 3) position of the solid's frame in the node's frame [m]."""
    rotation: Annotated[Array, float, "solids", "four"]
    """(s, 4) rotation of the solid's frame in the node's frame."""
    size: Annotated[Array, float, "solids", "three"]
    """(s, 3) half edges of a box, half axes of an ellipsoid; radius, radius, half length of a cylinder or capsule [m].

    Of a hull half the edges of its box or, if compiled code measures it, three times the radius of a ball about its
    origin that is inside it.
    """
    start: Annotated[Array, float, "solids", "three"]
    """(s, 3) one end of the bounding capsule, in the node's frame [m]."""
    end: Annotated[Array, float, "solids", "three"]
    """(s, 3) the other end, in the node's frame [m]."""
    radius: Annotated[Array, float, "solids"]
    """(s,) radius of the bounding capsule [m]."""
    extent: Annotated[Array, float, "solids"]
    """(s,) radius of the bounding sphere about the middle of the capsule [m]."""
    vertex_start: Annotated[Array, int, "ends"]
    """(s + 1,) first vertex of each hull."""
    vertices: Annotated[Array, float, "vertices", "three"]
    """(v, 3) vertices of all hulls, each in its solid's own frame [m]."""


class Watched(Memory):
    """The pairs to measure: p pairs of solids, then k pairs of a solid and a plane."""

    first: Annotated[Array, int, "pairs"]
    """(p,) index of solid a."""
    second: Annotated[Array, int, "pairs"]
    """(p,) index of solid b."""
    how: Annotated[Array, int, "pairs"]
    """(p,) method, one of LIBRARY … CONVEX."""
    reach: Annotated[Array, float, "all_pairs"]
    """(p + k,) distance from which on a pair has no row [m]."""
    plane_solid: Annotated[Array, int, "planes"]
    """(k,) index of the solid of each pair with a plane."""
    plane_normal: Annotated[Array, float, "planes", "three"]
    """(k, 3) unit normal of the plane, towards the allowed side."""
    plane_offset: Annotated[Array, float, "planes"]
    """(k,) n · x on the plane [m]."""


class Placed(Memory):
    """World frames and bounding capsules of the solids, and the pairs that are left to the library."""

    position: Annotated[Array, float, "solids", "three"]
    """(s, 3) positions of the solids' frames [m]."""
    rotation: Annotated[Array, float, "solids", "four"]
    """(s, 4) rotations of the solids' frames."""
    matrix: Annotated[Array, float, "solids", "three", "three"]
    """(s, 3, 3) those rotations as matrices."""
    start: Annotated[Array, float, "solids", "three"]
    """(s, 3) first ends of the bounding capsules [m]."""
    end: Annotated[Array, float, "solids", "three"]
    """(s, 3) second ends of the bounding capsules [m]."""
    middle: Annotated[Array, float, "solids", "three"]
    """(s, 3) middles of the bounding capsules [m]."""
    left: Annotated[Array, int, "pairs"]
    """(p,) pairs for the library whose bounding capsules are near, in its first entries."""
    simplex: Annotated[Array, float, "eight", "three"]
    """(8, 3) workspace of `convex`."""


class Rows(Memory):
    """One row per pair of nearest points: distance = normal · (point_a - point_b), negative in penetration."""

    node_a: Annotated[Array, int, "rows"]
    """(c,) node that point a is attached to."""
    node_b: Annotated[Array, int, "rows"]
    """(c,) node that point b is attached to; 0 for the world."""
    point_a: Annotated[Array, float, "rows", "three"]
    """(c, 3) world position of point a [m]."""
    point_b: Annotated[Array, float, "rows", "three"]
    """(c, 3) world position of point b [m]."""
    normal: Annotated[Array, float, "rows", "three"]
    """(c, 3) unit normal from b to a."""
    distance: Annotated[Array, float, "rows"]
    """(c,) signed distance [m]."""
    pair: Annotated[Array, int, "rows"]
    """(c,) index of the pair; pairs with planes come after all pairs of solids."""


class Pair(NamedTuple):
    """A watched pair of solids."""

    number: int
    """Index among all pairs."""
    node_a: int
    """Node of the first solid."""
    node_b: int
    """Node of the second solid."""


@kernel
def put_row(
    pair: Pair, point_a: Vector, point_b: Vector, normal: Vector, distance: float, row: int,
    # outputs
    rows: Rows,
) -> None:  # fmt: skip
    """Write one row."""
    rows.node_a[row], rows.node_b[row], rows.pair[row] = pair.node_a, pair.node_b, pair.number
    put_vector(rows.point_a, row, point_a)
    put_vector(rows.point_b, row, point_b)
    put_vector(rows.normal, row, normal)
    rows.distance[row] = distance


@kernel
def place_solids(
    solids: Solids,
    position: Array,
    rotation: Array,
    # outputs
    placed: Placed,
) -> None:
    """Fill the world frames and capsules of all solids for node frames `position` (n, 3) and `rotation` (n, 4)."""
    node, own_position, own_rotation, start, end = (
        solids.node, solids.position, solids.rotation, solids.start, solids.end,
    )  # fmt: skip
    out_position, out_rotation, out_matrix, out_start, out_end, out_middle = (
        placed.position, placed.rotation, placed.matrix, placed.start, placed.end, placed.middle,
    )  # fmt: skip
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
