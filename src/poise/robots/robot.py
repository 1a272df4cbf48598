"""A figure on real servos: slow to start, never out of limits, safe when left alone, back after a lost cable."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from poise.errors import PoiseError, RobotError
from poise.figure.model.figure import Figure
from poise.figure.model.names import listing
from poise.figure.model.posture import Posture
from poise.robots.driver import Driver
from poise.robots.governor import Governor, Ticks
from poise.robots.servo import (
    CAUTIOUS_SLIDE,
    CAUTIOUS_TURN,
    Servo,
    checked_servos,
    speed_limit,
    values_of,
    without_speed,
)

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
            safe: Where to go when left alone, and where servos that cannot be measured are at first; by default the
                neutral posture.
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
        given = checked_servos(figure, servos)
        self.servos = tuple(replace(servo, speed=speed_limit(servo, figure)) for servo in given)
        self._rows = np.array([figure.q_slice(servo.joint).start for servo in self.servos])
        safe_values = figure.clamp(safe if safe is not None else figure.neutral()).q[self._rows]
        self._governor = Governor(figure, self.servos, slow, safe_values)
        self._safe = self._governor.nearest(safe_values)
        self._unlimited, self._assumes = without_speed(given, figure), True
        self._watchdog, self._period, self._retry = watchdog, 1.0 / rate, retry
        self._on_event, self._clock = on_event, clock
        self.events: deque[Event] = deque(maxlen=_REMEMBERED)
        self._target: Ticks | None = None
        self._written = self._sent = self._next_try = self._next_arming = -math.inf
        self._armed = 0
        self._complained = ""
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self.state: State = "closed"

    def start(self, at: Posture | str | Mapping[str, ArrayLike] | None = None) -> None:
        """Connect and start sending; a device that is not there is an error here, and waited for later.

        Args:
            at: Where the servos are, if that is known, for those that cannot be measured; by default where this robot
                sent them last, and at first in the safe posture.
        """
        if self._thread is not None:
            if not self._stop.is_set():
                return
            self._thread.join()
        if at is not None:
            self._governor.assume(self.figure.posture(at).q[self._rows])
            self._assumes = False
        self._stop.clear()
        try:
            self._connect()
            self._arm()
        except Exception:
            self.stop()
            raise
        self._thread = threading.Thread(target=self._run, name=f"poise {self.driver.name}", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop sending at once and let go of the device; the servos hold where they are."""
        self._stop.set()
        if self._thread is not None and self._thread is not threading.current_thread():
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

    def tick(self) -> None:
        """One cycle: connect if need be, send, read; nothing once it is stopped. The robot's thread calls it."""
        if self._stop.is_set():
            return
        self._forget_the_future()
        try:
            if self.state in ("lost", "closed"):
                if self._clock() < self._next_try:
                    return
                self._connect()
            self._arm()
            if self._armed == len(self.servos):
                self._send()
            self._listen()
        except RobotError as problem:
            self._lose(problem)
        except Exception as problem:
            log.exception("the driver failed")
            self._lose(RobotError(f"{self.driver.name} failed: {type(problem).__name__}: {problem}."))

    def _forget_the_future(self) -> None:
        """Let nothing wait for longer than it should after the clock was set back."""
        now = self._clock()
        self._written = min(self._written, now)
        self._next_try = min(self._next_try, now + self._retry)
        self._next_arming = min(self._next_arming, now + self.driver.arming_gap)

    def _connect(self) -> None:
        was_lost = self.state == "lost"
        self.driver.open(self.servos)
        self._armed, self._next_arming = 0, -math.inf
        # The first command repeats the last known position: no time has passed since one that is still to come.
        self._sent = math.inf
        self._governor.begin()
        self.state = "starting"
        self._complained = ""
        if was_lost:
            self._say(f"{self.driver.name} is back.")
        if self._unlimited:
            self._say(_cautious_speeds(self.figure, self._unlimited))
            self._unlimited = []

    def _arm(self) -> None:
        """Switch servos on one after another, each at its last known position."""
        while self._armed < len(self.servos) and self._clock() >= self._next_arming and not self._stop.is_set():
            where = self.driver.measure(self._armed)
            if where is not None:
                self._governor.measured(self._armed, where)
            self.driver.arm(self._armed, int(self._governor.ticks[self._armed]))
            self._armed += 1
            self._next_arming = self._clock() + (self.driver.arming_gap if where is None else 0.0)
            if where is None and self._assumes:
                self._assumes = False
                self._say(_assumed_places(self.driver.name))

    def _listen(self) -> None:
        """Read last: what a driver asks its device must not be in the way of a command."""
        if not self._stop.is_set():
            for sentence in self.driver.poll(self._clock()):
                self._say(sentence)

    def _send(self) -> None:
        now = self._clock()
        alone = now - self._written > self._watchdog
        target = self._safe if alone or self._target is None else self._target
        self._turn_state(alone, target)
        step = self._governor.step(target, now - self._sent, slowly=self.state != "following")
        ticks = step.ticks.tolist()
        if not self._stop.is_set() and self.driver.send(ticks, values_of(self.servos, ticks).tolist()):
            self._governor.took(step)
            self._sent = now

    def _turn_state(self, alone: bool, target: Ticks) -> None:
        if alone and self.state != "safe":
            was_following = self.state == "following"
            self.state = "safe"
            if was_following:
                self._say(f"nothing was written for {self._watchdog:g} s: {self.driver.name} goes to its safe posture.")
        elif self.state == "safe" and not alone:
            self._governor.begin()
            self.state = "starting"
        if self.state == "starting" and self._governor.has_caught_up(target):
            self.state = "following"

    def _lose(self, problem: RobotError) -> None:
        if self._stop.is_set():
            return
        self.driver.close()
        first = self.state != "lost"
        self.state = "lost"
        self._next_try = self._clock() + self._retry
        if first:
            self._say(f"{problem} Trying again every {self._retry:g} s.")

    def _run(self) -> None:
        due = self._clock()
        while not self._stop.is_set():
            self.tick()
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


def _assumed_places(name: str) -> str:
    """What is assumed of servos that cannot be measured."""
    return (
        f"{name} cannot say where its servos are: they are switched on in the safe posture and go there at a speed of "
        "their own; choose it to be the posture in which the robot rests."
    )


def _cautious_speeds(figure: Figure, joints: Sequence[str]) -> str:
    """What is assumed of joints without a speed limit."""
    slides = [joint for joint in joints if figure.joints[joint].kind == "prismatic"]
    turns = [joint for joint in joints if joint not in slides]
    parts = [f"{math.degrees(CAUTIOUS_TURN):.0f}° a second for {listing(turns)}"] if turns else []
    parts += [f"{CAUTIOUS_SLIDE:g} m/s for {listing(slides)}"] if slides else []
    return (
        f"joints without a speed limit are moved with caution: {' and '.join(parts)}; a file of servos can say better."
    )
