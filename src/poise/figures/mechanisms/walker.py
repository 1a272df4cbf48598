"""A walking robot with hybrid legs: two parallel chains per leg, with a planar five-bar in each chain.

The topology is that of the serial-parallel biped of [Gim, Kim & Yamane 2018], which [Schumacher et al. 2021] animate.
In each leg an inner and an outer chain run from pelvis to foot. Each chain has a roll hinge at the hip, a five-bar of
thigh, shank, rod and horn driven by two motors at the hip, and twist, roll and pitch hinges at the ankle. Of the roll
and pitch hinges, only the inner hip roll and the inner ankle pitch have motors. There are 31 bodies, 36 hinges, 12
motors, 6 loops, and 12 degrees of freedom relative to the pelvis. The dimensions are ours. Up is y, it faces +z, and
its left is +x; equal joint values of both legs give mirrored postures.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from poise.figure.model.builder import revolute
from poise.figure.model.figure import Figure
from poise.figure.model.shapes import Color, Cylinder
from poise.figures.mechanisms.mechanism import Mechanism
from poise.figures.parts import BLUE, DARK_GREY, GOLD, RED, STEEL, WHITE, bar, block, rod

INNER_X, OUTER_X = 0.04, 0.10
"""Distances of the chains from the midline [m]."""
HEIGHTS = {"roll": 0.36, "hip": 0.32, "knee": 0.20, "twist": 0.09, "ankle": 0.06, "sole": 0.04}
"""Heights of a chain's hinges above the ground [m]."""
WALKER_KNEE_Z = 0.05
"""Forward offset of the knees at rest [m]."""
HORN, HORN_END, ROD_END = (0.33, -0.03), (0.33, -0.08), (0.21, -0.01)
"""(y, z) of the second motor, of the end of its horn, and of the joint between rod and shank [m]."""
Point = tuple[float, float, float]


class Chain(NamedTuple):
    """One of the four chains."""

    name: str
    side: str
    """'left' or 'right'."""
    sign: float
    """+1 left, -1 right."""
    x: float
    """Lateral position [m]."""
    driven: bool
    """Whether hip roll and ankle pitch have motors, as in the inner chains."""
    color: Color


CHAINS = [
    Chain(f"{side}_{which}", side, sign, sign * x, which == "inner", color)
    for side, sign, color in (("left", 1.0, RED), ("right", -1.0, BLUE))
    for which, x in (("inner", INNER_X), ("outer", OUTER_X))
]


def build(name: str) -> Figure:
    """The robot, standing with bent knees, its pelvis fixed to the world."""
    hull = [block((0, 0.40, 0), (0.26, 0.05, 0.10), WHITE), block((0, 0.46, -0.005), (0.14, 0.07, 0.08), GOLD)]
    axles = [rod((c.x, HEIGHTS["roll"], -0.05), (c.x, HEIGHTS["roll"], 0.05), 0.014, DARK_GREY) for c in CHAINS]
    sentence = "A walking robot whose legs are two parallel chains each: twelve motors, six loops."
    m = Mechanism(name, sentence, "pelvis", [*hull, *axles], mass=0.9)
    for side, sign in (("left", 1.0), ("right", -1.0)):
        _add_foot(m, side, sign)
    for chain in CHAINS:
        _add_links(m, chain)
        _add_hinges(m, chain)
    for chain in CHAINS:
        _close(m, chain)
    m.site("pelvis", "pelvis", (0, 0.40, 0))
    return m.build()


def _add_foot(m: Mechanism, side: str, sign: float) -> None:
    """Add a foot with sites at its middle and its corners."""
    x = 0.5 * (INNER_X + OUTER_X) * sign
    foot = m.link(
        f"{side}_foot",
        [
            block((x, 0.0075, 0.015), (0.11, 0.015, 0.15), DARK_GREY),
            block((x, 0.025, 0), (0.08, 0.03, 0.03), DARK_GREY),
        ],
        0.25,
    )
    m.site(f"{side}_foot", foot, (x, 0, 0.015))
    for across, dx in (("inner", -0.055 * sign), ("outer", 0.055 * sign)):
        m.site(f"{side}_foot_heel_{across}", foot, (x + dx, 0, -0.06))
        m.site(f"{side}_foot_toe_{across}", foot, (x + dx, 0, 0.09))


def points_of(chain: Chain) -> dict[str, Point]:
    """Positions of a chain's hinges at rest [m]."""
    points = {part: (chain.x, height, 0.0) for part, height in HEIGHTS.items()}
    points["knee"] = (chain.x, HEIGHTS["knee"], WALKER_KNEE_Z)
    return points | {"horn": (chain.x, *HORN), "horn_end": (chain.x, *HORN_END), "crank": (chain.x, *ROD_END)}


def _add_links(m: Mechanism, chain: Chain) -> None:
    """Add the links of a chain."""
    p, n = points_of(chain), chain.name
    m.link(f"{n}_hip", [block((chain.x, 0.335, -0.012), (0.036, 0.05, 0.07), DARK_GREY)], 0.12)
    m.link(f"{n}_thigh", [bar(p["hip"], p["knee"], 0.009, chain.color), _axle(p["knee"])], 0.06)
    m.link(f"{n}_shank", [bar(p["knee"], p["twist"], 0.008, STEEL), bar(p["knee"], p["crank"], 0.007, STEEL)], 0.06)
    m.link(f"{n}_horn", [bar(p["horn"], p["horn_end"], 0.007, GOLD)], 0.02)
    m.link(f"{n}_rod", [bar(p["horn_end"], p["crank"], 0.005, GOLD)], 0.02)
    m.link(f"{n}_bracket", [rod(p["twist"], p["ankle"], 0.011, DARK_GREY)], 0.03)
    m.link(f"{n}_ankle", [bar(p["ankle"], p["sole"], 0.009, chain.color), _axle(p["sole"])], 0.03)


def _axle(at: Point) -> Cylinder:
    """The axle of a hinge about x."""
    x, y, z = at
    return rod((x - 0.016, y, z), (x + 0.016, y, z), 0.012, DARK_GREY)


def _degrees(low: float, high: float) -> tuple[float, float]:
    """Limits in degrees as radians."""
    return math.radians(low), math.radians(high)


def _add_hinges(m: Mechanism, chain: Chain) -> None:
    """Add all hinges of a chain except the two that close its loops."""
    p, n = points_of(chain), chain.name
    roll = revolute(f"{n}_hip_roll", (0, 0, chain.sign), limits=_degrees(-30, 30), speed=4.4, strength=3.4)
    join = m.motor if chain.driven else m.hinge
    join(roll, "pelvis", f"{n}_hip", at=p["roll"])
    for motor, part, low, high in (("hip_pitch", "thigh", -50, 70), ("horn", "horn", -75, 75)):
        drive = revolute(f"{n}_{motor}", "-x", limits=_degrees(low, high), speed=4.4, strength=3.4)
        m.motor(drive, f"{n}_hip", f"{n}_{part}", at=p["hip" if part == "thigh" else "horn"])
    # The knee is straight 42° from here; the rod is collinear with its crank at 50° one way and 130° the other. The
    # limits keep both on their solution branch.
    m.hinge(revolute(f"{n}_knee", "x", limits=_degrees(-38, 85)), f"{n}_thigh", f"{n}_shank", at=p["knee"])
    m.hinge(revolute(f"{n}_crank_pin", "-x", limits=_degrees(-46, 125)), f"{n}_rod", f"{n}_shank", at=p["crank"])
    twist = revolute(f"{n}_shank_twist", (0, chain.sign, 0), limits=_degrees(-45, 45))
    m.hinge(twist, f"{n}_shank", f"{n}_bracket", at=p["twist"])
    tilt = revolute(f"{n}_ankle_roll", (0, 0, chain.sign), limits=_degrees(-35, 35))
    m.hinge(tilt, f"{n}_bracket", f"{n}_ankle", at=p["ankle"])
    if chain.driven:
        pitch = revolute(f"{n}_ankle_pitch", "-x", limits=_degrees(-50, 50), speed=4.4, strength=3.4)
        m.motor(pitch, f"{n}_ankle", f"{chain.side}_foot", at=p["sole"])


def _close(m: Mechanism, chain: Chain) -> None:
    """Add the hinges that close the five-bar and, in outer chains, the leg."""
    p, n = points_of(chain), chain.name
    m.hinge(revolute(f"{n}_horn_pin", "-x", limits=_degrees(-115, 55)), f"{n}_horn", f"{n}_rod", at=p["horn_end"])
    if not chain.driven:
        # The limits of the foot are those of the motor at the inner ankle.
        m.hinge(revolute(f"{n}_ankle_pitch", "-x"), f"{n}_ankle", f"{chain.side}_foot", at=p["sole"])
