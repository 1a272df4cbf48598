"""The timeline of the pose mode: time, playing, recording, and what pages draw of it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from poise.engine.animation import EASES, Animation, Key
from poise.errors import TaskError
from poise.figure.model.posture import Posture
from poise.motion.clip.motion import Motion
from poise.studio.modes.animate.solved import SolvedAnimation
from poise.studio.session.driver import Driven, Mode
from poise.studio.session.keys import (
    animation_of,
    at_time,
    on_frame,
    timeline_length,
    whole_key,
    with_animation,
    with_copied_key,
    with_ease_now,
    with_key_now,
    with_moved_key,
    without_key_now,
)
from poise.studio.session.outcome import Outcome
from poise.studio.session.session import Session
from poise.studio.session.state import State
from poise.studio.wire.frames import bodies_table
from poise.studio.wire.overlays import rounded
from poise.tasks.task import Task

LONGEST_TICK = 0.1
"""Longest time by which playing goes on in one step [s]."""
TRAILS = 6
"""Largest number of points whose paths are drawn."""
RECORDED_INTERVAL = 0.25
"""Time between two recorded keys [s]."""


@dataclass(frozen=True)
class PlayMode(Mode):
    """The pose mode while its animation plays."""

    drives: ClassVar[bool] = True


class Timeline:
    """Plays, edits and records the animation of a session's scene."""

    def __init__(self) -> None:
        """Start at rest."""
        self.solved = SolvedAnimation(self._wake)
        """The frames of the animation."""
        self.shown = False
        """Whether pages show the timeline even without keys."""
        self.ghosts = self.trails = self.recording = False
        self.copied: Key | None = None
        """The key that is pasted."""
        self.session: Session | None = None
        """The session whose pages show the timeline."""
        self._played = time.perf_counter()
        self._record: list[tuple[float, Posture, tuple[Task, ...]]] = []
        self._started: float | None = None
        self._drawn: tuple[Any, ...] = ()
        self._traces: dict[str, Any] = {}

    def _wake(self) -> None:
        if self.session is not None:
            self.session.wake()

    def watch(self, state: State) -> None:
        """Follow a change of the state: solve other keys, and record what is dragged."""
        self.solved.follow(state.scene)
        if self.recording:
            self._take(state)

    # Time

    def seek(self, session: Session, seconds: float) -> None:
        """Show a time of the animation [s]; changes without a key are discarded, and undo restores them."""
        self.pause(session)
        session.update(lambda state: self._at(state, seconds), gesture=("seek",))

    def _at(self, state: State, seconds: float) -> State:
        animation = animation_of(state)
        there = min(on_frame(animation, seconds), timeline_length(animation))
        inbetweens, posture = self.solved.inbetweens, self.solved.posture_at(there)
        if inbetweens is None or posture is None or inbetweens.scene.figure is not state.figure:
            return replace(state, time=there)
        return at_time(state, there, posture, _ordered(inbetweens.tasks_at(there), state.scene.tasks))

    def play(self, session: Session) -> None:
        """Play, from the start if the end has been reached; or pause."""
        if isinstance(session.state.mode, PlayMode):
            self.pause(session)
            return
        animation = animation_of(session.state)
        if len(animation.keys) < 2 and animation.clip is None:
            raise TaskError("there is nothing to play yet: make a key (K) at two different times.")
        self._played = time.perf_counter()
        again = session.state.time >= animation.duration - 0.5 / animation.rate

        def playing(state: State) -> State:
            return replace(state, mode=PlayMode(state.mode.errors), time=0.0 if again else state.time, pulls=())

        session.update(playing, undoable=False)

    def pause(self, session: Session) -> None:
        """Stop playing, at the frame that is shown."""
        if isinstance(session.state.mode, PlayMode):
            session.update(
                lambda state: self._at(replace(state, mode=Mode(state.mode.errors)), state.time), undoable=False
            )

    def drive(self, state: State) -> Driven | None:
        """The next posture while playing."""
        if not isinstance(state.mode, PlayMode):
            return None
        now = time.perf_counter()
        passed, self._played = min(now - self._played, LONGEST_TICK), now
        animation = animation_of(state)
        there, end = state.time + passed, animation.duration
        if there >= end and animation.loop and end > 0.0:
            there %= end
        after = self._at(state, min(there, end))
        stops = there >= end
        fields: dict[str, Any] = {"time": min(there, end), "scene": after.scene}
        if stops:
            fields["mode"] = Mode(state.mode.errors)
        return Driven(after.posture, self._outcome(), True, fields)

    def _outcome(self) -> Outcome:
        if self.solved.problem:
            return Outcome("red", self.solved.problem)
        if not self.solved.is_solved:
            return Outcome("orange", "Playing; some frames between keys are still being solved.")
        return Outcome("green", "Playing. Press the space bar to stop.")

    # Keys

    def key(self, session: Session, only: list[int] | None = None) -> None:
        """Make a key at the present time, of the whole posture, or of the tasks with these numbers alone."""
        self.pause(session)
        session.update(lambda state: with_key_now(state, only))

    def delete(self, session: Session) -> None:
        """Delete the key at the present time."""
        session.update(without_key_now)

    def move(self, session: Session, number: int, seconds: float, **options: Any) -> None:
        """Move a key to another time [s]."""
        gesture = options.pop("gesture", None)
        session.update(lambda state: with_moved_key(state, number, seconds, **options), gesture=gesture)

    def copy(self, session: Session) -> None:
        """Remember the key at the present time, or the present posture if there is none, to paste it."""
        state = session.state
        animation = animation_of(state)
        number = animation.key_at(state.time)
        here = whole_key(state.time, state.posture, state.scene.tasks)
        self.copied = here if number is None else animation.keys[number]

    def paste(self, session: Session) -> None:
        """Make a key like the one that was copied at the present time, and show it."""
        if self.copied is None:
            raise TaskError("there is no copied key: go to a key and copy it first (Ctrl C).")
        key, seconds = self.copied, session.state.time
        session.update(lambda state: with_copied_key(state, key, seconds))
        self.seek(session, seconds)

    def ease(self, session: Session, ease: str) -> None:
        """Change the ease of the key at the present time."""
        if ease in EASES:
            session.update(lambda state: with_ease_now(state, ease))

    def go_to_key(self, session: Session, step: int) -> None:
        """Show the next key (step 1) or the one before (step -1)."""
        state = session.state
        times = [key.time for key in animation_of(state).keys]
        tolerance = 0.25 / animation_of(state).rate
        ahead = [t for t in times if t > state.time + tolerance]
        behind = [t for t in times if t < state.time - tolerance]
        if step > 0 and ahead:
            self.seek(session, min(ahead))
        elif step < 0 and behind:
            self.seek(session, max(behind))

    def change(self, session: Session, **fields: Any) -> None:
        """Change the loop, end, rate or clip of the animation."""

        def changed(state: State) -> State:
            animation = animation_of(state)
            if all(getattr(animation, name) == value for name, value in fields.items()):
                return state
            if animation.is_empty and fields.get("clip") is None:
                raise TaskError("make a key first (K).")
            if fields.get("loop") and animation.end is None and "end" not in fields:
                fields["end"] = max(animation.duration, timeline_length(animation) if len(animation.keys) < 2 else 0.0)
            return with_animation(state, replace(animation, **fields))

        session.update(changed)

    def retime(self, session: Session, factor: float) -> None:
        """Stretch all times; a factor of 2 is twice as slow."""
        session.update(lambda state: with_animation(state, _retimed(animation_of(state), factor)))

    # Recording

    def record(self, session: Session) -> None:
        """Record what is dragged from now on, from the present time; or stop, and make keys of it."""
        self.pause(session)
        self.recording = not self.recording
        if self.recording:
            self._record, self._started = [], None
        else:
            self._finish(session)
        session.wake()

    def _take(self, state: State) -> None:
        """Record the posture and the tasks of this moment, once something has been dragged."""
        now = time.perf_counter()
        if self._started is None:
            if not state.pulls and (not self._record or state.scene.tasks == self._record[0][2]):
                self._record = [(0.0, state.posture, state.scene.tasks)]
                return
            self._started = now
        passed = now - self._started
        if passed - self._record[-1][0] >= RECORDED_INTERVAL:
            self._record.append((passed, state.posture, state.scene.tasks))

    def _finish(self, session: Session) -> None:
        """Make keys of what was recorded."""
        taken, self._record, started = self._record, [], self._started
        if started is None or len(taken) < 2:
            return

        def recorded(state: State) -> State:
            animation = animation_of(state)
            start, keys = state.time, list(animation.keys)
            last = start + taken[-1][0]
            keys = [key for key in keys if not start - 1e-3 <= key.time <= last + 1e-3]
            for passed, posture, tasks in taken:
                keys.append(whole_key(on_frame(animation, start + passed), posture, tasks))
            end = None if animation.end is None else max(animation.end, keys[-1].time)
            return with_animation(replace(state, time=keys[-1].time), replace(animation, keys=tuple(keys), end=end))

        session.update(recorded)

    # Pages

    def hear(self, session: Session, message: Mapping[str, Any]) -> bool:
        """Handle a message if it is one of the timeline; returns whether it is."""
        what = message["do"]
        if what == "seek":
            self.seek(session, float(message["time"]))
        elif what == "move key":
            options = {"later_too": bool(message.get("later")), "gesture": ("key", message["gesture"])}
            self.move(session, int(message["number"]), float(message["time"]), **options)
        elif what == "copy key":
            key = animation_of(session.state).keys[int(message["number"])]
            session.update(lambda state: with_copied_key(state, key, float(message["time"])))
        elif what in ("play", "key", "delete", "copy", "paste", "record"):
            getattr(self, what)(session)
        elif what == "next key":
            self.go_to_key(session, int(message["step"]))
        elif what == "next frame":
            step = int(message["step"]) / animation_of(session.state).rate
            self.seek(session, session.state.time + step)
        else:
            return False
        return True

    def views(self, state: State) -> dict[str, Mapping[str, Any]]:
        """What pages draw: the keys, and ghosts and trails if they are switched on."""
        animation = animation_of(state)
        playing = isinstance(state.mode, PlayMode)
        shown = self.shown or bool(animation.keys) or animation.clip is not None
        version = (id(state.scene.animation), self.solved.version)
        found: dict[str, Mapping[str, Any]] = {
            "keys": {
                "key": (*version, playing, shown, self.recording),
                "shown": shown,
                "playing": playing,
                "recording": self.recording,
                "length": timeline_length(animation),
                "end": animation.duration,
                "rate": animation.rate,
                "loop": animation.loop,
                "keys": [{"time": each.time, "ease": each.ease, "whole": each.is_whole} for each in animation.keys],
                "solved": [[start, end, done] for start, end, done in self.solved.progress()],
            },
            "now": {"key": state.time, "time": state.time},
        }
        drawn = (*version, state.figure_number, self.ghosts, self.trails)
        if self._drawn != drawn:
            self._drawn, self._traces = drawn, _traces_of(self, state)
        found["traces"] = {"key": drawn, "figure": state.figure_number, **self._traces}
        return found

    def motion(self) -> Motion:
        """The whole motion, for export; raises `TaskError` if it has not been solved yet."""
        motion = self.solved.motion()
        if motion is None:
            if self.solved.problem:
                raise TaskError(self.solved.problem)
            if self.solved.inbetweens is None:
                raise TaskError("there is no animation to export: make keys first (K).")
            raise TaskError("the frames between keys are still being solved: try again in a moment.")
        return motion


def _traces_of(timeline: Timeline, state: State) -> dict[str, Any]:
    figure, animation = state.figure, animation_of(state)
    found: dict[str, Any] = {"ghosts": [], "trails": []}
    if timeline.ghosts:
        postures = [figure.posture(key.posture) for key in animation.keys if key.posture is not None]
        found["ghosts"] = [rounded(np.ravel(bodies_table(figure, figure.frames(each)))) for each in postures]
    motion = timeline.solved.motion() if timeline.trails else None
    if motion is not None and motion.figure is figure:
        asked = [getattr(task, "site", None) for task in state.scene.tasks]
        sites = [site for site in asked if isinstance(site, str)]
        sites += [site for site in ("left_hand", "right_hand", "eyes") if site in figure.sites.names]
        names = list(dict.fromkeys(sites))[:TRAILS] or [figure.bodies.names[-1]]
        paths = motion.positions(names)
        found["trails"] = [rounded(np.ravel(paths[:, k])) for k in range(len(names))]
    return found


def _retimed(animation: Animation, factor: float) -> Animation:
    """The animation with all times stretched, and keys on frames."""
    stretched = animation.retimed(factor)
    keys = tuple(replace(key, time=on_frame(animation, key.time)) for key in stretched.keys)
    return replace(stretched, keys=keys)


def _ordered(tasks: list[Task], like: tuple[Task, ...]) -> list[Task]:
    """Tasks in the order of `others`, matched by kind and label; inactive tasks of `others` are kept."""
    left, found = list(tasks), []
    for old in like:
        same = next((task for task in left if type(task) is type(old) and task.label == old.label), None)
        if same is not None:
            left.remove(same)
            found.append(same)
        elif not old.active:
            found.append(old)
    return [*found, *left]
