"""What the name of a body, joint or site says about its anatomical role and its side.

A name is split into words: "mixamorig:LeftUpLeg" has the words left, up and leg; "l_hip_yaw_link" has l, hip, yaw and
link. Some words name one role ("shin": the segment below the knee). Others fit several, and the structure of the body
decides: "leg" is the thigh in one dialect and the shank in another, "foot" is the ankle or, next to a joint that is
called ankle, the toes. The numbers below are strengths of evidence, 1 for a word that leaves no doubt.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

Evidence = dict[str, float]
"""Strength of evidence, from 0 to 1, by role without side."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_PREFIXED = re.compile(r"^([LRlr])([A-Z][a-z]+.*)$")
_SIDES = {"left": "left", "l": "left", "right": "right", "r": "right"}
_QUARTERS = {
    "fl": ("front", "left"),
    "lf": ("front", "left"),
    "fr": ("front", "right"),
    "rf": ("front", "right"),
    "rl": ("rear", "left"),
    "hl": ("rear", "left"),
    "lh": ("rear", "left"),
    "rr": ("rear", "right"),
    "rh": ("rear", "right"),
}
"""Words for the legs of animals: FL is front left, RR or RH rear (hind) right."""
_ENDS = {"front": "front", "fore": "front", "rear": "rear", "hind": "rear", "back": "rear"}

_FINGER = {"fingers": 0.6, "finger": 1.0}
_WHOLE_WORDS: dict[str, Evidence] = {
    "hips": {"pelvis": 1.0},
    "ball": {"toe": 0.8},
    "sho": {"shoulder": 0.9},
    "el": {"elbow": 0.9},
    "ank": {"ankle": 0.9},
    "hfe": {"hip": 0.7},
    "haa": {"hip": 0.7},
    "kfe": {"knee": 0.9},
    "root": {"pelvis": 0.4},
    "base": {"pelvis": 0.3},
    "body": {"pelvis": 0.3},
    "waist": {"pelvis": 0.3},
    "index": _FINGER | {"fingers": 0.5},
    "middle": _FINGER | {"fingers": 0.4},
    "ring": {"finger": 1.0},
    "pinky": {"finger": 1.0},
    "little": {"finger": 1.0},
}
"""Words that must stand alone."""
_PARTS: tuple[tuple[str, Evidence], ...] = (
    ("fingertip", _FINGER | {"fingers": 1.0}),
    ("handend", _FINGER | {"fingers": 0.9}),
    ("handindex", _FINGER | {"fingers": 0.8}),
    ("fingerbase", _FINGER | {"fingers": 0.7}),
    ("handmiddle", _FINGER | {"fingers": 0.65}),
    ("thumb", {"finger": 1.0}),
    ("finger", _FINGER | {"fingers": 0.3}),
    ("metacarpal", {"finger": 1.0}),
    ("pelvis", {"pelvis": 1.0}),
    ("upleg", {"hip": 1.0}),
    ("upperleg", {"hip": 1.0}),
    ("thigh", {"hip": 1.0}),
    ("femur", {"hip": 1.0}),
    ("lowerleg", {"knee": 1.0}),
    ("lowleg", {"knee": 1.0}),
    ("shank", {"knee": 1.0}),
    ("shin", {"knee": 1.0}),
    ("calf", {"knee": 1.0}),
    ("tibia", {"knee": 1.0}),
    ("knee", {"knee": 1.0}),
    ("ankle", {"ankle": 1.0}),
    ("foottoe", {"toe": 0.5}),
    ("toe", {"toe": 1.0}),
    ("foot", {"ankle": 0.8, "toe": 0.4}),
    ("sole", {"ankle": 0.4}),
    ("hip", {"hip": 0.9}),
    ("leg", {"hip": 0.3, "knee": 0.35, "ankle": 0.3}),
    ("clavicle", {"clavicle": 1.0}),
    ("collar", {"clavicle": 1.0}),
    ("scapula", {"clavicle": 1.0}),
    ("upperarm", {"shoulder": 1.0}),
    ("uparm", {"shoulder": 1.0}),
    ("humerus", {"shoulder": 0.9}),
    ("shldr", {"shoulder": 0.9}),
    ("shoulder", {"shoulder": 0.8, "clavicle": 0.6}),
    ("forearm", {"elbow": 0.9}),
    ("lowerarm", {"elbow": 1.0}),
    ("lowarm", {"elbow": 1.0}),
    ("ulna", {"elbow": 1.0}),
    ("radius", {"elbow": 0.6}),
    ("elbow", {"elbow": 1.0}),
    ("wrist", {"wrist": 1.0}),
    ("hand", {"wrist": 0.9}),
    ("palm", {"wrist": 0.5}),
    ("gripper", {"wrist": 0.3}),
    ("arm", {"shoulder": 0.35, "elbow": 0.3, "wrist": 0.3}),
    ("neck", {"neck": 1.0}),
    ("cervical", {"neck": 0.6}),
    ("head", {"head": 1.0}),
    ("thorax", {"chest": 1.0}),
    ("chest", {"chest": 1.0}),
    ("torso", {"chest": 0.8, "pelvis": 0.2}),
    ("trunk", {"chest": 0.6, "pelvis": 0.2}),
    ("spine", {"chest": 0.4}),
)
"""Parts of the words of a name, run together; the first that is found counts."""
_ACCESSORIES = frozenset(
    {
        "imu",
        "camera",
        "cam",
        "sensor",
        "optical",
        "frame",
        "gear",
        "drive",
        "rod",
        "logo",
        "skin",
        "motor",
        "screw",
        "twist",
        "sleeve",
        "roller",
        "eye",
        "jaw",
        "ft",
        "dh",
        "fsr",
        "virtual",
        "rgbd",
        "depth",
        "inner",
        "outer",
    }
)
"""Words of parts that are fixed to a segment and are not the segment."""


def words_of(name: str) -> list[str]:
    """The words of a name in lower case, without numbers and without the part before a colon."""
    bare = name.rsplit(":", maxsplit=1)[-1]
    prefixed = _PREFIXED.match(bare)
    if prefixed:
        bare = f"{prefixed[1]}_{prefixed[2]}"
    return [word.lower() for word in _WORD.findall(bare)]


def side_of(name: str) -> str:
    """The side that a name states: "left", "right" or ""."""
    words = words_of(name)
    for long in (True, False):
        found = {_SIDES[word] for word in words if word in _SIDES and (len(word) > 1) == long}
        if len(found) == 1:
            return found.pop()
    quarters = [_QUARTERS[word] for word in words if word in _QUARTERS]
    return quarters[0][1] if len(quarters) == 1 else ""


def end_of(name: str) -> str:
    """The end of an animal's body that a name states: "front", "rear" or ""."""
    for word in words_of(name):
        if word in _QUARTERS:
            return _QUARTERS[word][0]
        if word in _ENDS:
            return _ENDS[word]
    return ""


def evidence_of(name: str) -> Evidence:
    """What a name says about roles; empty if it says nothing, or names an accessory such as a camera."""
    words = [word for word in words_of(name) if word not in _SIDES]
    if _ACCESSORIES & set(words) and not _is_virtual_link(words):
        return {}
    whole = next((_WHOLE_WORDS[word] for word in words if word in _WHOLE_WORDS), None)
    if whole is not None and "finger" in whole and not side_of(name):
        whole = None
    joined = "".join(words)
    part = next((evidence for key, evidence in _PARTS if key in joined), None)
    if part is not None and whole is not None and max(part.values()) < max(whole.values()):
        part = whole
    found = part or whole or {}
    if found == {"hip": 0.9} and not side_of(name):
        return {"pelvis": 0.8}
    return found


def _is_virtual_link(words: list[str]) -> bool:
    """Whether a name is that of a massless link between the hinges of one joint, such as left_foot_virtual."""
    return _ACCESSORIES & set(words) == {"virtual"}


def strongest(names: Iterable[str]) -> Evidence:
    """The strongest evidence of several names, role by role."""
    out: Evidence = {}
    for name in names:
        for role, strength in evidence_of(name).items():
            out[role] = max(out.get(role, 0.0), strength)
    return out


def left_of_twins(one: str, other: str) -> int:
    """1 if two names differ by their side only and `one` is the left one, -1 if `other` is, 0 if neither can be told.

    What is left of both names without their common beginning and end must begin with l and r: "ll_knee" and "lr_knee",
    "Left_Hip" and "Right_Hip".
    """
    a, b = one.lower(), other.lower()
    start = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    a, b = a[start:], b[start:]
    while a and b and a[-1] == b[-1] and min(len(a), len(b)) > 1:
        a, b = a[:-1], b[:-1]
    marks = (a[:1], b[:1])
    if marks == ("l", "r") and _is_side(a, b):
        return 1
    if marks == ("r", "l") and _is_side(b, a):
        return -1
    return 0


def _is_side(left: str, right: str) -> bool:
    """Whether what differs between two names is a word for a side, or its beginning."""
    return "left".startswith(left) and "right".startswith(right)
