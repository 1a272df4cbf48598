"""Driver for hobby servos on an Arduino that runs StandardFirmata, as in Adelino [Ribeiro & Paiva 2017, section 4].

Messages [Firmata 2.7]: `F9` asks for the version; `F0 70 pin min max F7` sets the pulse widths of a servo; `F4 pin 04`
sets the pin's mode to servo; `E0+pin value`, or `F0 6F pin value F7` above pin 15, moves the servo. A number has 14
bits in two bytes of seven bits each, low half first. The sketch reads a value of 544 or more as a pulse width [µs].
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from poise.errors import RobotError
from poise.robots.driver import DeviceLostError
from poise.robots.port import Port
from poise.robots.servo import Servo

FIRMATA_BAUD = 57600
SHORTEST_PULSE = 544
"""Shortest pulse width; the sketch reads smaller values as degrees [µs]."""
LARGEST_14_BIT = 0x3FFF
"""Largest number that a Firmata message can hold."""
ARMING_GAP = 0.2
"""Time between switching on two servos, so that their starting currents do not add up [s]."""
VERSION_QUERY_INTERVAL = 0.5
"""Time between two version queries, which show whether the board is still connected [s]."""
_SERVO_MODE = 0x04
_START, _END = 0xF0, 0xF7
_VERSION, _PIN_MODE, _ANALOG = 0xF9, 0xF4, 0xE0
_SERVO_CONFIG, _EXTENDED_ANALOG = 0x70, 0x6F
_LAST_SHORT_PIN = 15
_LAST_PIN = 127


def seven_bit_pair(value: int) -> bytes:
    """A 14-bit number as two bytes of seven bits each, low half first."""
    return bytes((value & 0x7F, value >> 7 & 0x7F))


def servo_setup(pin: int, pulses: tuple[int, int]) -> bytes:
    """The message that sets a pin's mode to servo, with its shortest and longest pulse [µs]."""
    config = (
        bytes((_START, _SERVO_CONFIG, pin)) + seven_bit_pair(pulses[0]) + seven_bit_pair(pulses[1]) + bytes((_END,))
    )
    return config + bytes((_PIN_MODE, pin, _SERVO_MODE))


def servo_move(pin: int, pulse: int) -> bytes:
    """The message that moves a servo to a pulse width [µs]."""
    if pin <= _LAST_SHORT_PIN:
        return bytes((_ANALOG + pin,)) + seven_bit_pair(pulse)
    return bytes((_START, _EXTENDED_ANALOG, pin)) + seven_bit_pair(pulse) + bytes((_END,))


class VersionReader:
    """Extracts version reports from a byte stream and skips everything else."""

    def __init__(self) -> None:
        """Start with an empty buffer."""
        self._report: list[int] = []

    def feed(self, data: bytes) -> Iterator[tuple[int, int]]:
        """Read received bytes and yield the versions (major, minor) that are now complete."""
        for byte in data:
            if byte == _VERSION:
                self._report = [byte]
            elif self._report and byte < 0x80:
                self._report.append(byte)
                if len(self._report) == 3:
                    yield self._report[1], self._report[2]
                    self._report = []
            else:
                self._report = []


class FirmataDriver:
    """Servos of an Arduino that runs StandardFirmata, on a serial port."""

    arming_gap = ARMING_GAP

    def __init__(self, path: str, baud: int = FIRMATA_BAUD, *, patience: float = 5.0) -> None:
        """Set the serial port; `open` opens it.

        Args:
            path: Serial port such as /dev/ttyACM0 or COM3.
            baud: Speed of the line; 57600 in the stock sketch.
            patience: Time without an answer after which the board counts as lost; a restart takes about 2 s [s].
        """
        self._port = Port(path, baud)
        self._patience = patience
        self._servos: Sequence[Servo] = ()
        self._reader = VersionReader()
        self._last_answer = self._queried = 0.0

    @property
    def name(self) -> str:
        """The driver's name in messages to the user."""
        return f"firmata on {self._port.path}"

    def open(self, servos: Sequence[Servo]) -> None:
        """Open the port and wait until the board reports its version."""
        for servo in servos:
            _check_channel_and_pulses(servo)
        self._servos = servos
        self._port.open()
        self._reader = VersionReader()
        try:
            self._wait_for_version()
        except DeviceLostError as problem:
            raise RobotError(str(problem)) from None

    def measure(self, number: int) -> int | None:
        """None: hobby servos do not report their positions."""
        return None

    def arm(self, number: int, tick: int) -> None:
        """Set a pin's mode to servo and send its pulse in one write, or else the sketch moves it to the middle."""
        servo = self._servos[number]
        if not self._port.write(servo_setup(servo.channel, servo.ticks) + servo_move(servo.channel, tick)):
            self.close()
            raise DeviceLostError(f"{self.name} does not accept the bytes it is sent.")

    def send(self, ticks: Sequence[int], values: Sequence[float]) -> bool:
        """Send a move message for every servo."""
        pairs = zip(self._servos, ticks, strict=True)
        return self._port.write_newest(b"".join(servo_move(servo.channel, tick) for servo, tick in pairs))

    def poll(self, now: float) -> Sequence[str]:
        """Query the version at intervals; raises if the board has stopped answering."""
        for _ in self._reader.feed(self._port.read()):
            self._last_answer = now
        if now - self._queried >= VERSION_QUERY_INTERVAL:
            self._port.write(bytes((_VERSION,)))
            self._queried = now
        if max(now - self._last_answer, self._port.stuck_for()) > self._patience:
            self.close()
            raise DeviceLostError(f"{self.name} has not answered for {self._patience:g} s.")
        return ()

    def close(self) -> None:
        """Close the port."""
        self._port.close()

    def _wait_for_version(self) -> None:
        """Query the version until the board answers; raises if it does not within `patience`."""
        start = time.monotonic()
        asked = 0.0
        while (now := time.monotonic()) - start < self._patience:
            if now - asked >= 0.25:
                self._port.write(bytes((_VERSION,)))
                asked = now
            if any(True for _ in self._reader.feed(self._port.read())):
                self._last_answer = self._queried = now
                return
            time.sleep(0.005)
        self.close()
        raise RobotError(
            f"{self._port.path} opened but did not answer as Firmata within {self._patience:g} s: "
            "load the sketch StandardFirmata on the board and check the baud rate."
        )


def _check_channel_and_pulses(servo: Servo) -> None:
    if servo.channel > _LAST_PIN:
        raise RobotError(f"servo of joint {servo.joint!r}: Firmata has pins 0 … {_LAST_PIN}, not {servo.channel}.")
    low, high = servo.ticks
    if not SHORTEST_PULSE <= low < high <= LARGEST_14_BIT:
        raise RobotError(
            f"servo of joint {servo.joint!r}: pulses must lie in {SHORTEST_PULSE} … {LARGEST_14_BIT} µs, "
            f"not {low} … {high}."
        )
