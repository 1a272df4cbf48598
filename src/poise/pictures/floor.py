"""The floor under a figure, and the figure's shadow on it."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from poise.figure.model.figure import UpAxis
from poise.figure.model.pose import FloatArray
from poise.figure.model.shapes import Color
from poise.kernels.drawing import raster
from poise.kernels.maths.vector import Vector
from poise.pictures.camera import world_axes
from poise.pictures.canvas import blurred
from poise.pictures.surface import IntArray
from poise.pictures.theme import Theme

SHADOW_PIXELS = 320
"""Width and height of the shadow texture [pixels]."""


def kernel_vector(values: FloatArray | Color) -> Vector:
    """Three numbers as a kernel's `Vector`."""
    x, y, z = values
    return Vector(float(x), float(y), float(z))


def floor_under(vertices: FloatArray, up: UpAxis, theme: Theme) -> raster.Floor:
    """The floor under the world points `vertices` (v, 3), with a grid aligned to the world axes."""
    forward, left, upward = world_axes(up)
    sides = np.ptp(vertices, axis=0)
    spacing = grid_spacing(float(sides.max()))
    middle = 0.5 * (vertices.min(axis=0) + vertices.max(axis=0))
    x, y = (spacing * round(float(middle @ axis) / spacing) for axis in (forward, left))
    radius = 0.8 * float(np.linalg.norm(sides)) + 1e-6
    return raster.Floor(
        center=kernel_vector(x * forward + y * left + floor_level(vertices @ upward) * upward),
        x=kernel_vector(forward),
        y=kernel_vector(left),
        up=kernel_vector(upward),
        spacing=spacing,
        radius=2.2 * radius,
        shadow_radius=radius,
        line_strength=theme.line_strength,
        shadow_strength=theme.shadow_strength,
        line=kernel_vector(theme.line),
        shadow=kernel_vector(theme.shadow),
        top=kernel_vector(theme.top),
        bottom=kernel_vector(theme.bottom),
    )


def floor_level(heights: FloatArray) -> float:
    """Height of the floor: zero if the lowest of `heights` (v,) is near zero, else that lowest height [m]."""
    lowest, height = float(heights.min()), float(np.ptp(heights))
    return 0.0 if -0.02 * height <= lowest <= 0.25 * height else lowest


def grid_spacing(spread: float) -> float:
    """Spacing of the grid [m]: 1, 2 or 5 times a power of ten, at least a fifth of the size of the figure."""
    wanted = max(spread, 1e-6) / 5.0
    power = 10.0 ** math.floor(math.log10(wanted))
    return next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= 0.999 * wanted)


def shadow_on(floor: raster.Floor, vertices: FloatArray, triangles: IntArray) -> NDArray[np.float32]:
    """(n, n) darkness of the shadow, from 0 to 1: sharp and dark below low surfaces, wide and faint below high ones."""
    radius = floor.shadow_radius
    seen = (vertices - np.array(floor.center)) @ np.array([floor.x, floor.y, floor.up]).T
    place = 0.5 * SHADOW_PIXELS * (seen / radius + 1.0)
    place[:, 2] = 1.0 / (radius + np.maximum(seen[:, 2], 0.0))
    nearness = np.zeros((SHADOW_PIXELS, SHADOW_PIXELS), dtype=np.float32)
    raster.fill(np.ascontiguousarray(place), triangles, nearness, np.empty(nearness.shape, dtype=np.int64))
    lifted = 1.0 / np.maximum(nearness, 1e-30) - radius
    contact = np.where(nearness > 0.0, np.exp(-lifted / (0.05 * radius)), 0.0)
    cover = np.where(nearness > 0.0, np.exp(-lifted / (1.2 * radius)), 0.0)
    return np.maximum(blurred(contact, 1.5), 0.5 * blurred(cover, 8.0) + 0.5 * blurred(contact, 4.0))
