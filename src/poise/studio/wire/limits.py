"""Joint limits as sectors and cones in the frames of the joints, sent once for each figure."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from poise.figure.model.figure import Figure
from poise.figure.model.joints import Joint
from poise.figure.model.limits import BallLimits, Ellipse
from poise.figure.model.pose import FloatArray, Pose, to_matrix
from poise.studio.wire.anchors import marked_joints

CONE_CORNERS = 40
"""Number of corners of a cone's outline."""


def limits_drawn(figure: Figure) -> list[dict[str, Any]]:
    """The sectors or cone of each marked joint that has limits, in the joint's frame on its parent body.

    A joint that re-rooting has reversed measures its values from its child, so its limits are drawn on the child.
    """
    rows = []
    for number, joint in enumerate(marked_joints(figure)):
        drawn = _cone(joint.ball_limits) if joint.ball_limits is not None else _sectors(figure, joint)
        if drawn:
            body, frame = _carrier_frame(figure, joint)
            rows.append({"joint": number, "body": body, **_pose(frame), **drawn})
    return rows


def _carrier_frame(figure: Figure, joint: Joint) -> tuple[int, Pose]:
    """The body from which the values of a joint are measured, -1 for the world, and the joint's frame on that body."""
    carrier, frame = (joint.child, joint.child_frame) if joint.reversed else (joint.parent, joint.parent_frame)
    if carrier is None:
        return -1, figure.placement @ frame
    return figure.bodies.index(carrier), frame


def _pose(frame: Pose) -> dict[str, Any]:
    return {"at": frame.position.tolist(), "turned": np.roll(frame.rotation, -1).tolist()}


def _cone(limits: BallLimits) -> dict[str, Any]:
    """The outline of the directions in which the limb of a ball joint may point, and the middle direction."""
    if limits.swing is None:
        return {}
    turn = to_matrix(limits.cone)
    if isinstance(limits.swing, Ellipse):
        angles = 2.0 * np.pi * np.arange(CONE_CORNERS) / CONE_CORNERS
        rows = [_swung_z(limits.swing.x * math.cos(a), limits.swing.y * math.sin(a)) for a in angles]
    else:
        rows = _points_on_edges([np.array(vertex) for vertex in limits.swing.vertices])
    middle = turn[:, 2]
    return {"cone": [(turn @ row).tolist() for row in rows], "middle": middle.tolist()}


def _swung_z(x: float, y: float) -> FloatArray:
    """(3,) the z axis after a rotation by the rotation vector (x, y, 0)."""
    angle = math.hypot(x, y)
    share = math.sin(angle) / angle if angle > 0.0 else 1.0
    return np.array([share * y, -share * x, math.cos(angle)])


def _points_on_edges(vertices: list[FloatArray]) -> list[FloatArray]:
    """Points on the great arcs between vertices of a spherical polygon."""
    each = max(1, CONE_CORNERS // len(vertices))
    rows = []
    for a, b in zip(vertices, vertices[1:] + vertices[:1], strict=True):
        for k in range(each):
            blend = (1.0 - k / each) * a + k / each * b
            rows.append(blend / np.linalg.norm(blend))
    return rows


def _sectors(figure: Figure, joint: Joint) -> dict[str, Any]:
    """A sector for each rotation that is limited on both sides: axis, limb direction at zero, lower and upper limit."""
    limb = _rest_limb(figure, joint)
    found = []
    for kind, axis, low, high in zip(joint.scalars, joint.axes, joint.lower, joint.upper, strict=True):
        if kind == "turn" and math.isfinite(high - low) and high > low:
            along = np.array(axis)
            across = limb - float(limb @ along) * along
            if np.linalg.norm(across) < 0.2 * max(1e-9, float(np.linalg.norm(limb))):
                across = np.cross(along, np.eye(3)[int(np.argmin(np.abs(along)))])
            across = across / np.linalg.norm(across)
            found.append({"axis": along.tolist(), "rest": across.tolist(), "low": low, "high": high})
    return {"sectors": found} if found else {}


def _rest_limb(figure: Figure, joint: Joint) -> FloatArray:
    """(3,) vector from the joint to the centre of mass of the body it moves, in the joint's frame at zero [m]."""
    moved, frame = (joint.parent, joint.parent_frame) if joint.reversed else (joint.child, joint.child_frame)
    if moved is None:
        return np.zeros(3)
    return np.array(frame.inverse().apply(figure.bodies[moved].mass.center))
