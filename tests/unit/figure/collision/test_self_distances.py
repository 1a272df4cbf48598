"""Hulls of few vertices, and distances of hulls by compiled code."""

import numpy as np
import pytest
from scipy.spatial import ConvexHull

import poise
from poise.figure.collision.proximity import Proximity
from poise.figure.collision.self_distances import self_distances
from poise.figure.collision.simple_hulls import HULL_TOLERANCE, simple_hull, with_simple_hull
from poise.figure.collision.solids import Core, Solid, coal_geometry, make_solid
from poise.figure.model.builder import Builder, revolute
from poise.figure.model.pose import Pose, to_matrix
from poise.figure.model.shapes import Box, Capsule, Cylinder, Ellipsoid, Sphere
from poise.kernels.distances import solids as kinds

coal = pytest.importorskip("coal", reason="coal is not installed on this platform")


def hull_solid(rng, node, points=40):
    """A random hull, its vertices far from the origin of its frame."""
    points = rng.normal(size=(points, 3)) * (0.05, 0.1, 0.15) + (0.3, -0.2, 0.1)
    vertices = points[ConvexHull(points).vertices]
    triangles = ConvexHull(vertices).simplices
    middle = vertices.mean(axis=0)
    core = Core(middle, middle, float(np.linalg.norm(vertices - middle, axis=1).max()))
    return Solid("hull", node, Pose(), kinds.HULL, (0.0, 0.0, 0.0), core, vertices, triangles)


OTHERS = [Sphere(0.08), Capsule(0.05, 0.3), Box((0.2, 0.1, 0.3)), Cylinder(0.1, 0.2), Ellipsoid((0.05, 0.1, 0.15))]


def by_coal(one, two, poses):
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.gjk_tolerance, request.gjk_max_iterations = 1e-10, 1000
    request.enable_signed_distance = True
    places = []
    for pose in poses:
        place = coal.Transform3s()
        place.setTransform(to_matrix(pose.rotation), np.array(pose.position))
        places.append(place)
    coal.distance(coal_geometry(one), places[0], coal_geometry(two), places[1], request, result)
    return result.min_distance


@pytest.mark.parametrize("other", ["hull", *range(len(OTHERS))])
def test_hulls_are_as_far_apart_as_coal_says_and_never_less_deep(other):
    rng = np.random.default_rng(7)
    one = hull_solid(rng, 1)
    two = hull_solid(rng, 2) if other == "hull" else make_solid(OTHERS[other], "other", 2, Pose())
    simple = [with_simple_hull(s) if s.kind == kinds.HULL else s for s in (one, two)]
    proximity = Proximity(simple, [(0, 1)], compiled=True)
    # The edges of boxes, cylinders and ellipsoids in penetration are rounded.
    exact = two.kind in (kinds.HULL, kinds.SPHERE, kinds.CAPSULE)
    apart = deep = 0
    for _ in range(150):
        poses = [Pose(rng.normal(size=3) * 0.15, rng.normal(size=4)) for _ in range(2)]
        position = np.array([np.zeros(3), *(np.array(p.position) for p in poses)])
        rotation = np.array([(1.0, 0.0, 0.0, 0.0), *(np.array(p.rotation) for p in poses)])
        assert proximity.nearest(position, rotation, 10.0) == 1
        rows, expected = proximity.tables.rows, by_coal(one, two, poses)
        found, normal = float(rows.distance[0]), rows.normal[0].copy()
        np.testing.assert_allclose(rows.point_a[0] - rows.point_b[0], found * normal, atol=1e-9)
        if expected > 1e-3:
            # The simple hull has all vertices but those nearer than the tolerance.
            assert expected - 1e-6 < found < expected + 2.5 * HULL_TOLERANCE
            apart += 1
        elif found < -5e-3 and exact:
            moved = Pose(poses[0].position - (found - 2.5 * HULL_TOLERANCE) * normal, poses[0].rotation)
            assert by_coal(one, two, (moved, poses[1])) > -1e-5
            deep += 1
    assert apart > 20
    assert deep > 10 or not exact


def test_simple_hulls_have_few_vertices_and_leave_none_far_outside():
    rng = np.random.default_rng(3)
    ball = rng.normal(size=(3000, 3))
    ball *= 0.05 / np.linalg.norm(ball, axis=1, keepdims=True)
    for points in (ball, ball * (1.0, 0.2, 3.0), np.round(ball, 2)):
        kept, center, inside = simple_hull(points)
        hull = ConvexHull(kept)
        beyond = (points @ hull.equations[:, :3].T + hull.equations[:, 3]).max(axis=1)
        assert len(kept) < 250
        assert beyond.max() < 2.0 * HULL_TOLERANCE
        assert inside > 0.0
        assert -(hull.equations[:, :3] @ center + hull.equations[:, 3]).max() == pytest.approx(inside)


def test_shells_that_always_overlap_are_not_measured_and_limbs_that_only_touch_at_rest_are():
    b = Builder("thing")
    b.body("trunk", shapes=[Box((0.2, 0.4, 0.2))])
    b.body("shoulder", parent="trunk", joint=revolute("lift", "x", limits=(-3.0, 3.0)), at=(0.15, 0.2, 0.0))
    b.body(
        "arm",
        parent="shoulder",
        joint=revolute("swing", "z", limits=(-0.1, 3.0)),
        shapes=[Capsule(0.06, 0.3, pose=Pose((0.0, -0.15, 0.0), (0.7071, 0.7071, 0.0, 0.0)))],
    )
    b.body(
        "wrist",
        parent="arm",
        joint=revolute("turn", "y", limits=(-1.0, 1.0)),
        at=(0.0, -0.3, 0.0),
        shapes=[Sphere(0.03)],
    )
    b.body("glove", parent="wrist", joint=revolute("bend", "y", limits=(-1.0, 1.0)), shapes=[Sphere(0.05)])
    figure = b.build()
    found = self_distances(figure)
    names = {frozenset(found.solids[k].owner for k in pair) for pair in found.pairs}
    assert frozenset(("arm", "glove")) not in names
    assert frozenset(("trunk", "glove")) in names


def test_a_mesh_that_is_missing_is_left_out():
    from poise.figure.model.shapes import Mesh

    b = Builder("thing")
    b.body("trunk", shapes=[Mesh("nowhere.stl")])
    b.body("middle", parent="trunk", joint=revolute("a", "x"), shapes=[Sphere(0.1)])
    b.body("end", parent="middle", joint=revolute("b", "x"), at=(0.0, 0.5, 0.0), shapes=[Sphere(0.1)])
    found = self_distances(b.build())
    assert {solid.owner for solid in found.solids} == {"middle", "end"}
    assert poise.PoiseError
