"""Plans where feet go, before anything is solved: planted where they stand, above the ground where they do not.

A clip's feet slide, float and sink, the more so on legs of other lengths. The path of each foot is therefore drawn
anew: while its ball stands, the ball keeps one place, about which the foot may roll and turn; while only its heel
stands, the heel does; while both do, the whole foot keeps still. In the air it follows the clip, moved by what its
landings were moved by, eased from one to the next, so that nothing jumps.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter1d
from scipy.spatial.transform import Rotation

from poise.figure.model.pose import FloatArray
from poise.motion.clip.contacts import BoolArray, segments
from poise.motion.retarget.build import Foot

EASE = 0.12
"""Time over which a foot eases into and out of being flat [s]."""
ARRIVAL = 0.06
"""Time over which a foot slows down to stand, and gathers speed afterwards [s]."""
SOFT = 0.01
"""Height below which a foot in the air is lifted smoothly, in leg lengths."""
LANDING = 0.12
"""Time before and after standing at which a foot is far from it [s]."""
STEEPEST = np.radians(55.0)
"""Of a foot that rolls over its toes."""


class FootPath(NamedTuple):
    """Where a sole goes."""

    place: FloatArray
    """(frames, 3) centre of the sole [m]."""
    yaw: FloatArray
    """(frames,) where it points, about y [rad]."""
    pitch: FloatArray
    """(frames,) how far its heel is lifted over its toes, negative for the toes over the heel [rad]."""
    near: FloatArray
    """(frames,) 1 where the foot stands, 0 long before and after."""

    turn: Rotation
    """How the sole is turned in every frame; in the air it may roll as well."""


def plan_foot(  # noqa: PLR0917
    foot: Foot,
    free: FootPath,
    heel: BoolArray,
    ball: BoolArray,
    rate: float,
    leg: float,
) -> FootPath:
    """A path on the ground, from one that is not.

    Args:
        foot: The foot.
        free: The clip's: place of the *ankle*, and directions.
        heel: (frames,) whether the heel stands.
        ball: (frames,) whether the ball stands.
        rate: Frames per second.
        leg: Length of a leg [m].
    """
    yaw = _held_yaw(free.yaw, heel & ball, rate)
    pitch = _eased_pitch(free.pitch, heel, ball, rate)
    early = np.clip(frames_from(heel | ball) / (LANDING * rate), 0.0, 1.0)
    turn = _between(Rotation.from_euler("YX", np.stack([yaw, pitch], axis=1)), free.turn, eased(early))
    loose = free.place - turn.apply(foot.ankle)
    planted = _planted(foot, loose, turn, heel, ball)
    moved = _arriving(_carried(loose, planted, heel | ball), heel | ball, rate)
    place = lifted(foot, moved, turn, heel | ball, softness(heel | ball, rate, leg))
    return FootPath(place, yaw, pitch, 1.0 - eased(early), turn)


def _between(a: Rotation, b: Rotation, share: FloatArray) -> Rotation:
    """From one rotation to another by the shortest way, frame by frame."""
    return a * Rotation.from_rotvec(share[:, None] * (a.inv() * b).as_rotvec())


def _held_yaw(yaw: FloatArray, flat: BoolArray, rate: float) -> FloatArray:
    """One direction while a foot is flat, carried over to the air between."""
    wanted = yaw.copy()
    for first, last in segments(flat):
        wanted[first:last] = np.mean(yaw[first:last])
    return yaw + _spread(wanted - yaw, flat)


def _eased_pitch(pitch: FloatArray, heel: BoolArray, ball: BoolArray, rate: float) -> FloatArray:
    """0 while flat; the heel up while only the ball stands, the toes up while only the heel does; eased in the air."""
    flat, window = heel & ball, max(EASE * rate, 1.0)
    away = np.clip(frames_from(flat) / window, 0.0, 1.0)
    wanted = eased(away) * np.clip(pitch, -STEEPEST, STEEPEST)
    wanted += faded((_allowed(wanted, heel, ball) - wanted)[:, None], heel | ball, window)[:, 0]
    soft = gaussian_filter1d(wanted, max(0.02 * rate, 0.3), mode="nearest")
    soft *= eased(np.clip(frames_from(flat) / max(0.05 * rate, 1.0), 0.0, 1.0))
    return _allowed(soft, heel, ball)


def _allowed(pitch: FloatArray, heel: BoolArray, ball: BoolArray) -> FloatArray:
    """Neither end of a foot that stands on the other goes into the ground."""
    above = np.where(ball & ~heel, np.maximum(pitch, 0.0), pitch)
    return np.where(heel & ~ball, np.minimum(above, 0.0), above)


def _planted(foot: Foot, loose: FloatArray, turn: Rotation, heel: BoolArray, ball: BoolArray) -> FloatArray:
    """(frames, 3) centre of the sole where something stands: one place for each stretch of ball or heel."""
    out = loose.copy()
    fore, rear = turn.apply(foot.ball), turn.apply(foot.heel)
    for first, last in segments(heel | ball):
        _plant(out, loose, (fore, rear), ball[first:last], first)
    return out


def _plant(
    out: FloatArray, loose: FloatArray, points: tuple[FloatArray, FloatArray], ball: BoolArray, first: int
) -> None:
    """Plant one stretch: by its ball where that stands, and by the heel before, between and after from there."""
    fore, rear = points
    stretches = [(a + first, b + first, on) for on in (True, False) for a, b in segments(ball == on)]
    stretches.sort()
    start = max(range(len(stretches)), key=lambda i: (stretches[i][2], stretches[i][1] - stretches[i][0]))
    a, b, on = stretches[start]
    arm = fore if on else rear
    place = np.mean(loose[a:b] + arm[a:b], axis=0)
    place[1] = 0.0
    out[a:b] = place - arm[a:b]
    for a, b, on in stretches[start + 1 :]:
        arm = fore if on else rear
        out[a:b] = _grounded(out[a - 1] + arm[a - 1]) - arm[a:b]
    for a, b, on in reversed(stretches[:start]):
        arm = fore if on else rear
        out[a:b] = _grounded(out[b] + arm[b]) - arm[a:b]


def _grounded(place: FloatArray) -> FloatArray:
    return np.array([place[0], 0.0, place[2]])


def _carried(loose: FloatArray, planted: FloatArray, stands: BoolArray) -> FloatArray:
    """What planting moved, eased over the air between landings."""
    moved: FloatArray = loose + np.stack([_spread((planted - loose)[:, i], stands) for i in range(3)], axis=1)
    return moved


def _arriving(place: FloatArray, stands: BoolArray, rate: float) -> FloatArray:
    """The path drawn to where a foot stands just before and after, so that it comes and goes without speed."""
    out = place.copy()
    for first, last in segments(~stands):
        reach = min(ARRIVAL * rate, 0.5 * (last - first + 1))
        frames = np.arange(1, last - first + 1)
        if first > 0:
            share = 1.0 - eased(np.clip(frames / reach, 0.0, 1.0))[:, None]
            out[first:last] += share * (place[first - 1] - out[first:last])
        if last < len(place):
            share = 1.0 - eased(np.clip((last - first + 1 - frames) / reach, 0.0, 1.0))[:, None]
            out[first:last] += share * (place[last] - out[first:last])
    return out


def _spread(change: FloatArray, fixed: BoolArray) -> FloatArray:
    """A change that is known where `fixed`, eased from each stretch to the next and held at the ends."""
    if not fixed.any():
        return np.zeros_like(change)
    out = change.copy()
    for first, last in segments(~fixed):
        if first == 0 or last == len(fixed):
            out[first:last] = change[last] if first == 0 else change[first - 1]
            continue
        share = eased(np.arange(1, last - first + 1) / (last - first + 1))
        out[first:last] = (1.0 - share) * change[first - 1] + share * change[last]
    return out


def faded(change: FloatArray, stands: BoolArray, window: float) -> FloatArray:
    """A change (frames, k) as it is where a foot stands, fading over `window` frames before and after."""
    out = np.where(stands[:, None], change, 0.0)
    count = len(stands)
    for first, last in segments(~stands):
        length = last - first + 1
        reach = min(window, length)
        frames = np.arange(1, length)
        if first > 0:
            out[first:last] += eased(np.clip(1.0 - frames / reach, 0.0, 1.0))[:, None] * change[first - 1]
        if last < count:
            out[first:last] += eased(np.clip(1.0 - (length - frames) / reach, 0.0, 1.0))[:, None] * change[last]
    return out


def lifted(foot: Foot, place: FloatArray, turn: Rotation, stands: BoolArray, soft: FloatArray) -> FloatArray:
    """The path with both ends of the sole above the ground where the foot is in the air, by soft (frames,) heights."""
    lowest = place[:, 1] + np.minimum(turn.apply(foot.ball)[:, 1], turn.apply(foot.heel)[:, 1])
    raised = 0.5 * (lowest + np.sqrt(lowest**2 + soft**2))
    out = place.copy()
    out[:, 1] += np.where(stands, np.maximum(0.0, -lowest), np.maximum(raised, 0.0) - lowest)
    return out


def softness(stands: BoolArray, rate: float, leg: float) -> FloatArray:
    """(frames,) height over which a foot in the air is kept off the ground, none where it stands [m]."""
    far: FloatArray = SOFT * leg * eased(np.clip(frames_from(stands) / max(0.08 * rate, 1.0), 0.0, 1.0))
    return far


def frames_from(mask: BoolArray) -> FloatArray:
    """(frames,) how many frames away the nearest true one is."""
    at = np.flatnonzero(mask)
    if not len(at):
        return np.full(len(mask), np.inf)
    frames = np.arange(len(mask))
    right = np.clip(np.searchsorted(at, frames), 0, len(at) - 1)
    left = np.clip(right - 1, 0, len(at) - 1)
    gap: FloatArray = np.minimum(np.abs(at[right] - frames), np.abs(at[left] - frames)).astype(np.float64)
    return gap


def eased(share: FloatArray) -> FloatArray:
    """0 to 1 without a corner."""
    out: FloatArray = share * share * share * (10.0 - 15.0 * share + 6.0 * share * share)
    return out
