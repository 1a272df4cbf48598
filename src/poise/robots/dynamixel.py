"""Dynamixel servos of the X series on a serial bus, protocol 2.0.

Nothing jumps when it opens: each servo is asked where it is, told to stay there and then given its torque, one after
the other, so that nothing has time to move in between; it keeps a speed limit of its own. All goals travel in one
packet that nobody answers; between frames one servo after the other is asked whether it is there.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

from poise.errors import RobotError
from poise.robots import dynamixel_packets as packets
from poise.robots.driver import DeviceLostError
from poise.robots.port import Port
from poise.robots.servo import Servo

BAUD = 57600
TICKS = (0, 4095)
"""One turn."""
ASK_EVERY = 0.1
"""Time between two questions whether a servo is there [s]."""
ANSWER_WITHIN = 0.25
ATTEMPTS = 3
"""How often a question is asked before a servo counts as missing."""
MODE, TORQUE, PROFILE_VELOCITY, GOAL, PRESENT = 11, 64, 112, 116, 132
"""Addresses in the control table."""
POSITION_MODES = {3: "position", 4: "extended position"}
_MODES = {0: "current", 1: "velocity", 5: "current-based position", 16: "PWM"} | POSITION_MODES
_SPEED_UNIT = 0.229 * 2.0 * math.pi / 60.0
"""Of the profile velocity [rad/s]."""
_LAST_ID = 252
_ALERT = 0x80


class DynamixelDriver:
    """Servos on one bus."""

    arming_gap = 0.0

    def __init__(self, path: str, baud: int = BAUD, *, patience: float = 2.0) -> None:
        """Name the bus.

        Args:
            path: Such as /dev/ttyUSB0 or COM3.
            baud: Speed of the bus; 57600 from the factory.
            patience: How long all servos may be silent [s].
        """
        self._port = Port(path, baud)
        self._patience = patience
        self._servos: Sequence[Servo] = ()
        self._reader = packets.AnswerReader()
        self._heard: dict[int, float] = {}
        self._warned: set[int] = set()
        self._asked, self._next = 0.0, 0

    @property
    def name(self) -> str:
        """What people call it."""
        return f"dynamixel on {self._port.path}"

    def open(self, servos: Sequence[Servo]) -> None:
        """Find every servo."""
        for servo in servos:
            if servo.channel > _LAST_ID:
                raise RobotError(f"servo of joint {servo.joint!r}: ids go from 0 to {_LAST_ID}, not {servo.channel}.")
        self._servos = servos
        self._port.open()
        self._reader = packets.AnswerReader()
        try:
            for servo in servos:
                self._find(servo)
        except RobotError:
            self.close()
            raise

    def measure(self, number: int) -> int | None:
        """Ask a servo where it is."""
        servo = self._servos[number]
        where = self._ask(servo, packets.read(servo.channel, PRESENT, 4), 4)
        return int.from_bytes(where, "little", signed=True)

    def arm(self, number: int, tick: int) -> None:
        """Give a servo its own speed limit and its goal, then its torque."""
        servo = self._servos[number]
        who = servo.channel
        self._ask(servo, packets.write(who, PROFILE_VELOCITY, _profile_velocity(servo), 4), 0)
        self._ask(servo, packets.write(who, GOAL, tick & 0xFFFFFFFF, 4), 0)
        self._ask(servo, packets.write(who, TORQUE, 1, 1), 0)

    def send(self, ticks: Sequence[int], values: Sequence[float]) -> bool:
        """Send all goals in one packet."""
        goals = [(servo.channel, tick) for servo, tick in zip(self._servos, ticks, strict=True)]
        return self._port.write_newest(packets.sync_write(GOAL, 4, goals))

    def poll(self, now: float) -> Sequence[str]:
        """Ask one servo after the other, and take what they answer."""
        remarks = []
        for answer in self._reader.feed(self._port.read()):
            self._heard[answer.who] = now
            remarks += self._noted(answer)
        if now - self._asked >= ASK_EVERY:
            servo = self._servos[self._next % len(self._servos)]
            self._port.write(packets.packet(servo.channel, packets.PING))
            self._asked, self._next = now, self._next + 1
        patience = self._patience + ASK_EVERY * len(self._servos)
        missing = [servo for servo in self._servos if now - self._heard.get(servo.channel, now) > patience]
        if missing or self._port.stuck_for() > self._patience:
            self.close()
            who = ", ".join(f"{servo.joint!r} (id {servo.channel})" for servo in missing) or "the bus"
            raise DeviceLostError(f"{self.name}: {who} has not answered for {patience:.2g} s.")
        return remarks

    def close(self) -> None:
        """Let go of the bus; the servos hold where they are."""
        self._port.close()

    def _noted(self, answer: packets.Answer) -> list[str]:
        """A sentence when a servo begins to warn."""
        known = answer.who in self._warned
        if not answer.error & _ALERT:
            self._warned.discard(answer.who)
            return []
        self._warned.add(answer.who)
        joints = [servo.joint for servo in self._servos if servo.channel == answer.who]
        if known or not joints:
            return []
        return [
            f"servo of joint {joints[0]!r} (id {answer.who}) warns of too much load or heat, or of a wrong voltage; "
            "it may let go until it is switched off and on."
        ]

    def _find(self, servo: Servo) -> None:
        """See that a servo answers and takes positions."""
        mode = self._ask(servo, packets.read(servo.channel, MODE, 1), 1)[0]
        if mode not in POSITION_MODES:
            named = _MODES.get(mode, str(mode))
            raise RobotError(
                f"servo of joint {servo.joint!r} (id {servo.channel}) is in {named} mode: set its operating mode to 3, "
                "position, with the maker's tool."
            )

    def _ask(self, servo: Servo, question: bytes, count: int) -> bytes:
        """The parameters of a servo's answer, `count` of them."""
        for _ in range(ATTEMPTS):
            self._port.write(question)
            start = time.monotonic()
            while (now := time.monotonic()) - start < ANSWER_WITHIN:
                for answer in self._reader.feed(self._port.read()):
                    if answer.who != servo.channel or len(answer.parameters) != count:
                        continue
                    if answer.error & ~_ALERT:
                        raise RobotError(
                            f"servo of joint {servo.joint!r} (id {servo.channel}) refused an instruction "
                            f"(error {answer.error & ~_ALERT})."
                        )
                    # Nobody else is asked meanwhile, so nobody else's silence counts.
                    self._heard = dict.fromkeys((each.channel for each in self._servos), now)
                    return answer.parameters
                time.sleep(0.001)
        raise RobotError(
            f"{self.name}: no servo answers as id {servo.channel} (joint {servo.joint!r}): check its id, its power and "
            f"the bus speed ({self._port.baud} baud)."
        )


def _profile_velocity(servo: Servo) -> int:
    """The servo's own speed limit in its units, at least one: 0 would mean none."""
    turning = servo.speed * abs(servo.scale) * 2.0 * math.pi / (TICKS[1] + 1)
    return max(1, int(min(turning / _SPEED_UNIT, 32767.0)))
