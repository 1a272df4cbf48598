"""The targets that a retargeted motion was solved for, frame by frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from poise.figure.model.pose import FloatArray
from poise.motion.clip.contacts import BoolArray, Contacts

if TYPE_CHECKING:
    from poise.motion.mapping.mapping import JointMap


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
