"""Plans the paths of feet before the motion is solved: fixed on the ground in stance, above the ground in swing.

The feet of a clip slide, float and sink, and more so once they are scaled to other legs. Each foot therefore gets a new
path. While its ball is in contact, the ball stays at one point, about which the foot may roll and turn; while only its
heel is in contact, the heel stays at one point; while both are, the whole foot is fixed. In swing the foot follows the
clip plus an offset. The offset is interpolated smoothly between the offsets of the stances before and after, so the
path has no jumps.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter1d
from scipy.spatial.transform import Rotation

from poise.figure.model.pose import FloatArray
from poise.motion.clip.contacts import BoolArray, segments
from poise.motion.retarget.build import Foot

FLAT_EASE_TIME = 0.12
"""Time over which the pitch of a foot goes to zero before flat stance, and leaves it afterwards [s]."""
CONTACT_SLOWDOWN_TIME = 0.06
"""Time over which a foot slows down before a contact, and speeds up afterwards [s]."""
GROUND_CLEARANCE = 0.01
"""Height below which a swinging foot is raised smoothly [leg lengths]."""
SWING_BLEND_TIME = 0.12
"""Time before and after a stance over which the planned rotation of a foot blends into the clip's [s]."""
STEEPEST_FOOT_PITCH = np.radians(55.0)
"""Greatest pitch of a foot, whether its heel or its toes are up [rad]."""
RIGID_FOOT_PITCH = np.radians(25.0)
"""Such a pitch for a foot without toes: it lifts flat, where a person's has rolled over its toes already [rad]."""
RIGID_BLEND_TIME = 0.2
"""Time over which the rotation of a foot without toes leaves the ground's, and returns to it [s]."""


class FootPath(NamedTuple):
    """The path of a sole, in standing axes."""

    place: FloatArray
    """(frames, 3) centre of the sole [m]."""
    yaw: FloatArray
    """(frames,) heading of the foot about y [rad]."""
    pitch: FloatArray
    """(frames,) pitch of the foot: positive with the heel above the toes, negative with the toes above [rad]."""
    contact_proximity: FloatArray
    """(frames,) 1 in stance, falling smoothly to 0 within `SWING_BLEND_TIME` before and after it."""

    turn: Rotation
    """Rotation of the sole in every frame; in swing it may include roll."""


def plan_foot(  # noqa: PLR0917
    foot: Foot,
    free: FootPath,
    heel: BoolArray,
    ball: BoolArray,
    rate: float,
    leg: float,
) -> FootPath:
    """Plan a path near the clip's, on which the foot does not slide while it is in contact.

    Args:
        foot: The foot of the figure.
        free: The clip's path; its `place` is that of the *ankle*.
        heel: (frames,) whether the heel is in contact.
        ball: (frames,) whether the ball is in contact.
        rate: Frames per second.
        leg: Length of a leg [m].
    """
    blend = SWING_BLEND_TIME
    if foot.lifts_flat:
        blend, level = RIGID_BLEND_TIME, np.clip(free.pitch, -RIGID_FOOT_PITCH, RIGID_FOOT_PITCH)
        free = free._replace(pitch=level, turn=Rotation.from_euler("YX", np.stack([free.yaw, level], axis=1)))
    yaw = _constant_yaw_in_stance(free.yaw, heel & ball, rate)
    pitch = _smoothed_pitch(free.pitch, heel, ball, rate)
    swing_share = np.clip(frames_to_nearest(heel | ball) / (blend * rate), 0.0, 1.0)
    turn = _interpolated_rotation(
        Rotation.from_euler("YX", np.stack([yaw, pitch], axis=1)), free.turn, smootherstep(swing_share)
    )
    unplanted = free.place - turn.apply(foot.ankle)
    planted = _planted_path(foot, unplanted, turn, heel, ball)
    moved = _slowed_at_contacts(_shifted_swing(unplanted, planted, heel | ball), heel | ball, rate)
    place = raised_above_ground(foot, moved, turn, heel | ball, ground_clearance(heel | ball, rate, leg))
    return FootPath(place, yaw, pitch, 1.0 - smootherstep(swing_share), turn)


def _interpolated_rotation(a: Rotation, b: Rotation, share: FloatArray) -> Rotation:
    """Spherical interpolation from `a` to `b` in every frame, by the shares (frames,)."""
    return a * Rotation.from_rotvec(share[:, None] * (a.inv() * b).as_rotvec())


def _constant_yaw_in_stance(yaw: FloatArray, flat: BoolArray, rate: float) -> FloatArray:
    """(frames,) the yaw, constant in each flat stance; between flat stances its change is interpolated."""
    wanted = yaw.copy()
    for first, last in segments(flat):
        wanted[first:last] = np.mean(yaw[first:last])
    return yaw + interpolated_offsets(wanted - yaw, flat)


def _smoothed_pitch(pitch: FloatArray, heel: BoolArray, ball: BoolArray, rate: float) -> FloatArray:
    """(frames,) smooth pitch: zero in flat stance, heel up on the ball alone, toes up on the heel alone."""
    flat, window = heel & ball, max(FLAT_EASE_TIME * rate, 1.0)
    away = np.clip(frames_to_nearest(flat) / window, 0.0, 1.0)
    wanted = smootherstep(away) * np.clip(pitch, -STEEPEST_FOOT_PITCH, STEEPEST_FOOT_PITCH)
    wanted += faded_into_swing((_without_penetration(wanted, heel, ball) - wanted)[:, None], heel | ball, window)[:, 0]
    soft = gaussian_filter1d(wanted, max(0.02 * rate, 0.3), mode="nearest")
    soft *= smootherstep(np.clip(frames_to_nearest(flat) / max(0.05 * rate, 1.0), 0.0, 1.0))
    return _without_penetration(soft, heel, ball)


def _without_penetration(pitch: FloatArray, heel: BoolArray, ball: BoolArray) -> FloatArray:
    """(frames,) pitch clamped so that a foot on its ball does not push its heel into the ground, and vice versa."""
    above = np.where(ball & ~heel, np.maximum(pitch, 0.0), pitch)
    return np.where(heel & ~ball, np.minimum(above, 0.0), above)


def _planted_path(foot: Foot, unplanted: FloatArray, turn: Rotation, heel: BoolArray, ball: BoolArray) -> FloatArray:
    """(frames, 3) centre of the sole with each run of ball or heel contact fixed at one point; swing is unchanged."""
    out = unplanted.copy()
    fore, rear = turn.apply(foot.ball), turn.apply(foot.heel)
    for first, last in segments(heel | ball):
        _plant_stance(out, unplanted, (fore, rear), ball[first:last], first)
    return out


def _plant_stance(
    out: FloatArray, unplanted: FloatArray, points: tuple[FloatArray, FloatArray], ball: BoolArray, first: int
) -> None:
    """Fix the contacts of one stance in `out` (frames, 3).

    The longest run of ball contact, or else of heel contact, goes to its mean position on the ground. The runs before
    and after it continue from there, each fixed at the point at which the foot rolls over to it.
    """
    fore, rear = points
    stretches = [(a + first, b + first, on) for on in (True, False) for a, b in segments(ball == on)]
    stretches.sort()
    start = max(range(len(stretches)), key=lambda i: (stretches[i][2], stretches[i][1] - stretches[i][0]))
    a, b, on = stretches[start]
    arm = fore if on else rear
    place = np.mean(unplanted[a:b] + arm[a:b], axis=0)
    place[1] = 0.0
    out[a:b] = place - arm[a:b]
    for a, b, on in stretches[start + 1 :]:
        arm = fore if on else rear
        out[a:b] = _on_ground(out[a - 1] + arm[a - 1]) - arm[a:b]
    for a, b, on in reversed(stretches[:start]):
        arm = fore if on else rear
        out[a:b] = _on_ground(out[b] + arm[b]) - arm[a:b]


def _on_ground(place: FloatArray) -> FloatArray:
    return np.array([place[0], 0.0, place[2]])


def _shifted_swing(unplanted: FloatArray, planted: FloatArray, stands: BoolArray) -> FloatArray:
    """(frames, 3) the path as planted in stance; in swing its offset is interpolated between stances."""
    moved: FloatArray = unplanted + np.stack(
        [interpolated_offsets((planted - unplanted)[:, i], stands) for i in range(3)], axis=1
    )
    return moved


def _slowed_at_contacts(place: FloatArray, stands: BoolArray, rate: float) -> FloatArray:
    """(frames, 3) the path pulled to the contact point just before and after a stance, so that it stops there."""
    out = place.copy()
    for first, last in segments(~stands):
        reach = min(CONTACT_SLOWDOWN_TIME * rate, 0.5 * (last - first + 1))
        frames = np.arange(1, last - first + 1)
        if first > 0:
            share = 1.0 - smootherstep(np.clip(frames / reach, 0.0, 1.0))[:, None]
            out[first:last] += share * (place[first - 1] - out[first:last])
        if last < len(place):
            share = 1.0 - smootherstep(np.clip((last - first + 1 - frames) / reach, 0.0, 1.0))[:, None]
            out[first:last] += share * (place[last] - out[first:last])
    return out


def interpolated_offsets(change: FloatArray, fixed: BoolArray) -> FloatArray:
    """(frames,) `change` in `fixed` frames, interpolated smoothly between those, and constant before and after them."""
    if not fixed.any():
        return np.zeros_like(change)
    out = change.copy()
    for first, last in segments(~fixed):
        if first == 0 or last == len(fixed):
            out[first:last] = change[last] if first == 0 else change[first - 1]
            continue
        share = smootherstep(np.arange(1, last - first + 1) / (last - first + 1))
        out[first:last] = (1.0 - share) * change[first - 1] + share * change[last]
    return out


def faded_into_swing(change: FloatArray, stands: BoolArray, window: float) -> FloatArray:
    """A change (frames, k) that applies in stance and fades to zero over `window` frames before and after."""
    out = np.where(stands[:, None], change, 0.0)
    count = len(stands)
    for first, last in segments(~stands):
        length = last - first + 1
        reach = min(window, length)
        frames = np.arange(1, length)
        if first > 0:
            out[first:last] += smootherstep(np.clip(1.0 - frames / reach, 0.0, 1.0))[:, None] * change[first - 1]
        if last < count:
            out[first:last] += smootherstep(np.clip(1.0 - (length - frames) / reach, 0.0, 1.0))[:, None] * change[last]
    return out


def raised_above_ground(
    foot: Foot, place: FloatArray, turn: Rotation, stands: BoolArray, soft: FloatArray
) -> FloatArray:
    """(frames, 3) the path raised so that neither end of the sole is below the ground.

    In swing the lower end, at height h, is raised to (h + √(h² + s²))/2, with s the clearance `soft` (frames,) [m].
    """
    lowest = place[:, 1] + np.minimum(turn.apply(foot.ball)[:, 1], turn.apply(foot.heel)[:, 1])
    raised = 0.5 * (lowest + np.sqrt(lowest**2 + soft**2))
    out = place.copy()
    out[:, 1] += np.where(stands, np.maximum(0.0, -lowest), np.maximum(raised, 0.0) - lowest)
    return out


def ground_clearance(stands: BoolArray, rate: float, leg: float) -> FloatArray:
    """(frames,) clearance of a swinging foot above the ground, zero in stance [m]."""
    far: FloatArray = (
        GROUND_CLEARANCE * leg * smootherstep(np.clip(frames_to_nearest(stands) / max(0.08 * rate, 1.0), 0.0, 1.0))
    )
    return far


def frames_to_nearest(mask: BoolArray) -> FloatArray:
    """(frames,) number of frames to the nearest true one; inf if there is none."""
    at = np.flatnonzero(mask)
    if not len(at):
        return np.full(len(mask), np.inf)
    frames = np.arange(len(mask))
    right = np.clip(np.searchsorted(at, frames), 0, len(at) - 1)
    left = np.clip(right - 1, 0, len(at) - 1)
    gap: FloatArray = np.minimum(np.abs(at[right] - frames), np.abs(at[left] - frames)).astype(np.float64)
    return gap


def smootherstep(share: FloatArray) -> FloatArray:
    """The quintic 10 s³ - 15 s⁴ + 6 s⁵ that goes from 0 to 1 with zero first and second derivatives at both ends."""
    out: FloatArray = share * share * share * (10.0 - 15.0 * share + 6.0 * share * share)
    return out
