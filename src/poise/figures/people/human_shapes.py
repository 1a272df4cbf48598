"""Solids of the human's bodies; lengths scale with stature, widths with stature and mass."""

from __future__ import annotations

import math
from dataclasses import replace

from poise.figure.model.shapes import Role, Shape
from poise.figures.parts import DARK_GREY, SHIRT, SKIN, TROUSERS, WHITE, bar, block, egg, knob
from poise.figures.people import anthropometry as body

Point = tuple[float, float, float]


class Looks:
    """Solids that each body of the human is drawn with and collides with, in the body's frame [m].

    The numbers in the code are fractions of stature; most of those across the body also grow with the mass.
    """

    def __init__(self, stature: float, mass: float) -> None:
        """Set the scales for a person's stature [m] and mass [kg]."""
        self.h = stature
        self.wide = stature * math.sqrt((mass / 70.0) / (stature / 1.75) ** 3)

    def pelvis(self) -> list[Shape]:
        """Hips and lower belly."""
        h, w = self.h, self.wide
        top = (body.NAVEL_LEVEL - body.HIP_LEVEL) * h
        hips = bar((-0.042 * w, 0.012 * h, 0), (0.042 * w, 0.012 * h, 0), 0.055 * w, TROUSERS)
        return [hips, egg((0, 0.55 * top, 0), (0.088 * w, 0.068 * h, 0.062 * w), TROUSERS)]

    def abdomen(self) -> list[Shape]:
        """The middle of the trunk; its ends, which give way where thighs and ribs press on them, do not collide."""
        h, w = self.h, self.wide
        middle = 0.5 * (body.XIPHION_LEVEL - body.NAVEL_LEVEL) * h
        high: dict[Role, float] = {"visual": 1.8, "collision": 1.2}
        return [
            replace(egg((0, middle, 0), (0.084 * w, share * middle, 0.06 * w), SHIRT), role=role)
            for role, share in high.items()
        ]

    def thorax(self) -> list[Shape]:
        """Ribs and shoulders, up to the neck."""
        h, w = self.h, self.wide
        top = (body.SHOULDER_LEVEL - body.XIPHION_LEVEL) * h
        ribs = egg((0, 0.42 * top, 0), (0.097 * w, 0.095 * h, 0.068 * w), SHIRT)
        yoke = bar(
            (-0.055 * w, top - 0.012 * h, -0.004 * h), (0.055 * w, top - 0.012 * h, -0.004 * h), 0.042 * w, SHIRT
        )
        slopes = [
            bar((0, top + 0.03 * h, -0.006 * h), (x, top, -0.006 * h), 0.026 * w, SHIRT)
            for x in (-0.065 * w, 0.065 * w)
        ]
        return [ribs, yoke, *slopes]

    def neck(self) -> list[Shape]:
        """From the shoulders into the head."""
        return [
            bar(
                (0, -0.02 * self.h, 0),
                (0, (body.JAW_LEVEL - body.NECK_LEVEL + 0.02) * self.h, 0.004 * self.h),
                0.031 * self.h,
                SKIN,
            )
        ]

    @property
    def eye_at(self) -> Point:
        """Middle of the left eyeball on the head [m]."""
        return 0.018 * self.h, 0.47 * (1.0 - body.JAW_LEVEL) * self.h, 0.0525 * self.h

    def eyeball(self) -> list[Shape]:
        """An eyeball with its pupil."""
        radius = 0.0085 * self.h
        return [knob((0, 0, 0), radius, WHITE), knob((0, 0, 0.62 * radius), 0.52 * radius, DARK_GREY)]

    def between_eyes(self) -> list[Shape]:
        """A solid too deep in the skull to be seen, for a body that would be drawn as a bone without one."""
        return [knob((0, 0, -0.03 * self.h), 0.002 * self.h, SKIN)]

    def head(self, eyes_turn: bool) -> list[Shape]:
        """Skull, nose, and eyes unless they turn."""
        h, tall = self.h, (1.0 - body.JAW_LEVEL) * self.h
        skull = egg((0, 0.5 * tall, 0.010 * h), (0.043 * h, 0.5 * tall, 0.053 * h), SKIN)
        eyes = [knob((x, 0.47 * tall, 0.058 * h), 0.0055 * h, DARK_GREY) for x in (-0.018 * h, 0.018 * h)]
        return [
            skull,
            *(() if eyes_turn else eyes),
            egg((0, 0.36 * tall, 0.063 * h), (0.006 * h, 0.012 * h, 0.008 * h), SKIN),
        ]

    def clavicle(self, reach: Point) -> list[Shape]:
        """From the breastbone out to the shoulder."""
        return [bar((0, -0.008 * self.h, -0.008 * self.h), reach, 0.028 * self.wide, SHIRT)]

    def upper_arm(self) -> list[Shape]:
        """A sleeve."""
        return [bar((0, 0, 0), (0, -body.UPPER_ARM_FRACTION * self.h, 0), 0.0255 * self.wide, SHIRT)]

    def ulna(self) -> list[Shape]:
        """The half of the forearm at the elbow."""
        return [bar((0, 0, 0), (0, -0.5 * body.FOREARM_FRACTION * self.h, 0), 0.0215 * self.wide, SKIN)]

    def radius(self) -> list[Shape]:
        """The half of the forearm at the wrist; the part of it that bends against the upper arm does not collide."""
        long = body.FOREARM_FRACTION * self.h
        ends: dict[Role, float] = {"visual": 0.4, "collision": 0.6}
        return [
            replace(bar((0, -start * long, 0), (0, -long, 0), 0.018 * self.wide, SKIN), role=role)
            for role, start in ends.items()
        ]

    def hand(self, side: float) -> list[Shape]:
        """Palm, fingers and thumb; the palm faces the thigh and the thumb is in front."""
        h = self.h
        palm = block((0, -0.028 * h, 0), (0.016 * h, 0.05 * h, 0.044 * h), SKIN)
        lengths = (0.098, 0.108, 0.103, 0.09)
        places = [0.0165 * h, 0.0055 * h, -0.0055 * h, -0.0165 * h]
        fingers = [
            bar((0, -0.045 * h, z), (0, -(long - 0.005) * h, z), 0.005 * h, SKIN)
            for z, long in zip(places, lengths, strict=True)
        ]
        thumb = bar((0, -0.02 * h, 0.02 * h), (-side * 0.008 * h, -0.055 * h, 0.034 * h), 0.0062 * h, SKIN)
        return [palm, *fingers, thumb]

    def thigh(self) -> list[Shape]:
        """From hip to knee."""
        return [bar((0, 0, 0), (0, -body.THIGH_FRACTION * self.h, 0), 0.043 * self.wide, TROUSERS)]

    def shank(self) -> list[Shape]:
        """Shin and calf."""
        long = body.SHANK_FRACTION * self.h
        calf = egg((0, -0.3 * long, -0.01 * self.h), (0.031 * self.wide, 0.33 * long, 0.034 * self.wide), TROUSERS)
        return [bar((0, 0, 0), (0, -long, 0), 0.026 * self.wide, TROUSERS), calf]

    def foot(self) -> list[Shape]:
        """Heel and instep on a sole that ends at the toes' joint."""
        h = self.h
        back, front = -body.HEEL_TO_ANKLE, body.HEEL_TO_TOES - body.HEEL_TO_ANKLE
        thick = 0.35 * body.ANKLE_LEVEL * h
        sole = block(
            (0, -body.ANKLE_LEVEL * h + 0.5 * thick, 0.5 * (back + front) * h),
            (0.9 * body.FOOT_BREADTH * h, thick, (front - back) * h),
            DARK_GREY,
        )
        instep = bar(
            (0, -0.35 * body.ANKLE_LEVEL * h, -0.01 * h),
            (0, -0.62 * body.ANKLE_LEVEL * h, 0.05 * h),
            0.014 * h,
            DARK_GREY,
        )
        return [sole, instep]

    def toes(self) -> list[Shape]:
        """The front of the sole."""
        h = self.h
        long = (body.FOOT_LENGTH - body.HEEL_TO_TOES) * h
        thick = 0.3 * body.ANKLE_LEVEL * h
        low = -0.2 * body.ANKLE_LEVEL * h
        return [block((0, low + 0.5 * thick, 0.5 * long), (0.9 * body.FOOT_BREADTH * h, thick, long), DARK_GREY)]
