"""Reads the numbers of a glTF file: accessors into buffer views into buffers, with every range checked first."""

from __future__ import annotations

import base64
import binascii
import re
from pathlib import Path
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from poise.figure.model.pose import FloatArray
from poise.formats.gltf.json_objects import Fields
from poise.formats.text.files import MOST_FILE_BYTES, read_bytes

_COMPONENT_TYPES = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_FLOAT_TYPE = 5126
_INDEX_TYPES = (5121, 5123, 5125)
_TYPE_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}

_FREE_NUMBERS = 2**20
"""Numbers that accessors may have beyond the size of the buffers, as sparse accessors do."""

Numbers = NDArray[np.generic]


class Buffers:
    """The buffers of one file, loaded when they are first needed, and its accessors."""

    def __init__(self, top: Fields, binary: bytes | None) -> None:
        """Take the top object of the file and its binary chunk."""
        self._buffers, self._views = top.parts("buffers"), top.parts("bufferViews")
        self._accessors = top.parts("accessors")
        self._binary = binary
        self._loaded: dict[int, bytes] = {}
        self._read: dict[int, FloatArray] = {}
        self._counted = 0

    def count(self) -> int:
        """Number of accessors."""
        return len(self._accessors)

    def numbers(self, index: int, width: int, *, normalised: bool = False) -> FloatArray:
        """(count, width) numbers of an accessor: floats, or if `normalised` also integers that encode −1 … 1."""
        accessor = self._accessors[index]
        if index not in self._read:
            self._read[index] = self._numbers(accessor)
        if accessor.whole("componentType") != _FLOAT_TYPE and not normalised:
            accessor.fail("must hold floats (component type 5126).")
        if self._read[index].shape[1] != width:
            accessor.fail(f"holds {self._read[index].shape[1]} numbers per element where {width} are needed.")
        return self._read[index]

    def _numbers(self, accessor: Fields) -> FloatArray:
        kind = accessor.whole("componentType")
        if kind not in _COMPONENT_TYPES:
            accessor.fail(f"has the unknown component type {kind}.")
        width = _TYPE_WIDTHS.get(accessor.text("type", ""), 0)
        if not width:
            accessor.fail(f"has the type {accessor.text('type', '')[:20]!r}; an animation needs a scalar or a vector.")
        raw = self._elements(accessor, accessor.whole("count", least=1), width, kind)
        if kind == _FLOAT_TYPE:
            # Converting a signalling NaN warns; callers refuse every NaN themselves.
            with np.errstate(invalid="ignore"):
                return raw.astype(np.float64)
        if not accessor.flag("normalized"):
            accessor.fail("holds integers that are not normalised; an animation needs floats or normalised integers.")
        return np.maximum(raw.astype(np.float64) / np.iinfo(_COMPONENT_TYPES[kind]).max, -1.0)

    def _elements(self, accessor: Fields, count: int, width: int, kind: int) -> Numbers:
        """(count, width) elements as stored, with sparse values filled in."""
        sparse = accessor.part("sparse") if "sparse" in accessor else None
        if "bufferView" in accessor:
            elements = self._window(accessor, (count, width), kind)
        elif sparse is None:
            accessor.fail("has neither a 'bufferView' nor 'sparse' values.")
        else:
            self._count_numbers(sparse, count * width)
            elements = np.zeros((count, width), dtype=_COMPONENT_TYPES[kind])
        return elements if sparse is None else self._filled(sparse, elements, kind)

    def _filled(self, sparse: Fields, elements: Numbers, kind: int) -> Numbers:
        """A copy of `elements` with the values of the sparse part filled in."""
        changed = sparse.whole("count", least=1)
        places, values = sparse.part("indices"), sparse.part("values")
        index_kind = places.whole("componentType")
        if index_kind not in _INDEX_TYPES:
            places.fail(f"has the component type {index_kind}; indices are unsigned integers.")
        rows = self._window(places, (changed, 1), index_kind)[:, 0].astype(np.int64)
        if (np.diff(rows) <= 0).any() or rows[-1] >= len(elements):
            sparse.fail(f"must list indices below {len(elements)} in increasing order.")
        filled = elements.copy()
        filled[rows] = self._window(values, (changed, elements.shape[1]), kind)
        return filled

    def _window(self, source: Fields, shape: tuple[int, int], kind: int) -> Numbers:
        """`shape` numbers at the `bufferView` and `byteOffset` of an accessor or a sparse part, without a copy."""
        view = self._views[source.index("bufferView", len(self._views))]
        if "extensions" in view and "EXT_meshopt_compression" in view.part("extensions"):
            view.fail("is compressed with EXT_meshopt_compression, which is not read.")
        data = self._buffer(view.index("buffer", len(self._buffers)))
        start, length = view.whole("byteOffset", 0), view.whole("byteLength", least=1)
        if start + length > len(data):
            view.fail(f"ends at byte {start + length} of a buffer of {len(data)} bytes.")
        dtype = np.dtype(_COMPONENT_TYPES[kind])
        size = dtype.itemsize * shape[1]
        stride = view.whole("byteStride", size, least=1)
        if stride < size:
            view.fail(f"has a stride of {stride} bytes for elements of {size}.")
        inside = source.whole("byteOffset", 0)
        if inside + stride * (shape[0] - 1) + size > length:
            source.fail(f"needs {inside + stride * (shape[0] - 1) + size} bytes of a view of {length}.")
        self._count_numbers(source, shape[0] * shape[1])
        return np.ndarray(shape, dtype, data, start + inside, (stride, dtype.itemsize))

    def _count_numbers(self, source: Fields, count: int) -> None:
        """Refuse far more numbers than the file has bytes for: views may overlap, and sparse zeros need no bytes."""
        self._counted += count
        if self._counted > _FREE_NUMBERS + 4 * sum(map(len, self._loaded.values())):
            source.fail(f"has {count} numbers, more than the buffers of the file can hold.")

    def _buffer(self, index: int) -> bytes:
        if index not in self._loaded:
            buffer = self._buffers[index]
            data = self._bytes(buffer, index)
            length = buffer.whole("byteLength", least=1)
            if len(data) < length:
                buffer.fail(f"must have {length} bytes and has {len(data)}.")
            self._loaded[index] = data[:length]
            if sum(map(len, self._loaded.values())) > MOST_FILE_BYTES:
                buffer.fail(f"is too large: at most {MOST_FILE_BYTES // 2**20} MB of buffers are read.")
        return self._loaded[index]

    def _bytes(self, buffer: Fields, index: int) -> bytes:
        if "uri" not in buffer:
            if self._binary is None or index != 0:
                buffer.fail("has no 'uri', and the file has no binary chunk for it.")
            return self._binary
        uri = buffer.text("uri", "")
        if uri[:5].lower() == "data:":
            return _embedded(buffer, uri)
        return read_bytes(_beside(buffer, uri))


def _embedded(buffer: Fields, uri: str) -> bytes:
    """The bytes of a base64 data URI."""
    head, comma, body = uri.partition(",")
    if not comma or not head.lower().endswith(";base64"):
        buffer.fail("has a data URI that is not base64.")
    try:
        return base64.b64decode(body, validate=True)
    except (binascii.Error, ValueError):
        buffer.fail("has broken base64 in its data URI.")


def _beside(buffer: Fields, uri: str) -> Path:
    """The file that a URI names, which must be in the folder of the glTF file or below it."""
    if buffer.path is None:
        buffer.fail("names a file beside the glTF file, and this glTF came without a file.")
    name = unquote(uri)
    if re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:|[/\\]", name) or "\\" in name or "\0" in name or not name:
        buffer.fail(f"has the uri {name[:60]!r}; only files beside the glTF file are read.")
    try:
        folder = buffer.path.parent.resolve()
        file = (folder / name).resolve()
        inside, found = file.is_relative_to(folder), file.is_file()
    except (OSError, RuntimeError, ValueError):
        inside, found = True, False
    if not inside:
        buffer.fail(f"has the uri {name[:60]!r}, which leads out of the folder of the glTF file.")
    if not found:
        buffer.fail(f"has the uri {name[:60]!r}, and there is no such file.")
    return file
