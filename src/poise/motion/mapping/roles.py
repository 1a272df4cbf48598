"""What the parts of a skeleton are for, told by their names: knees, wrists, toes, whoever drew them.

A *role* is a word such as "knee" with the side it is on, "left_knee". Names are compared without their prefix
("mixamorig:"), numbers and case, and with their side taken off: LeftUpLeg, l_thigh and thigh.L are all "left_hip",
the joint at which a thigh turns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

WORDS: dict[str, tuple[str, ...]] = {
    "pelvis": ("hips", "pelvis", "hip", "root", "base"),
    "hip": ("upleg", "upperleg", "thigh", "upleg", "femur", "hip"),
    "knee": ("leg", "lowerleg", "lowleg", "shank", "shin", "calf", "knee", "tibia"),
    "ankle": ("foot", "ankle"),
    "toe": ("toebase", "toes", "toe", "ball"),
    "neck": ("neck",),
    "head": ("head",),
    "shoulder": ("upperarm", "uparm", "arm", "shldr", "humerus", "shoulder"),
    "elbow": ("forearm", "lowerarm", "lowarm", "elbow", "ulna"),
    "wrist": ("hand", "wrist"),
    "fingers": ("fingertips", "handend", "handindex", "fingerbase", "handmiddle"),
}
"""Names by role, those that say it most surely first."""
SIDED = frozenset(WORDS) - {"pelvis", "neck", "head"}
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_LEFT, _RIGHT = ("left", "l"), ("right", "r")


def sided_name(name: str) -> tuple[str, str]:
    """The side ("left", "right" or "") and the rest of a name, in small letters without numbers."""
    bare = name.rsplit(":", maxsplit=1)[-1]
    glued = re.match(r"^([LRlr])([A-Z][a-z]+.*)$", bare)
    if glued:
        bare = f"{glued[1]}_{glued[2]}"
    parts = [part.lower() for part in _PARTS.findall(bare)]
    for side, marks in (("left", _LEFT), ("right", _RIGHT)):
        for mark in marks:
            if mark in parts:
                parts.remove(mark)
                return side, "".join(parts)
    return "", "".join(parts)


def roles_of(names: Iterable[str]) -> dict[str, str]:
    """Roles found among names, each with the name that plays it; of equals the first, so outermost in a skeleton."""
    by_word: dict[tuple[str, str], str] = {}
    for name in names:
        by_word.setdefault(sided_name(name), name)
    found = {}
    for role, words in WORDS.items():
        for side in ("left", "right") if role in SIDED else ("",):
            match = next((by_word[side, word] for word in words if (side, word) in by_word), None)
            if match is not None:
                found[f"{side}_{role}" if side else role] = match
    return found
