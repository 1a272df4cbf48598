"""Gap of a loop joint in a posture.

Each joint kind allows some relative motion of the joint's frames on its two bodies; the gap is the part of the relative
pose that the joint does not allow [Schumacher et al. 2021, III.B].
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from poise.figure.assembly.loop_values import joint_gap
from poise.figure.model.joints import Joint
from poise.figure.model.pose import FloatArray, Pose
from poise.kernels.maths.quaternion import Quaternion, angle_of

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure
    from poise.figure.model.frames import Frames


def closure_residual(figure: Figure, loop: Joint, frames: Frames) -> float:
    """The larger of the position gap [m] and the rotation gap [rad] of a loop joint."""
    gap = joint_gap(figure, loop, frames)
    return max(_position_gap(loop, gap), _rotation_gap(loop, gap))


def _position_gap(loop: Joint, gap: Pose) -> float:
    """Length of the part of the offset that no slide of the joint can produce [m]."""
    if loop.kind == "free":
        return 0.0
    offset = gap.position.copy()
    for primitive, axis in zip(loop.primitives, loop.axes, strict=False):
        if primitive == "slide":
            a = np.array(axis)
            offset -= float(a @ offset) * a
    return float(np.linalg.norm(offset))


def _rotation_gap(loop: Joint, gap: Pose) -> float:
    """Angle of the part of the rotation that no turn of the joint can produce [rad]."""
    if loop.kind in ("ball", "free"):
        return 0.0
    turns = [np.array(a) for p, a in zip(loop.primitives, loop.axes, strict=True) if p == "turn"]
    if not turns:
        return float(angle_of(Quaternion(*gap.rotation)))
    if len(turns) == 1:
        return _angle(turns[0], gap.matrix @ turns[0])
    return abs(_angle(turns[0], gap.matrix @ turns[1]) - _angle(turns[0], turns[1]))


def _angle(a: FloatArray, b: FloatArray) -> float:
    """Angle between two vectors [rad]."""
    return float(np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b))
