"""Recordings whose first frame is a calibration pose: the person stands in a T somewhere, and jumps into the motion."""

from __future__ import annotations

import numpy as np

from poise.motion.clip.clip import Clip, Source

LEAST_JUMP = 0.1
"""Mean distance that joints jump from a calibration pose into the motion, as a share of the person's size."""
FASTER = 1.5
"""How much farther that is than joints move between other frames, of which the slowest 95 % are regarded."""


def without_calibration_pose(clip: Clip) -> Clip:
    """The clip with its second posture in the first frame too, if the first is a calibration pose; else unchanged."""
    if len(clip) < 4:
        return clip
    places = Source(clip).positions[:, : len(clip.figure.bodies)]
    moved = np.linalg.norm(np.diff(places, axis=0), axis=2).mean(axis=1)
    size = np.ptp(places[1], axis=0).max()
    if moved[0] <= max(LEAST_JUMP * size, FASTER * np.percentile(moved[1:], 95.0)):
        return clip
    return Clip(clip.figure, np.concatenate([clip.q[1:2], clip.q[1:]]), clip.rate, clip.name)
