"""New tasks; each asks for the figure's present state, so that adding it moves nothing."""

from __future__ import annotations

from collections.abc import Callable

from poise.figure.model.posture import Posture
from poise.studio.session.pull import lowest_priority
from poise.studio.session.state import State
from poise.tasks.avoid import Avoid
from poise.tasks.equilibrium import Equilibrium
from poise.tasks.mass import CenterOfMass, MomentOfInertia
from poise.tasks.place import Frame, LookAt, Orientation, Position
from poise.tasks.posture import Hold
from poise.tasks.steady import Slow, Still
from poise.tasks.task import Task

NEW_LOOK_DISTANCE = 1.0
"""Distance of the target of a new look-at task from its site [m]."""
NEW_SPEED_LIMIT = 3.0
"""Largest angular speed in a new task that slows bodies down [rad/s]."""
STEP_RATE = 60.0
"""Solver steps per second."""


def _position(posture: Posture, site: str, level: int) -> Task:
    return Position(site, posture.figure.pose_of(site, posture).position, priority=level)


def _orientation(posture: Posture, site: str, level: int) -> Task:
    return Orientation(site, posture.figure.pose_of(site, posture).rotation, priority=level)


def _frame(posture: Posture, site: str, level: int) -> Task:
    return Frame(site, posture.figure.pose_of(site, posture), priority=level)


def _look_at(posture: Posture, site: str, level: int) -> Task:
    return LookAt(site, at=posture.figure.pose_of(site, posture).apply((0.0, NEW_LOOK_DISTANCE, 0.0)), priority=level)


def _center(posture: Posture, site: str, level: int) -> Task:
    return CenterOfMass(at=posture.figure.center_of_mass(posture), priority=level)


def _balance(posture: Posture, site: str, level: int) -> Task:
    return CenterOfMass(over=[site], priority=level, name=f"balance over {site}")


def _inertia(posture: Posture, site: str, level: int) -> Task:
    return MomentOfInertia(posture.figure.up, 0.0, priority=level)


def _hold(posture: Posture, site: str, level: int) -> Task:
    return Hold(posture, priority=level)


def _equilibrium(posture: Posture, site: str, level: int) -> Task:
    return Equilibrium(priority=level)


def _avoid(posture: Posture, site: str, level: int) -> Task:
    return Avoid("self", priority=level)


def _still(posture: Posture, site: str, level: int) -> Task:
    return Still(priority=level)


def _slow(posture: Posture, site: str, level: int) -> Task:
    return Slow(speed=NEW_SPEED_LIMIT, rate=STEP_RATE, priority=level)


TASK_KINDS: dict[str, Callable[[Posture, str, int], Task]] = {
    "Position": _position,
    "Orientation": _orientation,
    "Position and orientation": _frame,
    "Look at": _look_at,
    "Centre of mass": _center,
    "Balance over": _balance,
    "Moment of inertia": _inertia,
    "Hold this posture": _hold,
    "Equilibrium of forces": _equilibrium,
    "Avoid self-collision": _avoid,
    "Stay still": _still,
    "Turn slowly": _slow,
}
"""Functions that make each kind of task, from a posture, a site and a priority."""
KINDS_WITH_SITE = ("Position", "Orientation", "Position and orientation", "Look at", "Balance over")
"""Kinds of task that need a site or body."""


def new_task(state: State, kind: str, site: str) -> Task:
    """A new task of a kind, with a priority below all others."""
    return TASK_KINDS[kind](state.posture, site, lowest_priority(state.scene.tasks))


def parts_to_choose(state: State) -> list[str]:
    """Names a task can refer to: all sites, then the bodies that have no site of the same name."""
    figure = state.figure
    return list(dict.fromkeys((*figure.sites.names, *(body.name for body in figure.bodies))))
