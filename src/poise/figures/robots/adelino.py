"""Adelino, a craft robot with five hobby servos in a chain [Ribeiro & Paiva 2017, section 4].

Its servos turn about Y, X, X, Z, Y by ±90° from a vertical rest posture. Two small lights on the tip are its face: it
looks along the tip's own +Y. It faces +z; a positive turn about X leans it forward.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from poise.figure.model.builder import Builder, revolute
from poise.figure.model.figure import Figure
from poise.figure.model.shapes import Shape
from poise.figures.parts import DARK_GREY, GOLD, WHITE, WOOD, block, knob, rod

SERVO_AXES = "yxxzy"
"""Axes of the servos, from the root up."""
SEGMENT_LENGTHS = (0.05, 0.15, 0.15, 0.15, 0.05)
"""Lengths from the root up [m]."""
JOINTS = ("turn", "lean", "bend", "tilt", "twist")
"""Names of the joints, from the root up."""
ADELINO_BASE_HEIGHT = 0.05
"""Height of the first servo [m]."""
SERVO_MASS = 0.055
"""Mass of a standard hobby servo [kg]."""
SERVO_SPEED = 6.0
"""About 0.17 s for 60° [rad/s]."""
SERVO_STRENGTH = 1.0
"""About 10 kg cm [N m]."""
STICK_DENSITY = 500.0
"""Pine stripwood [kg/m³]."""

ADELINO_POSTURES: dict[str, tuple[float, float, float, float, float]] = {
    "neutral": (0, -20, 75, 0, 0),
    "happy": (0, -32, 48, 18, -25),
    "sad": (0, 28, 88, -6, 0),
    "curious": (22, 24, 50, 38, 20),
    "proud": (0, -14, 28, 0, 0),
    "shy": (-48, 12, 85, -38, -30),
    "angry": (0, 62, 22, 0, 0),
    "sleepy": (18, 46, 72, 34, 40),
    "surprised": (0, -66, 90, 0, 0),
    "attentive": (0, 6, 70, 0, 0),
    "confused": (-12, -16, 62, -62, 45),
}
"""Servo angles from the root up [degrees]."""


def build(name: str) -> Figure:
    """The robot."""
    robot = Builder(name, description="Adelino: a desk robot of five hobby servos whose whole body is its expression.")
    upper = robot.body("base", shapes=_base(), mass=0.6)
    height = ADELINO_BASE_HEIGHT
    limits = (-0.5 * np.pi, 0.5 * np.pi)
    for k, (joint, axis, size) in enumerate(zip(JOINTS, SERVO_AXES, SEGMENT_LENGTHS, strict=True)):
        hinge = revolute(joint, axis, limits=limits, speed=SERVO_SPEED, strength=SERVO_STRENGTH)
        shapes = _segment(k, size)
        mass = SERVO_MASS + STICK_DENSITY * 0.02 * 0.012 * size
        upper = robot.body(f"segment_{k + 1}", parent=upper, joint=hinge, at=(0, height, 0), shapes=shapes, mass=mass)
        height = size
    robot.site("tip", upper, at=(0, height, 0))
    robot.site("eyes", upper, at=(0, height, 0), facing="y")
    for posture, angles in ADELINO_POSTURES.items():
        robot.posture(posture, dict(zip(JOINTS, np.radians(angles).tolist(), strict=True)))
    return robot.build()


def _base() -> Sequence[Shape]:
    """Solids of the base."""
    plate = block((0, 0.006, 0), (0.17, 0.012, 0.17), WOOD)
    return plate, rod((0, 0.012, 0), (0, ADELINO_BASE_HEIGHT - 0.012, 0), 0.045, DARK_GREY)


def _segment(k: int, size: float) -> list[Shape]:
    """Solids of segment `k`: a servo and two strips of wood; the last segment is the head."""
    across = {"y": (0.02, 0.022, 0.04), "x": (0.04, 0.03, 0.022), "z": (0.022, 0.03, 0.04)}[SERVO_AXES[k]]
    servo = block((0, 0, 0), across, DARK_GREY)
    if k == len(SEGMENT_LENGTHS) - 1:
        return [servo, *_head(size)]
    if k == 0:
        return [rod((0, -0.012, 0), (0, 0.01, 0), 0.04, WOOD), block((0, 0.5 * size, 0), (0.05, size, 0.03), WOOD)]
    side = np.array([0.016, 0.0, 0.0]) if SERVO_AXES[k] == "x" else np.array([0.0, 0.0, 0.016])
    strip = (0.012, size, 0.02) if SERVO_AXES[k] == "x" else (0.02, size, 0.012)
    middle = np.array([0.0, 0.5 * size, 0.0])
    return [servo, block(middle + side, strip, WOOD), block(middle - side, strip, WOOD)]


def _head(size: float) -> list[Shape]:
    """A lamp shade that opens towards the tip, with two lights inside."""
    face = size - 0.008
    lights = [knob((x, face, 0.0), 0.009, GOLD) for x in (-0.018, 0.018)]
    return [rod((0, 0.008, 0), (0, 0.026, 0), 0.03, WHITE), rod((0, 0.026, 0), (0, face, 0), 0.046, WHITE), *lights]
