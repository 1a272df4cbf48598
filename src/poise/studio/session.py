"""What the studio shows: one figure in one posture, shared by all pages that look at it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from poise.figure.figure import Figure
from poise.figure.posture import Posture
from poise.figures import BUILT_IN, built_in
from poise.pictures.parts import Appearance, appearance
from poise.studio.freedoms import Freedom, freedoms_of, shown_values, turned


@dataclass(frozen=True)
class State:
    """Everything at one moment."""

    figure: Figure
    look: Appearance
    posture: Posture
    freedoms: tuple[Freedom, ...]
    figure_number: int = 0
    """Grows by one with every new figure."""
    step: int = 0
    """Grows by one with every change."""


class Session:
    """The state, who may change it how, and who wants to know."""

    def __init__(self, figure: Figure, *, folder: Path | None = None) -> None:
        """Begin with a figure in its neutral posture; its meshes are looked for in `folder`."""
        self._first, self._folder = figure, folder
        self._lock = threading.Lock()
        self._listeners: list[Callable[[], object]] = []
        self._state = _state_of(figure, folder)

    @property
    def state(self) -> State:
        """The state now; it never changes, there will be another."""
        return self._state

    @property
    def figure_names(self) -> tuple[str, ...]:
        """Figures to choose from: the built-in ones, and the one the studio was started with."""
        return tuple(dict.fromkeys((*BUILT_IN, self._first.name)))

    def choose_figure(self, name: str) -> None:
        """Show another figure, in its neutral posture."""
        is_first = name == self._first.name
        figure = self._first if is_first else built_in(name)
        new = _state_of(figure, self._folder if is_first else None)
        with self._lock:
            old = self._state
            self._state = replace(new, figure_number=old.figure_number + 1, step=old.step + 1)
        self._tell()

    def choose_posture(self, name: str) -> None:
        """Take a named posture of the figure; "neutral" always exists."""
        figure = self._state.figure
        known = name in figure.posture_names
        self._pose(lambda state: state.figure.posture(name) if known or name != "neutral" else state.figure.neutral())

    def move(self, number: int, value: float) -> None:
        """Set one degree of freedom to a value in the unit it is shown in; the figure's limits hold."""
        self._pose(lambda state: turned(state.posture, state.freedoms[number], value))

    def values(self) -> list[float]:
        """The value of every degree of freedom, in the unit it is shown in."""
        state = self._state
        return shown_values(state.posture, state.freedoms)

    def _pose(self, posture_in: Callable[[State], Posture]) -> None:
        with self._lock:
            old = self._state
            self._state = replace(old, posture=posture_in(old), step=old.step + 1)
        self._tell()

    def subscribe(self, listener: Callable[[], object]) -> Callable[[], None]:
        """Call `listener` after every change, in the thread that made it; the answer ends that."""
        with self._lock:
            self._listeners.append(listener)

        def unsubscribe() -> None:
            with self._lock:
                self._listeners.remove(listener)

        return unsubscribe

    def _tell(self) -> None:
        with self._lock:
            listeners = tuple(self._listeners)
        for listener in listeners:
            listener()


def _state_of(figure: Figure, folder: Path | None) -> State:
    return State(figure, appearance(figure, folder=folder), figure.neutral(), freedoms_of(figure))
