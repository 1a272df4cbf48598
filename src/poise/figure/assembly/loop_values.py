"""Values and gap of a loop joint, computed from the poses of its two bodies.

Each joint kind allows some relative motion of the joint's frames on its two bodies; the gap is the part of the relative
pose that the joint does not allow [Schumacher et al. 2021, III.B].
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from poise.figure.model.joints import Joint
from poise.figure.model.pose import FloatArray, Pose
from poise.kernels.maths.quaternion import Quaternion, angle_of

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure
    from poise.figure.model.pose import Frames
    from poise.figure.model.posture import Posture


def loop_value(figure: Figure, loop: Joint, posture: Posture, near: FloatArray | None = None) -> FloatArray:
    """Values (nq of the joint,) of a loop joint in a closed posture; angles within half a turn of those in `near`."""
    values = joint_values(loop, joint_gap(figure, loop, figure.frames(posture)))
    return values if near is None else unwound(loop, values, near)


def joint_gap(figure: Figure, loop: Joint, frames: Frames) -> Pose:
    """Pose of the joint's frame on its outer body relative to its frame on the inner body."""
    near = body_pose(figure, loop.parent, frames) @ loop.parent_frame
    far = body_pose(figure, loop.child, frames) @ loop.child_frame
    return far.inverse() @ near if loop.reversed else near.inverse() @ far


def body_pose(figure: Figure, body: str | None, frames: Frames) -> Pose:
    """World frame of a body; the figure's placement for None, the world."""
    if body is None:
        return figure.placement
    row = figure.bodies.index(body)
    return Pose(frames.position[row], frames.rotation[row])


def joint_values(joint: Joint, gap: Pose) -> FloatArray:
    """The values for which a joint's outer frame is at `gap` relative to its inner frame, or as near as possible."""
    if joint.kind == "free":
        return np.concatenate([gap.position, gap.rotation])
    if joint.kind == "ball":
        return gap.rotation.copy()
    steps = list(zip(joint.primitives, (np.array(axis) for axis in joint.axes), strict=True))
    slides, turns = ([axis for step, axis in steps if step == wanted] for wanted in ("slide", "turn"))
    offset = gap.matrix.T @ gap.position if joint.kind == "cylindrical" else gap.position
    moved = iter(np.linalg.lstsq(np.array(slides).T, offset, rcond=None)[0] if slides else ())
    turned = iter(_angles(turns, gap))
    return np.array([next(moved) if step == "slide" else next(turned) for step, _ in steps], dtype=np.float64)


def joint_motion(joint: Joint, values: FloatArray) -> Pose:
    """Pose of a joint's outer frame relative to its inner frame at these values."""
    if joint.kind == "free":
        return Pose(values[:3], values[3:])
    if joint.kind == "ball":
        return Pose(rotation=values)
    moved = Pose()
    for step, axis, value in zip(joint.primitives, joint.axes, values, strict=True):
        along = np.array(axis)
        half = 0.5 * float(value)
        turn = (math.cos(half), *(math.sin(half) * along))
        moved = moved @ (Pose(value * along) if step == "slide" else Pose(rotation=turn))
    return moved


def _angles(axes: list[FloatArray], gap: Pose) -> list[float]:
    """Angles [rad] of one turn, or of two turns of which the first carries the second."""
    if len(axes) == 2:
        first, second = axes
        return [_about(first, second, gap.matrix @ second), _about(second, gap.matrix.T @ first, first)]
    w, x, y, z = gap.rotation
    return [math.remainder(2.0 * math.atan2(float(axis @ (x, y, z)), w), math.tau) for axis in axes]


def _about(axis: FloatArray, start: FloatArray, end: FloatArray) -> float:
    """Angle of the rotation about `axis` that brings `start` nearest to `end` [rad]."""
    across = np.cross(axis, start)
    return math.atan2(float(across @ end), float((start - (axis @ start) * axis) @ end))


def unwound(joint: Joint, values: FloatArray, near: FloatArray) -> FloatArray:
    """`values` with whole turns added to angles, and the sign of a quaternion chosen, nearest to `near`."""
    values = values.copy()
    if joint.kind in ("ball", "free"):
        if float(values[-4:] @ near[-4:]) < 0.0:
            values[-4:] *= -1.0
        return values
    for i, step in enumerate(joint.primitives):
        if step == "turn":
            values[i] += math.tau * round((near[i] - values[i]) / math.tau)
    return values


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
