"""Reading triangle meshes from STL files, text or binary, and from Wavefront OBJ files."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from poise.errors import FormatError
from poise.figure.model.compiled import IntArray
from poise.figure.model.pose import FloatArray

PACKAGE_PREFIX = "package://"
"""Prefix of mesh references of ROS packages."""

_BINARY_STL = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("color", "<u2")])
"""One triangle of a binary STL file."""
_BINARY_STL_HEAD = 84
"""Bytes before the first triangle."""


def find_mesh(reference: str, folder: Path | None) -> Path | None:
    """The file of a mesh reference, or None if it does not exist.

    For `package://name/rest`, `name/rest` and `rest` are searched in the model's folder and in all folders above it.
    """
    plain = reference.removeprefix("file://").removeprefix(PACKAGE_PREFIX)
    home = (folder or Path.cwd()).resolve()
    names = [Path(plain)]
    if reference.startswith(PACKAGE_PREFIX):
        names.append(Path(*Path(plain).parts[1:]))
    folders = [home, *home.parents] if reference.startswith(PACKAGE_PREFIX) else [home]
    return next((place / name for place in folders for name in names if (place / name).is_file()), None)


def read_triangles(path: Path) -> tuple[FloatArray, IntArray]:
    """Vertices (v, 3) and triangles (t, 3) of an STL or OBJ file."""
    readers = {".stl": _read_stl, ".obj": _read_obj}
    if path.suffix.lower() not in readers:
        raise FormatError(f"meshes are read from {' and '.join(readers)} files.", path)
    vertices, triangles = readers[path.suffix.lower()](path)
    if not len(triangles):
        raise FormatError("this mesh has no triangles.", path)
    return vertices, triangles


def _read_stl(path: Path) -> tuple[FloatArray, IntArray]:
    """Vertices and triangles of an STL file; equal corners become one vertex."""
    data = path.read_bytes()
    count = int.from_bytes(data[80:_BINARY_STL_HEAD], "little")
    if len(data) >= _BINARY_STL_HEAD + count * _BINARY_STL.itemsize and not _is_text(data):
        faces = np.frombuffer(data, dtype=_BINARY_STL, count=count, offset=_BINARY_STL_HEAD)
        corners = faces["corners"].reshape(-1, 3).astype(np.float64)
    else:
        corners = _text_corners(data, path)
    vertices, index = np.unique(corners, axis=0, return_inverse=True)
    return vertices, index.reshape(-1, 3).astype(np.int64)


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
