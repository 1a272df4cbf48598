"""Session operations of a pointer: drag a point, turn a joint, move a target, pin a point."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from numpy.typing import ArrayLike

from poise.figure.model.pose import Pose
from poise.studio.session.asking import Asking
from poise.studio.session.edits import with_task
from poise.studio.session.pull import Pull, checked_point, joint_task, lowest_priority, point_task, pull_name
from poise.tasks.posture import Hold


class Pulling(Asking):
    """Adds the operations of a pointer."""

    def press(self, owner: object, body: int, point: ArrayLike) -> None:
        """Start to drag a point of a body, given in the body's frame; an owner drags one thing at a time [m]."""
        with self._lock:
            state = self._state
            if state.mode.drives:
                return
            level, name = lowest_priority(state.scene.tasks), pull_name(state.figure, body)
            task = point_task(state.posture, body, point, priority=level, name=name, joints=state.recruits_for(body))
            self._add_pull(Pull(owner, task, checked_point(task.at)))
        self._notify()

    def grip(self, owner: object, number: int) -> None:
        """Start to turn the joint of a degree of freedom."""
        with self._lock:
            state = self._state
            if state.mode.drives:
                return
            task = joint_task(state.posture, number, priority=lowest_priority(state.scene.tasks))
            self._add_pull(Pull(owner, task, state.posture.q))
        self._notify()

    def drag(self, owner: object, at: ArrayLike) -> None:
        """Drag the owner's point to a world position; does nothing if the owner drags no point [m]."""
        there = checked_point(at)
        self._change_pull(owner, lambda pull: pull if isinstance(pull.task, Hold) else pull.moved(there))

    def twist(self, owner: object, number: int, amount: float) -> None:
        """Move a degree of freedom of the owner's joint by an amount from its value at the grip [rad or m]."""
        self._change_pull(owner, lambda pull: pull.twisted(number, amount) if isinstance(pull.task, Hold) else pull)

    def release(self, owner: object) -> None:
        """End the owner's drag, if there is one."""
        with self._lock:
            left = [pull for pull in self._state.pulls if pull.owner != owner]
            if len(left) == len(self._state.pulls):
                return
            self._set_pulls(left)
        self._notify()

    def _add_pull(self, pull: Pull) -> None:
        self._set_pulls([*(other for other in self._state.pulls if other.owner != pull.owner), pull])

    def _set_pulls(self, pulls: Sequence[Pull]) -> None:
        self._live = None
        self._set(pulls=tuple(pulls))

    def _change_pull(self, owner: object, moved: Callable[[Pull], Pull]) -> None:
        with self._lock:
            held = next((pull for pull in self._state.pulls if pull.owner == owner), None)
            if held is None:
                return
            new = moved(held)
            self._history.remember(self._state, held.task)
            pulls = tuple(new if pull is held else pull for pull in self._state.pulls)
            if self._live is not None:
                self._live.aim(pulls)
            self._set(pulls=pulls)
        self._notify()

    def aim(self, number: int, at: ArrayLike, rotation: ArrayLike | None = None, *, gesture: object = None) -> None:
        """Move a task's target to a world position and rotate it; one gesture is undone as a whole [m]."""
        there = checked_point(at)
        with self._lock:
            state = self._state
            old = self._task(number)
            mark = old.target_in(state.posture)
            if mark is None:
                return
            new = old.dragged(state.posture, Pose(there, mark.rotation if rotation is None else rotation))
            scene = with_task(state.scene, number, new)
            self._history.remember(state, ("aim", number, gesture))
            if self._live is not None:
                self._live.retarget(number, new)
            self._set(scene=scene, scene_number=state.scene_number + 1)
        self._notify()

    def pin(self, body: int, point: ArrayLike) -> None:
        """Add a task that keeps a point of a body, given in the body's frame, where it is [m]."""
        state = self._state
        name = f"pinned {state.figure.bodies[body].name.replace('_', ' ')}"
        level, joints = lowest_priority(state.scene.tasks), state.recruits_for(body)
        self.add(point_task(state.posture, body, point, priority=level, name=name, joints=joints))
