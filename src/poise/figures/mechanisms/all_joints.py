"""A mechanism with one degree of freedom that contains every kind of joint [Schumacher et al. 2021, fig. 6a].

The joints have 19 degrees of freedom and each of the three loops removes six: 19 - 3 × 6 = 1. The first loop is a
spatial slider-crank: motor, ball, universal joint and slide. Two chains with six degrees of freedom each lead from its
connecting rod back to the ground, so they add loops without removing a degree of freedom: hinge, elbow and Cartesian
carriage overhead; hinge, cylinder and planar puck on the table. A plate is bolted to the slide. The six freedoms of
each chain are independent, so every joint moves.
"""

from __future__ import annotations

import math

import numpy as np

from poise.figure.model.builder import (
    ball,
    cartesian,
    cylindrical,
    elbow,
    fixed,
    planar,
    prismatic,
    revolute,
    universal,
)
from poise.figure.model.figure import Figure
from poise.figures.mechanisms.mechanism import Mechanism
from poise.figures.parts import BLUE, DARK_GREY, GOLD, GREEN, RED, STEEL, WHITE, bar, block, knob, rod, shifted

PIVOT, PIN, SLIDER_POINT = np.array([0.0, 0.35, 0.0]), np.array([0.0, 0.47, 0.0]), np.array([0.7, 0.35, 0.15])
"""Positions of the motor, of the ball on the crank, and of the universal joint on the slide [m]."""
UPPER, LOWER = PIN + 0.35 * (SLIDER_POINT - PIN), PIN + 0.70 * (SLIDER_POINT - PIN)
"""Points at which the two chains are joined to the connecting rod [m]."""
CARRIAGE = shifted(UPPER, y=0.22)
"""Position of the overhead carriage [m]."""
PUCK = np.array([LOWER[0] - 0.15, 0.03, LOWER[2]])
"""Position of the puck on the table [m]."""
HINGE_LIMIT = math.radians(85.0)
HINGE_LIMITS = (-HINGE_LIMIT, HINGE_LIMIT)
"""Limits of most passive hinges [rad]."""


def build(name: str) -> Figure:
    """The mechanism in its rest posture."""
    table = [
        block((0.35, -0.015, 0.05), (1.3, 0.03, 0.6), DARK_GREY),
        bar((0, 0, -0.06), shifted(PIVOT, z=-0.06), 0.02, DARK_GREY),
    ]
    rail = rod(shifted(SLIDER_POINT, x=-0.25, y=-0.06), shifted(SLIDER_POINT, x=0.3, y=-0.06), 0.012, STEEL)
    posts = [bar((x, 0, 0.15), (x, SLIDER_POINT[1] - 0.06, 0.15), 0.014, DARK_GREY) for x in (0.5, 0.95)]
    beam = CARRIAGE[1] + 0.04
    portal = [bar((x, 0, -0.2), (x, beam, -0.2), 0.014, DARK_GREY) for x in (0.05, 0.45)]
    portal += [
        bar((0.05, beam, -0.2), (0.45, beam, -0.2), 0.014, DARK_GREY),
        bar((0.25, beam, -0.2), (0.25, beam, 0.2), 0.010, STEEL),
    ]
    sentence = "One motor moves all: every kind of joint in three loops, with one degree of freedom."
    m = Mechanism(name, sentence, "table", [*table, rail, *posts, *portal], mass=20.0)
    _add_slider_crank(m)
    _add_overhead_chain(m)
    _add_table_chain(m)
    m.site("tip", "plate", shifted(SLIDER_POINT, y=0.12))
    return m.build()


def _add_slider_crank(m: Mechanism) -> None:
    """Add the motor, ball, universal joint, slide, and the bolted plate."""
    hub = rod(shifted(PIVOT, z=-0.05), shifted(PIVOT, z=0.02), 0.035, GOLD)
    m.link("crank", [bar(PIVOT, PIN, 0.015, RED), hub], mass=0.3)
    m.link(
        "rod", [bar(PIN, SLIDER_POINT, 0.012, STEEL), knob(PIN, 0.022, RED), knob(SLIDER_POINT, 0.022, BLUE)], mass=0.5
    )
    m.link(
        "slider",
        [
            block(shifted(SLIDER_POINT, y=-0.06), (0.10, 0.05, 0.06), BLUE),
            bar(shifted(SLIDER_POINT, y=-0.06), SLIDER_POINT, 0.012, BLUE),
        ],
        mass=0.6,
    )
    m.link("plate", [block(shifted(SLIDER_POINT, y=0.08), (0.10, 0.08, 0.012), GOLD)], mass=0.2)
    along = (SLIDER_POINT - PIN) / np.linalg.norm(SLIDER_POINT - PIN)
    second = np.cross(along, (0.0, 1.0, 0.0))
    m.motor(revolute("drive", "z", limits=(-math.pi, math.pi), speed=4.4, strength=3.4), "table", "crank", at=PIVOT)
    m.hinge(prismatic("slide", "x", limits=(-0.3, 0.3)), "table", "slider", at=SLIDER_POINT)
    m.hinge(universal("cardan", "y", second, limits=[HINGE_LIMITS, HINGE_LIMITS]), "slider", "rod", at=SLIDER_POINT)
    m.hinge(ball("ball"), "crank", "rod", at=PIN)
    m.hinge(fixed("bolt"), "slider", "plate", at=shifted(SLIDER_POINT, y=0.03))


def _add_overhead_chain(m: Mechanism) -> None:
    """Add the chain from the rod: hinge, knuckle, elbow, carriage, Cartesian guide."""
    corner = shifted(UPPER, y=0.1)
    m.link(
        "knuckle",
        [bar(UPPER, corner, 0.010, GREEN), rod(shifted(UPPER, z=-0.03), shifted(UPPER, z=0.03), 0.018, GREEN)],
        mass=0.15,
    )
    m.link("carriage", [bar(corner, CARRIAGE, 0.010, WHITE), block(CARRIAGE, (0.08, 0.04, 0.08), WHITE)], mass=0.4)
    m.hinge(revolute("shackle", "z", limits=HINGE_LIMITS), "rod", "knuckle", at=UPPER)
    m.hinge(elbow("elbow", "x", "y", limits=[HINGE_LIMITS, HINGE_LIMITS]), "knuckle", "carriage", at=corner)
    m.hinge(cartesian("gantry", limits=[(-0.4, 0.4)] * 3), "table", "carriage", at=CARRIAGE)


def _add_table_chain(m: Mechanism) -> None:
    """Add the chain from the rod: hinge, lever, cylinder, puck, plane."""
    along = LOWER - PUCK
    along /= np.linalg.norm(along)
    sleeve = PUCK + 0.12 * along
    m.link(
        "lever",
        [rod(sleeve, LOWER, 0.009, STEEL), rod(shifted(LOWER, z=-0.03), shifted(LOWER, z=0.03), 0.018, GREEN)],
        mass=0.15,
    )
    foot = rod(shifted(PUCK, y=-0.03), PUCK, 0.06, RED)
    m.link("puck", [foot, rod(PUCK, PUCK + 0.2 * along, 0.016, RED)], mass=0.5)
    m.hinge(revolute("clevis", "z", limits=HINGE_LIMITS), "rod", "lever", at=LOWER)
    m.hinge(cylindrical("sleeve", along, limits=[(-math.pi, math.pi), (-0.15, 0.15)]), "lever", "puck", at=sleeve)
    m.hinge(planar("table_top", "y", limits=[(-0.5, 0.5), (-0.5, 0.5), (-math.pi, math.pi)]), "table", "puck", at=PUCK)
