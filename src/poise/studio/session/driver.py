"""Modes of the studio: a mode's settings (`Mode`) and the object that moves the figure while it is on (`Driver`).

The settings are an immutable `Mode` in the session's state, so that undo and redo restore them and all pages share
them. The `Driver`, one for each mode, computes the next posture sixty times per second.
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
"""Time between two postures [s]."""


@dataclass(frozen=True)
class Mode:
    """Settings of a mode; this base class is the pose mode, in which the engine solves the scene's tasks."""

    name: ClassVar[str] = "pose"
    drives: ClassVar[bool] = False
    """Whether the mode's driver moves the figure in place of the engine."""
    errors: bool = False
    """Whether the errors of tasks are plotted."""

    def memory(self) -> tuple[object, int]:
        """The object with the results that the mode shows, and its size [bytes], which bounds the undo history."""
        return None, 0


class Driven(NamedTuple):
    """The next posture of a mode, computed by its driver."""

    posture: Posture
    """The posture to show."""
    outcome: Outcome
    """The status light and its sentence."""
    more: bool
    """Whether the driver has to be called again even if nothing changes."""
    fields: Mapping[str, Any] = {}
    """Further fields of the state that change, by name."""


class Driver(ABC):
    """Moves the figure in one mode, and provides the plots and drawings of that mode."""

    def __init__(self) -> None:
        """Start with an empty plot."""
        self.samples = Samples()

    @abstractmethod
    def enter(self, session: Session) -> None:
        """Open the mode's first scene, with the session's present figure if the mode supports it."""

    def figures(self) -> tuple[str, ...]:
        """Names of the built-in figures that the mode supports."""
        return ()

    def choose(self, session: Session, figure: str) -> None:
        """Switch to another of the mode's figures."""
        raise NotImplementedError

    def drive(self, state: State) -> Driven | None:
        """The next posture; None if the engine moves the figure."""
        return None

    def plots(self, state: State) -> Mapping[str, Any] | None:
        """Description of the plots below the viewport, None for no plots; sent to pages when its "key" changes."""
        return None

    def rows(self, since: int) -> tuple[int, list[list[float]]]:
        """The number of the newest plot sample, and the samples after number `since`."""
        return self.samples.since(since)

    def overlay(self, state: State) -> Mapping[str, Any] | None:
        """Drawings around the figure, None for none; sent to pages when its "key" changes."""
        return None

    def hear(self, session: Session, message: Mapping[str, Any]) -> None:
        """Handle a message from the plots or a view of the mode; malformed messages are ignored."""
        del session, message

    def watch(self, state: State) -> None:
        """Add a plot sample of a state; called after every change."""
        del state

    def views(self, state: State) -> Mapping[str, Mapping[str, Any]]:
        """Contents of the mode's own views, by kind; each is sent to pages when its "key" changes."""
        del state
        return {}

    def cursor(self, state: State) -> float | None:
        """Time of the cursor on the timeline; None if the mode has no timeline [s]."""
        del state
        return None

    def leave(self) -> None:
        """Release the mode's resources when it ends, such as a connected robot."""
        return
