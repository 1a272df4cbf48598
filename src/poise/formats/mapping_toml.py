"""Joint mappings of retargeting as TOML, with one table per link.

[[link]]
joint = "LeftHand"      # of the clip
site = "left_hand"      # of the figure: a site or a body
role = "left_wrist"     # anatomical role of both; found by itself if left out
weight = 1.0
axes = "xyz"
offset = [0.0, 0.0, 0.0]
priority = 2
point = [0.1, 0.0, 0.0] # of the site, in its frame; the centre of its joint if left out
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from poise.errors import FormatError, TaskError
from poise.formats.text.files import read_bytes, write_atomically
from poise.motion.mapping.mapping import JointMap, Link

LINK_KEYS = ("joint", "site", "role", "weight", "axes", "offset", "priority", "point")


def read_mapping(path: str | Path) -> JointMap:
    """Read the mapping in a file."""
    try:
        tables = tomllib.loads(read_bytes(path).decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise FormatError(f"is not TOML: {problem}.", path) from None
    links = tables.get("link")
    if not isinstance(links, list) or not links or set(tables) != {"link"}:
        raise FormatError("a mapping must be a list of [[link]] tables, each with a joint and a site.", path)
    return JointMap(tuple(_link(table, number, path) for number, table in enumerate(links, start=1)))


def write_mapping(mapping: JointMap, path: str | Path) -> None:
    """Write a mapping that people can edit."""
    write_atomically(path, "\n".join(_text(link) for link in mapping.links).encode("utf-8"))


def _link(table: Any, number: int, path: str | Path) -> Link:
    if not isinstance(table, dict) or not {"joint", "site"} <= set(table):
        raise FormatError(f"link {number} needs a joint and a site.", path)
    if unknown := sorted(set(table) - set(LINK_KEYS)):
        raise FormatError(f"link {number} has the unknown key {unknown[0]!r}. Keys: {', '.join(LINK_KEYS)}.", path)
    given: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}
    try:
        return Link(**given)
    except (TaskError, TypeError, ValueError) as problem:
        raise FormatError(f"link {number}: {problem}", path) from None


def _text(link: Link) -> str:
    lines = ["[[link]]", f"joint = {json.dumps(link.joint)}", f"site = {json.dumps(link.site)}"]
    lines += [f"role = {json.dumps(link.role)}"] if link.role else []
    lines += [f"weight = {float(link.weight)!r}", f"axes = {json.dumps(link.axes)}"]
    lines += [f"offset = {[float(x) for x in link.offset]!r}", f"priority = {link.priority}"]
    lines += [f"point = {list(link.point)!r}"] if link.point is not None else []
    return "\n".join(lines) + "\n"
