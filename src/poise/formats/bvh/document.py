"""The text of a BVH file as numbers: a skeleton of joints with channels, and one row of channel values per frame.

HIERARCHY holds ROOT and JOINT blocks within each other, each with an OFFSET and CHANNELS, and End Sites with an OFFSET.
MOTION holds the lines `Frames:` and `Frame Time:`, and then one line of numbers per frame: the values of all channels
of all joints in the order of the file.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import numpy as np

from poise.errors import FormatError
from poise.figure.model.pose import FloatArray
from poise.formats.bvh.hierarchy import FARTHEST, BvhJoint, Hierarchy


@dataclass
class BvhDocument:
    """What a BVH file says."""

    joints: list[BvhJoint]
    frame_time: float
    """Seconds from frame to frame."""
    motion: FloatArray
    """(frames, channels) lengths in the file's unit and angles [deg], joints in the order of the file."""
    path: Path | None = None


def parse_bvh(text: str | bytes, path: Path | str | None = None) -> BvhDocument:
    """The skeleton and the channel values in the text of a BVH file; `path` is only named in errors."""
    lines = _as_text(text).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    file = Path(path) if path is not None else None
    skeleton = Hierarchy(lines, file)
    width = sum(len(joint.channels or ()) for joint in skeleton.joints)
    motion = _Motion(lines, skeleton.line, width, file)
    return BvhDocument(skeleton.joints, motion.frame_time, motion.values, file)


def _as_text(text: str | bytes) -> str:
    """UTF-8, or else the Latin-1 of older programs, which any bytes are."""
    if isinstance(text, str):
        return text.removeprefix("\ufeff")
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError:
        return text.decode("latin-1")


class _Motion:
    """Reads the MOTION part: two headings, then all rows at once; a bad row is looked for only when there is one."""

    def __init__(self, lines: Sequence[str], start: int, width: int, path: Path | None) -> None:
        self._lines, self._width, self._path = lines, width, path
        filled = iter([i for i in range(start, len(lines)) if lines[i].strip()])
        frames = self._heading(filled, "Frames")
        self._frames = self._count(*frames)
        self.frame_time = self._seconds(*self._heading(filled, "Frame Time"))
        self.values = self._rows(list(filled), frames[1])

    def _heading(self, filled: Iterator[int], what: str) -> tuple[str, int]:
        """What stands after `what:` on the next line, and that line's index."""
        at = next(filled, None)
        if at is None:
            self._fail(f"the file ends before its line {what!r}.", len(self._lines) - 1)
        words = what.replace(" ", r"\s+")
        found = re.match(rf"\s*{words}\s*:(.*)", self._lines[at], re.IGNORECASE)
        if found is None:
            self._fail(f"here the line '{what}: …' must stand.", at)
        return found[1].strip(), at

    def _count(self, word: str, at: int) -> int:
        if not re.fullmatch(r"[0-9]{1,18}", word):
            self._fail(f"the number of frames must be a whole number, not {word[:40]!r}.", at)
        return int(word)

    def _seconds(self, word: str, at: int) -> float:
        try:
            seconds = float(word)
        except ValueError:
            seconds = math.nan
        if not (seconds > 0.0 and math.isfinite(seconds) and math.isfinite(1.0 / seconds)):
            self._fail(f"the frame time must be a positive number of seconds, not {word[:40]!r}.", at)
        return seconds

    def _rows(self, filled: list[int], heading: int) -> FloatArray:
        # Without channels a row is an empty line, and no such line says how often nothing moves.
        if not filled and (self._frames == 0 or self._width == 0):
            return np.empty((0, self._width))
        try:
            values = np.loadtxt([self._lines[i] for i in filled] or ["nan"], comments=None, ndmin=2)
        except (ValueError, UnicodeError):
            values = np.full((1, 1), np.nan)
        if values.shape != (self._frames, self._width) or not (np.abs(values) <= FARTHEST).all():
            self._blame(filled, heading)
        return values

    def _blame(self, filled: list[int], heading: int) -> NoReturn:
        """Find what is wrong with the rows."""
        for row, at in enumerate(filled):
            words = self._lines[at].split()
            if row == self._frames:
                self._fail(f"{self._frames} frames are promised in line {heading + 1} and {len(filled)} are there.", at)
            if len(words) != self._width:
                self._fail(f"frame {row} has {len(words)} values; the channels are {self._width}.", at)
            for word in words:
                if not _is_number(word):
                    self._fail(f"frame {row} has {word[:40]!r} where a finite number must be.", at)
        self._fail(f"{self._frames} frames are promised and {len(filled)} are there.", heading)

    def _fail(self, reason: str, at: int) -> NoReturn:
        raise FormatError(reason, self._path, at + 1)


def _is_number(word: str) -> bool:
    try:
        return word.isascii() and "_" not in word and abs(float(word)) <= FARTHEST
    except ValueError:
        return False
