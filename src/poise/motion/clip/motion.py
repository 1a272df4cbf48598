"""A motion of a figure: a clip that can be saved and blended, with the targets that retargeting gave it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike

from poise.errors import FigureError
from poise.extras import require
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture
from poise.motion.clip.clip import Clip
from poise.motion.clip.contacts import BoolArray, Contacts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from poise.motion.mapping.mapping import JointMap

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
        lines = [quality.sentence(), *quality.unmapped]
        if quality.is_lost:
            lines.append("The motion does not follow the clip: see which parts are mapped in motion.track.mapping.")
        if quality.hurried:
            lines.append(f"Joints exceed their speed limits in {len(quality.hurried)} frames.")
        if quality.margin is not None:
            falls = f"in {quality.unbalanced} of {len(self)} frames" if quality.unbalanced else "in no frame"
            lines.append(f"The figure would fall if it stopped {falls}.")
        lines += [
            f"{joint} is {1e3 * error.mean():.1f} mm from its target on average."
            for joint, error in quality.worst(3).items()
        ]
        lines += quality.training.sentences()
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


@dataclass(frozen=True)
class Track:
    """The targets that a retargeted motion was solved for, frame by frame."""

    mapping: JointMap
    """Which joint of the clip drives which site of the figure."""
    contacts: Contacts
    """When heels and balls of feet stand."""
    points: dict[str, tuple[str, FloatArray]]
    """Site and offset (3,) in the site's frame [m] of each point with a target, by joint of the clip."""
    targets: dict[str, FloatArray]
    """(frames, 3) target of each of those points in the world, by joint of the clip [m]."""
    locks: dict[str, FloatArray]
    """(frames, 2, 3) planned positions of the ball and the heel of each foot in the world, by site [m]."""
    soles: dict[str, FloatArray]
    """(2, 3) the ball and the heel in the frame of the foot's site, by site [m]."""
    ground: float
    """Height of the ground [m]."""
    center: FloatArray | None
    """(frames, 3) target of the centre of mass [m]; None for a motion without `balance`."""
    floor: dict[str, FloatArray] = field(default_factory=dict)
    """(frames,) height of the floor above the ground under each foot, by site [m]; 0 for a site that is not here."""

    def __getitem__(self, frames: slice) -> Track:
        """The targets of a slice of frames."""
        return Track(
            self.mapping,
            self.contacts[frames],
            self.points,
            {name: path[frames] for name, path in self.targets.items()},
            {name: path[frames] for name, path in self.locks.items()},
            self.soles,
            self.ground,
            None if self.center is None else self.center[frames],
            {name: heights[frames] for name, heights in self.floor.items()},
        )

    def at(self, frames: FloatArray) -> Track:
        """The targets at fractional frames: positions are interpolated linearly.

        A foot is in contact between two frames if it is in contact in both.

        Args:
            frames: (k,) frame numbers from 0 on, whole or fractional.
        """
        heel, ball = (
            {side: _contact_between(stands, frames) for side, stands in part.items()}
            for part in (self.contacts.heel, self.contacts.ball)
        )
        return Track(
            self.mapping,
            Contacts(heel, ball),
            self.points,
            {name: _interpolated(path, frames) for name, path in self.targets.items()},
            {name: _interpolated(path, frames) for name, path in self.locks.items()},
            self.soles,
            self.ground,
            None if self.center is None else _interpolated(self.center, frames),
            {name: _interpolated(heights, frames) for name, heights in self.floor.items()},
        )


def _interpolated(path: FloatArray, frames: FloatArray) -> FloatArray:
    """Linear interpolation of `path` (frames, …) at fractional frames (k,)."""
    before = np.clip(np.floor(frames).astype(np.int64), 0, len(path) - 1)
    after = np.minimum(before + 1, len(path) - 1)
    share = np.clip(frames - before, 0.0, 1.0).reshape(-1, *[1] * (path.ndim - 1))
    out: FloatArray = (1.0 - share) * path[before] + share * path[after]
    return out


def _contact_between(stands: BoolArray, frames: FloatArray) -> BoolArray:
    """(k,) whether a foot stands in both frames around each fractional frame; a whole frame counts alone."""
    last = len(stands) - 1
    near = np.abs(frames - np.rint(frames)) < 1e-6
    before = np.clip(np.where(near, np.rint(frames), np.floor(frames)).astype(np.int64), 0, last)
    after = np.clip(np.where(near, np.rint(frames), np.ceil(frames)).astype(np.int64), 0, last)
    out: BoolArray = stands[before] & stands[after]
    return out


def moved_to(clip: Clip, start: Posture) -> Clip:
    """The clip moved so that its floating base starts at the ground position and heading of the base in `start`.

    The clip of a figure without a floating base is returned unchanged.
    """
    figure = clip.figure
    base = next((joint for joint in figure.joints if joint.kind == "free" and joint.parent is None), None)
    if base is None:
        return clip
    require("scipy", "continuing a motion")
    from scipy.spatial.transform import Rotation

    at, up = figure.q_slice(base.name), figure.up_vector
    q = clip.q.copy()
    place, turn = q[:, at][:, :3].copy(), Rotation.from_quat(q[:, at][:, 3:], scalar_first=True)
    wanted = Rotation.from_quat(start.q[at][3:], scalar_first=True)
    w, *xyz = (wanted * turn[0].inv()).as_quat(scalar_first=True)
    # The twist about the up axis, of the swing-twist decomposition.
    heading = Rotation.from_rotvec(2.0 * np.arctan2(float(np.dot(xyz, up)), float(w)) * up)
    shift = start.q[at][:3] - heading.apply(place[0])
    shift -= (shift @ up) * up
    q[:, at] = np.concatenate([heading.apply(place) + shift, (heading * turn).as_quat(scalar_first=True)], axis=1)
    return Clip(figure, q, clip.rate, clip.name)
