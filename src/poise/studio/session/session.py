"""The session: one scene and one posture, shared by all pages of a studio."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from poise.engine.scene import Scene
from poise.figure.model.figure import Figure
from poise.figure.model.posture import JointValues, Posture
from poise.figures import BUILT_IN, built_in
from poise.studio.scenes.openings import opening
from poise.studio.session.driver import Driven, Mode
from poise.studio.session.edits import with_start
from poise.studio.session.freedoms import shown_values, turned
from poise.studio.session.live import Live
from poise.studio.session.outcome import Outcome
from poise.studio.session.pulling import Pulling
from poise.studio.session.state import State, state_of

GETTING_READY = "Getting ready …"
"""Sentence shown until a scene has been evaluated; the first solve may have to compile kernels."""
STEPS_PER_VERDICT = 6
"""Solver steps between two evaluations of the tasks while the figure moves."""

__all__ = ["Session", "State"]


class Session(Pulling):
    """The shared state with all operations on it: scenes, postures, undo, and the solver's steps."""

    def __init__(self, start: Figure | Scene, *, folder: Path | None = None) -> None:
        """Start with a scene, or with a figure and its opening scene; `folder` contains its meshes."""
        scene = start if isinstance(start, Scene) else opening(start)
        self._first, self._folder = scene, folder
        super().__init__(state_of(scene, folder))
        self.driver: Callable[[State], Driven | None] | None = None
        """Computes the next posture in place of the engine, in modes whose driver moves the figure."""
        self._needs_step, self._steps = _has_work(self._state), 0

    # The scene

    @property
    def figure_names(self) -> tuple[str, ...]:
        """Names of the figures to choose from: the built-in ones, and the one the studio was started with."""
        return tuple(dict.fromkeys((*BUILT_IN, self._first.figure.name)))

    def choose_figure(self, name: str) -> None:
        """Switch to another figure and its opening scene."""
        is_first = name == self._first.figure.name
        self.open(self._first if is_first else opening(built_in(name)), folder=self._folder if is_first else None)

    def open(self, scene: Scene, *, folder: Path | None = None, mode: Mode | None = None) -> None:
        """Open a scene in its start posture, in the pose mode unless another mode is given."""
        new = replace(state_of(scene, folder), mode=mode or Mode())
        if new.mode.drives or _has_work(new):
            new = replace(new, outcome=Outcome("orange", GETTING_READY))
        with self._lock:
            self._history.remember(self._state)
            self._restore(new)
        self._notify()

    def set_mode(self, mode: Mode, *, scene: Scene | None = None, gesture: object = None) -> None:
        """Change the mode's settings, and optionally the scene; changes with the same gesture are undone together."""
        with self._lock:
            state = self._state
            self._history.remember(state, gesture)
            if scene is None:
                self._set(mode=mode)
            else:
                self._live = None
                self._set(mode=mode, scene=scene, scene_number=state.scene_number + 1, pulls=())
        self._notify()

    def wake(self) -> None:
        """Run the solver or the mode's driver again, although nothing in the state has changed."""
        with self._lock:
            self._set()
        self._notify()

    def saved(self) -> Scene:
        """The present scene, with the present posture as its start."""
        state = self._state
        return with_start(state.scene, state.posture)

    # The posture

    def choose_posture(self, name: str) -> None:
        """Set a named posture of the figure; "neutral" always exists."""
        figure = self._state.figure
        known = name != "neutral" or name in figure.posture_names
        posture = figure.posture(name) if known else figure.neutral()
        self._set_posture(lambda state: posture)

    def take_posture(self, values: JointValues) -> None:
        """Set joint values given by name; other joints keep their values."""
        self._set_posture(lambda state: state.figure.clamp(state.posture.changed(values)))

    def move(self, number: int, value: float) -> None:
        """Set one degree of freedom to a value in its unit, inside the figure's limits."""
        self._set_posture(lambda state: turned(state.posture, state.freedoms[number], value), gesture=("move", number))

    def values(self) -> list[float]:
        """The value of every degree of freedom, in its unit."""
        state = self._state
        return shown_values(state.posture, state.freedoms)

    def _set_posture(self, posture_in: Callable[[State], Posture], gesture: object = None) -> None:
        with self._lock:
            posture = posture_in(self._state)
            self._history.remember(self._state, gesture)
            self._set(posture=posture)
        self._notify()

    # Undo and redo

    def undo(self) -> None:
        """Undo the last change."""
        self._restore_from(self._history.back)

    def redo(self) -> None:
        """Redo the change that was undone last."""
        self._restore_from(self._history.forth)

    def _restore_from(self, to: Callable[[State], State | None]) -> None:
        with self._lock:
            moment = to(self._state)
            if moment is None:
                return
            self._restore(moment)
        self._notify()

    # Time

    def tick(self) -> bool:
        """Take one step of the solver or of the mode's driver; returns whether another step is needed."""
        with self._lock:
            if not self._needs_step:
                return False
            state = self._state
            driven = self.driver(state) if self.driver is not None and state.mode.drives else None
            if driven is not None:
                self._needs_step = driven.more
                self._set(wake=False, posture=driven.posture, outcome=driven.outcome)
            elif not _has_work(state):
                self._needs_step = False
                self._set(wake=False, outcome=Outcome())
            else:
                self._step(state)
            more = self._needs_step
        self._notify()
        return more

    def _step(self, state: State) -> None:
        if self._live is None:
            self._live = Live(state.scene, state.pulls)
            self._live.aim(state.pulls)
        posture, rests = self._live.step(state.posture)
        self._steps += 1
        is_verdict_due = self._steps % STEPS_PER_VERDICT == 0
        outcome = self._live.judged(posture, state.scene) if is_verdict_due else state.outcome
        # A resting figure is stepped on until its tasks have been evaluated, which happens every few steps.
        self._needs_step = not (rests and is_verdict_due)
        self._set(wake=False, posture=posture, outcome=outcome)

    def give_up(self, sentence: str) -> None:
        """Stop solving this scene, end all pulls, and show a sentence with a red light."""
        with self._lock:
            self._needs_step, self._live = False, None
            self._set(wake=False, outcome=Outcome("red", sentence), pulls=())
        self._notify()


def _has_work(state: State) -> bool:
    """Whether the scene has anything that could move the figure."""
    scene = state.scene
    return bool(scene.tasks or scene.criteria or scene.obstacles or state.pulls)
