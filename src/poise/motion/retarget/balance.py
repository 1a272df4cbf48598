"""Plans a path for the centre of mass that keeps a slowly moving figure in static balance.

In single support the centre of mass is over the standing foot; in double support it moves from one foot to the other,
and arrives before the first foot lifts [Schumacher et al. 2021, V.4]. Of all paths that satisfy this, the shortest is
taken: it enters and leaves each sole at the points nearest to the other foot. So long steps need neither long legs nor
wide swings of the body.
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

SOLE_SHARE = 0.6
"""Share of each sole, about its centre, that the path stays in before its corners are smoothed."""
SMOOTHED_SOLE_SHARE = 0.75
"""Share of each sole that the path stays in after its corners are smoothed."""
CORNER_SMOOTHING_TIME = 0.03
"""Standard deviation in time of the Gaussian that smooths the path's corners [s]."""
CONTACT_EXTENSION_TIME = 0.08
"""Time by which feet come down earlier and lift later than in the clip, to lengthen double support [s]."""
SHORTENING_ROUNDS = 200
"""Sweeps of the coordinate descent that shortens the path."""


class SoleArea(NamedTuple):
    """The rectangle that a sole covers on the ground, in plan view."""

    center: FloatArray
    """(2,) x and z in standing axes [m]."""
    axes: FloatArray
    """(2, 2) unit vectors as rows: across the foot, along the foot."""
    half: FloatArray
    """(2,) half the breadth and half the length [m]."""

    def nearest(self, point: FloatArray, share: float) -> FloatArray:
        """(2,) the point nearest to `point` in this rectangle, shrunk about its centre to a share of its size."""
        limit = share * self.half
        inside: FloatArray = self.center + np.clip(self.axes @ (point - self.center), -limit, limit) @ self.axes
        return inside


class Knot(NamedTuple):
    """A vertex of the path, at the first or last frame of a single support, or at the start or end of the motion."""

    frame: float
    sole: SoleArea | None
    """Sole that the vertex must stay on; None for a vertex with a fixed position."""
    point: FloatArray
    """(2,) x and z in standing axes [m]."""


def with_longer_contacts(plan: Plan) -> Plan:
    """The plan with longer contacts: the double support of people is too short for a figure in static balance."""
    return plan.with_contacts(plan.contacts.longer(round(CONTACT_EXTENSION_TIME * plan.rate)))


def center_schedule(figure: Figure, plan: Plan) -> FloatArray:
    """(frames, 3) target path of the centre of mass in the world of the figure [m]; its heights have no meaning."""
    if figure.mass <= 0.0:
        raise TaskError(f"balance needs masses, and figure {figure.name!r} has none; leave balance out.")
    if len(plan.feet) != 2:
        raise TaskError(f"balance needs a mapping with a left and a right ankle, not {len(plan.feet)} of them.")
    single = {side: _single_support(plan, side) for side in ("left", "right")}
    knots = _shortest_path(_path_knots(plan, single))
    flat = _smoothed_inside_soles(plan, _timed_path(knots, len(single["left"])), single)
    path = np.stack([flat[:, 0], np.zeros(len(flat)), flat[:, 1]], axis=1)
    return plan.build.world(path)


def _single_support(plan: Plan, side: str) -> BoolArray:
    """(frames,) whether one foot stands and the other does not."""
    other = "right" if side == "left" else "left"
    out: BoolArray = plan.contacts.standing(side) & ~plan.contacts.standing(other)
    return out


def _sole_area(plan: Plan, side: str, frame: int) -> SoleArea:
    foot, path = plan.build.feet[side], plan.feet[side]
    yaw = path.yaw[frame]
    along = np.array([np.sin(yaw), np.cos(yaw)])
    half = np.array([0.5 * foot.breadth, 0.5 * float(np.linalg.norm(foot.ball - foot.heel))])
    return SoleArea(path.place[frame, [0, 2]], np.array([[along[1], -along[0]], along]), half)


def _path_knots(plan: Plan, single: dict[str, BoolArray]) -> list[Knot]:
    """Vertices of the path in time order: its start, the first and last frame of each single support, and its end."""
    count = len(single["left"])
    between = 0.5 * (plan.feet["left"].place + plan.feet["right"].place)[:, [0, 2]]
    spans = sorted((first, last, side) for side, mask in single.items() for first, last in segments(mask))
    knots = [] if spans and spans[0][0] == 0 else [Knot(0, None, between[0])]
    for first, last, side in spans:
        for frame in {first, last - 1}:
            sole = _sole_area(plan, side, frame)
            knots.append(Knot(frame, sole, sole.center))
    if not spans or spans[-1][1] < count:
        knots.append(Knot(count - 1, None, between[-1]))
    return sorted(knots, key=lambda knot: knot.frame)


def _shortest_path(knots: list[Knot]) -> list[Knot]:
    """The knots, each moved as near to the midpoint of its neighbours as its sole allows, until the path is short."""
    band = list(knots)
    for _ in range(SHORTENING_ROUNDS):
        moved = False
        for i, knot in enumerate(band):
            if knot.sole is not None:
                beside = [band[j].point for j in (i - 1, i + 1) if 0 <= j < len(band)]
                midpoint = sum(beside, np.zeros(2)) / len(beside) if beside else knot.point
                nearest = knot.sole.nearest(midpoint, SOLE_SHARE)
                moved = moved or bool((nearest != knot.point).any())
                band[i] = knot._replace(point=nearest)
        if not moved:
            break
    return band


def _timed_path(band: list[Knot], count: int) -> FloatArray:
    """(frames, 2) positions on the straight pieces between knots, with a speed that is continuous in time."""
    points, frames = np.array([knot.point for knot in band]), np.array([knot.frame for knot in band], dtype=np.float64)
    if len(band) == 1:
        return np.repeat(points, count, axis=0)
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1) + 1e-9)])
    travelled = PchipInterpolator(frames, length)(np.clip(np.arange(count), frames[0], frames[-1]))
    return np.stack([np.interp(travelled, length, points[:, i]) for i in range(2)], axis=1)


def _smoothed_inside_soles(plan: Plan, path: FloatArray, single: dict[str, BoolArray]) -> FloatArray:
    """(frames, 2) the path with smoothed corners, clamped to the standing sole in single support."""
    out: FloatArray = gaussian_filter1d(path, max(CORNER_SMOOTHING_TIME * plan.rate, 0.3), axis=0, mode="nearest")
    for side, mask in single.items():
        for frame in np.flatnonzero(mask).tolist():
            out[frame] = _sole_area(plan, side, frame).nearest(out[frame], SMOOTHED_SOLE_SHARE)
    return out
