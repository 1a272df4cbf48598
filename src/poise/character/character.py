"""The live character: a solver thread, a frame clock at its own rate, and a motion filter between the two."""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING

import numpy as np

from poise.character.checks import (
    Target,
    check_figure,
    check_solver,
    default_solver,
    duration,
    gaze_of,
    own_clip,
    own_filter,
    positive,
    share,
)
from poise.character.clock import FrameClock, frame_rate
from poise.character.idle import Idle
from poise.character.osc import OscIn, OscOut
from poise.character.script import Held, Played, Script
from poise.character.solver_thread import LATE_AFTER, Requests, Solver, SolverThread, TargetSolver
from poise.errors import TaskError
from poise.figure.model.figure import Figure, PostureLike
from poise.figure.model.names import look_up
from poise.figure.model.posture import Posture
from poise.motion.clip.clip import Clip
from poise.motion.filter.filter import MotionFilter

if TYPE_CHECKING:
    from poise.expressive.expressive import Hold

_MAX_EVENTS = 200
"""Number of events that are kept."""
log = logging.getLogger(__name__)


class Character:
    """A figure animated in real time: it holds postures, plays clips and looks at targets, smoothly and within limits.

    All methods may be called from any thread at any time. An invalid argument raises an error for the caller and
    changes nothing. If the solver crashes, is late or returns invalid values, the last valid posture is kept.
    """

    def __init__(
        self,
        figure: Figure,
        *,
        filter: MotionFilter | None = None,
        solver: Solver | None = None,
        holds: Hold = "balanced",
        posture: PostureLike | None = None,
        clips: Mapping[str, Clip] | None = None,
        solver_rate: float = 60.0,
        idle: float = 0.0,
        seed: int = 0,
        on_event: Callable[[str], object] | None = None,
    ) -> None:
        """Start in a posture; `frames` runs the animation.

        Args:
            figure: The figure to animate.
            filter: Limits and style of its motion; joint limits and speeds of the figure apply too.
            solver: Keeps the posture while facing a target; by default `poise.Expressive`.
            holds: What matters most to the default solver while the figure moves: "gaze", "expression" or "balanced".
            posture: Initial posture, which it holds; by default neutral.
            clips: Clips that `play` and OSC messages can name.
            solver_rate: Solves per second, in addition to those that a new request triggers at once.
            idle: Amount of idle motion from 0 to 1.
            seed: Random seed of the idle motion.
            on_event: Called with one sentence for every event, such as a failed solve; by default events are logged.
        """
        check_figure(figure)
        self.figure = figure
        self.clips = {name: own_clip(figure, clip) for name, clip in (clips or {}).items()}
        self.filter = own_filter(figure, filter)
        check_solver(solver)
        start = self._inside(figure.neutral() if posture is None else posture)
        self.filter.reset(start.q)
        self._output = start
        self._on_event = on_event
        self.events: deque[str] = deque(maxlen=_MAX_EVENTS)
        pace = float(self.filter.limits.velocity.min()) / positive("solver_rate", solver_rate)
        made = (lambda: solver) if solver is not None else (lambda: default_solver(figure, pace, holds))
        self._target_solver = TargetSolver(figure, made, start, Idle(figure.nq, seed), self._report, tell=self._tell)
        self._requests = Requests(Script(Held(start._q), start._q, 0.0, 0.0), idle=share("idle", idle))
        self._lock = threading.Lock()
        self._solver_thread = SolverThread(self._target_solver, lambda: self._requests, self._now, solver_rate)
        self._time = 0.0
        self._origin: float | None = None
        self._running = False
        self._held = Held(start._q)
        self.outputs: list[Callable[[Posture], object]] = []
        """Called with every frame, such as the `write` of a robot."""

    # Requests

    def hold(self, posture: PostureLike, blend: float = 0.4) -> None:
        """Take a posture and keep it; a playing clip ends.

        Args:
            posture: A name, joint values by name, numbers, or a `Posture`; values beyond a limit are clamped.
            blend: Time of the cross-fade to the posture [s]; the motion filter smooths it further.
        """
        fade = duration("blend", blend)
        source = Held(self._inside(posture)._q)
        self._change(lambda now, requests: self._following(source, source, now, requests, fade))

    def face(self, target: Target, roll: float | None = None) -> None:
        """Look at a target until another one is set.

        Args:
            target: A direction of three numbers or a word such as "x"; `poise.at(point)`; `poise.facing(direction)`; a
                unit quaternion (w, x, y, z); or None for no target.
            roll: Turn about a direction [rad]; None to leave it free.
        """
        wanted = None if target is None else gaze_of(target, roll)
        if wanted is not None:
            self._target_solver.prepare()
        self._change(lambda now, requests: replace(requests, gaze=wanted))

    def play(self, clip: Clip | str, loop: bool = False, blend: float = 0.3) -> None:
        """Play a clip, turned towards the target while it plays, then return to the held posture.

        Args:
            clip: A clip of this figure, or the name of one of `clips`.
            loop: Whether to repeat it.
            blend: Time of the cross-fades at its beginning and end [s].
        """
        fade = duration("blend", blend)
        chosen = (
            look_up(self.clips, clip, "clip", "this character")
            if isinstance(clip, str)
            else own_clip(self.figure, clip)
        )
        q = np.clip(chosen._q, self.figure.compiled.bounds.lower, self.figure.compiled.bounds.upper)

        def started(now: float, requests: Requests) -> Requests:
            source = Played(q, chosen.rate, now, loop, self._held, fade)
            return self._following(source, self._held, now, requests, fade)

        self._change(started)

    def stop(self, blend: float = 0.3) -> None:
        """End a clip and return to the held posture."""
        fade = duration("blend", blend)
        self._change(lambda now, requests: self._following(self._held, self._held, now, requests, fade))

    def idle(self, amount: float) -> None:
        """Set the amplitude of idle motion (slow breathing and drift): 0 for none, 1 for that of a calm animal."""
        checked = share("idle", amount)
        self._change(lambda now, requests: replace(requests, idle=checked))

    # State and output

    @property
    def posture(self) -> Posture:
        """The posture of the last frame."""
        return self._output

    @property
    def wished(self) -> Posture:
        """The last solution of the solver, before the motion filter."""
        return Posture(self.figure, self._target_solver.solution)

    @property
    def solves(self) -> int:
        """Number of solves so far."""
        return self._target_solver.solves

    def frames(self, rate: float = 60.0, *, seconds: float | None = None, realtime: bool = True) -> Iterator[Posture]:
        """Postures at a steady rate, each within all limits of position, velocity, acceleration and jerk.

        Args:
            rate: Frames per second.
            seconds: Duration; unlimited by default.
            realtime: Whether to wait until each frame is due. Otherwise frames are computed as fast as they are read,
                time is counted in frames, and the solver runs between them, so that a run is repeatable.
        """
        period = 1.0 / frame_rate(rate)
        count = None if seconds is None else round(duration("length of frames", seconds) * rate)
        return self._frames(period, count, realtime)

    def listen(self, port: int, host: str = "127.0.0.1") -> OscIn:
        """Accept requests as OSC messages (see `poise.character.osc`); close the returned object to stop."""
        return OscIn(self, host, port, self._report_once)

    def send_to(self, host: str, port: int) -> OscOut:
        """Send every frame as an OSC bundle of `/figure/joint value`; close the returned object to stop."""
        out = OscOut(self.figure.name, host, port, self.outputs)
        self.outputs.append(out.send)
        return out

    def __enter__(self) -> Character:
        """Return the character itself; nothing needs to be opened."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the solver thread."""
        self.close()

    def close(self) -> None:
        """Stop the solver thread; reading frames later starts it again."""
        self._now()
        self._origin = None
        self._solver_thread.stop()

    def _frames(self, period: float, count: int | None, realtime: bool) -> Iterator[Posture]:
        if self._running:
            raise TaskError("this character's frames are already being read; it has one reader at a time.")
        self._running = True
        ticks = itertools.count() if count is None else range(count)
        try:
            yield from self._live(period, ticks) if realtime else self._simulated(period, ticks)
        finally:
            self._running = False
            self.close()

    def _live(self, period: float, ticks: Iterable[int]) -> Iterator[Posture]:
        self._origin = time.monotonic() - self._time
        self._solver_thread.start()
        self.clock = FrameClock(1.0 / period)
        for _ in ticks:
            self.clock.wait()
            if self._solver_thread.has_become_late():
                self._report(f"the solver has been running for {LATE_AFTER:g} s; the last posture is held.")
            yield self._step(period)

    def _simulated(self, period: float, ticks: Iterable[int]) -> Iterator[Posture]:
        for _ in ticks:
            last, self._time = self._time, self._time + period
            self._solver_thread.solve_if_due(last, self._time)
            yield self._step(period)

    def _step(self, period: float) -> Posture:
        self._output = posture = Posture(self.figure, self.filter.step(self._target_solver.solution, period))
        for output in self.outputs:
            try:
                output(posture)
            except Exception as problem:
                self._report_once(f"an output failed: {type(problem).__name__}: {problem}")
        return posture

    def _now(self) -> float:
        if self._origin is not None:
            self._time = time.monotonic() - self._origin
        return self._time

    def _change(self, make: Callable[[float, Requests], Requests]) -> None:
        with self._lock:
            self._requests = make(self._now(), self._requests)
        self._solver_thread.wake()

    def _following(self, source: Held | Played, held: Held, now: float, requests: Requests, blend: float) -> Requests:
        self._held = held
        return replace(requests, script=requests.script.followed_by(source, now, blend))

    def _inside(self, posture: PostureLike) -> Posture:
        return self.figure.clamp(self.figure.posture(posture))

    def _tell(self, sentence: str) -> None:
        """Report an event that is no problem."""
        self._report(sentence, log.info)

    def _report(self, sentence: str, write: Callable[[str], object] = log.warning) -> None:
        self.events.append(sentence)
        try:
            (self._on_event or write)(sentence)
        except Exception:
            log.exception("the on_event callback failed")

    def _report_once(self, sentence: str) -> None:
        if not self.events or self.events[-1] != sentence:
            self._report(sentence)
