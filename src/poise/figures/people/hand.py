"""A right hand [Ramachandran & John 2013, fig. 7] with fingers along +Y, palm towards +z, thumb towards +x.

Ranges of motion are nominal clinical ones [Greene & Heckman 1994]. In the four fingers the last two hinges are coupled,
θ_DIP = 2/3 θ_PIP [Rijpkema & Girard 1991; Baerlocher 2001, 3.8.1]. Flexion, which closes the hand, is positive.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from poise.figure.model.builder import Builder, revolute, universal
from poise.figure.model.figure import Figure
from poise.figure.model.shapes import Shape
from poise.figures.parts import SHIRT, SKIN, bar, block, rod

TISSUE_DENSITY = 1100.0
"""[kg/m³]"""


class Finger(NamedTuple):
    """Position and size of a finger."""

    x: float
    """Lateral position of the knuckle, towards the thumb [m]."""
    y: float
    """Distance of the knuckle from the wrist [m]."""
    bones: tuple[float, float, float]
    """Lengths of the proximal, middle and distal phalanx [m]."""
    radius: float
    """Radius of the finger [m]."""


FINGER_SHAPES = {
    "index": Finger(0.028, 0.095, (0.045, 0.026, 0.022), 0.0085),
    "middle": Finger(0.008, 0.098, (0.050, 0.030, 0.023), 0.0088),
    "ring": Finger(-0.012, 0.093, (0.046, 0.028, 0.023), 0.0083),
    "little": Finger(-0.031, 0.085, (0.036, 0.020, 0.020), 0.0072),
}
THUMB_BASE = (0.026, 0.022, 0.008)
"""Position of the thumb's first joint on the palm [m]."""
THUMB_BONES = (0.045, 0.034, 0.027)
"""Lengths of the thumb's bones [m]."""
THUMB_AXIS = (math.sin(math.radians(40.0)), math.cos(math.radians(40.0)), 0.0)
"""Direction of the thumb at rest: in the plane of the palm, 40° from the fingers."""

_Degrees = Mapping[str, float | tuple[float, float]]


def build(name: str) -> Figure:
    """The hand with a part of the forearm."""
    hand = Builder(name, description="A right hand of five fingers; the last two hinges of each finger curl together.")
    hand.body("forearm", shapes=[bar((0, -0.12, 0), (0, -0.02, 0), 0.024, SHIRT)], density=TISSUE_DENSITY)
    wrist = universal("wrist", "x", "z", limits=_radians((-70, 80), (-20, 30)))
    hand.body("palm", parent="forearm", joint=wrist, shapes=_palm(), density=TISSUE_DENSITY)
    for finger, shape in FINGER_SHAPES.items():
        _add_finger(hand, finger, shape)
    _add_thumb(hand)
    hand.site("grip", "palm", at=(0.0, 0.06, 0.045))
    for posture, degrees in HAND_POSTURES.items():
        hand.posture(posture, _in_radians(degrees))
    return hand.build()


def _radians(*intervals: tuple[float, float]) -> list[tuple[float, float]]:
    """Intervals in degrees as radians."""
    return [(math.radians(low), math.radians(high)) for low, high in intervals]


def _in_radians(degrees: _Degrees) -> dict[str, float | list[float]]:
    """Joint values in degrees as radians."""
    return {joint: np.radians(value).tolist() for joint, value in degrees.items()}


def _palm() -> list[Shape]:
    """Solids of the palm."""
    slabs = [
        bar((finger.x, 0.018, 0), (finger.x, finger.y - 0.004, 0), 0.0115, SKIN) for finger in FINGER_SHAPES.values()
    ]
    return [
        *slabs,
        block((-0.002, 0.05, 0.0), (0.066, 0.075, 0.019), SKIN),
        rod((0, -0.012, 0), (0, 0.018, 0), 0.02, SKIN),
    ]


def _add_finger(hand: Builder, finger: str, shape: Finger) -> None:
    """Add a finger: a universal joint at the knuckle and two coupled hinges."""
    first, second, third = shape.bones
    knuckle = universal(f"{finger}_mcp", "x", "-z", limits=_radians((-30, 90), (-15, 15)))
    at = (shape.x, shape.y, 0.0)
    bone = hand.body(
        f"{finger}_proximal",
        parent="palm",
        joint=knuckle,
        at=at,
        shapes=_bone(first, shape.radius),
        density=TISSUE_DENSITY,
    )
    for part, size, below, limit in (("middle", second, first, 100.0), ("distal", third, second, 80.0)):
        name = f"{finger}_{'pip' if part == 'middle' else 'dip'}"
        hinge = revolute(name, "x", limits=_radians((0.0, limit))[0])
        shapes = _bone(size, (0.93 if part == "middle" else 0.86) * shape.radius)
        bone = hand.body(
            f"{finger}_{part}", parent=bone, joint=hinge, at=(0, below, 0), shapes=shapes, density=TISSUE_DENSITY
        )
    hand.site(f"{finger}_tip", bone, at=(0, third, 0))
    hand.couple(f"{finger}_curl", {f"{finger}_dip": 1.0, f"{finger}_pip": -2.0 / 3.0})


def _bone(size: float, radius: float) -> list[Shape]:
    """Solid of a finger's bone."""
    return [bar((0, 0, 0), (0, size - 0.5 * radius, 0), radius, SKIN)]


def _add_thumb(hand: Builder) -> None:
    """Add the thumb: a saddle joint that moves it across and in front of the palm, and two hinges."""
    along = np.array(THUMB_AXIS)
    curl = np.cross(along, (0.0, 0.0, 1.0))
    # The axes of the thumb's hinges are turned towards the palm, so that its tip meets the fingers' tips.
    bend = math.cos(math.radians(50.0)) * np.array([0.0, 0.0, 1.0]) + math.sin(math.radians(50.0)) * curl
    saddle = universal("thumb_cmc", curl, "z", limits=_radians((-10, 55), (-25, 35)))
    bone = hand.body(
        "thumb_metacarpal",
        parent="palm",
        joint=saddle,
        at=THUMB_BASE,
        shapes=_thumb_bone(0, 0.0125),
        density=TISSUE_DENSITY,
    )
    for part, k, name, limits in (("proximal", 1, "thumb_mcp", (-5.0, 60.0)), ("distal", 2, "thumb_ip", (-10.0, 80.0))):
        hinge = revolute(name, bend, limits=_radians(limits)[0])
        at = along * THUMB_BONES[k - 1]
        bone = hand.body(
            f"thumb_{part}",
            parent=bone,
            joint=hinge,
            at=at,
            shapes=_thumb_bone(k, 0.0115 - 0.001 * k),
            density=TISSUE_DENSITY,
        )
    hand.site("thumb_tip", bone, at=along * THUMB_BONES[2])


def _thumb_bone(k: int, radius: float) -> list[Shape]:
    """Solid of bone `k` of the thumb."""
    return [bar((0, 0, 0), np.array(THUMB_AXIS) * (THUMB_BONES[k] - 0.5 * radius), radius, SKIN)]


def _fingers(
    mcp: float, pip: float, names: tuple[str, ...] = tuple(FINGER_SHAPES)
) -> dict[str, float | tuple[float, float]]:
    """Equal flexion of some fingers, with their coupled last hinges [degrees]."""
    values: dict[str, float | tuple[float, float]] = {}
    for finger in names:
        values |= {f"{finger}_mcp": (mcp, 0.0), f"{finger}_pip": pip, f"{finger}_dip": pip * 2.0 / 3.0}
    return values


HAND_POSTURES: dict[str, _Degrees] = {
    "open": {
        "index_mcp": (-5, 8),
        "middle_mcp": (-5, 0),
        "ring_mcp": (-5, -6),
        "little_mcp": (-5, -14),
        "thumb_cmc": (0, -20),
    },
    "relaxed": {**_fingers(25, 30), "thumb_cmc": (20, 0), "thumb_mcp": 10, "thumb_ip": 15},
    "fist": {**_fingers(85, 98), "thumb_cmc": (50, 18), "thumb_mcp": 40, "thumb_ip": 55},
    "point": {**_fingers(85, 98, ("middle", "ring", "little")), "thumb_cmc": (48, 15), "thumb_mcp": 35, "thumb_ip": 45},
    "pinch": {
        **_fingers(20, 25, ("middle", "ring", "little")),
        "index_mcp": (52, 0),
        "index_pip": 60,
        "index_dip": 40,
        "thumb_cmc": (34, 18),
        "thumb_mcp": 16,
        "thumb_ip": 25,
    },
}
"""Joint values of the named postures [degrees]."""
