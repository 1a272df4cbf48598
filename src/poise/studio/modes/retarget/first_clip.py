"""A clip to begin with, for those who have none at hand: a child greets, stretches and bows."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from poise.figures.people.human_body import human
from poise.motion.clip.clip import Clip

STATURE, MASS = 1.2, 24.0
"""Of the child [m, kg]."""
RATE = 24.0
SWAY = 0.004
"""Nobody stands quite still [m]."""
KEYS = ((0.0, "standing"), (0.6, "waving"), (1.0, "waving"), (1.6, "arms_up"), (2.2, "crouching"), (3.0, "standing"))
"""Times [s] and postures."""


@lru_cache(maxsize=1)
def greeting() -> Clip:
    """The child, eased from posture to posture."""
    child = human(STATURE, MASS, name="child")
    when = np.array([time for time, _ in KEYS])
    keys = [child.posture(name) for _, name in KEYS]
    sideways = np.zeros(child.nv)
    sideways[child.v_slice(child.joints.names[0])][0] = 1.0
    rows = []
    for time in np.arange(0.0, when[-1] + 1e-9, 1.0 / RATE):
        k = int(np.clip(np.searchsorted(when, time, side="right") - 1, 0, len(KEYS) - 2))
        u = float((time - when[k]) / (when[k + 1] - when[k]))
        way = child.difference(keys[k], keys[k + 1])
        rows.append(child.integrate(keys[k], u * u * (3.0 - 2.0 * u) * way + SWAY * np.sin(2.1 * time) * sideways).q)
    return Clip(child, np.array(rows), RATE, "a child greets")
