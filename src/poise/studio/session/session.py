"""What the studio shows and who changes it: one scene, shared by all pages that look at it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from poise.engine.scene import Scene
from poise.figure.model.figure import Figure
from poise.figure.model.posture import Posture
from poise.figure.model.values import JointValues
from poise.figures import BUILT_IN, built_in
from poise.studio.scenes.openings import opening
from poise.studio.session.driver import Driven, Mode
from poise.studio.session.edits import with_start
from poise.studio.session.freedoms import shown_values, turned
from poise.studio.session.live import Live
from poise.studio.session.outcome import Outcome
from poise.studio.session.pulling import Pulling
from poise.studio.session.state import State, state_of

READYING = "Getting ready …"
"""What is said until it is known how a scene fares: solvers that are new here are compiled first."""
LOOK_EVERY = 6
"""A moving figure is judged once in so many steps."""

__all__ = ["Session", "State"]


class Session(Pulling):
    """The state, who may change it how, and who wants to know."""

    def __init__(self, start: Figure | Scene, *, folder: Path | None = None) -> None:
        """Begin with a scene, or with a figure and what is asked of it first; `folder` has its meshes."""
        scene = start if isinstance(start, Scene) else opening(start)
        self._first, self._folder = scene, folder
        super().__init__(state_of(scene, folder))
        self.driver: Callable[[State], Driven | None] | None = None
        """Moves the figure in place of the engine, where the mode is one that does."""
        self._restless, self._ticks = _asks(self._state), 0

    # The scene

    @property
    def figure_names(self) -> tuple[str, ...]:
        """Figures to choose from: the built-in ones, and the one the studio was started with."""
        return tuple(dict.fromkeys((*BUILT_IN, self._first.figure.name)))

    def choose_figure(self, name: str) -> None:
        """Show another figure, in the scene it opens with."""
        is_first = name == self._first.figure.name
        self.open(self._first if is_first else opening(built_in(name)), folder=self._folder if is_first else None)

    def open(self, scene: Scene, *, folder: Path | None = None, mode: Mode | None = None) -> None:
        """Show another scene at its start, in the plain mode unless another is given."""
        new = replace(state_of(scene, folder), mode=mode or Mode())
        if new.mode.drives or _asks(new):
            new = replace(new, outcome=Outcome("orange", READYING))
        with self._lock:
            self._history.remember(self._state)
            self._show(new)
        self._tell()

    def set_mode(self, mode: Mode, *, scene: Scene | None = None, gesture: object = None) -> None:
        """Change what the mode remembers, and the scene with it; changes of one gesture are undone together."""
        with self._lock:
            state = self._state
            self._history.remember(state, gesture)
            if scene is None:
                self._put(mode=mode)
            else:
                self._live = None
                self._put(mode=mode, scene=scene, scene_number=state.scene_number + 1, pulls=())
        self._tell()

    def wake(self) -> None:
        """Let whoever moves the figure look again."""
        with self._lock:
            self._put()
        self._tell()

    def saved(self) -> Scene:
        """The scene as it is now, to be started from the posture it is in."""
        state = self._state
        return with_start(state.scene, state.posture)

    # The posture

    def choose_posture(self, name: str) -> None:
        """Take a named posture of the figure; "neutral" always exists."""
        figure = self._state.figure
        known = name != "neutral" or name in figure.posture_names
        posture = figure.posture(name) if known else figure.neutral()
        self._pose(lambda state: posture)

    def take_posture(self, values: JointValues) -> None:
        """Take a posture that is given by joint; joints it is silent on stay as they are."""
        self._pose(lambda state: state.figure.clamp(state.posture.changed(values)))

    def move(self, number: int, value: float) -> None:
        """Set one degree of freedom to a value in the unit it is shown in; the figure's limits hold."""
        self._pose(lambda state: turned(state.posture, state.freedoms[number], value), gesture=("move", number))

    def values(self) -> list[float]:
        """The value of every degree of freedom, in the unit it is shown in."""
        state = self._state
        return shown_values(state.posture, state.freedoms)

    def _pose(self, posture_in: Callable[[State], Posture], gesture: object = None) -> None:
        with self._lock:
            posture = posture_in(self._state)
            self._history.remember(self._state, gesture)
            self._put(posture=posture)
        self._tell()

    # Back and forth

    def undo(self) -> None:
        """Take the last change back."""
        self._travel(self._history.back)

    def redo(self) -> None:
        """Do again what was undone."""
        self._travel(self._history.forth)

    def _travel(self, to: Callable[[State], State | None]) -> None:
        with self._lock:
            moment = to(self._state)
            if moment is None:
                return
            self._show(moment)
        self._tell()

    # Time

    def tick(self) -> bool:
        """Bring the figure one step nearer to what is asked; whether there is more to do."""
        with self._lock:
            if not self._restless:
                return False
            state = self._state
            driven = self.driver(state) if self.driver is not None and state.mode.drives else None
            if driven is not None:
                self._restless = driven.more
                self._put(wake=False, posture=driven.posture, outcome=driven.outcome)
            elif not _asks(state):
                self._restless = False
                self._put(wake=False, outcome=Outcome())
            else:
                self._step(state)
            more = self._restless
        self._tell()
        return more

    def _step(self, state: State) -> None:
        if self._live is None:
            self._live = Live(state.scene, state.pulls)
            self._live.aim(state.pulls)
        posture, rests = self._live.step(state.posture)
        self._ticks += 1
        looks = self._ticks % LOOK_EVERY == 0
        outcome = self._live.judged(posture, state.scene, state.pulls) if looks else state.outcome
        # A figure that rests is stepped until it has been judged, and not more often for being dragged meanwhile.
        self._restless = not (rests and looks)
        self._put(wake=False, posture=posture, outcome=outcome)

    def give_up(self, sentence: str) -> None:
        """Say that there is no going on with this scene as it is."""
        with self._lock:
            self._restless, self._live = False, None
            self._put(wake=False, outcome=Outcome("red", sentence), pulls=())
        self._tell()


def _asks(state: State) -> bool:
    """Whether there is anything that could move the figure."""
    scene = state.scene
    return bool(scene.tasks or scene.criteria or scene.obstacles or state.pulls)
