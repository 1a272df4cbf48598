"""What was asked of a motion, frame by frame."""

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

    def at(self, frames: FloatArray) -> Track:
        """What was asked between frames: places on the way, and feet that stand before and after.

        Args:
            frames: (k,) numbers of frames, whole or not, from 0 on.
        """
        heel, ball = (
            {side: _on_both_sides(stands, frames) for side, stands in part.items()}
            for part in (self.contacts.heel, self.contacts.ball)
        )
        return Track(
            self.mapping,
            Contacts(heel, ball),
            self.points,
            {name: _on_the_way(path, frames) for name, path in self.targets.items()},
            {name: _on_the_way(path, frames) for name, path in self.locks.items()},
            self.soles,
            self.ground,
            None if self.center is None else _on_the_way(self.center, frames),
        )


def _on_the_way(path: FloatArray, frames: FloatArray) -> FloatArray:
    """Rows of `path` (frames, …) between its own, along straight lines."""
    before = np.clip(np.floor(frames).astype(np.int64), 0, len(path) - 1)
    after = np.minimum(before + 1, len(path) - 1)
    share = np.clip(frames - before, 0.0, 1.0).reshape(-1, *[1] * (path.ndim - 1))
    out: FloatArray = (1.0 - share) * path[before] + share * path[after]
    return out


def _on_both_sides(stands: BoolArray, frames: FloatArray) -> BoolArray:
    """Whether a foot stands in the frame before and in the one after, which may be the same."""
    last = len(stands) - 1
    near = np.abs(frames - np.rint(frames)) < 1e-6
    before = np.clip(np.where(near, np.rint(frames), np.floor(frames)).astype(np.int64), 0, last)
    after = np.clip(np.where(near, np.rint(frames), np.ceil(frames)).astype(np.int64), 0, last)
    out: BoolArray = stands[before] & stands[after]
    return out
