"""Reads skeletons and animations from glTF 2.0 files: .gltf with embedded or separate buffers, and .glb.

Skins define which nodes are joints; without skins all nodes belong to the figure. The up axis is y. Lengths are metres
unless `scale` gives another number of metres per unit. Meshes, cameras and morph targets are not read.

A GLB file has a header of three little-endian words (the magic `glTF`, the version and the length of the file) and then
chunks, each a length, a type and that many bytes [glTF 2.0, section 4].
"""

from __future__ import annotations

import json
import math
import struct
from pathlib import Path
from typing import NoReturn

from poise.errors import FormatError
from poise.figure.model.figure import Figure
from poise.formats.gltf.animation import read_animations
from poise.formats.gltf.buffers import Buffers
from poise.formats.gltf.json_objects import Fields
from poise.formats.gltf.motion import GltfDocument, GltfMotion
from poise.formats.gltf.nodes import read_nodes, read_skinned
from poise.formats.text.files import read_bytes
from poise.formats.text.numbers import LARGEST_NUMBER
from poise.motion.clip.clip import Clip

__all__ = ["GltfDocument", "GltfMotion", "parse_gltf", "read_gltf_clips", "read_gltf_figure"]
_MAGIC, _JSON, _BINARY = b"glTF", 0x4E4F534A, 0x004E4942


def parse_gltf(data: bytes, path: Path | str | None = None) -> GltfDocument:
    """Parse the nodes, skins and animations of a .gltf or .glb file.

    Args:
        data: All bytes of the file.
        path: The file, for error messages and to find separate buffers; without it only embedded buffers are read.
    """
    file = Path(path) if path is not None else None
    top, binary = unpacked(data, file)
    nodes = read_nodes(top)
    animations = read_animations(top, Buffers(top, binary), len(nodes))
    return GltfDocument(nodes, read_skinned(top, len(nodes)), animations, file)


def read_gltf_figure(path: Path | str, *, scale: float = 1.0) -> Figure:
    """The skeleton of a glTF file at rest, named after the file.

    Args:
        path: The file.
        scale: Metres per unit of length of the file.
    """
    return _read(path, scale).figure


def read_gltf_clips(path: Path | str, *, rate: float | None = None, scale: float = 1.0) -> dict[str, Clip]:
    """The animations of a glTF file as clips of one figure, by name; empty if no animation moves the figure.

    Args:
        path: The file.
        rate: Frames per second; by default the rate of the file's keys if they are evenly spaced, else 60.
        scale: Metres per unit of length of the file.
    """
    if rate is not None and not (math.isfinite(rate) and rate > 0.0):
        raise FormatError(f"the rate must be a positive number of frames per second, not {rate}.", path)
    return _read(path, scale).clips(rate)


def _read(path: Path | str, scale: float) -> GltfMotion:
    if not (math.isfinite(scale) and 0.0 < scale < LARGEST_NUMBER):
        raise FormatError(f"scale must be a positive number of metres per unit, not {scale}.", path)
    return GltfMotion(parse_gltf(read_bytes(path), path), Path(path).stem, scale)


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
