"""A motion that a figure performs: what retargeting gives, with what it was asked and where it stood."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike

from poise.errors import FigureError, FormatError
from poise.figure.figure import Figure
from poise.figure.pose import FloatArray
from poise.figure.posture import Posture
from poise.motion.clip import Clip
from poise.motion.contacts import Contacts

if TYPE_CHECKING:
    from poise.motion.mapping import JointMap

ENDINGS = (".csv", ".bvh", ".json", ".npz")


@dataclass(frozen=True)
class Track:
    """What was asked of a motion, frame by frame."""

    mapping: JointMap
    contacts: Contacts
    points: dict[str, tuple[str, FloatArray]]
    """Site and its offset (3,) by joint of the clip."""
    targets: dict[str, FloatArray]
    """(frames, 3) where each of those points should be, in the world [m]."""
    locks: dict[str, FloatArray]
    """(frames, 2, 3) ball and heel of each foot as planned, by site, in the world [m]."""
    soles: dict[str, FloatArray]
    """(2, 3) the same two points in the frame of the site, by site [m]."""
    ground: float
    """Height of the ground [m]."""
    center: FloatArray | None
    """(frames, 3) where the centre of mass should be; None where nothing was asked."""

    def __getitem__(self, frames: slice) -> Track:
        """What was asked of some frames."""
        return Track(
            self.mapping,
            self.contacts[frames],
            self.points,
            {name: path[frames] for name, path in self.targets.items()},
            {name: path[frames] for name, path in self.locks.items()},
            self.soles,
            self.ground,
            None if self.center is None else self.center[frames],
        )


class Motion(Clip):
    """A clip of a figure that can be saved and mixed, and that knows what it was made from."""

    __slots__ = ("track",)

    def __init__(
        self, figure: Figure, q: ArrayLike, rate: float, name: str = "", *, track: Track | None = None
    ) -> None:
        """Check and copy a motion; `track` says what was asked of it."""
        super().__init__(figure, q, rate, name)
        self.track = track

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
        """The same motion at another rate [1/s]; what was asked of its frames is not carried over."""
        other = super().resampled(rate)
        return Motion(self.figure, other.q, other.rate, self.name)

    def blended(self, other: Clip, seconds: float) -> Motion:
        """This motion, then `other`, the last `seconds` of this one easing into the first of the other."""
        if other.figure is not self.figure and other.figure != self.figure:
            raise FigureError(f"a motion of {other.figure.name!r} cannot follow one of {self.figure.name!r}.")
        after = other if other.rate == self.rate else other.resampled(self.rate)
        shared = min(round(seconds * self.rate), len(self), len(after))
        share = (np.arange(shared) + 1.0) / (shared + 1.0)
        eased = share * share * (3.0 - 2.0 * share)
        mixed = [
            self._mixed(self[len(self) - shared + i], after[i], float(part)) for i, part in enumerate(eased.tolist())
        ]
        parts = [self.q[: len(self) - shared], *([np.array(mixed)] if mixed else []), after.q[shared:]]
        return Motion(self.figure, np.concatenate(parts), self.rate, self.name)

    def _mixed(self, a: Posture, b: Posture, share: float) -> FloatArray:
        return self.figure.integrate(a, share * self.figure.difference(a, b)).q

    @property
    def velocity(self) -> FloatArray:
        """(frames - 1, nv) joint rates from each frame to the next [1/s]."""
        steps = [self.figure.difference(self[i], self[i + 1]) for i in range(len(self) - 1)]
        return np.array(steps).reshape(len(self) - 1, self.figure.nv) * self.rate

    def save(self, path: str | Path) -> None:
        """Write the motion; the ending says how: `.csv`, `.bvh`, `.json` or `.npz`."""
        ending = Path(path).suffix.lower()
        if ending == ".csv":
            from poise.formats.table import write_table

            write_table(self, path)
        elif ending == ".bvh":
            from poise.formats.bvh_writer import write_bvh

            write_bvh(self, path)
        elif ending == ".json":
            Path(path).write_text(json.dumps(self._content()), encoding="utf-8")
        elif ending == ".npz":
            arrays: dict[str, Any] = {key: np.asarray(value) for key, value in self._content().items()}
            np.savez_compressed(path, **arrays)
        else:
            raise FormatError(f"a motion is written as {', '.join(ENDINGS)}, not as {ending or 'nothing'}.", path)

    def _content(self) -> dict[str, Any]:
        return {
            "figure": self.figure.name,
            "name": self.name,
            "rate": self.rate,
            "joints": list(self.figure.moving_joints),
            "q": self.q.tolist(),
        }

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle through the constructor."""
        return _rebuilt, (self.figure, self._q, self.rate, self.name, self.track)


def _rebuilt(figure: Figure, q: FloatArray, rate: float, name: str, track: Track | None) -> Motion:
    return Motion(figure, q, rate, name, track=track)
