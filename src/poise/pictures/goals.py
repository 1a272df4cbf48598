"""Marks for the tasks of a scene: targets, errors, lines of sight, support polygons, centres of mass and planes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from poise.figure.collision.soles import support_polygon
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray, vector
from poise.figure.model.posture import Posture
from poise.tasks.obstacles import Plane
from poise.tasks.task import Task

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


def marks_of(tasks: tuple[Task, ...], posture: Posture) -> Marks:
    """The marks of all active tasks."""
    marks = Marks()
    for task in tasks:
        if task.active:
            mark(task, posture, marks)
    return marks


def mark(task: Task, posture: Posture, marks: Marks) -> None:
    """Add the marks of a task: its target if it can be moved, and the support polygon that it is about."""
    target = task.target_in(posture)
    if target is not None and target.moves:
        marks.targets.append(target.wanted)
        line = np.stack([target.got, target.wanted])
        if target.is_seen:
            marks.sights.append(line)
        elif float(np.linalg.norm(line[0] - line[1])) > SHOWN_TARGET_ERROR:
            marks.gaps.append(line)
    if task.supports:
        figure = posture.figure
        corners, center = support_polygon(posture, task.supports).corners, figure.center_of_mass(posture)
        below = center + float((corners[0] - center) @ figure.up_vector) * figure.up_vector
        marks.footprints.append(corners)
        marks.weights.append(np.stack([center, below]))


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
