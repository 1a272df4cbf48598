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
from poise.figure.model.posture import JointValues, Posture, checked_values
from poise.formats.text.files import write_atomically
from poise.formats.text.json_file import read_json_object


def read_posture(path: str | Path, figure: Figure) -> JointValues:
    """Read joint values by name from a file, checked against a figure."""
    given = read_json_object(path, 'is not a posture, which is values by joint such as { "neck": 0.3 }.')
    try:
        return checked_values(
            figure, Path(path).stem, {joint: _numbers(joint, value) for joint, value in given.items()}
        )
    except FigureError as problem:
        raise FormatError(str(problem), path) from None


def _numbers(joint: str, value: Any) -> list[float]:
    numbers = value if isinstance(value, list) else [value]
    try:
        if all(isinstance(number, int | float) and not isinstance(number, bool) for number in numbers):
            return [float(number) for number in numbers]
    except OverflowError:
        pass
    raise FigureError(f"the value of joint {joint!r} must be a number or a list of numbers, in radians or metres.")


def posture_text(posture: Posture) -> str:
    """The text of a posture file, with one joint per line."""
    lines = [f"  {json.dumps(joint)}: {json.dumps(np.asarray(posture[joint]).tolist())}" for joint in posture]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def write_posture(posture: Posture, path: str | Path) -> None:
    """Write a posture file; if writing fails, an existing file stays unchanged."""
    write_atomically(path, posture_text(posture).encode("utf-8"))
