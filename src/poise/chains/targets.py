"""Targets of a tip's orientation: an orientation, a direction, or a point to look at.

The tip points along its own +Y. With θ the angle of a direction from the figure's up axis, η its heading and ρ the
roll, the frame is R(up, η) R(side, θ) R(y, ρ): at roll 0 a chain that bends forward reaches it without a twist.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike

from poise.arguments import number
from poise.errors import FigureError, TaskError
from poise.figure.model.pose import FloatArray, Pose, from_to, unit_quaternion, unit_vector, vector
from poise.kernels.gaze.facing import facing_frame
from poise.kernels.gaze.measures import DIRECTED, FULL, Aim
from poise.kernels.maths.quaternion import Quaternion
from poise.kernels.maths.vector import Vector

UNIT_LENGTH_TOLERANCE = 1e-6
"""The length of a unit quaternion may differ from 1 by this."""
NEAREST_POINT = 1e-9
"""A point nearer to the tip than this has no direction from it [m]."""


@dataclass(frozen=True, eq=False)
class Gaze:
    """A target of the tip: exactly one of `rotation`, `direction` and `point` is set."""

    rotation: FloatArray | None = None
    """(4,) unit quaternion of the tip's frame."""
    direction: FloatArray | None = None
    """(3,) unit vector for the tip's +Y."""
    point: FloatArray | None = None
    """(3,) world point for the tip to look at [m]."""
    roll: float | None = None
    """Turn about the direction [rad]; None leaves it free."""

    def aim(self, up: FloatArray, eye: FloatArray) -> Aim:
        """The wanted frame of a tip at `eye`, on a figure with the up axis `up`."""
        if self.rotation is not None:
            return Aim(Quaternion(*self.rotation.tolist()), FULL)
        direction = self.direction if self.direction is not None else _from_to_point(eye, self.point)
        return Aim(_facing(direction, self.roll or 0.0, up), DIRECTED if self.roll is None else FULL)


GazeLike: TypeAlias = "Gaze | Pose | ArrayLike"


def facing(direction: ArrayLike | str, roll: float | None = 0.0) -> Gaze:
    """Point the tip in a direction.

        solver.solve(posture="sad", orientation=poise.facing([1, 0.3, 0.5]))

    Args:
        direction: Three numbers of any length but zero, or a word such as "x" or "-z".
        roll: Turn about the direction [rad]; None to leave it free.
    """
    return Gaze(direction=_checked(unit_vector, direction, "the direction to face"), roll=_checked_roll(roll))


def at(point: ArrayLike, roll: float | None = 0.0) -> Gaze:
    """Point the tip at a world point, seen from the tip's final position.

    Args:
        point: Three numbers [m].
        roll: Turn about the line of sight [rad]; None to leave it free.
    """
    return Gaze(point=_checked(vector, point, "the point to look at"), roll=_checked_roll(roll))


def gaze(target: GazeLike) -> Gaze:
    """A target from a `Gaze`, the rotation of a `Pose`, a unit quaternion (w, x, y, z), or a bare direction."""
    if isinstance(target, Gaze):
        return target
    if isinstance(target, Pose):
        return Gaze(rotation=target.rotation)
    try:
        numbers = tuple(map(float, target))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return _raise_orientation_error(target)
    if len(numbers) == 3:
        return facing(numbers, roll=None)
    size = math.hypot(*numbers)
    if len(numbers) != 4 or not abs(size - 1.0) <= UNIT_LENGTH_TOLERANCE:
        return _raise_orientation_error(target)
    return Gaze(rotation=np.array(numbers) / (1.0 if abs(size - 1.0) < 1e-15 else size))


def _raise_orientation_error(target: object) -> Gaze:
    """Raise an error that says what is wrong with an orientation."""
    try:
        size = float(np.linalg.norm(np.asarray(target, dtype=np.float64)))
    except (TypeError, ValueError):
        raise TaskError(
            f"{target!r} is no orientation: give a unit quaternion (w, x, y, z), a direction (x, y, z), "
            "poise.facing(…) or poise.at(…)."
        ) from None
    numbers = _checked(unit_quaternion, cast("ArrayLike", target), "an orientation")
    raise TaskError(
        f"an orientation must be a unit quaternion; the length of {quaternion_text(numbers * size)} is {size:g}."
    )


def quaternion_text(target: ArrayLike) -> str:
    """Numbers in parentheses, with few digits."""
    return "(" + ", ".join(f"{value:g}" for value in np.asarray(target, dtype=np.float64).tolist()) + ")"


def _checked(check: Callable[..., FloatArray], value: ArrayLike | str, what: str) -> FloatArray:
    """A checked array; a `FigureError` of the check is raised as a `TaskError`, since the target is wrong."""
    try:
        return check(value, what)
    except FigureError as error:
        raise TaskError(str(error)) from None


def _checked_roll(roll: float | None) -> float | None:
    return None if roll is None else number(roll, "a roll", unit="radians")


def _from_to_point(eye: FloatArray, point: FloatArray | None) -> FloatArray:
    """Direction from the eye to a point; +Y if the eye is at the point."""
    sight = np.asarray(point) - eye
    size = float(np.linalg.norm(sight))
    return sight / size if size > NEAREST_POINT else np.array([0.0, 1.0, 0.0])


def _facing(direction: FloatArray, roll: float, up: FloatArray) -> Quaternion:
    x, y, z = direction.tolist()
    return facing_frame(_level(tuple(up.tolist())), Vector(x, y, z), float(roll))


@cache
def _level(up: tuple[float, ...]) -> Quaternion:
    """The rotation that takes an up axis to y."""
    return Quaternion(*from_to(up, "y").tolist())
