"""A hand [Ramachandran & John 2013, fig. 7] with fingers along +Y and palm towards +z.

The thumb of a right hand is towards +x; a left hand is its mirror image, and equal joint values give mirrored postures.

Ranges of motion are nominal clinical ones [Greene & Heckman 1994]. In the four fingers the last two hinges are coupled,
θ_DIP = 2/3 θ_PIP [Rijpkema & Girard 1991; Baerlocher 2001, 3.8.1]. Flexion, which closes the hand, is positive.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from poise.errors import FigureError
from poise.figure.model.builder import Builder, revolute, universal
from poise.figure.model.figure import Figure
from poise.figure.model.joints import Joint
from poise.figure.model.pose import FloatArray, Pose
from poise.figure.model.shapes import Shape
from poise.figures.parts import SHIRT, SKIN, bar, block, rod
from poise.figures.people.hand_postures import DIP_PER_PIP, HAND_POSTURES, Degrees, Side

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
HAND_LENGTH = FINGER_SHAPES["middle"].y + sum(FINGER_SHAPES["middle"].bones)
"""Length from the wrist to the tip of the middle finger [m]."""
THUMB_BASE = (0.026, 0.022, 0.008)
"""Position of the thumb's first joint on the palm [m]."""
THUMB_BONES = (0.045, 0.034, 0.027)
"""Lengths of the thumb's bones [m]."""
THUMB_AXIS = (math.sin(math.radians(40.0)), math.cos(math.radians(40.0)), 0.0)
"""Direction of the thumb at rest: in the plane of the palm, 40° from the fingers."""


def hand(side: Side = "right", *, name: str = "hand") -> Figure:
    """A hand with a part of the forearm.

    Args:
        side: "right" or "left".
        name: Name of the figure.
    """
    if side not in ("left", "right"):
        raise FigureError(f"a hand is 'left' or 'right', not {side!r}.")
    sentence = f"A {side} hand of five fingers; the last two hinges of each finger curl together."
    builder = Builder(name, description=sentence)
    builder.body("forearm", shapes=[bar((0, -0.12, 0), (0, -0.02, 0), 0.024, SHIRT)], density=TISSUE_DENSITY)
    fingers = Fingers(builder, side, density=TISSUE_DENSITY)
    wrist = fingers.mirrored(universal("wrist", "x", "z", limits=_radians((-70, 80), (-20, 30))))
    builder.body("palm", parent="forearm", joint=wrist, shapes=fingers.palm_shapes(), density=TISSUE_DENSITY)
    fingers.add()
    builder.site("grip", "palm", at=(0.0, 0.06, 0.045))
    for posture, degrees in HAND_POSTURES.items():
        builder.posture(posture, _in_radians(degrees))
    return builder.build()


def build(name: str) -> Figure:
    """The right hand with a part of the forearm."""
    return hand(name=name)


def _radians(*intervals: tuple[float, float]) -> list[tuple[float, float]]:
    """Intervals in degrees as radians."""
    return [(math.radians(low), math.radians(high)) for low, high in intervals]


def _in_radians(degrees: Degrees) -> dict[str, float | list[float]]:
    """Joint values in degrees as radians."""
    return {joint: np.radians(value).tolist() for joint, value in degrees.items()}


@dataclass(frozen=True)
class Fingers:
    """Adds the fingers of a hand to a figure."""

    builder: Builder
    side: Side
    palm: str = "palm"
    """Name of the body that carries them."""
    prefix: str = ""
    """Beginning of the names of their bodies, joints, sites and couplings."""
    place: Pose = field(default_factory=Pose)
    """The frame of the hand in that of the palm's body."""
    size: float = 1.0
    """Size of the hand, as a multiple of that of the built-in one."""
    density: float | None = None
    """[kg/m³]; None for fingers without mass."""

    def add(self) -> None:
        """Add all fingers."""
        for finger, shape in FINGER_SHAPES.items():
            self._add_finger(finger, shape)
        self._add_thumb()

    def palm_shapes(self) -> list[Shape]:
        """Solids of the palm."""
        slabs = [
            self._bar((finger.x, 0.018, 0), (finger.x, finger.y - 0.004, 0), 0.0115)
            for finger in FINGER_SHAPES.values()
        ]
        size = (0.066 * self.size, 0.075 * self.size, 0.019 * self.size)
        pulse = rod(self._at((0, -0.012, 0)), self._at((0, 0.018, 0)), 0.02 * self.size, SKIN)
        shapes = [*slabs, block(self._at((-0.002, 0.05, 0.0)), size, SKIN), pulse]
        return [replace(shape, pose=self.place @ shape.pose) for shape in shapes]

    def mirrored(self, joint: Joint) -> Joint:
        """A joint of a right hand, or its mirror image."""
        if self.side == "right":
            return joint
        return replace(joint, axes=tuple((x, -y, -z) for x, y, z in joint.axes))

    def _at(self, point: ArrayLike) -> FloatArray:
        """(3,) a point of a right hand, or its mirror image, in the size of the hand."""
        scaled: FloatArray = self.size * np.asarray(point, dtype=np.float64)
        return scaled if self.side == "right" else scaled * (-1.0, 1.0, 1.0)

    def _bar(self, start: ArrayLike, end: ArrayLike, radius: float) -> Shape:
        """A rounded solid between two points."""
        return bar(self._at(start), self._at(end), self.size * radius, SKIN)

    def _bone(self, name: str, parent: str, joint: Joint, at: ArrayLike, shape: Shape) -> str:
        """Add a bone at a point of its parent."""
        first = parent == self.palm
        place = (self.place if first else Pose()) @ Pose(self._at(at))
        return self.builder.body(
            self.prefix + name,
            parent=parent,
            joint=self.mirrored(replace(joint, name=self.prefix + joint.name)),
            at=place.position,
            turned=place.rotation,
            shapes=[shape],
            density=self.density,
        )

    def _add_finger(self, finger: str, shape: Finger) -> None:
        """Add a finger: a universal joint at the knuckle and two coupled hinges."""
        first, second, third = shape.bones
        knuckle = universal(f"{finger}_mcp", "x", "-z", limits=_radians((-30, 90), (-15, 15)))
        solid = self._finger_bone(first, shape.radius)
        bone = self._bone(f"{finger}_proximal", self.palm, knuckle, (shape.x, shape.y, 0.0), solid)
        for part, size, below, limit in (("middle", second, first, 100.0), ("distal", third, second, 80.0)):
            name = f"{finger}_{'pip' if part == 'middle' else 'dip'}"
            hinge = revolute(name, "x", limits=_radians((0.0, limit))[0])
            solid = self._finger_bone(size, (0.93 if part == "middle" else 0.86) * shape.radius)
            bone = self._bone(f"{finger}_{part}", bone, hinge, (0, below, 0), solid)
        name = self.prefix + finger
        self.builder.site(f"{name}_tip", bone, at=self._at((0, third, 0)))
        self.builder.couple(f"{name}_curl", {f"{name}_dip": 1.0, f"{name}_pip": -DIP_PER_PIP})

    def _finger_bone(self, size: float, radius: float) -> Shape:
        """Solid of a finger's bone."""
        return self._bar((0, 0, 0), (0, size - 0.5 * radius, 0), radius)

    def _add_thumb(self) -> None:
        """Add the thumb: a saddle joint that moves it across and in front of the palm, and two hinges."""
        along = np.array(THUMB_AXIS)
        curl = np.cross(along, (0.0, 0.0, 1.0))
        # The axes of the thumb's hinges are turned towards the palm, so that its tip meets the fingers' tips.
        bend = math.cos(math.radians(50.0)) * np.array([0.0, 0.0, 1.0]) + math.sin(math.radians(50.0)) * curl
        saddle = universal("thumb_cmc", curl, "z", limits=_radians((-10, 55), (-25, 35)))
        bone = self._bone("thumb_metacarpal", self.palm, saddle, THUMB_BASE, self._thumb_bone(0, 0.0125))
        hinges = (("proximal", 1, "thumb_mcp", (-5.0, 60.0)), ("distal", 2, "thumb_ip", (-10.0, 80.0)))
        for part, k, name, limits in hinges:
            hinge = revolute(name, bend, limits=_radians(limits)[0])
            solid = self._thumb_bone(k, 0.0115 - 0.001 * k)
            bone = self._bone(f"thumb_{part}", bone, hinge, along * THUMB_BONES[k - 1], solid)
        self.builder.site(f"{self.prefix}thumb_tip", bone, at=self._at(along * THUMB_BONES[2]))

    def _thumb_bone(self, k: int, radius: float) -> Shape:
        """Solid of bone `k` of the thumb."""
        return self._bar((0, 0, 0), np.array(THUMB_AXIS) * (THUMB_BONES[k] - 0.5 * radius), radius)
