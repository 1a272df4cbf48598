"""A serial robot of six hinges and six slides in alternation [Schumacher et al. 2021, fig. 6b].

Each arm segment is a telescope on a hinge. With twelve degrees of freedom for one end effector it is redundant.
"""

from __future__ import annotations

import math

from poise.figure.model.builder import Builder, prismatic, revolute
from poise.figure.model.figure import Figure
from poise.figure.model.shapes import Shape
from poise.figures.parts import BLUE, DARK_GREY, GOLD, GREEN, RED, STEEL, block, knob, rod

TELESCOPE_AXES = "yxzxzy"
"""Axes of the hinges, from the base up."""
TELESCOPE_LENGTH = 0.16
"""Length of a telescope at rest [m]."""
TELESCOPE_STROKE = 0.04
"""Largest change of a telescope's length [m]."""
AXIS_COLORS = {"x": RED, "y": GREEN, "z": BLUE}


def build(name: str) -> Figure:
    """The robot, vertical at rest."""
    robot = Builder(name, description="A serial robot of six hinges and six slides in turn.")
    upper = robot.body("base", shapes=[rod((0, 0, 0), (0, 0.05, 0), 0.10, DARK_GREY)], mass=5.0)
    at = 0.05
    for k, axis in enumerate(TELESCOPE_AXES, start=1):
        turn = math.radians(170.0 if axis == "y" else 100.0)
        hinge = revolute(f"turn_{k}", axis, limits=(-turn, turn), speed=4.4, strength=40.0)
        sleeve = [
            knob((0, 0, 0), 0.034, AXIS_COLORS[axis]),
            rod((0, 0.02, 0), (0, 0.6 * TELESCOPE_LENGTH, 0), 0.024, DARK_GREY),
        ]
        robot.body(f"sleeve_{k}", parent=upper, joint=hinge, at=(0, at, 0), shapes=sleeve, mass=0.5)
        slide = prismatic(f"slide_{k}", "y", limits=(-TELESCOPE_STROKE, TELESCOPE_STROKE), speed=0.2, strength=400.0)
        stem: list[Shape] = [rod((0, -0.25 * TELESCOPE_LENGTH, 0), (0, 0.5 * TELESCOPE_LENGTH, 0), 0.015, STEEL)]
        if k == len(TELESCOPE_AXES):
            stem.append(block((0, 0.5 * TELESCOPE_LENGTH - 0.008, 0), (0.07, 0.016, 0.04), GOLD))
        upper = robot.body(
            f"stem_{k}", parent=f"sleeve_{k}", joint=slide, at=(0, 0.5 * TELESCOPE_LENGTH, 0), shapes=stem, mass=0.3
        )
        at = 0.5 * TELESCOPE_LENGTH
    robot.site("tip", upper, at=(0, at, 0))
    bent = {f"turn_{k}": math.radians(angle) for k, angle in enumerate((20, 40, 25, 55, -30, 0), start=1)}
    robot.posture("bent", bent)
    return robot.build()
