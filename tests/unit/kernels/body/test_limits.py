import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.kernels.body.limits import (
    ellipse_excess,
    halfway,
    nearest_in_ellipse,
    nearest_on_ellipse,
    nearest_on_polygon,
)
from poise.kernels.maths.quaternion import direction_swing, swing_direction
from poise.kernels.maths.vector import Vector, angle_between, length, normalized
from tests.unit.kernels.maths.regimes import directions

radii = st.floats(0.02, 3.0)


@given(st.floats(-5, 5), st.floats(-5, 5), radii, radii)
def test_nearest_on_the_plane_ellipse_beats_every_sample(px, py, rx, ry):
    qx, qy = nearest_on_ellipse(px, py, rx, ry)
    assert (qx / rx) ** 2 + (qy / ry) ** 2 == pytest.approx(1.0, abs=1e-9)
    t = np.linspace(0.0, 2.0 * math.pi, 721)
    best = np.hypot(rx * np.cos(t) - px, ry * np.sin(t) - py).min()
    assert math.hypot(qx - px, qy - py) <= best + 1e-9


@pytest.mark.parametrize("rx", [0.5, 1.0, 2.0])
def test_plane_ellipse_from_its_centre_and_axes(rx):
    qx, qy = nearest_on_ellipse(0.0, 0.0, rx, 1.0)
    assert math.hypot(qx, qy) == pytest.approx(min(rx, 1.0))
    assert nearest_on_ellipse(9.0, 0.0, rx, 1.0) == pytest.approx((rx, 0.0))
    assert nearest_on_ellipse(0.0, -9.0, rx, 1.0) == pytest.approx((0.0, -1.0))


@given(directions, st.floats(0.05, 3.0), st.floats(0.05, 3.0))
def test_nearest_on_the_spherical_ellipse_beats_every_sample(d, rx, ry):
    near = nearest_in_ellipse(d, rx, ry)
    x, y = direction_swing(near)
    assert ellipse_excess(x, y, rx, ry) == pytest.approx(0.0, abs=1e-9)
    t = np.linspace(0.0, 2.0 * math.pi, 721)
    cosines = [np.dot(swing_direction(rx * math.cos(a), ry * math.sin(a)), d) for a in t]
    assert np.dot(near, d) >= max(cosines) - 1e-12


SQUARE = np.array([[0.5, -0.5, 1.0], [0.5, 0.5, 1.0], [-0.5, 0.5, 1.0], [-0.5, -0.5, 1.0]])
ARROW = np.array([[0.8, 0.0, 1.0], [-0.8, 0.8, 1.0], [-0.2, 0.0, 1.0], [-0.8, -0.8, 1.0]])


def as_polygon(rows):
    return np.ascontiguousarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def planar_side(rows, d):
    """Even-odd rule in the gnomonic plane z = 1, where great arcs are straight."""
    x, y = d.x / d.z, d.y / d.z
    inside = False
    for (x1, y1, _), (x2, y2, _) in zip(rows, np.roll(rows, -1, axis=0), strict=True):
        if (y1 > y) != (y2 > y) and x < (x2 - x1) * (y - y1) / (y2 - y1) + x1:
            inside = not inside
    return inside


@pytest.mark.parametrize("rows", [SQUARE, ARROW], ids=["convex", "concave"])
@given(d=directions)
def test_polygon_side_and_distance(rows, d):
    polygon = as_polygon(rows)
    near, outside = nearest_on_polygon(d, polygon, 0, len(polygon))
    t = np.linspace(0.0, 1.0, 301)[:, None]
    boundary = np.concatenate([(1 - t) * a + t * b for a, b in zip(polygon, np.roll(polygon, -1, axis=0), strict=True)])
    boundary /= np.linalg.norm(boundary, axis=1, keepdims=True)
    best = math.acos(min(1.0, float((boundary @ np.array(d)).max())))
    assert angle_between(near, d) <= best + 1e-7
    assert abs(outside) == pytest.approx(angle_between(near, d), abs=1e-7)
    if abs(outside) > 1e-6 and d.z > 1e-3:
        assert (outside < 0.0) == planar_side(rows, d)
    if d.z < 0.0:
        assert outside > 0.0


def test_halfway_between_directions():
    assert halfway(Vector(1.0, 0.0, 0.0), Vector(0.0, 1.0, 0.0)) == pytest.approx(normalized(Vector(1.0, 1.0, 0.0)))
    assert length(halfway(Vector(0.0, 0.0, 1.0), Vector(0.0, 0.0, -1.0))) == 0.0
