"""Parses the text of a BVH file: a skeleton of joints with channels, and one row of channel values per frame.

HIERARCHY holds nested ROOT and JOINT blocks, each with an OFFSET and CHANNELS, and End Sites with an OFFSET. MOTION
holds the lines `Frames:` and `Frame Time:`, and then one line of numbers per frame: the values of all channels of all
joints in the order of the file.
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
from poise.formats.bvh.hierarchy import BvhJoint, Hierarchy
from poise.formats.text.numbers import LARGEST_NUMBER, is_number


@dataclass
class BvhDocument:
    """The parsed text of a BVH file."""

    joints: list[BvhJoint]
    frame_time: float
    """Seconds from frame to frame."""
    motion: FloatArray
    """(frames, channels) lengths in the file's unit and angles [deg], joints in the order of the file."""
    path: Path | None = None


def parse_bvh(text: str | bytes, path: Path | str | None = None) -> BvhDocument:
    """Parse the skeleton and the channel values of a BVH file; `path` is for error messages only."""
    lines = _as_text(text).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    file = Path(path) if path is not None else None
    skeleton = Hierarchy(lines, file)
    width = sum(len(joint.channels or ()) for joint in skeleton.joints)
    motion = _MotionSection(lines, skeleton.line, width, file)
    return BvhDocument(skeleton.joints, motion.frame_time, motion.values, file)


def _as_text(text: str | bytes) -> str:
    """The text as UTF-8, or as Latin-1, which older programs wrote and which decodes any bytes."""
    if isinstance(text, str):
        return text.removeprefix("\ufeff")
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError:
        return text.decode("latin-1")


class _MotionSection:
    """Reads the MOTION section: two headings, then all rows at once; if that fails, it checks the rows one by one."""

    def __init__(self, lines: Sequence[str], start: int, width: int, path: Path | None) -> None:
        self._lines, self._width, self._path = lines, width, path
        filled = iter([i for i in range(start, len(lines)) if lines[i].strip()])
        frames = self._heading(filled, "Frames")
        self._frames = self._count(*frames)
        self.frame_time = self._seconds(*self._heading(filled, "Frame Time"))
        self.values = self._rows(list(filled), frames[1])

    def _heading(self, filled: Iterator[int], what: str) -> tuple[str, int]:
        """The text after `what:` on the next filled line, and that line's index."""
        at = next(filled, None)
        if at is None:
            self._fail(f"the file ends before its line {what!r}.", len(self._lines) - 1)
        words = what.replace(" ", r"\s+")
        found = re.match(rf"\s*{words}\s*:(.*)", self._lines[at], re.IGNORECASE)
        if found is None:
            self._fail(f"this line must be '{what}: …'.", at)
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
        # Without channels every row is an empty line, and empty lines are skipped.
        if not filled and (self._frames == 0 or self._width == 0):
            return np.empty((0, self._width))
        try:
            values = np.loadtxt([self._lines[i] for i in filled] or ["nan"], comments=None, ndmin=2)
        except (ValueError, UnicodeError):
            values = np.full((1, 1), np.nan)
        if values.shape != (self._frames, self._width) or not (np.abs(values) <= LARGEST_NUMBER).all():
            self._raise_first_error(filled, heading)
        return values

    def _raise_first_error(self, filled: list[int], heading: int) -> NoReturn:
        """Raise an error about the first row or value that is wrong."""
        for row, at in enumerate(filled):
            words = self._lines[at].split()
            if row == self._frames:
                self._fail(f"line {heading + 1} announces {self._frames} frames and the file has {len(filled)}.", at)
            if len(words) != self._width:
                self._fail(f"frame {row} has {len(words)} values for {self._width} channels.", at)
            for word in words:
                if not is_number(word):
                    self._fail(f"frame {row} has {word[:40]!r}, which is not a finite number.", at)
        self._fail(f"this line announces {self._frames} frames and the file has {len(filled)}.", heading)

    def _fail(self, reason: str, at: int) -> NoReturn:
        raise FormatError(reason, self._path, at + 1)
