"""Strength of the human joints: the greatest torques that young men exert without motion [N m].

Legs are those of [Anderson et al. 2007, table 3], as shares of weight times stature, for men of 18 to 25 years. Trunk,
shoulder and elbow are those of [Robert et al. 2013], wrists of [Delp et al. 1996], the neck of [Fice et al. 2014], for
men of average size; they are scaled by weight times stature too, which removes most differences between people
[Anderson et al. 2007].

A joint has one strength for all its axes and both directions. It is the mean of those in flexion and in extension.
Strength also depends on the angle, the speed and the neighbouring joints; the thesis asks for no more than the orders
of magnitude [Baerlocher 2001, 6.5.2]. No table that we know has the clavicle, the twist of the forearm and the toes:
these joints have no greatest torque, and theirs do not count where torques are weighed by strength.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from poise.figure.model.figure import STANDARD_GRAVITY

AVERAGE_STATURE, AVERAGE_MASS = 1.75, 70.0
"""Size of the men for whom torques are given in N m [m, kg]."""


class Strength(NamedTuple):
    """Greatest torques of a joint in the sagittal plane, for a man of average size [N m]."""

    flexion: float
    extension: float

    @property
    def mean(self) -> float:
        """The mean of both directions."""
        return 0.5 * (self.flexion + self.extension)


def _shares(flexion: float, extension: float) -> Strength:
    """Torques given as shares of weight times stature."""
    unit = AVERAGE_MASS * STANDARD_GRAVITY * AVERAGE_STATURE
    return Strength(flexion * unit, extension * unit)


STRENGTHS = {
    "hip": _shares(0.113, 0.161),
    "knee": _shares(0.087, 0.163),
    "ankle": _shares(0.033, 0.095),
    "spine": Strength(143.0, 234.0),
    "chest": Strength(143.0, 234.0),
    "neck": Strength(30.0, 51.0),
    "head": Strength(30.0, 51.0),
    "shoulder": Strength(92.0, 67.0),
    "elbow": Strength(77.0, 46.0),
    "wrist": Strength(12.2, 7.1),
}
"""By joint; an ankle's flexion is dorsal. Each of the two joints of trunk and neck carries what is above it, so it has
the strength of the whole."""


def strength_of(joint: str, stature: float, mass: float) -> float:
    """Strength of a joint such as "elbow" or "left_elbow" of a human of this size [m, kg]; inf if it is not known."""
    known = STRENGTHS.get(joint.removeprefix("left_").removeprefix("right_"))
    size = stature * mass / (AVERAGE_STATURE * AVERAGE_MASS)
    return math.inf if known is None else known.mean * size
