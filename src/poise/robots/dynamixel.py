"""Driver for Dynamixel X-series servos on a serial bus, protocol 2.0 [Robotis 2.0].

No servo jumps when the bus opens. For one servo after another, the driver reads the present position, writes it as the
goal position and enables the torque; the servo's own speed limit (profile velocity) is set as well. Each frame sends
all goal positions in one sync-write packet, which servos do not answer. Between frames the driver pings one servo at a
time to find out whether it is still there.
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

DYNAMIXEL_BAUD = 57600
DYNAMIXEL_TICKS = (0, 4095)
"""Positions of one full turn [ticks]."""
PING_INTERVAL = 0.1
"""Time between two pings [s]."""
ANSWER_TIMEOUT = 0.25
"""Time to wait for the answer to a packet [s]."""
ATTEMPTS = 3
"""Times a packet is sent before its servo counts as missing."""
OPERATING_MODE, TORQUE_ENABLE, PROFILE_VELOCITY, GOAL_POSITION, PRESENT_POSITION = 11, 64, 112, 116, 132
"""Addresses of these registers in the servo's control table."""
POSITION_MODES = {3: "position", 4: "extended position"}
_MODE_NAMES = {0: "current", 1: "velocity", 5: "current-based position", 16: "PWM"} | POSITION_MODES
_PROFILE_VELOCITY_UNIT = 0.229 * 2.0 * math.pi / 60.0
"""Speed that one unit of the profile velocity means: 0.229 turns per minute [rad/s]."""
_LAST_ID = 252
_HARDWARE_ALERT = 0x80


class DynamixelDriver:
    """Dynamixel servos on one serial bus."""

    arming_gap = 0.0

    def __init__(self, path: str, baud: int = DYNAMIXEL_BAUD, *, patience: float = 2.0) -> None:
        """Set the serial port; `open` opens it.

        Args:
            path: Serial port such as /dev/ttyUSB0 or COM3.
            baud: Speed of the bus; the factory setting is 57600.
            patience: Time without an answer after which a servo counts as lost, besides the time to ping all [s].
        """
        self._port = Port(path, baud)
        self._patience = patience
        self._servos: Sequence[Servo] = ()
        self._reader = packets.AnswerReader()
        self._last_answers: dict[int, float] = {}
        self._warned: set[int] = set()
        self._pinged, self._next = 0.0, 0

    @property
    def name(self) -> str:
        """The name for messages."""
        return f"dynamixel on {self._port.path}"

    def open(self, servos: Sequence[Servo]) -> None:
        """Open the bus and check that every servo answers in a position mode."""
        for servo in servos:
            if servo.channel > _LAST_ID:
                raise RobotError(f"servo of joint {servo.joint!r}: an id is 0 to {_LAST_ID}, not {servo.channel}.")
        self._servos = servos
        self._port.open()
        self._reader = packets.AnswerReader()
        try:
            for servo in servos:
                self._check_present(servo)
        except RobotError:
            self.close()
            raise

    def measure(self, number: int) -> int | None:
        """Read a servo's present position."""
        servo = self._servos[number]
        position = self._ask(servo, packets.read(servo.channel, PRESENT_POSITION, 4), 4)
        return int.from_bytes(position, "little", signed=True)

    def arm(self, number: int, tick: int) -> None:
        """Write a servo's speed limit and goal position, then enable its torque."""
        servo = self._servos[number]
        who = servo.channel
        self._ask(servo, packets.write(who, PROFILE_VELOCITY, _profile_velocity(servo), 4), 0)
        self._ask(servo, packets.write(who, GOAL_POSITION, tick & 0xFFFFFFFF, 4), 0)
        self._ask(servo, packets.write(who, TORQUE_ENABLE, 1, 1), 0)

    def send(self, ticks: Sequence[int], values: Sequence[float]) -> bool:
        """Send all goal positions in one packet."""
        goals = [(servo.channel, tick) for servo, tick in zip(self._servos, ticks, strict=True)]
        return self._port.write_newest(packets.sync_write(GOAL_POSITION, 4, goals))

    def poll(self, now: float) -> Sequence[str]:
        """Read answers, ping the next servo, and return new warnings; raises if a servo has stopped answering."""
        remarks = []
        for answer in self._reader.feed(self._port.read()):
            self._last_answers[answer.who] = now
            remarks += self._new_warnings(answer)
        if now - self._pinged >= PING_INTERVAL:
            servo = self._servos[self._next % len(self._servos)]
            self._port.write(packets.packet(servo.channel, packets.PING))
            self._pinged, self._next = now, self._next + 1
        patience = self._patience + PING_INTERVAL * len(self._servos)
        missing = [servo for servo in self._servos if now - self._last_answers.get(servo.channel, now) > patience]
        if missing or self._port.stuck_for() > self._patience:
            self.close()
            who = ", ".join(f"{servo.joint!r} (id {servo.channel})" for servo in missing) or "the bus"
            raise DeviceLostError(f"{self.name}: {who} has not answered for {patience:.2g} s.")
        return remarks

    def close(self) -> None:
        """Close the bus; the servos hold their positions."""
        self._port.close()

    def _new_warnings(self, answer: packets.Answer) -> list[str]:
        """One sentence if this answer is the first to report a servo's hardware alert."""
        known = answer.who in self._warned
        if not answer.error & _HARDWARE_ALERT:
            self._warned.discard(answer.who)
            return []
        self._warned.add(answer.who)
        joints = [servo.joint for servo in self._servos if servo.channel == answer.who]
        if known or not joints:
            return []
        return [
            f"servo of joint {joints[0]!r} (id {answer.who}) warns of too much load or heat, or of a wrong voltage; "
            "it may switch its torque off until it is powered off and on."
        ]

    def _check_present(self, servo: Servo) -> None:
        """Raise an error if a servo does not answer or is not in a position mode."""
        mode = self._ask(servo, packets.read(servo.channel, OPERATING_MODE, 1), 1)[0]
        if mode not in POSITION_MODES:
            named = _MODE_NAMES.get(mode, str(mode))
            raise RobotError(
                f"servo of joint {servo.joint!r} (id {servo.channel}) is in {named} mode: set its operating mode to 3 "
                "(position) with the manufacturer's tool."
            )

    def _ask(self, servo: Servo, question: bytes, count: int) -> bytes:
        """Send a packet to a servo and wait for its answer; returns the `count` parameter bytes of the answer."""
        for _ in range(ATTEMPTS):
            self._port.write(question)
            start = time.monotonic()
            while (now := time.monotonic()) - start < ANSWER_TIMEOUT:
                for answer in self._reader.feed(self._port.read()):
                    if answer.who != servo.channel or len(answer.parameters) != count:
                        continue
                    if answer.error & ~_HARDWARE_ALERT:
                        raise RobotError(
                            f"servo of joint {servo.joint!r} (id {servo.channel}) rejected an instruction "
                            f"(error {answer.error & ~_HARDWARE_ALERT})."
                        )
                    # The other servos are not pinged meanwhile, so their time without an answer starts again.
                    self._last_answers = dict.fromkeys((each.channel for each in self._servos), now)
                    return answer.parameters
                time.sleep(0.001)
        raise RobotError(
            f"{self.name}: no servo answers as id {servo.channel} (joint {servo.joint!r}): check its id, its power "
            f"supply and the bus speed ({self._port.baud} baud)."
        )


def _profile_velocity(servo: Servo) -> int:
    """The servo's speed limit in units of its profile velocity, at least 1, because 0 means no limit."""
    turning = servo.speed * abs(servo.scale) * 2.0 * math.pi / (DYNAMIXEL_TICKS[1] + 1)
    return max(1, int(min(turning / _PROFILE_VELOCITY_UNIT, 32767.0)))
