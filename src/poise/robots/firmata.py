"""Hobby servos on an Arduino with the stock sketch StandardFirmata, as Adelino has [Ribeiro & Paiva 2017, section 4].

What is sent [Firmata 2.7]: `F9` asks for the version; `F0 70 pin min max F7` gives a servo its pulse widths, `F4 pin
04` makes the pin a servo's, and `E0+pin value`, or `F0 6F pin value F7` above pin 15, moves it. Numbers are 14 bits in
two bytes of seven, low half first. The sketch takes a value of 544 or more as a pulse width [µs].
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from poise.errors import RobotError
from poise.robots.driver import DeviceLostError
from poise.robots.port import Port
from poise.robots.servo import Servo

BAUD = 57600
LEAST_PULSE = 544
"""Below it the sketch reads degrees [µs]."""
LARGEST = 0x3FFF
ARMING_GAP = 0.2
"""Time between switching on two servos, so that they do not all draw their starting current at once [s]."""
ASK_EVERY = 0.5
"""Time between two questions whether the board is still there [s]."""
_SERVO = 0x04
_START, _END = 0xF0, 0xF7
_VERSION, _PIN_MODE, _ANALOG = 0xF9, 0xF4, 0xE0
_SERVO_CONFIG, _EXTENDED_ANALOG = 0x70, 0x6F
_LAST_SHORT_PIN = 15
_LAST_PIN = 127


def two_sevens(value: int) -> bytes:
    """A number of 14 bits in two bytes of seven, low half first."""
    return bytes((value & 0x7F, value >> 7 & 0x7F))


def servo_setup(pin: int, pulses: tuple[int, int]) -> bytes:
    """Make a pin a servo's, with its least and greatest pulse [µs]."""
    config = bytes((_START, _SERVO_CONFIG, pin)) + two_sevens(pulses[0]) + two_sevens(pulses[1]) + bytes((_END,))
    return config + bytes((_PIN_MODE, pin, _SERVO))


def servo_move(pin: int, pulse: int) -> bytes:
    """Send a servo to a pulse width [µs]."""
    if pin <= _LAST_SHORT_PIN:
        return bytes((_ANALOG + pin,)) + two_sevens(pulse)
    return bytes((_START, _EXTENDED_ANALOG, pin)) + two_sevens(pulse) + bytes((_END,))


class VersionReader:
    """Finds version reports in what the board says, through anything else on the line."""

    def __init__(self) -> None:
        """Nothing read yet."""
        self._found: list[int] = []

    def feed(self, data: bytes) -> Iterator[tuple[int, int]]:
        """Versions (major, minor) that are complete after these bytes."""
        for byte in data:
            if byte == _VERSION:
                self._found = [byte]
            elif self._found and byte < 0x80:
                self._found.append(byte)
                if len(self._found) == 3:
                    yield self._found[1], self._found[2]
                    self._found = []
            else:
                self._found = []


class FirmataDriver:
    """An Arduino with StandardFirmata on a serial line."""

    arming_gap = ARMING_GAP

    def __init__(self, path: str, baud: int = BAUD, *, patience: float = 5.0) -> None:
        """Name the line.

        Args:
            path: Such as /dev/ttyACM0 or COM3.
            baud: 57600 unless the sketch was changed.
            patience: How long the board may be silent [s]; one that starts again takes about two.
        """
        self._port = Port(path, baud)
        self._patience = patience
        self._servos: Sequence[Servo] = ()
        self._reader = VersionReader()
        self._heard = self._asked = 0.0

    @property
    def name(self) -> str:
        """What people call it."""
        return f"firmata on {self._port.path}"

    def open(self, servos: Sequence[Servo]) -> None:
        """Wait for the board."""
        for servo in servos:
            _check(servo)
        self._servos = servos
        self._port.open()
        self._reader = VersionReader()
        try:
            self._greet()
        except DeviceLostError as problem:
            raise RobotError(str(problem)) from None

    def measure(self, number: int) -> int | None:
        """Hobby servos do not say where they are."""
        return None

    def arm(self, number: int, tick: int) -> None:
        """Make a pin a servo's; its place follows at once, or the sketch would send it to the middle."""
        servo = self._servos[number]
        if not self._port.write(servo_setup(servo.channel, servo.ticks) + servo_move(servo.channel, tick)):
            self.close()
            raise DeviceLostError(f"{self.name} does not take what it is sent.")

    def send(self, ticks: Sequence[int], values: Sequence[float]) -> bool:
        """Move all servos."""
        pairs = zip(self._servos, ticks, strict=True)
        return self._port.write_newest(b"".join(servo_move(servo.channel, tick) for servo, tick in pairs))

    def poll(self, now: float) -> Sequence[str]:
        """Ask now and then whether the board is there, and take its answer."""
        for _ in self._reader.feed(self._port.read()):
            self._heard = now
        if now - self._asked >= ASK_EVERY:
            self._port.write(bytes((_VERSION,)))
            self._asked = now
        if max(now - self._heard, self._port.stuck_for()) > self._patience:
            self.close()
            raise DeviceLostError(f"{self.name} has not answered for {self._patience:g} s.")
        return ()

    def close(self) -> None:
        """Let go of the line."""
        self._port.close()

    def _greet(self) -> None:
        """Ask for the version until the board answers."""
        start = time.monotonic()
        asked = 0.0
        while (now := time.monotonic()) - start < self._patience:
            if now - asked >= 0.25:
                self._port.write(bytes((_VERSION,)))
                asked = now
            if any(True for _ in self._reader.feed(self._port.read())):
                self._heard = self._asked = now
                return
            time.sleep(0.005)
        self.close()
        raise RobotError(
            f"{self._port.path} opened but did not answer as Firmata within {self._patience:g} s: "
            "load the sketch StandardFirmata on the board and check the line's speed."
        )


def _check(servo: Servo) -> None:
    if servo.channel > _LAST_PIN:
        raise RobotError(f"servo of joint {servo.joint!r}: Firmata has pins 0 … {_LAST_PIN}, not {servo.channel}.")
    low, high = servo.ticks
    if not LEAST_PULSE <= low < high <= LARGEST:
        raise RobotError(
            f"servo of joint {servo.joint!r}: pulses go from {LEAST_PULSE} to {LARGEST} µs, not {low} … {high}."
        )
