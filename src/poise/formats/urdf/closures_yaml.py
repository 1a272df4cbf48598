"""Reads the part of YAML that a closures file needs: lists of words, each with its line.

The document is parsed to nodes and never to Python objects. Anchors and aliases, with which a few lines can expand
without bound, are refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from poise.errors import FormatError
from poise.figure.model.names import suggestion

DEEPEST_YAML = 8
"""Deepest nesting that is read; lists of pairs need three levels."""


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
