"""How far loop joints are from being closed.

With the joint's frame on each of the two bodies in world coordinates, every kind leaves some of their relative motion
free; the residual is the part that is not [Schumacher et al. 2021, III.B].
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from poise.figure.model.joints import Joint
from poise.figure.model.pose import FloatArray, Pose
from poise.kernels.maths.quaternion import Quaternion, angle_of

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure
    from poise.figure.model.frames import Frames


def closure_residual(figure: Figure, loop: Joint, frames: Frames) -> float:
    """Larger of the position gap [m] and the rotation gap [rad] that the joint does not allow."""
    near = _body_pose(figure, loop.parent, frames) @ loop.parent_frame
    far = _body_pose(figure, loop.child, frames) @ loop.child_frame
    if loop.reversed:
        near, far = far, near
    gap = near.inverse() @ far
    return max(_position_gap(loop, gap), _rotation_gap(loop, gap))


def _body_pose(figure: Figure, body: str | None, frames: Frames) -> Pose:
    if body is None:
        return figure.placement
    row = figure.bodies.index(body)
    return Pose(frames.position[row], frames.rotation[row])


def _position_gap(loop: Joint, gap: Pose) -> float:
    """Length of the offset that is not along a slide."""
    if loop.kind == "free":
        return 0.0
    offset = gap.position.copy()
    for primitive, axis in zip(loop.primitives, loop.axes, strict=False):
        if primitive == "slide":
            a = np.array(axis)
            offset -= float(a @ offset) * a
    return float(np.linalg.norm(offset))


def _rotation_gap(loop: Joint, gap: Pose) -> float:
    """Angle of the rotation that is not about a turn."""
    if loop.kind in ("ball", "free"):
        return 0.0
    turns = [np.array(a) for p, a in zip(loop.primitives, loop.axes, strict=True) if p == "turn"]
    if not turns:
        return float(angle_of(Quaternion(*gap.rotation)))
    if len(turns) == 1:
        return _angle(turns[0], gap.matrix @ turns[0])
    return abs(_angle(turns[0], gap.matrix @ turns[1]) - _angle(turns[0], turns[1]))


def _angle(a: FloatArray, b: FloatArray) -> float:
    return float(np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b))
