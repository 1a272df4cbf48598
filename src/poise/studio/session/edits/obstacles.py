"""Functions that add, change and remove obstacles of a scene, and their drawn shapes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from poise.engine.scene import Scene
from poise.errors import PoiseError, TaskError
from poise.figure.model.pose import FloatArray, Pose, from_to, unit_vector
from poise.figure.model.shapes import Box, Capsule, Cylinder, Ellipsoid, Mesh, Shape, Sphere
from poise.pictures.parts import surface_of
from poise.studio.session.edits.scene import with_parts
from poise.tasks.obstacles import Obstacle, Plane

AnyObstacle = Obstacle | Plane
NEW_OBSTACLE_SIZE = 0.07
"""Size of a new obstacle, as a share of the figure's size."""
NEW_SHAPES: dict[str, Callable[[float], Shape]] = {
    "sphere": lambda size: Sphere(size),
    "box": lambda size: Box((2.0 * size, 2.0 * size, 2.0 * size)),
    "cylinder": lambda size: Cylinder(0.7 * size, 3.0 * size),
}
UNREADABLE_MESH_EDGE, SHORTEST_MESH_EDGE = 0.1, 1e-3
"""Edge of the box drawn for a mesh that cannot be read, and shortest edge of the box drawn for any mesh [m]."""
OBSTACLE_KINDS = ("plane", *NEW_SHAPES)
"""Kinds of obstacle that can be added."""

DRAWN_FORMS = ("plane", "ellipsoid", "box", "cylinder", "capsule")
"""Forms in which the viewport draws obstacles."""
SHAPE_FORMS: dict[type[Shape], tuple[str, Callable[[Any], tuple[float, ...]]]] = {
    Sphere: ("ellipsoid", lambda shape: (shape.radius,) * 3),
    Ellipsoid: ("ellipsoid", lambda shape: shape.radii),
    Box: ("box", lambda shape: shape.size),
    Capsule: ("capsule", lambda shape: (shape.radius, shape.length, 0.0)),
    Cylinder: ("cylinder", lambda shape: (shape.radius, shape.length, 0.0)),
    Mesh: ("box", lambda shape: _edges(shape)),
}
"""For each type of shape, the form in which it is drawn, and a function for the form's three sizes [m]."""


def new_obstacle(scene: Scene, kind: str, at: FloatArray, extent: float) -> AnyObstacle:
    """A new obstacle of a kind at a point; a plane passes through the point and faces up [m]."""
    number = 1 + len(scene.obstacles)
    up = scene.figure.up_vector
    if kind == "plane":
        return Plane(up, float(at @ up), name=f"plane {number}")
    shape = NEW_SHAPES[kind](NEW_OBSTACLE_SIZE * extent)
    turned = from_to("z", up) if kind == "cylinder" else (1.0, 0.0, 0.0, 0.0)
    return Obstacle(shape, Pose(at, turned), name=f"{kind} {number}")


def with_obstacle(scene: Scene, obstacle: AnyObstacle) -> Scene:
    """The scene with an obstacle added."""
    return with_parts(scene, obstacles=[*scene.obstacles, obstacle])


def with_solid(scene: Scene, on: bool) -> Scene:
    """The scene with a solid figure, or with one whose bodies pass through each other and the floor."""
    return with_parts(scene, solid=on)


def without_obstacle(scene: Scene, number: int) -> Scene:
    """The scene without one obstacle."""
    return with_parts(scene, obstacles=[each for k, each in enumerate(scene.obstacles) if k != number])


def with_obstacle_in_place(scene: Scene, number: int, obstacle: AnyObstacle) -> Scene:
    """The scene with one obstacle replaced."""
    if not 0 <= number < len(scene.obstacles):
        raise TaskError(f"there is no obstacle number {number}; the scene has {len(scene.obstacles)}.")
    return with_parts(scene, obstacles=[obstacle if k == number else e for k, e in enumerate(scene.obstacles)])


def with_obstacle_at(scene: Scene, number: int, pose: Pose) -> Scene:
    """The scene with an obstacle moved to a pose as `pose_of_obstacle` returns it."""
    old = scene.obstacles[number] if 0 <= number < len(scene.obstacles) else None
    if isinstance(old, Plane):
        normal = pose.matrix[:, 2]
        return with_obstacle_in_place(scene, number, Plane(normal, float(normal @ pose.position), name=old.name))
    if old is None:
        raise TaskError(f"there is no obstacle number {number}; the scene has {len(scene.obstacles)}.")
    return with_obstacle_in_place(scene, number, old.moved(pose @ _drawn_frame(old.shape).inverse()))


def pose_of_obstacle(obstacle: AnyObstacle, near: FloatArray) -> Pose:
    """The pose of an obstacle's shape; for a plane, its point nearest to `near`, with the z axis along the normal."""
    if isinstance(obstacle, Obstacle):
        return obstacle.pose @ _drawn_frame(obstacle.shape)
    normal = unit_vector(obstacle.normal)
    return Pose(near - (float(near @ normal) - obstacle.offset) * normal, from_to("z", normal))


def _drawn_frame(shape: Shape) -> Pose:
    """The pose of the drawn form in the frame of its obstacle; a mesh is drawn as its bounding box."""
    return shape.pose @ Pose(_bounding_box(shape)[0]) if isinstance(shape, Mesh) else shape.pose


def _edges(mesh: Mesh) -> tuple[float, ...]:
    return _bounding_box(mesh)[1]


@lru_cache(maxsize=32)
def _bounding_box(mesh: Mesh) -> tuple[FloatArray, tuple[float, ...]]:
    """Centre and edges of a mesh's bounding box in its own frame; a small box if the file cannot be read [m]."""
    try:
        vertices = surface_of(replace(mesh, pose=Pose())).vertices
    except (PoiseError, OSError):
        return np.zeros(3), (UNREADABLE_MESH_EDGE, UNREADABLE_MESH_EDGE, UNREADABLE_MESH_EDGE)
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    return 0.5 * (low + high), tuple(np.maximum(high - low, SHORTEST_MESH_EDGE).tolist())


def drawn_form(obstacle: AnyObstacle) -> tuple[str, FloatArray]:
    """The form in which an obstacle is drawn, and the form's three sizes [m]."""
    if isinstance(obstacle, Plane):
        return "plane", np.zeros(3)
    for kind, (form, sizes) in SHAPE_FORMS.items():
        if isinstance(obstacle.shape, kind):
            return form, np.array(sizes(obstacle.shape))
    raise TaskError(f"a {type(obstacle.shape).__name__.lower()} cannot be drawn as an obstacle.")
