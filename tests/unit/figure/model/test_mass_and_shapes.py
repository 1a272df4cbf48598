import math

import numpy as np
import pytest

from poise.errors import FigureError
from poise.figure.model.mass import Mass, combined
from poise.figure.model.pose import Pose, from_to, turn
from poise.figure.model.shapes import (
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    Mesh,
    Sphere,
    capsule_between,
    cylinder_between,
)

RNG = np.random.default_rng(0)


def inside(shape, points):
    x, y, z = points.T
    match shape:
        case Sphere():
            return x**2 + y**2 + z**2 <= shape.radius**2
        case Box():
            return (np.abs(points) <= np.array(shape.size) / 2).all(axis=1)
        case Capsule():
            beyond = np.clip(np.abs(z) - shape.length / 2, 0.0, None)
            return x**2 + y**2 + beyond**2 <= shape.radius**2
        case Cylinder():
            return (x**2 + y**2 <= shape.radius**2) & (np.abs(z) <= shape.length / 2)
        case Ellipsoid():
            return (points**2 / np.array(shape.radii) ** 2).sum(axis=1) <= 1.0


@pytest.mark.parametrize(
    "shape",
    [Sphere(0.4), Box((0.2, 0.5, 0.9)), Cylinder(0.3, 0.8), Capsule(0.25, 0.6), Ellipsoid((0.2, 0.4, 0.6))],
    ids=lambda shape: type(shape).__name__,
)
def test_volume_and_inertia_equal_those_of_a_cloud_of_points(shape):
    points = RNG.uniform(-1.0, 1.0, (400_000, 3))
    solid = points[inside(shape, points)]
    volume = 8.0 * len(solid) / len(points)
    assert shape.volume() == pytest.approx(volume, rel=0.02)
    tensor = np.mean((solid**2).sum(axis=1)) * np.eye(3) - solid.T @ solid / len(solid)
    mass = shape.mass(1000.0)
    assert mass.mass == pytest.approx(1000.0 * shape.volume())
    assert np.allclose(mass.inertia / mass.mass, tensor, atol=0.01 * np.trace(tensor))


def test_moved_and_combined_masses_follow_the_parallel_axis_theorem():
    bar = Box((2.0, 0.1, 0.1)).mass(100.0)
    half = Box((1.0, 0.1, 0.1))
    left, right = (half.mass(100.0).moved(Pose((x, 0, 0))) for x in (-0.5, 0.5))
    whole = combined([left, right])
    assert whole.mass == pytest.approx(bar.mass)
    assert np.allclose(whole.center, 0.0)
    assert np.allclose(whole.inertia, bar.inertia)
    turned = bar.moved(Pose(rotation=turn("z", 90.0)))
    assert turned.inertia[0, 0] == pytest.approx(bar.inertia[1, 1])
    assert combined([]) == Mass()


def test_shapes_between_points_run_from_one_to_the_other():
    for shape in (capsule_between((0, 0, 0), (0, 2, 0), 0.1), cylinder_between((0, 0, 0), (0, 2, 0), 0.1)):
        assert shape.length == pytest.approx(2.0)
        assert shape.pose.apply((0, 0, 1.0)) == pytest.approx([0, 2, 0])
    with pytest.raises(FigureError, match="two different points"):
        capsule_between((1, 1, 1), (1, 1, 1), 0.1)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Sphere(0.0),
        lambda: Sphere(math.nan),
        lambda: Box((1.0, -1.0, 1.0)),
        lambda: Cylinder(0.1, math.inf),
        lambda: Ellipsoid((0.1, 0.1, 0.0)),
        lambda: Sphere(1.0, role="ghost"),
        lambda: Sphere(1.0, color=(1, 2)),
        lambda: Mesh("a.stl").mass(1000.0),
    ],
    ids=["empty", "nan", "negative", "infinite", "flat", "role", "colour", "mesh"],
)
def test_impossible_shapes_are_refused(make):
    with pytest.raises(FigureError):
        make()


def test_poses_compose_and_invert():
    a, b = Pose((1, 2, 3), (1, 2, 3, 4)), Pose((-1, 0, 2), (4, 3, 2, 1))
    point = np.array([0.3, -0.2, 0.7])
    assert (a @ b).apply(point) == pytest.approx(a.apply(b.apply(point)))
    assert (a @ a.inverse()).position == pytest.approx([0, 0, 0], abs=1e-12)
    assert a == Pose((1, 2, 3), (1, 2, 3, 4))
    assert hash(a) == hash(Pose((1, 2, 3), (1, 2, 3, 4)))
    assert Pose(rotation=from_to("x", "y")).apply((1, 0, 0)) == pytest.approx([0, 1, 0])
