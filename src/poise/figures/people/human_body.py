"""A human of 50 degrees of freedom that scales with stature and mass.

Up is y, the figure faces +z, and +x is its left, as in motion-capture files. At rest it stands with its arms down and
its palms towards its thighs; every body's axes are then the world's. All joints of its right side mirror those of its
left, so that equal values of hinges are mirrored postures. The base holds the position and orientation of the pelvis.

*Hip and knee.* The thesis bounds θ_hip + θ_knee ≥ -70° [Baerlocher 2001, eq. 3.2], where θ_knee ≥ 0 is flexion and
θ_hip is the swing that moves the leg in the sagittal plane. Only the *lower* limits are coupled there, and its fig. 7.4
shows a figure that bends down to reach: with the coupling, its knees flex. So θ_hip is negative in flexion, and what is
forbidden is the raised leg with a straight knee, which the hamstrings stop at 70°; each degree of knee flexion gives
one more of hip flexion. That is the sign of the hip's `swing_x` here, up to the angle at which its region is centred.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from poise.errors import FigureError
from poise.figure.model.builder import Builder, ball, free, revolute, universal
from poise.figure.model.figure import Figure
from poise.figure.model.pose import Pose
from poise.figures.parts import shifted
from poise.figures.people import anthropometry as body
from poise.figures.people import human_ranges as ranges
from poise.figures.people.anthropometry import carved, divided, segment_mass
from poise.figures.people.ball_region import DOWN, UP, limits_of, region_through, seen_from
from poise.figures.people.human_postures import grounded_postures
from poise.figures.people.human_shapes import Looks
from poise.figures.people.human_sites import add_sites

SIDES = {"left": 1.0, "right": -1.0}
TOES_SHARE = 0.12
"""Of the foot's mass."""
Point = tuple[float, float, float]


def human(stature: float = 1.75, mass: float = 70.0, *, name: str = "human") -> Figure:
    """An average human.

    Args:
        stature: Standing height [m].
        mass: Body mass [kg].
        name: What people call the figure.
    """
    for what, value in (("stature", stature), ("mass", mass)):
        if not math.isfinite(value) or value <= 0.0:
            raise FigureError(f"a human needs a positive {what}, not {value}.")
    sentence = f"A human of {stature:.2f} m and {mass:.4g} kg with 50 degrees of freedom; faces +z, its left is +x."
    builder = Builder(name, description=sentence)
    _add_trunk(builder, stature, mass)
    for side in SIDES:
        _add_arm(builder, stature, mass, side)
        _add_leg(builder, stature, mass, side)
    add_sites(builder, stature)
    builder.posture("neutral", {"base": (0.0, body.HIP * stature, 0.0, 1.0, 0.0, 0.0, 0.0)})
    figure = builder.build()
    return figure.replaced(postures=grounded_postures(figure))


def build(name: str) -> Figure:
    """The average human."""
    return human(name=name)


def _add_trunk(builder: Builder, h: float, m: float) -> None:
    """Pelvis, abdomen, thorax, neck and head."""
    looks = Looks(h, m)
    heights = [height * h for height in (body.HIP, body.NAVEL, body.XIPHION, body.NECK, body.JAW, 1.0)]
    hip, navel, xiphion, neck, jaw, crown = heights
    whole = partial(segment_mass, body_mass=m)
    builder.body(
        "pelvis",
        joint=free("base"),
        shapes=looks.pelvis(),
        mass=whole("pelvis", top=(0, navel - hip, 0), bottom=(0, 0, 0)),
    )
    spine = ball("spine", limits_of(ranges.SPINE, UP))
    abdomen = whole("abdomen", top=(0, xiphion - navel, 0), bottom=(0, 0, 0))
    builder.body("abdomen", parent="pelvis", joint=spine, at=(0, navel - hip, 0), shapes=looks.abdomen(), mass=abdomen)
    chest = ball("chest", limits_of(ranges.CHEST, UP))
    thorax = whole("thorax", top=(0, neck - xiphion, 0), bottom=(0, 0, 0))
    builder.body(
        "thorax", parent="abdomen", joint=chest, at=(0, xiphion - navel, 0), shapes=looks.thorax(), mass=thorax
    )
    lower = ball("neck", limits_of(ranges.NECK, UP))
    builder.body("neck", parent="thorax", joint=lower, at=(0, neck - xiphion, 0), shapes=looks.neck())
    upper = ball("head", limits_of(ranges.HEAD, UP))
    # De Leva's head segment reaches down to the seventh neck vertebra; all of it rides on the head.
    head = whole("head", top=(0, crown - jaw, 0), bottom=(0, neck - jaw, 0))
    builder.body("head", parent="neck", joint=upper, at=(0, jaw - neck, 0), shapes=looks.head(), mass=head)


def _mirrored(axis: Point, side: str) -> Point:
    """Axis of a hinge of the left side, or of its mirror image."""
    x, y, z = axis
    return (x, y, z) if side == "left" else (x, -y, -z)


def _radians(degrees: tuple[float, float]) -> tuple[float, float]:
    return math.radians(degrees[0]), math.radians(degrees[1])


def _add_arm(builder: Builder, h: float, m: float, side: str) -> None:
    """Clavicle, upper arm, the two bones of the forearm, hand."""
    looks, s = Looks(h, m), SIDES[side]
    axis = partial(_mirrored, side=side)
    out, up = s * 0.012 * h, (body.SHOULDER - body.XIPHION) * h
    reach = (s * body.SHOULDER_HALF * h - out, 0.0, -0.015 * h)
    upper, lower, knuckles = (0, -body.UPPER_ARM * h, 0), (0, -body.FOREARM * h, 0), (0, -body.KNUCKLES * h, 0)
    origin = (0, 0, 0)
    clavicle = universal(
        f"{side}_clavicle", axis((0, 0, 1)), axis((0, -1, 0)), limits=[_radians(r) for r in ranges.CLAVICLE]
    )
    builder.body(
        f"{side}_clavicle", parent="thorax", joint=clavicle, at=(out, up, 0.015 * h), shapes=looks.clavicle(reach)
    )
    shoulder = ball(f"{side}_shoulder", limits_of(ranges.SHOULDER, DOWN, right=side == "right"))
    arm = segment_mass("upper_arm", m, origin, upper)
    builder.body(
        f"{side}_upper_arm", parent=f"{side}_clavicle", joint=shoulder, at=reach, shapes=looks.upper_arm(), mass=arm
    )
    elbow = revolute(f"{side}_elbow", axis((-1, 0, 0)), limits=_radians(ranges.ELBOW))
    half = divided(segment_mass("forearm", m, origin, lower), 0.5)
    builder.body(f"{side}_ulna", parent=f"{side}_upper_arm", joint=elbow, at=upper, shapes=looks.ulna(), mass=half)
    twist = revolute(f"{side}_forearm", axis((0, -1, 0)), limits=_radians(ranges.FOREARM))
    builder.body(f"{side}_radius", parent=f"{side}_ulna", joint=twist, shapes=looks.radius(), mass=half)
    wrist = universal(f"{side}_wrist", axis((0, 0, -1)), axis((-1, 0, 0)), limits=[_radians(r) for r in ranges.WRIST])
    hand = segment_mass("hand", m, origin, knuckles)
    builder.body(f"{side}_hand", parent=f"{side}_radius", joint=wrist, at=lower, shapes=looks.hand(s), mass=hand)


def _add_leg(builder: Builder, h: float, m: float, side: str) -> None:
    """Thigh, shank, foot and toes, and the coupling of hip and knee."""
    looks, s = Looks(h, m), SIDES[side]
    axis = partial(_mirrored, side=side)
    knee_at, ankle_at, origin = (0, -body.THIGH * h, 0), (0, -body.SHANK * h, 0), (0, 0, 0)
    hip = ball(f"{side}_hip", limits_of(ranges.HIP, DOWN, right=side == "right"))
    thigh = segment_mass("thigh", m, origin, knee_at)
    builder.body(
        f"{side}_thigh", parent="pelvis", joint=hip, at=(s * body.HIP_HALF * h, 0, 0), shapes=looks.thigh(), mass=thigh
    )
    knee = revolute(f"{side}_knee", axis((1, 0, 0)), limits=_radians(ranges.KNEE))
    shank = segment_mass("shank", m, origin, ankle_at)
    builder.body(f"{side}_shank", parent=f"{side}_thigh", joint=knee, at=knee_at, shapes=looks.shank(), mass=shank)
    ankle = universal(f"{side}_ankle", axis((-1, 0, 0)), axis((0, 0, -1)), limits=[_radians(r) for r in ranges.ANKLE])
    heel = np.array([0.0, -0.5 * body.ANKLE_HEIGHT * h, -body.HEEL_TO_ANKLE * h])
    whole = segment_mass("foot", m, heel, shifted(heel, z=body.FOOT_LENGTH * h))
    toes_at = np.array([0.0, -0.8 * body.ANKLE_HEIGHT * h, (body.HEEL_TO_TOES - body.HEEL_TO_ANKLE) * h])
    toes_center = np.array([0.0, 0.0, 0.4 * (body.FOOT_LENGTH - body.HEEL_TO_TOES) * h])
    foot, tip = carved(whole, TOES_SHARE, toes_at + toes_center)
    builder.body(f"{side}_foot", parent=f"{side}_shank", joint=ankle, at=ankle_at, shapes=looks.foot(), mass=foot)
    toes = revolute(f"{side}_toes", axis((-1, 0, 0)), limits=_radians(ranges.TOES))
    tip = tip.moved(Pose(-toes_at))
    builder.body(f"{side}_toes", parent=f"{side}_foot", joint=toes, at=toes_at, shapes=looks.toes(), mass=tip)
    raised = seen_from(region_through(ranges.HIP).center, (-math.radians(ranges.STRAIGHT_LEG_RAISE), 0.0)).x
    builder.bound(f"{side}_hamstrings", {f"{side}_hip.swing_x": 1.0, f"{side}_knee": 1.0}, lower=raised)
