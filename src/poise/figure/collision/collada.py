"""Reading triangle meshes from Collada files (`.dae`): the geometry of the scene, in metres.

Only the surfaces are read: `triangles`, `polylist`, `polygons`, `tristrips` and `trifans` of every `instance_geometry`
in the visual scene, moved by the transforms of its nodes. The `up_axis` is ignored, as RViz and coal ignore it: files
of robots often say Y_UP, the default, and mean the axes of the link. A file is somebody else's: a DOCTYPE, which could
declare entities, is refused, and nodes that contain each other or are used thousands of times end with an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from poise.errors import FormatError
from poise.extras import require
from poise.figure.model.compiled import IntArray
from poise.figure.model.pose import FloatArray, to_matrix, turn

if TYPE_CHECKING:
    from lxml.etree import _Element

MOST_NODES = 20_000
"""Largest number of nodes and geometries of a scene, each counted as often as it is used."""
MOST_TRIANGLES = 5_000_000
"""Largest number of triangles of a scene."""
MOST_DEPTH = 100
"""Largest number of nodes inside each other."""
SURFACES = ("triangles", "polylist", "polygons", "tristrips", "trifans")
"""Elements of a mesh that are surfaces."""


def read_collada(path: Path) -> tuple[FloatArray, IntArray]:
    """Vertices (v, 3) [m] and triangles (t, 3) of a Collada file."""
    return _Document(path, _root(path)).surfaces()


def _root(path: Path) -> _Element:
    require("lxml", "reading Collada meshes")
    from lxml import etree

    # Long lists of numbers need `huge_tree`; the size of the file is limited where it is opened.
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=True, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(path.read_bytes(), parser)
    except (etree.LxmlError, ValueError) as problem:
        reason = re.sub(r",? *(use XML_PARSE_HUGE option|line \d+).*$", "", str(problem), flags=re.DOTALL)
        raise FormatError(f"is not XML that can be read: {reason}.", path, getattr(problem, "lineno", None)) from None
    if root.getroottree().docinfo.internalDTD is not None:
        raise FormatError("has a DOCTYPE, which is refused because it can declare entities: remove it.", path, 1)
    if _tag(root) != "COLLADA":
        raise FormatError(f"is no Collada file: it starts with <{_tag(root)}>, not with <COLLADA>.", path, 1)
    return root


def _tag(element: _Element) -> str:
    """The tag without its namespace."""
    return str(element.tag).rpartition("}")[2]


class _Document:
    """A parsed file: its elements by id, and the triangles found so far."""

    def __init__(self, path: Path, root: _Element) -> None:
        self._path, self._root = path, root
        self._ids = {str(name): element for element in root.iter("*") if (name := element.get("id")) is not None}
        self._vertices: list[FloatArray] = []
        self._triangles: list[IntArray] = []
        self._counts = {"nodes": 0, "vertices": 0, "triangles": 0}
        self._meshes: dict[_Element, list[tuple[FloatArray, IntArray]]] = {}

    def surfaces(self) -> tuple[FloatArray, IntArray]:
        """Vertices and triangles of all geometries in the scene; of all in the file if it has no scene."""
        asset = self._child(self._root, "asset")
        unit = self._child(asset, "unit") if asset is not None else None
        scale = 1.0 if unit is None else self._numbers(unit, unit.get("meter", "1"), 1)[0]
        if not 0.0 < scale < np.inf:
            raise self._error(unit, f"the unit of length must be a positive number of metres, not {scale:g}.")
        place = np.diag([scale, scale, scale, 1.0])
        scene = self._scene()
        if scene is None:
            for geometry in self._root.iter("{*}geometry"):
                self._add(geometry, place)
        else:
            for node in self._children(scene, "node"):
                self._walk(node, place, 1)
        vertices = np.concatenate([np.empty((0, 3)), *self._vertices])
        return vertices, np.concatenate([np.empty((0, 3), dtype=np.int64), *self._triangles])

    def _scene(self) -> _Element | None:
        """The scene that the file shows, or its only one."""
        used = next(self._root.iter("{*}instance_visual_scene"), None)
        return self._target(used) if used is not None else next(self._root.iter("{*}visual_scene"), None)

    def _walk(self, node: _Element, above: FloatArray, depth: int) -> None:
        """Add the geometries of a node and of all nodes in it; `above` (4, 4) is the transform of its parent."""
        if depth > MOST_DEPTH:
            raise self._error(node, "the nodes of the scene contain each other.")
        self._count("nodes", 1, MOST_NODES)
        place = above
        for element in node.iterchildren("*"):
            tag = _tag(element)
            if tag in _TRANSFORMS:
                count, matrix = _TRANSFORMS[tag]
                place = place @ matrix(self._numbers(element, element.text, count))
            elif tag == "instance_geometry":
                self._add(self._target(element), place)
            elif tag == "instance_node":
                self._walk(self._target(element), place, depth + 1)
            elif tag == "node":
                self._walk(element, place, depth + 1)

    def _add(self, geometry: _Element, place: FloatArray) -> None:
        """Add the surfaces of a geometry, moved by `place` (4, 4)."""
        self._count("nodes", 1, MOST_NODES)
        if geometry not in self._meshes:
            mesh = self._child(geometry, "mesh")
            self._meshes[geometry] = [] if mesh is None else list(self._surfaces_of(mesh))
        for vertices, triangles in self._meshes[geometry]:
            self._count("triangles", len(triangles), MOST_TRIANGLES)
            with np.errstate(all="ignore"):
                moved = vertices @ place[:3, :3].T + place[:3, 3]
                # A reflection turns surfaces inside out.
                mirrored = np.linalg.det(place[:3, :3]) < 0.0
            self._vertices.append(moved)
            self._triangles.append((triangles[:, ::-1] if mirrored else triangles) + self._counts["vertices"])
            self._counts["vertices"] += len(vertices)

    def _surfaces_of(self, mesh: _Element) -> Iterator[tuple[FloatArray, IntArray]]:
        for surface in self._children(mesh, *SURFACES):
            inputs = self._children(surface, "input")
            seats = [element for element in inputs if element.get("semantic") == "VERTEX"]
            if not seats:
                raise self._error(surface, f"<{_tag(surface)}> has no vertices.")
            stride = 1 + max(self._offset(element) for element in inputs)
            offset, vertices = self._offset(seats[0]), self._positions(self._target(seats[0], "source"))
            triangles = self._indices(surface, stride, offset)
            if len(triangles) and not (triangles.min() >= 0 and triangles.max() < len(vertices)):
                raise self._error(surface, "a triangle has the number of a vertex that does not exist.")
            used, numbers = np.unique(triangles, return_inverse=True)
            yield vertices[used], numbers.reshape(-1, 3)

    def _offset(self, element: _Element) -> int:
        text = element.get("offset", "0")
        if not (text.isascii() and text.isdigit() and int(text) < 64):
            raise self._error(element, f"the offset of an <input> must be a whole number below 64, not {text[:20]!r}.")
        return int(text)

    def _positions(self, vertices: _Element) -> FloatArray:
        """(v, 3) the positions that a <vertices> element names."""
        for element in self._children(vertices, "input"):
            if element.get("semantic") == "POSITION":
                array = next(self._target(element, "source").iter("{*}float_array"), None)
                if array is not None:
                    numbers = self._numbers(array, array.text)
                    if len(numbers) % 3 == 0:
                        return numbers.reshape(-1, 3)
        raise self._error(vertices, "the vertices of a mesh have no positions of three numbers each.")

    def _indices(self, surface: _Element, stride: int, offset: int) -> IntArray:
        """(t, 3) the vertices of the triangles of a surface."""
        kind = _tag(surface)
        found: list[IntArray | None]
        lists = [self._vertex_numbers(p, stride, offset) for p in self._children(surface, "p")]
        if kind == "triangles":
            found = [line[: len(line) // 3 * 3].reshape(-1, 3) for line in lists]
        elif kind == "polylist":
            counts = self._child(surface, "vcount")
            corners = self._whole(counts, counts.text) if counts is not None else np.empty(0, dtype=np.int64)
            found = [_polygons(np.concatenate([np.empty(0, dtype=np.int64), *lists]), corners)]
        elif kind == "tristrips":
            found = [_strip(line) for line in lists]
        else:
            found = [_polygons(line, np.array([len(line)])) for line in lists]
        whole = [part for part in found if part is not None]
        if len(whole) < len(found):
            raise self._error(surface, f"the vertices of <{kind}> do not make whole polygons.")
        return np.concatenate([np.empty((0, 3), dtype=np.int64), *whole])

    def _vertex_numbers(self, element: _Element, stride: int, offset: int) -> IntArray:
        numbers = self._whole(element, element.text)
        if len(numbers) % stride:
            raise self._error(element, f"<p> has {len(numbers)} numbers, not a multiple of {stride}.")
        return numbers.reshape(-1, stride)[:, offset]

    def _whole(self, element: _Element, text: str | None) -> IntArray:
        numbers = self._numbers(element, text)
        if not ((numbers == np.floor(numbers)) & (np.abs(numbers) < 2.0**31)).all():
            raise self._error(element, f"<{_tag(element)}> must have whole numbers.")
        return numbers.astype(np.int64)

    def _numbers(self, element: _Element, text: str | None, count: int | None = None) -> FloatArray:
        """All numbers in a text, which must be finite, and `count` if that is given."""
        try:
            numbers = np.array((text or "").split(), dtype=np.float64)
        except ValueError:
            raise self._error(element, f"<{_tag(element)}> must have numbers only.") from None
        if not (np.abs(numbers) < 1e30).all():
            raise self._error(element, f"<{_tag(element)}> has a number that is not finite.")
        if count is not None and len(numbers) != count:
            raise self._error(element, f"<{_tag(element)}> must have {count} numbers, not {len(numbers)}.")
        return numbers

    def _target(self, element: _Element, attribute: str = "url") -> _Element:
        """The element that a reference such as url="#arm" names."""
        name = element.get(attribute, "")
        found = self._ids.get(name.removeprefix("#"))
        if found is None:
            raise self._error(element, f"<{_tag(element)}> names {name[:60]!r}, which is not in this file.")
        return found

    def _count(self, what: str, more: int, most: int) -> None:
        self._counts[what] += more
        if self._counts[what] > most:
            raise FormatError(f"has more than {most} {what}; use a simpler mesh.", self._path)

    def _child(self, element: _Element, *tags: str) -> _Element | None:
        return next(iter(self._children(element, *tags)), None)

    def _children(self, element: _Element, *tags: str) -> list[_Element]:
        return [child for child in element.iterchildren("*") if _tag(child) in tags]

    def _error(self, element: _Element | None, reason: str) -> FormatError:
        line: object = None if element is None else element.sourceline
        return FormatError(reason, self._path, line if isinstance(line, int) else None)


def _polygons(numbers: IntArray, counts: IntArray) -> IntArray | None:
    """(t, 3) triangles of polygons with `counts` corners each; None if there are not so many."""
    if (counts < 0).any() or counts.sum() != len(numbers):
        return None
    starts, fans = np.cumsum(counts) - counts, np.maximum(counts - 2, 0)
    first = np.repeat(starts, fans)
    step = np.arange(fans.sum()) - np.repeat(np.cumsum(fans) - fans, fans)
    triangles: IntArray = numbers[np.stack([first, first + step + 1, first + step + 2], axis=1)]
    return triangles


def _strip(numbers: IntArray) -> IntArray:
    """(t, 3) triangles of a strip, every other one turned around."""
    triangles = np.stack([numbers[:-2], numbers[1:-1], numbers[2:]], axis=1) if len(numbers) > 2 else numbers[:0]
    triangles = triangles.reshape(-1, 3)
    triangles[1::2] = triangles[1::2, ::-1]
    return triangles


def _turned(numbers: FloatArray) -> FloatArray:
    """(4, 4) the rotation about an axis by an angle in degrees."""
    found = np.eye(4)
    if numbers[:3].any():
        found[:3, :3] = to_matrix(turn(numbers[:3], float(numbers[3])))
    return found


def _moved(numbers: FloatArray) -> FloatArray:
    found = np.eye(4)
    found[:3, 3] = numbers
    return found


_TRANSFORMS: dict[str, tuple[int, Callable[[FloatArray], Any]]] = {
    "matrix": (16, lambda numbers: numbers.reshape(4, 4)),
    "rotate": (4, _turned),
    "scale": (3, lambda numbers: np.diag([*numbers, 1.0])),
    "translate": (3, _moved),
}
"""Transforms of a node: how many numbers each has, and its matrix (4, 4)."""
