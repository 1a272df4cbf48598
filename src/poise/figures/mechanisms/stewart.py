"""A Stewart platform: six legs with linear motors, on universal joints below and ball joints above."""

from __future__ import annotations

import math

import numpy as np

from poise.figure.model.builder import ball, prismatic, universal
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.figures.mechanisms.mechanism import Mechanism
from poise.figures.parts import BLUE, DARK_GREY, GOLD, STEEL, knob, rod

STEWART_BASE_RADIUS, STEWART_BASE_HEIGHT, STEWART_BASE_SPREAD = 0.50, 0.05, 15.0
STEWART_PLATFORM_RADIUS, STEWART_PLATFORM_HEIGHT, STEWART_PLATFORM_SPREAD = 0.30, 0.60, 45.0
"""Radii and heights [m]; pairs of joints are at ± spread [degrees] about three directions."""
LEG_STROKE = 0.15
"""Largest change of a leg's length [m]."""


def build(name: str) -> Figure:
    """The platform, level at rest."""
    floor = rod((0, 0, 0), (0, STEWART_BASE_HEIGHT - 0.02, 0), STEWART_BASE_RADIUS + 0.06, DARK_GREY)
    m = Mechanism(name, "A Stewart platform: six driven legs place and turn its platform.", "base", [floor], mass=40.0)
    plate = rod(
        (0, STEWART_PLATFORM_HEIGHT, 0), (0, STEWART_PLATFORM_HEIGHT + 0.03, 0), STEWART_PLATFORM_RADIUS + 0.03, GOLD
    )
    m.link("platform", [plate], mass=8.0)
    for leg in range(6):
        middle, side = 120.0 * (leg // 2), 1.0 if leg % 2 else -1.0
        foot = _on_circle(STEWART_BASE_RADIUS, STEWART_BASE_HEIGHT, middle + side * STEWART_BASE_SPREAD)
        head = _on_circle(STEWART_PLATFORM_RADIUS, STEWART_PLATFORM_HEIGHT, middle + side * STEWART_PLATFORM_SPREAD)
        _add_leg(m, f"leg_{leg + 1}", foot, head)
    m.site("tip", "platform", (0, STEWART_PLATFORM_HEIGHT + 0.03, 0))
    return m.build()


def _on_circle(radius: float, height: float, degrees: float) -> FloatArray:
    """A point on a horizontal circle, at an angle from +z towards +x."""
    angle = math.radians(degrees)
    return np.array([radius * math.sin(angle), height, radius * math.cos(angle)])


def _add_leg(m: Mechanism, leg: str, foot: FloatArray, head: FloatArray) -> None:
    """Add a leg: a cylinder on a universal joint, and its piston, joined to the platform by a ball."""
    along = (head - foot) / np.linalg.norm(head - foot)
    first = np.cross(along, (0.0, 1.0, 0.0))
    first /= np.linalg.norm(first)
    middle = 0.5 * (foot + head)
    m.link(f"{leg}_cylinder", [rod(foot, middle, 0.024, BLUE), knob(foot, 0.03, DARK_GREY)], mass=2.0)
    m.link(
        f"{leg}_piston", [rod(foot + 0.22 * (head - foot), head, 0.013, STEEL), knob(head, 0.022, DARK_GREY)], mass=1.0
    )
    tilt = math.radians(60.0)
    cardan = universal(f"{leg}_foot", first, np.cross(along, first), limits=[(-tilt, tilt), (-tilt, tilt)])
    m.hinge(cardan, "base", f"{leg}_cylinder", at=foot)
    drive = prismatic(f"{leg}_motor", along, limits=(-LEG_STROKE, LEG_STROKE), speed=0.3, strength=2000.0)
    m.motor(drive, f"{leg}_cylinder", f"{leg}_piston", at=middle)
    m.hinge(ball(f"{leg}_head"), f"{leg}_piston", "platform", at=head)
