"""Wanted and actual values of tasks in a few words, for reports."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from poise.engine.footprint import support_polygon
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray, Pose, vector
from poise.figure.model.posture import Posture
from poise.tasks.avoid import Avoid
from poise.tasks.mass import CenterOfMass, MomentOfInertia
from poise.tasks.place import Frame, LookAt, Orientation, Position, rotation_of
from poise.tasks.posture import Hold
from poise.tasks.task import Task, axes_of

AXIS_LETTERS = "xyz"


class Comparison(NamedTuple):
    """The wanted and the actual value of a task, in words."""

    wanted: str = ""
    got: str = ""


@singledispatch
def compared(task: Task, posture: Posture) -> Comparison:
    """The wanted value of a task and its actual value in a posture; empty where the error says everything."""
    return Comparison()


@compared.register(Position)
def _(task: Position, posture: Posture) -> Comparison:
    frame = part_from_world(posture, task.relative_to) @ posture.figure.pose_of(task.site, posture)
    point = frame.apply(np.zeros(3) if task.offset is None else vector(task.offset))
    beside = "" if task.relative_to is None else f" from {task.relative_to}"
    return Comparison(_along(task.axes, vector(task.at)) + beside, _along(task.axes, point))


@compared.register(Orientation)
def _(task: Orientation, posture: Posture) -> Comparison:
    frame = part_from_world(posture, task.relative_to) @ posture.figure.pose_of(task.site, posture)
    return Comparison(turn_words(rotation_of(task.rotation, task.label)), turn_words(frame.rotation))


@compared.register(Frame)
def _(task: Frame, posture: Posture) -> Comparison:
    frame = part_from_world(posture, task.relative_to) @ posture.figure.pose_of(task.site, posture)
    given: Any = task.pose
    wanted = given if isinstance(given, Pose) else Pose(*given)
    words = [f"{place_words(pose.position)}, {turn_words(pose.rotation)}" for pose in (wanted, frame)]
    return Comparison(*words)


@compared.register(LookAt)
def _(task: LookAt, posture: Posture) -> Comparison:
    """The actual value of a gaze at a point is the point on its line of sight at the same distance."""
    eye = posture.figure.pose_of(task.site, posture)
    sight = eye.matrix @ task.unit_axis()
    if task.at is None:
        wanted = vector(sight if task.direction is None else task.direction)
        return Comparison(f"along {place_words(wanted / np.linalg.norm(wanted))}", f"along {place_words(sight)}")
    base_from_world = part_from_world(posture, task.relative_to)
    target = base_from_world.inverse().apply(vector(task.at))
    sighted = eye.position + float(np.linalg.norm(target - eye.position)) * sight
    return Comparison(place_words(vector(task.at)), place_words(base_from_world.apply(sighted)))


@compared.register(CenterOfMass)
def _(task: CenterOfMass, posture: Posture) -> Comparison:
    if task.at is not None:
        return Comparison(_along(task.axes, vector(task.at)), _along(task.axes, posture.figure.center_of_mass(posture)))
    inside = support_polygon(posture, task.supports).inside
    least = f", {length(task.margin)} inside" if task.margin else ""
    return Comparison(
        f"over {', '.join(task.supports)}{least}", f"{length(abs(inside))} {'inside' if inside >= 0.0 else 'outside'}"
    )


@compared.register(MomentOfInertia)
def _(task: MomentOfInertia, posture: Posture) -> Comparison:
    value = posture.figure.moment_of_inertia(posture, task.axis)
    return Comparison(f"{task.value:.3g} kg m²" if task.value else "as small as can be", f"{value:.3g} kg m²")


@compared.register(Hold)
def _(task: Hold, posture: Posture) -> Comparison:
    """The actual value of a held posture is the joint with the largest error."""
    figure = posture.figure
    apart = figure.difference(posture, figure.posture(task.posture))
    gaps = {joint: float(np.linalg.norm(apart[figure.v_slice(joint)])) for joint in task.held(figure)}
    worst = max(gaps, key=lambda joint: gaps[joint])
    gap = _joint_amount(figure, worst, gaps[worst])
    return Comparison(_posture_words(figure, task), "held" if gap == "0" else f"{worst} {gap} off")


@compared.register(Avoid)
def _(task: Avoid, posture: Posture) -> Comparison:
    return Comparison(f"{length(task.margin)} clear")


def part_from_world(posture: Posture, part: str | None) -> Pose:
    """The pose that transforms from the world to the frame of a site or body; the identity for None."""
    return Pose() if part is None else posture.figure.pose_of(part, posture).inverse()


def _posture_words(figure: Figure, task: Hold) -> str:
    """The name of a held posture, the value of its only joint, or the number of its joints."""
    if isinstance(task.posture, str):
        return task.posture
    held = task.held(figure)
    if len(held) == 1 and figure.joints[held[0]].nv == 1:
        value = figure.posture(task.posture)[held[0]]
        return f"{held[0]} {_joint_amount(figure, held[0], float(np.ravel(value)[0]))}"
    named = len(task.posture) if isinstance(task.posture, Mapping) else len(held)
    return f"a posture of {min(named, len(held))} joints"


def _joint_amount(figure: Figure, joint: str, value: float) -> str:
    """The value of a joint, in degrees or as a length."""
    turns = "slide" not in figure.joints[joint].primitives
    return ("-" if value < 0.0 else "") + amount(abs(value), "rad" if turns else "m")


def _along(axes: str | ArrayLike, point: FloatArray) -> str:
    """A point, or those of its coordinates that the task controls."""
    if isinstance(axes, str):
        if len(axes) == 3:
            return place_words(point)
        return ", ".join(f"{axis} {point[AXIS_LETTERS.index(axis)]:.3f}" for axis in axes)
    return place_words(axes_of(axes, "axes") @ point)


def place_words(point: FloatArray) -> str:
    """A point, rounded to millimetres."""
    return f"({', '.join(f'{coordinate + 0.0:.3f}' for coordinate in np.round(point, 3))})"


def turn_words(rotation: FloatArray) -> str:
    """A rotation as an angle about an axis."""
    w, axis = abs(float(rotation[0])), np.copysign(1.0, rotation[0]) * rotation[1:]
    size = float(np.linalg.norm(axis))
    angle = math.degrees(2.0 * math.atan2(size, w))
    if angle < 0.05:
        return "not turned"
    return f"{angle:.1f}° about ({', '.join(f'{part + 0.0:.2f}' for part in np.round(axis / size, 2))})"


def amount(error: float, unit: str) -> str:
    """An error with a suitable unit: degrees for "rad", m, cm or mm for "m"."""
    if unit == "m":
        return length(error)
    if unit == "rad":
        degrees = math.degrees(error)
        return f"{degrees:.3g}°" if degrees >= 0.001 else "0"
    return f"{error:.3g} {unit}".rstrip() if error >= 1e-6 else "0"


def length(metres: float) -> str:
    """A length in metres, centimetres or millimetres."""
    if metres >= 1.0:
        return f"{metres:.3g} m"
    if metres >= 0.01:
        return f"{100.0 * metres:.3g} cm"
    return f"{1000.0 * metres:.3g} mm" if metres >= 1e-6 else "0"
