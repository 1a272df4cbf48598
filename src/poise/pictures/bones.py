"""The skeleton of a figure: where its joints are, and the bones between them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from poise.figure.model.figure import Figure
from poise.figure.model.frames import Frames
from poise.figure.model.joints import Joint
from poise.figure.model.pose import FloatArray, Pose
from poise.pictures.surface import AROUND, Surface, joined, limb, sphere


class JointPlace(NamedTuple):
    """World frame of a joint on each of its two bodies; they differ by the joint's motion, or by an open loop."""

    joint: Joint
    on_parent: Pose
    on_child: Pose


def joint_places(figure: Figure, frames: Frames, *, loops: bool = False) -> list[JointPlace]:
    """Where all joints are, or all loop joints."""
    return [
        JointPlace(
            joint,
            _body_frame(figure, joint.parent, frames) @ joint.parent_frame,
            _body_frame(figure, joint.child, frames) @ joint.child_frame,
        )
        for joint in (figure.loops if loops else figure.joints)
    ]


def _body_frame(figure: Figure, body: str | None, frames: Frames) -> Pose:
    if body is None:
        return figure.placement
    row = figure.bodies.index(body)
    return Pose(frames.position[row], frames.rotation[row])


def bones(figure: Figure, body: str, thickness: float, around: int = AROUND) -> Surface:
    """Limbs from a body's own joint to all that hangs from it, in its frame; a small ball where nothing does."""
    ends = _ends(figure, body)
    start = _start(figure, body, ends)
    limbs = []
    for end in ends:
        length = float(np.linalg.norm(end - start))
        if length > 1e-9:
            radius = min(thickness, 0.14 * length)
            limbs.append(limb(start, end, radius, 0.55 * radius, around))
    return joined(limbs or [sphere(0.9 * thickness, around).moved(Pose(start))])


def _start(figure: Figure, body: str, ends: list[FloatArray]) -> FloatArray:
    """Where a body hangs, in its own frame; the middle of what hangs from a root, whose frame may be anywhere."""
    joint = next((joint for joint in figure.joints if joint.child == body), None)
    if len(ends) > 1 and (joint is None or joint.parent is None):
        return np.asarray(np.mean(ends, axis=0))
    return joint.child_frame.position if joint is not None else np.zeros(3)


def _ends(figure: Figure, body: str) -> list[FloatArray]:
    """Where joints and loop joints leave a body; its sites where none does."""
    ends = [joint.parent_frame.position for joint in (*figure.joints, *figure.loops) if joint.parent == body]
    ends += [loop.child_frame.position for loop in figure.loops if loop.child == body]
    return ends or [site.pose.position for site in figure.sites if site.body == body]
