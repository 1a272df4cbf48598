"""The posture of a character as a function of time, before the target: a held posture, or a clip and a return.

Every change starts from the current posture o and fades to the new source w by a smooth step,

    q(t) = o + s(u) (w(t) − o),   u = (t − since)/blend,   s(u) = u² (3 − 2u),

so that one source may replace another at any time, also during a fade.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from poise.figure.model.pose import FloatArray


class PostureSource(Protocol):
    """Joint values as a function of time."""

    def at(self, time: float) -> FloatArray:
        """(nq,) joint values [rad or m] at a time [s]."""


@dataclass(frozen=True)
class Held:
    """A constant posture."""

    q: FloatArray
    """(nq,) joint values [rad or m]."""

    def at(self, time: float) -> FloatArray:
        """The posture, at any time."""
        return self.q


@dataclass(frozen=True)
class Played:
    """A clip, followed by a held posture."""

    q: FloatArray
    """(frames, nq) joint values [rad or m]."""
    rate: float
    """Frames per second."""
    start: float
    """Time of its first frame [s]."""
    loop: bool
    """Whether it repeats."""
    after: Held
    """The posture after the clip."""
    fade: float
    """Time of the cross-fade from the last frame to that posture [s]."""

    @property
    def end(self) -> float:
        """Time of its last frame [s]; for a loop, of the first repetition."""
        return self.start + (len(self.q) - 1) / self.rate

    def at(self, time: float) -> FloatArray:
        """The clip at a time [s], interpolated linearly; after its end, the cross-fade to the posture after it."""
        frame = max(0.0, (time - self.start) * self.rate)
        last = len(self.q) - 1
        if self.loop and last > 0:
            frame %= last
        if frame >= last:
            return smooth_step_blend(self.q[last], self.after.q, self.end, self.fade, time)
        i = int(frame)
        return np.asarray(self.q[i] + (frame - i) * (self.q[i + 1] - self.q[i]))


@dataclass(frozen=True)
class Script:
    """A source that fades in."""

    source: PostureSource
    """The source of joint values."""
    origin: FloatArray
    """(nq,) joint values at the start of the fade."""
    since: float
    """Time at which the fade starts [s]."""
    blend: float
    """Duration of the fade [s]."""

    def at(self, time: float) -> FloatArray:
        """(nq,) joint values [rad or m] at a time [s]."""
        return smooth_step_blend(self.origin, self.source.at(time), self.since, self.blend, time)

    def followed_by(self, source: PostureSource, time: float, blend: float) -> Script:
        """The script that fades from this one at `time` to another source."""
        return Script(source, self.at(time), time, blend)


def smooth_step_blend(a: FloatArray, b: FloatArray, since: float, blend: float, time: float) -> FloatArray:
    """Blend from a to b by a smooth step from `since` to `since` + `blend`."""
    if time >= since + blend:
        return b
    u = max(0.0, (time - since) / blend)
    return np.asarray(a + u * u * (3.0 - 2.0 * u) * (b - a))
