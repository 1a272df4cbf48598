"""Numbers for the drawings that modes add around the figure."""

from __future__ import annotations

import numpy as np

from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture
from poise.studio.wire.frames import bodies_table

OVERLAY_DECIMALS = 5
"""Decimals of the numbers that are sent to pages as text."""


def bodies_row(posture: Posture) -> list[float]:
    """The numbers of the table `bodies` of a frame for a posture, row after row."""
    return rounded(bodies_table(posture.figure, posture.figure.frames(posture)))


def rounded(values: FloatArray) -> list[float]:
    """Numbers as a flat list, rounded for sending."""
    found: list[float] = np.round(np.ravel(values), OVERLAY_DECIMALS).tolist()
    return found


def bones(figure: Figure) -> list[tuple[int, int]]:
    """The bones of a stick figure: the numbers of parent and child of every joint between two bodies."""
    return [
        (figure.bodies.index(joint.parent), figure.bodies.index(joint.child))
        for joint in figure.joints
        if joint.parent is not None and joint.child is not None
    ]
