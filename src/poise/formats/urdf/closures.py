"""Loops beside a URDF, in the YAML form of the Gepetto group's collection of parallel robots.

    closed_loop: [['foot_a', 'foot_b']]    # frames that meet: links, or joints (the frame of their child)
    type: ['6d']                           # 6d: they coincide; 3d: only their origins do; all are 6d without this line
    name_mot: ['motor_hip', 'motor_knee']  # joints with a motor; the others follow. Without this line all have one
    joint_name: ['ankle']                  # joints that are not what the URDF says
    joint_type: ['SPHERICAL']              # SPHERICAL, FIXED, or UJOINT_XY: hinges about two axes of the joint's frame

Like the group's own reader, ours goes on when `joint_name` has a name that the URDF has not, and says so in the log:
one of their robots misspells it.
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
_KEYS = ("closed_loop", "type", "name_mot", "joint_name", "joint_type")
_LOOP_KINDS: dict[str, Kind] = {"6d": "fixed", "3d": "ball"}
_AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}
_UNIVERSAL = re.compile(r"UJOINT_([XYZ])(?!\1)([XYZ])")


@dataclass(frozen=True)
class Closures:
    """What a closures file asks of a figure."""

    loops: tuple[tuple[Word, Word, Kind], ...]
    motors: tuple[Word, ...] | None
    kinds: tuple[tuple[Word, Word], ...]
    """Joints to exchange, each with the type it gets."""
    path: Path | None


def parse_closures(source: bytes | str, path: Path | None = None) -> Closures:
    """The closures in a YAML document; `path` is only for messages."""
    lists = parse_lists(source, _KEYS, path)
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
    """`figure` with loops closed, motors named and joints exchanged."""
    joints = {joint.name: joint for joint in figure.joints}
    for word, kind in closures.kinds:
        if word.text in joints:
            joints[word.text] = _exchanged(joints[word.text], kind.text)
        else:
            hint = suggestion(word.text, joints)
            _log.warning("%s:%d: there is no joint %r to exchange.%s", closures.path, word.line, word.text, hint)
    if closures.motors is not None:
        joints = _driven(joints, closures.motors, figure, closures)
    return _built(figure, list(joints.values()), _loop_joints(figure, closures), closures)


def _driven(joints: dict[str, Joint], motors: Sequence[Word], figure: Figure, closures: Closures) -> dict[str, Joint]:
    """The joints, those with a motor active and all others passive."""
    driven: set[str] = set()
    for motor in motors:
        _require(motor, joints, "joint", figure, closures)
        name = motor.text
        if joints[name].kind == "fixed":
            reason = f"joint {name!r} is fixed and cannot have a motor: take it off name_mot, or let it move."
            raise FormatError(reason, closures.path, motor.line)
        if name in driven:
            raise FormatError(f"name_mot has {name!r} twice, and a joint has one motor.", closures.path, motor.line)
        driven.add(name)
    return {name: replace(joint, active=name in driven) for name, joint in joints.items()}


def _loop_joints(figure: Figure, closures: Closures) -> list[Joint]:
    """A passive joint between the frames of each pair."""
    names = Names(figure.joints.names)
    loops = []
    for first, second, kind in closures.loops:
        name = names.take(f"{first.text}_meets_{second.text}")
        loops.append(Joint(name, kind, _body(first, figure, closures), _body(second, figure, closures), active=False))
    return loops


def _exchanged(joint: Joint, kind: str) -> Joint:
    """The joint as another kind at the same place; limits of the old one do not apply."""
    universal = _UNIVERSAL.fullmatch(kind)
    axes = tuple(_AXES[letter] for letter in universal.groups()) if universal else ()
    new: Kind = "universal" if universal else "ball" if kind == "SPHERICAL" else "fixed"
    return replace(joint, kind=new, axes=axes, lower=(), upper=(), ball_limits=None)


def _body(word: Word, figure: Figure, closures: Closures) -> str:
    """Body whose frame is meant: a joint's frame moves with its child, at the child's origin."""
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
    """The figure anew; couplings that name an exchanged joint are refused by the model."""
    try:
        return figure.replaced(joints=joints, loops=[*figure.loops, *loops])
    except FigureError as problem:
        line = closures.kinds[0][0].line if closures.kinds else None
        raise FormatError(str(problem), closures.path, line) from None
