"""Servo files: TOML files, in degrees, that list the servos of a robot and its safe posture.

    safe = "neutral"

    [[servo]]
    joint = "turn"
    channel = 3
    sign = -1
    zero = 4.0            # degrees at the middle pulse
    ticks = [544, 2400]
    travel = 180.0        # degrees from one end of the ticks to the other
    lower = -80.0
    upper = 80.0
    speed = 240.0         # degrees a second

Prismatic joints use metres instead of degrees.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from poise.figure.model.figure import Figure
from poise.figure.model.names import look_up
from poise.figure.model.pose import LARGEST
from poise.formats.text.files import read_bytes
from poise.formats.text.toml_tables import Source, Table
from poise.robots.servo import Servo, checked_servos

_NUMBER_KEYS = ("zero", "travel", "lower", "upper", "speed")


class ServoFile(NamedTuple):
    """The contents of a servo file."""

    servos: Sequence[Servo] | None
    """The servos; None for one servo per joint."""
    safe: str | None
    """Name of the safe posture; None for the neutral posture."""


def read_servos(path: str | Path, figure: Figure, defaults: Mapping[str, object]) -> ServoFile:
    """Read a servo file; fields that it leaves out are taken from `defaults`."""
    return parse_servos(Source(read_bytes(path), Path(path)).top, figure, defaults)


def parse_servos(top: Table, figure: Figure, defaults: Mapping[str, object]) -> ServoFile:
    """The servos in the top table of a servo file."""
    safe = top.text("safe", None)
    if safe is not None:
        with top.locating_errors("safe"):
            figure.posture(safe)
    servos: list[Servo] = []
    for table in top.tables("servo", "servo"):
        servos.append(_servo(table, figure, defaults))
        with table.locating_errors():
            checked_servos(figure, servos)
    top.finish()
    return ServoFile(servos, safe)


def _servo(table: Table, figure: Figure, defaults: Mapping[str, object]) -> Servo:
    joint = table.text("joint")
    with table.locating_errors("joint"):
        kind = look_up({one.name: one.kind for one in figure.joints}, joint, "joint", f"figure {figure.name!r}")
    table.what = f"the servo of joint {joint!r}"
    unit = 1.0 if kind == "prismatic" else math.radians(1.0)
    values: dict[str, Any] = {**defaults, "joint": joint, "channel": table.take("channel")}
    numbers = {key: table.number(key) for key in _NUMBER_KEYS if key in table}
    _check_numbers(table, numbers)
    values |= {key: unit * number for key, number in numbers.items()}
    if "sign" in table:
        values["sign"] = table.take("sign")
    if "ticks" in table:
        table.numbers("ticks", (2,))
        values["ticks"] = tuple(table.take("ticks"))
    table.finish("joint", "channel", "sign", "ticks", *_NUMBER_KEYS)
    with table.locating_errors():
        return Servo(**values)


def _check_numbers(table: Table, numbers: Mapping[str, float]) -> None:
    """Check the numbers in the file's own unit, so that errors quote them as they are written."""
    for key, number in numbers.items():
        if not abs(number) <= LARGEST:
            raise table.error(f"{key!r} of {table.what} must be a number, not {number:g}.", key)
        if key in ("travel", "speed") and number <= 0.0:
            raise table.error(f"{key!r} of {table.what} must be above 0, not {number:g}.", key)
    lower, upper = numbers.get("lower", -math.inf), numbers.get("upper", math.inf)
    if lower >= upper:
        reason = f"{table.what} has its lower limit {lower:g} not below its upper limit {upper:g}."
        raise table.error(reason, "lower" if "lower" in numbers else "upper")
