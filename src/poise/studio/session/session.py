"""The session: one state, shared by all pages of a studio, with undo and with listeners to its changes.

A change is a plain function from a state to a state (`changes.py`, `pulls.py`, `postures.py`). `Session.update` applies
it, `Session.tick` takes a step of the solver (`stepping.py`), and both call the listeners.

Nobody waits for a step: states are immutable, so a change and a step are computed from the present state without a
lock, and only the exchange of states is locked. What was exchanged meanwhile is merged, field by field: a change of a
task's target and a step of the figure do not disturb each other, and a step that began in another posture is dropped.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import fields, replace

from poise.engine.scene import Scene
from poise.figure.model.figure import Figure
from poise.studio.scenes.openings import opening
from poise.studio.session.history import History
from poise.studio.session.outcome import MODE_NOT_READY, NOT_READY, Outcome
from poise.studio.session.state import State, continued, has_work, state_of
from poise.studio.session.stepping import Stepper

MOST_TRIES = 20
"""Number of times that a change is computed again because another one was made meanwhile, before both are merged."""
COUNTERS = ("figure_number", "scene_number")
"""Fields of a state that count changes."""


class Session:
    """Holds an immutable state, replaces it, and tells its listeners; all methods can be called from any thread."""

    def __init__(self, start: Figure | Scene) -> None:
        """Start with a scene, or with a figure and its opening scene."""
        self._state = state_of(start if isinstance(start, Scene) else opening(start))
        self._lock = threading.RLock()
        self._listeners: list[Callable[[], object]] = []
        self._history = History()
        self._needs_step = has_work(self._state)
        self._changes = 0
        self.stepper = Stepper()
        """The solver of the present state."""

    @property
    def state(self) -> State:
        """The present state, an immutable object that every change replaces."""
        return self._state

    @property
    def can_undo(self) -> bool:
        """Whether there is a change to undo."""
        return bool(self._history.past)

    @property
    def can_redo(self) -> bool:
        """Whether there is a change to redo."""
        return bool(self._history.future)

    @property
    def rests(self) -> bool:
        """Whether the figure stays in its posture until something changes."""
        return not self._needs_step

    def update(
        self, change: Callable[[State], State], *, gesture: object = None, undoable: bool = True, wake: bool = True
    ) -> None:
        """Replace the state by `change(state)`; nothing happens if that is the same object.

        If `change` raises an error, or the solver cannot compile the new scene, nothing changes.

        Args:
            change: A function from the present state to the next one.
            gesture: Identifies a gesture such as one drag; its changes are undone together.
            undoable: Whether undo goes back to the state before.
            wake: Whether the figure may have to move now.
        """
        for tries in range(MOST_TRIES):
            with self._lock:
                before, changes = self._state, self._changes
            after = change(before)
            if after is before:
                return
            if after.scene is not before.scene:
                self.stepper.prepare(before, after)
            with self._lock:
                if self._changes != changes and tries + 1 < MOST_TRIES:
                    continue
                if undoable:
                    self._history.remember(self._state, gesture)
                self._changes += 1
                self._replace(merged(before, after, self._state), self._needs_step or wake)
            break
        self._notify()

    def wake(self) -> None:
        """Run the solver or the mode's driver again, although nothing in the state has changed."""
        self.update(lambda state: replace(state), undoable=False)

    def undo(self) -> None:
        """Undo the last change."""
        self._restore(self._history.back)

    def redo(self) -> None:
        """Redo the change that was undone last."""
        self._restore(self._history.forth)

    def _restore(self, moment_after: Callable[[State], State | None]) -> None:
        with self._lock:
            moment = moment_after(self._state)
            if moment is None:
                return
            self._changes += 1
            self._replace(continued(self._state, moment), needs_step=True)
        self._notify()

    def tick(self) -> bool:
        """Take one step of the solver or of the mode's driver; returns whether another step is needed."""
        with self._lock:
            if not self._needs_step:
                return False
            before, changes = self._state, self._changes
        after, more = self.stepper.step(before)
        with self._lock:
            changed_meanwhile = self._changes != changes
            if not changed_meanwhile or not in_conflict(before, after, self._state):
                self._replace(merged(before, after, self._state), needs_step=more or changed_meanwhile)
            needs_step = self._needs_step
        self._notify()
        return needs_step

    def give_up(self, sentence: str) -> None:
        """Stop solving this scene, end all pulls, and show a sentence with a red light."""
        with self._lock:
            self.stepper.forget()
            self._replace(replace(self._state, outcome=Outcome("red", sentence), pulls=()), needs_step=False)
        self._notify()

    def say_not_ready(self) -> None:
        """Say beside the light that what is asked for works in a moment; pulls stay, and are followed then."""
        with self._lock:
            outcome = MODE_NOT_READY if self._state.mode.drives else NOT_READY
            if self._state.outcome == outcome:
                return
            self._replace(replace(self._state, outcome=outcome), needs_step=True)
        self._notify()

    def subscribe(self, listener: Callable[[], object]) -> Callable[[], None]:
        """Call `listener` after every change, in the thread that made it; returns a function that unsubscribes it."""
        with self._lock:
            self._listeners.append(listener)

        def unsubscribe() -> None:
            with self._lock:
                self._listeners.remove(listener)

        return unsubscribe

    def _replace(self, after: State, needs_step: bool) -> None:
        self._state = replace(after, step=self._state.step + 1)
        self._needs_step = needs_step

    def _notify(self) -> None:
        with self._lock:
            listeners = tuple(self._listeners)
        for listener in listeners:
            listener()


def merged(before: State, after: State, now: State) -> State:
    """The present state with what has changed from one state to another; both may have begun in an older state."""
    if now is before:
        return after
    found = {each.name: getattr(after, each.name) for each in fields(State) if _differs(before, after, each.name)}
    counted = {
        name: getattr(now, name) + getattr(after, name) - getattr(before, name) for name in COUNTERS if name in found
    }
    return replace(now, **found | counted)


def in_conflict(before: State, after: State, now: State) -> bool:
    """Whether the present state differs from an older one where a step from it differs, or in its posture."""
    changed = [each.name for each in fields(State) if _differs(before, now, each.name) and each.name != "step"]
    return any(name in ("posture", "mode") or _differs(before, after, name) for name in changed)


def _differs(one: State, other: State, name: str) -> bool:
    """Whether a field holds another object, or another number."""
    a, b = getattr(one, name), getattr(other, name)
    return a is not b and not (isinstance(a, int | float) and a == b)
