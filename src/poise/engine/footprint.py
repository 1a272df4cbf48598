"""The ground that a figure stands on, and where its centre of mass is above it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from poise.figure.collision.soles import sole_corners
from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture
from poise.kernels.forces.support_polygon import convex_hull, nearest_on_hull


class Footprint(NamedTuple):
    """The convex hull of all soles, seen from above."""

    corners: FloatArray
    """(k, 3) its corners in order, at the height of the lowest sole [m]."""
    inside: float
    """How far inside it the centre of mass is [m]; negative outside."""


def footprint(posture: Posture, supports: Iterable[str]) -> Footprint:
    """The support that the named sites or bodies give a figure."""
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
    return Footprint(corners, -float(nearest.distance))
