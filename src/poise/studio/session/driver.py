"""Modes of the studio: what a mode remembers, and what moves the figure while it is on.

What a mode remembers is an immutable `Mode` in the session's state, so that undo, redo and other tabs know it. What
moves is a `Driver`, one per kind of mode, asked for the next posture sixty times per second.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from poise.figure.model.posture import Posture
from poise.studio.session.outcome import Outcome
from poise.studio.session.samples import Samples

if TYPE_CHECKING:
    from poise.studio.session.session import Session
    from poise.studio.session.state import State

TICK = 1.0 / 60.0
"""Time from one posture to the next [s]."""


@dataclass(frozen=True)
class Mode:
    """What a mode remembers; the plain one is that in which the engine poses the figure."""

    name: ClassVar[str] = "pose"
    drives: ClassVar[bool] = False
    """Whether something else than the engine moves the figure."""
    errors: bool = False
    """Whether errors of tasks are plotted."""


class Driven(NamedTuple):
    """The next posture of a mode."""

    posture: Posture
    outcome: Outcome
    more: bool
    """Whether there is another to come without anybody doing anything."""


class Driver(ABC):
    """What moves the figure in a mode, and what is drawn about that."""

    def __init__(self) -> None:
        """Begin without samples."""
        self.samples = Samples()

    @abstractmethod
    def enter(self, session: Session) -> None:
        """Show the scene that the mode begins with, of the session's figure if it can be that."""

    def figures(self) -> tuple[str, ...]:
        """Built-in figures that the mode can show."""
        return ()

    def choose(self, session: Session, figure: str) -> None:
        """Show another of its figures."""
        raise NotImplementedError

    def drive(self, state: State) -> Driven | None:
        """The next posture; None where the engine is in charge."""
        return None

    def plots(self, state: State) -> Mapping[str, Any] | None:
        """What the strip below plots; None for nothing. Sent when its "key" changes."""
        return None

    def rows(self, since: int) -> tuple[int, list[list[float]]]:
        """The number of the newest sample, and the samples after number `since`."""
        return self.samples.since(since)

    def overlay(self, state: State) -> Mapping[str, Any] | None:
        """What is drawn around the figure; None for nothing. Sent when its "key" changes."""
        return None

    def hear(self, session: Session, message: Mapping[str, Any]) -> None:
        """Do what the strip or a view of the mode says; what makes no sense is passed over."""
        del session, message

    def watch(self, state: State) -> None:
        """Take a sample of a state for the plots; called after every change."""
        del state

    def views(self, state: State) -> Mapping[str, Mapping[str, Any]]:
        """What views of the mode's own show, by their kind; each is sent when its "key" changes."""
        del state
        return {}

    def cursor(self, state: State) -> float | None:
        """Where a timeline is [s]; None where there is none."""
        del state
        return None

    def leave(self) -> None:
        """Let go of what the mode held, when it is over."""
        return
