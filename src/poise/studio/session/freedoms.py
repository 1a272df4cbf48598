"""The degrees of freedom of a figure as a person moves them: one number each, in degrees or metres.

The numbers are the rates v that take the posture of all zeros to the posture in one unit of time: for a hinge or a
slide its value, for a ball its rotation vector, for a free joint its position and rotation vector.
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
SLIDE_ROOM = 1.0
"""How far a slide without limits can be moved [m]."""
BASE_ROOM = 2.0
"""How far a free joint can be moved each way [m]."""
CLOSED = 1e-9
"""Gap below which loops count as closed [m or rad]."""


@dataclass(frozen=True)
class Freedom:
    """One degree of freedom."""

    number: int
    """Its place in v."""
    joint: str
    coordinate: str
    """What it is called within its joint; empty for the only one."""
    unit: str
    """° or m."""
    low: float
    """Least value, in that unit."""
    high: float
    """Greatest value, in that unit."""
    active: bool

    @property
    def factor(self) -> float:
        """Shown value of one radian or metre."""
        return math.degrees(1.0) if self.unit == "°" else 1.0


def freedoms_of(figure: Figure) -> tuple[Freedom, ...]:
    """All degrees of freedom, in the order of v."""
    found: list[Freedom] = []
    for joint in figure.joints:
        for coordinate, unit, low, high in _ranges(joint):
            found.append(Freedom(len(found), joint.name, coordinate, unit, low, high, joint.active))
    return tuple(found)


def _ranges(joint: Joint) -> list[tuple[str, str, float, float]]:
    """Name, unit and range of each freedom of a joint."""
    turns = [("turn x", "°"), ("turn y", "°"), ("turn z", "°")]
    if joint.kind == "ball":
        return [(name, unit, -HALF_TURN, HALF_TURN) for name, unit in turns]
    if joint.kind == "free":
        moves = [(name, "m", -BASE_ROOM, BASE_ROOM) for name in ("x", "y", "z")]
        return moves + [(name, unit, -HALF_TURN, HALF_TURN) for name, unit in turns]
    names = joint.coordinates if len(joint.scalars) != 1 else ("",)
    rows = zip(names, joint.scalars, joint.lower, joint.upper, strict=True)
    return [_scalar_range(name, primitive == "turn", low, high) for name, primitive, low, high in rows]


def _scalar_range(name: str, is_turn: bool, low: float, high: float) -> tuple[str, str, float, float]:
    unit, factor, room = ("°", math.degrees(1.0), HALF_TURN) if is_turn else ("m", 1.0, SLIDE_ROOM)
    bottom = low * factor if math.isfinite(low) else min(-room, high * factor - room)
    top = high * factor if math.isfinite(high) else max(room, bottom + room)
    return name, unit, bottom, top


@lru_cache(maxsize=8)
def _zero(figure: Figure) -> Posture:
    return figure.posture(np.array([value for joint in figure.joints for value in joint.rest()], dtype=np.float64))


def shown_values(posture: Posture, freedoms: tuple[Freedom, ...]) -> list[float]:
    """The value of each freedom, in its unit."""
    v = posture.figure.difference(_zero(posture.figure), posture)
    return [float(v[freedom.number]) * freedom.factor for freedom in freedoms]


def turned(posture: Posture, freedom: Freedom, value: float) -> Posture:
    """`posture` with one freedom at a value in its unit, inside all limits, loops closed.

    In a figure with loops other motors stay where they are when a motor moves; all joints follow a passive one.
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
        return posture if figure.closure_error(posture) <= CLOSED else moved
    return assembled.posture if not figure.violations(assembled.posture) else posture
