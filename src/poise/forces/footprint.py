"""The support polygon of a figure, and the position of the centre of mass relative to it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from poise.figure.collision.soles import sole_corners
from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture
from poise.kernels.forces.support_polygon import convex_hull, nearest_on_hull


class SupportPolygon(NamedTuple):
    """The convex hull of all soles, projected onto the ground."""

    corners: FloatArray
    """(k, 3) corners in order, at the height of the lowest sole [m]."""
    inside: float
    """Distance of the centre of mass from the nearest edge, inside [m]; negative outside."""


def support_polygon(posture: Posture, supports: Iterable[str]) -> SupportPolygon:
    """The support polygon of a figure that stands on the named sites or bodies."""
    figure = posture.figure
    frames = figure.frames(posture)
    soles = [frames[name].apply(corner) for name in supports for corner in sole_corners(figure, name)]
    points = np.array(soles).reshape(-1, 3)
    level = np.delete(np.arange(3), "xyz".index(figure.up))
    flat = np.ascontiguousarray(points[:, level])
    order = np.zeros(len(flat), dtype=np.int64)
    count = convex_hull(flat, 0, len(flat), order)
    center = figure.center_of_mass(posture)[level]
    nearest = nearest_on_hull(flat, order, 0, count, float(center[0]), float(center[1]))
    corners = points[order[:count]]
    corners[:, "xyz".index(figure.up)] = (points @ figure.up_vector).min()
    return SupportPolygon(corners, -float(nearest.distance))
