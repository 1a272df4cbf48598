"""The files of machine code: what is in them, and how they are written."""

from __future__ import annotations

import uuid
import zlib
from pathlib import Path

WORD = 4
"""Bytes of a checksum and of a length."""


def pack(code: bytes, bitcode: bytes) -> bytes:
    """The content of a file: a checksum, the length of the machine code, the machine code, and its LLVM bitcode."""
    content = len(code).to_bytes(WORD) + code + bitcode
    return zlib.crc32(content).to_bytes(WORD) + content


def unpack(content: bytes) -> tuple[bytes, bytes]:
    """The machine code and the bitcode in the content of a file; both are empty if the file is damaged."""
    if zlib.crc32(memoryview(content)[WORD:]).to_bytes(WORD) != content[:WORD]:
        return b"", b""
    end = 2 * WORD + int.from_bytes(content[WORD : 2 * WORD])
    return content[2 * WORD : end], content[end:]


def write_file(path: Path, content: bytes) -> None:
    """Write a file so that other processes, and an interruption at any moment, see all of it or none."""
    new = path.with_name(f"{path.stem}-{uuid.uuid4().hex}.new")
    try:
        new.write_bytes(content)
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
