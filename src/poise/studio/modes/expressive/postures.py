"""The postures to choose from: a figure's named postures, or simple shapes for a chain without any."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from poise.figure.model.figure import Figure
from poise.figure.model.posture import Posture

BEND_SHARE = 0.4
"""Share of a joint's range by which it bends in a simple shape."""
UNLIMITED_JOINT_RANGE = 1.2
"""Largest range that is assumed for a joint [rad]."""
SIMPLE_SHAPES: dict[str, Callable[[int, int], float]] = {
    "straight": lambda k, n: 0.0,
    "bow": lambda k, n: 1.0,
    "lean back": lambda k, n: -0.7,
    "wave": lambda k, n: 1.0 if k % 2 else -1.0,
    "nod": lambda k, n: 1.6 if k >= n - 2 else -0.5,
}
"""For each shape, the bend of joint k of n as a multiple of `BEND_SHARE`."""


@lru_cache(maxsize=32)
def posture_choices(figure: Figure) -> dict[str, Posture]:
    """The postures to choose from, by name."""
    names = [name for name in figure.posture_names if name != "neutral"]
    if names:
        return {"neutral": figure.neutral(), **{name: figure.posture(name) for name in names}}
    return {name: _bent_posture(figure, bend) for name, bend in SIMPLE_SHAPES.items()}


def _bent_posture(figure: Figure, bend: Callable[[int, int], float]) -> Posture:
    """A chain with each joint bent by a function of its index; joints that twist the chain stay at zero."""
    low, high = figure.compiled.bounds.lower, figure.compiled.bounds.upper
    rest = figure.neutral()
    q = np.array(rest.q)
    swings = [k for k, name in enumerate(figure.moving_joints) if _bends(figure, name)]
    for index, k in enumerate(swings):
        share = BEND_SHARE * bend(index, len(swings))
        q[k] += share * float(np.clip(high[k] if share > 0 else -low[k], 0.0, UNLIMITED_JOINT_RANGE))
    return figure.clamp(figure.posture(q))


def _bends(figure: Figure, joint: str) -> bool:
    """Whether a joint moves the tip of the chain in the neutral posture; a twist joint only rotates it."""
    tip = figure.sites.names[0] if figure.sites.names else figure.bodies.names[-1]
    column = figure.jacobian(tip, figure.neutral())[:3, figure.v_slice(joint)]
    return bool(np.abs(column).max(initial=0.0) > 1e-9)
