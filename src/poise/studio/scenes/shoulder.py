"""The shoulder of the thesis: a scapula that slides on the ribs [Baerlocher 2001, fig. 7.3]."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from poise.engine.scene import Scene
from poise.figure.model.builder import Builder, ball, revolute
from poise.figure.model.figure import Figure
from poise.figure.model.limits import BallLimits, Ellipse, Twist
from poise.figures.parts import BLUE, SKIN, WHITE, bar, egg, knob
from poise.tasks.criteria import NearPosture
from poise.tasks.distance import OnEllipsoid
from poise.tasks.place import Position

THORAX_CENTER = np.array([0.0, 1.22, 0.0])
"""Centre of the thorax, an ellipsoid [m]."""
THORAX_RADII = np.array([0.16, 0.22, 0.12])
"""Half axes of the thorax [m]."""
STERNUM, ACROMION = np.array([-0.02, 1.385, 0.075]), np.array([-0.2, 1.39, -0.03])
TOUCH_X, TOUCH_Y = -0.1, 1.25
"""Coordinates of the point at which the scapula touches the ribs at the start [m]."""
UPPER_ARM_LENGTH, FOREARM_LENGTH = 0.30, 0.26
"""Lengths of the arm's segments [m]."""


def sliding_scapula() -> Scene:
    """The scene: a task keeps a point of the scapula on the ribs, above the task of the hand."""
    slides = OnEllipsoid("touch", THORAX_CENTER, THORAX_RADII, relative_to="thorax", name="scapula on the ribs")
    hand = Position("hand", at=(-0.42, 1.2, 0.35), priority=2, gain=0.15, name="hand")
    about = "The scapula slides on the ribs, wherever the hand reaches"
    return Scene(shoulder(), [slides, hand], criteria=[NearPosture(shoulder().neutral())], description=about)


@cache
def shoulder() -> Figure:
    """A thorax, and a right arm from the clavicle to the hand."""
    depth = math.sqrt(1.0 - (TOUCH_X / THORAX_RADII[0]) ** 2 - ((TOUCH_Y - THORAX_CENTER[1]) / THORAX_RADII[1]) ** 2)
    touch = np.array([TOUCH_X, TOUCH_Y, -THORAX_RADII[2] * depth]) - ACROMION
    figure = Builder("shoulder", description="A right shoulder whose scapula slides on the ribs.")
    head = [bar((0, 1.38, -0.01), (0, 1.5, -0.01), 0.05, WHITE), egg((0, 1.62, 0.0), (0.075, 0.11, 0.095), WHITE)]
    trunk = [egg(THORAX_CENTER, tuple(THORAX_RADII), WHITE), egg((0, 0.95, 0), (0.15, 0.1, 0.1), WHITE)]
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
    upper = [bar((0, 0, 0), (0, -UPPER_ARM_LENGTH, 0), 0.032, SKIN)]
    figure.body(
        "upper_arm", parent="scapula", joint=ball("shoulder", _cone(100, 80)), at=(0, -0.03, 0), shapes=upper, mass=2.0
    )
    lower = [bar((0, 0, 0), (0, -FOREARM_LENGTH, 0), 0.026, SKIN), knob((0, -FOREARM_LENGTH, 0), 0.035, SKIN)]
    elbow = revolute("elbow", "x", limits=(math.radians(-145), 0.0))
    figure.body("forearm", parent="upper_arm", joint=elbow, at=(0, -UPPER_ARM_LENGTH, 0), shapes=lower, mass=1.5)
    figure.site("hand", "forearm", at=(0, -FOREARM_LENGTH, 0))
    return figure.build()


def _cone(swing: float, twist: float) -> BallLimits:
    wide, far = math.radians(swing), math.radians(twist)
    return BallLimits(swing=Ellipse(wide, wide), twist=Twist.between(-far, far))
