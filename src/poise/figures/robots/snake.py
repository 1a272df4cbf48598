"""A snake: a long chain of hinges that bend it sideways and upwards in alternation.

It lies on the ground along +z with its tail fixed. The chain's own +Y is that direction, so its "tip" looks ahead.
"""

from __future__ import annotations

import math

from poise.figure.model.builder import Builder, revolute
from poise.figure.model.figure import Figure
from poise.figure.model.pose import Pose, turn
from poise.figure.model.shapes import Color, Shape
from poise.figures.parts import DARK_GREY, GOLD, GREEN, bar, egg, knob

HINGES = 24
"""Number of hinges: half of them bend it sideways, half up and down."""
RIB_LENGTH = 0.06
"""Length of a segment [m]."""
RIB_LIMIT = math.radians(60.0)
"""Limit of every hinge, ± this [rad]."""
SNAKE_RADIUS = 0.024
"""Greatest radius of the body [m]."""
YELLOW_GREEN: Color = (0.62, 0.72, 0.30)


def build(name: str) -> Figure:
    """The snake, stretched out."""
    ground = Pose((0.0, SNAKE_RADIUS, 0.0), turn("x", 90.0))
    snake = Builder(
        name,
        description=f"A snake of {HINGES} hinges that bend it sideways and upwards in alternation.",
        placement=ground,
    )
    upper = snake.body("tail", shapes=[bar((0, -RIB_LENGTH, 0), (0, 0, 0), 0.25 * SNAKE_RADIUS, GREEN)], density=1000.0)
    at = 0.0
    for k in range(HINGES):
        # About the chain's -Z the snake turns to its left, about its -X it rises.
        axis = "-z" if k % 2 == 0 else "-x"
        joint = revolute(_hinge(k), axis, limits=(-RIB_LIMIT, RIB_LIMIT), speed=4.0, strength=3.0)
        upper = snake.body(f"rib_{k + 1}", parent=upper, joint=joint, at=(0, at, 0), shapes=_rib(k), density=1000.0)
        at = RIB_LENGTH
    snake.site("tip", upper, at=(0, 1.5 * RIB_LENGTH, 0))
    snake.posture("coil", _coil())
    snake.posture("rise", _rise())
    snake.posture("strike", _strike())
    snake.posture("slither", {_hinge(k): 0.55 * math.sin(0.5 * k) for k in range(0, HINGES, 2)})
    return snake.build()


def _hinge(k: int) -> str:
    """Name of hinge `k`."""
    return f"yaw_{k // 2 + 1}" if k % 2 == 0 else f"pitch_{k // 2 + 1}"


def _rib(k: int) -> list[Shape]:
    """One segment, thickest in the middle of the snake; the last one is the head."""
    thick = SNAKE_RADIUS * (0.3 + 0.7 * math.sin(math.pi * min(1.0, (k + 2) / HINGES * 0.75)))
    if k < HINGES - 1:
        return [bar((0, 0, 0), (0, RIB_LENGTH, 0), thick, GREEN if k % 4 < 2 else YELLOW_GREEN)]
    eyes = [
        knob((x, 0.75 * RIB_LENGTH, -0.5 * SNAKE_RADIUS), 0.2 * SNAKE_RADIUS, DARK_GREY)
        for x in (-0.5 * SNAKE_RADIUS, 0.5 * SNAKE_RADIUS)
    ]
    tongue = bar((0, 1.2 * RIB_LENGTH, 0), (0, 1.5 * RIB_LENGTH, 0), 0.08 * SNAKE_RADIUS, GOLD)
    return [
        egg((0, 0.6 * RIB_LENGTH, 0), (0.9 * SNAKE_RADIUS, 0.7 * RIB_LENGTH, 0.6 * SNAKE_RADIUS), GREEN),
        *eyes,
        tongue,
    ]


def _coil() -> dict[str, float]:
    """A helix that rises by one thickness of the snake per turn.

    In a frame that does not rotate about the curve, curvature κ and torsion τ appear as a bend of constant size whose
    direction φ turns by τ per unit of length: yaw = κ cos φ and pitch = κ sin φ.
    """
    bend, climb = math.radians(52.0), math.radians(4.0)
    radius = RIB_LENGTH / math.sin(0.5 * bend)
    turning = 2.0 * RIB_LENGTH / radius * math.sin(climb) * math.cos(climb)
    values = {_hinge(2 * k): bend * math.cos(turning * k) for k in range(HINGES // 2)}
    values |= {_hinge(2 * k + 1): bend * math.sin(turning * k) for k in range(HINGES // 2)}
    values[_hinge(1)] += climb
    return values


def _rise() -> dict[str, float]:
    """The rear half winds on the ground, the front half rises like a cobra and looks ahead."""
    values = {_hinge(k): math.radians(35.0) * math.cos(1.2 * k / 2) for k in range(0, HINGES // 2, 2)}
    for k in (13, 15):
        values[_hinge(k)] = math.radians(45.0)
    for k in (21, 23):
        values[_hinge(k)] = math.radians(-40.0)
    return values


def _strike() -> dict[str, float]:
    """The front half is drawn back in an S, ready to strike."""
    values = {_hinge(k): math.radians(-30.0 if k % 4 == 0 else 30.0) for k in range(0, HINGES // 2, 2)}
    values |= {_hinge(11): math.radians(50.0), _hinge(13): math.radians(55.0), _hinge(15): math.radians(25.0)}
    values |= {_hinge(19): math.radians(-55.0), _hinge(21): math.radians(-55.0), _hinge(23): math.radians(-20.0)}
    return values
