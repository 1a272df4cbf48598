"""A three-link arm on a turntable [Ramachandran & John 2013, fig. 5].

Its links move in one vertical plane, which the turntable rotates about the vertical axis.
"""

from __future__ import annotations

import math

from poise.figure.model.builder import Builder, revolute
from poise.figure.model.figure import Figure
from poise.figure.model.joints import Joint
from poise.figure.model.shapes import Shape
from poise.figures.parts import BLUE, DARK_GREY, GOLD, STEEL, bar, block, knob, rod

COLUMN = 0.25
"""Height of the shoulder above the floor [m]."""
LINKS = (0.45, 0.40, 0.20)
"""Lengths of upper arm, forearm and hand [m]."""


def build(name: str) -> Figure:
    """The arm, vertical at rest."""
    arm = Builder(name, description="A robot arm of three links in a vertical plane, on a turntable.")
    arm.body("floor", shapes=[rod((0, 0, 0), (0, 0.04, 0), 0.16, DARK_GREY)], mass=20.0)
    turn = revolute("turn", "y", limits=(-math.pi, math.pi), speed=3.0, strength=120.0)
    column = [rod((0, 0, 0), (0, 0.05, 0), 0.13, STEEL), block((0, 0.12, 0), (0.12, 0.16, 0.12), STEEL)]
    arm.body("column", parent="floor", joint=turn, at=(0, 0.04, 0), shapes=column, mass=8.0)
    arm.body(
        "upper_arm",
        parent="column",
        joint=_hinge("shoulder", 110, 120.0),
        at=(0, COLUMN - 0.04, 0),
        shapes=_link(LINKS[0], 0.055),
        mass=6.0,
    )
    arm.body(
        "forearm",
        parent="upper_arm",
        joint=_hinge("elbow", 150, 60.0),
        at=(0, LINKS[0], 0),
        shapes=_link(LINKS[1], 0.045),
        mass=4.0,
    )
    hand = [*_link(LINKS[2] - 0.06, 0.035), block((0, LINKS[2] - 0.03, 0), (0.09, 0.06, 0.04), DARK_GREY)]
    arm.body("hand", parent="forearm", joint=_hinge("wrist", 120, 20.0), at=(0, LINKS[1], 0), shapes=hand, mass=1.5)
    arm.site("tip", "hand", at=(0, LINKS[2], 0))
    for posture, angles in {
        "ready": (0, -35, 100, 40),
        "folded": (0, -95, 145, 70),
        "stretched": (0, 80, 5, 5),
    }.items():
        names = ("turn", "shoulder", "elbow", "wrist")
        arm.posture(posture, {joint: math.radians(angle) for joint, angle in zip(names, angles, strict=True)})
    return arm.build()


def _hinge(name: str, degrees: float, strength: float) -> Joint:
    """A hinge about x with limits ± `degrees` and a strength [N m]."""
    limit = math.radians(degrees)
    return revolute(name, "x", limits=(-limit, limit), speed=3.0, strength=strength)


def _link(size: float, radius: float) -> list[Shape]:
    """Solids of a link: its hinge, its bar and its end."""
    joint = rod((-1.25 * radius, 0, 0), (1.25 * radius, 0, 0), 1.2 * radius, BLUE)
    return [joint, bar((0, 0, 0), (0, size, 0), 0.7 * radius, GOLD), knob((0, size, 0), 0.75 * radius, GOLD)]
