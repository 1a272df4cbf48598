"""Single rotations as matrices: a product takes a microsecond, where one of scipy's takes thirty."""

from __future__ import annotations

import math

import numpy as np

from poise.figure.model.pose import FloatArray


class Rotated:
    """A rotation, with `apply` as scipy's has it, of single vectors and of rows."""

    __slots__ = ("matrix",)

    def __init__(self, matrix: FloatArray) -> None:
        """A rotation by its matrix (3, 3)."""
        self.matrix = matrix

    @staticmethod
    def of_quaternion(q: FloatArray) -> Rotated:
        """A rotation by its quaternion w, x, y, z of unit length."""
        w, x, y, z = q.tolist()
        return Rotated(
            np.array(
                [
                    [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
                    [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
                    [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
                ]
            )
        )

    @staticmethod
    def by_vector(v: FloatArray) -> Rotated:
        """A rotation by its rotation vector (3,) [rad]."""
        x, y, z = v.tolist()
        half = 0.5 * math.sqrt(x * x + y * y + z * z)
        scale = 0.5 * math.sin(half) / half if half > 1e-9 else 0.5
        return Rotated.of_quaternion(np.array([math.cos(half), scale * x, scale * y, scale * z]))

    @staticmethod
    def by_yaw_and_pitch(yaw: float, pitch: float) -> Rotated:
        """A rotation about x by the pitch, then about y by the yaw [rad]."""
        cy, sy, cp, sp = math.cos(yaw), math.sin(yaw), math.cos(pitch), math.sin(pitch)
        return Rotated(np.array([[cy, sy * sp, sy * cp], [0.0, cp, -sp], [-sy, cy * sp, cy * cp]]))

    def apply(self, v: FloatArray) -> FloatArray:
        """The rotated vector (3,) or rows (k, 3)."""
        out: FloatArray = v @ self.matrix.T
        return out

    def __mul__(self, other: Rotated) -> Rotated:
        """This rotation after another."""
        return Rotated(self.matrix @ other.matrix)

    def inv(self) -> Rotated:
        """The inverse."""
        return Rotated(self.matrix.T)

    @property
    def yaw(self) -> float:
        """Heading of the rotated z axis about y [rad]."""
        return math.atan2(self.matrix[0, 2], self.matrix[2, 2])

    def quaternion(self) -> FloatArray:
        """(4,) the quaternion w, x, y, z of unit length, w not negative."""
        (a, b, c), (d, e, f), (g, h, i) = self.matrix.tolist()
        squares = 1.0 + a + e + i, 1.0 + a - e - i, 1.0 - a + e - i, 1.0 - a - e + i
        k = max(range(4), key=squares.__getitem__)
        rows = [
            (squares[0], h - f, c - g, d - b),
            (h - f, squares[1], b + d, c + g),
            (c - g, b + d, squares[2], f + h),
            (d - b, c + g, f + h, squares[3]),
        ]
        q = np.array(rows[k])
        q /= math.sqrt(float(q @ q))
        return -q if q[0] < 0.0 else q

    def as_rotvec(self) -> FloatArray:
        """(3,) the rotation vector [rad]."""
        w, x, y, z = self.quaternion().tolist()
        size = math.sqrt(x * x + y * y + z * z)
        scale = 2.0 * math.atan2(size, w) / size if size > 1e-9 else 2.0
        return np.array([scale * x, scale * y, scale * z])

    def magnitude(self) -> float:
        """The angle [rad]."""
        v = self.as_rotvec()
        return math.sqrt(float(v @ v))
