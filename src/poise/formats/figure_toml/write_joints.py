"""Writes the poses, joints and loop joints of a `*.figure.toml`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from poise.errors import FigureError
from poise.figure.model.joints import Joint
from poise.figure.model.limits import BallLimits, Ellipse, Twist, TwistForm
from poise.figure.model.pose import FloatArray, Pose, turn, unit_quaternion, vector
from poise.formats.figure_toml.parts import AXIS_WORDS
from poise.formats.figure_toml.units import ANGLE_KINDS, TWIST_POWERS, Units

Pairs = dict[str, Any]
"""Keys and values of a TOML table."""


def same_bits(a: object, b: object) -> bool:
    """Whether two numbers or arrays are equal bit for bit; 0.0 and -0.0 differ."""
    return np.asarray(a, dtype=np.float64).tobytes() == np.asarray(b, dtype=np.float64).tobytes()


def pose_pairs(pose: Pose, prefix: str = "") -> Pairs:
    """The keys `at` and `turned` of a pose, each after `prefix`; zero positions and rotations are left out."""
    pairs: Pairs = {}
    if not same_bits(pose.position, np.zeros(3)):
        pairs[f"{prefix}at"] = pose.position.tolist()
    if not same_bits(pose.rotation, [1.0, 0.0, 0.0, 0.0]):
        pairs[f"{prefix}turned"] = rotation_value(pose.rotation)
    return pairs


def rotation_value(q: FloatArray) -> object:
    """A rotation as `{ axis, degrees }` if that is exact, otherwise as a quaternion."""
    for i, axis in enumerate("xyz"):
        angle = math.degrees(2.0 * math.atan2(float(q[1 + i]), float(q[0])))
        if np.count_nonzero(q[1:]) == 1 and q[1 + i] != 0.0:
            for digits in range(7):
                if same_bits(unit_quaternion(turn(axis, round(angle, digits))), q):
                    return {"axis": axis, "degrees": round(angle, digits)}
    return q.tolist()


def axis_value(axis: Sequence[float]) -> object:
    """An axis as a word such as "-y" if there is one, otherwise as three numbers."""
    for word in AXIS_WORDS:
        if same_bits(vector(word), axis):
            return word
    return list(axis)


def joint_pairs(joint: Joint, units: Units) -> Pairs:
    """The keys of a joint or loop joint."""
    pairs: Pairs = {"name": joint.name, "kind": joint.kind}
    if joint.parent is not None:
        pairs["parent"] = joint.parent
    pairs["child"] = joint.child
    pairs |= _axes(joint) | pose_pairs(joint.parent_frame) | pose_pairs(joint.child_frame, "child_")
    pairs |= _limits(joint, units)
    if joint.ball_limits is not None:
        pairs |= _ball_limits(joint.ball_limits, units)
    if not joint.active:
        pairs["active"] = False
    if not math.isinf(joint.speed):
        pairs["speed"] = units.write(joint.speed, 1 if joint.kind in ANGLE_KINDS else 0)
    if not math.isinf(joint.strength):
        pairs["strength"] = joint.strength
    if joint.reversed:
        pairs["reversed"] = True
    return pairs


def _axes(joint: Joint) -> Pairs:
    """The key `axis` or `axes`, with the fewest axes from which the joint derives all of its axes."""
    for count in range(len(joint.axes)):
        given = joint.axes[-1:] if joint.kind == "planar" and count == 1 else joint.axes[:count]
        try:
            follows = Joint("", joint.kind, None, "", given).axes
        except FigureError:
            continue
        if same_bits(follows, joint.axes):
            break
    else:
        given = joint.axes
    if not given:
        return {}
    return {"axis": axis_value(given[0])} if len(given) == 1 else {"axes": [axis_value(axis) for axis in given]}


def _limits(joint: Joint, units: Units) -> Pairs:
    if all(math.isinf(bound) for bound in (*joint.lower, *joint.upper)) and _unlimited(joint):
        return {}
    rows = [
        [units.write(low, units.of(primitive)), units.write(high, units.of(primitive))]
        for primitive, low, high in zip(joint.scalars, joint.lower, joint.upper, strict=True)
    ]
    return {"limits": rows[0] if len(rows) == 1 else rows}


def _unlimited(joint: Joint) -> bool:
    return all(low < 0.0 for low in joint.lower) and all(high > 0.0 for high in joint.upper)


def _ball_limits(limits: BallLimits, units: Units) -> Pairs:
    swing = limits.swing
    pairs: Pairs = {}
    if isinstance(swing, Ellipse):
        pairs["swing"] = {"ellipse": [units.write(swing.x), units.write(swing.y)]}
    elif swing is not None:
        pairs["swing"] = {"polygon": swing.vertices}
    elif limits.twist is None:
        pairs["swing"] = "any"
    if limits.twist is not None:
        pairs["twist"] = _twist(limits.twist, units)
    for name, frame in (("cone", limits.cone), ("limb", limits.limb)):
        if not same_bits(frame, [1.0, 0.0, 0.0, 0.0]):
            pairs[name] = rotation_value(frame)
    return pairs


def _twist(twist: Twist, units: Units) -> list[object]:
    return [_twist_form(twist.lower, units), _twist_form(twist.upper, units)]


def _twist_form(form: TwistForm, units: Units) -> object:
    coefficients = [units.write(value, power) for value, power in zip(form, TWIST_POWERS, strict=True)]
    while len(coefficients) > 1 and coefficients[-1] == "0":
        coefficients.pop()
    return coefficients[0] if len(coefficients) == 1 else coefficients
