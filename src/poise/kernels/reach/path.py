"""The path of a reach: the tree from the root to one site, its limits, and the coordinates that may move.

The path is stored in two flat arrays, one of integers and one of floats. The kernel cuts them into named views at the
start of a reach, because passing one array from Python takes longer than a whole step of a reach.
"""

from typing import NamedTuple

import numpy as np

from poise.kernels.body.limits import Bounds
from poise.kernels.body.tree import Tree
from poise.kernels.jit.compile import inner_kernel

Array = np.ndarray


class Path(NamedTuple):
    """The moving part of a figure; its coordinates have the same indices as in the whole figure."""

    tree: Tree
    """Nodes from the root to the site's node, then nodes of joints that couplings connect to them."""
    bounds: Bounds
    """Limits of the whole figure."""
    node: int
    """Node that the site is attached to."""
    dof_q: Array
    """(n,) coordinate of each velocity; -1 for those of balls and free bases."""
    dof_held: Array
    """(n,) 1 for velocities that must stay zero."""
    balls: Array
    """(b,) limited ball joints that move."""
    ball_v: Array
    """(b,) first velocity of each of those ball joints."""
    couplings: Array
    """(c,) couplings that contain a moving joint."""
    coordinate_v: Array
    """First velocity of each coupled coordinate; -1 for one that does not move."""
    moving_q: Array
    """Coordinates that may change."""
    site: Array
    """(9,) position and rotation of the site in its node, the length ℓ that converts radians to metres [m], and the
    generalised golden ratio's reciprocal, which generates the restarts."""


def flatten(path: Path) -> tuple[Array, Array]:
    """The two flat arrays of a path: an index of where each part starts, then the parts."""
    whole, real = _parts(path)
    marks = [np.cumsum([0, *(part.size for part in parts)]) for parts in (whole, real)]
    head = len(marks[0]) + len(marks[1])
    integers = np.concatenate([marks[0] + head, marks[1], *(part.ravel() for part in whole)])
    return integers.astype(np.int64), np.concatenate([part.ravel() for part in real]).astype(np.float64)


def _parts(path: Path) -> tuple[list[Array], list[Array]]:
    """The integer arrays and the float arrays of a path, in the order of `unflatten`."""
    t, b = path.tree, path.bounds
    whole = [
        t.parent, t.kind, t.q_start, t.v_start, t.v_count, t.dof_node, t.dof_turns,
        b.ball_start, b.swing_kind, b.vertex_start, b.twist_limited,
        b.coordinate_q, b.coordinate_ball, b.coordinate_part, b.term_start, b.term_coordinate,
        np.array([path.node]), path.dof_q, path.dof_held, path.balls, path.ball_v, path.couplings, path.coordinate_v,
        path.moving_q,
    ]  # fmt: skip
    real = [
        t.placement_position, t.placement_rotation, t.axis,
        b.lower, b.upper, b.cone, b.limb, b.radii, b.vertices, b.twist,
        b.term_factor, b.coupling_lower, b.coupling_upper, path.site,
    ]  # fmt: skip
    return whole, real


INTEGER_PARTS = 24
"""Number of integer arrays of a path."""


@inner_kernel
def unflatten(integers: Array, numbers: Array) -> Path:
    """The path from its flat arrays; masses, which a reach does not need, are empty."""
    w, r, g, h = integers, numbers, integers, integers[INTEGER_PARTS + 1 :]
    none = r[:0]
    tree = Tree(
        w[g[0] : g[1]],
        w[g[1] : g[2]],
        w[g[2] : g[3]],
        w[g[3] : g[4]],
        w[g[4] : g[5]],
        r[h[0] : h[1]].reshape((-1, 3)),
        r[h[1] : h[2]].reshape((-1, 4)),
        r[h[2] : h[3]].reshape((-1, 3)),
        none,
        none.reshape((0, 3)),
        none.reshape((0, 6)),
        none,
        w[g[5] : g[6]],
        w[g[6] : g[7]],
    )
    bounds = Bounds(
        r[h[3] : h[4]],
        r[h[4] : h[5]],
        w[g[7] : g[8]],
        r[h[5] : h[6]].reshape((-1, 4)),
        r[h[6] : h[7]].reshape((-1, 4)),
        w[g[8] : g[9]],
        r[h[7] : h[8]].reshape((-1, 2)),
        w[g[9] : g[10]],
        r[h[8] : h[9]].reshape((-1, 3)),
        w[g[10] : g[11]],
        r[h[9] : h[10]].reshape((-1, 12)),
        w[g[11] : g[12]],
        w[g[12] : g[13]],
        w[g[13] : g[14]],
        w[g[14] : g[15]],
        w[g[15] : g[16]],
        r[h[10] : h[11]],
        r[h[11] : h[12]],
        r[h[12] : h[13]],
    )
    return Path(
        tree,
        bounds,
        w[g[16]],
        w[g[17] : g[18]],
        w[g[18] : g[19]],
        w[g[19] : g[20]],
        w[g[20] : g[21]],
        w[g[21] : g[22]],
        w[g[22] : g[23]],
        w[g[23] : g[24]],
        r[h[13] : h[14]],
    )
