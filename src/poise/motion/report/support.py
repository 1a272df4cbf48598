"""Whether what stands carries the figure: its centre of mass against the ground under its standing feet."""

from __future__ import annotations

import numpy as np

from poise.figure.collision.soles import sole_corners
from poise.figure.model.figure import Figure
from poise.figure.model.frames import Frames
from poise.figure.model.pose import FloatArray
from poise.kernels.forces.support_polygon import convex_hull, nearest_on_hull
from poise.motion.clip.motion import Motion

TOUCH = 5e-3
"""How far above the lowest point of a standing foot others still touch the ground [m]."""
SAME = 9
"""Decimals of a place that tell two corners from each other [m]."""

Corners = list[tuple[str, FloatArray]]
"""Sites or bodies, each with a point (3,) in its frame [m]."""


def support_margin(motion: Motion) -> FloatArray | None:
    """(frames,) how far inside the support the centre of mass is [m]: negative outside, NaN while nothing stands.

    The support is the hull of what touches the ground of the feet that stand: all of a flat foot, the toes of one whose
    heel is lifted. None for figures without mass and motions without feet.
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
        points = [_touching(motion.figure, frames, corners) for stands, corners in feet if stands[i]]
        if points:
            center = motion.figure.center_of_mass(posture)
            out[i] = _inside(motion.figure, np.concatenate(points), center)
    return out


def _corners(figure: Figure, site: str) -> Corners:
    """Points of a sole, toes included: marked by sites named after the foot, else found by shape."""
    marked = [other.name for other in figure.sites if other.name.startswith(f"{site}_")]
    if len(marked) >= 3:
        return [(name, np.zeros(3)) for name in marked]
    return [(site, corner) for corner in sole_corners(figure, site)]


def _touching(figure: Figure, frames: Frames, corners: Corners) -> FloatArray:
    """(k, 3) those points of a foot that are on the ground if its lowest is."""
    points = np.array([frames[name].apply(corner) for name, corner in corners])
    heights = points @ figure.up_vector
    touching: FloatArray = points[heights <= heights.min() + TOUCH]
    return touching


def _inside(figure: Figure, points: FloatArray, center: FloatArray) -> float:
    level = np.delete(np.arange(3), "xyz".index(figure.up))
    # Corners of a thin sole lie above each other: one of them is enough, and a hull of twins is none.
    flat = np.unique(np.round(points[:, level], SAME), axis=0)
    order = np.zeros(len(flat), dtype=np.int64)
    count = convex_hull(flat, 0, len(flat), order)
    return -float(nearest_on_hull(flat, order, 0, count, float(center[level[0]]), float(center[level[1]])).distance)
