"""Small figures with known answers."""

import math

from poise.figure.model.builder import (
    Builder,
    ball,
    cartesian,
    cylindrical,
    elbow,
    free,
    planar,
    prismatic,
    revolute,
    universal,
)
from poise.figure.model.figure import Figure
from poise.figure.model.limits import BallLimits, Ellipse, Polygon, Twist
from poise.figure.model.shapes import Box, Sphere

SQUARE = Polygon(((0.5, -0.5, 1.0), (0.5, 0.5, 1.0), (-0.5, 0.5, 1.0), (-0.5, -0.5, 1.0)))


def two_links() -> Figure:
    """Two links of one metre in the x-y plane, a kilogram at the end of each."""
    b = Builder("two_links")
    b.body("base")
    b.body("upper", parent="base", joint=revolute("shoulder", "z", limits=(-2.0, 2.0)))
    b.body("lower", parent="upper", joint=revolute("elbow", "z", limits=(0.0, 2.5)), at=(1.0, 0.0, 0.0))
    b.body("fist", parent="lower", at=(1.0, 0.0, 0.0), mass=1.0)
    b.body("bob", parent="upper", at=(1.0, 0.0, 0.0), mass=1.0)
    b.site("tip", "lower", at=(1.0, 0.0, 0.0))
    b.posture("bent", {"shoulder": 0.5, "elbow": 1.0})
    return b.build()


def every_kind() -> Figure:
    """A chain with a joint of every kind, on a floating base."""
    b = Builder("every_kind")
    below = b.body("trunk", joint=free("base"), shapes=[Box((0.1, 0.2, 0.3))], mass=2.0)
    swing = BallLimits(Ellipse(0.5, 1.0), Twist.between([-0.5, 0.1], 0.6))
    joints = (
        revolute("hinge", (1.0, 2.0, 3.0), limits=(-1.0, 1.0)),
        prismatic("slide", "y", limits=(-0.2, 0.3)),
        universal("cross", "x", "z"),
        elbow("bend", "x", "y"),
        cylindrical("screw", "z"),
        planar("plane", "z"),
        cartesian("crane"),
        ball("socket", swing),
        ball("cup", BallLimits(SQUARE)),
        ball("loose"),
    )
    for joint in joints:
        shapes = [Sphere(0.05)]
        below = b.body(
            f"on_{joint.name}", parent=below, joint=joint, at=(0.1, 0.2, 0.05), turned=(1.0, 0.1, 0.2, 0.3),
            shapes=shapes, mass=1.0,
        )  # fmt: skip
    b.site("tip", below, at=(0.0, 0.1, 0.0), turned=(1.0, 0.0, 1.0, 0.0))
    return b.build()


def leg() -> Figure:
    """A ball hip and a knee coupled as in the thesis, and a toe that follows the knee."""
    b = Builder("leg")
    b.body("pelvis", mass=10.0)
    down = (math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0)
    hip = BallLimits(Ellipse(2.0, 0.7), Twist.between(-0.7, 0.7), cone=down, limb=down)
    b.body("thigh", parent="pelvis", joint=ball("hip", hip), mass=7.0)
    b.body("shank", parent="thigh", joint=revolute("knee", "x", limits=(0.0, 2.4)), at=(0.0, -0.4, 0.0), mass=3.0)
    b.body("foot", parent="shank", joint=revolute("toe", "x", limits=(-1.0, 1.0)), at=(0.0, -0.4, 0.0), mass=1.0)
    b.bound("hamstring", {"hip.swing_x": 1.0, "knee": 1.0}, lower=math.radians(-70.0))
    b.couple("follow", {"toe": 1.0, "knee": -0.25})
    return b.build()
