"""Cameras, and the framing of points from a view."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from poise.errors import PoiseError
from poise.figure.model.figure import UpAxis
from poise.figure.model.names import suggestion
from poise.figure.model.pose import FloatArray

View = Literal["front", "side", "top", "three-quarter"]
VIEWS: tuple[View, ...] = get_args(View)
Size = tuple[int, int]

_VIEW_ANGLES: dict[View, tuple[float, float, float]] = {
    "front": (0.0, 4.0, 10.0),
    "side": (90.0, 4.0, 10.0),
    "top": (0.0, 89.9, 10.0),
    "three-quarter": (32.0, 17.0, 26.0),
}
"""Azimuth of the camera towards the figure's left, its elevation, and its field of view, by view [deg]."""

_FORWARD_AND_LEFT: dict[UpAxis, tuple[int, int]] = {"y": (2, 0), "z": (0, 1), "x": (1, 2)}
"""Indices of the forward and left axes, by up axis: z and x in animation, x and y in robotics."""


def world_axes(up: UpAxis) -> FloatArray:
    """(3, 3) unit vectors as rows: forward, left and up."""
    forward, left = _FORWARD_AND_LEFT[up]
    return np.eye(3)[[forward, left, "xyz".index(up)]]


@dataclass(frozen=True)
class Camera:
    """A perspective camera; the screen's origin is its upper left corner."""

    eye: FloatArray
    """(3,) position [m]."""
    axes: FloatArray
    """(3, 3) unit vectors as rows: right and up on the screen, and back towards the viewer."""
    focal: float
    """Focal length [pixels]."""
    size: Size
    """Width and height [pixels]."""

    def project(self, points: FloatArray) -> FloatArray:
        """(k, 3) screen x and y [pixels] and inverse depth [1/m] of world points (k, 3); 0 is behind the camera."""
        seen = (points.reshape(-1, 3) - self.eye) @ self.axes.T
        distance = np.where(seen[:, 2] < 0.0, -seen[:, 2], np.inf)
        x = 0.5 * self.size[0] + self.focal * seen[:, 0] / distance
        y = 0.5 * self.size[1] - self.focal * seen[:, 1] / distance
        return np.ascontiguousarray(np.stack([x, y, 1.0 / distance], axis=1))

    def enlarged(self, factor: int) -> Camera:
        """The same view with `factor` times the pixels each way."""
        return replace(self, focal=self.focal * factor, size=(self.size[0] * factor, self.size[1] * factor))


def checked_view(view: str) -> View:
    """`view`, if it is the name of a view."""
    for known in VIEWS:
        if view == known:
            return known
    raise PoiseError(f"there is no view {view!r}.{suggestion(view, VIEWS)} Views: {', '.join(VIEWS)}.")


def framing(points: FloatArray, up: UpAxis, view: View, size: Size, margin: float = 0.07) -> Camera:
    """The nearest camera of a view that shows all `points` (k, 3), with a margin as a share of the picture.

    With x to the right, z towards the viewer and s the slope of the edge of the field of view, a camera at (c, d) shows
    a point if |x - c| ≤ s (d - z). The nearest camera therefore has s d = ½ (max(x + s z) + max(-x + s z)) and
    c = ½ (max(x + s z) - max(-x + s z)). The same holds vertically; the larger of both distances d is used.
    """
    azimuth, elevation, field = (math.radians(angle) for angle in _VIEW_ANGLES[view])
    axes = _screen_axes(up, azimuth, elevation)
    focal = 0.5 * max(size) / math.tan(0.5 * field)
    seen = points.reshape(-1, 3) @ axes.T
    centers, distances = [], []
    for axis in range(2):
        slope = (1.0 - 2.0 * margin) * 0.5 * size[axis] / focal
        high, low = (float((sign * seen[:, axis] + slope * seen[:, 2]).max()) for sign in (1.0, -1.0))
        centers.append(0.5 * (high - low))
        distances.append(0.5 * (high + low) / slope)
    nearest = float(seen[:, 2].max())
    distance = max(*distances, nearest + 1e-3, nearest + 0.05 * float(np.ptp(seen)))
    return Camera(np.array([*centers, distance]) @ axes, axes, focal, size)


def _screen_axes(up: UpAxis, azimuth: float, elevation: float) -> FloatArray:
    """(3, 3) rows right, up and back of a camera that looks at the origin from an azimuth and elevation [rad]."""
    forward, left, upward = world_axes(up)
    level = math.cos(azimuth) * forward + math.sin(azimuth) * left
    right = -math.sin(azimuth) * forward + math.cos(azimuth) * left
    back = math.cos(elevation) * level + math.sin(elevation) * upward
    return np.stack([right, np.cross(back, right), back])
