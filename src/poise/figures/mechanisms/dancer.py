"""A pair of legs whose feet stand still while the hips dance [Schumacher et al. 2021, fig. 8].

Feet, legs and pelvis are one ring of 12 bodies and 12 hinges, which leaves the pelvis all of its 6 freedoms. Eight of
the hinges are driven, two more than needed, so that no posture in its range is singular for the motors. The original's
dimensions are not public; these are ours. Up is y, it faces +z, its left is +x.
"""

from __future__ import annotations

import math

from poise.figure.model.builder import revolute
from poise.figure.model.figure import Figure
from poise.figure.model.joints import Joint
from poise.figure.model.shapes import Cylinder
from poise.figures.mechanisms.mechanism import Mechanism
from poise.figures.parts import BLUE, DARK, GOLD, RED, STEEL, Color, bar, block, egg, rod

FOOT_X, KNEE_X, HIP_X = 0.10, 0.10, 0.07
ANKLE, ANKLE_UP, KNEE, HIP, HIP_UP, WAIST = 0.06, 0.09, 0.27, 0.46, 0.49, 0.53
"""Heights of the hinges of a leg, from the ground up [m]."""
KNEE_Z = 0.06
"""The knees are bent forward by this [m]."""


def build(name: str) -> Figure:
    """The legs, standing with bent knees."""
    feet = [block((s * FOOT_X, 0.015, 0.03), (0.08, 0.03, 0.20), DARK) for s in (1, -1)]
    stand = block((0, -0.01, 0.02), (0.42, 0.02, 0.30), STEEL)
    sentence = "Dancing hips: feet, legs and pelvis are one ring of twelve hinges, eight of them driven."
    m = Mechanism(name, sentence, "feet", [*feet, stand], mass=4.0)
    belt = block((0, WAIST + 0.02, 0), (0.20, 0.04, 0.09), GOLD)
    m.link("pelvis", [belt, egg((0, WAIST + 0.06, 0), (0.085, 0.055, 0.05), GOLD)], mass=1.2)
    for side, s, color in (("left", 1.0, RED), ("right", -1.0, BLUE)):
        _add_leg(m, side, s, color)
    m.site("pelvis", "pelvis", (0, WAIST + 0.03, 0))
    return m.build()


def _add_leg(m: Mechanism, side: str, s: float, color: Color) -> None:
    """Motors pitch the ankle, bend the knee, and pitch and roll the hip; ankle roll and hip yaw follow."""
    ankle, ankle_up = (s * FOOT_X, ANKLE, 0.0), (s * FOOT_X, ANKLE_UP, 0.0)
    knee, hip = (s * KNEE_X, KNEE, KNEE_Z), (s * HIP_X, HIP, 0.0)
    hip_up, waist = (s * HIP_X, HIP_UP, 0.0), (s * HIP_X, WAIST, 0.0)
    m.link(f"{side}_talus", [_across(ankle, "x", DARK), bar(ankle, ankle_up, 0.012, DARK)], mass=0.1)
    m.link(f"{side}_shin", [_across(ankle_up, "z", STEEL), bar(ankle_up, knee, 0.018, color)], mass=0.4)
    m.link(f"{side}_thigh", [_across(knee, "x", DARK), bar(knee, hip, 0.022, color)], mass=0.5)
    m.link(f"{side}_hip", [_across(hip, "x", DARK), bar(hip, hip_up, 0.015, DARK)], mass=0.15)
    m.link(f"{side}_waist", [_across(hip_up, "z", STEEL), rod(hip_up, waist, 0.022, DARK)], mass=0.15)
    m.motor(_motor(f"{side}_ankle_pitch", (-1, 0, 0), -45, 45), "feet", f"{side}_talus", at=ankle)
    # Straight knees are 37° from here; the limit keeps the legs from bending the wrong way.
    m.motor(_motor(f"{side}_knee", (-1, 0, 0), -30, 75), f"{side}_shin", f"{side}_thigh", at=knee)
    m.motor(_motor(f"{side}_hip_pitch", (1, 0, 0), -60, 60), f"{side}_thigh", f"{side}_hip", at=hip)
    m.motor(_motor(f"{side}_hip_roll", (0, 0, -s), -45, 45), f"{side}_hip", f"{side}_waist", at=hip_up)
    yaw, roll = (0, s, 0), (0, 0, -s)
    m.hinge(revolute(f"{side}_hip_yaw", yaw, limits=_degrees(-50, 50)), f"{side}_waist", "pelvis", at=waist)
    m.hinge(
        revolute(f"{side}_ankle_roll", roll, limits=_degrees(-35, 35)), f"{side}_talus", f"{side}_shin", at=ankle_up
    )


def _motor(name: str, axis: tuple[float, float, float], low: float, high: float) -> Joint:
    """A servo of the size the paper's robots use, between limits [degrees]."""
    return revolute(name, axis, limits=_degrees(low, high), speed=4.4, strength=3.4)


def _degrees(low: float, high: float) -> tuple[float, float]:
    return math.radians(low), math.radians(high)


def _across(at: tuple[float, float, float], axis: str, color: Color) -> Cylinder:
    x, y, z = at
    dx, dz = (0.03, 0.0) if axis == "x" else (0.0, 0.03)
    return rod((x - dx, y, z - dz), (x + dx, y, z + dz), 0.022, color)
