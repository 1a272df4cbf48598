"""Messages from the pointer in a viewport, and the session operations they call."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from poise.errors import PoiseError, TaskError
from poise.figure.model.pose import Pose
from poise.studio.session.loads import with_arrow
from poise.studio.session.obstacles import with_obstacle_at
from poise.studio.session.session import Session

LONGEST_MESSAGE = 1000
"""Longest message that is accepted from a pointer [characters]."""
Message = Mapping[str, Any]


def point(session: Session, owner: object, text: str) -> None:
    """Handle a message from a pointer; malformed and outdated messages are ignored."""
    with contextlib.suppress(ValueError, TypeError, KeyError, IndexError, PoiseError):
        message = json.loads(text) if len(text) <= LONGEST_MESSAGE else {}
        what = message["do"]
        if what == "release" or message["figure"] == session.state.figure_number:
            ACTIONS[what](session, owner, message)


def _press(session: Session, owner: object, message: Message) -> None:
    session.press(owner, int(message["body"]), message["point"])


def _drag(session: Session, owner: object, message: Message) -> None:
    session.drag(owner, message["at"])


def _grip(session: Session, owner: object, message: Message) -> None:
    session.grip(owner, int(message["freedom"]))


def _twist(session: Session, owner: object, message: Message) -> None:
    session.twist(owner, int(message["freedom"]), _finite(message["amount"]))


def _release(session: Session, owner: object, message: Message) -> None:
    session.release(owner)


def _pin(session: Session, owner: object, message: Message) -> None:
    session.pin(int(message["body"]), message["point"])


def _aim(session: Session, owner: object, message: Message) -> None:
    session.aim(int(message["task"]), message["at"], message.get("rotation"), gesture=message["gesture"])


def _obstacle(session: Session, owner: object, message: Message) -> None:
    number, pose = int(message["obstacle"]), Pose(message["at"], message["rotation"])
    gesture = ("obstacle", number, message["gesture"])
    session.ask(lambda scene: with_obstacle_at(scene, number, pose), gesture)


def _force(session: Session, owner: object, message: Message) -> None:
    number, kind, posture = int(message["force"]), str(message["part"]), session.state.posture
    gesture = ("force", number, message["gesture"])
    session.ask(lambda scene: with_arrow(scene, number, kind, message["arrow"], posture), gesture)


ACTIONS: dict[str, Callable[[Session, object, Message], None]] = {
    "press": _press,
    "drag": _drag,
    "grip": _grip,
    "twist": _twist,
    "release": _release,
    "pin": _pin,
    "aim": _aim,
    "obstacle": _obstacle,
    "force": _force,
}
"""The function for each value of "do" in a message."""


def _finite(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise TaskError(f"the amount of a turn must be a finite number, not {value!r}.")
    return number
