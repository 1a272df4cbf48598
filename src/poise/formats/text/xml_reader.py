"""Reads XML safely; every error has a line.

Documents with a DOCTYPE are refused: entities, which it declares, can read other files and expand without bound.
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

LARGEST_XML_NUMBER = 1e50
"""Largest magnitude of a length, mass or angle; the squares of much larger numbers would overflow."""

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_INFINITY = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
# Atomic groups: a prologue of many comments would otherwise cause catastrophic backtracking.
_DOCTYPE = re.compile(rb"(?:\xef\xbb\xbf)?(?>\s+|<\?.*?\?>|<!--.*?-->)*+(<!DOCTYPE)", re.DOTALL)


@dataclass(frozen=True)
class Element:
    """An element of a document, with its file and line."""

    node: etree._Element
    path: Path | None

    @property
    def tag(self) -> str:
        """Tag without namespace."""
        return str(self.node.tag).rpartition("}")[2]

    @property
    def namespace(self) -> str:
        """Namespace, empty if there is none."""
        return str(self.node.tag).rpartition("}")[0][1:]

    @property
    def line(self) -> int | None:
        """Line on which the element starts."""
        line: object = self.node.sourceline
        return line if isinstance(line, int) else None

    def error(self, reason: str) -> FormatError:
        """A FormatError with the file and line of this element."""
        return FormatError(reason, self.path, self.line)

    @contextmanager
    def locating_errors(self) -> Iterator[None]:
        """Turn a FigureError inside the block into a FormatError with the line of this element."""
        try:
            yield
        except FigureError as problem:
            raise self.error(str(problem)) from None

    def children(self, *tags: str) -> list[Element]:
        """Child elements with one of the tags, or all if none is given, in the namespace of this element."""
        inside = [Element(node, self.path) for node in self.node.iterchildren("*")]
        return [child for child in inside if child.namespace == self.namespace and (not tags or child.tag in tags)]

    def child(self, *tags: str) -> Element | None:
        """The first child element with one of the tags; None if there is none."""
        return next(iter(self.children(*tags)), None)

    def everything(self) -> Iterator[Element]:
        """This element and all its descendants, in document order."""
        return (Element(node, self.path) for node in self.node.iter("*"))

    def attributes(self) -> dict[str, str]:
        """All attributes."""
        return {str(name): str(value) for name, value in self.node.attrib.items()}

    def text(self, attribute: str) -> str:
        """The value of a required attribute, which must not be blank."""
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
            if abs(value) > LARGEST_XML_NUMBER:
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
    """The root element of a document; raises a FormatError with a line if it is malformed."""
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
        raise FormatError(f"is not XML that can be read: {problem}.", path, 1) from None
    # The regular expression on bytes misses a DOCTYPE in encodings such as UTF-16.
    if root.getroottree().docinfo.internalDTD is not None:
        raise _doctype_refused(path, 1)
    return Element(root, path)


def _parsed_root(data: bytes, encoding: str | None) -> etree._Element:
    """The root element; undeclared namespace prefixes are accepted, as other readers of robot files accept them."""
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
    """The document as bytes, and their encoding if it is known."""
    if isinstance(source, bytes):
        return source, None
    try:
        return source.encode("utf-8"), "utf-8"
    except UnicodeEncodeError as problem:
        line = source.count("\n", 0, problem.start) + 1
        raise FormatError("has half of a surrogate pair, which is not a character.", path, line) from None


def _doctype_refused(path: Path | None, line: int) -> FormatError:
    return FormatError("has a DOCTYPE, which is refused because it can declare entities: remove it.", path, line)


def _quoted(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:60]}…")
