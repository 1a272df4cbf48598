"""Reading and writing the containers of motions for trainers: pickles, NPZ archives and tables without a header.

Pickles are written so that NumPy 1 and 2 read them: an array is stored as a call of `numpy.ndarray`, which both have,
and not as NumPy stores it, whose modules have moved.
"""

from __future__ import annotations

import io
import pickle
from pathlib import Path
from typing import Any

import numpy as np

from poise.errors import FormatError
from poise.figure.model.pose import FloatArray
from poise.formats.text.data_pickle import dictionary, refuse_unless_data
from poise.formats.text.files import read_bytes, write_atomically


class _PortablePickler(pickle.Pickler):
    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, np.ndarray):
            whole = np.ascontiguousarray(value)
            return np.ndarray, (whole.shape, whole.dtype.str, bytearray(whole.tobytes()))
        return NotImplemented


class _CautiousUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        refuse_unless_data(module, name)
        return super().find_class(module, name)


def write_pickle(content: dict[str, Any], path: str | Path) -> None:
    """Write a dictionary of numbers, texts, lists and arrays."""
    packed = io.BytesIO()
    _PortablePickler(packed, protocol=4).dump(content)
    write_atomically(path, packed.getvalue())


def read_pickle(path: str | Path) -> dict[str, Any]:
    """Read such a dictionary; any other pickle is refused."""
    return dictionary(path, lambda: _CautiousUnpickler(io.BytesIO(read_bytes(path))).load())


def write_npz(content: dict[str, Any], path: str | Path) -> None:
    """Write arrays by name."""
    packed = io.BytesIO()
    np.savez(packed, **{key: np.asarray(value) for key, value in content.items()})  # type: ignore[arg-type]
    write_atomically(path, packed.getvalue())


def write_rows(rows: FloatArray, path: str | Path) -> None:
    """Write a table (frames, columns) without a header, with commas, to 17 digits."""
    text = io.StringIO()
    np.savetxt(text, rows, delimiter=",", fmt="%.17g")
    write_atomically(path, text.getvalue().encode("ascii"))


def read_rows(path: str | Path) -> FloatArray:
    """Read a table of numbers (frames, columns) without a header."""
    rows: list[list[float]] = []
    for number, line in enumerate(read_bytes(path).decode("utf-8", "replace").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            rows.append([float(word) for word in line.split(",")])
        except ValueError:
            raise FormatError("has a value that is not a number; this table has no header.", path, number) from None
        if len(rows[-1]) != len(rows[0]):
            raise FormatError(f"has {len(rows[-1])} columns, and the first line {len(rows[0])}.", path, number)
    if not rows:
        raise FormatError("has no rows.", path)
    return np.array(rows)
