"""Reads files with clear errors, and writes files atomically."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from pathlib import Path

from poise.errors import FormatError

MOST_FILE_BYTES = 512 * 1024 * 1024
"""Largest file that is read [bytes]."""
LFS_POINTER = b"version https://git-lfs.github.com/spec/"
"""How a file begins that Git LFS puts in the place of a large one until that is fetched."""


def checked_file(path: str | Path) -> Path:
    """`path`, if it is a regular file that is neither empty nor too large; otherwise raises a FormatError."""
    if not isinstance(path, str | os.PathLike):
        raise FormatError(f"the name of a file must be text or a path, not {path!r}.")
    file = Path(path)
    try:
        status = file.stat()
    except (OSError, ValueError) as problem:
        raise FormatError(_sentence(problem), file) from None
    if not stat.S_ISREG(status.st_mode):
        # Reading a pipe or a device may never end.
        raise FormatError(f"is a {'folder' if stat.S_ISDIR(status.st_mode) else 'device'}, not a file.", file)
    size = status.st_size
    if size == 0:
        raise FormatError("is empty.", file)
    if size > MOST_FILE_BYTES:
        raise FormatError(f"is {size / 2**20:.0f} MB; files over {MOST_FILE_BYTES // 2**20} MB are not read.", file)
    return file


def read_bytes(path: str | Path) -> bytes:
    """All bytes of a file that `checked_file` accepts."""
    data = read_head(path, MOST_FILE_BYTES + 1)
    if len(data) > MOST_FILE_BYTES:
        raise FormatError(f"has more than {MOST_FILE_BYTES // 2**20} MB, which is not read.", path)
    return data


def read_head(path: str | Path, count: int) -> bytes:
    """The first `count` bytes of a file that `checked_file` accepts."""
    file = checked_file(path)
    try:
        with file.open("rb") as stream:
            data = stream.read(count)
    except OSError as problem:
        raise FormatError(_sentence(problem), file) from None
    if not data:
        raise FormatError("is empty.", file)
    if data.startswith(LFS_POINTER):
        raise FormatError("is a pointer of Git LFS, not the file itself: git lfs pull fetches that.", file)
    return data


def write_atomically(path: str | Path, data: bytes) -> None:
    """Write a file atomically: other processes see the old content or the new one, never a part of it."""
    file = Path(os.path.realpath(path))
    beside = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    try:
        with beside.open("xb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        beside.replace(file)
    except OSError as problem:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise FormatError(f"cannot be written: {problem.strerror or problem}.", path) from None


def _sentence(problem: OSError | ValueError) -> str:
    if isinstance(problem, FileNotFoundError):
        return "does not exist."
    if isinstance(problem, PermissionError):
        return "cannot be read: permission denied."
    reason = problem.strerror if isinstance(problem, OSError) else str(problem)
    return f"cannot be read: {reason or problem}."
