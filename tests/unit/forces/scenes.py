"""Figures with forces, supports and gravity of every kind."""

from __future__ import annotations

from functools import cache

import poise
from poise.figure.model.builder import Builder, ball, free, revolute
from poise.figure.model.figure import Figure
from poise.figure.model.shapes import Box
from poise.forces import Force, Gravity, Load, Support
from tests.unit.figure.model.samples import every_kind

G = 9.80665


@cache
def human() -> Figure:
    return poise.load("human")


@cache
def all_kinds() -> Figure:
    return every_kind()


@cache
def all_kinds_rerooted() -> Figure:
    return every_kind().rerooted("on_cup")


WORLD_SEAT: tuple[Load, ...] = (
    Force("tip", (3.0, -2.0, 5.0), (0.4, 0.3, -0.2)),
    Force("on_bend", (-1.0, 4.0, 2.0)),
    Support("trunk", 0.3),
    Support("on_crane"),
)
"""Constant forces and torques, shared by two supports."""

TURNING: tuple[Load, ...] = (
    Force("tip", (3.0, -2.0, 5.0), (0.4, 0.3, -0.2), axes="site"),
    Force("on_screw", (1.0, 2.0, -1.0), (0.1, 0.0, 0.2), axes="site"),
    Force("on_bend", (-1.0, 4.0, 2.0), (0.3, 0.1, 0.0)),
    Support("trunk", 0.7, brace=-0.2),
    Support("on_crane", 0.5, brace=0.9),
    Support("on_cup"),
    Gravity((1.0, -8.0, 2.0)),
)
"""Wrenches that turn with their sites, and supports with different shares along and across an oblique gravity."""

WEIGHTLESS: tuple[Load, ...] = (
    Force("tip", (1.0, 2.0, 3.0), axes="site"),
    Support("trunk", 0.5),
    Support("on_loose"),
    Gravity((0.0, 0.0, 0.0)),
)

FEET = (Support("left_foot"), Support("right_foot"))

CASES = {"world": WORLD_SEAT, "turning": TURNING, "weightless": WEIGHTLESS}


def block(width: float = 0.4, depth: float = 0.2, height: float = 1.0) -> Figure:
    """A solid block that stands on its lower face, its centre of mass in its middle, with a hand on its top."""
    b = Builder("block")
    shapes = [Box((width, height, depth))]
    b.body("block", joint=free("base"), shapes=shapes, mass=10.0)
    b.site("sole", "block", at=(0.0, -height / 2, 0.0))
    b.site("top", "block", at=(0.0, height / 2, 0.0))
    b.posture("neutral", {"base": (0.0, height / 2, 0.0, 1.0, 0.0, 0.0, 0.0)})
    return b.build()


def two_legs() -> Figure:
    """A trunk on two legs that end in points one metre apart; no boxes anywhere."""
    b = Builder("two_legs")
    b.body("trunk", joint=free("base"), mass=8.0)
    for side, x in (("left", 0.5), ("right", -0.5)):
        b.body(f"{side}_leg", parent="trunk", joint=ball(f"{side}_hip"), at=(x, 0.0, 0.0), mass=1.0)
        b.body(f"{side}_shank", parent=f"{side}_leg", joint=revolute(f"{side}_knee", "x"), at=(0.0, -0.5, 0.0))
        b.site(f"{side}_point", f"{side}_shank", at=(0.0, -0.5, 0.0))
    return b.build()
