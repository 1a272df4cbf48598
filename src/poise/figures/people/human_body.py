"""A human with 50 degrees of freedom, scaled by stature and mass; eyes and fingers that move are options.

Up is y, the figure faces +z, and +x is its left, as in motion-capture files. At rest it stands with its arms down and
its palms towards its thighs; every body's axes are then parallel to the world's. All joints of the right side mirror
those of the left, so that equal hinge values give mirrored postures. The base joint holds the pose of the pelvis.

*Hip and knee.* The thesis bounds θ_hip + θ_knee ≥ -70° [Baerlocher 2001, eq. 3.2], where θ_knee ≥ 0 is flexion and
θ_hip is the swing that moves the leg in the sagittal plane. Only the *lower* limits are coupled there, and its fig. 7.4
shows a figure that bends down to reach and flexes its knees because of the coupling. So θ_hip is negative in flexion,
and the coupling excludes a raised leg with a straight knee, which the hamstrings stop at 70°; each degree of knee
flexion allows one more degree of hip flexion. The hip's `swing_x` here has the same sign, up to the constant angle at
which its region is centred.

*Spine.* The 24 vertebrae bend together, since ligaments couple them; left to themselves they take unrealistic postures
[Baerlocher 2001, 3.8.1]. The human has two joints there. With `coupled_spine` a total bend is divided between them by
constant weights, as in the spine that the thesis cites [Monheit & Badler 1991]: the weights are the joints' shares of
the range. Their twists stay free: the lower part turns by no more than 5°.

*Sites.* The eyes look along their own +Y, the head along its +z; the hands point along their own +Y, their fingers.
The corners of each sole are the sites `left_foot_…` and `right_foot_…`; those named `…_toe_…` are on the toes.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import cast

import numpy as np

from poise.arguments import positive, shown
from poise.errors import FigureError
from poise.figure.model.builder import Builder, ball, free, revolute, universal
from poise.figure.model.figure import Figure
from poise.figure.model.pose import Pose, from_matrix, turn
from poise.figure.model.posture import JointValues
from poise.figures.parts import shifted
from poise.figures.people import anthropometry as body
from poise.figures.people import human_ranges as ranges
from poise.figures.people.anthropometry import carved, divided, segment_mass
from poise.figures.people.ball_region import DOWN, UP, limits_of, region_through, seen_from
from poise.figures.people.hand import HAND_LENGTH, Fingers
from poise.figures.people.hand_postures import Side, hand_posture
from poise.figures.people.human_postures import grounded_postures
from poise.figures.people.human_shapes import Looks
from poise.figures.people.human_strength import strength_of

TALLEST = 20.0
"""Greatest stature [m]: a greater one is most likely in centimetres."""
SIDES = {"left": 1.0, "right": -1.0}
TOES_SHARE = 0.12
"""Mass of the toes as a share of the foot's mass."""
Point = tuple[float, float, float]
GAZE = turn("x", 90.0)
"""Rotation whose +Y is forward."""
ALONG_FINGERS = turn("x", 180.0)
"""Rotation whose +Y is down, along the fingers of a hanging arm."""


def human(
    stature: float = 1.75,
    mass: float = 70.0,
    *,
    eyes: bool = False,
    fingers: bool = False,
    coupled_spine: bool = False,
    name: str = "human",
) -> Figure:
    """An average human.

    Args:
        stature: Standing height [m].
        mass: Body mass [kg].
        eyes: Whether its eyes turn, both together.
        fingers: Whether its fingers move, as those of the figure `hand` do.
        coupled_spine: Whether the two joints of its spine bend together, each by its share.
        name: Name of the figure.
    """
    stature = positive(stature, "the stature of a human", unit="metres", error=FigureError)
    if stature > TALLEST:
        raise FigureError(f"a human of {stature:g} m is too tall: give the stature in metres, such as 1.8.")
    for what, wanted in (("eyes", eyes), ("fingers", fingers), ("coupled_spine", coupled_spine)):
        if not isinstance(wanted, bool | np.bool_):
            raise FigureError(f"{what} of a human must be True or False, not {shown(wanted)}.")
    mass = positive(mass, "the mass of a human", unit="kilograms", error=FigureError)
    freedoms = 50 + 6 * eyes + 40 * fingers
    sentence = (
        f"A human of {stature:.2f} m and {mass:.4g} kg with {freedoms} degrees of freedom; faces +z, its left is +x."
    )
    builder = Builder(name, description=sentence)
    _add_trunk(builder, stature, mass, eyes)
    for side in SIDES:
        _add_arm(builder, stature, mass, side, fingers)
        _add_leg(builder, stature, mass, side)
    if coupled_spine:
        _couple_spine(builder)
    # What not every human has comes last: the joints before are those of every human.
    if eyes:
        _add_eyes(builder, stature, mass)
    add_sites(builder, stature, eyes)
    if fingers:
        for side in SIDES:
            _fingers(builder, stature, side).add()
    builder.posture("neutral", {"base": (0.0, body.HIP_LEVEL * stature, 0.0, 1.0, 0.0, 0.0, 0.0)})
    builder.joints = [replace(joint, strength=strength_of(joint.name, stature, mass)) for joint in builder.joints]
    figure = builder.build()
    relaxed = hand_posture("relaxed", side="left") | hand_posture("relaxed", side="right") if fingers else {}
    postures = {
        name: values if name == "neutral" else {**values, **relaxed}
        for name, values in grounded_postures(figure).items()
    }
    if coupled_spine:
        postures = {name: _with_coupled_spine(figure, values) for name, values in postures.items()}
    return figure.replaced(postures=postures)


def _with_coupled_spine(figure: Figure, values: JointValues) -> JointValues:
    """Values of a posture with the nearest ones for the spine that keep its couplings."""
    posture = figure.clamp(figure.posture(values))
    return {**values, **{joint: tuple(np.asarray(posture[joint]).tolist()) for joint in ("spine", "chest")}}


def build(name: str) -> Figure:
    """The average human."""
    return human(name=name)


def _add_trunk(builder: Builder, h: float, m: float, eyes: bool) -> None:
    """Add pelvis, abdomen, thorax, neck and head."""
    looks = Looks(h, m)
    heights = [
        height * h
        for height in (body.HIP_LEVEL, body.NAVEL_LEVEL, body.XIPHION_LEVEL, body.NECK_LEVEL, body.JAW_LEVEL, 1.0)
    ]
    hip, navel, xiphion, neck, jaw, crown = heights
    whole = partial(segment_mass, body_mass=m)
    builder.body(
        "pelvis",
        joint=free("base"),
        shapes=looks.pelvis(),
        mass=whole("pelvis", top=(0, navel - hip, 0), bottom=(0, 0, 0)),
    )
    spine = ball("spine", limits_of(ranges.SPINE_RANGE, UP))
    abdomen = whole("abdomen", top=(0, xiphion - navel, 0), bottom=(0, 0, 0))
    builder.body("abdomen", parent="pelvis", joint=spine, at=(0, navel - hip, 0), shapes=looks.abdomen(), mass=abdomen)
    chest = ball("chest", limits_of(ranges.CHEST_RANGE, UP))
    thorax = whole("thorax", top=(0, neck - xiphion, 0), bottom=(0, 0, 0))
    builder.body(
        "thorax", parent="abdomen", joint=chest, at=(0, xiphion - navel, 0), shapes=looks.thorax(), mass=thorax
    )
    lower = ball("neck", limits_of(ranges.NECK_RANGE, UP))
    builder.body("neck", parent="thorax", joint=lower, at=(0, neck - xiphion, 0), shapes=looks.neck())
    upper = ball("head", limits_of(ranges.HEAD_RANGE, UP))
    # De Leva's head segment reaches down to the seventh neck vertebra; all its mass is on the head body.
    head = whole("head", top=(0, crown - jaw, 0), bottom=(0, neck - jaw, 0))
    builder.body(
        "head", parent="neck", joint=upper, at=(0, jaw - neck, 0), shapes=looks.head(eyes), mass=head, facing="z"
    )


def _couple_spine(builder: Builder) -> None:
    """Couple the bends of the spine's two joints, forward and to the side, in the ratio of their ranges.

    A swing is measured from the middle of its joint's range, so the constants are those that hold when standing.
    """
    lower, upper = (region_through(motion) for motion in (ranges.SPINE_RANGE, ranges.CHEST_RANGE))
    rest = [seen_from(region.center, (0.0, 0.0)) for region in (lower, upper)]
    for k, axis in enumerate("xy"):
        ratio = upper.radii[k] / lower.radii[k]
        constant = rest[1][k] - ratio * rest[0][k]
        builder.couple(f"spine_bend_{axis}", {f"chest.swing_{axis}": 1.0, f"spine.swing_{axis}": -ratio}, constant)


def _add_eyes(builder: Builder, h: float, m: float) -> None:
    """Add a body without mass between the eyes, which looks, and two eyeballs that turn as it does."""
    looks, limits = Looks(h, m), [_radians(r) for r in ranges.EYES_RANGE]
    for name, x in (("eyes", 0.0), ("left_eye", looks.eye_at[0]), ("right_eye", -looks.eye_at[0])):
        at, shapes = (x, *looks.eye_at[1:]), looks.between_eyes() if name == "eyes" else looks.eyeball()
        joint = universal(name, "y", "x", limits=limits)
        builder.body(name, parent="head", joint=joint, at=at, shapes=shapes, facing="z")
        if name != "eyes":
            builder.couple(f"{name}_turn", {f"{name}.first": 1.0, "eyes.first": -1.0})
            builder.couple(f"{name}_tilt", {f"{name}.second": 1.0, "eyes.second": -1.0})


def _fingers(builder: Builder, h: float, side: str) -> Fingers:
    """The fingers of one hand; they have no mass, because the mass of the hand includes theirs."""
    s = SIDES[side]
    place = Pose(rotation=from_matrix([[0.0, 0.0, -s], [0.0, -1.0, 0.0], [-s, 0.0, 0.0]]))
    size = body.HAND_FRACTION * h / HAND_LENGTH
    return Fingers(builder, cast("Side", side), f"{side}_hand", f"{side}_", place, size)


def _mirrored(axis: Point, side: str) -> Point:
    """Axis of a hinge on the left side, or of its mirror image on the right."""
    x, y, z = axis
    return (x, y, z) if side == "left" else (x, -y, -z)


def _radians(degrees: tuple[float, float]) -> tuple[float, float]:
    """An interval in degrees as radians."""
    return math.radians(degrees[0]), math.radians(degrees[1])


def _add_arm(builder: Builder, h: float, m: float, side: str, fingers: bool) -> None:
    """Add clavicle, upper arm, the two bones of the forearm, and hand."""
    looks, s = Looks(h, m), SIDES[side]
    axis = partial(_mirrored, side=side)
    out, up = s * 0.012 * h, (body.SHOULDER_LEVEL - body.XIPHION_LEVEL) * h
    reach = (s * body.SHOULDER_HALF * h - out, 0.0, -0.015 * h)
    upper, lower, knuckles = (
        (0, -body.UPPER_ARM_FRACTION * h, 0),
        (0, -body.FOREARM_FRACTION * h, 0),
        (0, -body.KNUCKLES_FRACTION * h, 0),
    )
    origin = (0, 0, 0)
    clavicle = universal(
        f"{side}_clavicle", axis((0, 0, 1)), axis((0, -1, 0)), limits=[_radians(r) for r in ranges.CLAVICLE_RANGE]
    )
    builder.body(
        f"{side}_clavicle", parent="thorax", joint=clavicle, at=(out, up, 0.015 * h), shapes=looks.clavicle(reach)
    )
    shoulder = ball(f"{side}_shoulder", limits_of(ranges.SHOULDER_RANGE, DOWN, right=side == "right"))
    arm = segment_mass("upper_arm", m, origin, upper)
    builder.body(
        f"{side}_upper_arm", parent=f"{side}_clavicle", joint=shoulder, at=reach, shapes=looks.upper_arm(), mass=arm
    )
    elbow = revolute(f"{side}_elbow", axis((-1, 0, 0)), limits=_radians(ranges.ELBOW_RANGE))
    half = divided(segment_mass("forearm", m, origin, lower), 0.5)
    builder.body(f"{side}_ulna", parent=f"{side}_upper_arm", joint=elbow, at=upper, shapes=looks.ulna(), mass=half)
    twist = revolute(f"{side}_forearm", axis((0, -1, 0)), limits=_radians(ranges.FOREARM_RANGE))
    builder.body(f"{side}_radius", parent=f"{side}_ulna", joint=twist, shapes=looks.radius(), mass=half)
    wrist = universal(
        f"{side}_wrist", axis((0, 0, -1)), axis((-1, 0, 0)), limits=[_radians(r) for r in ranges.WRIST_RANGE]
    )
    hand = segment_mass("hand", m, origin, knuckles)
    shapes = _fingers(builder, h, side).palm_shapes() if fingers else looks.hand(s)
    builder.body(f"{side}_hand", parent=f"{side}_radius", joint=wrist, at=lower, shapes=shapes, mass=hand)


def _add_leg(builder: Builder, h: float, m: float, side: str) -> None:
    """Add thigh, shank, foot and toes, and the coupling of hip and knee."""
    looks, s = Looks(h, m), SIDES[side]
    axis = partial(_mirrored, side=side)
    knee_at, ankle_at, origin = (0, -body.THIGH_FRACTION * h, 0), (0, -body.SHANK_FRACTION * h, 0), (0, 0, 0)
    hip = ball(f"{side}_hip", limits_of(ranges.HIP_RANGE, DOWN, right=side == "right"))
    thigh = segment_mass("thigh", m, origin, knee_at)
    builder.body(
        f"{side}_thigh", parent="pelvis", joint=hip, at=(s * body.HIP_HALF * h, 0, 0), shapes=looks.thigh(), mass=thigh
    )
    knee = revolute(f"{side}_knee", axis((1, 0, 0)), limits=_radians(ranges.KNEE_RANGE))
    shank = segment_mass("shank", m, origin, ankle_at)
    builder.body(f"{side}_shank", parent=f"{side}_thigh", joint=knee, at=knee_at, shapes=looks.shank(), mass=shank)
    ankle = universal(
        f"{side}_ankle", axis((-1, 0, 0)), axis((0, 0, -1)), limits=[_radians(r) for r in ranges.ANKLE_RANGE]
    )
    heel = np.array([0.0, -0.5 * body.ANKLE_LEVEL * h, -body.HEEL_TO_ANKLE * h])
    whole = segment_mass("foot", m, heel, shifted(heel, z=body.FOOT_LENGTH * h))
    toes_at = np.array([0.0, -0.8 * body.ANKLE_LEVEL * h, (body.HEEL_TO_TOES - body.HEEL_TO_ANKLE) * h])
    toes_center = np.array([0.0, 0.0, 0.4 * (body.FOOT_LENGTH - body.HEEL_TO_TOES) * h])
    foot, tip = carved(whole, TOES_SHARE, toes_at + toes_center)
    builder.body(f"{side}_foot", parent=f"{side}_shank", joint=ankle, at=ankle_at, shapes=looks.foot(), mass=foot)
    toes = revolute(f"{side}_toes", axis((-1, 0, 0)), limits=_radians(ranges.TOES_RANGE))
    tip = tip.moved(Pose(-toes_at))
    builder.body(f"{side}_toes", parent=f"{side}_foot", joint=toes, at=toes_at, shapes=looks.toes(), mass=tip)
    raised = seen_from(region_through(ranges.HIP_RANGE).center, (-math.radians(ranges.STRAIGHT_LEG_RAISE), 0.0)).x
    builder.bound(f"{side}_hamstrings", {f"{side}_hip.swing_x": 1.0, f"{side}_knee": 1.0}, lower=raised)


def add_sites(builder: Builder, h: float, eyes: bool = False) -> None:
    """Add the sites of a human of stature `h` [m], whose `eyes` may turn."""
    tall = (1.0 - body.JAW_LEVEL) * h
    if eyes:
        builder.site("eyes", "eyes", turned=GAZE, facing="y")
    else:
        builder.site("eyes", "head", (0, 0.47 * tall, 0.062 * h), GAZE, facing="y")
    builder.site("crown", "head", (0, tall, 0))
    builder.site("chest", "thorax", (0, 0.5 * (body.NECK_LEVEL - body.XIPHION_LEVEL) * h, 0.065 * h), GAZE)
    for side, s in (("left", 1.0), ("right", -1.0)):
        builder.site(f"{side}_hand", f"{side}_hand", (-s * 0.012 * h, -body.KNUCKLES_FRACTION * h, 0), ALONG_FINGERS)
        builder.site(f"{side}_fingertips", f"{side}_hand", (0, -body.HAND_FRACTION * h, 0), ALONG_FINGERS)
        _add_sole(builder, h, side, s)


def _add_sole(builder: Builder, h: float, side: str, s: float) -> None:
    """Add centre, ends and corners of one sole, all on the ground in the standing posture."""
    ground = -body.ANKLE_LEVEL * h
    back, front = -body.HEEL_TO_ANKLE * h, (body.HEEL_TO_TOES - body.HEEL_TO_ANKLE) * h
    tip = (body.FOOT_LENGTH - body.HEEL_TO_TOES) * h
    below = -0.2 * body.ANKLE_LEVEL * h
    foot, toes = f"{side}_foot", f"{side}_toes"
    builder.site(foot, foot, (0, ground, 0.5 * (back + front)))
    builder.site(f"{side}_heel", foot, (0, ground, back))
    builder.site(toes, toes, (0, below, tip))
    for edge, x in (("inner", -0.5), ("outer", 0.5)):
        across = s * x * 0.9 * body.FOOT_BREADTH * h
        builder.site(f"{foot}_heel_{edge}", foot, (across, ground, back))
        builder.site(f"{foot}_ball_{edge}", foot, (across, ground, front))
        builder.site(f"{foot}_toe_{edge}", toes, (across, below, tip))
