"""Robots by a few words: `firmata:/dev/ttyACM0`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from poise.errors import RobotError
from poise.figure.model.figure import Figure
from poise.figure.model.names import suggestion
from poise.robots import dynamixel, firmata, osc_out, serial_line
from poise.robots.driver import Driver
from poise.robots.dry_run import DryRunDriver
from poise.robots.robot import Robot
from poise.robots.servo import PULSES, Servo, one_each
from poise.robots.servo_file import ServoFile, read_servos

EXAMPLES = "firmata:/dev/ttyACM0, dynamixel:/dev/ttyUSB0@1000000, serial:/dev/ttyUSB0@115200, osc:127.0.0.1:9000"


class Kind(NamedTuple):
    """A way to speak to a robot."""

    make: Callable[[str, Figure], Driver]
    servos: Mapping[str, object]
    """What a servo is unless a file says otherwise."""
    first_channel: int


def connect(
    where: str,
    figure: Figure,
    servos: Sequence[Servo] | str | Path | None = None,
    *,
    dry_run: bool = False,
    say: Callable[[str], object] = print,
    **options: Any,
) -> Robot:
    """A robot, not yet started.

    Args:
        where: `firmata:PORT`, `dynamixel:PORT`, `serial:PORT`, each with an optional `@BAUD`, or `osc:HOST:PORT`.
        figure: Whose joints it has.
        servos: The servos, or a TOML file of them; by default one for every joint, on channels in a row (Firmata pins
            from 2, Dynamixel ids from 1, others from 0).
        dry_run: Print what would be sent and open nothing.
        say: Where a dry run prints.
        options: Of `Robot`.
    """
    name, kind = _kind(where)
    driver = kind.make(where.partition(":")[2], figure)
    given = read_servos(servos, figure, kind.servos) if isinstance(servos, (str, Path)) else ServoFile(servos, None)
    if given.safe is not None:
        options.setdefault("safe", given.safe)
    chosen = given.servos if given.servos is not None else one_each(figure, kind.servos, kind.first_channel)
    if dry_run:
        driver = DryRunDriver(f"{name} ({driver.name})", say)
    return Robot(figure, driver, chosen, **options)


def _kind(where: str) -> tuple[str, Kind]:
    name, colon, rest = where.partition(":")
    if not colon or not rest or name not in KINDS:
        hint = suggestion(name, KINDS) if name not in KINDS else ""
        raise RobotError(f"{where!r} names no robot.{hint} Try one of {EXAMPLES}.")
    return name, KINDS[name]


def _port_and_baud(rest: str, baud: int) -> tuple[str, int]:
    path, at, speed = rest.rpartition("@")
    if not at:
        return rest, baud
    if not speed.isdecimal():
        raise RobotError(f"the speed after '@' in {rest!r} is a number of baud such as 57600, not {speed!r}.")
    return path, int(speed)


def _osc(rest: str, figure: Figure) -> Driver:
    host, colon, port = rest.rpartition(":")
    if not colon or not host or not port.isdecimal():
        raise RobotError(f"OSC goes to a host and a port such as osc:127.0.0.1:9000, not osc:{rest}.")
    return osc_out.OscDriver(host.strip("[]"), int(port), figure.name)


KINDS = {
    "firmata": Kind(
        lambda rest, _: firmata.FirmataDriver(*_port_and_baud(rest, firmata.BAUD)),
        {"ticks": PULSES, "travel": math.pi},
        2,
    ),
    "dynamixel": Kind(
        lambda rest, _: dynamixel.DynamixelDriver(*_port_and_baud(rest, dynamixel.BAUD)),
        {"ticks": dynamixel.TICKS, "travel": 2.0 * math.pi * 4095 / 4096},
        1,
    ),
    "serial": Kind(
        lambda rest, _: serial_line.SerialLineDriver(*_port_and_baud(rest, serial_line.BAUD)),
        {"ticks": PULSES, "travel": math.pi},
        0,
    ),
    "osc": Kind(_osc, {"ticks": osc_out.TICKS, "travel": 2e-6 * osc_out.TICKS[1]}, 0),
}
