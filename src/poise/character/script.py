"""What the body should do at any moment, before the gaze: hold a posture, or play a clip and come back.

Every change starts from where the wish was at that moment and fades in by a smooth step,

    q(t) = o + s(u) (w(t) − o),   u = (t − since)/blend,   s(u) = u² (3 − 2u),

so that one wish may replace another at any time, in the middle of a fade too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from poise.figure.model.pose import FloatArray


class Wish(Protocol):
    """Where the joints should be at a time."""

    def at(self, time: float) -> FloatArray:
        """(nq,) joint values [rad or m] at a time [s]."""


@dataclass(frozen=True)
class Held:
    """One posture."""

    q: FloatArray

    def at(self, time: float) -> FloatArray:
        """The posture, at any time."""
        return self.q


@dataclass(frozen=True)
class Played:
    """A clip, and what comes after it."""

    q: FloatArray
    """(frames, nq)"""
    rate: float
    """[1/s]"""
    start: float
    """When its first frame is due [s]."""
    loop: bool
    after: Held
    fade: float
    """Time from its last frame to what comes after [s]."""

    @property
    def end(self) -> float:
        """When its last frame is due [s]; of a loop, the first time round."""
        return self.start + (len(self.q) - 1) / self.rate

    def at(self, time: float) -> FloatArray:
        """Between two frames in proportion; after the last one, on the way to what comes after."""
        frame = max(0.0, (time - self.start) * self.rate)
        last = len(self.q) - 1
        if self.loop and last > 0:
            frame %= last
        if frame >= last:
            return mixed(self.q[last], self.after.q, self.end, self.fade, time)
        i = int(frame)
        return np.asarray(self.q[i] + (frame - i) * (self.q[i + 1] - self.q[i]))


@dataclass(frozen=True)
class Script:
    """A wish that fades in."""

    wish: Wish
    origin: FloatArray
    """(nq,) where the fade starts."""
    since: float
    """When it starts [s]."""
    blend: float
    """How long it takes [s]."""

    def at(self, time: float) -> FloatArray:
        """(nq,) joint values [rad or m] at a time [s]."""
        return mixed(self.origin, self.wish.at(time), self.since, self.blend, time)

    def followed_by(self, wish: Wish, time: float, blend: float) -> Script:
        """This script until `time`, then another wish."""
        return Script(wish, self.at(time), time, blend)


def mixed(a: FloatArray, b: FloatArray, since: float, blend: float, time: float) -> FloatArray:
    """From a to b by a smooth step."""
    if time >= since + blend:
        return b
    u = max(0.0, (time - since) / blend)
    return np.asarray(a + u * u * (3.0 - 2.0 * u) * (b - a))
