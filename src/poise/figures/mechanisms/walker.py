"""A walking robot of hybrid legs: two parallel chains each, with a planar five-bar in each chain.

The topology is that of the serial-parallel biped of [Gim, Kim & Yamane 2018] which the loops paper animates: in each
leg an inner and an outer chain run from pelvis to foot. Each chain has a roll hinge at the hip, a five-bar of thigh,
shank, rod and horn driven by two motors at the hip, and twist, roll and pitch hinges at the ankle. Only the inner hip
roll and the inner ankle pitch have motors of their own. 31 bodies, 36 hinges, 12 motors, 6 loops, and relative to the
pelvis 12 degrees of freedom. The dimensions are ours. Up is y, it faces +z, its left is +x; equal values of the joints
of both legs are mirrored postures.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from poise.figure.model.builder import revolute
from poise.figure.model.figure import Figure
from poise.figure.model.shapes import Cylinder
from poise.figures.mechanisms.mechanism import Mechanism
from poise.figures.parts import BLUE, DARK, GOLD, RED, STEEL, WHITE, Color, bar, block, rod

INNER_X, OUTER_X = 0.04, 0.10
"""Chains from the midline [m]."""
HEIGHTS = {"roll": 0.36, "hip": 0.32, "knee": 0.20, "twist": 0.09, "ankle": 0.06, "sole": 0.04}
KNEE_Z = 0.05
HORN, HORN_END, CRANK = (0.33, -0.03), (0.33, -0.08), (0.21, -0.01)
"""(y, z) of the second motor, the end of its horn, and where the rod holds the shank [m]."""
Point = tuple[float, float, float]


class Chain(NamedTuple):
    """One of the four chains."""

    name: str
    side: str
    sign: float
    """+1 left, -1 right."""
    x: float
    driven: bool
    """Whether hip roll and ankle pitch have motors: the inner chains'."""
    color: Color


CHAINS = [
    Chain(f"{side}_{which}", side, sign, sign * x, which == "inner", color)
    for side, sign, color in (("left", 1.0, RED), ("right", -1.0, BLUE))
    for which, x in (("inner", INNER_X), ("outer", OUTER_X))
]


def build(name: str) -> Figure:
    """The robot, standing with bent knees, its pelvis held."""
    hull = [block((0, 0.40, 0), (0.26, 0.05, 0.10), WHITE), block((0, 0.46, -0.005), (0.14, 0.07, 0.08), GOLD)]
    axles = [rod((c.x, HEIGHTS["roll"], -0.05), (c.x, HEIGHTS["roll"], 0.05), 0.014, DARK) for c in CHAINS]
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
    x = 0.5 * (INNER_X + OUTER_X) * sign
    foot = m.link(
        f"{side}_foot",
        [block((x, 0.0075, 0.015), (0.11, 0.015, 0.15), DARK), block((x, 0.025, 0), (0.08, 0.03, 0.03), DARK)],
        0.25,
    )
    m.site(f"{side}_foot", foot, (x, 0, 0.015))
    for across, dx in (("inner", -0.055 * sign), ("outer", 0.055 * sign)):
        m.site(f"{side}_foot_heel_{across}", foot, (x + dx, 0, -0.06))
        m.site(f"{side}_foot_toe_{across}", foot, (x + dx, 0, 0.09))


def points_of(chain: Chain) -> dict[str, Point]:
    """Where the hinges of a chain are."""
    points = {part: (chain.x, height, 0.0) for part, height in HEIGHTS.items()}
    points["knee"] = (chain.x, HEIGHTS["knee"], KNEE_Z)
    return points | {"horn": (chain.x, *HORN), "horn_end": (chain.x, *HORN_END), "crank": (chain.x, *CRANK)}


def _add_links(m: Mechanism, chain: Chain) -> None:
    p, n = points_of(chain), chain.name
    m.link(f"{n}_hip", [block((chain.x, 0.335, -0.012), (0.036, 0.05, 0.07), DARK)], 0.12)
    m.link(f"{n}_thigh", [bar(p["hip"], p["knee"], 0.009, chain.color), _axle(p["knee"])], 0.06)
    m.link(f"{n}_shank", [bar(p["knee"], p["twist"], 0.008, STEEL), bar(p["knee"], p["crank"], 0.007, STEEL)], 0.06)
    m.link(f"{n}_horn", [bar(p["horn"], p["horn_end"], 0.007, GOLD)], 0.02)
    m.link(f"{n}_rod", [bar(p["horn_end"], p["crank"], 0.005, GOLD)], 0.02)
    m.link(f"{n}_bracket", [rod(p["twist"], p["ankle"], 0.011, DARK)], 0.03)
    m.link(f"{n}_ankle", [bar(p["ankle"], p["sole"], 0.009, chain.color), _axle(p["sole"])], 0.03)


def _axle(at: Point) -> Cylinder:
    x, y, z = at
    return rod((x - 0.016, y, z), (x + 0.016, y, z), 0.012, DARK)


def _degrees(low: float, high: float) -> tuple[float, float]:
    return math.radians(low), math.radians(high)


def _add_hinges(m: Mechanism, chain: Chain) -> None:
    """All hinges of a chain but the two that close its loops."""
    p, n = points_of(chain), chain.name
    roll = revolute(f"{n}_hip_roll", (0, 0, chain.sign), limits=_degrees(-30, 30), speed=4.4, strength=3.4)
    join = m.motor if chain.driven else m.hinge
    join(roll, "pelvis", f"{n}_hip", at=p["roll"])
    for motor, part, low, high in (("hip_pitch", "thigh", -50, 70), ("horn", "horn", -75, 75)):
        drive = revolute(f"{n}_{motor}", "-x", limits=_degrees(low, high), speed=4.4, strength=3.4)
        m.motor(drive, f"{n}_hip", f"{n}_{part}", at=p["hip" if part == "thigh" else "horn"])
    # A straight knee is 42° from here, a rod in line with its crank 50° one way and 130° the other: the limits keep the
    # leg from coming out of either on the wrong side.
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
    """The hinges left to close the five-bar and, in outer chains, the leg."""
    p, n = points_of(chain), chain.name
    m.hinge(revolute(f"{n}_horn_pin", "-x", limits=_degrees(-115, 55)), f"{n}_horn", f"{n}_rod", at=p["horn_end"])
    if not chain.driven:
        # The motor of the inner ankle has the stops of the foot.
        m.hinge(revolute(f"{n}_ankle_pitch", "-x"), f"{n}_ankle", f"{chain.side}_foot", at=p["sole"])
