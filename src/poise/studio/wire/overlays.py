"""Rows of numbers for what modes draw around the figure."""

from __future__ import annotations

import numpy as np

from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture

DIGITS = 5


def bodies_row(posture: Posture) -> list[float]:
    """Position [m] and quaternion x, y, z, w of every body, one after the other."""
    figure = posture.figure
    frames = figure.frames(posture)
    count = len(figure.bodies)
    rotation = frames.rotation[:count]
    return rounded(np.concatenate([frames.position[:count], rotation[:, 1:], rotation[:, :1]], axis=1))


def rounded(values: FloatArray) -> list[float]:
    """Numbers as they are sent."""
    found: list[float] = np.round(np.ravel(values), DIGITS).tolist()
    return found


def bones(figure: Figure) -> list[tuple[int, int]]:
    """Parent and child of every joint between two bodies, by number: the bones of a stick figure."""
    return [
        (figure.bodies.index(joint.parent), figure.bodies.index(joint.child))
        for joint in figure.joints
        if joint.parent is not None and joint.child is not None
    ]
