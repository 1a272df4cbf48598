"""Moves footprints apart that would overlap on the ground.

People put one foot close beside the other, or cross their legs; the broader feet of a robot would then stand in each
other. Seen from above, a sole is a rectangle. Where both feet stand and their rectangles are nearer than `CLEARANCE`,
both stances are moved sideways, half the way each. In swing the shift is interpolated between stances.
"""

from __future__ import annotations

import numpy as np

from poise.figure.model.pose import FloatArray
from poise.motion.clip.contacts import BoolArray, Contacts, segments
from poise.motion.retarget.build import Foot
from poise.motion.retarget.feet import FootPath, interpolated_offsets

CLEARANCE = 0.01
"""Distance to keep between two footprints [m]."""


def sideways_shifts(
    build_feet: dict[str, Foot], feet: dict[str, FootPath], contacts: Contacts
) -> dict[str, FloatArray] | None:
    """(frames, 3) shift of each foot that keeps standing feet apart, by side [m]; None if nothing has to move.

    Args:
        build_feet: The figure's feet, by side.
        feet: Planned paths of both soles, by side.
        contacts: When feet stand.
    """
    if set(feet) != {"left", "right"}:
        return None
    needed, across = _overlap(build_feet, feet)
    stands = {side: contacts.standing(side) for side in feet}
    needed = np.where(stands["left"] & stands["right"], needed, 0.0)
    if not needed.any():
        return None
    return {side: _shift(sign * 0.5 * needed, across, stands[side]) for side, sign in (("left", 1.0), ("right", -1.0))}


def _shift(needed: FloatArray, across: FloatArray, stands: BoolArray) -> FloatArray:
    """(frames, 3) the greatest shift needed in each stance, interpolated in swing."""
    out = np.zeros((len(needed), 3))
    for first, last in segments(stands):
        frame = first + int(np.argmax(np.abs(needed[first:last])))
        out[first:last] = needed[frame] * across[frame]
    return np.stack([interpolated_offsets(out[:, i], stands) for i in range(3)], axis=1)


def _overlap(build_feet: dict[str, Foot], feet: dict[str, FootPath]) -> tuple[FloatArray, FloatArray]:
    """(frames,) how far the left sole has to move along `across` from the right one [m], and (frames, 3) `across`.

    Negative where the legs are crossed and the left foot is moved to the right.
    """
    yaw = 0.5 * (feet["left"].yaw + feet["right"].yaw)
    still = np.zeros_like(yaw)
    across = np.stack([np.cos(yaw), still, -np.sin(yaw)], axis=1)
    ahead = np.stack([np.sin(yaw), still, np.cos(yaw)], axis=1)
    spans = {}
    for side, path in feet.items():
        foot = build_feet[side]
        corners = np.array(
            [[x, 0.0, end[2]] for end in (foot.heel, foot.ball) for x in (-0.5 * foot.breadth, 0.5 * foot.breadth)]
        )
        points = path.place[:, None] + np.stack([path.turn.apply(corner) for corner in corners], axis=1)
        spans[side] = [np.einsum("fci,fi->fc", points, axis) for axis in (across, ahead)]
    (left_x, left_z), (right_x, right_z) = spans["left"], spans["right"]
    gap_z = np.maximum(left_z.min(axis=1) - right_z.max(axis=1), right_z.min(axis=1) - left_z.max(axis=1))
    is_left = left_x.mean(axis=1) >= right_x.mean(axis=1)
    gap_x = np.where(is_left, left_x.min(axis=1) - right_x.max(axis=1), right_x.min(axis=1) - left_x.max(axis=1))
    lack = np.where(gap_z < CLEARANCE, np.maximum(CLEARANCE - gap_x, 0.0), 0.0)
    return np.where(is_left, lack, -lack), across
