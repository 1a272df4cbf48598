"""Reads BVH files: skeletons and motions of motion capture.

A root with six channels becomes a free joint, and a joint with three rotations in any order a ball joint; two rotations
make a universal joint and one a hinge. The up axis is y. BVH has no unit of length: `scale` is the number of metres per
unit of the file, 1 by default. Files of the CMU collection, for example, use units of 0.0254 / 0.45 m.
"""

from __future__ import annotations

import math
from pathlib import Path

from poise.errors import FormatError, PoiseError
from poise.figure.model.figure import Figure
from poise.formats.bvh.document import BvhDocument, parse_bvh
from poise.formats.bvh.figure import bvh_figure, bvh_values
from poise.formats.bvh.writer import write_bvh
from poise.formats.text.files import read_bytes
from poise.formats.text.numbers import LARGEST_NUMBER
from poise.motion.clip.clip import Clip

__all__ = ["BvhDocument", "parse_bvh", "read_bvh_clip", "read_bvh_figure", "write_bvh"]


def read_bvh_figure(path: Path | str, *, scale: float = 1.0) -> Figure:
    """The skeleton of a BVH file, named after the file.

    Args:
        path: The file.
        scale: Metres per unit of length of the file.
    """
    return bvh_figure(_read(path, scale), Path(path).stem, scale)


def read_bvh_clip(path: Path | str, *, scale: float = 1.0) -> Clip:
    """The motion in a BVH file, of the figure that `read_bvh_figure` reads from it.

    Args:
        path: The file.
        scale: Metres per unit of length of the file.
    """
    document = _read(path, scale)
    name = Path(path).stem
    if not len(document.motion):
        raise FormatError("has a skeleton but no frames.", path)
    try:
        return Clip(bvh_figure(document, name, scale), bvh_values(document, scale), 1.0 / document.frame_time, name)
    except PoiseError as problem:
        raise problem if isinstance(problem, FormatError) else FormatError(str(problem), path) from None


def _read(path: Path | str, scale: float) -> BvhDocument:
    if not (math.isfinite(scale) and 0.0 < scale < LARGEST_NUMBER):
        raise FormatError(f"scale must be a positive number of metres per unit, not {scale}.", path)
    return parse_bvh(read_bytes(path), path)
