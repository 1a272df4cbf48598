"""glTF 2.0 files: skeletons and animations, as .gltf with its buffers inside or beside it, and as .glb.

Skins say which nodes are joints; without skins all nodes make the figure. The up axis is y and lengths are metres,
unless `scale` says how many metres one of the file's units is. Meshes, cameras and morph targets are not read.
"""

from __future__ import annotations

import math
from pathlib import Path

from poise.errors import FormatError
from poise.figure.model.figure import Figure
from poise.formats.gltf.animation import read_animations
from poise.formats.gltf.buffers import Buffers
from poise.formats.gltf.container import unpacked
from poise.formats.gltf.json_objects import LARGEST_NUMBER
from poise.formats.gltf.motion import GltfDocument, GltfMotion
from poise.formats.gltf.nodes import read_nodes, read_skinned
from poise.formats.text.files import read_bytes
from poise.motion.clip.clip import Clip

__all__ = ["GltfDocument", "GltfMotion", "parse_gltf", "read_gltf_clips", "read_gltf_figure"]


def parse_gltf(data: bytes, path: Path | str | None = None) -> GltfDocument:
    """The nodes, skins and animations in the bytes of a .gltf or .glb file.

    Args:
        data: All bytes of the file.
        path: The file, to name it in errors and to find buffers beside it; without one only buffers inside are read.
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
    """The animations of a glTF file by name, all of one figure; empty when nothing moves.

    Args:
        path: The file.
        rate: Frames per second; by default that of the file's keys where they are evenly spaced, and else 60.
        scale: Metres per unit of length of the file.
    """
    if rate is not None and not (math.isfinite(rate) and rate > 0.0):
        raise FormatError(f"the rate must be a positive number of frames per second, not {rate}.", path)
    return _read(path, scale).clips(rate)


def _read(path: Path | str, scale: float) -> GltfMotion:
    if not (math.isfinite(scale) and 0.0 < scale < LARGEST_NUMBER):
        raise FormatError(f"scale must be a positive number of metres per unit, not {scale}.", path)
    return GltfMotion(parse_gltf(read_bytes(path), path), Path(path).stem, scale)
