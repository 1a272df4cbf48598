"""How a person stands while tasks move other parts: the tasks that `solve` adds by itself.

A person who is asked to bring a hand somewhere stays on both feet and keeps the balance. So where a human starts on its
feet, each foot of whose leg no task asks anything stays where it is, and the centre of mass stays over the feet, above
all other tasks. A task for one leg frees that foot alone: the person stands on the other one. A task for the pelvis
frees neither, so that a person whose pelvis is lowered squats. Tasks for the centre of mass take the place of the
balance. Tasks that are about no part in particular (`Hold`, `Custom`) free everything, and tasks that may move only
some joints need no help.
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
from poise.tasks.place import Frame, Position
from poise.tasks.task import ABOVE_ALL, Task

FLAT = 0.01
"""Largest difference between the soles' heights or directions and those of the neutral posture, on feet [m or 1]."""


def stance(figure: Figure, tasks: Sequence[Task], start: Posture) -> Sequence[Task]:
    """The tasks that keep a person standing who starts on both feet, where no task says otherwise; else none."""
    if people_of(figure) is None:
        return ()
    asked = [task for task in tasks if task.active and not isinstance(task, Avoid)]
    moved = _moved_bodies(figure, asked)
    if moved is None or all(task.joints is not None for task in asked):
        return ()
    stay = tuple(foot for foot in FEET if moved.isdisjoint(_leg(figure, foot)))
    balanced = any(isinstance(task, CenterOfMass) for task in asked)
    over = () if balanced else tuple(foot for foot in FEET if foot in stay or _is_placed(figure, asked, foot))
    return _keeping(figure, start._q.tobytes(), stay, over)


@lru_cache(maxsize=16)
def _keeping(figure: Figure, q: bytes, stay: tuple[str, ...], over: tuple[str, ...]) -> tuple[Task, ...]:
    """The tasks that keep these feet where they are at the coordinates `q`, and the balance over others."""
    start = Posture(figure, np.frombuffer(q).copy())
    floats = any(joint.kind == "free" for joint in figure.joints)
    if not stay or not floats or not _is_on_its_feet(figure, start):
        return ()
    feet = [Frame(foot, figure.pose_of(foot, start), name=foot.replace("_", " ")) for foot in stay]
    found: list[Task] = [*feet, *([CenterOfMass(over=list(over), name="balance")] if over else [])]
    for task in found:
        object.__setattr__(task, "priority", ABOVE_ALL)
    return tuple(found)


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


def _moved_bodies(figure: Figure, tasks: Sequence[Task]) -> set[str] | None:
    """The bodies that tasks place or turn; None if some task is about no part in particular."""
    found: set[str] = set()
    for task in tasks:
        parts = [part for part in (getattr(task, "site", None), getattr(task, "to", None)) if isinstance(part, str)]
        if not parts and not isinstance(task, CenterOfMass):
            return None
        found.update(figure.body_of(part) for part in parts)
    return found


def _is_placed(figure: Figure, tasks: Sequence[Task], foot: str) -> bool:
    """Whether a task says where in the world a foot is, so that it is known whether the foot stands."""
    placing = [task for task in tasks if isinstance(task, Position | Frame) and task.relative_to is None]
    return any(figure.body_of(task.site) == figure.body_of(foot) for task in placing)


@lru_cache(maxsize=16)
def _leg(figure: Figure, foot: str) -> frozenset[str]:
    """The bodies of the leg of a foot, with the toes and without the pelvis."""
    carrying = moving_joints(figure, figure.body_of(foot))
    leg = {j.child for j in figure.joints if j.kind != "free" and carrying[figure.v_slice(j.name)].any()}
    return frozenset(leg | {joint.child for joint in figure.joints if joint.parent in leg})


@lru_cache(maxsize=16)
def _feet_in_neutral(figure: Figure) -> tuple[Pose, ...]:
    """Poses of both feet in the neutral posture."""
    return tuple(figure.pose_of(foot, figure.neutral()) for foot in FEET)
