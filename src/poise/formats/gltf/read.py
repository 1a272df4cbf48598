"""Reads skeletons and animations from glTF 2.0 files: .gltf with embedded or separate buffers, and .glb.

Skins define which nodes are joints; without skins all nodes belong to the figure. The up axis is y. Lengths are metres
unless `scale` gives another number of metres per unit. Meshes, cameras and morph targets are not read.
"""

from __future__ import annotations

import math
from pathlib import Path

from poise.errors import FormatError
from poise.figure.model.figure import Figure
from poise.formats.gltf.animation import read_animations
from poise.formats.gltf.buffers import Buffers
from poise.formats.gltf.container import unpacked
from poise.formats.gltf.motion import GltfDocument, GltfMotion
from poise.formats.gltf.nodes import read_nodes, read_skinned
from poise.formats.text.files import read_bytes
from poise.formats.text.numbers import LARGEST_NUMBER
from poise.motion.clip.clip import Clip

__all__ = ["GltfDocument", "GltfMotion", "parse_gltf", "read_gltf_clips", "read_gltf_figure"]


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
