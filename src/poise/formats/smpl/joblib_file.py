"""Reads a dictionary of arrays that joblib saved, without joblib.

Such a file is a pickle in which every array is an object that states shape, order and type; the numbers follow that
object in the file itself. Newer versions of joblib put a byte before them that says how many bytes to skip, so that the
numbers are aligned.
"""

from __future__ import annotations

import io
import math
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from poise.formats.text.data_pickle import dictionary, refuse_unless_data
from poise.formats.text.files import read_bytes


class _ArrayHeader:
    """What precedes the numbers of an array."""

    shape: tuple[int, ...] = ()
    order: str = "C"
    dtype: np.dtype[Any]
    numpy_array_alignment_bytes: int | None = None


class _ArrayUnpickler(pickle._Unpickler):
    """The unpickler in Python, which reads no further than it must: the numbers of an array follow its header."""

    def __init__(self, stream: io.BytesIO) -> None:
        super().__init__(stream)
        self._stream = stream

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("joblib.numpy_pickle", "NumpyArrayWrapper"):
            return _ArrayHeader
        refuse_unless_data(module, name)
        return super().find_class(module, name)

    def load_build(self) -> None:
        super().load_build()  # type: ignore[misc]
        if isinstance(self.stack[-1], _ArrayHeader):  # type: ignore[attr-defined]
            self.stack[-1] = _numbers(self.stack[-1], self._stream)  # type: ignore[attr-defined]

    dispatch: ClassVar[dict[int, Callable[[Any], None]]] = {**pickle._Unpickler.dispatch, pickle.BUILD[0]: load_build}


def _numbers(header: _ArrayHeader, stream: io.BytesIO) -> NDArray[np.generic]:
    """The array whose numbers begin here."""
    if header.dtype.hasobject:
        raise pickle.UnpicklingError("it has an array of Python objects")
    if header.numpy_array_alignment_bytes is not None:
        stream.read(stream.read(1)[0])
    flat = np.frombuffer(stream.read(math.prod(header.shape) * header.dtype.itemsize), header.dtype)
    return flat.reshape(header.shape, order="F" if header.order == "F" else "C").copy()


def read_joblib(path: Path) -> dict[Any, Any]:
    """The dictionary in a file that joblib saved without compression, or that is a plain pickle."""
    return dictionary(path, lambda: _ArrayUnpickler(io.BytesIO(read_bytes(path))).load())
