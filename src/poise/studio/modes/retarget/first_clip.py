"""The clip that the retarget mode starts with: a child waves, stretches and crouches."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from poise.figures.people.human_body import human
from poise.motion.clip.clip import Clip

CHILD_HEIGHT, CHILD_MASS = 1.2, 24.0
"""Height [m] and mass [kg] of the child."""
FIRST_CLIP_RATE = 24.0
"""Frames per second."""
SWAY_AMPLITUDE = 0.004
"""Amplitude of a sideways sway that is added to all frames [m]."""
KEY_POSTURES = (
    (0.0, "standing"),
    (0.6, "waving"),
    (1.0, "waving"),
    (1.6, "arms_up"),
    (2.2, "crouching"),
    (3.0, "standing"),
)
"""Keyframes: times [s] and named postures."""


@lru_cache(maxsize=1)
def greeting() -> Clip:
    """The clip: the child moves from keyframe to keyframe with smooth starts and stops."""
    child = human(CHILD_HEIGHT, CHILD_MASS, name="child")
    when = np.array([time for time, _ in KEY_POSTURES])
    keys = [child.posture(name) for _, name in KEY_POSTURES]
    sideways = np.zeros(child.nv)
    sideways[child.v_slice(child.joints.names[0])][0] = 1.0
    rows = []
    for time in np.arange(0.0, when[-1] + 1e-9, 1.0 / FIRST_CLIP_RATE):
        k = int(np.clip(np.searchsorted(when, time, side="right") - 1, 0, len(KEY_POSTURES) - 2))
        u = float((time - when[k]) / (when[k + 1] - when[k]))
        change = child.difference(keys[k], keys[k + 1])
        sway = SWAY_AMPLITUDE * np.sin(2.1 * time) * sideways
        rows.append(child.integrate(keys[k], u * u * (3.0 - 2.0 * u) * change + sway).q)
    return Clip(child, np.array(rows), FIRST_CLIP_RATE, "a child greets")
