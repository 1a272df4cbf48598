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
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from poise.errors import FormatError, RobotError
from poise.figure.model.figure import Figure
from poise.figure.model.names import look_up, suggestion
from poise.figure.model.pose import LARGEST
from poise.robots.servo import Servo

_NUMBER_KEYS = ("zero", "travel", "lower", "upper", "speed")
_SERVO_KEYS = ("joint", "channel", "sign", "ticks", *_NUMBER_KEYS)


class ServoFile(NamedTuple):
    """The contents of a servo file."""

    servos: Sequence[Servo] | None
    """The servos; None for one servo per joint."""
    safe: str | None
    """Name of the safe posture; None for the neutral posture."""


def read_servos(path: str | Path, figure: Figure, defaults: Mapping[str, object]) -> ServoFile:
    """Read a servo file; fields that it leaves out are taken from `defaults`."""
    file = Path(path)
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except ValueError as problem:
        # Not TOML, not text, or a whole number with thousands of digits.
        raise FormatError(f"this is not valid TOML: {str(problem).rstrip('.')}.", file) from None
    except OSError as problem:
        raise FormatError(f"cannot be read: {(problem.strerror or str(problem)).lower()}.", file) from None
    try:
        return _parsed(document, figure, defaults)
    except FormatError:
        raise
    except ValueError as problem:
        raise FormatError(str(problem), file) from None


def _parsed(document: Mapping[str, Any], figure: Figure, defaults: Mapping[str, object]) -> ServoFile:
    _refuse_unknown_keys(document, ("safe", "servo"), "a servo file")
    safe = document.get("safe")
    if safe is not None:
        figure.posture(str(safe))
    rows = document.get("servo", [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise RobotError("servos are tables that start with [[servo]].")
    return ServoFile([_servo(row, figure, defaults) for row in rows], safe)


def _servo(row: Mapping[str, Any], figure: Figure, defaults: Mapping[str, object]) -> Servo:
    _refuse_unknown_keys(row, _SERVO_KEYS, "a servo")
    for key in ("joint", "channel"):
        if key not in row:
            raise RobotError(f"a servo needs a {key}; this one has only {', '.join(row) or 'no keys'}.")
    joint = str(row["joint"])
    look_up({name: name for name in figure.joints.names}, joint, "joint", f"figure {figure.name!r}")
    unit = 1.0 if figure.joints[joint].kind == "prismatic" else math.radians(1.0)
    values: dict[str, Any] = {**defaults, **row}
    for key in _NUMBER_KEYS:
        if key in row:
            if isinstance(row[key], bool) or not isinstance(row[key], (int, float)) or abs(row[key]) > LARGEST:
                raise RobotError(f"servo of joint {joint!r}: {key} is a number, not {str(row[key])[:40]!r}.")
            values[key] = unit * float(row[key])
    if "ticks" in row:
        if not isinstance(row["ticks"], list) or len(row["ticks"]) != 2:
            raise RobotError(f"servo of joint {joint!r}: ticks are two whole numbers, not {row['ticks']!r}.")
        values["ticks"] = tuple(row["ticks"])
    return Servo(**values)


def _refuse_unknown_keys(table: Mapping[str, Any], keys: Sequence[str], what: str) -> None:
    for key in table:
        if key not in keys:
            raise RobotError(f"{what} has no {key!r}.{suggestion(key, keys)} It may have: {', '.join(keys)}.")
