"""Moves a whole clip along the ground and turns it about the vertical; heights do not change."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from poise.figure.model.posture import Posture
from poise.motion.clip.clip import Clip


def moved_to(clip: Clip, start: Posture) -> Clip:
    """The clip moved so that its floating base starts at the ground position and heading of the base in `start`.

    The clip of a figure without a floating base is returned unchanged.
    """
    figure = clip.figure
    base = next((joint for joint in figure.joints if joint.kind == "free" and joint.parent is None), None)
    if base is None:
        return clip
    at, up = figure.q_slice(base.name), figure.up_vector
    q = clip.q.copy()
    place, turn = q[:, at][:, :3].copy(), Rotation.from_quat(q[:, at][:, 3:], scalar_first=True)
    wanted = Rotation.from_quat(start.q[at][3:], scalar_first=True)
    heading = _about(wanted * turn[0].inv(), up)
    shift = start.q[at][:3] - heading.apply(place[0])
    shift -= (shift @ up) * up
    q[:, at] = np.concatenate([heading.apply(place) + shift, (heading * turn).as_quat(scalar_first=True)], axis=1)
    return Clip(figure, q, clip.rate, clip.name)


def _about(rotation: Rotation, up: np.ndarray) -> Rotation:
    """The twist of a rotation about `up` (swing-twist decomposition)."""
    w, *xyz = rotation.as_quat(scalar_first=True)
    return Rotation.from_rotvec(2.0 * np.arctan2(float(np.dot(xyz, up)), float(w)) * up)
