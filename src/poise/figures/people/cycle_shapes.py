"""Dimensions and solids of the cyclist and the bicycle."""

from __future__ import annotations

import math

import numpy as np

from poise.figure.model.pose import turn
from poise.figure.model.shapes import Color, Shape
from poise.figures.parts import (
    DARK_GREY,
    RED,
    SHIRT,
    SKIN,
    STEEL,
    TROUSERS,
    WHITE,
    bar,
    block,
    egg,
    knob,
    rod,
    shifted,
)

BRACKET, CRANK_LENGTH, PEDAL_X = (0.0, 0.28, 0.0), 0.17, 0.10
SADDLE = (0.0, 0.93, -0.20)
GRIPS = (0.21, 0.98, 0.47)
WHEELS, WHEEL_RADIUS = {"rear": -0.43, "front": 0.63}, 0.34
RIDER_THIGH, RIDER_SHANK, RIDER_UPPER_ARM, RIDER_FOREARM, RIDER_SHOULDER_X = 0.43, 0.43, 0.30, 0.31, 0.19
"""Positions and lengths [m]."""
JERSEY, SHORTS = RED, TROUSERS
"""Colours of the rider's clothes."""
GAZE = turn("x", 90.0)
"""Rotation whose +Y is forward."""
SPOKES = 14
"""Spokes per wheel."""


def frame() -> list[Shape]:
    """Diamond frame, fork, saddle and handlebar."""
    low, seat, head = np.array(BRACKET), np.array([0.0, 0.80, -0.165]), np.array([0.0, 0.86, 0.43])
    neck = np.array([0.0, 0.72, 0.47])
    rear, front = (np.array([0.0, WHEEL_RADIUS, z]) for z in WHEELS.values())
    tubes = [
        bar(low, seat, 0.018, SHIRT),
        bar(low, neck, 0.022, SHIRT),
        bar(seat, head, 0.018, SHIRT),
        bar(neck, head, 0.021, SHIRT),
    ]
    for x in (-0.035, 0.035):
        aside = np.array([x, 0.0, 0.0])
        tubes += [bar(low + aside, rear + aside, 0.010, SHIRT), bar(seat + 0.3 * aside, rear + aside, 0.008, SHIRT)]
        tubes.append(bar(neck + aside, front + aside, 0.011, STEEL))
    bars = np.array([0.0, GRIPS[1], GRIPS[2]])
    held = [bar(shifted(bars, x=-0.02 * s), shifted(bars, x=s * (GRIPS[0] + 0.05)), 0.013, DARK_GREY) for s in (-1, 1)]
    post = bar(seat, shifted(SADDLE, y=-0.03), 0.014, STEEL)
    saddle = egg(shifted(SADDLE, y=-0.02), (0.075, 0.025, 0.13), DARK_GREY)
    return [*tubes, *held, post, saddle, bar(head, bars, 0.013, STEEL)]


def wheel() -> list[Shape]:
    """A rim of short bars, spokes and a hub."""
    corners = [
        WHEEL_RADIUS * np.array([0.0, math.cos(a), math.sin(a)])
        for a in np.linspace(0.0, 2.0 * math.pi, 2 * SPOKES, endpoint=False)
    ]
    rim = [bar(0.96 * a, 0.96 * b, 0.014, DARK_GREY) for a, b in zip(corners, corners[1:] + corners[:1], strict=True)]
    spokes = [rod((0, 0, 0), 0.94 * corner, 0.0025, STEEL) for corner in corners[::2]]
    return [*rim, *spokes, rod((-0.04, 0, 0), (0.04, 0, 0), 0.02, STEEL)]


def crank() -> list[Shape]:
    """Chain ring and two arms; at rest the left arm points forward."""
    ring = rod((-0.045, 0, 0), (-0.035, 0, 0), 0.09, STEEL)
    arms = [bar((s * 0.055, 0, 0), (s * 0.055, 0, s * CRANK_LENGTH), 0.011, DARK_GREY) for s in (1, -1)]
    return [ring, *arms, rod((-0.06, 0, 0), (0.06, 0, 0), 0.016, DARK_GREY)]


def pedal() -> list[Shape]:
    """A flat block under its axle."""
    return [block((0, -0.012, 0), (0.09, 0.02, 0.07), DARK_GREY)]


def pelvis() -> list[Shape]:
    """Hips on the saddle."""
    return [egg((0, 0.02, 0), (0.15, 0.10, 0.11), SHORTS)]


def trunk(length: float) -> list[Shape]:
    """Belly, ribs and shoulders."""
    belly = egg((0, 0.25 * length, 0), (0.135, 0.45 * length, 0.095), JERSEY)
    ribs = egg((0, 0.66 * length, 0), (0.155, 0.40 * length, 0.11), JERSEY)
    yoke = bar((-RIDER_SHOULDER_X + 0.03, length - 0.01, 0), (RIDER_SHOULDER_X - 0.03, length - 0.01, 0), 0.055, JERSEY)
    return [belly, ribs, yoke]


def head() -> list[Shape]:
    """Neck, face and helmet."""
    skull = egg((0, 0.13, 0.02), (0.075, 0.105, 0.09), SKIN)
    helmet = egg((0, 0.175, 0.005), (0.085, 0.075, 0.11), WHITE)
    eyes = [knob((x, 0.125, 0.10), 0.010, DARK_GREY) for x in (-0.03, 0.03)]
    return [bar((0, -0.04, 0), (0, 0.06, 0.01), 0.048, SKIN), skull, helmet, *eyes]


def limb(length: float, radius: float, color: Color = SKIN) -> list[Shape]:
    """A limb below its joint."""
    return [bar((0, 0, 0), (0, -length, 0), radius, color)]


def forearm() -> list[Shape]:
    """Forearm and closed hand."""
    return [
        bar((0, 0, 0), (0, -RIDER_FOREARM + 0.04, 0), 0.035, SKIN),
        egg((0, -RIDER_FOREARM, 0), (0.035, 0.05, 0.045), SKIN),
    ]


def shoe() -> list[Shape]:
    """A shoe from heel to toe, with the ball of the foot on the pedal."""
    sole = block((0, -0.065, 0.07), (0.085, 0.02, 0.27), DARK_GREY)
    return [sole, bar((0, -0.03, -0.02), (0, -0.045, 0.15), 0.035, WHITE)]
