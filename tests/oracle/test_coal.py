"""Distances against closed forms, against a minimiser, and against coal where we do not use it."""

import numpy as np
import pytest
from scipy.optimize import minimize

from poise.figure.collision.collisions import Collisions, node_frames
from poise.figure.collision.solids import coal_geometry, make_solid
from poise.figure.model.builder import Builder, free
from poise.figure.model.pose import Pose, to_matrix
from poise.figure.model.shapes import Box, Capsule, Cylinder, Ellipsoid, Sphere
from poise.tasks.obstacles import Obstacle, Plane

coal = pytest.importorskip("coal", reason="coal is not installed on this platform")

TRIALS = 200
ROUND = [Sphere(0.11), Capsule(0.07, 0.5)]
OTHER = [Box((0.3, 0.2, 0.5)), Cylinder(0.15, 0.4), Ellipsoid((0.1, 0.2, 0.3)), *ROUND]


def name(shape):
    return type(shape).__name__


def floating(shape):
    b = Builder("thing")
    b.body("body", joint=free("base"), shapes=[shape])
    return b.build()


class Scene:
    """A shape that moves freely and an obstacle, far enough in reach to be always measured."""

    def __init__(self, shape, obstacle):
        self.figure = floating(shape)
        self.collisions = Collisions(self.figure, [obstacle], reach=10.0)

    def nearest(self, pose):
        """The nearest row: distance, points and normal."""
        posture = self.figure.posture([*pose.position, *pose.rotation])
        count = self.collisions.nearest(*node_frames(self.figure, posture))
        rows = self.collisions.rows
        k = int(np.argmin(rows.distance[:count]))
        return rows.distance[k], rows.point_a[k], rows.point_b[k], rows.normal[k]


def random_pose(rng, spread):
    return Pose(rng.normal(size=3) * spread, rng.normal(size=4))


def test_spheres_are_as_far_apart_as_their_centres_less_their_radii():
    rng, center = np.random.default_rng(0), np.array([0.1, -0.2, 0.3])
    scene = Scene(Sphere(0.3), Obstacle(Sphere(0.2), Pose(center)))
    for _ in range(TRIALS):
        pose = random_pose(rng, 0.5)
        apart = pose.position - center
        distance, a, b, normal = scene.nearest(pose)
        n = apart / np.linalg.norm(apart)
        assert distance == pytest.approx(np.linalg.norm(apart) - 0.5, abs=1e-12)
        np.testing.assert_allclose(normal, n, atol=1e-12)
        np.testing.assert_allclose(a, pose.position - 0.3 * n, atol=1e-12)
        np.testing.assert_allclose(b, center + 0.2 * n, atol=1e-12)


def test_a_capsule_is_as_far_from_a_plane_as_its_lower_end():
    rng = np.random.default_rng(1)
    scene = Scene(Capsule(0.1, 0.6), Plane((1.0, 2.0, 2.0), 0.3))
    n = np.array([1.0, 2.0, 2.0]) / 3.0
    for _ in range(TRIALS):
        pose = random_pose(rng, 0.5)
        ends = [pose.apply((0.0, 0.0, z)) for z in (-0.3, 0.3)]
        end = min(ends, key=lambda p: n @ p)
        distance, a, b, normal = scene.nearest(pose)
        assert distance == pytest.approx(n @ end - 0.3 - 0.1, abs=1e-12)
        np.testing.assert_allclose(normal, n, atol=1e-15)
        np.testing.assert_allclose(a, end - 0.1 * n, atol=1e-12)
        np.testing.assert_allclose(b, a - distance * n, atol=1e-12)


def test_capsules_against_a_minimiser():
    """min |a + s u - b - t v| over the unit square, by bounded quasi-Newton from its four corners."""
    rng = np.random.default_rng(2)
    fixed = Pose((0.1, 0.0, 0.2), (1.0, 0.3, -0.2, 0.5))
    scene = Scene(Capsule(0.05, 0.7), Obstacle(Capsule(0.08, 0.4), fixed))
    b, v = fixed.apply((0.0, 0.0, -0.2)), 0.4 * fixed.matrix[:, 2]
    for _ in range(TRIALS):
        pose = random_pose(rng, 0.4)
        a, u = pose.apply((0.0, 0.0, -0.35)), 0.7 * pose.matrix[:, 2]

        def square(x, a=a, u=u):
            gap = a + x[0] * u - b - x[1] * v
            return gap @ gap, np.array([2.0 * gap @ u, -2.0 * gap @ v])

        tries = [
            minimize(
                square, (s, t), jac=True, bounds=[(0, 1)] * 2, method="L-BFGS-B", options={"ftol": 0, "gtol": 1e-13}
            )
            for s in (0.1, 0.9)
            for t in (0.1, 0.9)
        ]
        best = min(tries, key=lambda found: found.fun)
        apart = a + best.x[0] * u - b - best.x[1] * v
        distance, point_a, point_b, normal = scene.nearest(pose)
        assert distance == pytest.approx(np.sqrt(best.fun) - 0.13, abs=1e-8)
        np.testing.assert_allclose(normal, apart / np.linalg.norm(apart), atol=1e-5)
        np.testing.assert_allclose(point_a - point_b, distance * normal, atol=1e-12)


def coal_distance(shapes, poses, tolerance=1e-12):
    geometries = [coal_geometry(make_solid(shape, "x", 0, Pose())) for shape in shapes]
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.gjk_tolerance, request.gjk_max_iterations = tolerance, 1000
    places = []
    for pose in poses:
        place = coal.Transform3s()
        place.setTransform(to_matrix(pose.rotation), np.array(pose.position))
        places.append(place)
    coal.distance(geometries[0], places[0], geometries[1], places[1], request, result)
    return result.min_distance, result.getNearestPoint1(), result.getNearestPoint2()


@pytest.mark.parametrize("still", OTHER, ids=name)
@pytest.mark.parametrize("moving", OTHER, ids=name)
def test_distances_of_solids_apart_equal_those_of_coal(moving, still):
    rng = np.random.default_rng(3)
    fixed = random_pose(rng, 0.2)
    scene = Scene(moving, Obstacle(still, fixed))
    # Two solids without an axis are measured by coal itself, from another start and less long.
    exact = 1e-7 if moving in ROUND or still in ROUND else 1e-6
    compared = 0
    for _ in range(TRIALS):
        pose = random_pose(rng, 0.5)
        expected, point, other = coal_distance((moving, still), (pose, fixed))
        if expected < 1e-3:
            continue
        distance, a, b, normal = scene.nearest(pose)
        assert distance == pytest.approx(expected, abs=exact)
        np.testing.assert_allclose(normal, (a - b) / np.linalg.norm(a - b), atol=1e-5)
        np.testing.assert_allclose(a - b, point - other, atol=2e-4)
        compared += 1
    assert compared > TRIALS // 4


# coal's formula for spheres in cylinders is wrong by centimetres in one of eight places, always too deep.
@pytest.mark.parametrize("still", [Box((0.3, 0.2, 0.5)), Ellipsoid((0.1, 0.2, 0.3))], ids=name)
def test_a_sphere_inside_a_solid_is_as_deep_as_coal_says(still):
    rng = np.random.default_rng(4)
    fixed = random_pose(rng, 0.2)
    scene = Scene(Sphere(0.05), Obstacle(still, fixed))
    compared = 0
    for _ in range(TRIALS):
        pose = Pose(fixed.position + rng.normal(size=3) * 0.08)
        expected, _, _ = coal_distance((Sphere(0.05), still), (pose, fixed))
        if expected < 0.0:
            assert scene.nearest(pose)[0] == pytest.approx(expected, abs=2e-5)
            compared += 1
    assert compared > TRIALS // 4
