"""Session operations that change the scene: its tasks, its figure, and the joints that pulls may move."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from poise.engine.scene import Scene
from poise.errors import TaskError
from poise.figure.model.figure import Figure
from poise.studio.session.carry_posture import carried_over
from poise.studio.session.edits import with_parts, with_task, with_tasks
from poise.studio.session.live import Live
from poise.studio.session.shared import Shared
from poise.studio.session.state import state_of
from poise.tasks.task import Recruits, Task


class Asking(Shared):
    """Adds operations that change the scene; each of them can be undone."""

    def ask(self, scene_in: Callable[[Scene], Scene], gesture: object = None) -> None:
        """Replace the scene by `scene_in(scene)`; changes with the same gesture are undone together.

        If `scene_in` raises an error, or the new scene cannot be compiled for the solver, nothing changes.
        """
        with self._lock:
            state = self._state
            scene = scene_in(state.scene)
            Live(scene)  # raises for a scene that the solver cannot compile, before anything is changed
            self._history.remember(state, gesture)
            self._live = None
            self._set(scene=scene, scene_number=state.scene_number + 1, pulls=())
        self._notify()

    def add(self, task: Task) -> None:
        """Add a task."""
        self.ask(lambda scene: with_tasks(scene, [*scene.tasks, task]))

    def put(self, number: int, task: Task, gesture: object = None) -> None:
        """Replace a task, given by its number."""
        self._task(number)
        self.ask(lambda scene: with_task(scene, number, task), gesture)

    def change(self, number: int, **fields: Any) -> None:
        """Change some fields of a task, such as its priority."""
        self.put(number, replace(self._task(number), **fields))

    def remove(self, number: int) -> None:
        """Remove a task."""
        self._task(number)
        self.ask(lambda scene: with_tasks(scene, [task for k, task in enumerate(scene.tasks) if k != number]))

    def _task(self, number: int) -> Task:
        tasks = self._state.scene.tasks
        if not 0 <= number < len(tasks):
            raise TaskError(f"there is no task number {number}; the scene has {len(tasks)}.")
        return tasks[number]

    def recruit(self, body: str, joints: Recruits) -> None:
        """Set the joints that pulls and pins of a body may move; None for all joints."""
        with self._lock:
            state = self._state
            others = {name: chosen for name, chosen in state.recruits.items() if name != body}
            self._history.remember(state)
            self._set(recruits=others | ({} if joints is None else {body: joints}))
        self._notify()

    def set_root(self, body: str) -> None:
        """Make another body the root of the figure; every body stays where it is in the world."""
        state = self._state
        self.reshape(state.figure.rerooted(body, state.posture))

    def reshape(self, figure: Figure, gesture: object = None) -> None:
        """Replace the scene's figure by a changed one; joints that both have keep their values."""
        with self._lock:
            state = self._state
            posture = carried_over(state.posture, figure)
            scene = with_parts(state.scene, figure=figure, start=posture, origin=None)
            Live(scene)
            new = state_of(scene, state.folder)
            self._history.remember(state, gesture)
            self._restore(replace(new, posture=posture, mode=state.mode, recruits=state.recruits))
        self._notify()
