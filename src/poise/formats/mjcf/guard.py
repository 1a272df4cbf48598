"""Checks a document before MuJoCo compiles it: refuses other XML, NaN, and elements that would need huge memory."""

from __future__ import annotations

import math

from poise.formats.text.xml_reader import Element

MOST_COPIES = 10_000
"""Most copies of one element, by its own count times those of the elements around it."""
MOST_CELLS = 100_000_000
"""Most cells of a height field or texture."""
MOST_ENTRIES = 1_000_000
"""Most entries that <size> may reserve."""

_CELLS = {"hfield": ("nrow", "ncol"), "texture": ("width", "height")}


def check_document(root: Element) -> None:
    """Refuse a document that is not MJCF, has NaN, or expands to a huge model."""
    if root.tag != "mujoco":
        raise root.error(f"an MJCF file must start with <mujoco>, not with <{root.tag}>.")
    for element in root.everything():
        _check_numbers(element)
        if _copies(element) > MOST_COPIES:
            raise element.error(f"<{element.tag}> makes more than {MOST_COPIES} copies.")
        if element.tag in _CELLS and math.prod(_number(element, name) for name in _CELLS[element.tag]) > MOST_CELLS:
            raise element.error(f"<{element.tag}> has more than {MOST_CELLS} cells.")
        if element.tag == "size" and any(_number(element, name) > MOST_ENTRIES for name in _reserved(element)):
            raise element.error(f"<size> reserves more than {MOST_ENTRIES} entries.")


def _check_numbers(element: Element) -> None:
    for name, value in element.attributes().items():
        if name != "name" and "nan" in value.lower().split():
            raise element.error(f"{name} of <{element.tag}> is not a number: {value[:60]!r}.")


def _reserved(element: Element) -> list[str]:
    return [name for name in element.attributes() if name == "nkey" or name.startswith("nuser")]


def _copies(element: Element) -> float:
    """Number of copies of an element: its own `count` times those of the elements around it."""
    total, node = 1.0, element.node
    while node is not None:
        words = (node.get("count") or "").split()
        total *= math.prod(max(_as_number(word), 1.0) for word in words)
        parent = node.getparent()
        if parent is None:
            break
        node = parent
    return total


def _number(element: Element, attribute: str) -> float:
    return _as_number(element.node.get(attribute) or "")


def _as_number(text: str) -> float:
    """The number in a text, or 0 if it is not a number; MuJoCo's compiler then reports the error."""
    try:
        return float(text)
    except ValueError:
        return 0.0
