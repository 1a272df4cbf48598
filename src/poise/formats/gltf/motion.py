"""A glTF document as a figure, and its animations as clips of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from poise.errors import FormatError, PoiseError
from poise.figure.model.body import Body
from poise.figure.model.figure import Figure
from poise.figure.model.joints import Joint
from poise.figure.model.pose import FloatArray
from poise.formats.gltf.animation import GltfAnimation, GltfChannel, sampled
from poise.formats.gltf.nodes import GltfNode
from poise.formats.gltf.skeleton import Bone, Skeleton
from poise.formats.text.naming import Names
from poise.motion.clip.clip import Clip

USUAL_RATE = 60.0
"""Frames per second of a clip whose keys have no rate of their own."""
LARGEST_MOTION = 50_000_000
"""Joint values in all clips of a file, 400 MB of them, beyond which a lower rate must be asked for."""
_ON_BEAT = 1e-3
"""Share of a frame by which evenly spaced keys may be off."""


@dataclass
class GltfDocument:
    """What a glTF file says about things that move."""

    nodes: list[GltfNode]
    skinned: set[int]
    """Nodes that are joints of a skin."""
    animations: list[GltfAnimation]
    path: Path | None = None


class GltfMotion:
    """The figure of a document, and how its nodes' keys become joint values."""

    def __init__(self, document: GltfDocument, name: str, scale: float = 1.0) -> None:
        """Build the figure; `scale` is metres per unit of length of the file."""
        self._document = document
        if not document.nodes:
            raise FormatError("the file has no nodes, so no skeleton.", document.path)
        self._skeleton = Skeleton(document.nodes, document.skinned, document.animations)
        try:
            self._bones = self._skeleton.bones(scale)
            names = {bone.node: bone.name for bone in self._bones}
            joints = [
                Joint(
                    bone.name,
                    bone.kind,
                    None if bone.parent is None else names[bone.parent],
                    bone.name,
                    parent_frame=bone.frame,
                )
                for bone in self._bones
            ]
            self.figure = Figure(name, [Body(bone.name) for bone in self._bones], joints, up="y")
        except PoiseError as problem:
            raise FormatError(str(problem), document.path) from None

    def clips(self, rate: float | None = None) -> dict[str, Clip]:
        """A clip for every animation that moves the figure, by name."""
        names = Names()
        clips: dict[str, Clip] = {}
        left = LARGEST_MOTION
        bones = {bone.node for bone in self._bones}
        for i, animation in enumerate(self._document.animations):
            name = names.take(animation.name or f"animation_{i}")
            moving = [c for c in animation.channels if c.node in bones and c.target != "scale"]
            if moving:
                self._refuse_stretching(animation, name)
                clips[name] = self._clip(name, moving, rate or own_rate(moving) or USUAL_RATE, left)
                left -= clips[name].q.size
        return clips

    def _clip(self, name: str, channels: Sequence[GltfChannel], rate: float, left: int) -> Clip:
        duration = max(float(channel.times[-1]) for channel in channels)
        if duration * rate * max(self.figure.nq, 1) > left:
            raise FormatError(
                f"animation {name!r} lasts {duration:g} s, which is too much at {rate:g} frames per second; ask for a "
                "lower rate.",
                self._document.path,
            )
        times = np.arange(math.floor(duration * rate + _ON_BEAT) + 1) / rate
        by_target = {(channel.node, channel.target): sampled(channel, times) for channel in channels}
        blocks = [self._values(bone, by_target, len(times)) for bone in self._bones]
        try:
            return Clip(self.figure, np.concatenate(blocks, axis=1), rate, name)
        except PoiseError as problem:
            raise FormatError(f"animation {name!r}: {problem}", self._document.path) from None

    def _values(self, bone: Bone, by_target: dict[tuple[int, str], FloatArray], count: int) -> FloatArray:
        """(frames, nq of the joint) what the animation adds to the rest frame (t₀, R₀): R₀⁻¹ (t − t₀) and R₀⁻¹ R."""
        node = self._document.nodes[bone.node]
        back = Rotation.from_quat(node.rotation, scalar_first=True).inv()
        blocks = [np.empty((count, 0))]
        if bone.kind == "free":
            places = by_target.get((bone.node, "translation"), np.tile(node.translation, (count, 1)))
            blocks.append(back.apply((places - node.translation) * bone.scale))
        if bone.kind in {"ball", "free"}:
            turns = by_target.get((bone.node, "rotation"), np.tile(node.rotation, (count, 1)))
            blocks.append((back * Rotation.from_quat(turns, scalar_first=True)).as_quat(scalar_first=True))
        return np.concatenate(blocks, axis=1)

    def _refuse_stretching(self, animation: GltfAnimation, name: str) -> None:
        for channel in animation.channels:
            scales = channel.target == "scale" and self._skeleton.bears(channel.node)
            if scales and not self._skeleton.same_scale(channel):
                reason = (
                    f"animation {name!r} scales nodes[{channel.node}], and the bones of a figure keep their lengths."
                )
                raise FormatError(reason, self._document.path)


def own_rate(channels: Sequence[GltfChannel]) -> float | None:
    """Frames per second of evenly spaced keys, between which a clip interpolates as the file does; None for others."""
    if any(channel.interpolation != "LINEAR" for channel in channels):
        return None
    keys = np.unique(np.concatenate([channel.times for channel in channels]))
    if len(keys) < 2:
        return None
    step = float(keys[-1] - keys[0]) / (len(keys) - 1)
    beats = keys / step
    if np.abs(beats - np.round(beats[0]) - np.arange(len(keys))).max() > _ON_BEAT:
        return None
    rate = 1.0 / step
    return float(round(rate)) if abs(rate - round(rate)) < 1e-6 * rate else rate
