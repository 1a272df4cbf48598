"""Runs a figure on real servos: slow start, position and speed limits, watchdog, and automatic reconnection."""

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
    joints_without_speed,
    speed_limit,
    values_of,
)

State = Literal["closed", "starting", "following", "safe", "lost"]
_EVENTS_KEPT = 200
log = logging.getLogger(__name__)


class Event(NamedTuple):
    """Something that happened and that a user should be told."""

    time: float
    """Time of the event by the robot's clock [s]."""
    sentence: str
    """Description of the event, one sentence."""


class Robot:
    """The servos of a figure, commanded through a driver by a background thread.

    `write` sets the target joint values and returns at once. The thread sends commands at a constant rate: it starts
    slowly, keeps every command inside position and speed limits, moves to a safe posture if nothing has been written
    for a while (watchdog), and connects again if the connection is lost.
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
            figure: The figure whose joints the servos move.
            driver: The driver that sends commands to the device.
            servos: The servos; each maps one joint to ticks.
            safe: Posture to move to if nothing is written, and the assumed first posture of servos that cannot be
                measured; by default the neutral posture.
            slow: Speed limit at the start and on the way to the safe posture [rad/s or m/s].
            watchdog: Time without a `write` after which the robot moves to the safe posture [s].
            rate: Commands per second.
            retry: Time between two attempts to connect again [s].
            on_event: Function called with one sentence for each event; by default events are logged as warnings.
            clock: Function that returns the time; it should never run backwards [s].
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
        self._unlimited, self._warn_of_assumed_positions = joints_without_speed(given, figure), True
        self._watchdog, self._period, self._retry = watchdog, 1.0 / rate, retry
        self._on_event, self._clock = on_event, clock
        self.events: deque[Event] = deque(maxlen=_EVENTS_KEPT)
        self._target: Ticks | None = None
        self._written = self._sent = self._next_try = self._next_arming = -math.inf
        self._armed = 0
        self._last_complaint = ""
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self.state: State = "closed"

    def start(self, at: Posture | str | Mapping[str, ArrayLike] | None = None) -> None:
        """Connect and start sending; raises if the device cannot be opened, but later losses only trigger reconnection.

        Args:
            at: The present posture, for servos that cannot be measured; by default the last commands of this robot, or
                the safe posture if there were none.
        """
        if self._thread is not None:
            if not self._stop.is_set():
                return
            self._thread.join()
        if at is not None:
            self._governor.assume(self.figure.posture(at).q[self._rows])
            self._warn_of_assumed_positions = False
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
        """Stop sending at once and close the connection; the servos hold their positions."""
        self._stop.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
            self._thread = None
        self.driver.close()
        self.state = "closed"

    def __enter__(self) -> Robot:
        """Start the robot."""
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the robot."""
        self.stop()

    def write(self, frame: Posture | ArrayLike | Mapping[str, ArrayLike]) -> None:
        """Set the target joint values; may be called from any thread and does not block.

        A frame that is not a posture of the figure is ignored and reported once.
        """
        try:
            q = frame.q if isinstance(frame, Posture) and frame.figure is self.figure else self.figure.posture(frame).q
        except PoiseError as problem:
            self._report_once(f"a frame was ignored: {problem}")
            return
        values = q[self._rows]
        if not np.isfinite(values).all():
            self._report_once("a frame was ignored: it contains a value that is not a finite number.")
            return
        self._target = self._governor.nearest(values)
        self._written = self._clock()

    @property
    def commands(self) -> dict[str, float]:
        """The joint values of the last commands, by joint [rad or m]."""
        values = values_of(self.servos, self._governor.ticks.tolist())
        return {servo.joint: float(value) for servo, value in zip(self.servos, values, strict=True)}

    def tick(self) -> None:
        """Run one cycle of the thread: connect if necessary, send commands, read messages; nothing once stopped."""
        if self._stop.is_set():
            return
        self._cap_waiting_times()
        try:
            if self.state in ("lost", "closed"):
                if self._clock() < self._next_try:
                    return
                self._connect()
            self._arm()
            if self._armed == len(self.servos):
                self._send()
            self._poll()
        except RobotError as problem:
            self._report_loss(problem)
        except Exception as problem:
            log.exception("the driver failed")
            self._report_loss(RobotError(f"{self.driver.name} failed: {type(problem).__name__}: {problem}."))

    def _cap_waiting_times(self) -> None:
        """Shorten waiting times that became too long because the clock was set back."""
        now = self._clock()
        self._written = min(self._written, now)
        self._next_try = min(self._next_try, now + self._retry)
        self._next_arming = min(self._next_arming, now + self.driver.arming_gap)

    def _connect(self) -> None:
        was_lost = self.state == "lost"
        self.driver.open(self.servos)
        self._armed, self._next_arming = 0, -math.inf
        # With this time in the future, the first command uses no elapsed time and repeats the last known position.
        self._sent = math.inf
        self._governor.begin()
        self.state = "starting"
        self._last_complaint = ""
        if was_lost:
            self._report(f"{self.driver.name} is back.")
        if self._unlimited:
            self._report(_cautious_speeds_sentence(self.figure, self._unlimited))
            self._unlimited = []

    def _arm(self) -> None:
        """Switch on the servos whose turn has come, one after another, each at its last known position."""
        while self._armed < len(self.servos) and self._clock() >= self._next_arming and not self._stop.is_set():
            where = self.driver.measure(self._armed)
            if where is not None:
                self._governor.measured(self._armed, where)
            self.driver.arm(self._armed, int(self._governor.ticks[self._armed]))
            self._armed += 1
            self._next_arming = self._clock() + (self.driver.arming_gap if where is None else 0.0)
            if where is None and self._warn_of_assumed_positions:
                self._warn_of_assumed_positions = False
                self._report(_assumed_positions_sentence(self.driver.name))

    def _poll(self) -> None:
        """Read the device's messages; called after sending, so that the driver's queries do not delay a command."""
        if not self._stop.is_set():
            for sentence in self.driver.poll(self._clock()):
                self._report(sentence)

    def _send(self) -> None:
        now = self._clock()
        is_idle = now - self._written > self._watchdog
        target = self._safe if is_idle or self._target is None else self._target
        self._update_state(is_idle, target)
        step = self._governor.step(target, now - self._sent, slowly=self.state != "following")
        ticks = step.ticks.tolist()
        if not self._stop.is_set() and self.driver.send(ticks, values_of(self.servos, ticks).tolist()):
            self._governor.took(step)
            self._sent = now

    def _update_state(self, is_idle: bool, target: Ticks) -> None:
        if is_idle and self.state != "safe":
            was_following = self.state == "following"
            self.state = "safe"
            if was_following:
                self._report(
                    f"nothing was written for {self._watchdog:g} s: {self.driver.name} goes to its safe posture."
                )
        elif self.state == "safe" and not is_idle:
            self._governor.begin()
            self.state = "starting"
        if self.state == "starting" and self._governor.has_caught_up(target):
            self.state = "following"

    def _report_loss(self, problem: RobotError) -> None:
        if self._stop.is_set():
            return
        self.driver.close()
        first = self.state != "lost"
        self.state = "lost"
        self._next_try = self._clock() + self._retry
        if first:
            self._report(f"{problem} Trying again every {self._retry:g} s.")

    def _run(self) -> None:
        due = self._clock()
        while not self._stop.is_set():
            self.tick()
            due = max(due + self._period, self._clock())
            self._stop.wait(max(0.0, due - self._clock()))

    def _report_once(self, sentence: str) -> None:
        if sentence != self._last_complaint:
            self._last_complaint = sentence
            self._report(sentence)

    def _report(self, sentence: str) -> None:
        self.events.append(Event(self._clock(), sentence))
        try:
            (self._on_event or log.warning)(sentence)
        except Exception:
            log.exception("the function given as on_event failed")


def _assumed_positions_sentence(name: str) -> str:
    """The warning about servos whose positions cannot be measured."""
    return (
        f"{name} cannot measure its servos: they are switched on in the safe posture and move there at their own "
        "speed; choose as safe posture the one in which the robot rests."
    )


def _cautious_speeds_sentence(figure: Figure, joints: Sequence[str]) -> str:
    """The warning about joints without a speed limit."""
    slides = [joint for joint in joints if figure.joints[joint].kind == "prismatic"]
    turns = [joint for joint in joints if joint not in slides]
    parts = [f"{math.degrees(CAUTIOUS_TURN):.0f}° a second for {listing(turns)}"] if turns else []
    parts += [f"{CAUTIOUS_SLIDE:g} m/s for {listing(slides)}"] if slides else []
    return f"joints without a speed limit get a cautious one: {' and '.join(parts)}; set speeds in a servo file."
