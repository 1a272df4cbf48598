"""Postures to choose from by buttons: those a figure has names for, and simple shapes for chains that have none."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from poise.figure.model.figure import Figure
from poise.figure.model.posture import Posture

BEND = 0.4
"""Share of the way to its limit that a joint bends in a simple shape."""
ROOM = 1.2
"""How far a joint without limits counts as able to turn [rad]."""
SHAPES: dict[str, Callable[[int, int], float]] = {
    "straight": lambda k, n: 0.0,
    "bow": lambda k, n: 1.0,
    "lean back": lambda k, n: -0.7,
    "wave": lambda k, n: 1.0 if k % 2 else -1.0,
    "nod": lambda k, n: 1.6 if k >= n - 2 else -0.5,
}
"""Bend of joint k of n, in shares of BEND."""


@lru_cache(maxsize=32)
def posture_choices(figure: Figure) -> dict[str, Posture]:
    """Postures by name."""
    names = [name for name in figure.posture_names if name != "neutral"]
    if names:
        return {"neutral": figure.neutral(), **{name: figure.posture(name) for name in names}}
    return {name: _shaped(figure, bend) for name, bend in SHAPES.items()}


def _shaped(figure: Figure, bend: Callable[[int, int], float]) -> Posture:
    """A chain bent joint by joint; what turns about the chain itself stays."""
    low, high = figure.compiled.bounds.lower, figure.compiled.bounds.upper
    rest = figure.neutral()
    q = np.array(rest.q)
    swings = [k for k, name in enumerate(figure.moving_joints) if _bends(figure, name)]
    for place, k in enumerate(swings):
        share = BEND * bend(place, len(swings))
        q[k] += share * float(np.clip(high[k] if share > 0 else -low[k], 0.0, ROOM))
    return figure.clamp(figure.posture(q))


def _bends(figure: Figure, joint: str) -> bool:
    """Whether turning a joint moves the tip of a chain at rest: a twister only turns it about itself."""
    tip = figure.sites.names[0] if figure.sites.names else figure.bodies.names[-1]
    column = figure.jacobian(tip, figure.neutral())[:3, figure.v_slice(joint)]
    return bool(np.abs(column).max(initial=0.0) > 1e-9)
