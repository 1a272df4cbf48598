"""Writes clips as BVH.

At rest all BVH joints have the world's axes. With W the world rotation of a body in a frame and W₀ its rotation in the
neutral posture, its BVH joint has the world rotation D = W W₀⁻¹ and its channels hold D_parent⁻¹ D. The offsets are
those of the neutral posture. A BVH joint is at the centre of the figure's joint, which need not be the body's origin.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from poise.figure.model.figure import Figure
from poise.figure.model.joints import Joint
from poise.figure.model.pose import FloatArray, Pose, from_to
from poise.formats.bvh.hierarchy import CHANNELS
from poise.formats.text.files import write_atomically
from poise.formats.text.naming import Names
from poise.motion.clip.clip import Clip

_ROTATION_CHANNELS = ("Zrotation", "Yrotation", "Xrotation")
_POSITION_CHANNELS = CHANNELS[:3]
_UNWRITABLE = re.compile(r"[{}\s]+")
_DEEPEST_INDENT = 40
"""Largest number of tabs of indentation: the size of a deeper skeleton would grow with the square of its depth."""


@dataclass
class _Bone:
    """A body as a BVH joint, in axes where y is up."""

    body: str
    joint: Joint | None
    parent: int | None
    depth: int
    position: FloatArray
    """(1 + frames, 3) world position of the joint, first in the neutral posture [m]."""
    turned: Rotation
    """(frames,) rotation of the body from its neutral to its current orientation, in world axes."""
    neutral: Rotation
    """The world rotation of the body in the neutral posture."""


def write_bvh(clip: Clip, path: Path | str) -> None:
    """Write a clip as BVH, in metres and with y up.

    The root gets six channels. Other joints get one rotation if they are hinges about a main axis, three rotations if
    they only rotate, and six channels if they translate. BVH joints have the names of the bodies. Sites on bodies
    without children become End Sites, which have no names.
    """
    bones = _bones(clip)
    channels = [_channels(bone) for bone in bones]
    columns = [_values(bones, bone, chosen) for bone, chosen in zip(bones, channels, strict=True)]
    rows = io.StringIO()
    np.savetxt(rows, np.concatenate(columns, axis=1), fmt="%.9f")
    motion = ("MOTION", f"Frames: {len(clip)}", f"Frame Time: {1.0 / clip.rate!r}", rows.getvalue())
    write_atomically(path, "\n".join([*_hierarchy(clip.figure, bones, channels), *motion]).encode())


def _bones(clip: Clip) -> list[_Bone]:
    figure = clip.figure
    frames = [figure.frames(posture) for posture in (figure.neutral(), *clip)]
    upright = Rotation.from_quat(from_to(figure.up, "y"), scalar_first=True)
    index: dict[str, int] = {}
    bones: list[_Bone] = []
    for body, joint in figure.tree_order:
        row = figure.bodies.index(body)
        rotation = upright * Rotation.from_quat([frame.rotation[row] for frame in frames], scalar_first=True)
        center = np.array(joint.child_frame.position if joint is not None else (0.0, 0.0, 0.0))
        position = upright.apply([frame.position[row] for frame in frames]) + rotation.apply(center)
        parent = index[joint.parent] if joint is not None and joint.parent is not None else None
        index[body] = len(bones)
        depth = bones[parent].depth + 1 if parent is not None else 0
        turned = rotation[1:] * rotation[0].inv()
        bones.append(_Bone(body, joint, parent, depth, position, turned, rotation[0]))
    return bones


def _channels(bone: _Bone) -> tuple[str, ...]:
    if bone.parent is None or bone.joint is None:
        return _POSITION_CHANNELS + _ROTATION_CHANNELS
    if bone.joint.kind == "fixed":
        return ()
    if bone.joint.kind == "revolute":
        axis = bone.neutral.apply(_child_axis(bone.joint))
        main = int(np.argmax(np.abs(axis)))
        return (CHANNELS[3 + main],) if abs(axis[main]) > 1.0 - 1e-15 else _ROTATION_CHANNELS
    return (
        _ROTATION_CHANNELS
        if all(p in {"turn", "ball"} for p in bone.joint.primitives)
        else _POSITION_CHANNELS + _ROTATION_CHANNELS
    )


def _child_axis(joint: Joint) -> FloatArray:
    """The axis of a hinge in its child body."""
    return Pose(rotation=joint.child_frame.rotation).apply(joint.axes[0])


def _values(bones: Sequence[_Bone], bone: _Bone, channels: Sequence[str]) -> FloatArray:
    """(frames, channels) channel values of a bone [m or deg]."""
    upper = bones[bone.parent] if bone.parent is not None else None
    turn = bone.turned if upper is None else upper.turned.inv() * bone.turned
    blocks = [np.empty((len(bone.position) - 1, 0))]
    if _POSITION_CHANNELS[0] in channels:
        moved = bone.position if upper is None else bone.position - upper.position
        blocks.append(moved[1:] if upper is None else upper.turned.inv().apply(moved[1:]))
    if len(channels) == 1:
        blocks.append(_degrees(turn.as_rotvec()[:, [CHANNELS.index(channels[0]) - 3]]))
    elif channels:
        blocks.append(_degrees(zyx_angles(turn.as_matrix())))
    return np.concatenate(blocks, axis=1)


def _degrees(angles: FloatArray) -> FloatArray:
    """Angles (frames, n) in degrees that do not jump by whole turns from frame to frame."""
    return np.degrees(np.unwrap(angles, axis=0))


def zyx_angles(matrices: FloatArray) -> FloatArray:
    """(n, 3) angles z, y, x with R = Z(z) Y(y) X(x) [rad].

    At y = ±90° (gimbal lock) only the sum or difference of z and x is determined. Rounding then decides z, and y and x
    are computed from Z(z)⁻¹ R, so the product is still R.
    """
    m = np.moveaxis(matrices, 0, -1)
    z = np.arctan2(m[1, 0], m[0, 0])
    c, s = np.cos(z), np.sin(z)
    y = np.arctan2(-m[2, 0], c * m[0, 0] + s * m[1, 0])
    x = np.arctan2(s * m[0, 2] - c * m[1, 2], c * m[1, 1] - s * m[0, 1])
    return np.stack([z, y, x], axis=-1)


def _hierarchy(figure: Figure, bones: Sequence[_Bone], channels: Sequence[tuple[str, ...]]) -> Iterator[str]:
    names, parents = Names(), {bone.parent for bone in bones}
    open_bones = 0
    yield "HIERARCHY"
    for i, bone in enumerate(bones):
        while open_bones > bone.depth:
            open_bones -= 1
            yield f"{_indent(open_bones)}}}"
        tabs = _indent(bone.depth)
        word = "ROOT" if bone.parent is None else "JOINT"
        yield f"{tabs}{word} {names.take(_UNWRITABLE.sub('_', bone.body))}"
        yield f"{tabs}{{"
        yield f"{tabs}\tOFFSET {_numbers(_offset(bones, bone))}"
        yield f"{tabs}\tCHANNELS {' '.join([str(len(channels[i])), *channels[i]])}"
        open_bones += 1
        if i not in parents:
            yield from _end_sites(figure, bone)
    while open_bones > 0:
        open_bones -= 1
        yield f"{_indent(open_bones)}}}"


def _offset(bones: Sequence[_Bone], bone: _Bone) -> FloatArray:
    """(3,) offset of the joint in the neutral posture [m]; zero for a root, as some readers add it to the channels."""
    return np.zeros(3) if bone.parent is None else bone.position[0] - bones[bone.parent].position[0]


def _end_sites(figure: Figure, bone: _Bone) -> Iterator[str]:
    center = bone.joint.child_frame.position if bone.joint is not None else np.zeros(3)
    points = [site.pose.position for site in figure.sites if site.body == bone.body]
    tabs = _indent(bone.depth + 1)
    for point in points or [center]:
        yield from (f"{tabs}End Site", f"{tabs}{{")
        yield f"{tabs}\tOFFSET {_numbers(bone.neutral.apply(point - center))}"
        yield f"{tabs}}}"


def _indent(depth: int) -> str:
    return "\t" * min(depth, _DEEPEST_INDENT)


def _numbers(values: FloatArray) -> str:
    return " ".join(f"{value:.9f}" for value in values)
