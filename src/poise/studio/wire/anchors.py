"""Points fixed to the bodies and sites of a figure, and their world positions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from poise.figure.model.figure import Figure
from poise.figure.model.joints import Joint
from poise.figure.model.pose import FloatArray, Frames

FIGURES_CACHED = 16
"""Number of figures whose points are cached."""


class Anchors(NamedTuple):
    """Points, each in the coordinates of a frame."""

    rows: NDArray[np.int64]
    """(k,) index of each point's frame; the last index is the placement of the figure in the world."""
    points: FloatArray
    """(k, 3) coordinates in that frame [m]."""

    def places(self, figure: Figure, frames: Frames) -> FloatArray:
        """(k, 3) world positions of the points [m]: p + v + 2 u × (u × v + w v) for a quaternion (w, u)."""
        position = np.vstack([frames.position, figure.placement.position])[self.rows]
        rotation = np.vstack([frames.rotation, figure.placement.rotation])[self.rows]
        w, u = rotation[:, :1], rotation[:, 1:]
        turned: FloatArray = position + self.points + 2.0 * np.cross(u, np.cross(u, self.points) + w * self.points)
        return turned


def marked_joints(figure: Figure) -> list[Joint]:
    """Joints that are marked with a disc: all but fixed joints and the free joint of a floating base."""
    return [joint for joint in figure.joints if joint.kind not in ("fixed", "free")]


@lru_cache(maxsize=FIGURES_CACHED)
def joint_anchors(figure: Figure) -> Anchors:
    """The positions of the marked joints, fixed to their child bodies."""
    return _anchors([(_row(figure, joint.child), joint.child_frame.position) for joint in marked_joints(figure)])


@lru_cache(maxsize=FIGURES_CACHED)
def limb_anchors(figure: Figure) -> Anchors:
    """The centre of mass of the child body of each marked joint."""
    limbs = [figure.bodies[joint.child] for joint in marked_joints(figure)]
    return _anchors([(figure.bodies.index(limb.name), limb.mass.center) for limb in limbs])


@lru_cache(maxsize=FIGURES_CACHED)
def loop_anchors(figure: Figure) -> Anchors:
    """The position of every loop joint, fixed to its parent and then to its child."""
    ends = []
    for joint in figure.loops:
        ends.append((_row(figure, joint.parent), joint.parent_frame.position))
        ends.append((_row(figure, joint.child), joint.child_frame.position))
    return _anchors(ends)


def _row(figure: Figure, body: str | None) -> int:
    """The index of a body's frame; the last index for the world."""
    return -1 if body is None else figure.bodies.index(body)


def _anchors(pairs: Sequence[tuple[int, FloatArray]]) -> Anchors:
    rows = np.array([row for row, _ in pairs], dtype=np.int64)
    return Anchors(rows, np.array([point for _, point in pairs], dtype=np.float64).reshape(-1, 3))
