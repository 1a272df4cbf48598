"""Reads the two containers of glTF: JSON text, and GLB, which has a JSON chunk and a binary chunk.

A GLB file has a header of three little-endian words (the magic `glTF`, the version and the length of the file) and then
chunks, each a length, a type and that many bytes [glTF 2.0, section 4].
"""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import NoReturn

from poise.errors import FormatError
from poise.formats.gltf.json_objects import Fields

_MAGIC, _JSON, _BINARY = b"glTF", 0x4E4F534A, 0x004E4942


def unpacked(data: bytes, path: Path | None) -> tuple[Fields, bytes | None]:
    """The top object of a glTF file, and its binary chunk if it has one."""
    text, binary = _chunks(data, path) if data[:4] == _MAGIC else (data, None)
    top = Fields(_json(text, path), "", path)
    version = top.part("asset").text("version", "")
    if not version.startswith("2."):
        raise FormatError(f"is glTF version {version[:20]!r}; only version 2.0 can be read.", path)
    return top, binary


def _chunks(data: bytes, path: Path | None) -> tuple[bytes, bytes | None]:
    if len(data) < 20:
        raise FormatError("is too short for a GLB file.", path)
    version, length = struct.unpack_from("<II", data, 4)
    if version != 2:
        raise FormatError(f"is GLB version {version}; only version 2 can be read.", path)
    if length != len(data):
        raise FormatError(f"has {len(data)} bytes, and its header announces {length}.", path)
    found: list[tuple[int, bytes]] = []
    start = 12
    while start < len(data):
        if start + 8 > len(data):
            raise FormatError(f"{len(data) - start} bytes at the end of the file belong to no chunk.", path)
        size, kind = struct.unpack_from("<II", data, start)
        if start + 8 + size > len(data):
            raise FormatError(f"ends before the chunk at byte {start}, which has {size} bytes.", path)
        found.append((kind, data[start + 8 : start + 8 + size]))
        start += 8 + size
    if found[0][0] != _JSON:
        raise FormatError("the first chunk of a GLB file must hold its JSON.", path)
    binary = found[1][1] if len(found) > 1 and found[1][0] == _BINARY else None
    return found[0][1], binary


def _json(text: bytes, path: Path | None) -> object:
    def refuse(word: str) -> NoReturn:
        raise FormatError(f"has {word} in its JSON, which is not a finite number.", path)

    try:
        return json.loads(text.decode("utf-8-sig"), parse_constant=refuse)
    except json.JSONDecodeError as problem:
        raise FormatError(f"is not a glTF file: its JSON is broken ({problem.msg}).", path, problem.lineno) from None
    except UnicodeDecodeError:
        raise FormatError("is not a glTF file: its JSON is not UTF-8 text.", path) from None
    except RecursionError:
        raise FormatError("nests JSON objects too deeply.", path) from None
    except FormatError:
        raise
    except ValueError:
        raise FormatError("has a number with too many digits in its JSON.", path) from None
