"""Points that are pulled, joints that are turned, targets that are carried."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from numpy.typing import ArrayLike

from poise.studio.session.asking import Asking
from poise.studio.session.edits import with_task
from poise.studio.session.pull import Pull, joint_task, lowest, place, point_task, words_for
from poise.studio.session.targets import carried
from poise.tasks.posture import Hold


class Pulling(Asking):
    """What a pointer does to the figure and to what is asked of it."""

    def press(self, owner: object, body: int, point: ArrayLike) -> None:
        """Take hold of a point of a body, in its own axes [m]; each owner holds one thing."""
        with self._lock:
            state = self._state
            if state.mode.drives:
                return
            level, name = lowest(state.scene.tasks), words_for(state.figure, body)
            task = point_task(state.posture, body, point, priority=level, name=name, joints=state.recruits_for(body))
            self._hold(Pull(owner, task, place(task.at)))
        self._tell()

    def grip(self, owner: object, number: int) -> None:
        """Take hold of the joint that a freedom belongs to."""
        with self._lock:
            state = self._state
            if state.mode.drives:
                return
            task = joint_task(state.posture, number, priority=lowest(state.scene.tasks))
            self._hold(Pull(owner, task, state.posture.q))
        self._tell()

    def drag(self, owner: object, at: ArrayLike) -> None:
        """Drag the point that an owner holds to a point of the world [m]; nothing happens where none is held."""
        there = place(at)
        self._lead(owner, lambda pull: pull if isinstance(pull.task, Hold) else pull.moved(there))

    def twist(self, owner: object, number: int, amount: float) -> None:
        """Move a freedom of the joint that an owner holds, from where it was taken hold of [rad or m]."""
        self._lead(owner, lambda pull: pull.twisted(number, amount) if isinstance(pull.task, Hold) else pull)

    def release(self, owner: object) -> None:
        """Let go of what an owner holds, if anything."""
        with self._lock:
            left = [pull for pull in self._state.pulls if pull.owner != owner]
            if len(left) == len(self._state.pulls):
                return
            self._pull(left)
        self._tell()

    def _hold(self, pull: Pull) -> None:
        self._pull([*(other for other in self._state.pulls if other.owner != pull.owner), pull])

    def _pull(self, pulls: Sequence[Pull]) -> None:
        self._live = None
        self._put(pulls=tuple(pulls))

    def _lead(self, owner: object, moved: Callable[[Pull], Pull]) -> None:
        with self._lock:
            held = next((pull for pull in self._state.pulls if pull.owner == owner), None)
            if held is None:
                return
            led = moved(held)
            self._history.remember(self._state, held.task)
            pulls = tuple(led if pull is held else pull for pull in self._state.pulls)
            if self._live is not None:
                self._live.aim(pulls)
            self._put(pulls=pulls)
        self._tell()

    def aim(self, number: int, at: ArrayLike, rotation: ArrayLike | None = None, *, gesture: object = None) -> None:
        """Move the target of a task to a point of the world [m], and turn it; one gesture is undone as a whole."""
        there = place(at)
        with self._lock:
            state = self._state
            old = self._task(number)
            new = carried(old, there, state.posture, rotation)
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
        level, joints = lowest(state.scene.tasks), state.recruits_for(body)
        self.add(point_task(state.posture, body, point, priority=level, name=name, joints=joints))
