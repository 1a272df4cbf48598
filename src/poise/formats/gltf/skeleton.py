"""Which nodes of a glTF file make a figure, and how each of them moves.

The skeleton is every joint of a skin with all that hangs from it; without skins it is every node. Nodes above it that
no animation moves only place it in the world. Skinned and rotating nodes are ball joints, those whose translation is
animated are free, as is the root, and the others are fixed. At rest every joint value is the identity: a joint's frame
is the node's rest frame, and its value what the animation adds to that.
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

_SAME = 1e-6
"""Change of a translation, as a share of the largest in the file, that is rounding and not motion."""
_UNIFORM = 1e-5
"""Relative difference between the factors of a uniform scale."""


@dataclass
class Bone:
    """A node of the skeleton."""

    node: int
    name: str
    parent: int | None
    """Node it hangs from; None for a root."""
    kind: Kind
    frame: Pose
    """Its rest frame in its parent's, or in the world."""
    scale: float
    """Metres per unit of its translation."""


class Skeleton:
    """The bones of a document, parents first."""

    def __init__(self, nodes: list[GltfNode], skinned: set[int], animations: list[GltfAnimation]) -> None:
        """Choose the nodes of the skeleton and how each moves."""
        self._nodes, self._skinned = nodes, skinned
        self._largest = max((float(np.abs(node.translation).max()) for node in nodes), default=0.0)
        channels = [channel for animation in animations for channel in animation.channels]
        self._rotating = {channel.node for channel in channels if channel.target == "rotation"}
        self._sliding = {channel.node for channel in channels if self._slides(channel)}
        self._order = parents_first(nodes)
        self._above = self._bearers()
        self._chosen = self._choose()

    def _slides(self, channel: GltfChannel) -> bool:
        """Whether a channel moves its node from its place at rest; many files have channels that hold it there."""
        if channel.target != "translation":
            return False
        limit = _SAME * self._largest
        moved = np.abs(channel.values - self._nodes[channel.node].translation).max()
        return bool(moved > limit or np.abs(channel.slopes).max(initial=0.0) > limit)

    def _bearers(self) -> set[int]:
        """Nodes with a skinned node at or below them; all nodes where nothing is skinned."""
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
        """The skeleton with lengths in metres, where `scale` is metres per unit of length of the file.

        A uniform scale of a node makes all below it longer or shorter. Any other scale would bend it, and is refused.
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
            factors[i] = factors[node.parent] * self._factor(i)
        return bones

    def _factor(self, i: int) -> float:
        """The uniform scale of a node; 1 where no bones hang from it to show it."""
        node = self._nodes[i]
        if node.sheared:
            raise FormatError(f"nodes[{i}] has a matrix that shears, which no joint does.")
        if not self.bears(i):
            return 1.0
        size = float(node.scale.mean())
        if node.scale.min() <= 0.0 or np.ptp(node.scale) > _UNIFORM * size:
            raise FormatError(
                f"nodes[{i}] has the scale {node.scale.tolist()}; bones keep their shape, so the scale of a node they "
                "hang from must be positive and the same along all axes."
            )
        return size

    def bears(self, i: int) -> bool:
        """Whether bones hang from a node."""
        return any(child in self._chosen or child in self._above for child in self._nodes[i].children)

    def same_scale(self, channel: GltfChannel) -> bool:
        """Whether a scale channel leaves its node at its rest scale."""
        rest: FloatArray = self._nodes[channel.node].scale
        limit = _UNIFORM * float(np.abs(rest).max())
        return bool(np.abs(channel.values - rest).max() <= limit and np.abs(channel.slopes).max(initial=0.0) <= limit)
