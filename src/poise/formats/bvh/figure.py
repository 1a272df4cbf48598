"""A BVH skeleton as a figure, and its channel values as joint values.

A joint's frame is its parent's, moved by the channels: T(p) R₁ R₂ R₃, with the rotations in the order of the file.
Position channels hold p itself: they replace the OFFSET, component by component, wherever they stand among the
channels. Blender reads them so, and files with such channels on inner joints are written so, their values repeating
the OFFSET; in most files only the root has position channels and its OFFSET is zero, and the question does not arise.
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

AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}


def bvh_figure(document: BvhDocument, name: str, scale: float = 1.0) -> Figure:
    """The skeleton at rest; bodies and joints share their names, and End Sites are sites named `<joint>_end`.

    Args:
        document: What the file says.
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
    """Every joint with its columns of the motion."""
    start = 0
    for joint in document.joints:
        count = len(joint.channels or ())
        yield joint, document.motion[:, start : start + count]
        start += count


def _scaled(offset: Sequence[float] | None, scale: float) -> FloatArray:
    return np.array(offset or (0.0, 0.0, 0.0)) * scale


def _slides(joint: BvhJoint) -> list[str]:
    return [channel[0] for channel in joint.channels or () if channel.endswith("position")]


def _turns(joint: BvhJoint) -> list[str]:
    return [channel[0] for channel in joint.channels or () if channel.endswith("rotation")]


def _kind(joint: BvhJoint) -> Kind:
    """The plainest kind of joint that can do what the channels do."""
    slides, turns = len(_slides(joint)), len(_turns(joint))
    if slides and turns:
        return "free"
    if slides:
        return "prismatic" if slides == 1 else "cartesian"
    return ("fixed", "revolute", "universal", "ball")[turns]


def _joint(joints: Sequence[BvhJoint], joint: BvhJoint, scale: float) -> Joint:
    kind = _kind(joint)
    axes = {"prismatic": _slides(joint), "revolute": _turns(joint), "universal": _turns(joint)}.get(kind, [])
    parent = joints[joint.parent].name if joint.parent is not None else None
    frame = Pose(_scaled(joint.offset, scale))
    return Joint(joint.name, kind, parent, joint.name, tuple(AXES[axis] for axis in axes), parent_frame=frame)


def _values(joint: BvhJoint, channels: FloatArray, scale: float) -> FloatArray:
    """Joint values (frames, nq of the joint) from its channels (frames, count)."""
    kind = _kind(joint)
    turning = [channel.endswith("rotation") for channel in joint.channels or ()]
    angles = np.radians(channels[:, turning])
    if kind in {"revolute", "universal", "fixed"}:
        return angles
    if kind == "ball":
        return _rotations(_turns(joint), angles)
    moved = _displacements(joint, channels[:, np.logical_not(turning)], scale)
    if kind == "prismatic":
        return moved[:, ["XYZ".index(_slides(joint)[0])]]
    return moved if kind == "cartesian" else np.concatenate([moved, _rotations(_turns(joint), angles)], axis=1)


def _displacements(joint: BvhJoint, positions: FloatArray, scale: float) -> FloatArray:
    """(frames, 3) how far the joint is from its place at rest."""
    moved = np.zeros((len(positions), 3))
    for column, axis in enumerate(_slides(joint)):
        at = "XYZ".index(axis)
        moved[:, at] = (positions[:, column] - (joint.offset or (0.0, 0.0, 0.0))[at]) * scale
    return moved


def _rotations(order: Sequence[str], angles: FloatArray) -> FloatArray:
    """(frames, 4) quaternions of turns about moving axes, one after another in this order."""
    return Rotation.from_euler("".join(order), angles).as_quat(scalar_first=True)
