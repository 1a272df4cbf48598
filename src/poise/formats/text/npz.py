"""Reads arrays from NPZ archives, with clear errors and bounds on memory."""

from __future__ import annotations

import io
import math
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from poise.errors import FormatError
from poise.formats.text.files import checked_file, read_bytes

LARGEST_UNPACKED = 1 << 28
"""Largest total size of the arrays of an NPZ file that is unpacked [bytes]."""
_DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    MemoryError,
    OSError,
    ValueError,
    NotImplementedError,
    RuntimeError,
)
"""What zip, zlib and numpy raise for archives that are damaged or hold Python objects."""


def npz_keys(path: str | Path) -> tuple[str, ...]:
    """Names of the arrays in an archive; none if it is no archive."""
    try:
        with zipfile.ZipFile(checked_file(path)) as archive:
            return tuple(name.removesuffix(".npy") for name in archive.namelist())
    except _DAMAGED:
        return ()


def read_npz(path: str | Path, keys: Iterable[str] | None = None) -> dict[str, NDArray[np.generic]]:
    """Read arrays by name; arrays of Python objects are refused.

    Args:
        path: The file.
        keys: The arrays to read, of which those that are not there are left out; all if None.
    """
    try:
        packed = io.BytesIO(read_bytes(path))
        with zipfile.ZipFile(packed) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > LARGEST_UNPACKED:
                raise FormatError(f"unpacks to more than {LARGEST_UNPACKED >> 20} MB, which is not read.", path)
            names = [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]
            wanted = [key for key in (names if keys is None else keys) if key in names]
            for key in wanted:
                _check_size(archive.getinfo(f"{key}.npy"), archive, path)
        packed.seek(0)
        with np.load(packed, allow_pickle=False) as arrays:
            return {key: arrays[key] for key in wanted}
    except _DAMAGED as problem:
        if isinstance(problem, FormatError):
            raise
        raise FormatError(f"is not an NPZ of plain arrays: {str(problem)[:120].rstrip('.')}.", path) from None


def _check_size(entry: zipfile.ZipInfo, archive: zipfile.ZipFile, path: Path | str) -> None:
    """Refuse an array whose header promises more than its entry holds, before memory for it is reserved."""
    with archive.open(entry) as stream:
        if np.lib.format.read_magic(stream) == (1, 0):
            shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
        else:
            shape, _, dtype = np.lib.format.read_array_header_2_0(stream)
    if math.prod(shape) * dtype.itemsize > entry.file_size:
        raise FormatError(f"says that {entry.filename} has the shape {shape}, and is too short for it.", path)
