"""The convex hull, and the nearest point of it, against Qhull and hand-computed distances."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from poise.kernels.maths.nearest_point import convex_hull, nearest_on_hull

SQUARE = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]])


def _hull(points: np.ndarray) -> np.ndarray:
    hull = np.zeros(len(points), dtype=np.int64)
    return hull[: convex_hull(points, 0, len(points), hull)]


@pytest.mark.parametrize("seed", range(20))
def test_hull_has_the_corners_that_qhull_finds(seed: int) -> None:
    points = np.random.default_rng(seed).normal(size=(9, 3))
    ours, reference = _hull(points), ConvexHull(points[:, :2]).vertices
    first = list(ours).index(reference[0])
    assert np.array_equal(np.roll(ours, -first), reference)


def test_points_in_line_and_in_one_place_have_small_hulls() -> None:
    assert len(_hull(np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 0.0], [2.0, 2.0, 0.0]]))) == 2
    assert len(_hull(np.zeros((3, 3)))) == 1


@pytest.mark.parametrize(
    ("x", "y", "distance", "away"),
    [
        (0.5, 0.1, -0.1, (0.0, -1.0)),
        (0.5, -0.2, 0.2, (0.0, -1.0)),
        (1.3, 1.4, 0.5, (0.6, 0.8)),
        (1.25, 0.5, 0.25, (1.0, 0.0)),
    ],
)
def test_distance_is_negative_inside_and_points_out(
    x: float, y: float, distance: float, away: tuple[float, float]
) -> None:
    hull = _hull(SQUARE)
    near = nearest_on_hull(SQUARE, hull, 0, len(hull), x, y)
    assert near.distance == pytest.approx(distance)
    assert (near.x, near.y) == pytest.approx(away)


@pytest.mark.parametrize("seed", range(20))
def test_corners_almost_in_line_do_not_turn_the_inside_out(seed: int) -> None:
    rng = np.random.default_rng(seed)
    between = np.stack([np.linspace(0.0, 1.0, 6), 1e-9 * rng.normal(size=6), np.zeros(6)], axis=1)
    points = np.concatenate([SQUARE, between])
    hull = _hull(points)
    for x in np.linspace(0.05, 0.95, 19):
        near = nearest_on_hull(points, hull, 0, len(hull), x, 0.02)
        assert near.distance == pytest.approx(-0.02, abs=1e-8)


@pytest.mark.parametrize("seed", range(40))
def test_corners_that_almost_coincide_are_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.permutation(np.concatenate([SQUARE + 1e-13 * rng.normal(size=(4, 3)) for _ in range(3)]))
    found = np.abs(np.round(points[_hull(points)], 6))
    assert len(found) == 4
    assert {tuple(corner) for corner in found} == {tuple(corner) for corner in SQUARE}
