"""A motion of a figure: a clip that can be saved and blended, with the targets that retargeting gave it."""

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
    """A clip that can be saved and blended, and that keeps the targets it was solved for."""

    __slots__ = ("track",)

    def __init__(
        self, figure: Figure, q: ArrayLike, rate: float, name: str = "", *, track: Track | None = None
    ) -> None:
        """Check and copy a motion; `track` has the targets it was solved for."""
        super().__init__(figure, q, rate, name)
        self.track = track

    @staticmethod
    def load(path: str | Path, figure: Figure | None = None) -> Motion:
        """Load a motion: `.csv`, `.json` and `.npz` hold joint values of `figure`; `.bvh` and glTF have a skeleton.

        Args:
            path: The file.
            figure: The figure that moves; not needed if the file names a built-in figure or has its own skeleton.
        """
        from poise.formats import load_clip

        clip = load_clip(path, figure)
        return Motion(clip.figure, clip.q, clip.rate, clip.name)

    @overload
    def __getitem__(self, frame: int) -> Posture: ...
    @overload
    def __getitem__(self, frame: slice) -> Motion: ...
    def __getitem__(self, frame: int | slice) -> Posture | Motion:
        """The posture of a frame, or the motion of a slice of frames."""
        if not isinstance(frame, slice):
            return super().__getitem__(frame)
        cut = super().__getitem__(frame)
        return Motion(self.figure, cut.q, cut.rate, self.name, track=None if self.track is None else self.track[frame])

    def resampled(self, rate: float) -> Motion:
        """The same motion at another rate [1/s], with loops closed and targets resampled too."""
        other = super().resampled(rate)
        track = None if self.track is None else self.track.at(other.times * self.rate)
        return Motion(self.figure, _with_closed_loops(self.figure, other), other.rate, self.name, track=track)

    def blended(self, other: Clip, seconds: float, *, joined: bool = False) -> Motion:
        """This motion followed by `other`; the end of this one is blended with the start of the other.

        Args:
            other: The clip that follows, of the same figure.
            seconds: Length of the blend, at most that of the shorter motion [s].
            joined: Move `other` along the ground and turn it about the vertical so that the floating base continues
                from its current place and heading.
        """
        if other.figure is not self.figure and other.figure != self.figure:
            raise FigureError(
                f"blended needs two motions of the same figure, not one of {self.figure.name!r} and one of "
                f"{other.figure.name!r}."
            )
        if not seconds >= 0.0:
            raise FigureError(f"the length of a blend must be zero seconds or more, not {seconds}.")
        after = other if other.rate == self.rate else Motion(other.figure, other.q, other.rate).resampled(self.rate)
        shared = round(min(seconds * self.rate, len(self), len(after)))
        start = len(self) - shared
        if joined:
            after = moved_to(after, self[min(start, len(self) - 1)])
        share = (np.arange(shared) + 1.0) / (shared + 1.0)
        eased = (share * share * (3.0 - 2.0 * share)).tolist()
        mixed = [_blend(self.figure, self[start + i], after[i], part) for i, part in enumerate(eased)]
        between = [_with_closed_loops(self.figure, mixed)] if mixed else []
        return Motion(self.figure, np.concatenate([self.q[:start], *between, after.q[shared:]]), self.rate, self.name)

    @property
    def velocity(self) -> FloatArray:
        """(frames - 1, nv) mean joint velocities from each frame to the next [rad/s or m/s]."""
        steps = [self.figure.difference(self[i], self[i + 1]) for i in range(len(self) - 1)]
        return np.array(steps).reshape(len(self) - 1, self.figure.nv) * self.rate

    def report(self) -> str:
        """Summarise tracking, feet, limits and balance in sentences; `poise.motion.report.measure` has the numbers."""
        from poise.motion.report.report import measure

        quality = measure(self)
        lines = [quality.sentence()]
        if quality.hurried:
            lines.append(f"Joints exceed their speed limits in {len(quality.hurried)} frames.")
        if quality.margin is not None:
            falls = f"in {quality.unbalanced} of {len(self)} frames" if quality.unbalanced else "in no frame"
            lines.append(f"The figure would fall if it stopped {falls}.")
        lines += [
            f"{joint} is {1e3 * error.mean():.1f} mm from its target on average."
            for joint, error in quality.worst(3).items()
        ]
        return "\n".join(lines)

    def save(self, path: str | Path) -> None:
        """Write the motion in the format of the file's ending: `.csv`, `.bvh`, `.json` or `.npz`."""
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


def _blend(figure: Figure, a: Posture, b: Posture, share: float) -> Posture:
    return figure.integrate(a, share * figure.difference(a, b))


def _with_closed_loops(figure: Figure, postures: Iterable[Posture]) -> FloatArray:
    """(frames, nq) the postures with their loops closed, which interpolation may have opened."""
    if figure.loops:
        postures = [figure.assembler.close(posture).posture for posture in postures]
    return np.array([posture.q for posture in postures])
