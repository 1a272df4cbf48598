"""Creates a robot from a text address such as `firmata:/dev/ttyACM0`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from poise.errors import RobotError
from poise.figure.model.figure import Figure, checked_figure
from poise.figure.model.names import suggestion
from poise.formats.text.toml_tables import Table
from poise.robots import dynamixel, firmata, osc_out, serial_line
from poise.robots.driver import Driver
from poise.robots.dry_run import DryRunDriver
from poise.robots.robot import Robot
from poise.robots.servo import PULSE_RANGE, Servo, default_servos
from poise.robots.servo_file import ServoFile, parse_servos, read_servos

ADDRESS_EXAMPLES = (
    "firmata:/dev/ttyACM0, dynamixel:/dev/ttyUSB0@1000000, serial:/dev/ttyUSB0@115200, osc:127.0.0.1:9000"
)


class Kind(NamedTuple):
    """A protocol that an address can name, and its default servos."""

    make: Callable[[str, Figure], Driver]
    """Makes the driver from the rest of the address and the figure."""
    servos: Mapping[str, object]
    """Fields of `Servo` that the protocol sets by default; a servo file overrides them."""
    first_channel: int
    """Channel of the first servo when no servos are given; the others follow in order."""


def connect(
    where: str,
    figure: Figure,
    servos: Sequence[Servo] | str | Path | Table | None = None,
    *,
    dry_run: bool = False,
    say: Callable[[str], object] = print,
    **options: Any,
) -> Robot:
    """Create a robot from an address; nothing is opened or moved until the robot starts.

    Args:
        where: `firmata:PORT`, `dynamixel:PORT`, `serial:PORT`, each with an optional `@BAUD`, or `osc:HOST:PORT`.
        figure: The figure whose joints the servos move.
        servos: The servos, or the path of a TOML file that lists them, or its top table; by default one servo for every
            active joint of one value, on consecutive channels (Firmata pins from 2, Dynamixel ids from 1, others from
            0).
        dry_run: Print the commands instead of sending them; no device is opened.
        say: Function that prints one line of a dry run.
        options: Keyword arguments of `Robot`.
    """
    name, kind = _kind(where)
    checked_figure(figure, "a robot")
    driver = kind.make(where.partition(":")[2], figure)
    given = _servo_file(servos, figure, kind.servos)
    if given.safe is not None:
        options.setdefault("safe", given.safe)
    chosen = given.servos if given.servos is not None else default_servos(figure, kind.servos, kind.first_channel)
    if dry_run:
        driver = DryRunDriver(f"{name} ({driver.name})", say)
    return Robot(figure, driver, chosen, **options)


def _servo_file(
    servos: Sequence[Servo] | str | Path | Table | None, figure: Figure, defaults: Mapping[str, object]
) -> ServoFile:
    if isinstance(servos, Table):
        return parse_servos(servos, figure, defaults)
    return read_servos(servos, figure, defaults) if isinstance(servos, (str, Path)) else ServoFile(servos, None)


def _kind(where: str) -> tuple[str, Kind]:
    name, colon, rest = str(where).partition(":")
    if not colon or not rest or name not in ROBOT_KINDS:
        hint = suggestion(name, ROBOT_KINDS) if name not in ROBOT_KINDS else ""
        raise RobotError(f"{where!r} names no robot.{hint} An address looks like one of {ADDRESS_EXAMPLES}.")
    return name, ROBOT_KINDS[name]


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
        raise RobotError(f"an OSC robot needs a host and a port such as osc:127.0.0.1:9000, not osc:{rest}.")
    return osc_out.OscDriver(host.strip("[]"), int(port), figure.name)


ROBOT_KINDS = {
    "firmata": Kind(
        lambda rest, _: firmata.FirmataDriver(*_port_and_baud(rest, firmata.FIRMATA_BAUD)),
        {"ticks": PULSE_RANGE, "travel": math.pi},
        2,
    ),
    "dynamixel": Kind(
        lambda rest, _: dynamixel.DynamixelDriver(*_port_and_baud(rest, dynamixel.DYNAMIXEL_BAUD)),
        {"ticks": dynamixel.DYNAMIXEL_TICKS, "travel": 2.0 * math.pi * 4095 / 4096},
        1,
    ),
    "serial": Kind(
        lambda rest, _: serial_line.SerialLineDriver(*_port_and_baud(rest, serial_line.SERIAL_LINE_BAUD)),
        {"ticks": PULSE_RANGE, "travel": math.pi},
        0,
    ),
    "osc": Kind(_osc, {"ticks": osc_out.OSC_TICKS, "travel": 2e-6 * osc_out.OSC_TICKS[1]}, 0),
}
