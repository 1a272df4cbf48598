"""Reads closures files: the loops of a URDF, in the YAML form of the Gepetto group's collection of parallel robots.

    closed_loop: [['foot_a', 'foot_b']]    # frames that coincide: links, or joints (the frame of their child)
    type: ['6d']                           # 6d, the default: whole frames; 3d: only their origins
    name_mot: ['motor_hip', 'motor_knee']  # joints with a motor; by default all joints have one
    joint_name: ['ankle']                  # joints whose type differs from that in the URDF
    joint_type: ['SPHERICAL']              # SPHERICAL, FIXED, or UJOINT_XY: hinges about two axes of the joint's frame

A name in `joint_name` that the URDF does not have is a warning in the log and not an error, as in the group's own
reader: one of their robots has a misspelt name.

The document is parsed to YAML nodes, each with its line, and never to Python objects. Anchors and aliases, with which a
few lines can expand without bound, are refused.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import yaml

from poise.errors import FigureError, FormatError
from poise.figure.model.figure import Figure
from poise.figure.model.joints import Joint, Kind
from poise.figure.model.names import listing, suggestion
from poise.formats.text.naming import Names

_log = logging.getLogger(__name__)
_CLOSURE_KEYS = ("closed_loop", "type", "name_mot", "joint_name", "joint_type")
_LOOP_KINDS: dict[str, Kind] = {"6d": "fixed", "3d": "ball"}
_UJOINT_AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}
_UNIVERSAL = re.compile(r"UJOINT_([XYZ])(?!\1)([XYZ])")
DEEPEST_YAML = 8
"""Deepest nesting that is read; lists of pairs need three levels."""


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


@dataclass(frozen=True)
class Word:
    """A name in the file, and its line."""

    text: str
    line: int


@dataclass(frozen=True)
class YamlLists:
    """The top level of a document: lists by key."""

    values: dict[str, yaml.Node]
    path: Path | None

    def error(self, line: int | None, reason: str) -> FormatError:
        """A FormatError with the file and a line."""
        return FormatError(reason, self.path, line)

    def line(self, key: str) -> int | None:
        """Line of a key's value."""
        return _line(self.values[key]) if key in self.values else None

    def words(self, key: str) -> tuple[Word, ...] | None:
        """A list of words; None where the key is missing."""
        return self._list(self.values[key], f"{key} must be a list of names") if key in self.values else None

    def pairs(self, key: str) -> tuple[tuple[Word, Word], ...] | None:
        """A list of pairs of words; None where the key is missing."""
        if key not in self.values:
            return None
        what = f"{key} must be a list of pairs of names"
        rows = [self._list(item, what) for item in self._items(self.values[key], what)]
        for row, item in zip(rows, self._items(self.values[key], what), strict=True):
            if len(row) != 2:
                raise self.error(_line(item), f"{what}, and this one has {len(row)}.")
        return tuple((row[0], row[1]) for row in rows)

    def _list(self, node: yaml.Node, what: str) -> tuple[Word, ...]:
        return tuple(self._word(item, what) for item in self._items(node, what))

    def _items(self, node: yaml.Node, what: str) -> Sequence[yaml.Node]:
        if isinstance(node, yaml.ScalarNode) and node.tag.endswith(":null"):
            return []
        if not isinstance(node, yaml.SequenceNode):
            raise self.error(_line(node), f"{what}.")
        return list(node.value)

    def _word(self, node: yaml.Node, what: str) -> Word:
        if not isinstance(node, yaml.ScalarNode) or not str(node.value).strip():
            raise self.error(_line(node), f"{what}.")
        return Word(str(node.value), _line(node))


def parse_lists(source: bytes | str, keys: Sequence[str], path: Path | None) -> YamlLists:
    """The lists of a document whose top level maps some of `keys` to lists."""
    try:
        text = source.decode("utf-8-sig") if isinstance(source, bytes) else source
        _refuse_references(yaml.parse(text, Loader=yaml.SafeLoader), path)
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except UnicodeDecodeError as problem:
        line = problem.object.count(b"\n", 0, problem.start) + 1
        raise FormatError("is not UTF-8 text.", path, line) from None
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark or problem.context_mark
        at = int(mark.line) + 1 if mark is not None else None
        raise FormatError(f"{problem.problem or problem.context}.", path, at) from None
    except yaml.YAMLError as problem:
        raise FormatError(f"is not YAML: {str(problem).splitlines()[0]}.", path, 1) from None
    return YamlLists(_top_level(root, keys, path), path)


def _refuse_references(events: Iterable[yaml.Event], path: Path | None) -> None:
    """Refuse anchors, aliases and deep nesting before nodes are built."""
    depth = 0
    for event in events:
        line = event.start_mark.line + 1 if event.start_mark is not None else None
        if getattr(event, "anchor", None) is not None:
            raise FormatError("has an anchor or alias (& or *), which is refused: write the value out.", path, line)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST_YAML:
            raise FormatError(f"is nested more than {DEEPEST_YAML} levels deep.", path, line)


def _top_level(root: yaml.Node | None, keys: Sequence[str], path: Path | None) -> dict[str, yaml.Node]:
    if not isinstance(root, yaml.MappingNode):
        line = _line(root) if root is not None else 1
        raise FormatError(f"must map names to lists. Names: {', '.join(keys)}.", path, line)
    values: dict[str, yaml.Node] = {}
    for key, value in root.value:
        name = str(key.value) if isinstance(key, yaml.ScalarNode) else "a list"
        if name not in keys:
            hint = suggestion(name, keys)
            raise FormatError(f"has the unknown key {name!r}.{hint} Keys: {', '.join(keys)}.", path, _line(key))
        if name in values:
            raise FormatError(f"has the key {name!r} twice.", path, _line(key))
        values[name] = value
    return values


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1
