"""Anatomical roles of a figure's parts, found by their names.

A role is an anatomical word such as "knee" with its side, "left_knee". Names are compared without prefix
("mixamorig:"), numbers, case, side and the word "link": LeftUpLeg, l_thigh_link and thigh.L all have the role
"left_hip", the joint at the upper end of the thigh.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure

ROLE_WORDS: dict[str, tuple[str, ...]] = {
    "pelvis": ("hips", "pelvis", "hip", "root", "base"),
    "hip": ("upleg", "upperleg", "thigh", "upleg", "femur", "hip"),
    "knee": ("leg", "lowerleg", "lowleg", "shank", "shin", "calf", "knee", "tibia"),
    "ankle": ("foot", "ankle"),
    "toe": ("toebase", "toes", "toe", "ball"),
    "neck": ("neck",),
    "head": ("head", "middlehead"),
    "shoulder": ("upperarm", "uparm", "arm", "shldr", "humerus", "shoulder"),
    "elbow": ("forearm", "lowerarm", "lowarm", "elbow", "ulna"),
    "wrist": ("hand", "wrist"),
    "fingers": ("fingertips", "handend", "handindex", "fingerbase", "handmiddle"),
}
"""Known names by role, the most specific name first."""
SIDED_ROLES = frozenset(ROLE_WORDS) - {"pelvis", "neck", "head"}
"""Roles that exist once on the left and once on the right."""
_WORD_PATTERN = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_LEFT_MARKS, _RIGHT_MARKS = ("left", "l"), ("right", "r")
_EMPTY_WORDS = ("link",)
"""Words that say nothing about a part."""


def figure_roles(figure: Figure) -> dict[str, str]:
    """Bodies and sites of a figure by role, found by their names."""
    return roles_of([*figure.bodies.names, *figure.sites.names])


def sided_name(name: str) -> tuple[str, str]:
    """The side ("left", "right" or "") of a name, and the rest of the name in lower case, without digits and "link"."""
    bare = name.rsplit(":", maxsplit=1)[-1]
    prefixed = re.match(r"^([LRlr])([A-Z][a-z]+.*)$", bare)
    if prefixed:
        bare = f"{prefixed[1]}_{prefixed[2]}"
    parts = [word for part in _WORD_PATTERN.findall(bare) if (word := part.lower()) not in _EMPTY_WORDS]
    for side, marks in (("left", _LEFT_MARKS), ("right", _RIGHT_MARKS)):
        for mark in marks:
            if mark in parts:
                parts.remove(mark)
                return side, "".join(parts)
    return "", "".join(parts)


def roles_of(names: Iterable[str]) -> dict[str, str]:
    """Names by role; of several names for one role the first, which in a skeleton is the one nearest to the root."""
    by_word: dict[tuple[str, str], str] = {}
    for name in names:
        by_word.setdefault(sided_name(name), name)
    found = {}
    for role, words in ROLE_WORDS.items():
        for side in ("left", "right") if role in SIDED_ROLES else ("",):
            match = next((by_word[side, word] for word in words if (side, word) in by_word), None)
            if match is not None:
                found[f"{side}_{role}" if side else role] = match
    return found
