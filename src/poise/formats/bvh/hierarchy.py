"""Parses the HIERARCHY section of a BVH file: nested joints, each with an offset and channels."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import NoReturn

from poise.errors import FormatError
from poise.figure.model.names import suggestion
from poise.formats.text.numbers import LARGEST_NUMBER

CHANNELS = ("Xposition", "Yposition", "Zposition", "Xrotation", "Yrotation", "Zrotation")
"""All channels of the format."""

_CHANNEL_OF = {channel.lower(): channel for channel in CHANNELS}
_END_SITE_BLOCK = -1

Offset = tuple[float, float, float]


@dataclass
class BvhJoint:
    """One ROOT or JOINT."""

    name: str
    parent: int | None
    """Index of the parent joint; None for a root."""
    line: int
    """Line number of the joint's name."""
    offset: Offset | None = None
    """Rest position in the parent's frame, in the file's unit of length; None until its OFFSET is read."""
    channels: tuple[str, ...] | None = None
    """Channels in the order of the file; None until its CHANNELS are read."""
    ends: list[Offset] = field(default_factory=list)
    """Positions of its End Sites in its frame, in the file's unit of length."""


class Hierarchy:
    """Parses the skeleton word by word, with a stack instead of recursion, so that nesting may be deep."""

    def __init__(self, lines: Sequence[str], path: Path | None) -> None:
        """Read `lines` up to the word MOTION."""
        self.joints: list[BvhJoint] = []
        self.line = 0
        """Number of the current line, from 1; after parsing, that of the word MOTION."""
        self._path = path
        self._words: deque[str] = deque()
        self._names: set[str] = set()
        self._open: list[int] = []
        self._pending: int | None = None
        """Index of the joint, or `_END_SITE_BLOCK`, whose opening brace must come next."""
        self._end_offset: Offset | None = None
        self._read(lines)

    def _read(self, lines: Sequence[str]) -> None:
        begun = False
        for self.line, line in enumerate(lines, start=1):
            self._words = deque(line.replace("{", " { ").replace("}", " } ").split())
            while self._words:
                word = self._words.popleft()
                if not begun and word.upper() != "HIERARCHY":
                    self._fail("a BVH file must start with the word HIERARCHY.")
                if word.upper() == "MOTION":
                    self._finish()
                    return
                if begun:
                    self._statement(word)
                begun = True
        self._fail("the file ends before its MOTION section." if begun else "the file has no text.")

    def _statement(self, word: str) -> None:
        statements = {
            "ROOT": self._root,
            "JOINT": self._joint,
            "END": self._end_site,
            "OFFSET": self._offset,
            "CHANNELS": self._channels,
            "{": self._opening,
            "}": self._closing,
        }
        if word.upper() not in statements:
            self._fail(f"{_quoted(word)} is not a word of a BVH skeleton.{suggestion(word[:40].upper(), statements)}")
        if word == "{" and self._pending is None:
            self._fail("there is an opening brace without a joint.")
        if word != "{" and self._pending is not None:
            self._fail("the name of a joint must be followed by an opening brace.")
        statements[word.upper()]()

    def _root(self) -> None:
        if self._open:
            self._fail("there is a ROOT inside another joint; inner joints must start with the word JOINT.")
        self._new_joint("ROOT", None)

    def _joint(self) -> None:
        if not self._open or self._open[-1] == _END_SITE_BLOCK:
            self._fail("a JOINT must be inside the braces of a ROOT or another JOINT.")
        self._new_joint("JOINT", self._open[-1])

    def _new_joint(self, word: str, parent: int | None) -> None:
        parts = []
        while self._words and self._words[0] not in {"{", "}"}:
            parts.append(self._words.popleft())
        name = " ".join(parts)
        if not name:
            self._fail(f"there is a {word} without a name.")
        if name in self._names:
            self._fail(f"two joints are named {_quoted(name)}; names must be unique.")
        self._names.add(name)
        self._pending = len(self.joints)
        self.joints.append(BvhJoint(name, parent, self.line))

    def _end_site(self) -> None:
        if not self._words or self._words.popleft().upper() != "SITE":
            self._fail("the word End must be followed by the word Site.")
        if not self._open or self._open[-1] == _END_SITE_BLOCK:
            self._fail("an End Site must be inside the braces of a joint.")
        while self._words and self._words[0] not in {"{", "}"}:
            self._words.popleft()
        self._pending, self._end_offset = _END_SITE_BLOCK, None

    def _opening(self) -> None:
        self._open.append(self._take_pending())

    def _take_pending(self) -> int:
        block, self._pending = self._pending, None
        return _END_SITE_BLOCK if block is None else block

    def _closing(self) -> None:
        if not self._open:
            self._fail("there is a closing brace without an opening one.")
        block = self._open.pop()
        if block == _END_SITE_BLOCK:
            if self._end_offset is None:
                self._fail("there is an End Site without an OFFSET.")
            self.joints[self._open[-1]].ends.append(self._end_offset)
        elif self.joints[block].offset is None:
            self._fail(f"joint {_quoted(self.joints[block].name)} has no OFFSET.")

    def _offset(self) -> None:
        values = (self._number("an OFFSET"), self._number("an OFFSET"), self._number("an OFFSET"))
        if not self._open:
            self._fail("there is an OFFSET outside of any joint.")
        if self._open[-1] == _END_SITE_BLOCK:
            self._end_offset = values
            return
        joint = self.joints[self._open[-1]]
        if joint.offset is not None:
            self._fail(f"joint {_quoted(joint.name)} has two OFFSETs.")
        joint.offset = values

    def _number(self, what: str) -> float:
        try:
            value = float(self._words.popleft())
        except (IndexError, ValueError):
            self._fail(f"{what} must be three numbers.")
        if not math.isfinite(value) or abs(value) > LARGEST_NUMBER:
            self._fail(f"{what} must be three finite numbers, and {value} is not finite or too large.")
        return value

    def _channels(self) -> None:
        if not self._open or self._open[-1] != len(self.joints) - 1:
            self._fail("CHANNELS must be inside a joint, before its children.")
        joint = self.joints[-1]
        if joint.channels is not None:
            self._fail(f"joint {_quoted(joint.name)} has two lines of CHANNELS.")
        count = self._words.popleft() if self._words else ""
        names = []
        while self._words and self._words[0] not in {"{", "}"}:
            names.append(self._channel(self._words.popleft()))
        if count != str(len(names)):
            self._fail(f"CHANNELS announces {_quoted(count)} channels and names {len(names)}.")
        joint.channels = self._checked_channels(joint.name, tuple(names))

    def _channel(self, word: str) -> str:
        if word.lower() not in _CHANNEL_OF:
            self._fail(f"there is no channel {_quoted(word)}.{suggestion(word[:40], CHANNELS)}")
        return _CHANNEL_OF[word.lower()]

    def _checked_channels(self, joint: str, channels: tuple[str, ...]) -> tuple[str, ...]:
        """The channels, if no position occurs twice and no two consecutive rotations are about the same axis."""
        positions = [channel for channel in channels if channel.endswith("position")]
        turns = [channel for channel in channels if channel.endswith("rotation")]
        repeated = len(set(positions)) < len(positions) or any(a == b for a, b in pairwise(turns))
        if repeated or len(turns) > 3:
            self._fail(f"joint {_quoted(joint)} has a channel twice: {' '.join(channels[:8])}.")
        return channels

    def _finish(self) -> None:
        if self._open or self._pending is not None:
            block = self._open[-1] if self._open else self._take_pending()
            part = "an End Site" if block == _END_SITE_BLOCK else f"joint {_quoted(self.joints[block].name)}"
            self._fail(f"the MOTION section begins while the braces of {part} are open.")
        if not self.joints:
            self._fail("the skeleton has no ROOT.")

    def _fail(self, reason: str) -> NoReturn:
        raise FormatError(reason, self._path, max(self.line, 1))


def _quoted(word: str) -> str:
    """A word of the file in quotes, cut to 40 characters."""
    return repr(word if len(word) <= 40 else f"{word[:40]}…")
