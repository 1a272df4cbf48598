"""A planar four-bar linkage with one motor, in the xy plane [Schumacher et al. 2021, fig. 2].

Its coupler is the shortest bar, so the motor cannot make a full turn [Schumacher et al. 2021, fig. 5].
"""

from __future__ import annotations

import math

from poise.figure.model.builder import revolute
from poise.figure.model.figure import Figure
from poise.figures.mechanisms.mechanism import Mechanism
from poise.figures.parts import BLUE, DARK_GREY, GOLD, GREEN, RED, bar, rod

A, B, C, D = (0.0, 0.1, 0.0), (0.0, 0.5, 0.0), (0.3, 0.6, 0.0), (0.5, 0.1, 0.0)
"""The four pivots, from the motor on [m]."""
FRAME_PIVOT_LIMITS = (math.radians(-100.0), math.radians(100.0))
"""Limits of the two pivots on the frame [rad]."""
CRANK_PIN_LIMITS = (math.radians(-170.0), math.radians(170.0))
"""Limits of the hinge between crank and coupler [rad]."""


def build(name: str) -> Figure:
    """The linkage."""
    sentence = "A four-bar linkage with one motor that cannot turn all the way round."
    m = Mechanism(name, sentence, "frame", [bar(A, D, 0.018, DARK_GREY)])
    m.link("crank", [bar(A, B, 0.014, RED), rod((0, 0.1, -0.03), (0, 0.1, 0.03), 0.03, GOLD)], mass=0.4)
    m.link("coupler", [bar(B, C, 0.014, GREEN)], mass=0.3)
    m.link("rocker", [bar(D, C, 0.014, BLUE)], mass=0.5)
    m.motor(revolute("drive", "z", limits=FRAME_PIVOT_LIMITS, speed=4.4, strength=3.4), "frame", "crank", at=A)
    m.hinge(revolute("rocker_pivot", "z", limits=FRAME_PIVOT_LIMITS), "frame", "rocker", at=D)
    # Coupler and rocker are collinear at -93° and at 87°, where the motor loses control of them.
    m.hinge(revolute("rocker_pin", "z", limits=(math.radians(-88), math.radians(82))), "coupler", "rocker", at=C)
    m.hinge(revolute("crank_pin", "z", limits=CRANK_PIN_LIMITS), "crank", "coupler", at=B)
    m.site("tip", "coupler", (0.15, 0.55, 0.0))
    return m.build()
