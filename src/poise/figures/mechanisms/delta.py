"""A delta robot: three motors move a platform that never rotates.

Each forearm is a parallelogram of two rods. A rod has a universal joint above and a ball below; with two balls it could
spin about its own axis. The base is overhead, with the platform below it; up is y.
"""

from __future__ import annotations

import math

import numpy as np

from poise.figure.model.builder import ball, revolute, universal
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.figure.model.shapes import Color
from poise.figures.mechanisms.mechanism import Mechanism
from poise.figures.parts import BLUE, DARK_GREY, GOLD, GREEN, RED, STEEL, bar, knob, rod

DELTA_BASE_RADIUS, DELTA_BASE_HEIGHT = 0.20, 1.00
ELBOW_RADIUS, ELBOW_HEIGHT = 0.44, 0.90
DELTA_PLATFORM_RADIUS, DELTA_PLATFORM_HEIGHT = 0.08, 0.30
"""Distances of the joints from the vertical axis, and their heights [m]."""
HALF_WIDTH = 0.05
"""Half the distance between the two rods of a forearm [m]."""


def build(name: str) -> Figure:
    """The robot, with its platform in the middle of its workspace."""
    plate = rod((0, DELTA_BASE_HEIGHT, 0), (0, DELTA_BASE_HEIGHT + 0.03, 0), DELTA_BASE_RADIUS + 0.05, DARK_GREY)
    m = Mechanism(name, "A delta robot: three motors move a platform that never turns.", "base", [plate], mass=10.0)
    platform = rod(
        (0, DELTA_PLATFORM_HEIGHT - 0.01, 0), (0, DELTA_PLATFORM_HEIGHT + 0.01, 0), DELTA_PLATFORM_RADIUS + 0.01, GOLD
    )
    nozzle = rod((0, DELTA_PLATFORM_HEIGHT - 0.06, 0), (0, DELTA_PLATFORM_HEIGHT, 0), 0.012, DARK_GREY)
    m.link("platform", [platform, nozzle], mass=0.3)
    for k, (arm, color) in enumerate({"a": RED, "b": GREEN, "c": BLUE}.items()):
        _add_arm(m, arm, color, 2.0 * math.pi * k / 3.0)
    m.site("tip", "platform", (0, DELTA_PLATFORM_HEIGHT - 0.06, 0))
    return m.build()


def _add_arm(m: Mechanism, arm: str, color: Color, heading: float) -> None:
    """Add a driven upper arm and the two rods of its forearm."""
    out = np.array([math.sin(heading), 0.0, math.cos(heading)])
    across = np.array([math.cos(heading), 0.0, -math.sin(heading)])
    shoulder = DELTA_BASE_RADIUS * out + [0.0, DELTA_BASE_HEIGHT, 0.0]
    elbow = ELBOW_RADIUS * out + [0.0, ELBOW_HEIGHT, 0.0]
    wrist = DELTA_PLATFORM_RADIUS * out + [0.0, DELTA_PLATFORM_HEIGHT, 0.0]
    width = HALF_WIDTH * across
    hub = rod(shoulder - 0.04 * across, shoulder + 0.04 * across, 0.035, DARK_GREY)
    upper = m.link(
        f"{arm}_arm", [bar(shoulder, elbow, 0.018, color), bar(elbow - width, elbow + width, 0.01, color), hub], 0.6
    )
    drive = revolute(f"{arm}_motor", across, limits=(math.radians(-60), math.radians(75)), speed=8.0, strength=20.0)
    m.motor(drive, "base", upper, at=shoulder)
    for side, offset in (("left", width), ("right", -width)):
        _add_rod(m, f"{arm}_{side}", upper, (elbow + offset, wrist + offset), across)


def _add_rod(m: Mechanism, name: str, upper: str, ends: tuple[FloatArray, FloatArray], across: FloatArray) -> None:
    """Add one rod of a forearm, from the upper arm to the platform."""
    top, bottom = ends
    along = (bottom - top) / np.linalg.norm(bottom - top)
    m.link(
        f"{name}_rod",
        [bar(top, bottom, 0.007, STEEL), knob(top, 0.012, DARK_GREY), knob(bottom, 0.012, DARK_GREY)],
        0.08,
    )
    swing = math.radians(80)
    limits = [(-swing, swing), (-swing, swing)]
    m.hinge(universal(f"{name}_elbow", across, np.cross(along, across), limits=limits), upper, f"{name}_rod", at=top)
    m.hinge(ball(f"{name}_wrist"), f"{name}_rod", "platform", at=bottom)
