"""Motions as JSON and as NPZ: joint values frame by frame, and whose they are.

    { "figure": "lamp", "name": "nod", "rate": 60.0, "joints": ["turn", "nod"], "q": [[0.0, 0.1], [0.0, 0.2]] }

An NPZ holds the same five things as arrays. Both read back to the last bit. `joints` are the moving joints in the order
of their values in `q`, so that a file of another figure is noticed.
"""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from poise.errors import FigureError, FormatError
from poise.figure.model.figure import Figure
from poise.figure.model.names import listing
from poise.formats.table.owners import moving_figure
from poise.formats.text.files import read_bytes, write_atomically
from poise.motion.clip.clip import Clip
from poise.motion.clip.motion import Motion

KEYS = ("figure", "name", "rate", "joints", "q")
LARGEST_UNPACKED = 1 << 30
"""Bytes of all arrays of an NPZ beyond which it is not unpacked."""


def write_motion(clip: Clip, path: Path | str) -> None:
    """Write a motion; the ending, `.json` or `.npz`, says how."""
    content = {
        "figure": clip.figure.name,
        "name": clip.name,
        "rate": clip.rate,
        "joints": list(clip.figure.moving_joints),
        "q": clip.q,
    }
    if Path(path).suffix.lower() == ".npz":
        packed = io.BytesIO()
        np.savez_compressed(packed, **{key: np.asarray(value) for key, value in content.items()})  # type: ignore[arg-type]
        write_atomically(path, packed.getvalue())
    else:
        write_atomically(path, json.dumps({**content, "q": clip.q.tolist()}).encode("utf-8"))


def read_motion(path: Path | str, figure: Figure | None = None) -> Motion:
    """The motion in a file.

    Args:
        path: A `.json` or `.npz` file.
        figure: Who moves; may be left out where the file names a built-in figure.
    """
    packed = Path(path).suffix.lower() == ".npz"
    content = _unpacked(path) if packed else _parsed(path)
    missing = [key for key in KEYS if key not in content]
    if missing:
        raise FormatError(f"is no motion: it lacks {missing[0]!r}. A motion has {', '.join(KEYS)}.", path)
    joints = _names(content["joints"], path)
    owner = moving_figure(figure, str(content["figure"]), joints, path)
    if list(owner.moving_joints) != joints:
        raise FormatError(
            f"is a motion of joints {listing(joints)}; figure {owner.name!r} has {listing(owner.moving_joints)}.", path
        )
    try:
        return Motion(owner, content["q"], float(content["rate"]), str(content["name"]))
    except (FigureError, TypeError, ValueError, OverflowError) as problem:
        reason = str(problem) if isinstance(problem, FigureError) else "its rate must be a number."
        raise FormatError(reason, path) from None


def _parsed(path: Path | str) -> dict[str, Any]:
    try:
        content = json.loads(read_bytes(path), parse_constant=_refuse)
    except json.JSONDecodeError as problem:
        raise FormatError(f"is not JSON: {problem.msg.lower()}.", path, problem.lineno) from None
    except RecursionError:
        raise FormatError("nests arrays too deeply.", path) from None
    except ValueError as problem:
        if isinstance(problem, FormatError):
            raise
        raise FormatError(f"is not JSON: {problem}.", path) from None
    if not isinstance(content, dict):
        raise FormatError(f"is no motion, which has {', '.join(KEYS)}.", path)
    return content


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is no value of a joint")


def _unpacked(path: Path | str) -> dict[str, Any]:
    try:
        packed = io.BytesIO(read_bytes(path))
        with zipfile.ZipFile(packed) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > LARGEST_UNPACKED:
                raise FormatError(f"unpacks to more than {LARGEST_UNPACKED >> 20} MB, which is not read.", path)
        with np.load(packed, allow_pickle=False) as arrays:
            content = {key: arrays[key] for key in KEYS if key in arrays}
    except (zipfile.BadZipFile, EOFError, OSError, ValueError, NotImplementedError, RuntimeError) as problem:
        if isinstance(problem, FormatError):
            raise
        raise FormatError(f"is not an NPZ of plain arrays: {str(problem)[:120].rstrip('.')}.", path) from None
    for key in ("figure", "name", "rate"):
        if key in content and content[key].ndim:
            raise FormatError(f"has {content[key].size} values as its {key}; a motion has one.", path)
    return {key: value if key == "q" else value.tolist() for key, value in content.items()}


def _names(joints: Any, path: Path | str) -> list[str]:
    if not isinstance(joints, list) or not all(isinstance(name, str) for name in joints):
        raise FormatError("its joints must be a list of names.", path)
    return joints
