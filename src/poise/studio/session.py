"""What the studio shows and who changes it: one scene, shared by all pages that look at it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from poise.engine.scene import Scene
from poise.errors import TaskError
from poise.figure.figure import Figure
from poise.figure.posture import Posture
from poise.figures import BUILT_IN, built_in
from poise.studio.edits import changed, with_start, with_task, with_tasks
from poise.studio.freedoms import shown_values, turned
from poise.studio.history import History
from poise.studio.live import Live
from poise.studio.openings import opening
from poise.studio.outcome import Outcome
from poise.studio.pull import Pull, lowest, place, point_task, words_for
from poise.studio.state import State, state_of
from poise.studio.targets import carried
from poise.tasks.task import Task

LOOK_EVERY = 6
"""A moving figure is judged once in so many steps."""

__all__ = ["Session", "State"]


class Session:
    """The state, who may change it how, and who wants to know."""

    def __init__(self, start: Figure | Scene, *, folder: Path | None = None) -> None:
        """Begin with a scene, or with a figure and what is asked of it first; `folder` has its meshes."""
        scene = start if isinstance(start, Scene) else opening(start)
        self._first, self._folder = scene, folder
        self._lock = threading.RLock()
        self._listeners: list[Callable[[], object]] = []
        self._history: History[State] = History()
        self._live: Live | None = None
        self._restless, self._ticks = bool(scene.tasks), 0
        self._state = state_of(scene, folder)

    @property
    def state(self) -> State:
        """The state now; it never changes, there will be another."""
        return self._state

    @property
    def can_undo(self) -> bool:
        """Whether there is a change to undo."""
        return bool(self._history.past)

    @property
    def can_redo(self) -> bool:
        """Whether there is a change to do again."""
        return bool(self._history.future)

    # The scene

    @property
    def figure_names(self) -> tuple[str, ...]:
        """Figures to choose from: the built-in ones, and the one the studio was started with."""
        return tuple(dict.fromkeys((*BUILT_IN, self._first.figure.name)))

    def choose_figure(self, name: str) -> None:
        """Show another figure, in the scene it opens with."""
        is_first = name == self._first.figure.name
        self.open(self._first if is_first else opening(built_in(name)), folder=self._folder if is_first else None)

    def open(self, scene: Scene, *, folder: Path | None = None) -> None:
        """Show another scene at its start."""
        new = state_of(scene, folder)
        with self._lock:
            self._history.remember(self._state)
            self._show(new)
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

    # Pulling

    def press(self, owner: object, body: int, point: ArrayLike) -> None:
        """Take hold of a point of a body, in its own axes [m]; each owner holds one."""
        with self._lock:
            state = self._state
            task = point_task(
                state.posture, body, point, priority=lowest(state.scene.tasks), name=words_for(state.figure, body)
            )
            pull = Pull(owner, task, place(task.at))
            self._pull([*(other for other in state.pulls if other.owner != owner), pull])
        self._tell()

    def drag(self, owner: object, at: ArrayLike) -> None:
        """Drag what an owner holds to a point of the world [m]; nothing happens where nothing is held."""
        there = place(at)
        with self._lock:
            held = next((pull for pull in self._state.pulls if pull.owner == owner), None)
            if held is None:
                return
            self._history.remember(self._state, held.task)
            pulls = tuple(pull.moved(there) if pull is held else pull for pull in self._state.pulls)
            if self._live is not None:
                self._live.aim(pulls)
            self._put(pulls=pulls)
        self._tell()

    def release(self, owner: object) -> None:
        """Let go of what an owner holds, if anything."""
        with self._lock:
            left = [pull for pull in self._state.pulls if pull.owner != owner]
            if len(left) == len(self._state.pulls):
                return
            self._pull(left)
        self._tell()

    def _pull(self, pulls: Sequence[Pull]) -> None:
        self._live = None
        self._put(pulls=tuple(pulls))

    # The tasks

    def aim(self, number: int, at: ArrayLike, gesture: object = None) -> None:
        """Move the target of a task to a point of the world [m]; moves of one gesture are undone together."""
        there = place(at)
        with self._lock:
            state = self._state
            old = self._task(number)
            new = carried(old, there, state.posture)
            scene = with_task(state.scene, number, new)
            self._history.remember(state, ("aim", number, gesture))
            if self._live is not None and new is not old:
                self._live.retarget(number, new)
            self._put(scene=scene, scene_number=state.scene_number + 1)
        self._tell()

    def pin(self, body: int, point: ArrayLike) -> None:
        """Keep a point of a body, in its own axes [m], where it is: a task that stays."""
        state = self._state
        name = f"pinned {state.figure.bodies[body].name.replace('_', ' ')}"
        self.add(point_task(state.posture, body, point, priority=lowest(state.scene.tasks), name=name))

    def add(self, task: Task) -> None:
        """Ask one thing more."""
        self._ask(lambda scene: with_tasks(scene, [*scene.tasks, task]))

    def put(self, number: int, task: Task) -> None:
        """Ask something else in place of a task."""
        self._task(number)
        self._ask(lambda scene: with_task(scene, number, task))

    def change(self, number: int, **fields: Any) -> None:
        """Change fields of a task, such as its priority."""
        self.put(number, changed(self._task(number), **fields))

    def remove(self, number: int) -> None:
        """Ask one thing less."""
        self._task(number)
        self._ask(lambda scene: with_tasks(scene, [task for k, task in enumerate(scene.tasks) if k != number]))

    def _task(self, number: int) -> Task:
        tasks = self._state.scene.tasks
        if not 0 <= number < len(tasks):
            raise TaskError(f"there is no task number {number}; the scene has {len(tasks)}.")
        return tasks[number]

    def _ask(self, scene_in: Callable[[Scene], Scene]) -> None:
        with self._lock:
            state = self._state
            scene = scene_in(state.scene)
            Live(scene)  # a scene that cannot be solved is refused before it is shown
            self._history.remember(state)
            self._live = None
            self._put(scene=scene, scene_number=state.scene_number + 1, pulls=())
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
            if not state.scene.tasks and not state.pulls:
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
        outcome = state.outcome
        if rests or self._ticks % LOOK_EVERY == 0:
            outcome = self._live.judged(posture, state.scene, state.pulls)
        self._restless = not rests
        self._put(wake=False, posture=posture, outcome=outcome)

    def give_up(self, sentence: str) -> None:
        """Say that there is no going on with this scene as it is."""
        with self._lock:
            self._restless, self._live = False, None
            self._put(wake=False, outcome=Outcome("red", sentence), pulls=())
        self._tell()

    # Everyone hears of every change

    def _put(self, *, wake: bool = True, **fields: Any) -> None:
        self._restless = self._restless or wake
        self._state = replace(self._state, step=self._state.step + 1, **fields)

    def _show(self, moment: State) -> None:
        """Show another moment, as the next of this session."""
        now = self._state
        self._live = None
        is_new = moment.figure is not now.figure or moment.look is not now.look
        self._state = replace(
            moment,
            pulls=(),
            figure_number=now.figure_number + is_new,
            scene_number=now.scene_number + 1,
            step=now.step + 1,
        )
        self._restless = True

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
