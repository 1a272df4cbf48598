"""A pair of legs with fixed feet and a moving pelvis [Schumacher et al. 2021, fig. 8].

Feet, legs and pelvis form one loop of 12 bodies and 12 hinges, in which the pelvis has all 6 degrees of freedom. Eight
of the hinges have motors, two more than needed, so that no posture in the range is singular for the motors. The
original's dimensions are not public; these are ours. Up is y, it faces +z, and its left is +x.
"""

from __future__ import annotations

import math

from poise.figure.model.builder import revolute
from poise.figure.model.figure import Figure
from poise.figure.model.joints import Joint
from poise.figure.model.shapes import Color, Cylinder
from poise.figures.mechanisms.mechanism import Mechanism
from poise.figures.parts import BLUE, DARK_GREY, GOLD, RED, STEEL, bar, block, egg, rod

DANCER_FOOT_X, DANCER_KNEE_X, DANCER_HIP_X = 0.10, 0.10, 0.07
ANKLE_Y, ANKLE_ROLL_Y, KNEE_Y, HIP_Y, HIP_ROLL_Y, WAIST_Y = 0.06, 0.09, 0.27, 0.46, 0.49, 0.53
"""Heights of a leg's hinges above the ground [m]."""
DANCER_KNEE_Z = 0.06
"""Forward offset of the knees at rest [m]."""


def build(name: str) -> Figure:
    """The legs, standing with bent knees."""
    feet = [block((s * DANCER_FOOT_X, 0.015, 0.03), (0.08, 0.03, 0.20), DARK_GREY) for s in (1, -1)]
    stand = block((0, -0.01, 0.02), (0.42, 0.02, 0.30), STEEL)
    sentence = "Dancing hips: feet, legs and pelvis are one ring of twelve hinges, eight of them driven."
    m = Mechanism(name, sentence, "feet", [*feet, stand], mass=4.0)
    belt = block((0, WAIST_Y + 0.02, 0), (0.20, 0.04, 0.09), GOLD)
    m.link("pelvis", [belt, egg((0, WAIST_Y + 0.06, 0), (0.085, 0.055, 0.05), GOLD)], mass=1.2)
    for side, s, color in (("left", 1.0, RED), ("right", -1.0, BLUE)):
        _add_leg(m, side, s, color)
    m.site("pelvis", "pelvis", (0, WAIST_Y + 0.03, 0))
    return m.build()


def _add_leg(m: Mechanism, side: str, s: float, color: Color) -> None:
    """Add a leg with motors for ankle pitch, knee, hip pitch and hip roll; ankle roll and hip yaw are passive."""
    ankle, ankle_up = (s * DANCER_FOOT_X, ANKLE_Y, 0.0), (s * DANCER_FOOT_X, ANKLE_ROLL_Y, 0.0)
    knee, hip = (s * DANCER_KNEE_X, KNEE_Y, DANCER_KNEE_Z), (s * DANCER_HIP_X, HIP_Y, 0.0)
    hip_up, waist = (s * DANCER_HIP_X, HIP_ROLL_Y, 0.0), (s * DANCER_HIP_X, WAIST_Y, 0.0)
    m.link(f"{side}_talus", [_axle(ankle, "x", DARK_GREY), bar(ankle, ankle_up, 0.012, DARK_GREY)], mass=0.1)
    m.link(f"{side}_shin", [_axle(ankle_up, "z", STEEL), bar(ankle_up, knee, 0.018, color)], mass=0.4)
    m.link(f"{side}_thigh", [_axle(knee, "x", DARK_GREY), bar(knee, hip, 0.022, color)], mass=0.5)
    m.link(f"{side}_hip", [_axle(hip, "x", DARK_GREY), bar(hip, hip_up, 0.015, DARK_GREY)], mass=0.15)
    m.link(f"{side}_waist", [_axle(hip_up, "z", STEEL), rod(hip_up, waist, 0.022, DARK_GREY)], mass=0.15)
    m.motor(_motor(f"{side}_ankle_pitch", (-1, 0, 0), -45, 45), "feet", f"{side}_talus", at=ankle)
    # The knees are straight 37° from here; the limit keeps them from bending backwards.
    m.motor(_motor(f"{side}_knee", (-1, 0, 0), -30, 75), f"{side}_shin", f"{side}_thigh", at=knee)
    m.motor(_motor(f"{side}_hip_pitch", (1, 0, 0), -60, 60), f"{side}_thigh", f"{side}_hip", at=hip)
    m.motor(_motor(f"{side}_hip_roll", (0, 0, -s), -45, 45), f"{side}_hip", f"{side}_waist", at=hip_up)
    yaw, roll = (0, s, 0), (0, 0, -s)
    m.hinge(revolute(f"{side}_hip_yaw", yaw, limits=_degrees(-50, 50)), f"{side}_waist", "pelvis", at=waist)
    m.hinge(
        revolute(f"{side}_ankle_roll", roll, limits=_degrees(-35, 35)), f"{side}_talus", f"{side}_shin", at=ankle_up
    )


def _motor(name: str, axis: tuple[float, float, float], low: float, high: float) -> Joint:
    """A hinge with a servo like those of the paper's robots, between limits [degrees]."""
    return revolute(name, axis, limits=_degrees(low, high), speed=4.4, strength=3.4)


def _degrees(low: float, high: float) -> tuple[float, float]:
    """Limits in degrees as radians."""
    return math.radians(low), math.radians(high)


def _axle(at: tuple[float, float, float], axis: str, color: Color) -> Cylinder:
    """The axle of a hinge about x or z."""
    x, y, z = at
    dx, dz = (0.03, 0.0) if axis == "x" else (0.0, 0.03)
    return rod((x - dx, y, z - dz), (x + dx, y, z + dz), 0.022, color)
