"""A posture as JSON: values by joint, in radians and metres, with quaternions (w, x, y, z).

    { "neck": [1, 0, 0, 0], "right_elbow": 0.7 }

`figure.posture(json.load(file))` reads it too.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from poise.errors import FigureError, FormatError
from poise.figure.model.figure import Figure
from poise.figure.model.posture import Posture
from poise.figure.model.values import JointValues, checked_values
from poise.formats.text.files import read_bytes, write_atomically


def read_posture(path: str | Path, figure: Figure) -> JointValues:
    """Values by joint from a file, checked against a figure."""
    try:
        given = json.loads(read_bytes(path), parse_constant=_refuse)
    except json.JSONDecodeError as problem:
        raise FormatError(f"is not JSON: {problem.msg.lower()}.", path, problem.lineno) from None
    except RecursionError:
        raise FormatError("nests arrays too deeply.", path) from None
    except ValueError as problem:
        if isinstance(problem, FormatError):
            raise
        raise FormatError(f"is not JSON: {problem}.", path) from None
    if not isinstance(given, dict):
        raise FormatError('is no posture: it needs values by joint, such as { "neck": 0.3 }.', path)
    try:
        return checked_values(
            figure, Path(path).stem, {joint: _numbers(joint, value) for joint, value in given.items()}
        )
    except FigureError as problem:
        raise FormatError(str(problem), path) from None


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is no number of a posture")


def _numbers(joint: str, value: Any) -> list[float]:
    numbers = value if isinstance(value, list) else [value]
    try:
        if all(isinstance(number, int | float) and not isinstance(number, bool) for number in numbers):
            return [float(number) for number in numbers]
    except OverflowError:
        pass
    raise FigureError(f"joint {joint!r} takes numbers in radians or metres.")


def posture_text(posture: Posture) -> str:
    """The file's text: one joint a line."""
    lines = [f"  {json.dumps(joint)}: {json.dumps(np.asarray(posture[joint]).tolist())}" for joint in posture]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def write_posture(posture: Posture, path: str | Path) -> None:
    """Write a posture; a crash on the way leaves an older file as it was."""
    write_atomically(path, posture_text(posture).encode("utf-8"))
