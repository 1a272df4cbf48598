"""Messages of a page's pointer, sent to a session as the viewport's connection does."""

from typing import Any

from poise.studio.session.session import Session
from poise.studio.wire.connection import take
from poise.studio.wire.viewport import point


def send(session: Session, owner: object, text: str) -> None:
    """Send a text as it comes from the page; what makes no sense is ignored."""
    take(text, lambda message: point(session, owner, message))


def say(session: Session, owner: object, do: str, **fields: Any) -> None:
    point(session, owner, {"do": do, "figure": session.state.figure_number, **fields})


def press(session: Session, owner: object, body: int, place: Any) -> None:
    say(session, owner, "press", body=body, point=place)


def drag(session: Session, owner: object, at: Any) -> None:
    say(session, owner, "drag", at=at)


def grip(session: Session, owner: object, number: int) -> None:
    say(session, owner, "grip", freedom=number)


def twist(session: Session, owner: object, number: int, amount: float) -> None:
    say(session, owner, "twist", freedom=number, amount=amount)


def release(session: Session, owner: object) -> None:
    say(session, owner, "release")


def aim(session: Session, number: int, at: Any, rotation: Any = None, *, gesture: object = None) -> None:
    say(session, "me", "aim", task=number, at=at, rotation=rotation, gesture=gesture)
