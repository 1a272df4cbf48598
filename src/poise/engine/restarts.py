"""Other starts for a solve, and which of two results is better."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture

EQUAL = 1e-6
"""Errors nearer than this are the same [m or rad]."""


def other_starts(first: Posture, count: int, seed: int) -> Iterator[Posture]:
    """Random legal postures of a figure whose base stays where it is in `first`."""
    figure, rng = first.figure, np.random.default_rng(seed)
    base = [joint.name for joint in figure.joints if joint.kind == "free" and joint.parent is None]
    for _ in range(count):
        yield figure.clamp(figure.random(rng).changed({name: first[name] for name in base}))


def is_better(one: FloatArray, other: FloatArray) -> bool:
    """Whether the first level whose errors differ is nearer to what was asked in `one`; errors by level."""
    for a, b in zip(one, other, strict=True):
        if abs(a - b) > EQUAL:
            return bool(a < b)
    return False
