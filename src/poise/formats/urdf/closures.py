"""Reads closures files: the loops of a URDF, in the YAML form of the Gepetto group's collection of parallel robots.

    closed_loop: [['foot_a', 'foot_b']]    # frames that coincide: links, or joints (the frame of their child)
    type: ['6d']                           # 6d, the default: whole frames; 3d: only their origins
    name_mot: ['motor_hip', 'motor_knee']  # joints with a motor; by default all joints have one
    joint_name: ['ankle']                  # joints whose type differs from that in the URDF
    joint_type: ['SPHERICAL']              # SPHERICAL, FIXED, or UJOINT_XY: hinges about two axes of the joint's frame

A name in `joint_name` that the URDF does not have is a warning in the log and not an error, as in the group's own
reader: one of their robots has a misspelt name.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from poise.errors import FigureError, FormatError
from poise.figure.model.figure import Figure
from poise.figure.model.joints import Joint, Kind
from poise.figure.model.names import listing, suggestion
from poise.formats.text.naming import Names
from poise.formats.urdf.closures_yaml import Word, YamlLists, parse_lists

_log = logging.getLogger(__name__)
_CLOSURE_KEYS = ("closed_loop", "type", "name_mot", "joint_name", "joint_type")
_LOOP_KINDS: dict[str, Kind] = {"6d": "fixed", "3d": "ball"}
_UJOINT_AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}
_UNIVERSAL = re.compile(r"UJOINT_([XYZ])(?!\1)([XYZ])")


@dataclass(frozen=True)
class Closures:
    """The content of a closures file."""

    loops: tuple[tuple[Word, Word, Kind], ...]
    motors: tuple[Word, ...] | None
    kinds: tuple[tuple[Word, Word], ...]
    """Joints whose kind changes, each with its new type."""
    path: Path | None


def parse_closures(source: bytes | str, path: Path | None = None) -> Closures:
    """Parse the closures in a YAML document; `path` is for error messages only."""
    lists = parse_lists(source, _CLOSURE_KEYS, path)
    return Closures(_loops(lists), lists.words("name_mot"), _kinds(lists), path)


def _loops(lists: YamlLists) -> tuple[tuple[Word, Word, Kind], ...]:
    pairs = lists.pairs("closed_loop") or ()
    types = lists.words("type")
    if types is None:
        return tuple((first, second, "fixed") for first, second in pairs)
    _check_lengths(lists, "closed_loop", len(pairs), "type", len(types))
    for word in types:
        if word.text.lower() not in _LOOP_KINDS:
            raise lists.error(word.line, f"a loop's type must be 6d or 3d, not {word.text!r}.")
    return tuple((a, b, _LOOP_KINDS[word.text.lower()]) for (a, b), word in zip(pairs, types, strict=True))


def _kinds(lists: YamlLists) -> tuple[tuple[Word, Word], ...]:
    names, types = lists.words("joint_name") or (), lists.words("joint_type") or ()
    _check_lengths(lists, "joint_name", len(names), "joint_type", len(types))
    for word in types:
        if word.text not in ("SPHERICAL", "FIXED") and not _UNIVERSAL.fullmatch(word.text):
            raise lists.error(
                word.line,
                f"joint_type must be SPHERICAL, FIXED or UJOINT_ with two axes such as XY, not {word.text!r}.",
            )
    return tuple(zip(names, types, strict=True))


def _check_lengths(lists: YamlLists, first: str, count: int, second: str, other: int) -> None:
    if count != other:
        line = lists.line(second) or lists.line(first)
        raise lists.error(line, f"{first} has {count} entries and {second} has {other}; there must be one for each.")


def with_closures(figure: Figure, closures: Closures) -> Figure:
    """`figure` with the loops, motors and joint kinds of a closures file."""
    joints = {joint.name: joint for joint in figure.joints}
    for word, kind in closures.kinds:
        if word.text in joints:
            joints[word.text] = _with_kind(joints[word.text], kind.text)
        else:
            hint = suggestion(word.text, joints)
            _log.warning("%s:%d: joint_name has the unknown joint %r.%s", closures.path, word.line, word.text, hint)
    if closures.motors is not None:
        joints = _driven(joints, closures.motors, figure, closures)
    return _built(figure, list(joints.values()), _loop_joints(figure, closures), closures)


def _driven(joints: dict[str, Joint], motors: Sequence[Word], figure: Figure, closures: Closures) -> dict[str, Joint]:
    """The joints, active if they have a motor and passive otherwise."""
    driven: set[str] = set()
    for motor in motors:
        _require(motor, joints, "joint", figure, closures)
        name = motor.text
        if joints[name].kind == "fixed":
            reason = f"joint {name!r} is fixed and cannot have a motor: remove it from name_mot, or change its type."
            raise FormatError(reason, closures.path, motor.line)
        if name in driven:
            raise FormatError(f"name_mot has {name!r} twice; name each joint once.", closures.path, motor.line)
        driven.add(name)
    return {name: replace(joint, active=name in driven) for name, joint in joints.items()}


def _loop_joints(figure: Figure, closures: Closures) -> list[Joint]:
    """A passive loop joint for each pair of frames."""
    names = Names(figure.joints.names)
    loops = []
    for first, second, kind in closures.loops:
        name = names.take(f"{first.text}_meets_{second.text}")
        loops.append(Joint(name, kind, _body(first, figure, closures), _body(second, figure, closures), active=False))
    return loops


def _with_kind(joint: Joint, kind: str) -> Joint:
    """The joint with another kind at the same pose, without its limits."""
    universal = _UNIVERSAL.fullmatch(kind)
    axes = tuple(_UJOINT_AXES[letter] for letter in universal.groups()) if universal else ()
    new: Kind = "universal" if universal else "ball" if kind == "SPHERICAL" else "fixed"
    return replace(joint, kind=new, axes=axes, lower=(), upper=(), ball_limits=None)


def _body(word: Word, figure: Figure, closures: Closures) -> str:
    """The body that a link or joint name refers to; a joint's frame is that of its child body."""
    if word.text in figure.joints:
        return figure.joints[word.text].child
    _require(word, figure.bodies.names, "link or joint", figure, closures)
    return word.text


def _require(
    word: Word, known: Sequence[str] | dict[str, Joint], what: str, figure: Figure, closures: Closures
) -> None:
    if word.text not in known:
        hint = suggestion(word.text, known)
        reason = f"figure {figure.name!r} has no {what} {word.text!r}.{hint} It has: {listing(known)}."
        raise FormatError(reason, closures.path, word.line)


def _built(figure: Figure, joints: list[Joint], loops: list[Joint], closures: Closures) -> Figure:
    """The figure with other joints and additional loops; a coupling of a joint whose kind changed raises an error."""
    try:
        return figure.replaced(joints=joints, loops=[*figure.loops, *loops])
    except FigureError as problem:
        line = closures.kinds[0][0].line if closures.kinds else None
        raise FormatError(str(problem), closures.path, line) from None
