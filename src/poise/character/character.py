"""The live character: a solver that thinks at its own pace, an output clock at another, and a motion filter between."""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from types import TracebackType

import numpy as np

from poise.character.checks import (
    Target,
    check_figure,
    default_solver,
    duration,
    gaze_of,
    own_clip,
    own_filter,
    positive,
    share,
)
from poise.character.clock import FrameClock
from poise.character.idle import Idle
from poise.character.mind import Mind, Solver, Wishes
from poise.character.osc import OscIn, OscOut
from poise.character.script import Held, Played, Script
from poise.character.thinking import LATE, Thinker
from poise.errors import TaskError
from poise.figure.model.figure import Figure, PostureLike
from poise.figure.model.names import look_up
from poise.figure.model.posture import Posture
from poise.motion.clip.clip import Clip
from poise.motion.filter.filter import MotionFilter

_REMEMBERED = 200
log = logging.getLogger(__name__)


class Character:
    """A figure that lives: it holds postures, plays clips and looks at things, smoothly and inside its limits always.

    All methods may be called from any thread at any time. What makes no sense is an error for whoever asked, and
    changes nothing. A solver that crashes, is late or returns nonsense leaves the last good posture standing.
    """

    def __init__(
        self,
        figure: Figure,
        *,
        filter: MotionFilter | None = None,
        solver: Solver | None = None,
        posture: PostureLike | None = None,
        clips: Mapping[str, Clip] | None = None,
        solver_rate: float = 60.0,
        idle: float = 0.0,
        seed: int = 0,
        on_event: Callable[[str], object] | None = None,
    ) -> None:
        """Stand in a posture; `frames` brings it to life.

        Args:
            figure: Who lives.
            filter: Limits and style of its motion; joint limits and speeds of the figure come on top.
            solver: Holds the posture while facing a target; by default `poise.Expressive`.
            posture: Where it starts and what it holds; by default neutral.
            clips: Clips that `play` and OSC messages can name.
            solver_rate: Solves per second, beside those that a new wish causes at once.
            idle: Amount of idle life from 0 to 1.
            seed: Of its idle life.
            on_event: Told, in one sentence, what a person should know; by default the log is.
        """
        check_figure(figure)
        self.figure = figure
        self.clips = {name: own_clip(figure, clip) for name, clip in (clips or {}).items()}
        self.filter = own_filter(figure, filter)
        start = self._inside(figure.neutral() if posture is None else posture)
        self.filter.reset(start.q)
        self._output = start
        self._on_event = on_event
        self.events: deque[str] = deque(maxlen=_REMEMBERED)
        pace = float(self.filter.limits.velocity.min()) / positive("solver_rate", solver_rate)
        made = (lambda: solver) if solver is not None else (lambda: default_solver(figure, pace))
        self._mind = Mind(figure, made, start, Idle(figure.nq, seed), self._say)
        self._wishes = Wishes(Script(Held(start._q), start._q, 0.0, 0.0), idle=share("idle", idle))
        self._lock = threading.Lock()
        self._thinker = Thinker(self._mind, lambda: self._wishes, self._now, solver_rate)
        self._time = 0.0
        self._origin: float | None = None
        self._running = False
        self._held = Held(start._q)
        self.outputs: list[Callable[[Posture], object]] = []
        """Called with every frame, such as the `write` of a robot."""

    # What it should do

    def hold(self, posture: PostureLike, blend: float = 0.4) -> None:
        """Take a posture and keep it; a clip that plays ends.

        Args:
            posture: A name, joint values by name, numbers, or a `Posture`; beyond its limits a joint means the limit.
            blend: How long the wish takes to fade in [s]; the motion filter comes on top.
        """
        fade = duration("blend", blend)
        wish = Held(self._inside(posture)._q)
        self._change(lambda now, wishes: self._following(wish, wish, now, wishes, fade))

    def face(self, target: Target, roll: float | None = None) -> None:
        """Look somewhere, and keep looking.

        Args:
            target: A direction of three numbers or a word such as "x"; `poise.at(point)`; `poise.facing(direction)`; a
                unit quaternion (w, x, y, z); or None to look nowhere in particular.
            roll: Turn about a direction [rad]; None when any roll will do.
        """
        wanted = None if target is None else gaze_of(target, roll)
        if wanted is not None:
            self._mind.prepare()
        self._change(lambda now, wishes: replace(wishes, gaze=wanted))

    def play(self, clip: Clip | str, loop: bool = False, blend: float = 0.3) -> None:
        """Play a clip now, warped towards the gaze while it plays; then come back to the posture that is held.

        Args:
            clip: A clip of this figure, or the name of one of `clips`.
            loop: Play it again and again.
            blend: How long it takes to fade in, and out at its end [s].
        """
        fade = duration("blend", blend)
        chosen = (
            look_up(self.clips, clip, "clip", "this character")
            if isinstance(clip, str)
            else own_clip(self.figure, clip)
        )
        q = np.clip(chosen._q, self.figure.compiled.bounds.lower, self.figure.compiled.bounds.upper)

        def started(now: float, wishes: Wishes) -> Wishes:
            wish = Played(q, chosen.rate, now, loop, self._held, fade)
            return self._following(wish, self._held, now, wishes, fade)

        self._change(started)

    def stop(self, blend: float = 0.3) -> None:
        """End a clip and come back to the posture that is held."""
        fade = duration("blend", blend)
        self._change(lambda now, wishes: self._following(self._held, self._held, now, wishes, fade))

    def idle(self, amount: float) -> None:
        """Breathe and drift a little: 0 for not at all, 1 for as much as a calm animal."""
        checked = share("idle", amount)
        self._change(lambda now, wishes: replace(wishes, idle=checked))

    # What it does

    @property
    def posture(self) -> Posture:
        """The posture of the last frame."""
        return self._output

    @property
    def wished(self) -> Posture:
        """The last solution, before the filter."""
        return Posture(self.figure, self._mind.solution)

    @property
    def solves(self) -> int:
        """How often it has solved."""
        return self._mind.solves

    def frames(self, rate: float = 60.0, *, seconds: float | None = None, realtime: bool = True) -> Iterator[Posture]:
        """Postures at a steady rate, each inside all limits of position, velocity, acceleration and jerk.

        Args:
            rate: Frames per second.
            seconds: How long; for ever by default.
            realtime: Whether frames come when they are due. Otherwise they come as fast as they are asked for, time is
                that of the frames, and the solver takes its turns between them, so that a run can be repeated.
        """
        period = 1.0 / positive("rate", rate)
        count = None if seconds is None else round(duration("length of frames", seconds) * rate)
        return self._frames(period, count, realtime)

    def listen(self, port: int, host: str = "127.0.0.1") -> OscIn:
        """Take wishes as OSC messages (see `poise.character.osc`); close what is returned to stop."""
        return OscIn(self, host, port, self._say_once)

    def send_to(self, host: str, port: int) -> OscOut:
        """Send every frame as an OSC bundle of `/figure/joint value`; close what is returned to stop."""
        out = OscOut(self.figure.name, host, port, self.outputs)
        self.outputs.append(out.send)
        return out

    def __enter__(self) -> Character:
        """Nothing to open."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop thinking."""
        self.close()

    def close(self) -> None:
        """Stop thinking; frames that are asked for later start it again."""
        self._now()
        self._origin = None
        self._thinker.stop()

    # How

    def _frames(self, period: float, count: int | None, realtime: bool) -> Iterator[Posture]:
        if self._running:
            raise TaskError("this character's frames are being asked for already; one reader at a time.")
        self._running = True
        ticks = itertools.count() if count is None else range(count)
        try:
            yield from self._live(period, ticks) if realtime else self._simulated(period, ticks)
        finally:
            self._running = False
            self.close()

    def _live(self, period: float, ticks: Iterable[int]) -> Iterator[Posture]:
        self._origin = time.monotonic() - self._time
        self._thinker.start()
        self.clock = FrameClock(1.0 / period)
        for _ in ticks:
            self.clock.wait()
            if self._thinker.has_become_late():
                self._say(f"the solver has been thinking for {LATE:g} s; the last posture is held.")
            yield self._step(period)

    def _simulated(self, period: float, ticks: Iterable[int]) -> Iterator[Posture]:
        for _ in ticks:
            last, self._time = self._time, self._time + period
            self._thinker.think_if_due(last, self._time)
            yield self._step(period)

    def _step(self, period: float) -> Posture:
        self._output = posture = Posture(self.figure, self.filter.step(self._mind.solution, period))
        for output in self.outputs:
            try:
                output(posture)
            except Exception as problem:
                self._say_once(f"an output failed: {type(problem).__name__}: {problem}")
        return posture

    def _now(self) -> float:
        if self._origin is not None:
            self._time = time.monotonic() - self._origin
        return self._time

    def _change(self, make: Callable[[float, Wishes], Wishes]) -> None:
        with self._lock:
            self._wishes = make(self._now(), self._wishes)
        self._thinker.wake()

    def _following(self, wish: Held | Played, held: Held, now: float, wishes: Wishes, blend: float) -> Wishes:
        self._held = held
        return replace(wishes, script=wishes.script.followed_by(wish, now, blend))

    def _inside(self, posture: PostureLike) -> Posture:
        return self.figure.clamp(self.figure.posture(posture))

    def _say(self, sentence: str) -> None:
        self.events.append(sentence)
        try:
            (self._on_event or log.warning)(sentence)
        except Exception:
            log.exception("whoever is told of events failed")

    def _say_once(self, sentence: str) -> None:
        if not self.events or self.events[-1] != sentence:
            self._say(sentence)
