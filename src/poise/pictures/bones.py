"""The skeleton of a figure: positions of its joints, and surfaces of the bones between them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from poise.figure.assembly.loop_values import body_pose
from poise.figure.model.figure import Figure
from poise.figure.model.joints import Joint
from poise.figure.model.pose import FloatArray, Frames, Pose
from poise.pictures.surface import ROUND_SEGMENTS, Surface, joined, limb, sphere


class JointPlace(NamedTuple):
    """World poses of a joint's frames on its two bodies; they differ by the joint's motion or by an open loop."""

    joint: Joint
    on_parent: Pose
    on_child: Pose


def joint_places(figure: Figure, frames: Frames, *, loops: bool = False) -> list[JointPlace]:
    """World poses of all joints of a figure, or of all its loop joints."""
    return [
        JointPlace(
            joint,
            body_pose(figure, joint.parent, frames) @ joint.parent_frame,
            body_pose(figure, joint.child, frames) @ joint.child_frame,
        )
        for joint in (figure.loops if loops else figure.joints)
    ]


def bones(figure: Figure, body: str, thickness: float, segments: int = ROUND_SEGMENTS) -> Surface:
    """The bones of a body in its frame: from its joint to its child joints or sites, or a ball if it has none.

    Args:
        figure: The figure.
        body: Name of the body.
        thickness: Greatest radius of a bone [m].
        segments: Segments around a bone.
    """
    ends = _ends(figure, body)
    start = _start(figure, body, ends)
    limbs = []
    for end in ends:
        length = float(np.linalg.norm(end - start))
        if length > 1e-9:
            radius = min(thickness, 0.14 * length)
            limbs.append(limb(start, end, radius, 0.55 * radius, segments))
    return joined(limbs or [sphere(0.9 * thickness, segments).moved(Pose(start))])


def _start(figure: Figure, body: str, ends: list[FloatArray]) -> FloatArray:
    """(3,) start of a body's bones in its frame: its joint, or for a root the mean of its ends [m]."""
    joint = next((joint for joint in figure.joints if joint.child == body), None)
    if len(ends) > 1 and (joint is None or joint.parent is None):
        return np.asarray(np.mean(ends, axis=0))
    return joint.child_frame.position if joint is not None else np.zeros(3)


def _ends(figure: Figure, body: str) -> list[FloatArray]:
    """Ends (3,) of a body's bones in its frame: its child joints and loop joints, or if it has none its sites [m]."""
    ends = [joint.parent_frame.position for joint in (*figure.joints, *figure.loops) if joint.parent == body]
    ends += [loop.child_frame.position for loop in figure.loops if loop.child == body]
    return ends or [site.pose.position for site in figure.sites if site.body == body]
