"""The HIERARCHY part of a BVH file: joints within joints, each with an offset and channels."""

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

CHANNELS = ("Xposition", "Yposition", "Zposition", "Xrotation", "Yrotation", "Zrotation")
FARTHEST = 1e30
"""Greatest number taken for a length or an angle: sums and products of a few such numbers stay finite."""

_CHANNEL_OF = {channel.lower(): channel for channel in CHANNELS}
_END_SITE = -1

Offset = tuple[float, float, float]


@dataclass
class BvhJoint:
    """One ROOT or JOINT."""

    name: str
    parent: int | None
    """Index of the joint it hangs from; None for a root."""
    line: int
    """Line of its name."""
    offset: Offset | None = None
    """Where it is at rest in its parent, in the file's unit of length; None until the file has said so."""
    channels: tuple[str, ...] | None = None
    """Its channels in the order of the file; None until the file has said so."""
    ends: list[Offset] = field(default_factory=list)
    """Where its End Sites are."""


class Hierarchy:
    """Reads the skeleton word by word with a stack of its own, so that no nesting is too deep."""

    def __init__(self, lines: Sequence[str], path: Path | None) -> None:
        """Read `lines` up to the word MOTION."""
        self.joints: list[BvhJoint] = []
        self.line = 0
        """Line being read, counted from 1; in the end that of the word MOTION."""
        self._path = path
        self._words: deque[str] = deque()
        self._names: set[str] = set()
        self._open: list[int] = []
        self._waiting: int | None = None
        """Joint, or End Site, whose opening brace comes next."""
        self._end_offset: Offset | None = None
        self._read(lines)

    def _read(self, lines: Sequence[str]) -> None:
        begun = False
        for self.line, line in enumerate(lines, start=1):
            self._words = deque(line.replace("{", " { ").replace("}", " } ").split())
            while self._words:
                word = self._words.popleft()
                if not begun and word.upper() != "HIERARCHY":
                    self._fail("a BVH file starts with the word HIERARCHY.")
                if word.upper() == "MOTION":
                    self._finish()
                    return
                if begun:
                    self._statement(word)
                begun = True
        self._fail("the file ends before its MOTION part." if begun else "the file has no words in it.")

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
            self._fail(f"{_short(word)} is no word of a BVH skeleton.{suggestion(word[:40].upper(), statements)}")
        if word == "{" and self._waiting is None:
            self._fail("an opening brace without a joint.")
        if word != "{" and self._waiting is not None:
            self._fail("the name of a joint must be followed by an opening brace.")
        statements[word.upper()]()

    def _root(self) -> None:
        if self._open:
            self._fail("a ROOT inside another joint; inner joints start with the word JOINT.")
        self._new_joint("ROOT", None)

    def _joint(self) -> None:
        if not self._open or self._open[-1] == _END_SITE:
            self._fail("a JOINT must stand inside the braces of a ROOT or another JOINT.")
        self._new_joint("JOINT", self._open[-1])

    def _new_joint(self, word: str, parent: int | None) -> None:
        parts = []
        while self._words and self._words[0] not in {"{", "}"}:
            parts.append(self._words.popleft())
        name = " ".join(parts)
        if not name:
            self._fail(f"a {word} without a name.")
        if name in self._names:
            self._fail(f"two joints are named {_short(name)}; names must be unique.")
        self._names.add(name)
        self._waiting = len(self.joints)
        self.joints.append(BvhJoint(name, parent, self.line))

    def _end_site(self) -> None:
        if not self._words or self._words.popleft().upper() != "SITE":
            self._fail("the word End is followed by the word Site.")
        if not self._open or self._open[-1] == _END_SITE:
            self._fail("an End Site must stand inside the braces of a joint.")
        while self._words and self._words[0] not in {"{", "}"}:
            self._words.popleft()
        self._waiting, self._end_offset = _END_SITE, None

    def _opening(self) -> None:
        self._open.append(self._current_waiting())

    def _current_waiting(self) -> int:
        block, self._waiting = self._waiting, None
        return _END_SITE if block is None else block

    def _closing(self) -> None:
        if not self._open:
            self._fail("a closing brace without an opening one.")
        block = self._open.pop()
        if block == _END_SITE:
            if self._end_offset is None:
                self._fail("an End Site without an OFFSET.")
            self.joints[self._open[-1]].ends.append(self._end_offset)
        elif self.joints[block].offset is None:
            self._fail(f"joint {_short(self.joints[block].name)} has no OFFSET.")

    def _offset(self) -> None:
        values = (self._number("an OFFSET"), self._number("an OFFSET"), self._number("an OFFSET"))
        if not self._open:
            self._fail("an OFFSET outside of any joint.")
        if self._open[-1] == _END_SITE:
            self._end_offset = values
            return
        joint = self.joints[self._open[-1]]
        if joint.offset is not None:
            self._fail(f"joint {_short(joint.name)} has two OFFSETs.")
        joint.offset = values

    def _number(self, what: str) -> float:
        try:
            value = float(self._words.popleft())
        except (IndexError, ValueError):
            self._fail(f"{what} is three numbers.")
        if not math.isfinite(value) or abs(value) > FARTHEST:
            self._fail(f"{what} is three finite numbers, and {value} is none.")
        return value

    def _channels(self) -> None:
        if not self._open or self._open[-1] != len(self.joints) - 1:
            self._fail("CHANNELS stand inside a joint, before its children.")
        joint = self.joints[-1]
        if joint.channels is not None:
            self._fail(f"joint {_short(joint.name)} has two lines of CHANNELS.")
        count = self._words.popleft() if self._words else ""
        names = []
        while self._words and self._words[0] not in {"{", "}"}:
            names.append(self._channel(self._words.popleft()))
        if count != str(len(names)):
            self._fail(f"CHANNELS promises {_short(count)} channels and names {len(names)}.")
        joint.channels = self._sensible(joint.name, tuple(names))

    def _channel(self, word: str) -> str:
        if word.lower() not in _CHANNEL_OF:
            self._fail(f"there is no channel {_short(word)}.{suggestion(word[:40], CHANNELS)}")
        return _CHANNEL_OF[word.lower()]

    def _sensible(self, joint: str, channels: tuple[str, ...]) -> tuple[str, ...]:
        """At most one channel per direction, and no turn right after another about the same axis."""
        positions = [channel for channel in channels if channel.endswith("position")]
        turns = [channel for channel in channels if channel.endswith("rotation")]
        repeated = len(set(positions)) < len(positions) or any(a == b for a, b in pairwise(turns))
        if repeated or len(turns) > 3:
            self._fail(f"joint {_short(joint)} has a channel twice: {' '.join(channels[:8])}.")
        return channels

    def _finish(self) -> None:
        if self._open or self._waiting is not None:
            block = self._open[-1] if self._open else self._current_waiting()
            part = "an End Site" if block == _END_SITE else f"joint {_short(self.joints[block].name)}"
            self._fail(f"the MOTION part begins while the braces of {part} are open.")
        if not self.joints:
            self._fail("the skeleton has no ROOT.")

    def _fail(self, reason: str) -> NoReturn:
        raise FormatError(reason, self._path, max(self.line, 1))


def _short(word: str) -> str:
    """A word of the file in quotes, cut where nobody reads on."""
    return repr(word if len(word) <= 40 else f"{word[:40]}…")
