"""The rasteriser against a reference implementation with whole arrays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.kernels.drawing import raster

SIZE = 12


def filled(screen: np.ndarray, triangles: np.ndarray, size: int = SIZE) -> tuple[np.ndarray, np.ndarray]:
    nearness = np.zeros((size, size), dtype=np.float32)
    drawn = np.full((size, size), raster.NO_TRIANGLE, dtype=np.int32)
    raster.fill(np.ascontiguousarray(screen), np.ascontiguousarray(triangles, dtype=np.int64), nearness, drawn)
    return nearness, drawn


def _expected(screen: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """(t, h, w) nearness of each triangle at each pixel it covers, 0 elsewhere."""
    x, y = np.meshgrid(np.arange(SIZE) + 0.5, np.arange(SIZE) + 0.5)
    out = []
    for a, b, c in screen[triangles]:
        area = np.linalg.det(np.array([b[:2] - a[:2], c[:2] - a[:2]]))
        u = ((b[0] - x) * (c[1] - y) - (b[1] - y) * (c[0] - x)) / area
        v = ((c[0] - x) * (a[1] - y) - (c[1] - y) * (a[0] - x)) / area
        inside = (u >= 0.0) & (v >= 0.0) & (u + v <= 1.0)
        out.append(np.where(inside, u * a[2] + v * b[2] + (1.0 - u - v) * c[2], 0.0))
    return np.array(out)


@given(st.integers(0, 2**32 - 1))
def test_every_pixel_shows_the_nearest_triangle_that_covers_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    screen = np.column_stack([rng.uniform(-4.0, SIZE + 4.0, (12, 2)), rng.uniform(0.1, 1.0, 12)])
    triangles = rng.permutation(12).reshape(4, 3)
    nearness, drawn = filled(screen, triangles)
    expected = _expected(screen, triangles)
    assert nearness == pytest.approx(expected.max(axis=0), abs=1e-6)
    covered = expected.max(axis=0) > 0.0
    assert (drawn[~covered] == raster.NO_TRIANGLE).all()
    assert (drawn[covered] == expected.argmax(axis=0)[covered]).all()


def test_triangles_behind_the_camera_or_without_area_are_not_drawn() -> None:
    square = np.array([[0.0, 0.0, 1.0], [10.0, 0.0, 1.0], [0.0, 10.0, 1.0]])
    flat = np.array([[0.0, 0.0, 1.0], [5.0, 5.0, 1.0], [10.0, 10.0, 1.0]])
    for corners in (square * [1.0, 1.0, -1.0], square * [1.0, 1.0, 0.0], flat, square * np.nan):
        assert (filled(corners, np.array([[0, 1, 2]]))[1] == raster.NO_TRIANGLE).all()


def test_triangles_much_larger_than_the_picture_cover_it() -> None:
    corners = np.array([[-1e12, -1e12, 1.0], [1e12, -1e12, 1.0], [0.0, 1e12, 1.0]])
    assert (filled(corners, np.array([[0, 1, 2]]))[1] == 0).all()
