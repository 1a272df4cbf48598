"""A motion that a figure performs: what retargeting gives, with what it was asked and where it stood."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike

from poise.errors import FigureError
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture
from poise.motion.clip.clip import Clip
from poise.motion.clip.motion_track import Track
from poise.motion.clip.placing import moved_to

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Motion", "Track"]


class Motion(Clip):
    """A clip of a figure that can be saved and mixed, and that knows what it was made from."""

    __slots__ = ("track",)

    def __init__(
        self, figure: Figure, q: ArrayLike, rate: float, name: str = "", *, track: Track | None = None
    ) -> None:
        """Check and copy a motion; `track` says what was asked of it."""
        super().__init__(figure, q, rate, name)
        self.track = track

    @staticmethod
    def load(path: str | Path, figure: Figure | None = None) -> Motion:
        """A motion from a file: `.csv`, `.json` or `.npz` of `figure`, or `.bvh` and others of their own skeleton.

        Args:
            path: The file.
            figure: Who moves, unless the file names a built-in figure or brings its own skeleton.
        """
        from poise.formats import load_clip

        clip = load_clip(path, figure)
        return Motion(clip.figure, clip.q, clip.rate, clip.name)

    @overload
    def __getitem__(self, frame: int) -> Posture: ...
    @overload
    def __getitem__(self, frame: slice) -> Motion: ...
    def __getitem__(self, frame: int | slice) -> Posture | Motion:
        """The posture of a frame, or the motion of a slice."""
        if not isinstance(frame, slice):
            return super().__getitem__(frame)
        cut = super().__getitem__(frame)
        return Motion(self.figure, cut.q, cut.rate, self.name, track=None if self.track is None else self.track[frame])

    def resampled(self, rate: float) -> Motion:
        """The same motion at another rate [1/s], loops closed and what was asked carried over."""
        other = super().resampled(rate)
        track = None if self.track is None else self.track.at(other.times * self.rate)
        return Motion(self.figure, _closed(self.figure, other), other.rate, self.name, track=track)

    def blended(self, other: Clip, seconds: float, *, joined: bool = False) -> Motion:
        """This motion, then `other`, the last `seconds` of this one easing into the first of the other.

        Args:
            other: What comes after, of the same figure.
            seconds: How long both are mixed; at most what the shorter of them lasts [s].
            joined: Move and turn the other over the ground so that a floating base goes on from where it is.
        """
        if other.figure is not self.figure and other.figure != self.figure:
            raise FigureError(f"a motion of {other.figure.name!r} cannot follow one of {self.figure.name!r}.")
        if not seconds >= 0.0:
            raise FigureError(f"a blend lasts zero seconds or more, not {seconds}.")
        after = other if other.rate == self.rate else Motion(other.figure, other.q, other.rate).resampled(self.rate)
        shared = round(min(seconds * self.rate, len(self), len(after)))
        start = len(self) - shared
        if joined:
            after = moved_to(after, self[min(start, len(self) - 1)])
        share = (np.arange(shared) + 1.0) / (shared + 1.0)
        eased = (share * share * (3.0 - 2.0 * share)).tolist()
        mixed = [_mixed(self.figure, self[start + i], after[i], part) for i, part in enumerate(eased)]
        between = [_closed(self.figure, mixed)] if mixed else []
        return Motion(self.figure, np.concatenate([self.q[:start], *between, after.q[shared:]]), self.rate, self.name)

    @property
    def velocity(self) -> FloatArray:
        """(frames - 1, nv) joint rates from each frame to the next [1/s]."""
        steps = [self.figure.difference(self[i], self[i + 1]) for i in range(len(self) - 1)]
        return np.array(steps).reshape(len(self) - 1, self.figure.nv) * self.rate

    def report(self) -> str:
        """How well the motion does what was asked, in sentences; `poise.motion.report.measure` has the numbers."""
        from poise.motion.report.report import measure

        quality = measure(self)
        lines = [quality.sentence()]
        if quality.hurried:
            lines.append(f"Joints are faster than they may be in {len(quality.hurried)} frames.")
        if quality.margin is not None:
            falls = f"in {quality.unbalanced} of {len(self)} frames" if quality.unbalanced else "in no frame"
            lines.append(f"Standing still, it would fall {falls}.")
        lines += [f"{joint} is off by {1e3 * error.mean():.1f} mm." for joint, error in quality.worst(3).items()]
        return "\n".join(lines)

    def save(self, path: str | Path) -> None:
        """Write the motion; the ending says how: `.csv`, `.bvh`, `.json` or `.npz`."""
        from poise.formats import save_motion

        save_motion(self, path)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle through the constructor."""
        return _rebuilt, (self.figure, self._q, self.rate, self.name, self.track)

    def __repr__(self) -> str:
        """Name, length and rate."""
        return f"Motion({self.name!r} of {self.figure.name!r}, {len(self)} frames at {self.rate:g}/s)"


def _rebuilt(figure: Figure, q: FloatArray, rate: float, name: str, track: Track | None) -> Motion:
    return Motion(figure, q, rate, name, track=track)


def _mixed(figure: Figure, a: Posture, b: Posture, share: float) -> Posture:
    return figure.integrate(a, share * figure.difference(a, b))


def _closed(figure: Figure, postures: Iterable[Posture]) -> FloatArray:
    """(frames, nq) the postures, with loops that mixing has opened closed again."""
    if figure.loops:
        postures = [figure.assembler.close(posture).posture for posture in postures]
    return np.array([posture.q for posture in postures])
