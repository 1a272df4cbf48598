"""Tasks as they are when somebody adds one: they ask for what is so already."""

from __future__ import annotations

from collections.abc import Callable

from poise.figure.model.posture import Posture
from poise.studio.session.pull import lowest
from poise.studio.session.state import State
from poise.tasks.avoid import Avoid
from poise.tasks.equilibrium import Equilibrium
from poise.tasks.mass import CenterOfMass, MomentOfInertia
from poise.tasks.place import Frame, LookAt, Orientation, Position
from poise.tasks.posture import Hold
from poise.tasks.steady import Slow, Still
from poise.tasks.task import Task

AHEAD = 1.0
"""How far ahead someone first looks [m]."""
FAST = 3.0
"""Bodies that turn faster than this are slowed down at first [rad/s]."""
RATE = 60.0
"""Steps per second."""


def _position(posture: Posture, site: str, level: int) -> Task:
    return Position(site, posture.figure.pose_of(site, posture).position, priority=level)


def _orientation(posture: Posture, site: str, level: int) -> Task:
    return Orientation(site, posture.figure.pose_of(site, posture).rotation, priority=level)


def _frame(posture: Posture, site: str, level: int) -> Task:
    return Frame(site, posture.figure.pose_of(site, posture), priority=level)


def _look_at(posture: Posture, site: str, level: int) -> Task:
    return LookAt(site, at=posture.figure.pose_of(site, posture).apply((0.0, AHEAD, 0.0)), priority=level)


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
    return Slow(speed=FAST, rate=RATE, priority=level)


KINDS: dict[str, Callable[[Posture, str, int], Task]] = {
    "position": _position,
    "orientation": _orientation,
    "position and orientation": _frame,
    "look at": _look_at,
    "centre of mass": _center,
    "balance over": _balance,
    "moment of inertia": _inertia,
    "hold this posture": _hold,
    "equilibrium of forces": _equilibrium,
    "keep clear of itself": _avoid,
    "stay still": _still,
    "turn slowly": _slow,
}
"""Every kind of task that can be added."""
OF_A_SITE = ("position", "orientation", "position and orientation", "look at", "balance over")
"""Kinds that are about a site or body."""


def new_task(state: State, kind: str, site: str) -> Task:
    """A task of a kind, below all that are asked."""
    return KINDS[kind](state.posture, site, lowest(state.scene.tasks))


def parts_to_choose(state: State) -> list[str]:
    """Sites, then bodies without a site of their name."""
    figure = state.figure
    return list(dict.fromkeys((*figure.sites.names, *(body.name for body in figure.bodies))))
