"""Contact points of a body with the ground, the corners of its sole; and the support polygon of several soles."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from poise.figure.model.pose import FloatArray, Pose
from poise.figure.model.posture import Posture
from poise.figure.model.shapes import Box, Capsule, Cylinder, Ellipsoid, Shape, Sphere
from poise.kernels.maths.nearest_point import convex_hull, nearest_on_hull

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure

SOLE_THICKNESS = 0.01
"""Points up to this height above the lowest point belong to the sole [m]."""
LIFTED = 0.02
"""Height of a sole above the ground from which on it carries no weight [m]."""
RIM_POINTS = 8
"""Points that approximate a circular rim."""


@lru_cache(maxsize=64)
def sole_corners(figure: Figure, name: str) -> tuple[FloatArray, ...]:
    """Contact points of a site's or body's sole, in the frame of that site or body [m].

    They are the lowest points of the body's shapes in the neutral posture: the corners of boxes, the rims of
    cylinders, the lowest points of round shapes. A body without such shapes stands on its origin.
    """
    frames = figure.frames(figure.neutral())
    part_from_world = frames[name].inverse()
    body = figure.sites[name].body if name in figure.sites.names else name
    # By row, since a site may have the name of its body.
    row = figure.bodies.index(body)
    world_from_body = Pose(frames.position[row], frames.rotation[row])
    corners = []
    for shape in figure.bodies[body].shapes:
        world_from_shape = world_from_body @ shape.pose
        down = -world_from_shape.matrix[:3, :3].T @ figure.up_vector
        corners += [world_from_shape.apply(corner) for corner in _lowest(shape, down)]
    if not corners:
        return (np.zeros(3),)
    heights = np.array(corners) @ figure.up_vector
    low = heights.min() + SOLE_THICKNESS
    return tuple(part_from_world.apply(p) for p, height in zip(corners, heights, strict=True) if height <= low)


def _lowest(shape: Shape, down: FloatArray) -> FloatArray:
    """(k, 3) points of a shape, in its own frame, that may be the lowest along the unit vector `down`."""
    if isinstance(shape, Box):
        signs = np.array(np.meshgrid([-0.5, 0.5], [-0.5, 0.5], [-0.5, 0.5])).reshape(3, -1).T
        return np.asarray(signs * np.asarray(shape.size), dtype=np.float64)
    if isinstance(shape, Sphere):
        return (shape.radius * down)[None]
    if isinstance(shape, Ellipsoid):
        radii = np.asarray(shape.radii)
        return np.asarray(radii * radii * down / np.linalg.norm(radii * down), dtype=np.float64)[None]
    if isinstance(shape, Capsule):
        return _ends(shape) + shape.radius * down
    if isinstance(shape, Cylinder):
        angles = 2.0 * np.pi * np.arange(RIM_POINTS) / RIM_POINTS
        rim = shape.radius * np.stack([np.cos(angles), np.sin(angles), np.zeros(RIM_POINTS)], axis=1)
        return np.concatenate([rim + end for end in _ends(shape)])
    return np.zeros((0, 3))


def _ends(shape: Cylinder) -> FloatArray:
    """(2, 3) ends of the axis of a cylinder or capsule."""
    half = 0.5 * shape.length
    return np.array([[0.0, 0.0, -half], [0.0, 0.0, half]])


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
    level = np.delete(np.arange(3), "xyz".index(figure.up))
    flat = np.ascontiguousarray(points[:, level])
    order = np.zeros(len(flat), dtype=np.int64)
    count = convex_hull(flat, 0, len(flat), order)
    center = figure.center_of_mass(posture)[level]
    nearest = nearest_on_hull(flat, order, 0, count, float(center[0]), float(center[1]))
    corners = points[order[:count]]
    corners[:, "xyz".index(figure.up)] = (points @ figure.up_vector).min()
    return SupportPolygon(corners, -float(nearest.distance))
