"""A clip: a figure's postures, frame after frame, at a steady rate."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from poise.errors import FigureError
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture
from poise.kernels.motion.posture_curves import interpolate_clip

_ON_TIME = 1e-6
"""Share of a frame by which a resampled clip may end after its last frame: rounding, not motion."""


class Clip:
    """A motion of a figure. Nothing changes one: slicing and `resampled` make others."""

    __slots__ = ("_q", "figure", "name", "q", "rate")

    def __init__(self, figure: Figure, q: ArrayLike, rate: float, name: str = "") -> None:
        """Check and copy a motion.

        Args:
            figure: Who moves.
            q: (frames, nq) joint values in the order of the figure's postures; quaternions of any length but zero.
            rate: Frames per second [1/s].
            name: What people call the motion.
        """
        self.figure, self.name = figure, name
        self.rate = _checked_rate(rate)
        # Kernels take writable arrays (a read-only one has another type and compiles them anew); users see a view.
        self._q = _checked_values(figure, q)
        self.q = self._q.view()
        self.q.flags.writeable = False

    def __len__(self) -> int:
        """How many frames there are."""
        return int(self.q.shape[0])

    @property
    def duration(self) -> float:
        """Time from the first frame to the last [s]."""
        return (len(self) - 1) / self.rate

    @property
    def times(self) -> FloatArray:
        """(frames,) time of every frame [s]."""
        return np.arange(len(self)) / self.rate

    @overload
    def __getitem__(self, frame: int) -> Posture: ...
    @overload
    def __getitem__(self, frame: slice) -> Clip: ...
    def __getitem__(self, frame: int | slice) -> Posture | Clip:
        """The posture of a frame, or the clip of a slice; a step lowers the rate, so the motion keeps its speed."""
        if isinstance(frame, slice):
            return Clip(self.figure, self.q[frame], self.rate / abs(frame.step or 1), self.name)
        if not -len(self) <= frame < len(self):
            raise IndexError(f"frame {frame} of a clip of {len(self)} frames.")
        return Posture(self.figure, self._q[frame].copy())

    def __iter__(self) -> Iterator[Posture]:
        """The postures in order."""
        return (self[i] for i in range(len(self)))

    def at(self, time: float) -> Posture:
        """The posture at a time [s], between two frames by the shortest way; outside the clip its ends hold."""
        if not math.isfinite(time):
            raise FigureError(f"a time in a clip must be a finite number of seconds, not {time}.")
        return Posture(self.figure, interpolated(self.figure, self.times, self._q, np.array([float(time)]))[0])

    def resampled(self, rate: float) -> Clip:
        """The same motion at another rate [1/s], from the first frame to the last moment before the end."""
        count = math.floor(self.duration * _checked_rate(rate) + _ON_TIME) + 1
        q = interpolated(self.figure, self.times, self._q, np.arange(count) / rate)
        return Clip(self.figure, q, rate, self.name)

    def positions(self, names: Sequence[str] | None = None) -> FloatArray:
        """(frames, m, 3) world positions [m] of bodies and sites, by default of all bodies and then all sites."""
        if isinstance(names, str):
            raise FigureError(f"positions takes a list of names: positions([{names!r}]).")
        rows = slice(None) if names is None else [self.figure.frame_row(name) for name in names]
        return np.array([self.figure.frames(posture).position[rows] for posture in self])

    def __eq__(self, other: object) -> bool:
        """The same motion of equal figures."""
        if not isinstance(other, Clip):
            return NotImplemented
        same = (self.rate, self.name) == (other.rate, other.name) and np.array_equal(self.q, other.q)
        return same and (self.figure is other.figure or self.figure == other.figure)

    def __hash__(self) -> int:
        """Hash of the values."""
        return hash((self.rate, self._q.tobytes()))

    def __reduce__(self) -> tuple[type[Clip], tuple[Figure, FloatArray, float, str]]:
        """Copy and pickle through the constructor, so that the view stays a view."""
        return Clip, (self.figure, self._q, self.rate, self.name)

    def __repr__(self) -> str:
        """Name, length and rate."""
        return f"Clip({self.name!r} of {self.figure.name!r}, {len(self)} frames at {self.rate:g}/s)"


def interpolated(figure: Figure, times: FloatArray, q: FloatArray, wanted: FloatArray) -> FloatArray:
    """Joint values at other times, each between its two neighbours by the shortest way on the configuration manifold.

    Args:
        figure: Whose values they are.
        times: (frames,) increasing times [s].
        q: (frames, nq) values at those times.
        wanted: (k,) times asked for [s]; outside `times` the first and the last values hold.

    Returns:
        (k, nq) values.
    """
    if len(times) == 1:
        return np.repeat(q, len(wanted), axis=0)
    before = np.clip(np.searchsorted(times, wanted, side="right") - 1, 0, len(times) - 2)
    share = np.clip((wanted - times[before]) / (times[before + 1] - times[before]), 0.0, 1.0)
    out = np.empty((len(wanted), figure.nq))
    interpolate_clip(figure.compiled.tree, np.ascontiguousarray(q), before, share, out)
    return out


def _checked_rate(rate: float) -> float:
    number = float(rate)
    if not math.isfinite(number) or number <= 0.0:
        raise FigureError(f"the rate of a clip must be a positive number of frames per second, not {rate}.")
    return number


def _checked_values(figure: Figure, q: ArrayLike) -> FloatArray:
    """A copy of (frames, nq) finite values with unit quaternions."""
    try:
        values = np.array(q, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise FigureError(f"a clip of figure {figure.name!r} is an array of numbers (frames, {figure.nq}).") from None
    if values.ndim != 2 or values.shape[1] != figure.nq:
        raise FigureError(f"a clip of figure {figure.name!r} has the shape (frames, {figure.nq}), not {values.shape}.")
    if not len(values):
        raise FigureError("a clip needs at least one frame.")
    if not np.isfinite(values).all():
        frame, column = np.argwhere(~np.isfinite(values))[0].tolist()
        name = next(n for n in figure.moving_joints if column < figure.q_slice(n).stop)
        raise FigureError(f"frame {frame} of the clip has the value {values[frame, column]} in joint {name!r}.")
    for joint in figure.joints:
        if joint.kind in {"ball", "free"}:
            end = figure.q_slice(joint.name).stop
            _normalise(values[:, end - 4 : end], joint.name)
    return values


def _normalise(quaternions: FloatArray, joint: str) -> None:
    """Scale rows (frames, 4) to unit length in place, leaving alone those that have it."""
    with np.errstate(over="ignore"):
        size = np.linalg.norm(quaternions, axis=1)
    lost = ~((size > 1e-9) & (size < np.inf))
    if lost.any():
        frame = int(np.argmax(lost))
        value = quaternions[frame].tolist()
        raise FigureError(f"frame {frame} of the clip has {value} as the rotation of joint {joint!r}, which is none.")
    off = np.abs(size - 1.0) > 1e-15
    quaternions[off] /= size[off, None]
