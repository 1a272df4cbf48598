"""Chooses the nodes of a glTF file that form the figure, and the kind of each joint.

The skeleton consists of the joints of all skins and the nodes below them; without skins, of all nodes. Nodes above it
that no animation moves only place it in the world. Skinned and rotating nodes are ball joints; the root and nodes with
animated translation are free joints; the others are fixed. At rest every joint value is the identity: a joint's frame
is the node's rest frame, and its value is the motion relative to that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.errors import FormatError
from poise.figure.model.joints import Kind
from poise.figure.model.pose import FloatArray, Pose
from poise.formats.gltf.animation import GltfAnimation, GltfChannel
from poise.formats.gltf.nodes import GltfNode, parents_first
from poise.formats.text.naming import Names

_TRANSLATION_TOLERANCE = 1e-6
"""Greatest change of a translation, as a share of the largest in the file, that counts as rounding."""
_SCALE_TOLERANCE = 1e-5
"""Greatest relative difference between the three factors of a uniform scale."""


@dataclass
class Bone:
    """A node of the skeleton."""

    node: int
    name: str
    parent: int | None
    """Index of the parent node; None for a root."""
    kind: Kind
    frame: Pose
    """Rest frame in the parent's frame; in the world for a root."""
    scale: float
    """Metres per unit of the node's translation."""


class Skeleton:
    """The bones of a document, parents first."""

    def __init__(self, nodes: list[GltfNode], skinned: set[int], animations: list[GltfAnimation]) -> None:
        """Choose the nodes of the skeleton."""
        self._nodes, self._skinned = nodes, skinned
        self._largest = max((float(np.abs(node.translation).max()) for node in nodes), default=0.0)
        channels = [channel for animation in animations for channel in animation.channels]
        self._rotating = {channel.node for channel in channels if channel.target == "rotation"}
        self._sliding = {channel.node for channel in channels if self._is_moving(channel)}
        self._order = parents_first(nodes)
        self._above = self._above_joints()
        self._chosen = self._choose()

    def _is_moving(self, channel: GltfChannel) -> bool:
        """Whether a channel moves its node from its rest translation; many files have constant channels."""
        if channel.target != "translation":
            return False
        limit = _TRANSLATION_TOLERANCE * self._largest
        moved = np.abs(channel.values - self._nodes[channel.node].translation).max()
        return bool(moved > limit or np.abs(channel.slopes).max(initial=0.0) > limit)

    def _above_joints(self) -> set[int]:
        """Nodes that are skinned or have a skinned node below them; all nodes if none is skinned."""
        if not self._skinned:
            return set(self._order)
        bearers = set(self._skinned)
        for i in reversed(self._order):
            parent = self._nodes[i].parent
            if i in bearers and parent is not None:
                bearers.add(parent)
        return bearers

    def _choose(self) -> set[int]:
        if not self._skinned:
            return set(self._order)
        below_joint: set[int] = set()
        chosen: set[int] = set()
        for i in self._order:
            parent = self._nodes[i].parent
            if i in self._skinned or parent in below_joint:
                below_joint.add(i)
            moves = i in self._rotating or i in self._sliding
            if i in below_joint or (i in self._above and (moves or parent in chosen)):
                chosen.add(i)
        return chosen

    def _kind(self, i: int) -> Kind:
        still = not self._skinned and not self._rotating and not self._sliding
        if self._nodes[i].parent not in self._chosen or i in self._sliding:
            return "free"
        return "ball" if i in self._skinned or i in self._rotating or still else "fixed"

    def bones(self, scale: float) -> list[Bone]:
        """The bones in metres; `scale` is metres per unit of length of the file.

        A uniform scale of a node scales the bones below it. A non-uniform scale would deform them and is refused.
        """
        names = Names(node.name for node in self._nodes if node.name)
        used: set[str] = set()
        places: dict[int | None, Pose] = {None: Pose()}
        factors: dict[int | None, float] = {None: scale}
        bones: list[Bone] = []
        for i in self._order:
            if i not in self._chosen and i not in self._above:
                continue
            node = self._nodes[i]
            frame = Pose(node.translation * factors[node.parent], node.rotation)
            if node.parent not in self._chosen:
                frame = places[node.parent] @ frame
            if i in self._chosen:
                name = node.name if node.name and node.name not in used else names.take(node.name or f"node_{i}")
                used.add(name)
                parent = node.parent if node.parent in self._chosen else None
                bones.append(Bone(i, name, parent, self._kind(i), frame, factors[node.parent]))
            places[i] = frame
            factors[i] = factors[node.parent] * self._uniform_scale(i)
        return bones

    def _uniform_scale(self, i: int) -> float:
        """The uniform scale of a node; 1 if it has no bones below it."""
        node = self._nodes[i]
        if node.sheared:
            raise FormatError(f"nodes[{i}] has a matrix with shear, which a joint cannot have.")
        if not self.has_bones_below(i):
            return 1.0
        size = float(node.scale.mean())
        if node.scale.min() <= 0.0 or np.ptp(node.scale) > _SCALE_TOLERANCE * size:
            raise FormatError(
                f"nodes[{i}] has the scale {node.scale.tolist()}; a node with bones below it must have a positive "
                "scale that is the same along all axes."
            )
        return size

    def has_bones_below(self, i: int) -> bool:
        """Whether a node has bones below it."""
        return any(child in self._chosen or child in self._above for child in self._nodes[i].children)

    def same_scale(self, channel: GltfChannel) -> bool:
        """Whether a scale channel keeps its node at its rest scale."""
        rest: FloatArray = self._nodes[channel.node].scale
        limit = _SCALE_TOLERANCE * float(np.abs(rest).max())
        return bool(np.abs(channel.values - rest).max() <= limit and np.abs(channel.slopes).max(initial=0.0) <= limit)
