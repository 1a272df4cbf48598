"""A figure on real servos: slow to start, never out of limits, safe when left alone, back after a lost cable."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from poise.errors import PoiseError, RobotError
from poise.figure.figure import Figure
from poise.figure.posture import Posture
from poise.robots.driver import Driver
from poise.robots.governor import Governor, Ticks
from poise.robots.servo import Servo, checked_servos, values_of

State = Literal["closed", "starting", "following", "safe", "lost"]
_REMEMBERED = 200
log = logging.getLogger(__name__)


class Event(NamedTuple):
    """Something a person should know."""

    time: float
    """By the robot's clock [s]."""
    sentence: str


class Robot:
    """Servos behind a driver.

    `write` says where the joints should be and returns at once. A thread of the robot's own sends commands at a steady
    rate: it starts slowly, keeps every command inside limits and speeds, goes to a safe posture when nothing has been
    written for a while, and connects again when the device went away.
    """

    def __init__(
        self,
        figure: Figure,
        driver: Driver,
        servos: Sequence[Servo],
        *,
        safe: Posture | str | Mapping[str, ArrayLike] | None = None,
        slow: float = 0.6,
        watchdog: float = 0.5,
        rate: float = 50.0,
        retry: float = 1.0,
        on_event: Callable[[str], object] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Check the servos; `start` connects.

        Args:
            figure: Whose joints they move.
            driver: What speaks to the device.
            servos: How each joint becomes ticks.
            safe: Where to go when left alone, and where hobby servos start; by default the neutral posture.
            slow: Speed of a start and of the way to safety [rad/s or m/s].
            watchdog: How long nothing may be written before the robot goes to the safe posture [s].
            rate: Commands per second.
            retry: Time between two attempts to connect again [s].
            on_event: Told, in one sentence, what a person should know; by default the log is.
            clock: The time [s]; never runs backwards.
        """
        for what, number in (("slow", slow), ("watchdog", watchdog), ("rate", rate), ("retry", retry)):
            if not (math.isfinite(number) and number > 0.0):
                raise RobotError(f"the {what} of a robot must be a positive number, not {number}.")
        self.figure, self.driver = figure, driver
        self.servos = checked_servos(figure, servos)
        self._rows = np.array([figure.q_slice(servo.joint).start for servo in self.servos])
        self._governor = Governor(figure, self.servos, slow)
        self._safe = self._governor.nearest(figure.clamp(safe if safe is not None else figure.neutral()).q[self._rows])
        self._watchdog, self._period, self._retry = watchdog, 1.0 / rate, retry
        self._on_event, self._clock = on_event, clock
        self.events: deque[Event] = deque(maxlen=_REMEMBERED)
        self._target: Ticks | None = None
        self._written = self._sent = self._next_try = -math.inf
        self._complained = ""
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self.state: State = "closed"

    def start(self) -> None:
        """Connect and start sending; a device that is not there is an error here, and waited for later."""
        if self._thread is not None:
            return
        self._connect(self._clock())
        self._stop.clear()
        self._thread = threading.Thread(target=self._run, name=f"poise {self.driver.name}", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop sending and let go of the device; the servos hold where they are."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        self.driver.close()
        self.state = "closed"

    def __enter__(self) -> Robot:
        """Start."""
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop."""
        self.stop()

    def write(self, frame: Posture | ArrayLike | Mapping[str, ArrayLike]) -> None:
        """Say where the joints should be; from any thread, without waiting.

        What is not a posture of the figure is left out, and said once.
        """
        try:
            q = frame.q if isinstance(frame, Posture) and frame.figure is self.figure else self.figure.posture(frame).q
        except PoiseError as problem:
            self._say_once(f"a frame was left out: {problem}")
            return
        values = q[self._rows]
        if not np.isfinite(values).all():
            self._say_once("a frame was left out: it holds a value that is not a number.")
            return
        self._target = self._governor.nearest(values)
        self._written = self._clock()

    @property
    def commands(self) -> dict[str, float]:
        """Joint values last sent [rad or m]."""
        values = values_of(self.servos, self._governor.ticks.tolist())
        return {servo.joint: float(value) for servo, value in zip(self.servos, values, strict=True)}

    def tick(self, now: float) -> None:
        """One cycle: connect if need be, read, send. The robot's thread calls it."""
        try:
            if self.state in ("lost", "closed"):
                if now < self._next_try:
                    return
                self._connect(now)
            for sentence in self.driver.poll(now):
                self._say(sentence)
            self._send(now)
        except RobotError as problem:
            self._lose(problem, now)
        except Exception as problem:
            log.exception("the driver failed")
            self._lose(RobotError(f"{self.driver.name} failed: {type(problem).__name__}: {problem}."), now)

    def _connect(self, now: float) -> None:
        was_lost = self.state == "lost"
        present = self.driver.open(self.servos)
        known = [where if where is not None else int(safe) for where, safe in zip(present, self._safe, strict=True)]
        self._governor.start(known)
        self.driver.arm(self._governor.ticks.tolist())
        self._sent = now
        self.state = "starting"
        self._complained = ""
        if was_lost:
            self._say(f"{self.driver.name} is back.")

    def _send(self, now: float) -> None:
        alone = now - self._written > self._watchdog
        target = self._safe if alone or self._target is None else self._target
        self._turn_state(alone, target)
        ticks = self._governor.advance(target, now - self._sent, slowly=self.state != "following")
        self._sent = now
        self.driver.send(ticks.tolist(), values_of(self.servos, ticks.tolist()).tolist())

    def _turn_state(self, alone: bool, target: Ticks) -> None:
        if alone:
            if self.state == "following":
                self._say(f"nothing was written for {self._watchdog:g} s: {self.driver.name} goes to its safe posture.")
            self.state = "safe"
        elif self.state == "safe":
            self.state = "starting"
        if self.state == "starting" and self._governor.has_caught_up(target):
            self.state = "following"

    def _lose(self, problem: RobotError, now: float) -> None:
        self.driver.close()
        first = self.state != "lost"
        self.state = "lost"
        self._next_try = now + self._retry
        if first:
            self._say(f"{problem} Trying again every {self._retry:g} s.")

    def _run(self) -> None:
        due = self._clock()
        while not self._stop.is_set():
            self.tick(self._clock())
            due = max(due + self._period, self._clock())
            self._stop.wait(max(0.0, due - self._clock()))

    def _say_once(self, sentence: str) -> None:
        if sentence != self._complained:
            self._complained = sentence
            self._say(sentence)

    def _say(self, sentence: str) -> None:
        self.events.append(Event(self._clock(), sentence))
        try:
            (self._on_event or log.warning)(sentence)
        except Exception:
            log.exception("whoever is told of events failed")
