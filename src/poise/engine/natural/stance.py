"""How a person stands while tasks move other parts: the tasks that `solve` adds by itself.

A person who is asked to bring a hand somewhere stays on both feet and keeps the balance. So where a human starts on its
feet, and all tasks are about sites of its trunk, head or arms, the feet stay where they are and the centre of mass
stays over them, above all other tasks. Tasks that may move only some joints need no such help.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from poise.figure.model.figure import Figure
from poise.figure.model.path import moving_joints
from poise.figure.model.pose import Pose
from poise.figure.model.posture import Posture
from poise.figures.people.likely_posture import FEET, people_of
from poise.tasks.avoid import Avoid
from poise.tasks.mass import CenterOfMass
from poise.tasks.place import Frame
from poise.tasks.task import Task

FLAT = 0.01
"""Largest difference between the soles' heights or directions and those of the neutral posture, on feet [m or 1]."""
ABOVE_ALL = 0
"""Priority above those that a task can be given."""


def stance(figure: Figure, tasks: Sequence[Task], start: Posture) -> list[Task]:
    """The tasks that keep a person standing who starts on both feet, where no task says otherwise; else none."""
    if (
        people_of(figure) is None
        or all(joint.kind != "free" for joint in figure.joints)
        or not _is_on_its_feet(figure, start)
    ):
        return []
    asked = [task for task in tasks if task.active and not isinstance(task, Avoid)]
    moves = any(task.joints is None for task in asked)
    if not moves or not all(_leaves_stance(figure, task) for task in asked):
        return []
    feet: list[Task] = [Frame(foot, figure.pose_of(foot, start), name=foot.replace("_", " ")) for foot in FEET]
    found = [*feet, CenterOfMass(over=list(FEET), name="balance")]
    for task in found:
        object.__setattr__(task, "priority", ABOVE_ALL)
    return found


def _is_on_its_feet(figure: Figure, posture: Posture) -> bool:
    """Whether both soles are as high and as level as in the neutral posture."""
    up, frames = figure.up_vector, figure.frames(posture)
    for foot, there in zip(FEET, _feet_in_neutral(figure), strict=True):
        here = frames[foot]
        lifted = float(up @ (here.position - there.position))
        tilt = up @ here.matrix - up @ there.matrix
        if abs(lifted) > FLAT or np.abs(tilt).max() > FLAT:
            return False
    return True


def _leaves_stance(figure: Figure, task: Task) -> bool:
    """Whether a task is about a body that is neither the pelvis nor part of a leg."""
    sites = [getattr(task, name, None) for name in ("site", "relative_to", "other")]
    named = [figure.body_of(site) for site in sites if isinstance(site, str)]
    if not isinstance(getattr(task, "site", None), str):
        return False
    return _legs(figure).isdisjoint(named)


@lru_cache(maxsize=16)
def _legs(figure: Figure) -> frozenset[str]:
    """The pelvis and the bodies of both legs."""
    carrying = np.max([moving_joints(figure, figure.body_of(foot)) for foot in FEET], axis=0)
    return frozenset(joint.child for joint in figure.joints if carrying[figure.v_slice(joint.name)].any())


@lru_cache(maxsize=16)
def _feet_in_neutral(figure: Figure) -> tuple[Pose, ...]:
    """Poses of both feet in the neutral posture."""
    return tuple(figure.pose_of(foot, figure.neutral()) for foot in FEET)
