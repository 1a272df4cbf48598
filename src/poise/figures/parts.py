"""Colours and coloured solids of the built-in figures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from poise.figure.model.pose import FloatArray, Pose
from poise.figure.model.shapes import (
    Box,
    Capsule,
    Color,
    Cylinder,
    Ellipsoid,
    Sphere,
    capsule_between,
    cylinder_between,
)

RED: Color = (0.83, 0.32, 0.29)
GREEN: Color = (0.36, 0.65, 0.40)
BLUE: Color = (0.30, 0.49, 0.75)
STEEL: Color = (0.62, 0.65, 0.69)
DARK_GREY: Color = (0.24, 0.26, 0.30)
WOOD: Color = (0.80, 0.64, 0.43)
GOLD: Color = (0.93, 0.72, 0.27)
WHITE: Color = (0.93, 0.93, 0.91)
SKIN: Color = (0.87, 0.68, 0.56)
SHIRT: Color = (0.33, 0.52, 0.68)
TROUSERS: Color = (0.29, 0.32, 0.42)

"""The identity rotation."""


def shifted(point: ArrayLike, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> FloatArray:
    """`point` + (x, y, z)."""
    moved: FloatArray = np.asarray(point, dtype=np.float64) + np.array([x, y, z])
    return moved


def bar(a: ArrayLike, b: ArrayLike, radius: float, color: Color = STEEL) -> Capsule:
    """A round bar with round ends from `a` to `b`."""
    return replace(capsule_between(a, b, radius), color=color)


def rod(a: ArrayLike, b: ArrayLike, radius: float, color: Color = STEEL) -> Cylinder:
    """A round bar with flat ends from `a` to `b`."""
    return replace(cylinder_between(a, b, radius), color=color)


def block(center: ArrayLike, size: tuple[float, float, float], color: Color = STEEL) -> Box:
    """A cuboid about `center`."""
    return Box(size, pose=Pose(center), color=color)


def knob(center: ArrayLike, radius: float, color: Color = STEEL) -> Sphere:
    """A sphere about `center`."""
    return Sphere(radius, pose=Pose(center), color=color)


def egg(center: ArrayLike, radii: tuple[float, float, float], color: Color = STEEL) -> Ellipsoid:
    """An ellipsoid about `center`."""
    return Ellipsoid(radii, pose=Pose(center), color=color)
