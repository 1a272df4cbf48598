"""Reads the arrays of a file that PyTorch saved, without PyTorch.

Such a file is a ZIP archive: `NAME/data.pkl` is a pickle in which every tensor is a call with its storage, offset,
shape and strides, and `NAME/data/KEY` has the bytes of a storage. The unpickler builds dictionaries, lists, numbers,
texts and arrays only; a pickle that asks for anything else is refused, since it could run any program.
"""

from __future__ import annotations

import io
import pickle
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from poise.errors import FormatError
from poise.formats.text.data_pickle import dictionary

MOST_BYTES = 2**30
"""Largest unpacked size of a file that is read [bytes]."""
_STORAGES = {
    "DoubleStorage": "<f8",
    "FloatStorage": "<f4",
    "HalfStorage": "<f2",
    "LongStorage": "<i8",
    "IntStorage": "<i4",
    "ShortStorage": "<i2",
    "CharStorage": "<i1",
    "ByteStorage": "<u1",
    "BoolStorage": "?",
}
"""Types of numbers, by the name of the storage."""


class _Storage(NamedTuple):
    """The type of a storage."""

    dtype: str


def read_torch(path: Path) -> dict[str, Any]:
    """The dictionary in a file that PyTorch saved, with arrays in place of tensors."""
    return dictionary(path, lambda: _contents(path))


def _contents(path: Path) -> object:
    with zipfile.ZipFile(path) as archive:
        if sum(entry.file_size for entry in archive.infolist()) > MOST_BYTES:
            raise FormatError(f"is larger than {MOST_BYTES // 2**20} MB.", path)
        name = next((n for n in archive.namelist() if n.endswith("/data.pkl")), None)
        if name is None:
            raise FormatError("is not a file of PyTorch: it has no data.pkl.", path)
        return _TensorUnpickler(archive, name.removesuffix("data.pkl")).load()


class _TensorUnpickler(pickle.Unpickler):
    def __init__(self, archive: zipfile.ZipFile, folder: str) -> None:
        super().__init__(io.BytesIO(archive.read(f"{folder}data.pkl")))
        self._archive, self._folder = archive, folder

    def find_class(self, module: str, name: str) -> Any:
        if module == "torch._utils" and name == "_rebuild_tensor_v2":
            return _tensor
        if module == "torch" and name in _STORAGES:
            return _Storage(_STORAGES[name])
        if (module, name) == ("collections", "OrderedDict"):
            return dict
        raise pickle.UnpicklingError(f"it asks for {module}.{name}")

    def persistent_load(self, pid: Any) -> NDArray[np.generic]:
        """The numbers of a storage."""
        _, storage, key, *_ = pid
        return np.frombuffer(self._archive.read(f"{self._folder}data/{key}"), dtype=storage.dtype)


def _tensor(
    storage: NDArray[np.generic], offset: int, shape: tuple[int, ...], strides: tuple[int, ...], *_: object
) -> NDArray[np.generic]:
    """A tensor, copied out of its storage."""
    reach = offset + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True)) if shape else offset
    if min((offset, *shape, *strides), default=0) < 0 or (0 not in shape and reach >= len(storage)):
        raise pickle.UnpicklingError("a tensor is larger than its storage")
    steps = tuple(stride * storage.itemsize for stride in strides)
    return np.lib.stride_tricks.as_strided(storage[offset:], shape, steps).copy()
