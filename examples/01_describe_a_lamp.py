"""Describe a desk lamp, pose it, save it, load it back, and draw it.

Run: python examples/01_describe_a_lamp.py [folder for the pictures]
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import poise
from poise.figure import Builder, Cylinder, Sphere, capsule_between, revolute
from poise.pictures import draw

HALF_TURN = (-math.pi / 2, math.pi / 2)


def lamp() -> poise.Figure:
    """A foot, two arms and a head; each body's frame is at its joint, and the body extends along +y."""
    b = Builder("lamp", description="A desk lamp with four hinges")
    upright = (math.sqrt(0.5), -math.sqrt(0.5), 0.0, 0.0)
    b.body("foot", shapes=[Cylinder(0.09, 0.02, pose=poise.Pose((0, 0.01, 0), upright))], mass=0.8)
    arm = capsule_between((0, 0, 0), (0, 0.25, 0), 0.012)
    b.body("stem", parent="foot", joint=revolute("turn", "y", HALF_TURN), at=(0, 0.02, 0), mass=0.05)
    b.body("lower_arm", parent="stem", joint=revolute("lean", "x", HALF_TURN), shapes=[arm], mass=0.15)
    b.body(
        "upper_arm",
        parent="lower_arm",
        joint=revolute("bend", "x", (0.0, 2.4)),
        at=(0, 0.25, 0),
        shapes=[arm],
        mass=0.1,
    )
    shade = [Cylinder(0.05, 0.08, pose=poise.Pose((0, 0.05, 0), upright)), Sphere(0.03, pose=poise.Pose((0, 0.1, 0)))]
    b.body("head", parent="upper_arm", joint=revolute("nod", "x", HALF_TURN), at=(0, 0.25, 0), shapes=shade, mass=0.2)
    b.site("bulb", "head", at=(0, 0.12, 0))
    b.posture("reading", {"turn": 0.4, "lean": -0.5, "bend": 1.6, "nod": 0.9})
    b.posture("tall", {"lean": -0.1, "bend": 0.2})
    return b.build()


def main(folder: Path) -> None:
    """Build, check, save, draw."""
    figure = lamp()
    print(figure.describe())

    reading = figure.posture("reading")
    bulb = figure.pose_of("bulb", reading)
    balance = figure.center_of_mass(reading)
    print(f"The bulb is at {bulb.position.round(3)} m, the centre of mass at {balance.round(3)} m.")
    print(f"The hinges hold {figure.gravity_torques(reading).round(3)} N m.")

    folder.mkdir(parents=True, exist_ok=True)
    figure.save(folder / "lamp.figure.toml")
    assert poise.load(folder / "lamp.figure.toml") == figure
    assert figure.violations(reading) == []
    assert abs(balance[0]) < 0.09, "a lamp that falls over reads badly"

    draw(figure, reading, size=(600, 600)).save(folder / "lamp.png")
    print(f"See {folder / 'lamp.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
