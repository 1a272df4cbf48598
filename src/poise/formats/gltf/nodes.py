"""Reads the nodes of a glTF file (a forest of frames with translation, rotation and scale) and its skins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.spatial.transform import Rotation

from poise.figure.model.pose import FloatArray
from poise.formats.gltf.json_objects import Fields

_SHEAR_TOLERANCE = 1e-4
"""Cosine between two axes of a matrix up to which they count as orthogonal."""


@dataclass
class GltfNode:
    """One node at rest, in its parent's frame."""

    name: str
    """Name in the file; may be empty, and need not be unique."""
    translation: FloatArray
    """(3,) [units of the file]"""
    rotation: FloatArray
    """(4,) unit quaternion w, x, y, z."""
    scale: FloatArray
    """(3,) factors along the node's axes."""
    children: list[int]
    """Indices of its child nodes."""
    parent: int | None = None
    """Index of its parent node; None for a root."""
    sheared: bool = field(default=False)
    """Whether the node's matrix also shears."""


def read_nodes(top: Fields) -> list[GltfNode]:
    """All nodes of the file, which must form a forest."""
    parts = top.parts("nodes")
    nodes = [_node(part, len(parts)) for part in parts]
    for i, node in enumerate(nodes):
        for child in node.children:
            if nodes[child].parent is not None:
                parts[child].fail(f"is a child of both nodes[{nodes[child].parent}] and nodes[{i}].")
            nodes[child].parent = i
    reached = parents_first(nodes)
    if len(reached) < len(nodes):
        lost = min(set(range(len(nodes))) - set(reached))
        parts[lost].fail("is its own ancestor.")
    return nodes


def parents_first(nodes: Sequence[GltfNode]) -> list[int]:
    """Indices of all nodes below a root in depth-first order, parents before their children."""
    order: list[int] = []
    waiting = [i for i in reversed(range(len(nodes))) if nodes[i].parent is None]
    while waiting:
        order.append(waiting.pop())
        waiting += reversed(nodes[order[-1]].children)
    return order


def read_skinned(top: Fields, count: int) -> set[int]:
    """Indices of the nodes that are joints of a skin."""
    skinned: set[int] = set()
    for skin in top.parts("skins"):
        joints = skin.indices("joints", count)
        if not joints or len(set(joints)) < len(joints):
            skin.fail("must list at least one joint, and each joint once.")
        skinned |= set(joints)
    return skinned


def _node(part: Fields, count: int) -> GltfNode:
    name, children = part.text("name", ""), part.indices("children", count)
    if "matrix" in part:
        if any(key in part for key in ("translation", "rotation", "scale")):
            part.fail("has both a 'matrix' and a translation, rotation or scale; give one or the other.")
        return _from_matrix(part, name, children)
    x, y, z, w = part.numbers("rotation", (0.0, 0.0, 0.0, 1.0))
    rotation = np.array([w, x, y, z])
    size = float(np.linalg.norm(rotation))
    if size < 1e-9:
        part.fail("has a zero quaternion as its 'rotation'; no rotation is [0, 0, 0, 1].")
    translation, scale = part.numbers("translation", (0.0,) * 3), part.numbers("scale", (1.0,) * 3)
    return GltfNode(name, np.array(translation), rotation / size, np.array(scale), children)


def _from_matrix(part: Fields, name: str, children: list[int]) -> GltfNode:
    """A node from its matrix M = T R S, which the file has in column-major order.

    A mirroring matrix becomes a negative scale along x, and a singular matrix gets no rotation. Skeletons refuse both
    later; other nodes may have them.
    """
    matrix = np.array(part.numbers("matrix", tuple(np.eye(4).ravel()))).reshape(4, 4).T
    if np.abs(matrix[3] - (0.0, 0.0, 0.0, 1.0)).max() > 1e-6:
        part.fail("has a 'matrix' whose last row is not 0 0 0 1.")
    axes = matrix[:3, :3]
    scale = np.linalg.norm(axes, axis=0)
    if scale.min() < 1e-12:
        return GltfNode(name, matrix[:3, 3], np.array([1.0, 0.0, 0.0, 0.0]), scale, children)
    if np.linalg.det(axes / scale) < 0.0:
        scale[0] = -scale[0]
    directions = axes / scale
    sheared = bool(np.abs(directions.T @ directions - np.eye(3)).max() > _SHEAR_TOLERANCE)
    rotation = (
        np.array([1.0, 0.0, 0.0, 0.0]) if sheared else Rotation.from_matrix(directions).as_quat(scalar_first=True)
    )
    return GltfNode(name, matrix[:3, 3], rotation, scale, children, sheared=sheared)
