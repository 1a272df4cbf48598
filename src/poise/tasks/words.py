"""Wanted and actual values in a few words, for reports."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from poise.figure.model.pose import FloatArray
from poise.tasks.task import axes_of


def along_words(axes: str | ArrayLike, point: FloatArray) -> str:
    """A point in words, or only those of its coordinates that a task controls."""
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


def lacking(force: FloatArray, moment: FloatArray) -> str:
    """The force (3,) [N] and the moment (3,) [N m] that the ground lacks to balance a figure, in a sentence."""
    sizes = ((float(np.linalg.norm(force)), "N"), (float(np.linalg.norm(moment)), "N m"))
    missing = [f"{size:.0f} {unit}" if size >= 10.0 else f"{size:.2g} {unit}" for size, unit in sizes if size >= 0.05]
    words = (
        f"{' and '.join(missing)} {'are' if len(missing) > 1 else 'is'} missing" if missing else "it falls just short"
    )
    return f"the ground cannot balance these forces: {words}"
