"""Postures mirrored at the plane between left and right.

A rotation about the axis a by an angle θ, mirrored by M = I - 2 l lᵀ, is the rotation about M a by -θ; a translation t
becomes M t. A joint on the left takes the mirrored motion of its partner on the right, in its own frame.
"""

from __future__ import annotations

import re

import numpy as np

from poise.figure.model.figure import Figure
from poise.figure.model.joints import Joint
from poise.figure.model.pose import FloatArray, from_matrix, to_matrix
from poise.figure.model.posture import Posture
from poise.pictures.camera import world_axes

_OPPOSITE = {"left": "right", "right": "left", "l": "r", "r": "l"}
_SIDE_WORDS = re.compile(r"(left|right|(?<![a-z])[lr](?![a-z]))", re.IGNORECASE)


def partner_name(name: str) -> str:
    """The name on the other side, such as "right_knee" for "left_knee"; the same name for a part in the middle."""

    def other(found: re.Match[str]) -> str:
        word = found.group()
        swapped = _OPPOSITE[word.lower()]
        return swapped.upper() if word.isupper() else swapped.capitalize() if word[0].isupper() else swapped

    return _SIDE_WORDS.sub(other, name)


def mirrored(posture: Posture, source: str = "") -> Posture:
    """The posture with left and right exchanged, inside the figure's limits.

    Args:
        posture: The posture.
        source: "left" or "right" to copy that side to the other one, which leaves the rest as it is.
    """
    figure = posture.figure
    mirror = _Mirror(figure)
    q = np.array(posture.q)
    for joint in figure.joints:
        other = partner_name(joint.name)
        partner = figure.joints[other if other in figure.joints else joint.name]
        is_target = not source or (source in partner.name.lower() and partner.name != joint.name)
        if joint.nq and is_target and partner.kind == joint.kind:
            q[figure.q_slice(joint.name)] = mirror.value(joint, partner, posture.q[figure.q_slice(partner.name)])
    return figure.clamp(figure.posture(q), previous=posture)


class _Mirror:
    """Mirrors joint values of a figure that is symmetric where all its joints are at zero."""

    def __init__(self, figure: Figure) -> None:
        self.figure = figure
        zero = figure.posture(np.array([value for joint in figure.joints for value in joint.rest()], dtype=np.float64))
        self.frames = figure.frames(zero)
        self.forward, self.left, self.up = world_axes(figure.up)
        self.matrix = np.eye(3) - 2.0 * np.outer(self.left, self.left)

    def value(self, joint: Joint, partner: Joint, value: FloatArray) -> FloatArray:
        """The value of a joint that mirrors its partner's value."""
        across = self._frame(joint).T @ self.matrix @ self._frame(partner)
        if joint.kind == "ball":
            return np.array([value[0], *(-across @ value[1:])])
        if joint.kind == "free":
            return self._base(joint, value)
        pairs = zip(joint.scalars, joint.axes, partner.axes, value, strict=False)
        signs = [np.sign(np.asarray(own) @ across @ np.asarray(other)) or 1.0 for _, own, other, _ in pairs]
        turns = [primitive == "turn" for primitive in joint.scalars]
        found = np.array(value)
        for k, (sign, is_turn) in enumerate(zip(signs, turns, strict=False)):
            found[k] = -sign * value[k] if is_turn else sign * value[k]
        return found

    def _base(self, joint: Joint, value: FloatArray) -> FloatArray:
        """A base that stays in its place and goes on facing the same way: only its tilt is mirrored."""
        frame = self._frame(joint)
        turned = frame @ to_matrix(value[3:]) @ frame.T
        ahead = turned @ self.forward
        angle = np.arctan2(ahead @ self.left, ahead @ self.forward)
        heading = _about(self.up, angle)
        tilt = self.matrix @ heading.T @ turned @ self.matrix
        return np.array([*value[:3], *from_matrix(frame.T @ heading @ tilt @ frame)])

    def _frame(self, joint: Joint) -> FloatArray:
        """(3, 3) rotation of a joint's frame in the world while all joints are at zero."""
        if joint.parent is None:
            return to_matrix(self.figure.placement.rotation) @ joint.parent_frame.matrix
        row = self.figure.bodies.index(joint.parent)
        return to_matrix(self.frames.rotation[row]) @ joint.parent_frame.matrix


def _about(axis: FloatArray, angle: float) -> FloatArray:
    half = 0.5 * angle
    return to_matrix(np.array([np.cos(half), *(np.sin(half) * np.asarray(axis))]))
