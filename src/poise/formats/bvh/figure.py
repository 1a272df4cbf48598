"""A BVH skeleton as a figure, and its channel values as joint values.

A joint's frame is its parent's, moved by the channels: T(p) R₁ R₂ R₃, with the rotations in the order of the file.
Position channels hold p itself: they replace the OFFSET component by component, at any position among the channels.
Blender reads them this way, and files with position channels on inner joints repeat the OFFSET in them. In most files
only the root has position channels and its OFFSET is zero, so that replacing and adding are the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.spatial.transform import Rotation

from poise.errors import FormatError, PoiseError
from poise.figure.model.body import Body, Site
from poise.figure.model.figure import Figure
from poise.figure.model.joints import Joint, Kind
from poise.figure.model.pose import FloatArray, Pose
from poise.formats.bvh.document import BvhDocument
from poise.formats.bvh.hierarchy import BvhJoint
from poise.formats.text.naming import Names

CHANNEL_AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}
"""Axes by the first letter of a channel."""


def bvh_figure(document: BvhDocument, name: str, scale: float = 1.0) -> Figure:
    """The skeleton as a figure; a body has the name of its joint, and an End Site becomes a site `<joint>_end`.

    Args:
        document: The parsed file.
        name: Name of the figure.
        scale: Metres per unit of length of the file.
    """
    names = Names(joint.name for joint in document.joints)
    sites = [
        Site(names.take(f"{joint.name}_end"), joint.name, Pose(_scaled(end, scale)))
        for joint in document.joints
        for end in joint.ends
    ]
    try:
        joints = [_joint(document.joints, joint, scale) for joint in document.joints]
        return Figure(name, [Body(joint.name) for joint in joints], joints, sites=sites, up="y")
    except PoiseError as problem:
        raise FormatError(str(problem), document.path) from None


def bvh_values(document: BvhDocument, scale: float = 1.0) -> FloatArray:
    """(frames, nq) joint values of the figure that `bvh_figure` makes."""
    columns = [_values(joint, channels, scale) for joint, channels in _columns(document)]
    return np.concatenate([np.empty((len(document.motion), 0)), *columns], axis=1)


def _columns(document: BvhDocument) -> Iterator[tuple[BvhJoint, FloatArray]]:
    """Every joint with its channel values (frames, channels of the joint)."""
    start = 0
    for joint in document.joints:
        count = len(joint.channels or ())
        yield joint, document.motion[:, start : start + count]
        start += count


def _scaled(offset: Sequence[float] | None, scale: float) -> FloatArray:
    return np.array(offset or (0.0, 0.0, 0.0)) * scale


def _position_axes(joint: BvhJoint) -> list[str]:
    return [channel[0] for channel in joint.channels or () if channel.endswith("position")]


def _rotation_axes(joint: BvhJoint) -> list[str]:
    return [channel[0] for channel in joint.channels or () if channel.endswith("rotation")]


def _kind(joint: BvhJoint) -> Kind:
    """The simplest kind of joint that has the degrees of freedom of the channels."""
    positions, rotations = len(_position_axes(joint)), len(_rotation_axes(joint))
    if positions and rotations:
        return "free"
    if positions:
        return "prismatic" if positions == 1 else "cartesian"
    return ("fixed", "revolute", "universal", "ball")[rotations]


def _joint(joints: Sequence[BvhJoint], joint: BvhJoint, scale: float) -> Joint:
    kind = _kind(joint)
    axes = {
        "prismatic": _position_axes(joint),
        "revolute": _rotation_axes(joint),
        "universal": _rotation_axes(joint),
    }.get(kind, [])
    parent = joints[joint.parent].name if joint.parent is not None else None
    frame = Pose(_scaled(joint.offset, scale))
    return Joint(joint.name, kind, parent, joint.name, tuple(CHANNEL_AXES[axis] for axis in axes), parent_frame=frame)


def _values(joint: BvhJoint, channels: FloatArray, scale: float) -> FloatArray:
    """Joint values (frames, nq of the joint) from its channels (frames, count)."""
    kind = _kind(joint)
    turning = [channel.endswith("rotation") for channel in joint.channels or ()]
    angles = np.radians(channels[:, turning])
    if kind in {"revolute", "universal", "fixed"}:
        return angles
    if kind == "ball":
        return _rotations(_rotation_axes(joint), angles)
    moved = _displacements(joint, channels[:, np.logical_not(turning)], scale)
    if kind == "prismatic":
        return moved[:, ["XYZ".index(_position_axes(joint)[0])]]
    return moved if kind == "cartesian" else np.concatenate([moved, _rotations(_rotation_axes(joint), angles)], axis=1)


def _displacements(joint: BvhJoint, positions: FloatArray, scale: float) -> FloatArray:
    """(frames, 3) displacement of the joint from its OFFSET [m]."""
    moved = np.zeros((len(positions), 3))
    for column, axis in enumerate(_position_axes(joint)):
        at = "XYZ".index(axis)
        moved[:, at] = (positions[:, column] - (joint.offset or (0.0, 0.0, 0.0))[at]) * scale
    return moved


def _rotations(order: Sequence[str], angles: FloatArray) -> FloatArray:
    """(frames, 4) quaternions of intrinsic rotations about the axes in this order."""
    return Rotation.from_euler("".join(order), angles).as_quat(scalar_first=True)
