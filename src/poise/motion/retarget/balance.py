"""Where the centre of mass goes so that nothing falls, if one moves slowly enough.

Over the one foot that stands; from one to the other while both do, so that it has arrived before the first one lifts
[Schumacher et al. 2021, V.4]. Of all ways that keep to this the shortest is taken, as a rubber band through the soles
would lie: it comes onto a foot where that is nearest to the other and leaves it likewise, so that long steps need
neither long legs nor wide swings.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.interpolate import PchipInterpolator
from scipy.ndimage import gaussian_filter1d

from poise.errors import TaskError
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.motion.clip.contacts import BoolArray, segments
from poise.motion.retarget.plan import Plan

INSIDE = 0.6
"""Share of a sole, about its centre, that the way keeps to."""
HELD = 0.75
"""Share that rounding its corners may use up."""
SOFT = 0.03
"""Time over which its corners are rounded [s]."""
EARLY = 0.08
"""By how much feet come down earlier and lift later than in the clip, for time to go from one to the other [s]."""
BANDS = 200
"""Rounds of pulling the band tight."""


class Patch(NamedTuple):
    """A sole on the ground, seen from above."""

    center: FloatArray
    """(2,) x and z [m]."""
    axes: FloatArray
    """(2, 2) rows: across the foot, along it."""
    half: FloatArray
    """(2,) half its breadth and length [m]."""

    def nearest(self, point: FloatArray, share: float) -> FloatArray:
        """The point (2,) of the patch, shrunk to a share of its size, that is nearest to another."""
        limit = share * self.half
        inside: FloatArray = self.center + np.clip(self.axes @ (point - self.center), -limit, limit) @ self.axes
        return inside


class Knot(NamedTuple):
    """A point of the band: where and when a foot begins or ends to stand alone."""

    frame: float
    patch: Patch | None
    """None for a point that stays."""
    point: FloatArray


def unhurried(plan: Plan) -> Plan:
    """The plan with both feet down for longer: people fall from one foot to the other, and machines may not."""
    return plan.standing_on(plan.contacts.longer(round(EARLY * plan.rate)))


def center_schedule(figure: Figure, plan: Plan) -> FloatArray:
    """(frames, 3) places for the centre of mass, in the world of the figure; heights mean nothing."""
    if figure.mass <= 0.0:
        raise TaskError(f"figure {figure.name!r} has no mass to balance; leave balance out.")
    if len(plan.feet) != 2:
        raise TaskError(f"balance needs a left and a right foot that the mapping knows, not {len(plan.feet)}.")
    alone = {side: _alone(plan, side) for side in ("left", "right")}
    flat = _rounded(plan, _way(_tight(_knots(plan, alone)), len(alone["left"])), alone)
    path = np.stack([flat[:, 0], np.zeros(len(flat)), flat[:, 1]], axis=1)
    return plan.build.world(path)


def _alone(plan: Plan, side: str) -> BoolArray:
    """(frames,) whether a foot stands and the other does not."""
    other = "right" if side == "left" else "left"
    out: BoolArray = plan.contacts.standing(side) & ~plan.contacts.standing(other)
    return out


def _patch(plan: Plan, side: str, frame: int) -> Patch:
    foot, path = plan.build.feet[side], plan.feet[side]
    yaw = path.yaw[frame]
    along = np.array([np.sin(yaw), np.cos(yaw)])
    half = np.array([0.5 * foot.breadth, 0.5 * float(np.linalg.norm(foot.ball - foot.heel))])
    return Patch(path.place[frame, [0, 2]], np.array([[along[1], -along[0]], along]), half)


def _knots(plan: Plan, alone: dict[str, BoolArray]) -> list[Knot]:
    """Where the band starts, enters and leaves each foot that stands alone, and ends."""
    count = len(alone["left"])
    between = 0.5 * (plan.feet["left"].place + plan.feet["right"].place)[:, [0, 2]]
    spans = sorted((first, last, side) for side, mask in alone.items() for first, last in segments(mask))
    knots = [] if spans and spans[0][0] == 0 else [Knot(0, None, between[0])]
    for first, last, side in spans:
        for frame in {first, last - 1}:
            patch = _patch(plan, side, frame)
            knots.append(Knot(frame, patch, patch.center))
    if not spans or spans[-1][1] < count:
        knots.append(Knot(count - 1, None, between[-1]))
    return sorted(knots, key=lambda knot: knot.frame)


def _tight(knots: list[Knot]) -> list[Knot]:
    """The knots, each drawn to its neighbours as far as its sole lets it."""
    band = list(knots)
    for _ in range(BANDS):
        for i, knot in enumerate(band):
            if knot.patch is not None:
                beside = [band[j].point for j in (i - 1, i + 1) if 0 <= j < len(band)]
                middle = np.mean(beside, axis=0) if beside else knot.point
                band[i] = knot._replace(point=knot.patch.nearest(middle, INSIDE))
    return band


def _way(band: list[Knot], count: int) -> FloatArray:
    """(frames, 2) along straight pieces from knot to knot, faster and slower without a jump."""
    points, frames = np.array([knot.point for knot in band]), np.array([knot.frame for knot in band], dtype=np.float64)
    if len(band) == 1:
        return np.repeat(points, count, axis=0)
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1) + 1e-9)])
    gone = PchipInterpolator(frames, length)(np.clip(np.arange(count), frames[0], frames[-1]))
    return np.stack([np.interp(gone, length, points[:, i]) for i in range(2)], axis=1)


def _rounded(plan: Plan, way: FloatArray, alone: dict[str, BoolArray]) -> FloatArray:
    """The way with its corners rounded, still inside the foot that stands alone."""
    out: FloatArray = gaussian_filter1d(way, max(SOFT * plan.rate, 0.3), axis=0, mode="nearest")
    for side, mask in alone.items():
        for frame in np.flatnonzero(mask).tolist():
            out[frame] = _patch(plan, side, frame).nearest(out[frame], HELD)
    return out
