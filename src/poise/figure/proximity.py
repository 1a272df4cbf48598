"""Distances between solids: the compiled ones, and coal's where solids are near and not round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from poise.figure.compiled import IntArray
from poise.figure.pose import FloatArray
from poise.figure.solids import CURVED, ROUND, HalfSpace, Solid, coal_geometry, pack_solids
from poise.kernels.distances import nearest_compiled, tip
from poise.kernels.planes import TIPS
from poise.kernels.solids import NEARLY_PARALLEL, Placed, Rows, Solids, Watched

if TYPE_CHECKING:
    from poise.figure.pairs import Pair

SIDES = 4
"""Sides to which a long or flat solid is tipped."""
TOLERANCE = 1e-10
"""At which coal's search for nearest points ends, relative."""
CAPSULE_ROWS, COAL_ROWS, PLANE_ROWS = 3, 1 + SIDES, 1 + TIPS
"""The most rows a pair can have."""


class Tables(NamedTuple):
    """Arguments of `poise.kernels.distances.nearest_compiled` besides node frames and reach."""

    solids: Solids
    watched: Watched
    placed: Placed
    rows: Rows
    left: IntArray


class Proximity:
    """Measures given pairs of solids, and of solids and planes."""

    def __init__(
        self, solids: Sequence[Solid], pairs: Sequence[Pair], standing: Sequence[tuple[int, HalfSpace]] = ()
    ) -> None:
        """Allocate everything `nearest` writes."""
        exact = [solids[i].kind in ROUND and solids[j].kind in ROUND for i, j in pairs]
        size = CAPSULE_ROWS * sum(exact) + COAL_ROWS * (len(exact) - sum(exact)) + PLANE_ROWS * len(standing)
        placed = _no_places(len(solids))
        watched = _watched(pairs, exact, standing)
        self.tables = Tables(pack_solids(solids), watched, placed, _no_rows(size), np.zeros(len(pairs), dtype=np.int64))
        shared: dict[int, _Shared] = {}
        for index in {index for pair, is_exact in zip(pairs, exact, strict=True) if not is_exact for index in pair}:
            shared[index] = _Shared(solids[index], placed.position[index], placed.matrix[index])
        self._coal = {
            p: CoalPair(p, shared[i], shared[j])
            for p, ((i, j), is_exact) in enumerate(zip(pairs, exact, strict=True))
            if not is_exact
        }

    def nearest(self, position: FloatArray, rotation: FloatArray, reach: float) -> int:
        """Write the rows of all pairs nearer than `reach` and return how many there are."""
        solids, watched, placed, rows, left = self.tables
        count, more = nearest_compiled(solids, watched, position, rotation, reach, placed, rows, left)
        return self.finish(count, more, reach) if more else count

    def finish(self, count: int, more: int, reach: float) -> int:
        """Add coal's rows to the `count` rows that `nearest_compiled` wrote, for the `more` pairs it left."""
        rows = self.tables.rows
        for pair in self.tables.left[:more].tolist():
            count = self._coal[pair].measure(reach, count, rows)
        return count

    def forget(self) -> None:
        """Start the next search for nearest points from nothing."""
        for pair in self._coal.values():
            pair.forget()


class _Shared:
    """One solid as coal sees it, for all pairs it is in."""

    def __init__(self, solid: Solid, position: FloatArray, matrix: FloatArray) -> None:
        import coal

        self.solid, self.position, self.matrix = solid, position, matrix
        self.geometry = coal_geometry(solid)
        self.place = coal.Transform3s()


class CoalPair:
    """Two solids of which at least one is no capsule."""

    def __init__(self, pair: int, a: _Shared, b: _Shared) -> None:
        """Allocate what coal needs to measure them again and again."""
        import coal

        self._pair, self._a, self._b = pair, a, b
        self._distance = coal.ComputeDistance(a.geometry, b.geometry)
        self._result, self._tipped = coal.DistanceResult(), coal.Transform3s()
        self._request = coal.DistanceRequest()
        self._request.enable_signed_distance = True
        self._request.gjk_tolerance = TOLERANCE
        self._request.gjk_initial_guess = coal.GJKInitialGuess.CachedGuess
        self._has_sides = a.solid.kind not in CURVED and b.solid.kind not in CURVED
        self._guess: FloatArray = self._request.cached_gjk_guess.copy()
        self._turn, self._tipped_position, self._tipped_matrix = np.empty((3, 3)), np.empty(3), np.empty((3, 3))

    def forget(self) -> None:
        """Start the next search from nothing."""
        self._request.cached_gjk_guess = self._guess

    def measure(self, reach: float, count: int, rows: Rows) -> int:
        """Write the rows of this pair, if it is near, and return the next free row."""
        a, b = self._a, self._b
        a.place.setTransform(a.matrix, a.position)
        b.place.setTransform(b.matrix, b.position)
        distance, point_a, point_b, normal = self._ask(a.place)
        self._request.updateGuess(self._result)
        if distance >= reach:
            return count
        if not 0.5 < normal @ normal < 2.0:
            normal = _direction(a.position - b.position)
        self._put(rows, count, (point_a, point_b, normal, distance))
        return self._sides(reach, count, rows) if self._has_sides else count + 1

    def _ask(self, place: Any) -> tuple[float, FloatArray, FloatArray, FloatArray]:
        result = self._result
        result.clear()
        self._distance(place, self._b.place, self._request, result)
        return result.min_distance, result.getNearestPoint1(), result.getNearestPoint2(), -result.normal

    def _put(self, rows: Rows, k: int, row: tuple[FloatArray, FloatArray, FloatArray, float]) -> None:
        rows.node_a[k], rows.node_b[k] = self._a.solid.node, self._b.solid.node
        rows.point_a[k], rows.point_b[k], rows.normal[k], rows.distance[k] = row
        rows.pair[k] = self._pair

    def _sides(self, reach: float, first: int, rows: Rows) -> int:
        """Rows of the points that come nearest when solid a is tipped a little to each side."""
        a, count = self._a, first + 1
        pivot, normal = rows.point_a[first], rows.normal[first]
        for side in range(SIDES):
            tip(a.position, a.matrix, pivot, normal, side, self._turn, self._tipped_position, self._tipped_matrix)
            self._tipped.setTransform(self._tipped_matrix, self._tipped_position)
            _, tipped_a, point_b, _ = self._ask(self._tipped)
            point_a = pivot + (tipped_a - pivot) @ self._turn
            apart = point_a - point_b
            distance = float(normal @ apart)
            if distance < reach and _is_opposite(apart, normal, distance) and _is_new(point_a, distance, rows, first, count):
                self._put(rows, count, (point_a, point_b, normal, distance))
                count += 1
        return count


def _is_opposite(apart: FloatArray, normal: FloatArray, distance: float) -> bool:
    """Whether two points lie across from each other along the normal."""
    beside = apart - distance * normal
    return bool(beside @ beside <= (2.0 * NEARLY_PARALLEL * abs(distance) + 1e-3) ** 2)


def _is_new(point: FloatArray, distance: float, rows: Rows, first: int, count: int) -> bool:
    """Whether a point is farther from those already found than tipping moves a point of a sharp edge."""
    away = rows.point_a[first:count] - point
    return bool((np.einsum("ij,ij->i", away, away) > (2.0 * NEARLY_PARALLEL * abs(distance) + 1e-3) ** 2).all())


def _direction(v: FloatArray) -> FloatArray:
    size = float(np.linalg.norm(v))
    return v / size if size > 0.0 else np.array([0.0, 1.0, 0.0])


def _watched(pairs: Sequence[Pair], exact: Sequence[bool], standing: Sequence[tuple[int, HalfSpace]]) -> Watched:
    both = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return Watched(
        first=both[:, 0].copy(),
        second=both[:, 1].copy(),
        exact=np.array(exact, dtype=np.int64),
        plane_solid=np.array([i for i, _ in standing], dtype=np.int64),
        plane_normal=np.array([plane.normal for _, plane in standing], dtype=np.float64).reshape(-1, 3),
        plane_offset=np.array([plane.offset for _, plane in standing], dtype=np.float64),
    )


def _no_places(count: int) -> Placed:
    ends = [np.zeros((count, 3)) for _ in range(3)]
    return Placed(np.zeros((count, 3)), np.zeros((count, 4)), np.zeros((count, 3, 3)), *ends)


def _no_rows(count: int) -> Rows:
    nodes = [np.zeros(count, dtype=np.int64) for _ in range(2)]
    vectors = [np.zeros((count, 3)) for _ in range(3)]
    return Rows(*nodes, *vectors, distance=np.zeros(count), pair=np.zeros(count, dtype=np.int64))
