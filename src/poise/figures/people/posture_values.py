"""Postures of the human as vectors of numbers that do not depend on its place and heading, and their mirror images.

Place and heading are those of the feet. The *feet's frame* has its origin midway between the soles, at the height of
the lower one, and is turned about the vertical by the angle of

    f = z_left + z_right + ½ (left - right) × up

with z the directions of the feet and left, right their positions: where they point, and across the line between them.

The values of a posture are the position of the pelvis in the feet's frame [m], the left and the up axis of the pelvis
in that frame, and all other joints in the order of their velocities: hinges by angle, ball joints by the rotation
vector log(m⁻¹ q) from their mean m [rad]. The mirror image of a posture has the values of the other side, with some
signs changed: mirroring is linear.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray

BASE_VALUES = 9
"""Number of values of the pelvis: position, left axis and up axis."""
BASE_RATES = 6
"""Number of velocities of the pelvis."""
MIRROR = np.array([-1.0, 1.0, 1.0])
"""Signs of a vector's coordinates in the mirror; the figure's left is +x."""


class FeetFrame(NamedTuple):
    """Places and headings of n figures."""

    yaw: FloatArray
    """(n,) angles about the vertical [rad]."""
    origin: FloatArray
    """(n, 3) origins [m]."""

    @property
    def rotation(self) -> FloatArray:
        """(n, 3, 3) rotations from the feet's frame to the world."""
        return Rotation.from_rotvec(self.yaw[:, None] * np.array([0.0, 1.0, 0.0])).as_matrix()


def feet_frame(position: FloatArray, rotation: FloatArray) -> FeetFrame:
    """The frames of feet at positions (n, 2, 3), left before right, with rotations (n, 2, 3, 3)."""
    left, right = position[:, 0], position[:, 1]
    across = left - right
    ahead = rotation[:, 0, :, 2] + rotation[:, 1, :, 2]
    yaw = np.arctan2(ahead[:, 0] - 0.5 * across[:, 2], ahead[:, 2] + 0.5 * across[:, 0])
    origin = 0.5 * (left + right)
    origin[:, 1] = np.minimum(left[:, 1], right[:, 1])
    return FeetFrame(yaw, origin)


def other_side(name: str) -> str:
    """Name of the mirror image of a joint, a body or a site."""
    side, _, rest = name.partition("_")
    return {"left": "right_", "right": "left_"}[side] + rest if side in ("left", "right") and rest else name


class PostureValues:
    """Converts postures of one human to values and back."""

    def __init__(self, figure: Figure, ball_means: FloatArray) -> None:
        """Use the mean rotations (b, 4) of the ball joints, in the order of the joints."""
        q, v = figure.compiled.q_slices, figure.compiled.v_slices
        joints = [joint for joint in figure.joints if joint.kind != "free"]
        shift = BASE_VALUES - BASE_RATES
        self.nq = figure.nq
        self.count = figure.nv + shift
        balls = [j for j in joints if j.kind == "ball"]
        self.ball_means = ball_means
        self.ball_q = np.array([np.arange(q[j.name].start, q[j.name].stop) for j in balls])
        self.ball_values = np.array([np.arange(v[j.name].start, v[j.name].stop) for j in balls]) + shift
        hinges = [j for j in joints if j.kind != "ball"]
        self.hinge_q = np.concatenate([np.arange(q[j.name].start, q[j.name].stop) for j in hinges])
        self.hinge_values = np.concatenate([np.arange(v[j.name].start, v[j.name].stop) for j in hinges]) + shift
        self.source, self.sign = np.arange(self.count), np.ones(self.count)
        self.sign[:BASE_VALUES] = np.concatenate([MIRROR, -MIRROR, MIRROR])
        for joint in joints:
            here, there = v[joint.name], v[other_side(joint.name)]
            self.source[here.start + shift : here.stop + shift] = np.arange(there.start, there.stop) + shift
            if joint.kind == "ball":
                self.sign[here.start + shift + 1 : here.stop + shift] = -1.0

    def mirrored(self, values: FloatArray) -> FloatArray:
        """Values (n, count) of the mirror images."""
        return values[:, self.source] * self.sign

    def values(self, q: FloatArray, feet: FeetFrame) -> FloatArray:
        """Values (n, count) of postures (n, nq)."""
        out = np.empty((len(q), self.count))
        from_world = feet.rotation.transpose(0, 2, 1)
        pelvis = from_world @ Rotation.from_quat(q[:, 3:7], scalar_first=True).as_matrix()
        out[:, :3] = np.einsum("nij,nj->ni", from_world, q[:, :3] - feet.origin)
        out[:, 3:6], out[:, 6:9] = pelvis[:, :, 0], pelvis[:, :, 1]
        turned = self._means(len(q)).inv() * Rotation.from_quat(q[:, self.ball_q].reshape(-1, 4), scalar_first=True)
        out[:, self.ball_values] = turned.as_rotvec().reshape(len(q), -1, 3)
        out[:, self.hinge_values] = q[:, self.hinge_q]
        return out

    def postures(self, values: FloatArray, feet: FeetFrame) -> FloatArray:
        """Postures (n, nq) with given values; the axes of the pelvis are made orthonormal."""
        q = np.empty((len(values), self.nq))
        left = values[:, 3:6] / np.linalg.norm(values[:, 3:6], axis=1, keepdims=True)
        up = values[:, 6:9] - (values[:, 6:9] * left).sum(1, keepdims=True) * left
        up /= np.linalg.norm(up, axis=1, keepdims=True)
        pelvis = feet.rotation @ np.stack([left, up, np.cross(left, up)], axis=-1)
        q[:, :3] = np.einsum("nij,nj->ni", feet.rotation, values[:, :3]) + feet.origin
        q[:, 3:7] = Rotation.from_matrix(pelvis).as_quat(scalar_first=True)
        turned = self._means(len(q)) * Rotation.from_rotvec(values[:, self.ball_values].reshape(-1, 3))
        q[:, self.ball_q] = turned.as_quat(scalar_first=True, canonical=True).reshape(len(q), -1, 4)
        q[:, self.hinge_q] = values[:, self.hinge_values]
        return q

    def _means(self, n: int) -> Rotation:
        """Mean rotations of all ball joints, n times over."""
        return Rotation.from_quat(np.tile(self.ball_means, (n, 1)), scalar_first=True)
