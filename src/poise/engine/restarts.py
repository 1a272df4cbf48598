"""Random starts for a solve, and the comparison of two results."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture

EQUAL_ERROR = 1e-6
"""Difference up to which two errors count as equal [m or rad]."""


def other_starts(first: Posture, count: int, seed: int) -> Iterator[Posture]:
    """Generate `count` random legal postures with the floating base of `first`."""
    figure, rng = first.figure, np.random.default_rng(seed)
    base = [joint.name for joint in figure.joints if joint.kind == "free" and joint.parent is None]
    for _ in range(count):
        yield figure.clamp(figure.random(rng).changed({name: first[name] for name in base}))


def is_better(one: FloatArray, other: FloatArray) -> bool:
    """Whether `one` is lexicographically less than `other`: (levels,) sizes of the errors, the first level first."""
    for a, b in zip(one, other, strict=True):
        if abs(a - b) > EQUAL_ERROR:
            return bool(a < b)
    return False
