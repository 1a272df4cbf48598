"""Turns a glTF document into a figure, and its animations into clips of that figure."""

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
from poise.motion.clip.clip import MOST_JOINT_VALUES, Clip

DEFAULT_GLTF_RATE = 60.0
"""Frames per second of a clip whose keys are not evenly spaced."""
_FRAME_TOLERANCE = 1e-3
"""Greatest deviation of evenly spaced keys from their rate, as a share of a frame."""


@dataclass
class GltfDocument:
    """Nodes, skins and animations of a glTF file."""

    nodes: list[GltfNode]
    skinned: set[int]
    """Nodes that are joints of a skin."""
    animations: list[GltfAnimation]
    path: Path | None = None


class GltfMotion:
    """The figure of a document, and its animations as clips."""

    def __init__(self, document: GltfDocument, name: str, scale: float = 1.0) -> None:
        """Build the figure; `scale` is metres per unit of length of the file."""
        self._document = document
        if not document.nodes:
            raise FormatError("has no nodes, and so no skeleton.", document.path)
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
        left = MOST_JOINT_VALUES
        bones = {bone.node for bone in self._bones}
        for i, animation in enumerate(self._document.animations):
            name = names.take(animation.name or f"animation_{i}")
            moving = [c for c in animation.channels if c.node in bones and c.target != "scale"]
            if moving:
                self._refuse_stretching(animation, name)
                clips[name] = self._clip(name, moving, rate or key_rate(moving) or DEFAULT_GLTF_RATE, left)
                left -= clips[name].q.size
        return clips

    def _clip(self, name: str, channels: Sequence[GltfChannel], rate: float, left: int) -> Clip:
        duration = max(float(channel.times[-1]) for channel in channels)
        if duration * rate * max(self.figure.nq, 1) > left:
            raise FormatError(
                f"animation {name!r} lasts {duration:g} s, which is too long at {rate:g} frames per second; give a "
                "lower rate.",
                self._document.path,
            )
        times = np.arange(math.floor(duration * rate + _FRAME_TOLERANCE) + 1) / rate
        by_target = {(channel.node, channel.target): sampled(channel, times) for channel in channels}
        blocks = [self._values(bone, by_target, len(times)) for bone in self._bones]
        try:
            return Clip(self.figure, np.concatenate(blocks, axis=1), rate, name)
        except PoiseError as problem:
            raise FormatError(f"animation {name!r}: {problem}", self._document.path) from None

    def _values(self, bone: Bone, by_target: dict[tuple[int, str], FloatArray], count: int) -> FloatArray:
        """(frames, nq of the joint) joint values relative to the rest frame (t₀, R₀): R₀⁻¹ (t − t₀) and R₀⁻¹ R."""
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
            scales = channel.target == "scale" and self._skeleton.has_bones_below(channel.node)
            if scales and not self._skeleton.same_scale(channel):
                reason = (
                    f"animation {name!r} scales nodes[{channel.node}], but the bones of a figure have fixed lengths."
                )
                raise FormatError(reason, self._document.path)


def key_rate(channels: Sequence[GltfChannel]) -> float | None:
    """Frames per second of evenly spaced, linearly interpolated keys, which a clip reproduces exactly; else None."""
    if any(channel.interpolation != "LINEAR" for channel in channels):
        return None
    keys = np.unique(np.concatenate([channel.times for channel in channels]))
    if len(keys) < 2:
        return None
    step = float(keys[-1] - keys[0]) / (len(keys) - 1)
    beats = keys / step
    if np.abs(beats - np.round(beats[0]) - np.arange(len(keys))).max() > _FRAME_TOLERANCE:
        return None
    rate = 1.0 / step
    return float(round(rate)) if abs(rate - round(rate)) < 1e-6 * rate else rate
