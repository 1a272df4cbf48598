"""Poses (rigid transforms), world frames by name, and checked vectors and quaternions, as immutable values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poise.arguments import shown
from poise.errors import FigureError
from poise.figure.model.names import look_up
from poise.kernels.maths.quaternion import (
    Quaternion,
    about,
    columns,
    conjugate,
    direct_rotation,
    from_columns,
    multiply,
    rotate,
    transform,
)
from poise.kernels.maths.vector import Vector

FloatArray = NDArray[np.float64]

LARGEST = 1e50
"""Larger numbers are refused, since their squares and cubes would overflow."""
SMALLEST_QUATERNION = 1e-12
"""A shorter quaternion is refused, since it does not define a rotation."""

_AXIS_VECTORS = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


def vector(value: ArrayLike | str, what: str = "a vector") -> FloatArray:
    """Three finite numbers, or one of the words x, y, z, -x, -y, -z, as a read-only array."""
    if isinstance(value, str):
        sign = -1.0 if value.startswith("-") else 1.0
        letter = value.lstrip("+-").lower()
        if letter not in _AXIS_VECTORS:
            raise FigureError(f"{what} must be three numbers or one of x, y, z, -x, -y, -z, not {shown(value)}.")
        value = [sign * component if component else 0.0 for component in _AXIS_VECTORS[letter]]
    return _numbers(value, 3, what)


def unit_vector(value: ArrayLike | str, what: str = "an axis") -> FloatArray:
    """A vector normalised to length 1; refuses the zero vector."""
    v = vector(value, what)
    size = _length(v, what)
    if size < 1e-12:
        raise FigureError(f"{what} has no direction: its length is {size:g}.")
    return v if abs(size - 1.0) < 1e-15 else _frozen(v / size)


def unit_quaternion(value: ArrayLike, what: str = "a rotation") -> FloatArray:
    """A quaternion (w, x, y, z) normalised to length 1; refuses the zero quaternion."""
    q = _numbers(value, 4, what)
    size = float(np.linalg.norm(q))
    if size < SMALLEST_QUATERNION:
        raise FigureError(f"{what} is the zero quaternion, which is no rotation; the identity is (1, 0, 0, 0).")
    return q if abs(size - 1.0) < 1e-15 else _frozen(q / size)


def turn(axis: ArrayLike | str, degrees: float) -> FloatArray:
    """The rotation by `degrees` about `axis`."""
    if not math.isfinite(degrees):
        raise FigureError(f"a turn must be a finite number of degrees, not {degrees}.")
    return _frozen(np.array(about(Vector(*unit_vector(axis)), math.radians(degrees))))


def from_to(a: ArrayLike | str, b: ArrayLike | str) -> FloatArray:
    """The smallest rotation that takes direction `a` to direction `b`."""
    return _frozen(np.array(direct_rotation(Vector(*unit_vector(a)), Vector(*unit_vector(b)))))


def from_matrix(matrix: ArrayLike) -> FloatArray:
    """The quaternion of a rotation matrix (3, 3)."""
    m = np.asarray(matrix, dtype=np.float64)
    if m.shape != (3, 3) or not np.isfinite(m).all():
        raise FigureError("a rotation matrix must be 3 by 3 finite numbers.")
    if np.abs(m @ m.T - np.eye(3)).max() > 1e-6 or np.linalg.det(m) < 0:
        raise FigureError("this matrix is no rotation: its columns are not a right-handed orthonormal frame.")
    return _frozen(np.array(from_columns(Vector(*m[:, 0]), Vector(*m[:, 1]), Vector(*m[:, 2]))))


def to_matrix(q: ArrayLike) -> FloatArray:
    """The rotation matrix (3, 3) of a unit quaternion."""
    return np.array(columns(Quaternion(*np.asarray(q, dtype=np.float64)))).T.copy()


def _numbers(value: ArrayLike, count: int, what: str) -> FloatArray:
    """`count` finite numbers as a read-only array."""
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise FigureError(f"{what} must be {count} numbers, not {shown(value)}.") from None
    if array.shape != (count,):
        raise FigureError(f"{what} must be {count} numbers, not {shown(value)}.")
    if not all(-LARGEST <= number <= LARGEST for number in array.tolist()):
        raise FigureError(f"{what} must be {count} finite numbers, not {array.tolist()}.")
    array.flags.writeable = False
    return array


def _length(v: FloatArray, what: str) -> float:
    """Length of a vector, also where its square would overflow."""
    size = math.hypot(*v.tolist())
    if math.isinf(size):
        raise FigureError(f"{what} is too long for arithmetic: {v.tolist()}.")
    return size


def _frozen(array: FloatArray) -> FloatArray:
    """A contiguous read-only array."""
    array = np.ascontiguousarray(array, dtype=np.float64)
    array.flags.writeable = False
    return array


@dataclass(frozen=True, eq=False, init=False)
class Pose:
    """A position [m] and a rotation (unit quaternion, w first); `a_from_b @ b_from_c` is `a_from_c`."""

    position: FloatArray
    """(3,) position of the frame's origin [m], read-only."""
    rotation: FloatArray
    """(4,) rotation of its axes as a quaternion (w, x, y, z), read-only."""

    def __init__(self, position: ArrayLike = (0.0, 0.0, 0.0), rotation: ArrayLike = (1.0, 0.0, 0.0, 0.0)) -> None:
        """Check and freeze both arrays; a quaternion of any length but zero is normalised."""
        object.__setattr__(self, "position", vector(position, "a position"))
        object.__setattr__(self, "rotation", unit_quaternion(rotation))

    def __matmul__(self, other: Pose) -> Pose:
        """Compose two poses."""
        turned = multiply(Quaternion(*self.rotation.tolist()), Quaternion(*other.rotation.tolist()))
        return Pose(self.apply(other.position), np.array(turned))

    def __eq__(self, other: object) -> bool:
        """Equal numbers."""
        if not isinstance(other, Pose):
            return NotImplemented
        return np.array_equal(self.position, other.position) and np.array_equal(self.rotation, other.rotation)

    def __hash__(self) -> int:
        """Hash of the numbers."""
        return hash((self.position.tobytes(), self.rotation.tobytes()))

    def inverse(self) -> Pose:
        """The inverse transform."""
        back = conjugate(Quaternion(*self.rotation.tolist()))
        return Pose(-np.array(rotate(back, Vector(*self.position.tolist()))), np.array(back))

    def apply(self, point: Sequence[float] | FloatArray) -> FloatArray:
        """Transform a point from this frame to the frame in which the pose is given."""
        place, turn = Vector(*self.position.tolist()), Quaternion(*self.rotation.tolist())
        return np.array(transform(place, turn, Vector(*map(float, point))))

    @property
    def matrix(self) -> FloatArray:
        """(3, 3) rotation matrix."""
        return to_matrix(self.rotation)


@dataclass(frozen=True)
class Frames(Mapping[str, Pose]):
    """World frames of every body and site of a figure in one posture, by name."""

    position: FloatArray
    """(m, 3) bodies first, then sites [m]."""
    rotation: FloatArray
    """(m, 4) unit quaternions."""
    index: dict[str, int]
    """Row of each name."""
    owner: str
    """The figure, for error messages."""

    def __getitem__(self, name: str) -> Pose:
        """World frame of a site or body."""
        row = look_up(self.index, name, "site or body", self.owner)
        return Pose(self.position[row], self.rotation[row])

    def __iter__(self) -> Iterator[str]:
        """All names."""
        return iter(self.index)

    def __len__(self) -> int:
        """Number of names."""
        return len(self.index)
