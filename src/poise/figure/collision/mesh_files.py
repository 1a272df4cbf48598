"""Reading triangle meshes from files: STL, text or binary, Wavefront OBJ, and Collada (`collada`)."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.errors import FormatError
from poise.figure.collision.collada import read_collada
from poise.figure.model.compiled import IntArray
from poise.figure.model.pose import FloatArray

PACKAGE_PREFIX, MODEL_PREFIX = "package://", "model://"
"""Prefixes of mesh references of ROS packages and of Gazebo models."""

MOST_MESH_BYTES = 128 * 2**20
"""Largest mesh file that is read [bytes]."""
LARGEST_VERTEX = 1e12
"""Largest magnitude of a coordinate of a mesh, in the unit of its file."""
_BINARY_STL = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("color", "<u2")])
"""One triangle of a binary STL file."""
_BINARY_STL_HEAD = 84
"""Bytes before the first triangle."""


def find_mesh(reference: str, folder: Path | None) -> Path | None:
    """The file of a mesh reference, or None if it does not exist.

    For `package://name/rest` and `model://name/rest`, `name/rest` and `rest` are searched in the model's folder and in
    all folders above it, and then `rest` in the package where ROS and Gazebo have it.
    """
    scheme = next((prefix for prefix in (PACKAGE_PREFIX, MODEL_PREFIX) if reference.startswith(prefix)), "")
    plain = Path(reference.removeprefix("file://").removeprefix(scheme))
    home = (folder or Path.cwd()).resolve()
    if not scheme:
        return home / plain if (home / plain).is_file() else None
    rest = Path(*plain.parts[1:])
    places = [place / name for place in (home, *home.parents) for name in (plain, rest)]
    places += [package / rest for package in _package_folders(plain.parts[0] if plain.parts else "")]
    return next((place for place in places if place.is_file()), None)


def _package_folders(package: str) -> Iterator[Path]:
    """Folders in which ROS, ROS 2 or Gazebo may have a package, by their environment variables."""
    for variable in ("ROS_PACKAGE_PATH", "GZ_SIM_RESOURCE_PATH", "GAZEBO_MODEL_PATH"):
        for place in filter(None, os.environ.get(variable, "").split(os.pathsep)):
            if Path(place).name == package:
                yield Path(place)
            yield Path(place) / package
    for place in filter(None, os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)):
        yield Path(place) / "share" / package


def read_triangles(path: Path) -> tuple[FloatArray, IntArray]:
    """Vertices (v, 3) and triangles (t, 3) of a mesh file."""
    readers = {".stl": _read_stl, ".obj": _read_obj, ".dae": read_collada}
    if path.suffix.lower() not in readers:
        raise FormatError(f"meshes are read from {', '.join(readers)} files, not from {path.suffix!r}.", path)
    if (size := path.stat().st_size) > MOST_MESH_BYTES:
        raise FormatError(f"is {size / 2**20:.0f} MB; meshes over {MOST_MESH_BYTES // 2**20} MB are not read.", path)
    vertices, triangles = readers[path.suffix.lower()](path)
    if not len(triangles):
        raise FormatError("this mesh has no triangles.", path)
    if not (np.abs(vertices[triangles.ravel()]) <= LARGEST_VERTEX).all():
        raise FormatError(
            f"this mesh has a vertex whose coordinates are not finite numbers up to {LARGEST_VERTEX:g}.", path
        )
    return vertices, triangles


def _read_stl(path: Path) -> tuple[FloatArray, IntArray]:
    """Vertices and triangles of an STL file; equal corners become one vertex."""
    data = path.read_bytes()
    count = int.from_bytes(data[80:_BINARY_STL_HEAD], "little")
    if len(data) >= _BINARY_STL_HEAD + count * _BINARY_STL.itemsize and not _is_text(data):
        faces = np.frombuffer(data, dtype=_BINARY_STL, count=count, offset=_BINARY_STL_HEAD)
        with np.errstate(invalid="ignore"):  # a NaN that signals
            corners = faces["corners"].reshape(-1, 3).astype(np.float64)
    else:
        corners = _text_corners(data, path)
    first, index = distinct_rows(corners)
    return corners[first], index.reshape(-1, 3)


def distinct_rows(rows: NDArray[Any]) -> tuple[IntArray, IntArray]:
    """The first of each group of equal rows, groups in lexicographic order, and the group of every row.

    That is what `np.unique(rows, axis=0)` finds, which compares whole rows and takes ten times as long.
    """
    order = np.lexsort(rows.T[::-1])
    ordered = rows[order]
    starts = np.ones(len(rows), dtype=bool)
    starts[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    group = np.empty(len(rows), dtype=np.int64)
    group[order] = np.cumsum(starts) - 1
    return order[starts].astype(np.int64), group


def _is_text(data: bytes) -> bool:
    """Whether an STL file is text; some binary ones also begin with the word solid."""
    return data[:5] == b"solid" and b"facet" in data[:1000]


def _text_corners(data: bytes, path: Path) -> FloatArray:
    """Corners (3 t, 3) of the triangles of a text STL file."""
    corners = []
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), start=1):
        words = line.split()
        if words[:1] == ["vertex"]:
            corners.append(_numbers(words[1:4], path, number))
    if len(corners) % 3:
        raise FormatError(f"{len(corners)} vertices do not make triangles: the number must be divisible by 3.", path)
    return np.array(corners, dtype=np.float64).reshape(-1, 3)


def _read_obj(path: Path) -> tuple[FloatArray, IntArray]:
    """Vertices and triangles of an OBJ file; polygons are split into triangles."""
    vertices: list[list[float]] = []
    triangles: list[tuple[int, int, int]] = []
    for number, line in enumerate(path.read_text("utf-8", "replace").splitlines(), start=1):
        words = line.split()
        if words[:1] == ["v"]:
            vertices.append(_numbers(words[1:4], path, number))
        elif words[:1] == ["f"]:
            triangles += _fan(words[1:], len(vertices), path, number)
    return np.array(vertices, dtype=np.float64).reshape(-1, 3), np.array(triangles, dtype=np.int64).reshape(-1, 3)


def _fan(corners: list[str], count: int, path: Path, line: int) -> Iterator[tuple[int, int, int]]:
    """The triangles of a polygon; OBJ counts vertices from 1, or backwards from the last."""
    try:
        index = [int(corner.split("/")[0]) for corner in corners]
    except ValueError:
        raise FormatError("a face must be a list of vertex numbers.", path, line) from None
    index = [i - 1 if i > 0 else count + i for i in index]
    if any(not 0 <= i < count for i in index):
        raise FormatError("a face has the number of a vertex that does not exist.", path, line)
    yield from ((index[0], index[k], index[k + 1]) for k in range(1, len(index) - 1))


def _numbers(words: list[str], path: Path, line: int) -> list[float]:
    """Three finite numbers from the words of a line."""
    try:
        values = [float(word) for word in words]
    except ValueError:
        values = []
    if len(values) != 3 or not all(map(math.isfinite, values)):
        raise FormatError("a vertex must be three finite numbers.", path, line)
    return values
