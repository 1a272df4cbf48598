"""The distance from an ellipsoid, against its definition and finite differences."""

from __future__ import annotations

import numpy as np
import pytest

from poise.kernels.maths.ellipsoid import distance_to_ellipsoid, normal_change
from poise.kernels.maths.vector import Vector

RADII = [(1.0, 1.0, 1.0), (0.3, 0.3, 2.0), (2.0, 0.3, 2.0), (0.16, 0.22, 0.12), (1e-3, 1.0, 30.0)]


def found(p, radii):
    return distance_to_ellipsoid(Vector(*map(float, p)), Vector(*radii))


def points(radii, count=200):
    """Points inside and outside, near the surface and on planes and axes of symmetry."""
    rng = np.random.default_rng(1)
    p = rng.normal(size=(count, 3)) * radii * rng.uniform(0.0, 2.0, (count, 1))
    p[::5, rng.integers(3)] = 0.0
    p[::7] = np.roll(np.eye(3), 1, axis=0)[rng.integers(3, size=len(p[::7]))] * p[::7]
    p[-1] = 0.0
    return p


@pytest.mark.parametrize("radii", RADII)
def test_the_nearest_point_is_on_the_surface_and_nearest(radii):
    directions = np.random.default_rng(2).normal(size=(4000, 3))
    surface = directions / np.linalg.norm(directions / radii, axis=1)[:, None]
    for p in points(radii):
        distance, normal = found(p, radii).distance, np.array(found(p, radii).normal)
        x = p - distance * normal
        assert np.linalg.norm(normal) == pytest.approx(1.0, abs=1e-12)
        assert np.sum((x / radii) ** 2) == pytest.approx(1.0, abs=1e-9)
        assert (distance > 0.0) == (np.sum((p / radii) ** 2) > 1.0)
        assert abs(distance) <= np.linalg.norm(surface - p, axis=1).min() + 1e-9


@pytest.mark.parametrize("radii", RADII[:4])
def test_derivatives(radii):
    step = 1e-6 * min(radii)
    rng = np.random.default_rng(3)
    for p in rng.normal(size=(100, 3)) * radii * rng.uniform(0.3, 2.0, (100, 1)):
        here = found(p, radii)
        ahead, behind = ([found(p + s * axis, radii) for axis in np.eye(3)] for s in (step, -step))
        slope = [(a.distance - b.distance) / (2.0 * step) for a, b in zip(ahead, behind, strict=True)]
        assert slope == pytest.approx(np.array(here.normal), abs=1e-6)
        change = [(np.array(a.normal) - b.normal) / (2.0 * step) for a, b in zip(ahead, behind, strict=True)]
        given = np.array([normal_change(here, Vector(*axis)) for axis in np.eye(3)])
        assert given == pytest.approx(np.array(change), rel=1e-4, abs=1e-4 * np.abs(given).max())


def test_a_ball_is_plain():
    here = found((3.0, 4.0, 0.0), (2.0, 2.0, 2.0))
    assert here.distance == pytest.approx(3.0)
    assert here.normal == pytest.approx((0.6, 0.8, 0.0))
    assert normal_change(here, Vector(0.0, 0.0, 1.0)) == pytest.approx((0.0, 0.0, 0.2))
