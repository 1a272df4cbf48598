"""Reads and samples the animations of a glTF file: keyframes of translations, rotations and scales."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation, Slerp

from poise.figure.model.pose import FloatArray
from poise.formats.gltf.buffers import Buffers
from poise.formats.gltf.json_objects import Fields
from poise.formats.text.numbers import LARGEST_NUMBER

_TARGET_WIDTHS = {"translation": 3, "rotation": 4, "scale": 3}
_INTERPOLATIONS = ("LINEAR", "STEP", "CUBICSPLINE")
_KEY_TIME_TOLERANCE = 1e-6
"""Relative error of a key's time: times in the file are 32-bit floats."""


@dataclass
class GltfChannel:
    """The keyframes of one property of one node."""

    node: int
    target: str
    """'translation', 'rotation' or 'scale'."""
    interpolation: str
    times: FloatArray
    """(keys,) increasing times [s]."""
    values: FloatArray
    """(keys, 3 or 4) vectors, or quaternions w first."""
    slopes: FloatArray
    """(keys, 2, 3 or 4) in- and out-tangents of a cubic spline [1/s]; (keys, 0, …) for other interpolations."""


@dataclass
class GltfAnimation:
    """One animation."""

    name: str
    """Name in the file; may be empty, and need not be unique."""
    channels: list[GltfChannel]


def read_animations(top: Fields, buffers: Buffers, nodes: int) -> list[GltfAnimation]:
    """All animations of the file; channels of morph weights are left out."""
    return [GltfAnimation(part.text("name", ""), _channels(part, buffers, nodes)) for part in top.parts("animations")]


def _channels(animation: Fields, buffers: Buffers, nodes: int) -> list[GltfChannel]:
    samplers = animation.parts("samplers")
    channels: dict[tuple[int, str], GltfChannel] = {}
    for part in animation.parts("channels"):
        sampler = samplers[part.index("sampler", len(samplers))]
        target = part.part("target")
        kind = target.text("path", "")
        if "node" not in target or kind in {"weights", "pointer"}:
            continue
        node = target.index("node", nodes)
        if kind not in _TARGET_WIDTHS:
            target.fail(f"has the unknown path {kind[:20]!r}. Paths: {', '.join(_TARGET_WIDTHS)}, weights.")
        if (node, kind) in channels:
            target.fail(f"is the {kind} of nodes[{node}], which another channel animates already.")
        channels[node, kind] = _channel(sampler, buffers, node, kind)
    return list(channels.values())


def _channel(sampler: Fields, buffers: Buffers, node: int, kind: str) -> GltfChannel:
    interpolation = sampler.text("interpolation", "LINEAR")
    if interpolation not in _INTERPOLATIONS:
        sampler.fail(
            f"has the unknown interpolation {interpolation[:20]!r}. Interpolations: {', '.join(_INTERPOLATIONS)}."
        )
    times = buffers.numbers(sampler.index("input", buffers.count()), 1)[:, 0]
    if not (np.abs(times) <= LARGEST_NUMBER).all() or times[0] < 0.0 or (np.diff(times) <= 0.0).any():
        sampler.fail("has times that are not increasing numbers from 0 up.")
    output = buffers.numbers(
        sampler.index("output", buffers.count()), _TARGET_WIDTHS[kind], normalised=kind == "rotation"
    )
    if not (np.abs(output) <= LARGEST_NUMBER).all():
        sampler.fail("has values that are not finite numbers.")
    rows = 3 if interpolation == "CUBICSPLINE" else 1
    if len(output) != rows * len(times):
        sampler.fail(f"has {len(output)} values for {len(times)} times; {interpolation} needs {rows * len(times)}.")
    keys = output.reshape(len(times), rows, -1)
    if kind == "rotation":
        keys = np.roll(keys, 1, axis=2)
    values = keys[:, rows // 2]
    if kind == "rotation" and np.linalg.norm(values, axis=1).min() < 1e-9:
        sampler.fail("has a zero quaternion among its rotations.")
    return GltfChannel(node, kind, interpolation, times, values, keys[:, ::2] if rows == 3 else keys[:, :0])


def sampled(channel: GltfChannel, times: FloatArray) -> FloatArray:
    """(k, 3 or 4) values of a channel at `times` (k,) [s]; before the first and after the last key it is constant."""
    keys = channel.times
    if len(keys) == 1:
        return np.repeat(channel.values, len(times), axis=0)
    if channel.interpolation == "STEP":
        last = np.searchsorted(keys * (1.0 - _KEY_TIME_TOLERANCE), times, side="right") - 1
        return channel.values[np.maximum(last, 0)]
    within = np.clip(times, keys[0], keys[-1])
    if channel.interpolation == "CUBICSPLINE":
        return _spline(channel, within)
    if channel.target == "rotation":
        turns = Rotation.from_quat(channel.values, scalar_first=True)
        return Slerp(keys, turns)(within).as_quat(scalar_first=True)
    return np.stack([np.interp(within, keys, column) for column in channel.values.T], axis=1)


def _spline(channel: GltfChannel, times: FloatArray) -> FloatArray:
    """(k, 3 or 4) values of the cubic Hermite spline through the keys [glTF 2.0, appendix C.5].

    With h the interval between two keys and u the elapsed share of it, p = (2u³ − 3u² + 1) v₀ + h (u³ − 2u² + u) b₀
    + (3u² − 2u³) v₁ + h (u³ − u²) a₁, where b₀ is the out-tangent of the first key and a₁ the in-tangent of the second.
    """
    keys, values = channel.times, channel.values
    i = np.clip(np.searchsorted(keys, times, side="right") - 1, 0, len(keys) - 2)
    h = (keys[i + 1] - keys[i])[:, None]
    u = (times - keys[i])[:, None] / h
    start, leaving = (2.0 * u**3 - 3.0 * u**2 + 1.0) * values[i], h * (u**3 - 2.0 * u**2 + u) * channel.slopes[i, 1]
    end, arriving = (3.0 * u**2 - 2.0 * u**3) * values[i + 1], h * (u**3 - u**2) * channel.slopes[i + 1, 0]
    curve: FloatArray = start + leaving + end + arriving
    if channel.target == "rotation":
        # Where the curve passes through zero there is no rotation; the last key is the nearest one.
        curve = np.where(np.linalg.norm(curve, axis=1, keepdims=True) > 1e-9, curve, values[i])
    return curve
