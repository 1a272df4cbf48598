"""Where the joints of a limb are: the points about which its segments turn.

A robot makes a hip or a shoulder of several hinges, one after the other, whose axes meet at a point or nearly do. The
origin that a file gives to a hinge is anywhere on its axis. The centre of a joint is therefore found from the axes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from poise.figure.anatomy.skeleton import Segment
from poise.figure.model.pose import FloatArray

ORIGIN_WEIGHT = 1e-3
"""Weight of the hinges' origins relative to their axes; it determines the centre where the axes are parallel."""
FAR_AXIS = 0.3
"""Distance of an axis from the centre, as a share of a bone, beyond which its hinge belongs to another joint."""
PARALLEL = 0.7
"""Least |cosine| of the angle between two axes that bend a limb in the same direction."""


def meeting_point(hinges: Sequence[Segment], bone: float) -> FloatArray | None:
    """(3,) the point nearest to the axes of hinges, without those that are far from it; None without hinges.

    It minimises Σ |(I - d dᵀ)(p - a)|² over axes with origins a and unit directions d.

    Args:
        hinges: Segments that are moved by a hinge.
        bone: Length of the bone that follows [m].
    """
    left = [segment for segment in hinges if segment.axis is not None]
    while left:
        point = _nearest_to_axes(left)
        off = [distance_to_axis(point, segment) for segment in left]
        worst = int(np.argmax(off))
        if off[worst] <= FAR_AXIS * bone:
            return point
        del left[worst]
    return None


def _nearest_to_axes(hinges: Sequence[Segment]) -> FloatArray:
    matrix, side = np.zeros((3, 3)), np.zeros(3)
    for segment in hinges:
        axis = np.asarray(segment.axis, dtype=np.float64)
        across = np.eye(3) * (1.0 + ORIGIN_WEIGHT) - np.outer(axis, axis)
        matrix += across
        side += across @ segment.places[0]
    return np.asarray(np.linalg.solve(matrix, side), dtype=np.float64)


def distance_to_axis(point: FloatArray, hinge: Segment) -> float:
    """Distance of a point (3,) from the axis of a hinge [m]."""
    return float(np.linalg.norm(point - nearest_on_axis(point, hinge)))


def nearest_on_axis(point: FloatArray, hinge: Segment) -> FloatArray:
    """(3,) the point of a hinge's axis that is nearest to `point`; the centre of a joint that is no hinge."""
    origin: FloatArray = hinge.places.mean(axis=0)
    if hinge.axis is None:
        return origin
    nearest: FloatArray = origin + float((point - origin) @ hinge.axis) * hinge.axis
    return nearest


def bending_hinge(hinges: Sequence[Segment], like: Segment) -> Segment | None:
    """The one of `hinges` whose axis is most nearly parallel to that of `like`; None if none is within `PARALLEL`."""
    if like.axis is None:
        return None
    turned = [(abs(float(s.axis @ like.axis)), s) for s in hinges if s.axis is not None]
    best = max(turned, key=lambda pair: pair[0], default=None)
    return best[1] if best is not None and best[0] >= PARALLEL else None
