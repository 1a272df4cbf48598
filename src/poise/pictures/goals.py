"""What a scene asks, as marks: targets and how far off they are, lines of sight, footprints and weights, planes."""

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

NEAR = 1e-3
"""What is closer to its target than this is not joined to it by a line [m]."""


@dataclass
class Marks:
    """What to draw over a picture, in world points."""

    targets: list[FloatArray] = field(default_factory=list)
    gaps: list[FloatArray] = field(default_factory=list)
    """(2, 3) from what is off to where it should be."""
    sights: list[FloatArray] = field(default_factory=list)
    """(2, 3) from an eye to what it should look at."""
    footprints: list[FloatArray] = field(default_factory=list)
    """(k, 3) corners of what is stood on."""
    weights: list[FloatArray] = field(default_factory=list)
    """(2, 3) the centre of mass and the ground below it."""
    planes: list[FloatArray] = field(default_factory=list)
    """(4, 3) corners of a piece of a plane."""

    def points(self) -> FloatArray:
        """(k, 3) world points that a picture must not cut off."""
        groups = (*self.gaps, *self.sights, *self.footprints, *self.weights)
        return np.concatenate([np.empty((0, 3)), *(point[None] for point in self.targets), *groups])

    def aim(self, point: FloatArray, target: FloatArray) -> None:
        """Mark a target, and what should be there."""
        self.targets.append(target)
        if float(np.linalg.norm(point - target)) > NEAR:
            self.gaps.append(np.stack([point, target]))


def marks_of(tasks: tuple[Task, ...], posture: Posture) -> Marks:
    """The marks of all tasks that are asked."""
    marks = Marks()
    for task in tasks:
        if task.active:
            mark(task, posture, marks)
    return marks


@singledispatch
def mark(task: Task, posture: Posture, marks: Marks) -> None:
    """Add what a task asks; nothing for tasks that are about no place."""


@mark.register(Position)
def _(task: Position, posture: Posture, marks: Marks) -> None:
    frame = posture.figure.pose_of(task.site, posture)
    point = frame.apply(np.zeros(3) if task.offset is None else vector(task.offset))
    world_from_base = part_from_world(posture, task.relative_to).inverse()
    marks.aim(point, world_from_base.apply(_wanted(task, world_from_base.inverse().apply(point))))


@mark.register(Frame)
def _(task: Frame, posture: Posture, marks: Marks) -> None:
    given: Any = task.pose
    place = given.position if isinstance(given, Pose) else vector(given[0])
    world_from_base = part_from_world(posture, task.relative_to).inverse()
    marks.aim(posture.figure.pose_of(task.site, posture).position, world_from_base.apply(place))


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
        marks.aim(center, _wanted(task, center))
        return
    corners = support_polygon(posture, task.supports).corners
    below = center + float((corners[0] - center) @ figure.up_vector) * figure.up_vector
    marks.footprints.append(corners)
    marks.weights.append(np.stack([center, below]))


def _wanted(task: Position | CenterOfMass, here: FloatArray) -> FloatArray:
    """The nearest place that a task would be content with."""
    axes = axes_of(task.axes, task.label)
    gap = vector(task.at if task.at is not None else here) - here
    step: FloatArray = here + np.linalg.pinv(axes) @ axes @ gap
    return step


def plane_patch(plane: Plane, figure: Figure, points: FloatArray) -> FloatArray | None:
    """(4, 3) a square of a plane beside world points; None for the ground, which every picture shows."""
    normal = vector(plane.normal)
    if float(normal @ figure.up_vector) > 1.0 - 1e-9 and abs(plane.offset) < NEAR:
        return None
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    middle = middle + (plane.offset - float(middle @ normal)) * normal
    half = 0.5 * float(np.ptp(points, axis=0).max())
    first = np.cross(normal, np.eye(3)[int(np.argmin(np.abs(normal)))])
    first /= np.linalg.norm(first)
    second = np.cross(normal, first)
    return np.array([middle + half * (a * first + b * second) for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))])
