"""A clip: a sequence of postures of one figure at a constant frame rate, and the world frames of its bodies."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, overload

import numpy as np
from numpy.typing import ArrayLike

from poise.arguments import number, positive, shown
from poise.errors import FigureError, TaskError
from poise.extras import require
from poise.figure.model.figure import Figure, checked_figure
from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture
from poise.figure.model.viewable import View, Viewable
from poise.kernels.motion.posture_curves import clip_frames, interpolate_clip

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

_FRAME_ROUNDING = 1e-6
"""Rounding error of a duration, as a share of a frame, up to which a resampled clip keeps its last frame."""
MOST_JOINT_VALUES = 50_000_000
"""Largest number of joint values in a motion that is read or resampled: 400 MB."""
UP_AXIS_AGREEMENT = 0.5
"""Least component of the mean vector from feet to head along the file's up axis, as a share of its largest one.

Below it the file's up axis is taken to be wrong.
"""


class Clip(Viewable):
    """A motion of a figure, immutable: slicing and `resampled` return new clips."""

    __slots__ = ("_q", "figure", "name", "q", "rate")

    def __init__(self, figure: Figure, q: ArrayLike, rate: float, name: str = "") -> None:
        """Check and copy a motion.

        Args:
            figure: The figure that moves.
            q: (frames, nq) joint values in the order of the figure's postures; quaternions of any length but zero. A
                list of postures is one, too.
            rate: Frames per second [1/s].
            name: Name of the motion, for people.
        """
        self.figure, self.name = checked_figure(figure, "a clip"), name
        self.rate = _checked_rate(rate)
        # Kernels take writable arrays (a read-only one has another type and compiles them again); users see a view.
        self._q = _checked_values(figure, q)
        self.q = self._q.view()
        self.q.flags.writeable = False

    def __len__(self) -> int:
        """Number of frames."""
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
        if not hasattr(frame, "__index__"):
            raise FigureError(f"a frame is a whole number, not {shown(frame)}; clip.at(seconds) is between frames.")
        if not -len(self) <= frame < len(self):
            raise IndexError(f"frame {frame} is outside this clip, which has {len(self)} frames.")
        return Posture(self.figure, self._q[frame].copy())

    def __iter__(self) -> Iterator[Posture]:
        """The postures in order."""
        return (self[i] for i in range(len(self)))

    def at(self, time: float) -> Posture:
        """The posture at a time [s], interpolated between two frames; outside the clip, its first or last posture."""
        moment = number(time, "a time in a clip", unit="seconds", error=FigureError)
        return Posture(self.figure, interpolated(self.figure, self.times, self._q, np.array([moment]))[0])

    def resampled(self, rate: float) -> Clip:
        """The same motion at another rate [1/s]; the last frame is the last one that is not after the clip's end."""
        wanted = frame_times(self.figure, self.duration, _checked_rate(rate))
        return Clip(self.figure, interpolated(self.figure, self.times, self._q, wanted), rate, self.name)

    def positions(self, names: Sequence[str] | None = None) -> FloatArray:
        """(frames, m, 3) world positions [m] of bodies and sites, by default of all bodies and then all sites."""
        if isinstance(names, str):
            raise FigureError(f"positions takes a list of names: positions([{names!r}]).")
        rows = slice(None) if names is None else [self.figure.frame_row(name) for name in names]
        return np.array([self.figure.frames(posture).position[rows] for posture in self])

    def __eq__(self, other: object) -> bool:
        """Whether two clips have equal figures, values, rates and names."""
        if not isinstance(other, Clip):
            return NotImplemented
        same = (self.rate, self.name) == (other.rate, other.name) and np.array_equal(self.q, other.q)
        return same and (self.figure is other.figure or self.figure == other.figure)

    def __hash__(self) -> int:
        """Hash of the values."""
        return hash((self.rate, self._q.tobytes()))

    def __reduce__(self) -> tuple[type[Clip], tuple[Figure, FloatArray, float, str]]:
        """Copy and pickle through the constructor, so that `q` stays a read-only view of the copy's values."""
        return Clip, (self.figure, self._q, self.rate, self.name)

    def __repr__(self) -> str:
        """Name, length and rate."""
        return f"Clip({self.name!r} of {self.figure.name!r}, {len(self)} frames at {self.rate:g}/s)"

    def view(self) -> View:
        """The motion, to be played."""
        return View(self.figure, list(self), self.rate, self.name)


def checked_clip(value: object, what: str) -> Clip:
    """`value`, if it is a clip; `what` names who needs it."""
    if isinstance(value, Clip):
        return value
    raise TaskError(f"{what} needs a clip, such as poise.load_clip returns, not {shown(value)}.")


def frame_times(figure: Figure, duration: float, rate: float) -> FloatArray:
    """(k,) times of the frames at `rate` [1/s] that fit in a duration [s], both ends included [s]."""
    if duration * rate * max(figure.nq, 1) > MOST_JOINT_VALUES:
        most = MOST_JOINT_VALUES / (duration * max(figure.nq, 1))
        raise FigureError(
            f"{duration:g} s at {rate:g} frames per second are too many frames for figure {figure.name!r}; give a rate "
            f"of at most {most:.3g}."
        )
    return np.arange(math.floor(duration * rate + _FRAME_ROUNDING) + 1) / rate


def interpolated(figure: Figure, times: FloatArray, q: FloatArray, wanted: FloatArray) -> FloatArray:
    """Joint values at other times, interpolated along geodesics of the configuration manifold.

    Args:
        figure: The figure whose joint values they are.
        times: (frames,) increasing times [s].
        q: (frames, nq) values at those times.
        wanted: (k,) times to interpolate at [s]; a time outside `times` gets the first or the last values.

    Returns:
        (k, nq) values.
    """
    if len(times) == 1:
        return np.repeat(q, len(wanted), axis=0)
    before = np.clip(np.searchsorted(times, wanted, side="right") - 1, 0, len(times) - 2)
    share = np.clip((wanted - times[before]) / (times[before + 1] - times[before]), 0.0, 1.0)
    out = np.empty((len(wanted), figure.nq))
    interpolate_clip(figure.compiled.tree, np.array(q), before, share, out)
    return out


def _checked_rate(rate: float) -> float:
    return positive(rate, "the rate of a clip", unit="frames per second", error=FigureError)


def _checked_values(figure: Figure, q: ArrayLike) -> FloatArray:
    """A copy of (frames, nq) finite values with unit quaternions."""
    if isinstance(q, Sequence) and any(isinstance(frame, Posture) for frame in q):
        q = [figure.posture(frame).q for frame in q]
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
            _normalise_quaternions(values[:, end - 4 : end], joint.name)
    return values


def _normalise_quaternions(quaternions: FloatArray, joint: str) -> None:
    """Scale rows (frames, 4) to unit length in place; rows of unit length keep their exact values."""
    with np.errstate(over="ignore"):
        size = np.linalg.norm(quaternions, axis=1)
    invalid = ~((size > 1e-9) & (size < np.inf))
    if invalid.any():
        frame = int(np.argmax(invalid))
        value = quaternions[frame].tolist()
        raise FigureError(
            f"frame {frame} of the clip has the quaternion {value} for joint {joint!r}; its length must be positive "
            "and finite."
        )
    off = np.abs(size - 1.0) > 1e-15
    quaternions[off] /= size[off, None]


class Source:
    """World frames of every body and site of a clip."""

    def __init__(self, clip: Clip) -> None:
        """Compute the forward kinematics of all frames."""
        ride = clip.figure.compiled.attached
        self.clip = clip
        self.positions = np.empty((len(clip), len(ride.node), 3))
        """(frames, m, 3) world positions [units of the clip]"""
        self.rotations = np.empty((len(clip), len(ride.node), 4))
        """(frames, m, 4) world rotations as quaternions w, x, y, z"""
        tree = clip.figure.compiled.tree
        clip_frames(tree, clip._q, ride.node, ride.position, ride.rotation, self.positions, self.rotations)
        self._rows = clip.figure.compiled.frame_index

    def path_of(self, name: str) -> FloatArray:
        """(frames, 3) path of a body or site."""
        path: FloatArray = self.positions[:, self._rows[name]]
        return path

    def rotation_of(self, name: str) -> Rotation:
        """World rotation of a body or site in every frame."""
        require("scipy", "retargeting")
        from scipy.spatial.transform import Rotation

        return Rotation.from_quat(np.roll(self.rotations[:, self._rows[name]], -1, axis=1))

    def up(self, roles: Mapping[str, str]) -> FloatArray:
        """(3,) the clip's up axis: the one the file declares, unless the head is not above the ankles along it.

        Some files declare the wrong up axis. Averaged over a clip, the head is above the feet, even on four legs. If
        the declared axis contradicts this, the world axis nearest to the mean vector from feet to head is up.

        Args:
            roles: Joints of the clip by role.
        """
        feet = [roles[role] for role in ("left_ankle", "right_ankle") if role in roles]
        top = next((roles[role] for role in ("head", "neck", "left_shoulder", "pelvis") if role in roles), None)
        said = np.asarray(self.clip.figure.up_vector, dtype=np.float64)
        if not feet or top is None:
            return said
        rise = np.mean(self.path_of(top) - np.mean([self.path_of(foot) for foot in feet], axis=0), axis=0)
        if float(rise @ said) > UP_AXIS_AGREEMENT * float(np.abs(rise).max()):
            return said
        axis = int(np.argmax(np.abs(rise)))
        up = np.zeros(3)
        up[axis] = np.sign(rise[axis]) or 1.0
        return up
