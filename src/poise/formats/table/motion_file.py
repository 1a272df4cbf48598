"""Motions as JSON and as NPZ: the joint values of every frame, with the names of the figure and its joints.

    { "figure": "lamp", "name": "nod", "rate": 60.0, "joints": ["turn", "nod"], "q": [[0.0, 0.1], [0.0, 0.2]] }

An NPZ file holds the same five entries as arrays. Both formats read back bit for bit. `joints` are the moving joints in
the order of their values in `q`; a reader compares them with its figure's.
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np

from poise.errors import FigureError, FormatError
from poise.figure.model.figure import Figure
from poise.figure.model.names import listing
from poise.formats.table.table import moving_figure
from poise.formats.text.files import write_atomically
from poise.formats.text.json_file import read_json_object
from poise.formats.text.npz import read_npz
from poise.motion.clip.clip import Clip
from poise.motion.clip.motion import Motion

MOTION_KEYS = ("figure", "name", "rate", "joints", "q")
"""Entries of a motion file."""


def write_motion(clip: Clip, path: Path | str) -> None:
    """Write a motion in the format of the file's ending, `.json` or `.npz`."""
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
    """Read a motion file.

    Args:
        path: A `.json` or `.npz` file.
        figure: The figure that moves; may be left out if the file names a built-in figure.
    """
    packed = Path(path).suffix.lower() == ".npz"
    otherwise = f"is not a motion, which is an object with {', '.join(MOTION_KEYS)}."
    content = _unpacked(path) if packed else read_json_object(path, otherwise)
    missing = [key for key in MOTION_KEYS if key not in content]
    if missing:
        raise FormatError(f"is not a motion: it has no {missing[0]!r}. A motion has {', '.join(MOTION_KEYS)}.", path)
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


def _unpacked(path: Path | str) -> dict[str, Any]:
    """The entries of an NPZ file as Python values, `q` as an array."""
    content = read_npz(path, MOTION_KEYS)
    for key in ("figure", "name", "rate"):
        if key in content and content[key].ndim:
            raise FormatError(f"has {content[key].size} values as its {key}; a motion has one.", path)
    return {key: value if key == "q" else value.tolist() for key, value in content.items()}


def _names(joints: Any, path: Path | str) -> list[str]:
    if not isinstance(joints, list) or not all(isinstance(name, str) for name in joints):
        raise FormatError("its joints must be a list of names.", path)
    return joints
