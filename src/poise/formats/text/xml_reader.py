"""XML in which every mistake has a line, and which can neither reach out nor blow up.

Entities are how XML reads other files and grows without end, so a document that declares any is refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lxml import etree

from poise.errors import FigureError, FormatError

LARGEST = 1e50
"""Lengths, masses and angles beyond this are mistakes, and their squares would overflow."""

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_INFINITY = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
# Atomic, so that a prologue of many comments is walked once and not in every possible grouping.
_DOCTYPE = re.compile(rb"(?:\xef\xbb\xbf)?(?>\s+|<\?.*?\?>|<!--.*?-->)*+(<!DOCTYPE)", re.DOTALL)


@dataclass(frozen=True)
class Element:
    """An element of a document, that knows which file and line it stands in."""

    node: etree._Element
    path: Path | None

    @property
    def tag(self) -> str:
        """Its name, without a namespace."""
        return str(self.node.tag).rpartition("}")[2]

    @property
    def namespace(self) -> str:
        """Its namespace, empty when there is none."""
        return str(self.node.tag).rpartition("}")[0][1:]

    @property
    def line(self) -> int | None:
        """The line it starts on."""
        line: object = self.node.sourceline
        return line if isinstance(line, int) else None

    def error(self, reason: str) -> FormatError:
        """What is wrong with this element, with its file and line."""
        return FormatError(reason, self.path, self.line)

    @contextmanager
    def blamed(self) -> Iterator[None]:
        """Report what the body model refuses as a mistake of this element."""
        try:
            yield
        except FigureError as problem:
            raise self.error(str(problem)) from None

    def children(self, *tags: str) -> list[Element]:
        """Elements directly inside, in the namespace of this one; all of them without tags."""
        inside = [Element(node, self.path) for node in self.node.iterchildren("*")]
        return [child for child in inside if child.namespace == self.namespace and (not tags or child.tag in tags)]

    def child(self, *tags: str) -> Element | None:
        """The first such element inside."""
        return next(iter(self.children(*tags)), None)

    def everything(self) -> Iterator[Element]:
        """This element and all inside it, in document order."""
        return (Element(node, self.path) for node in self.node.iter("*"))

    def attributes(self) -> dict[str, str]:
        """All attributes."""
        return {str(name): str(value) for name, value in self.node.attrib.items()}

    def text(self, attribute: str) -> str:
        """An attribute that must be there and not be blank."""
        value = self.node.get(attribute)
        if value is None or not value.strip():
            raise self.error(f"<{self.tag}> needs the attribute {attribute!r}.")
        return str(value)

    def number(self, attribute: str, default: float | None = None) -> float:
        """One finite number."""
        return self.numbers(attribute, 1, None if default is None else (default,))[0]

    def numbers(self, attribute: str, count: int, default: Sequence[float] | None = None) -> tuple[float, ...]:
        """`count` finite numbers separated by blanks, or `default` where the attribute is missing."""
        if default is not None and self.node.get(attribute) is None:
            return tuple(default)
        words = self.text(attribute).split()
        values = [self._parsed(word, attribute) for word in words]
        if len(values) != count:
            wanted = "one number" if count == 1 else f"{count} numbers"
            raise self.error(f"{attribute} of <{self.tag}> must be {wanted}, not {_quoted(self.text(attribute))}.")
        for word, value in zip(words, values, strict=True):
            if abs(value) > LARGEST:
                raise self.error(f"{attribute} of <{self.tag}> must be a finite number, not {_quoted(word)}.")
        return tuple(values)

    def limit(self, attribute: str, default: float) -> float:
        """One number that may be infinite."""
        if self.node.get(attribute) is None:
            return default
        word = self.text(attribute).strip()
        return float(word) if _INFINITY.fullmatch(word) else self._parsed(word, attribute)

    def _parsed(self, word: str, attribute: str) -> float:
        if _INFINITY.fullmatch(word):
            return math.inf
        if not _NUMBER.fullmatch(word):
            raise self.error(f"{attribute} of <{self.tag}> must be a number, not {_quoted(word)}.")
        return float(word)


def parse_xml(source: bytes | str, path: Path | None = None) -> Element:
    """The root of a document, or a FormatError with its line."""
    data, encoding = _encoded(source, path)
    declared = _DOCTYPE.match(data)
    if declared:
        raise _doctype_refused(path, data[: declared.start(1)].count(b"\n") + 1)
    try:
        root = _parsed_root(data, encoding)
    except etree.XMLSyntaxError as problem:
        reason = re.sub(r",? *line \d+, column \d+.*$", "", problem.msg or "this is no XML", flags=re.DOTALL)
        raise FormatError(f"{reason.strip()}.", path, problem.lineno or 1) from None
    except (etree.LxmlError, LookupError, ValueError) as problem:
        raise FormatError(f"this is no XML that can be read: {problem}.", path, 1) from None
    # Other encodings than those a regular expression on bytes can see through.
    if root.getroottree().docinfo.internalDTD is not None:
        raise _doctype_refused(path, 1)
    return Element(root, path)


def _parsed_root(data: bytes, encoding: str | None) -> etree._Element:
    """The root element; prefixes that nobody declared are forgiven, as the readers of robot files all do."""
    parser = _parser(encoding)
    try:
        return etree.fromstring(data, parser)
    except etree.XMLSyntaxError:
        if any(entry.domain != etree.ErrorDomains.NAMESPACE for entry in parser.error_log):
            raise
    return etree.fromstring(data, _parser(encoding, recover=True))


def _parser(encoding: str | None, *, recover: bool = False) -> etree.XMLParser:
    return etree.XMLParser(
        encoding=encoding, recover=recover, resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False
    )


def _encoded(source: bytes | str, path: Path | None) -> tuple[bytes, str | None]:
    """Bytes, and their encoding where the document need not say it."""
    if isinstance(source, bytes):
        return source, None
    try:
        return source.encode("utf-8"), "utf-8"
    except UnicodeEncodeError as problem:
        line = source.count("\n", 0, problem.start) + 1
        raise FormatError("holds half of a surrogate pair, which is no character.", path, line) from None


def _doctype_refused(path: Path | None, line: int) -> FormatError:
    return FormatError("declares a DOCTYPE, which robots do not need and attacks do: remove it.", path, line)


def _quoted(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:60]}…")
