"""Wanted and actual values in a few words, for reports."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from poise.figure.model.pose import FloatArray
from poise.tasks.task import axes_of


def along_words(axes: str | ArrayLike, point: FloatArray) -> str:
    """A point, or those of its coordinates that a task controls."""
    if isinstance(axes, str):
        if len(axes) == 3:
            return place_words(point)
        return ", ".join(f"{axis} {point['xyz'.index(axis)]:.3f}" for axis in axes)
    return place_words(axes_of(axes, "axes") @ point)


def place_words(point: FloatArray) -> str:
    """A point, rounded to millimetres."""
    return f"({', '.join(f'{coordinate + 0.0:.3f}' for coordinate in np.round(point, 3))})"


def turn_words(rotation: FloatArray) -> str:
    """A rotation as an angle about an axis."""
    w, axis = abs(float(rotation[0])), np.copysign(1.0, rotation[0]) * rotation[1:]
    size = float(np.linalg.norm(axis))
    angle = math.degrees(2.0 * math.atan2(size, w))
    if angle < 0.05:
        return "not turned"
    return f"{angle:.1f}° about ({', '.join(f'{part + 0.0:.2f}' for part in np.round(axis / size, 2))})"


def amount(error: float, unit: str) -> str:
    """An error with a suitable unit: degrees for "rad", m, cm or mm for "m"."""
    if unit == "m":
        return length(error)
    if unit == "rad":
        degrees = math.degrees(error)
        return f"{degrees:.3g}°" if degrees >= 0.001 else "0"
    return f"{error:.3g} {unit}".rstrip() if error >= 1e-6 else "0"


def length(metres: float) -> str:
    """A length in metres, centimetres or millimetres."""
    if metres >= 1.0:
        return f"{metres:.3g} m"
    if metres >= 0.01:
        return f"{100.0 * metres:.3g} cm"
    return f"{1000.0 * metres:.3g} mm" if metres >= 1e-6 else "0"
