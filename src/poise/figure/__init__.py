"""Articulated figures: bodies, joints, limits, masses, shapes, postures, and `Builder`, which assembles them."""

from poise.figure.model.body import Body, Site
from poise.figure.model.builder import (
    Builder,
    ball,
    cartesian,
    cylindrical,
    elbow,
    fixed,
    free,
    planar,
    prismatic,
    revolute,
    universal,
)
from poise.figure.model.curves import Curve
from poise.figure.model.figure import Figure
from poise.figure.model.joints import Coupling, Joint, Term
from poise.figure.model.limits import BallLimits, Ellipse, Polygon, Region, Twist, TwistTable
from poise.figure.model.mass import Mass
from poise.figure.model.pose import Pose, from_to, turn
from poise.figure.model.posture import Posture, Violation
from poise.figure.model.shapes import Box, Capsule, Cylinder, Ellipsoid, Mesh, Shape, Sphere, capsule_between

__all__ = [
    "BallLimits",
    "Body",
    "Box",
    "Builder",
    "Capsule",
    "Coupling",
    "Curve",
    "Cylinder",
    "Ellipse",
    "Ellipsoid",
    "Figure",
    "Joint",
    "Mass",
    "Mesh",
    "Polygon",
    "Pose",
    "Posture",
    "Region",
    "Shape",
    "Site",
    "Sphere",
    "Term",
    "Twist",
    "TwistTable",
    "Violation",
    "ball",
    "capsule_between",
    "cartesian",
    "cylindrical",
    "elbow",
    "fixed",
    "free",
    "from_to",
    "planar",
    "prismatic",
    "revolute",
    "turn",
    "universal",
]
