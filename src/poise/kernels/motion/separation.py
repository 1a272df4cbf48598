"""Springs that keep the parts of a figure apart in a weighted fit.

A pair of parts whose distance d is below the distance to keep k adds the cost w (k - d - J x)² to the quadratic of
`poise.kernels.motion.weighted_fit`, with J the derivative of d; a pair that is farther apart adds nothing. Cost and
gradient are continuous where a pair enters or leaves. Since w is far above the weights of the goals, parts keep most of
the distance k: they do not touch, so that the nearest points of convex solids move continuously with the posture.

Most pairs are far apart in most frames. Each pair therefore keeps its *clearance*, a lower bound of d - k when it was
last measured, and is not measured again before the two parts have moved by as much together. A part moves by at most
what the ends of its axis move, and what a turn about them moves its farthest point. This leaves out no pair that is
nearer than k.
"""

import math
from typing import Annotated, NamedTuple

import numpy as np

from poise.kernels.body.tree import Tree, add_wrench_row, forward
from poise.kernels.distances.all_pairs import _convex_rows
from poise.kernels.distances.capsules import capsule_rows, capsule_solid_rows
from poise.kernels.distances.convex import nearest_convex
from poise.kernels.distances.segments import between, nearest_of_segments
from poise.kernels.distances.solids import (
    CAPSULES,
    CONVEX,
    HULL,
    ROUND_FIRST,
    Pair,
    Placed,
    Rows,
    Solids,
    Watched,
    place_solids,
)
from poise.kernels.engine.engine import Engine
from poise.kernels.engine.indirect_calls import call_evaluate_current
from poise.kernels.jit.compile import kernel
from poise.kernels.jit.memory import Memory
from poise.kernels.maths.quaternion import conjugate, quaternion_at, rotate
from poise.kernels.maths.vector import Vector, dot, put_vector, scale, subtract, vector_at

Array = np.ndarray

MOST_CLEARANCE = 0.1
"""Greatest clearance that is measured for a pair of convex solids [m]."""


class Travel(Memory):
    """How far s solids have moved in all measurements together, and when p pairs must be measured again."""

    moved: Annotated[Array, float, "solids"]
    """(s,) length of a path that is at least as long as that of any point of the solid [m]."""
    again: Annotated[Array, float, "pairs"]
    """(p,) the sum of `moved` of both solids from which on the pair may be nearer than its reach [m]."""
    axis: Annotated[Array, float, "pairs", "three"]
    """(p, 3) unit vector along which two hulls were apart when they were measured; zero if they have not been."""
    start: Annotated[Array, float, "solids", "three"]
    """(s, 3) first ends of the bounding capsules in the last measurement [m]."""
    end: Annotated[Array, float, "solids", "three"]
    """(s, 3) second ends [m]."""
    rotation: Annotated[Array, float, "solids", "four"]
    """(s, 4) rotations of the solids' frames in the last measurement."""


class Separation(NamedTuple):
    """The pairs to keep apart, as `poise.kernels.distances.all_pairs` measures them; `watched.reach` is k [m]."""

    solids: Solids
    watched: Watched
    placed: Placed
    rows: Rows
    weight: float
    """w."""
    travel: Travel
    row: Array
    """(1, nv) workspace for J."""
    lack: Array
    """(1,) workspace for k - d."""


def make_separation(solids: Solids, watched: Watched, placed: Placed, rows: Rows, weight: float, nv: int) -> Separation:
    """Springs with weight w for a figure with `nv` velocities; their pairs have not been measured."""
    travel = Travel(solids=len(solids.node), pairs=len(watched.first), three=3, four=4)
    return Separation(solids, watched, placed, rows, weight, travel, np.zeros((1, nv)), np.zeros(1))


def no_separation(nv: int) -> Separation:
    """Arrays that keep nothing apart."""
    return make_separation(
        Solids(solids=0, ends=1, vertices=0, three=3, four=4),
        Watched(pairs=0, planes=0, all_pairs=0, three=3),
        Placed(solids=0, pairs=0, three=3, four=4, eight=8),
        Rows(rows=0, three=3),
        0.0,
        nv,
    )


@kernel
def nearest_parts(
    apart: Separation,
    position: Array,
    rotation: Array,
) -> int:
    """Fill `apart.rows` with the pairs nearer than their reach, for node frames (n, 3), (n, 4); returns their number.

    A pair has one row if it has a hull, and up to five otherwise.
    """
    solids, watched, placed, rows, travel = apart.solids, apart.watched, apart.placed, apart.rows, apart.travel
    place_solids(solids, position, rotation, placed)
    _add_travel(solids, placed, travel)
    first, second, how, moved, again = watched.first, watched.second, watched.how, travel.moved, travel.again
    start, end, middle, radius, extent = placed.start, placed.end, placed.middle, solids.radius, solids.extent
    count = 0
    for p in range(first.shape[0]):
        i, j = first[p], second[p]
        together = moved[i] + moved[j]
        if together < again[p]:
            continue
        reach = watched.reach[p]
        way = subtract(vector_at(middle, i), vector_at(middle, j))
        clear = math.sqrt(dot(way, way)) - reach - extent[i] - extent[j]
        if clear > 0.0:
            again[p] = together + clear
            continue
        a, b = vector_at(start, i), vector_at(start, j)
        u, v = subtract(vector_at(end, i), a), subtract(vector_at(end, j), b)
        shares = nearest_of_segments(a, u, b, v)
        way = between(a, u, b, v, shares)
        clear = math.sqrt(dot(way, way)) - reach - radius[i] - radius[j]
        if clear > 0.0:
            again[p] = together + clear
            continue
        pair = Pair(p, solids.node[i], solids.node[j])
        if how[p] == CONVEX:
            clear = _apart_along(apart, p) - reach
            if clear > 0.0:
                again[p] = together + clear
                continue
            place, turn = vector_at(placed.position, i), quaternion_at(placed.rotation, i)
            found = nearest_convex(solids, placed, i, j, place, turn, reach + MOST_CLEARANCE)
            put_vector(travel.axis, p, found.normal)
            if found.distance < reach:
                count = _convex_rows(pair, solids, placed, (i, j), reach, count, rows)
            else:
                again[p] = together + min(found.distance - reach, MOST_CLEARANCE)
        elif how[p] == CAPSULES:
            count = capsule_rows(pair, (a, u, b, v), shares, (radius[i], radius[j]), reach, count, rows)
        elif how[p] == ROUND_FIRST:
            count = capsule_solid_rows(pair, solids, placed, (i, j), True, reach, count, rows)
        else:
            count = capsule_solid_rows(pair, solids, placed, (j, i), False, reach, count, rows)
    return count


@kernel
def _apart_along(apart: Separation, p: int) -> float:
    """How far the hulls of a pair are apart along `travel.axis`, which is at most their distance; -inf if unknown."""
    i, j, n = apart.watched.first[p], apart.watched.second[p], vector_at(apart.travel.axis, p)
    if apart.solids.kind[i] != HULL or apart.solids.kind[j] != HULL or dot(n, n) < 0.5:
        return -math.inf
    return -_farthest_along(apart, i, scale(n, -1.0)) - _farthest_along(apart, j, n)


@kernel
def _farthest_along(apart: Separation, i: int, n: Vector) -> float:
    """The greatest n · x of the points x of a hull [m]."""
    solids, placed = apart.solids, apart.placed
    d, most = rotate(conjugate(quaternion_at(placed.rotation, i)), n), -math.inf
    vertices = solids.vertices
    for k in range(solids.vertex_start[i], solids.vertex_start[i + 1]):
        most = max(most, vertices[k, 0] * d.x + vertices[k, 1] * d.y + vertices[k, 2] * d.z)
    return most + dot(n, vector_at(placed.position, i))


@kernel
def _add_travel(solids: Solids, placed: Placed, travel: Travel) -> None:
    """Add to `travel.moved` how far the solids have moved since the last measurement, and note where they are.

    A rotation from quaternion q to q' moves a point at distance r from its centre by 2 r sin(θ/2) ≤ 2 r |q' - q|.
    """
    start, end, turn, moved = travel.start, travel.end, travel.rotation, travel.moved
    for i in range(moved.shape[0]):
        first = second = turned = turned_back = 0.0
        for c in range(3):
            first += (placed.start[i, c] - start[i, c]) ** 2
            second += (placed.end[i, c] - end[i, c]) ** 2
            start[i, c], end[i, c] = placed.start[i, c], placed.end[i, c]
        for c in range(4):
            turned += (placed.rotation[i, c] - turn[i, c]) ** 2
            turned_back += (placed.rotation[i, c] + turn[i, c]) ** 2
            turn[i, c] = placed.rotation[i, c]
        spin = math.sqrt(min(turned, turned_back))
        moved[i] += math.sqrt(max(first, second)) + 2.0 * solids.radius[i] * spin


@kernel(counts_references=True)
def distance_rate(engine: Engine, rows: Rows, r: int, row: Array) -> None:
    """row[0] = derivative of the distance of row `r` of a measurement at the engine's posture."""
    for a in range(row.shape[1]):
        row[0, a] = 0.0
    current, n, zero = engine.current, vector_at(rows.normal, r), Vector(0.0, 0.0, 0.0)
    add_wrench_row(
        engine.tree, current.position, current.axes, rows.node_a[r], vector_at(rows.point_a, r), n, zero, 0, row
    )
    add_wrench_row(
        engine.tree, current.position, current.axes, rows.node_b[r], vector_at(rows.point_b, r), scale(n, -1.0), zero,
        0, row,
    )  # fmt: skip


@kernel(counts_references=True)
def measure_separation(engine: Engine, apart: Separation) -> int:
    """Measure all pairs at the engine's posture; returns the number of rows, one per pair nearer than its reach."""
    if apart.watched.first.shape[0] == 0:
        return 0
    return nearest_parts(apart, engine.current.position, engine.current.rotation)


@kernel(counts_references=True)
def overlaps(engine: Engine, apart: Separation, q: Array) -> bool:
    """Whether parts that should be apart penetrate in posture `q` (nq,)."""
    if apart.watched.first.shape[0] == 0:
        return False
    call_evaluate_current(engine.calls, engine, q)
    for r in range(measure_separation(engine, apart)):
        if apart.rows.distance[r] < min(0.0, apart.watched.reach[apart.rows.pair[r]]):
            return True
    return False


@kernel(counts_references=True)
def clip_depths(
    tree: Tree,
    clip: Array,
    apart: Separation,
    # outputs
    depth: Array,
    pair: Array,
) -> None:
    """In every frame of a clip (frames, nq), the pair that is deepest below its reach.

    Args:
        tree: The figure's tree.
        clip: Postures.
        apart: Pairs to measure; depths count from their reach.
        depth: (frames,) greatest depth, 0 where no pair is nearer than its reach [m].
        pair: (frames,) its pair, -1 for none.
    """
    position, rotation = np.empty((tree.parent.shape[0], 3)), np.empty((tree.parent.shape[0], 4))
    reach, rows = apart.watched.reach, apart.rows
    for frame in range(clip.shape[0]):
        forward(tree, clip[frame], position, rotation)
        depth[frame], pair[frame] = 0.0, -1
        for r in range(nearest_parts(apart, position, rotation)):
            lack = reach[rows.pair[r]] - rows.distance[r]
            if lack > depth[frame]:
                depth[frame], pair[frame] = lack, rows.pair[r]
