"""Marks for the tasks of a scene: targets, errors, lines of sight, support polygons, centres of mass and planes."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import singledispatch
from typing import Any

import numpy as np

from poise.engine.footprint import support_polygon
from poise.engine.wanted import part_from_world
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray, Pose, vector
from poise.figure.model.posture import Posture
from poise.tasks.mass import CenterOfMass
from poise.tasks.obstacles import Plane
from poise.tasks.place import Frame, LookAt, Position
from poise.tasks.task import Task, axes_of

SHOWN_TARGET_ERROR = 1e-3
"""Error of a target from which a line is drawn to it [m]."""


@dataclass
class Marks:
    """World points of the marks to draw over a picture [m]."""

    targets: list[FloatArray] = field(default_factory=list)
    """(3,) targets of positions."""
    gaps: list[FloatArray] = field(default_factory=list)
    """(2, 3) a point and the target that it misses."""
    sights: list[FloatArray] = field(default_factory=list)
    """(2, 3) an eye and its target."""
    footprints: list[FloatArray] = field(default_factory=list)
    """(k, 3) corners of a support polygon."""
    weights: list[FloatArray] = field(default_factory=list)
    """(2, 3) the centre of mass and its projection on the ground."""
    planes: list[FloatArray] = field(default_factory=list)
    """(4, 3) corners of a square of a plane."""

    def points(self) -> FloatArray:
        """(k, 3) world points that a picture must show; planes may be cut off."""
        groups = (*self.gaps, *self.sights, *self.footprints, *self.weights)
        return np.concatenate([np.empty((0, 3)), *(point[None] for point in self.targets), *groups])

    def add_target(self, point: FloatArray, target: FloatArray) -> None:
        """Add a target, and a gap if `point` is away from it."""
        self.targets.append(target)
        if float(np.linalg.norm(point - target)) > SHOWN_TARGET_ERROR:
            self.gaps.append(np.stack([point, target]))


def marks_of(tasks: tuple[Task, ...], posture: Posture) -> Marks:
    """The marks of all active tasks."""
    marks = Marks()
    for task in tasks:
        if task.active:
            mark(task, posture, marks)
    return marks


@singledispatch
def mark(task: Task, posture: Posture, marks: Marks) -> None:
    """Add the marks of a task; by default a task has none."""


@mark.register(Position)
def _(task: Position, posture: Posture, marks: Marks) -> None:
    frame = posture.figure.pose_of(task.site, posture)
    point = frame.apply(np.zeros(3) if task.offset is None else vector(task.offset))
    world_from_base = part_from_world(posture, task.relative_to).inverse()
    marks.add_target(point, world_from_base.apply(_nearest_target(task, world_from_base.inverse().apply(point))))


@mark.register(Frame)
def _(task: Frame, posture: Posture, marks: Marks) -> None:
    given: Any = task.pose
    place = given.position if isinstance(given, Pose) else vector(given[0])
    world_from_base = part_from_world(posture, task.relative_to).inverse()
    marks.add_target(posture.figure.pose_of(task.site, posture).position, world_from_base.apply(place))


@mark.register(LookAt)
def _(task: LookAt, posture: Posture, marks: Marks) -> None:
    if task.at is not None:
        eye = posture.figure.pose_of(task.site, posture).position
        target = part_from_world(posture, task.relative_to).inverse().apply(vector(task.at))
        marks.targets.append(target)
        marks.sights.append(np.stack([eye, target]))


@mark.register(CenterOfMass)
def _(task: CenterOfMass, posture: Posture, marks: Marks) -> None:
    figure = posture.figure
    center = figure.center_of_mass(posture)
    if task.at is not None:
        marks.add_target(center, _nearest_target(task, center))
        return
    corners = support_polygon(posture, task.supports).corners
    below = center + float((corners[0] - center) @ figure.up_vector) * figure.up_vector
    marks.footprints.append(corners)
    marks.weights.append(np.stack([center, below]))


def _nearest_target(task: Position | CenterOfMass, here: FloatArray) -> FloatArray:
    """(3,) the point nearest to `here` that meets the task along its axes."""
    axes = axes_of(task.axes, task.label)
    gap = vector(task.at if task.at is not None else here) - here
    step: FloatArray = here + np.linalg.pinv(axes) @ axes @ gap
    return step


def plane_patch(plane: Plane, figure: Figure, points: FloatArray) -> FloatArray | None:
    """(4, 3) a square of a plane near the world points (k, 3); None for the ground, which every picture has."""
    normal = vector(plane.normal)
    if float(normal @ figure.up_vector) > 1.0 - 1e-9 and abs(plane.offset) < SHOWN_TARGET_ERROR:
        return None
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    middle = middle + (plane.offset - float(middle @ normal)) * normal
    half = 0.5 * float(np.ptp(points, axis=0).max())
    first = np.cross(normal, np.eye(3)[int(np.argmin(np.abs(normal)))])
    first /= np.linalg.norm(first)
    second = np.cross(normal, first)
    return np.array([middle + half * (a * first + b * second) for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))])
