"""A target that glides between the places in which a pointer was seen."""

from __future__ import annotations

import numpy as np

from poise.figure.model.pose import FloatArray

LONGEST_GLIDE = 15
"""Largest number of frames that a glide takes."""


class Glide:
    """Goes from one place to the next in the time between them, so that rare pointer events make an even motion.

    A slow browser or a busy network sends a few places per second. A figure that faced each of them at once would start
    and stop as often.
    """

    def __init__(self) -> None:
        """Start without a place."""
        self._at: FloatArray | None = None
        self._wanted: FloatArray | None = None
        self._frames_left = self._frames_since = 0

    @property
    def has_arrived(self) -> bool:
        """Whether it is in the newest place."""
        return self._frames_left == 0

    def on_the_way_to(self, wanted: FloatArray) -> FloatArray:
        """(3,) the place in the next frame, on the way to the newest place `wanted` (3,) [m]."""
        if self._at is None or self._wanted is None:
            self._at = self._wanted = wanted
        elif not np.array_equal(wanted, self._wanted):
            self._wanted = wanted
            self._frames_left, self._frames_since = min(self._frames_since + 1, LONGEST_GLIDE), 0
        else:
            self._frames_since += 1
        if self._frames_left:
            self._at = self._at + (self._wanted - self._at) / self._frames_left
            self._frames_left -= 1
        return self._at
