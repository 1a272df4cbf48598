"""A boxing arm with four motors: three in the shoulder, one in the elbow [Schumacher et al. 2021, fig. 7].

No drawing of the original is public; this one has the size of a child's right arm on a fixed torso. Up is y, and it
faces +z. With the arm raised sideways, the third shoulder axis coincides with the first: the singularity of the paper's
example.
"""

from __future__ import annotations

import math

from poise.figure.model.builder import Builder, revolute
from poise.figure.model.figure import Figure
from poise.figure.model.joints import Joint
from poise.figures.parts import BLUE, DARK_GREY, GOLD, RED, STEEL, WHITE, bar, block, egg, knob, rod

BOXER_SHOULDER = (-0.14, 0.62, 0.0)
"""Position of the shoulder [m]."""
BOXER_UPPER_ARM, BOXER_FOREARM, BOXER_GLOVE = 0.20, 0.18, 0.07
"""Lengths of the parts of the arm [m]."""

BOXER_POSTURES = {
    "guard": (35, 12, 20, 128),
    "jab": (88, 5, 0, 6),
    "hook": (60, 55, 45, 85),
    "uppercut": (70, 5, 15, 110),
    "raised": (0, 90, 0, 0),
}
"""Values of the four motors [degrees]: shoulder pitch, roll and yaw, and elbow; "raised" is the singular posture."""


def build(name: str) -> Figure:
    """Build the figure: a torso, and a right arm that hangs down in the neutral posture."""
    boxer = Builder(name, description="A boxing robot's arm: three motors in the shoulder and one in the elbow.")
    torso = [
        egg((0, 0.50, 0), (0.115, 0.17, 0.08), BLUE),
        egg((0, 0.80, 0.01), (0.065, 0.085, 0.07), WHITE),
        rod((0, 0, 0), (0, 0.03, 0), 0.12, DARK_GREY),
        bar((0, 0.03, 0), (0, 0.72, 0), 0.03, DARK_GREY),
        bar((0.10, 0.60, 0), (0.13, 0.62, 0), 0.035, BLUE),
        *(knob((x, 0.81, 0.073), 0.010, DARK_GREY) for x in (-0.025, 0.025)),
    ]
    boxer.body("torso", shapes=torso, mass=6.0)
    hub = rod((-0.01, 0, 0), (0.04, 0, 0), 0.036, DARK_GREY)
    boxer.body(
        "shoulder_yoke",
        parent="torso",
        joint=_motor("shoulder_pitch", "-x", (-60, 180)),
        at=BOXER_SHOULDER,
        shapes=[hub],
        mass=0.15,
    )
    ring = block((0, 0, 0), (0.05, 0.05, 0.06), STEEL)
    boxer.body(
        "shoulder_link",
        parent="shoulder_yoke",
        joint=_motor("shoulder_roll", "-z", (-20, 120)),
        at=(-0.03, 0, 0),
        shapes=[ring],
        mass=0.15,
    )
    arm = [
        bar((0, -0.03, 0), (0, -BOXER_UPPER_ARM, 0), 0.027, GOLD),
        rod((-0.035, -BOXER_UPPER_ARM, 0), (0.035, -BOXER_UPPER_ARM, 0), 0.03, DARK_GREY),
    ]
    boxer.body("upper_arm", parent="shoulder_link", joint=_motor("shoulder_yaw", "y", (-90, 90)), shapes=arm, mass=0.35)
    fist = [
        bar((0, 0, 0), (0, -BOXER_FOREARM, 0), 0.023, GOLD),
        egg((0, -BOXER_FOREARM - 0.5 * BOXER_GLOVE, 0.005), (0.045, 0.058, 0.05), RED),
    ]
    boxer.body(
        "forearm",
        parent="upper_arm",
        joint=_motor("elbow", "-x", (0, 140)),
        at=(0, -BOXER_UPPER_ARM, 0),
        shapes=fist,
        mass=0.35,
    )
    boxer.site("glove", "forearm", at=(0, -BOXER_FOREARM - BOXER_GLOVE, 0))
    for posture, degrees in BOXER_POSTURES.items():
        joints = ("shoulder_pitch", "shoulder_roll", "shoulder_yaw", "elbow")
        boxer.posture(posture, {joint: math.radians(angle) for joint, angle in zip(joints, degrees, strict=True)})
    return boxer.build()


def _motor(name: str, axis: str, degrees: tuple[float, float]) -> Joint:
    """A hinge with a servo like those of the paper's robots, between limits [degrees]."""
    limits = (math.radians(degrees[0]), math.radians(degrees[1]))
    return revolute(name, axis, limits=limits, speed=4.4, strength=3.4)
