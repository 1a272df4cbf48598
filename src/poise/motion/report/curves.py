"""Curves over a motion: limits, speed, acceleration and jerk of each joint, spikes of jerk, and static balance.

With v_i the velocity of a joint from frame i to frame i + 1, its acceleration at frame i is (v_i - v_{i-1}) · rate, and
its jerk from frame i to frame i + 1 is the difference of two accelerations times the rate. For a joint with several
coordinates the curves are norms over the coordinates. A free joint has two sets of curves: translation and rotation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from poise.figure.collision.soles import sole_corners
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray, Frames
from poise.figure.model.posture import Posture
from poise.kernels.body.limits import ball_room
from poise.kernels.maths.nearest_point import convex_hull, nearest_on_hull
from poise.motion.clip.motion import Motion

SPIKE_FACTOR = 8.0
"""A frame is a spike if the jerk of a joint exceeds this many times its usual jerk."""
USUAL_JERK_PERCENTILE = 95.0
"""Percentile over the frames that defines the usual jerk."""
SOLE_CONTACT_HEIGHT = 5e-3
"""Points of a standing foot up to this height above its lowest point touch the ground [m]."""
CORNER_DECIMALS = 9
"""Corners are equal if their positions [m] agree to this number of decimals."""
Corners = list[tuple[str, FloatArray]]
"""Corners of a sole: each the name of a site or body and a point (3,) in its frame [m]."""


class Spike(NamedTuple):
    """A frame at which the jerk of a joint is far above its usual jerk."""

    frame: int
    joint: str
    jerk: float
    """[rad/s³ or m/s³]"""
    threshold: float
    """The jerk above which this frame counts as a spike [rad/s³ or m/s³]."""


@dataclass(frozen=True)
class JointCurve:
    """Curves of one joint over a motion."""

    joint: str
    slides: bool
    """Whether the joint's values are metres, not radians."""
    room: FloatArray | None
    """(frames,) distance to the nearest limit, negative beyond it [rad or m]; None for a joint without limits."""
    speed: FloatArray
    """(frames - 1,) speed from each frame to the next [rad/s or m/s]."""
    acceleration: FloatArray
    """(frames - 2,) acceleration at each frame, from the second on [rad/s² or m/s²]."""
    jerk: FloatArray
    """(frames - 3,) jerk from each frame to the next, from the second on [rad/s³ or m/s³]."""
    fastest: float
    """Speed limit of the joint, inf if it has none [rad/s or m/s]."""


def joint_curves(motion: Motion) -> list[JointCurve]:
    """Curves of every joint of a motion, in the figure's order."""
    velocity, figure = motion.velocity, motion.figure
    rooms = _limit_distances(motion)
    curves = []
    for joint in figure.joints:
        at = figure.v_slice(joint.name)
        if joint.kind == "free":
            parts = {f"{joint.name} (place)": (slice(at.start, at.start + 3), True)}
            parts[f"{joint.name} (turn)"] = (slice(at.start + 3, at.stop), False)
        else:
            parts = {joint.name: (at, set(joint.primitives) == {"slide"})}
        for name, (columns, slides) in parts.items():
            if columns.stop > columns.start:
                rates = _rates_by_order(velocity[:, columns], motion.rate)
                curves.append(JointCurve(name, slides, rooms.get(joint.name), *rates, joint.speed))
    return curves


def find_spikes(motion: Motion) -> tuple[Spike, ...]:
    """Frames where the jerk of a coordinate exceeds `SPIKE_FACTOR` times the usual jerk, its own and the motion's."""
    if len(motion) < 5:
        return ()
    jerk = np.abs(np.diff(motion.velocity, n=2, axis=0)) * motion.rate**2
    usual = np.percentile(jerk, USUAL_JERK_PERCENTILE, axis=0)
    bound = SPIKE_FACTOR * np.maximum(usual, np.percentile(jerk, USUAL_JERK_PERCENTILE))
    owners = _joint_of_column(motion.figure)
    worst: dict[tuple[int, str], Spike] = {}
    for row, column in np.argwhere(jerk > bound).tolist():
        spike = Spike(row + 1, owners[column], float(jerk[row, column]), float(bound[column]))
        known = worst.get((spike.frame, spike.joint))
        if known is None or spike.jerk > known.jerk:
            worst[spike.frame, spike.joint] = spike
    return tuple(worst.values())


def _joint_of_column(figure: Figure) -> list[str]:
    """(nv,) name of the joint that each velocity coordinate belongs to."""
    names = [""] * figure.nv
    for joint in figure.joints:
        at = figure.v_slice(joint.name)
        names[at] = [joint.name] * (at.stop - at.start)
    return names


def _rates_by_order(velocity: FloatArray, rate: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Norms of the velocities and of their first and second time derivatives: speed, acceleration and jerk."""
    sizes = []
    for order in range(3):
        change = np.diff(velocity, n=order, axis=0) if len(velocity) > order else np.empty((0, velocity.shape[1]))
        sizes.append(np.linalg.norm(change, axis=1) * rate**order)
    return sizes[0], sizes[1], sizes[2]


def _limit_distances(motion: Motion) -> dict[str, FloatArray]:
    """(frames,) distance to the nearest limit, by name of every joint that has limits."""
    figure = motion.figure
    rooms = {}
    for joint in figure.joints:
        low, high = np.array(joint.lower), np.array(joint.upper)
        if joint.scalars and (np.isfinite(low) | np.isfinite(high)).any():
            values = motion.q[:, figure.q_slice(joint.name)]
            rooms[joint.name] = np.minimum(values - low, high - values).min(axis=1)
    return rooms | _ball_limit_distances(figure, list(motion))


def _ball_limit_distances(figure: Figure, postures: list[Posture]) -> dict[str, FloatArray]:
    bounds = figure.compiled.bounds
    starts = {figure.q_slice(joint.name).start: joint.name for joint in figure.joints if joint.kind == "ball"}
    return {
        starts[int(start)]: np.array([min(ball_room(bounds, ball, posture._q)) for posture in postures])
        for ball, start in enumerate(bounds.ball_start)
    }


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
