"""The shoulder of the thesis: a scapula that slides on the ribs [Baerlocher 2001, fig. 7.3]."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from poise.engine.scene import Scene
from poise.figure.model.builder import Builder, ball, revolute
from poise.figure.model.figure import Figure
from poise.figure.model.limits import BallLimits, Ellipse, Twist
from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture
from poise.figures.parts import BLUE, SKIN, WHITE, bar, egg, knob
from poise.tasks.criteria import NearPosture
from poise.tasks.custom import Custom
from poise.tasks.place import Position

MIDDLE = np.array([0.0, 1.22, 0.0])
"""Of the thorax [m]."""
RADII = np.array([0.16, 0.22, 0.12])
"""Half axes of the thorax [m]."""
STERNUM, ACROMION = np.array([-0.02, 1.385, 0.075]), np.array([-0.2, 1.39, -0.03])
ACROSS, ABOVE = -0.1, 1.25
"""Where the scapula first touches the ribs, to the right and up [m]."""
UPPER_ARM, FOREARM = 0.30, 0.26
"""[m]"""
SIZE = float(RADII.mean())
"""What makes a length of how far a point is off the ellipsoid, in its radii [m]."""


def sliding_scapula() -> Scene:
    """A point of the scapula stays on the ribs whatever the hand wants."""
    slides = Custom(off_the_ribs, jacobian=_slope, priority=1, name="scapula on the ribs")
    hand = Position("hand", at=(-0.42, 1.2, 0.35), priority=2, gain=0.15, name="hand")
    about = "The scapula slides on the ribs, whatever the hand reaches for"
    return Scene(shoulder(), [slides, hand], criteria=[NearPosture(shoulder().neutral())], description=about)


def off_the_ribs(posture: Posture) -> FloatArray:
    """(1,) how far the scapula's point is off the ellipsoid, outwards: r (√Σ (xₖ / rₖ)² - 1) [m]."""
    return np.array([SIZE * (np.linalg.norm(_scaled(posture)) - 1.0)])


def _slope(posture: Posture) -> FloatArray:
    """(1, nv) the derivative of `off_the_ribs`."""
    scaled = _scaled(posture)
    outwards = SIZE * scaled / (RADII * np.linalg.norm(scaled))
    slope: FloatArray = outwards[None] @ posture.figure.jacobian("touch", posture)[:3]
    return slope


def _scaled(posture: Posture) -> FloatArray:
    """(3,) the scapula's point from the middle of the thorax, in radii of the thorax."""
    return np.asarray((posture.figure.pose_of("touch", posture).position - MIDDLE) / RADII)


@cache
def shoulder() -> Figure:
    """A thorax, and a right arm from the clavicle to the hand."""
    depth = math.sqrt(1.0 - (ACROSS / RADII[0]) ** 2 - ((ABOVE - MIDDLE[1]) / RADII[1]) ** 2)
    touch = np.array([ACROSS, ABOVE, -RADII[2] * depth]) - ACROMION
    figure = Builder("shoulder", description="A right shoulder whose scapula slides on the ribs.")
    head = [bar((0, 1.38, -0.01), (0, 1.5, -0.01), 0.05, WHITE), egg((0, 1.62, 0.0), (0.075, 0.11, 0.095), WHITE)]
    trunk = [egg(MIDDLE, tuple(RADII), WHITE), egg((0, 0.95, 0), (0.15, 0.1, 0.1), WHITE)]
    figure.body("thorax", shapes=[*trunk, *head], mass=20.0)
    reach = ACROMION - STERNUM
    clavicle = [bar((0, 0, 0), reach, 0.009, BLUE), knob((0, 0, 0), 0.014, BLUE)]
    figure.body(
        "clavicle", parent="thorax", joint=ball("sternum", _cone(35, 30)), at=STERNUM, shapes=clavicle, mass=0.2
    )
    corner = touch + np.array([0.0, 0.09, 0.01])
    blade = [bar(a, b, 0.007, BLUE) for a, b in (((0, 0, 0), touch), ((0, 0, 0), corner), (corner, touch))]
    figure.body("scapula", parent="clavicle", joint=ball("acromion", _cone(45, 40)), at=reach, shapes=blade, mass=0.3)
    figure.site("touch", "scapula", at=touch)
    upper = [bar((0, 0, 0), (0, -UPPER_ARM, 0), 0.032, SKIN)]
    figure.body(
        "upper_arm", parent="scapula", joint=ball("shoulder", _cone(100, 80)), at=(0, -0.03, 0), shapes=upper, mass=2.0
    )
    lower = [bar((0, 0, 0), (0, -FOREARM, 0), 0.026, SKIN), knob((0, -FOREARM, 0), 0.035, SKIN)]
    elbow = revolute("elbow", "x", limits=(math.radians(-145), 0.0))
    figure.body("forearm", parent="upper_arm", joint=elbow, at=(0, -UPPER_ARM, 0), shapes=lower, mass=1.5)
    figure.site("hand", "forearm", at=(0, -FOREARM, 0))
    return figure.build()


def _cone(swing: float, twist: float) -> BallLimits:
    wide, far = math.radians(swing), math.radians(twist)
    return BallLimits(swing=Ellipse(wide, wide), twist=Twist.between(-far, far))
