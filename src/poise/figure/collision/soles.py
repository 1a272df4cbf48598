"""Contact points of a body with the ground, the corners of its sole; and the support polygon of several soles."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from poise.errors import FormatError
from poise.figure.collision.mesh_files import find_mesh, read_triangles
from poise.figure.model.pose import FloatArray, Frames, Pose
from poise.figure.model.posture import Posture
from poise.figure.model.shapes import Mesh, extreme_points
from poise.kernels.maths.nearest_point import convex_hull, nearest_on_hull

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure

SOLE_THICKNESS = 0.01
"""Points up to this height above the lowest point belong to the sole [m]."""
LIFTED = 0.02
"""Height of a sole above the ground from which on it carries no weight [m]."""
LEAST_DENSITY, SOLID_DENSITY = 100.0, 1000.0
"""Density below which an inertia cannot be that of a solid body, and the density assumed instead [kg/m³]."""
MOST_CORNERS = 8
"""Largest number of corners that describe the sole of a mesh."""
ROUNDING = 1e-9
"""Height that counts as zero [m]."""


@lru_cache(maxsize=64)
def sole_corners(figure: Figure, name: str) -> tuple[FloatArray, ...]:
    """Contact points of a site's or body's sole, in the frame of that site or body [m].

    They are the lowest points in the neutral posture of the shapes of the body and of all bodies that are fixed to it:
    the corners of boxes, the rims of cylinders, the lowest points of round shapes, the outline of the lowest vertices
    of meshes. A body without shapes stands on the box that has its mass and inertia, and without mass on its origin.
    """
    frames = figure.frames(figure.neutral())
    part_from_world = frames[name].inverse()
    body = figure.body_of(name)
    bodies = _fixed_to(figure, body)
    corners = [point for each in bodies for point in _shape_points(figure, frames, each)]
    if not corners:
        corners = [point for each in bodies for point in _inertia_box(figure, frames, each)]
    if not corners:
        return (np.zeros(3),)
    heights = np.array(corners) @ figure.up_vector
    low = heights.min() + SOLE_THICKNESS
    points = np.array([p for p, height in zip(corners, heights, strict=True) if height <= low])
    if len(points) > MOST_CORNERS:
        points = points[_outline(points, figure)]
    return tuple(part_from_world.apply(p) for p in points)


def _fixed_to(figure: Figure, body: str) -> list[str]:
    """A body and all bodies that are joined to it rigidly."""
    nodes = figure.compiled.attached.node[: len(figure.bodies)]
    node = nodes[figure.bodies.index(body)]
    # All fixed bodies share one node, with the world, which is not a foot.
    if node < 0 or not any(joint.child == body or joint.nv == 0 for joint in figure.joints):
        return [body]
    return [other for other, at in zip(figure.bodies.names, nodes, strict=True) if at == node]


def _world_from_body(figure: Figure, frames: Frames, body: str) -> Pose:
    """World frame of a body, by its row, since a site may have the name of its body."""
    row = figure.bodies.index(body)
    return Pose(frames.position[row], frames.rotation[row])


def _shape_points(figure: Figure, frames: Frames, body: str, *, colliding: bool = False) -> list[FloatArray]:
    """Points of a body's shapes, or of those that collide, that may be the lowest, in the world [m]."""
    world_from_body, points = _world_from_body(figure, frames, body), []
    for shape in figure.bodies[body].shapes:
        if colliding and shape.role == "visual":
            continue
        world_from_shape = world_from_body @ shape.pose
        if isinstance(shape, Mesh):
            points += list(_lowest_vertices(figure, shape, world_from_shape))
            continue
        down = -world_from_shape.matrix[:3, :3].T @ figure.up_vector
        points += [world_from_shape.apply(corner) for corner in extreme_points(shape, down)]
    return points


def _lowest_vertices(figure: Figure, shape: Mesh, world_from_shape: Pose) -> FloatArray:
    """(k, 3) vertices of a mesh near its lowest one, in the world; none if its file is not there or cannot be read."""
    path = find_mesh(shape.path, figure.folder)
    if path is None:
        return np.zeros((0, 3))
    try:
        vertices, _ = read_triangles(path)
    except FormatError:
        return np.zeros((0, 3))
    world = (vertices * np.asarray(shape.scale)) @ world_from_shape.matrix[:3, :3].T + world_from_shape.position
    heights = world @ figure.up_vector
    lowest: FloatArray = world[heights <= heights.min() + SOLE_THICKNESS]
    return lowest


def _inertia_box(figure: Figure, frames: Frames, body: str) -> list[FloatArray]:
    """Corners of the box of even density that has a body's mass and inertia, along the inertia's axes, in the world.

    A box of mass m and sides a, b, c has the principal moments m (b² + c²)/12, m (c² + a²)/12 and m (a² + b²)/12. Where
    a file has moments that are too large for the mass, the box is shrunk until it is as dense as water.
    """
    mass = figure.bodies[body].mass
    if mass.mass <= 0.0:
        return []
    moments, axes = np.linalg.eigh(mass.inertia)
    sides = np.sqrt(np.maximum(6.0 * (moments.sum() - 2.0 * moments) / mass.mass, 0.0))
    density = mass.mass / max(float(np.prod(sides)), 1e-9)
    if density < LEAST_DENSITY:
        sides *= np.cbrt(density / SOLID_DENSITY)
    signs = np.array(np.meshgrid([-0.5, 0.5], [-0.5, 0.5], [-0.5, 0.5])).reshape(3, -1).T
    pose = _world_from_body(figure, frames, body)
    return [pose.apply(mass.center + axes @ (sign * sides)) for sign in signs]


def _outline(points: FloatArray, figure: Figure) -> list[int]:
    """Indices of the points that are the farthest in `MOST_CORNERS` directions along the ground."""
    level = np.delete(np.arange(3), "xyz".index(figure.up))
    angles = 2.0 * np.pi * (np.arange(MOST_CORNERS) + 0.5) / MOST_CORNERS
    ways = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return sorted(set(np.argmax(points[:, level] @ ways.T, axis=0).tolist()))


@lru_cache(maxsize=64)
def ground_height(figure: Figure) -> float:
    """Height of the ground on which a figure stands: that of its lowest colliding point [m].

    It stands in its posture "standing", or in the neutral posture if it has no posture of that name.
    """
    frames = figure.frames("standing" if "standing" in figure.posture_names else figure.neutral())
    points = [p for body in figure.bodies.names for p in _shape_points(figure, frames, body, colliding=True)]
    lowest = min((float(point @ figure.up_vector) for point in points), default=0.0)
    return 0.0 if abs(lowest) < ROUNDING else lowest


class SupportPolygon(NamedTuple):
    """The convex hull of all soles, projected onto the ground."""

    corners: FloatArray
    """(k, 3) corners in order, at the height of the lowest sole [m]."""
    inside: float
    """Distance of the centre of mass from the nearest edge, inside [m]; negative outside."""


def support_polygon(posture: Posture, supports: Iterable[str]) -> SupportPolygon:
    """The support polygon of a figure that stands on the named sites or bodies; a lifted one does not count.

    The ground is at the height of the lowest sole.
    """
    figure = posture.figure
    frames = figure.frames(posture)
    soles = [np.array([frames[name].apply(p) for p in sole_corners(figure, name)]) for name in supports]
    lowest = min((float((sole @ figure.up_vector).min()) for sole in soles), default=0.0)
    points = np.concatenate(
        [np.zeros((0, 3)), *(sole for sole in soles if (sole @ figure.up_vector).min() <= lowest + LIFTED)]
    )
    return polygon_through(posture, points)


def polygon_through(posture: Posture, points: FloatArray) -> SupportPolygon:
    """The support polygon of a figure that stands on points (k, 3) of the world."""
    figure = posture.figure
    level = np.delete(np.arange(3), "xyz".index(figure.up))
    flat = np.ascontiguousarray(points[:, level])
    order = np.zeros(len(flat), dtype=np.int64)
    count = convex_hull(flat, 0, len(flat), order)
    center = figure.center_of_mass(posture)[level]
    nearest = nearest_on_hull(flat, order, 0, count, float(center[0]), float(center[1]))
    corners = points[order[:count]]
    corners[:, "xyz".index(figure.up)] = (points @ figure.up_vector).min()
    return SupportPolygon(corners, -float(nearest.distance))
