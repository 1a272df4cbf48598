"""Static balance: distance of the centre of mass from the edge of the support polygon of the standing feet."""

from __future__ import annotations

import numpy as np

from poise.figure.collision.soles import sole_corners
from poise.figure.model.figure import Figure
from poise.figure.model.frames import Frames
from poise.figure.model.pose import FloatArray
from poise.kernels.forces.support_polygon import convex_hull, nearest_on_hull
from poise.motion.clip.motion import Motion

SOLE_CONTACT_HEIGHT = 5e-3
"""Points of a standing foot up to this height above its lowest point touch the ground [m]."""
CORNER_DECIMALS = 9
"""Corners are equal if their positions [m] agree to this number of decimals."""

Corners = list[tuple[str, FloatArray]]
"""Corners of a sole: each the name of a site or body and a point (3,) in its frame [m]."""


def support_margin(motion: Motion) -> FloatArray | None:
    """(frames,) distance of the centre of mass from the edge of the support polygon [m].

    Positive inside, negative outside, NaN while no foot stands. The support polygon is the convex hull of the points of
    standing feet that touch the ground: all corners of a flat foot, the toes of a foot whose heel is lifted. None for a
    figure without mass and a motion without feet.
    """
    track = motion.track
    if track is None or motion.figure.mass <= 0.0 or not track.locks:
        return None
    feet = [
        (track.contacts.standing(side), _corners(motion.figure, site))
        for side, site in zip(track.contacts.heel, track.locks, strict=True)
    ]
    out = np.full(len(motion), np.nan)
    for i, posture in enumerate(motion):
        frames = motion.figure.frames(posture)
        points = [_points_on_ground(motion.figure, frames, corners) for stands, corners in feet if stands[i]]
        if points:
            center = motion.figure.center_of_mass(posture)
            out[i] = _margin(motion.figure, np.concatenate(points), center)
    return out


def _corners(figure: Figure, site: str) -> Corners:
    """Corners of a sole, toes included: sites whose names begin with the foot's, else corners of the foot's shapes."""
    marked = [other.name for other in figure.sites if other.name.startswith(f"{site}_")]
    if len(marked) >= 3:
        return [(name, np.zeros(3)) for name in marked]
    return [(site, corner) for corner in sole_corners(figure, site)]


def _points_on_ground(figure: Figure, frames: Frames, corners: Corners) -> FloatArray:
    """(k, 3) world positions of the points of a foot that touch the ground if its lowest point does [m]."""
    points = np.array([frames[name].apply(corner) for name, corner in corners])
    heights = points @ figure.up_vector
    touching: FloatArray = points[heights <= heights.min() + SOLE_CONTACT_HEIGHT]
    return touching


def _margin(figure: Figure, points: FloatArray, center: FloatArray) -> float:
    """Distance of `center` (3,) from the edge of the hull of `points` (k, 3) in plan view, positive inside [m]."""
    level = np.delete(np.arange(3), "xyz".index(figure.up))
    # Upper and lower corners of a sole coincide in plan view, and the hull of duplicate points is degenerate.
    flat = np.unique(np.round(points[:, level], CORNER_DECIMALS), axis=0)
    order = np.zeros(len(flat), dtype=np.int64)
    count = convex_hull(flat, 0, len(flat), order)
    return -float(nearest_on_hull(flat, order, 0, count, float(center[level[0]]), float(center[level[1]])).distance)
