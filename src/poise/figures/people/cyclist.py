"""A rider on a bicycle [Ramachandran & John 2013, fig. 6].

The bicycle's frame is fixed; its wheels, crank and pedals turn. The rider's pelvis is fixed to the saddle, and the legs
move in the planes of the pedals. The knee is therefore an intersection of two circles, of the thigh about the hip and
of the shank about the ankle, and `riding(angle)` gives the posture for any crank angle in closed form. Up is y, it
rides towards +z, and its left is +x.
"""

from __future__ import annotations

import math

import numpy as np

from poise.figure.model.builder import Builder, ball, revolute
from poise.figure.model.figure import Figure
from poise.figure.model.joints import Joint
from poise.figure.model.pose import FloatArray, from_to, to_matrix
from poise.figures.people import cycle_shapes as looks
from poise.figures.people import human_ranges as ranges
from poise.figures.people.anthropometry import SEGMENT_SHARES
from poise.figures.people.ball_region import DOWN, limits_of
from poise.figures.people.cycle_shapes import (
    BRACKET,
    CRANK_LENGTH,
    GRIPS,
    PEDAL_X,
    RIDER_FOREARM,
    RIDER_SHANK,
    RIDER_SHOULDER_X,
    RIDER_THIGH,
    RIDER_UPPER_ARM,
    SADDLE,
    WHEELS,
)

RIDER_MASS = 70.0
"""[kg]"""

HIP_CENTER = np.array([0.0, SADDLE[1] + 0.09, SADDLE[2] + 0.01])
"""Middle between the hip joints, above the saddle [m]."""
SPINE_HINGE = np.array([0.0, 0.08, 0.0])
"""Hinge of the trunk, relative to `HIP_CENTER` [m]."""
TRUNK_LENGTH = 0.44
"""Length of the trunk from that hinge to the shoulders [m]."""
BALL_OF_FOOT = np.array([0.0, -0.075, 0.13])
"""Contact of foot and pedal, relative to the ankle [m]."""
LEAN, NOD = math.radians(38.0), math.radians(-26.0)
"""Angles of trunk and neck while riding [rad]."""
SIDES = {"left": 1.0, "right": -1.0}


def build(name: str) -> Figure:
    """Rider and bicycle, riding at rest."""
    rider = Builder(name, description="A rider on a bicycle; legs reach for the pedals, arms for the handlebar.")
    _add_bicycle(rider)
    _add_rider(rider)
    for side, s in SIDES.items():
        _add_leg(rider, side, s)
        _add_arm(rider, side, s)
    for posture, angle in {"neutral": 40.0, "riding": 40.0, "left_foot_up": -90.0, "left_foot_down": 90.0}.items():
        rider.posture(posture, riding(math.radians(angle)))
    return rider.build()


def _add_bicycle(rider: Builder) -> None:
    """Add frame, wheels, crank and pedals, with sites on saddle, pedals and grips."""
    rider.body("bicycle", shapes=looks.frame(), mass=7.0)
    for wheel, z in WHEELS.items():
        joint = revolute(f"{wheel}_wheel", "x", active=False)
        rider.body(
            f"{wheel}_wheel",
            parent="bicycle",
            joint=joint,
            at=(0, looks.WHEEL_RADIUS, z),
            shapes=looks.wheel(),
            mass=1.2,
        )
    rider.body("crank", parent="bicycle", joint=revolute("crank", "x"), at=BRACKET, shapes=looks.crank(), mass=0.7)
    for side, s in SIDES.items():
        at = (s * PEDAL_X, 0, s * CRANK_LENGTH)
        joint = revolute(f"{side}_pedal", "x", active=False)
        rider.body(f"{side}_pedal", parent="crank", joint=joint, at=at, shapes=looks.pedal(), mass=0.2)
        rider.site(f"{side}_pedal", f"{side}_pedal")
        rider.site(f"{side}_grip", "bicycle", at=(s * GRIPS[0], *GRIPS[1:]))
    rider.site("saddle", "bicycle", at=SADDLE)


def _mass(*segments: str) -> float:
    """Mass of some of the rider's segments [kg]."""
    return RIDER_MASS * sum(SEGMENT_SHARES[segment].mass for segment in segments)


def _hinge(name: str, axis: str, degrees: tuple[float, float]) -> Joint:
    """A hinge between limits [degrees]."""
    return revolute(name, axis, limits=(math.radians(degrees[0]), math.radians(degrees[1])))


def _add_rider(rider: Builder) -> None:
    """Add pelvis, trunk and head."""
    rider.body("pelvis", parent="bicycle", at=HIP_CENTER, shapes=looks.pelvis(), mass=_mass("pelvis"))
    trunk = _mass("abdomen", "thorax")
    rider.body(
        "trunk",
        parent="pelvis",
        joint=_hinge("spine", "x", (-20, 75)),
        at=SPINE_HINGE,
        shapes=looks.trunk(TRUNK_LENGTH),
        mass=trunk,
    )
    rider.body(
        "head",
        parent="trunk",
        joint=_hinge("neck", "x", (-55, 50)),
        at=(0, TRUNK_LENGTH + 0.06, 0),
        shapes=looks.head(),
        mass=_mass("head"),
        facing="z",
    )
    rider.site("eyes", "head", at=(0, 0.13, 0.10), turned=looks.GAZE, facing="y")


def _add_leg(rider: Builder, side: str, s: float) -> None:
    """Add a leg whose hip, knee and ankle move in the plane of the pedal."""
    hip = _hinge(f"{side}_hip", "-x", (-20, 120))
    rider.body(
        f"{side}_thigh",
        parent="pelvis",
        joint=hip,
        at=(s * PEDAL_X, 0, 0),
        shapes=looks.limb(RIDER_THIGH, 0.068, looks.SHORTS),
        mass=_mass("thigh"),
    )
    knee = _hinge(f"{side}_knee", "x", ranges.KNEE_RANGE)
    rider.body(
        f"{side}_shank",
        parent=f"{side}_thigh",
        joint=knee,
        at=(0, -RIDER_THIGH, 0),
        shapes=looks.limb(RIDER_SHANK, 0.045),
        mass=_mass("shank"),
    )
    ankle = _hinge(f"{side}_ankle", "-x", (-50, 30))
    rider.body(
        f"{side}_foot",
        parent=f"{side}_shank",
        joint=ankle,
        at=(0, -RIDER_SHANK, 0),
        shapes=looks.shoe(),
        mass=_mass("foot"),
    )
    rider.site(f"{side}_foot", f"{side}_foot", at=BALL_OF_FOOT)


def _add_arm(rider: Builder, side: str, s: float) -> None:
    """Add an arm with a ball joint at the shoulder and a hinge at the elbow."""
    shoulder = ball(f"{side}_shoulder", limits_of(ranges.SHOULDER_RANGE, DOWN, right=s < 0))
    at = (s * RIDER_SHOULDER_X, TRUNK_LENGTH, 0)
    rider.body(
        f"{side}_upper_arm",
        parent="trunk",
        joint=shoulder,
        at=at,
        shapes=looks.limb(RIDER_UPPER_ARM, 0.042, looks.JERSEY),
        mass=_mass("upper_arm"),
    )
    elbow = _hinge(f"{side}_elbow", "-x", ranges.ELBOW_RANGE)
    rider.body(
        f"{side}_forearm",
        parent=f"{side}_upper_arm",
        joint=elbow,
        at=(0, -RIDER_UPPER_ARM, 0),
        shapes=looks.forearm(),
        mass=_mass("forearm", "hand"),
    )
    rider.site(f"{side}_hand", f"{side}_forearm", at=(0, -RIDER_FOREARM, 0))


def riding(crank: float) -> dict[str, float | tuple[float, ...]]:
    """Joint values with both feet on the pedals and both hands on the handlebar, for a crank angle [rad].

    At angle 0 the left pedal is in front; growing angles move it down and backwards.
    """
    values: dict[str, float | tuple[float, ...]] = {"crank": crank, "spine": LEAN, "neck": NOD}
    for side, s in SIDES.items():
        angle = crank if s > 0 else crank + math.pi
        values |= _leg_on_pedal(side, angle)
        values[f"{side}_pedal"] = _toes_down(angle) - crank
        values |= _arm_on_grip(side, s)
    return values


def _toes_down(angle: float) -> float:
    """Downward pitch of the foot on a pedal at `angle`, greatest with the pedal behind and above the crank [rad]."""
    return math.radians(22.0 + 16.0 * math.sin(angle - math.radians(135.0)))


def _leg_on_pedal(side: str, angle: float) -> dict[str, float]:
    """Hip, knee and ankle angles with the ball of the foot on the pedal at `angle`, the knee bent forward."""
    pedal = np.array(BRACKET) + CRANK_LENGTH * np.array([0.0, -math.sin(angle), math.cos(angle)])
    slope = _toes_down(angle)
    reach = pedal - _pitched(slope) @ BALL_OF_FOOT - HIP_CENTER
    distance = math.hypot(reach[1], reach[2])
    opening = math.acos((RIDER_THIGH**2 + distance**2 - RIDER_SHANK**2) / (2.0 * RIDER_THIGH * distance))
    hip = math.atan2(reach[2], -reach[1]) + opening
    knee_at = RIDER_THIGH * np.array([0.0, -math.cos(hip), math.sin(hip)])
    below = reach - knee_at
    shank = math.atan2(below[2], -below[1])
    return {f"{side}_hip": hip, f"{side}_knee": hip - shank, f"{side}_ankle": -slope - shank}


def _arm_on_grip(side: str, s: float) -> dict[str, float | tuple[float, ...]]:
    """Elbow angle for the distance of the grip, and the shoulder rotation that brings the hand to it."""
    lean = _pitched(LEAN)
    shoulder = HIP_CENTER + SPINE_HINGE + lean @ np.array([s * RIDER_SHOULDER_X, TRUNK_LENGTH, 0.0])
    reach = lean.T @ (np.array([s * GRIPS[0], *GRIPS[1:]]) - shoulder)
    distance = float(np.linalg.norm(reach))
    elbow = math.acos((distance**2 - RIDER_UPPER_ARM**2 - RIDER_FOREARM**2) / (2.0 * RIDER_UPPER_ARM * RIDER_FOREARM))
    bent = np.array([0.0, -RIDER_UPPER_ARM - RIDER_FOREARM * math.cos(elbow), RIDER_FOREARM * math.sin(elbow)])
    return {f"{side}_elbow": elbow, f"{side}_shoulder": tuple(from_to(bent, reach).tolist())}


def _pitched(angle: float) -> FloatArray:
    """Rotation matrix about x; positive angles pitch forward [rad]."""
    return to_matrix([math.cos(0.5 * angle), math.sin(0.5 * angle), 0.0, 0.0])
