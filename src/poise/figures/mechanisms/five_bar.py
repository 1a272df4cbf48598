"""A planar five-bar robot: two motors on the frame position one point in the xy plane."""

from __future__ import annotations

import math

from poise.figure.model.builder import revolute
from poise.figure.model.figure import Figure
from poise.figures.mechanisms.mechanism import Mechanism
from poise.figures.parts import BLUE, DARK_GREY, GOLD, RED, STEEL, bar, knob, rod

MOTORS = {"left": (-0.1, 0.1, 0.0), "right": (0.1, 0.1, 0.0)}
"""Positions of the motors [m]."""
ELBOWS = {"left": (-0.3, 0.3, 0.0), "right": (0.3, 0.3, 0.0)}
"""Positions of the elbows at rest [m]."""
TIP = (0.0, 0.6, 0.0)
"""Position of the wrist at rest [m]."""
SIDE_COLORS = {"left": RED, "right": BLUE}


def build(name: str) -> Figure:
    """The robot, symmetric at rest."""
    beam = bar(MOTORS["left"], MOTORS["right"], 0.025, DARK_GREY)
    m = Mechanism(name, "A planar five-bar robot whose two motors place its tip.", "frame", [beam], mass=2.0)
    turn = math.radians(110.0)
    for side in ("left", "right"):
        motor, elbow = MOTORS[side], ELBOWS[side]
        hub = rod((motor[0], motor[1], -0.03), (motor[0], motor[1], 0.03), 0.032, GOLD)
        m.link(f"{side}_crank", [bar(motor, elbow, 0.014, SIDE_COLORS[side]), hub], mass=0.35)
        m.link(f"{side}_forearm", [bar(elbow, TIP, 0.011, STEEL), knob(elbow, 0.017, DARK_GREY)], mass=0.3)
        drive = revolute(f"{side}_motor", "z", limits=(-turn, turn), speed=4.4, strength=3.4)
        m.motor(drive, "frame", f"{side}_crank", at=motor)
    _add_hinges(m)
    m.site("tip", "left_forearm", TIP)
    return m.build()


def _add_hinges(m: Mechanism) -> None:
    """Add elbows and wrist, at right angles at rest; their limits keep them from becoming straight.

    The wrist is added before the right elbow, so that the elbow is cut and the wrist has a coordinate. At a straight
    wrist the motors lose control of the tip.
    """
    swing = (math.radians(-84.0), math.radians(84.0))
    m.hinge(revolute("left_elbow", "z", limits=swing), "left_crank", "left_forearm", at=ELBOWS["left"])
    m.hinge(revolute("wrist", "z", limits=swing), "left_forearm", "right_forearm", at=TIP)
    m.hinge(revolute("right_elbow", "z", limits=swing), "right_crank", "right_forearm", at=ELBOWS["right"])
