"""Distances of given pairs of solids, by compiled code and by the coal library for the other kinds."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from poise.figure.collision.solids import (
    FORMULA_KINDS,
    ROUND_KINDS,
    SMOOTH_KINDS,
    HalfSpace,
    Solid,
    coal_geometry,
    library,
    pack_solids,
)
from poise.figure.model.pose import FloatArray
from poise.kernels.distances.all_pairs import add_tipped_rows, nearest_compiled, tip_frame
from poise.kernels.distances.planes import HULL_TIPS
from poise.kernels.distances.solids import (
    CAPSULES,
    CONVEX,
    LIBRARY,
    ROUND_FIRST,
    ROUND_SECOND,
    TIPPED_SIDES,
    TIPPING_REACH,
    Placed,
    Rows,
    Solids,
    Watched,
)

if TYPE_CHECKING:
    from poise.figure.collision.pairs import Pair

GJK_TOLERANCE = 1e-10
"""Relative tolerance of coal's GJK algorithm."""
CAPSULE_ROWS, COAL_ROWS, PLANE_ROWS = 3, 1 + TIPPED_SIDES, 1 + HULL_TIPS
"""Largest number of rows per pair, by method."""


class Tables(NamedTuple):
    """Arguments of `poise.kernels.distances.all_pairs.nearest_compiled` besides node frames and reach."""

    solids: Solids
    watched: Watched
    placed: Placed
    rows: Rows


class Proximity:
    """Measures given pairs of solids, and pairs of a solid and a plane."""

    def __init__(
        self,
        solids: Sequence[Solid],
        pairs: Sequence[Pair],
        standing: Sequence[tuple[int, HalfSpace]] = (),
        *,
        compiled: bool = False,
    ) -> None:
        """Allocate the arrays that `nearest` fills; if `compiled`, no pair is left to the library."""
        how = [_method(solids[i].kind, solids[j].kind) for i, j in pairs]
        if compiled:
            how = [CONVEX if method == LIBRARY else method for method in how]
        size = max(CAPSULE_ROWS, COAL_ROWS) * len(pairs) + PLANE_ROWS * len(standing)
        placed = Placed(solids=len(solids), pairs=len(pairs), three=3, four=4, eight=8)
        watched = _watched(pairs, how, standing)
        self.tables = Tables(pack_solids(solids), watched, placed, Rows(rows=size, three=3))
        asked = [(p, i, j) for p, (i, j) in enumerate(pairs) if how[p] == LIBRARY]
        shared = {
            index: _Shared(solids[index], placed.position[index], placed.matrix[index])
            for index in {index for _, i, j in asked for index in (i, j)}
        }
        self._coal = {p: CoalPair(p, shared[i], shared[j]) for p, i, j in asked}

    @cached_property
    def _tipping(self) -> _Tipping:
        """The workspace of the pairs that coal measures."""
        return _Tipping()

    def nearest(self, position: FloatArray, rotation: FloatArray, reach: float) -> int:
        """Fill the rows of all pairs nearer than `reach`; returns their number."""
        solids, watched, placed, rows = self.tables
        watched.reach[:] = reach
        count, more = nearest_compiled(solids, watched, position, rotation, placed, rows)
        return self.finish(count, more) if more else count

    def finish(self, count: int, more: int) -> int:
        """Add the rows of the `more` pairs that compiled code left to coal after its own `count` rows."""
        _, watched, placed, rows = self.tables
        for pair in placed.left[:more].tolist():
            count = self._coal[pair].measure(float(watched.reach[pair]), count, rows, self._tipping)
        return count

    def place(self, index: int, solid: Solid) -> None:
        """Move a solid on its node to the pose of `solid`, which has the same shape."""
        solids = self.tables.solids
        solids.position[index], solids.rotation[index] = solid.pose.position, solid.pose.rotation
        solids.start[index], solids.end[index] = solid.ends

    def forget(self) -> None:
        """Discard the cached search directions of all pairs."""
        for pair in self._coal.values():
            pair.forget()


class _Shared:
    """One solid's coal geometry, shared by all its pairs."""

    def __init__(self, solid: Solid, position: FloatArray, matrix: FloatArray) -> None:
        self.solid, self.position, self.matrix = solid, position, matrix
        self.geometry = coal_geometry(solid)
        self.place = library().Transform3s()


class CoalPair:
    """A pair of solids that coal measures."""

    def __init__(self, pair: int, a: _Shared, b: _Shared) -> None:
        """Allocate coal's request and result for repeated queries."""
        coal = library()
        self._pair, self._a, self._b = pair, a, b
        self._compute, self._result = coal.ComputeDistance(a.geometry, b.geometry), coal.DistanceResult()
        self._request = coal.DistanceRequest()
        self._request.enable_signed_distance = True
        self._request.gjk_tolerance = GJK_TOLERANCE
        self._request.gjk_initial_guess = coal.GJKInitialGuess.CachedGuess
        self._guess: FloatArray = np.array(self._request.cached_gjk_guess)
        self._has_sides = a.solid.kind not in SMOOTH_KINDS and b.solid.kind not in SMOOTH_KINDS

    def forget(self) -> None:
        """Discard the cached search direction."""
        self._request.cached_gjk_guess = self._guess

    def measure(self, reach: float, count: int, rows: Rows, tipping: _Tipping) -> int:
        """Fill the rows of this pair if it is nearer than `reach`; returns the next free row."""
        a, b, result = self._a, self._b, self._result
        a.place.setTransform(a.matrix, a.position)
        b.place.setTransform(b.matrix, b.position)
        result.clear()
        self._compute(a.place, b.place, self._request, result)
        self._request.updateGuess(result)
        distance = result.min_distance
        if not distance < reach:
            return count
        normal = -result.normal
        if not 0.5 < normal.dot(normal) < 2.0:
            normal = _direction(a.position - b.position)
        rows.point_a[count] = result.getNearestPoint1()
        rows.point_b[count] = result.getNearestPoint2()
        rows.normal[count] = normal
        rows.distance[count] = distance
        end = count + 1
        if self._has_sides and distance < TIPPING_REACH * reach:
            end = self._sides(reach, count, rows, tipping)
        rows.node_a[count:end], rows.node_b[count:end] = a.solid.node, b.solid.node
        rows.pair[count:end] = self._pair
        return end

    def _sides(self, reach: float, first: int, rows: Rows, tipping: _Tipping) -> int:
        """Add rows for the nearest points after tipping solid a to each side; returns the next free row."""
        a, result = self._a, self._result
        tip_frame(
            a.position, a.matrix, rows.point_a[first], rows.normal[first],
            tipping.turns, tipping.positions, tipping.matrices,
        )  # fmt: skip
        for side in range(TIPPED_SIDES):
            tipping.place.setTransform(tipping.matrices[side], tipping.positions[side])
            result.clear()
            self._compute(tipping.place, self._b.place, self._request, result)
            tipping.tipped[side] = result.getNearestPoint1()
            tipping.others[side] = result.getNearestPoint2()
        return add_tipped_rows(
            tipping.turns, tipping.tipped, tipping.others, first, reach,
            rows.point_a, rows.point_b, rows.normal, rows.distance,
        )  # fmt: skip


class _Tipping:
    """Workspace for tipping a solid to each side."""

    def __init__(self) -> None:
        self.place = library().Transform3s()
        self.turns, self.matrices = np.zeros((TIPPED_SIDES, 3, 3)), np.zeros((TIPPED_SIDES, 3, 3))
        self.positions, self.tipped, self.others = (np.zeros((TIPPED_SIDES, 3)) for _ in range(3))


def _direction(v: FloatArray) -> FloatArray:
    """v / |v|, or y for the zero vector."""
    size = float(np.linalg.norm(v))
    return v / size if size > 0.0 else np.array([0.0, 1.0, 0.0])


def _method(a: int, b: int) -> int:
    """The method that measures two kinds of solids."""
    if a in ROUND_KINDS and b in ROUND_KINDS:
        return CAPSULES
    if a in ROUND_KINDS and b in FORMULA_KINDS:
        return ROUND_FIRST
    if a in FORMULA_KINDS and b in FORMULA_KINDS:
        return CONVEX
    return ROUND_SECOND if b in ROUND_KINDS and a in FORMULA_KINDS else LIBRARY


def _watched(pairs: Sequence[Pair], how: Sequence[int], standing: Sequence[tuple[int, HalfSpace]]) -> Watched:
    """The kernel's arrays for pairs of solids with their methods, and for pairs of a solid and a plane."""
    found = Watched(pairs=len(pairs), planes=len(standing), all_pairs=len(pairs) + len(standing), three=3)
    both = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    found.first[:], found.second[:], found.how[:] = both[:, 0], both[:, 1], how
    for k, (i, plane) in enumerate(standing):
        found.plane_solid[k], found.plane_normal[k], found.plane_offset[k] = i, plane.normal, plane.offset
    return found
