import math

import numpy as np
import pytest

from poise.errors import TaskError
from poise.figure.model.pose import Pose
from poise.figure.model.shapes import Box, Mesh, Sphere
from poise.kernels.distances import solids as kernel
from poise.tasks.obstacles import Obstacle, Plane


def test_an_obstacle_stands_at_its_pose_and_that_of_its_shape():
    lamp = Obstacle(Sphere(0.2, pose=Pose((0.0, 1.0, 0.0))), Pose((1.0, 0.0, 0.0)), name="lamp")
    solid = lamp.solid("lamp")
    assert (solid.owner, solid.node, solid.kind, solid.is_obstacle) == ("lamp", 0, kernel.SPHERE, True)
    np.testing.assert_allclose(solid.pose.position, [1.0, 1.0, 0.0])


def test_the_normal_of_a_plane_is_made_a_unit_vector():
    wall = Plane((0.0, 0.0, -2.0), 0.5)
    np.testing.assert_array_equal(wall.normal, [0.0, 0.0, -1.0])
    assert wall == Plane("-z", 0.5)
    assert hash(wall) == hash(Plane("-z", 0.5))
    assert wall != Plane("-z", 0.5, name="wall")
    assert wall.solid("wall").offset == 0.5


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Obstacle(0.2), "must be a shape such as"),
        (lambda: Obstacle(Sphere(0.1), (1.0, 2.0, 3.0), name="lamp"), "the pose of obstacle 'lamp' must be a Pose"),
        (lambda: Obstacle(Box((1, 1, 1)), convex=False), "always convex"),
        (lambda: Plane((0.0, 0.0, 0.0)), "the normal of a plane has no direction"),
        (lambda: Plane("up", name="floor"), "the normal of plane 'floor' must be"),
        (lambda: Plane("y", math.nan), "the offset of a plane must be a number of metres"),
        (lambda: Plane("y", "high"), "the offset of a plane must be a number of metres"),
    ],
    ids=["no shape", "no pose", "exact box", "no normal", "odd word", "nan", "word"],
)
def test_what_makes_no_sense_is_refused(make, sentence):
    with pytest.raises(TaskError, match=sentence):
        make()


def test_a_mesh_is_its_hull_unless_asked_for_exactly(tmp_path):
    corners = "\n".join(f"v {x} {y} {z}" for x in (0, 1) for y in (0, 1) for z in (0, 1))
    (tmp_path / "part.obj").write_text(f"{corners}\nv 0.5 0.5 0.5\nf 1 2 9\nf 3 4 9\nf 5 6 9\nf 7 8 9\n")
    mesh = Mesh("part.obj", (2.0, 1.0, -1.0))
    hull = Obstacle(mesh).solid("part", tmp_path)
    assert (hull.kind, len(hull.vertices)) == (kernel.HULL, 8)
    np.testing.assert_allclose(hull.vertices.max(axis=0), [2.0, 1.0, 0.0])
    skin = Obstacle(mesh, convex=False).solid("part", tmp_path)
    assert (skin.kind, len(skin.vertices), len(skin.triangles)) == (kernel.SURFACE, 9, 4)
