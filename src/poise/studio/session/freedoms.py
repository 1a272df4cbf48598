"""The degrees of freedom of a figure as the sliders show them: one number each, in degrees or metres.

The numbers are the velocity v that moves the zero posture to the present posture in unit time: the value of a revolute
or prismatic joint, the rotation vector of a ball joint, the position and rotation vector of a free joint.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from poise.figure.model.figure import Figure
from poise.figure.model.joints import Joint
from poise.figure.model.posture import Posture

HALF_TURN = 180.0
"""Range of a slider for a rotation without limits, each way [degrees]."""
UNLIMITED_SLIDE_RANGE = 1.0
"""Range of a slider for a translation without limits, each way [m]."""
FREE_JOINT_RANGE = 2.0
"""Range of a slider for the position of a free joint, each way [m]."""
CLOSED_LOOP_GAP = 1e-9
"""Largest closure error at which loops count as closed [m or rad]."""


AXIS_WORDS = {"first": "1st axis", "second": "2nd axis"}
"""How the page calls coordinates that are named after their place among the axes of a joint."""


@dataclass(frozen=True)
class Freedom:
    """One degree of freedom."""

    number: int
    """Index in v."""
    joint: str
    """Name of its joint."""
    coordinate: str
    """Name of the coordinate within its joint; empty if the joint has one."""
    unit: str
    """° or m."""
    low: float
    """Smallest value, in that unit."""
    high: float
    """Largest value, in that unit."""
    active: bool
    """Whether the joint has a motor."""

    @property
    def factor(self) -> float:
        """Factor from radians or metres to the unit shown."""
        return math.degrees(1.0) if self.unit == "°" else 1.0


def freedoms_of(figure: Figure) -> tuple[Freedom, ...]:
    """All degrees of freedom, in the order of v."""
    found: list[Freedom] = []
    for joint in figure.joints:
        for coordinate, unit, low, high in _ranges(joint):
            found.append(Freedom(len(found), joint.name, coordinate, unit, low, high, joint.active))
    return tuple(found)


def _ranges(joint: Joint) -> list[tuple[str, str, float, float]]:
    """Name, unit, smallest and largest value of each degree of freedom of a joint."""
    turns = [("turn x", "°"), ("turn y", "°"), ("turn z", "°")]
    if joint.kind == "ball":
        return [(name, unit, -HALF_TURN, HALF_TURN) for name, unit in turns]
    if joint.kind == "free":
        moves = [(name, "m", -FREE_JOINT_RANGE, FREE_JOINT_RANGE) for name in ("x", "y", "z")]
        return moves + [(name, unit, -HALF_TURN, HALF_TURN) for name, unit in turns]
    names = [AXIS_WORDS.get(name, name) for name in joint.coordinates] if len(joint.scalars) != 1 else [""]
    rows = zip(names, joint.scalars, joint.lower, joint.upper, strict=True)
    return [_scalar_range(name, primitive == "turn", low, high) for name, primitive, low, high in rows]


def _scalar_range(name: str, is_turn: bool, low: float, high: float) -> tuple[str, str, float, float]:
    unit, factor, room = ("°", math.degrees(1.0), HALF_TURN) if is_turn else ("m", 1.0, UNLIMITED_SLIDE_RANGE)
    bottom = low * factor if math.isfinite(low) else min(-room, high * factor - room)
    top = high * factor if math.isfinite(high) else max(room, bottom + room)
    return name, unit, bottom, top


@lru_cache(maxsize=8)
def _zero(figure: Figure) -> Posture:
    return figure.posture(np.array([value for joint in figure.joints for value in joint.rest()], dtype=np.float64))


def shown_values(posture: Posture, freedoms: tuple[Freedom, ...]) -> list[float]:
    """The value of each degree of freedom, in its unit."""
    v = posture.figure.difference(_zero(posture.figure), posture)
    return [float(v[freedom.number]) * freedom.factor for freedom in freedoms]


def turned(posture: Posture, freedom: Freedom, value: float) -> Posture:
    """The posture with one degree of freedom set to a value in its unit, inside all limits and with loops closed.

    In a figure with loops, moving a motor keeps the other motors in place; moving a passive joint lets all joints move.
    """
    figure = posture.figure
    v = figure.difference(_zero(figure), posture)
    v[freedom.number] = min(max(value, freedom.low), freedom.high) / freedom.factor
    moved = figure.clamp(figure.integrate(_zero(figure), v), previous=posture)
    if not len(figure.loops):
        return moved
    others = None if freedom.active else ()
    assembled = figure.assembler.assemble({freedom.joint: moved[freedom.joint]}, posture, motors=others)
    if assembled.status == "open":
        return posture if figure.closure_error(posture) <= CLOSED_LOOP_GAP else moved
    return assembled.posture if not figure.violations(assembled.posture) else posture
