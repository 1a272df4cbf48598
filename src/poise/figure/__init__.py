"""The articulated body: bodies, joints, limits, masses, shapes, postures."""

from poise.figure.body import Body, Site
from poise.figure.couplings import Coupling, Term
from poise.figure.figure import Figure, Violation
from poise.figure.joints import Joint
from poise.figure.limits import BallLimits, Ellipse, Polygon, Twist
from poise.figure.mass import Mass
from poise.figure.pose import Pose
from poise.figure.posture import Posture

__all__ = [
    "BallLimits",
    "Body",
    "Coupling",
    "Ellipse",
    "Figure",
    "Joint",
    "Mass",
    "Polygon",
    "Pose",
    "Posture",
    "Site",
    "Term",
    "Twist",
    "Violation",
]
