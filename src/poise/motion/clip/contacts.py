"""Detects foot contacts by height and speed, with hysteresis so that noise does not switch a contact on and off.

A point of a foot comes into contact when it is both low and slow, and loses contact when it is either high or fast.
Heights are in leg lengths and speeds in leg lengths per second, so the same thresholds work for figures of any size.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poise.errors import TaskError
from poise.figure.model.pose import FloatArray

BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class ContactSettings:
    """Thresholds for contact detection."""

    low: float = 0.045
    """Height under which a point may come into contact [leg lengths]."""
    high: float = 0.075
    """Height above which a point loses contact [leg lengths]."""
    slow: float = 0.45
    """Speed under which a point may come into contact [leg lengths / s]."""
    fast: float = 0.8
    """Speed above which a point loses contact [leg lengths / s]."""
    shortest: float = 0.06
    """Contacts, and gaps between contacts, shorter than this count as noise [s]."""

    def __post_init__(self) -> None:
        """Refuse thresholds that are negative or in the wrong order."""
        if not (0.0 < self.low <= self.high and 0.0 < self.slow <= self.fast and self.shortest >= 0.0):
            raise TaskError("contact thresholds need 0 < low ≤ high, 0 < slow ≤ fast and shortest ≥ 0.")


@dataclass(frozen=True)
class Contacts:
    """Contacts of the heel and the ball of each foot with the ground, frame by frame; `changed` returns an edit."""

    heel: dict[str, BoolArray]
    """(frames,) whether the heel is in contact, by side."""
    ball: dict[str, BoolArray]
    """(frames,) whether the ball of the foot is in contact, by side."""

    def standing(self, side: str) -> BoolArray:
        """(frames,) whether the heel or the ball of a foot is in contact."""
        out: BoolArray = self.heel[side] | self.ball[side]
        return out

    def flat(self, side: str) -> BoolArray:
        """(frames,) whether both the heel and the ball of a foot are in contact."""
        out: BoolArray = self.heel[side] & self.ball[side]
        return out

    def changed(self, side: str, first: int, last: int, *, heel: bool, ball: bool) -> Contacts:
        """A copy in which frames `first` to `last`, both included, of one foot have the given contacts."""
        if side not in self.heel:
            raise TaskError(f"there is no {side!r} foot; feet: {', '.join(self.heel) or 'none'}.")
        copies = ({k: v.copy() for k, v in self.heel.items()}, {k: v.copy() for k, v in self.ball.items()})
        copies[0][side][first : last + 1], copies[1][side][first : last + 1] = heel, ball
        return Contacts(*copies)

    def longer(self, frames: int) -> Contacts:
        """A copy in which every foot comes down up to `frames` earlier and lifts up to `frames` later.

        Each swing phase keeps at least half its length.
        """
        heel, ball = ({side: mask.copy() for side, mask in part.items()} for part in (self.heel, self.ball))
        for side in heel:
            for first, last in segments(~self.standing(side)):
                more = min(frames, (last - first) // 4)
                for mask in (heel[side], ball[side]):
                    mask[first : first + more] = first > 0 and mask[first - 1]
                    mask[last - more : last] = last < len(mask) and mask[min(last, len(mask) - 1)]
        return Contacts(heel, ball)

    def without(self, frames: Mapping[str, BoolArray], shortest: float) -> Contacts:
        """A copy without the given frames of each foot, and without contacts that are then too short.

        Args:
            frames: (frames,) frames in which a foot loses its contact, by side.
            shortest: Least length of a contact that is kept [frames].
        """
        heel, ball = dict(self.heel), dict(self.ball)
        for side, lost in frames.items():
            kept = _without_short(self.standing(side) & ~lost, shortest)
            heel[side], ball[side] = heel[side] & kept, ball[side] & kept
        return Contacts(heel, ball)

    def __getitem__(self, frames: slice) -> Contacts:
        """The contacts of some frames."""
        return Contacts({k: v[frames] for k, v in self.heel.items()}, {k: v[frames] for k, v in self.ball.items()})


def find_contacts(
    heels: Mapping[str, FloatArray],
    balls: Mapping[str, FloatArray],
    leg: float,
    rate: float,
    settings: ContactSettings | None = None,
) -> Contacts:
    """Detect the contacts of feet from their paths.

    Args:
        heels: (frames, 3) path of each ankle by side; its height is 0 when the foot is flat on the ground [m].
        balls: (frames, 3) path of the base of the toes by side; its height is 0 in contact [m].
        leg: Length of a leg [m].
        rate: Frames per second.
        settings: Thresholds; the default ones if not given.
    """
    chosen = settings or ContactSettings()
    found = [{side: _in_contact(path / leg, rate, chosen) for side, path in paths.items()} for paths in (heels, balls)]
    return Contacts(found[0], found[1])


def segments(mask: BoolArray) -> list[tuple[int, int]]:
    """First frame and one past the last frame of every run of true values."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(np.int8), [0]])))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def _in_contact(path: FloatArray, rate: float, limits: ContactSettings) -> BoolArray:
    """(frames,) whether one point is in contact; `path` (frames, 3) is in leg lengths."""
    speed = np.linalg.norm(np.gradient(path, axis=0), axis=1) * rate if len(path) > 1 else np.zeros(1)
    height = path[:, 1]
    down = (height < limits.low) & (speed < limits.slow)
    lifted = (height > limits.high) | (speed > limits.fast)
    out = _without_short(_with_hysteresis(down, lifted), limits.shortest * rate)
    return ~_without_short(~out, limits.shortest * rate)


def _with_hysteresis(down: BoolArray, lifted: BoolArray) -> BoolArray:
    """(frames,) contact between the first and last `down` frame of every run of frames that are not `lifted`."""
    out = np.zeros(len(down), dtype=np.bool_)
    for first, last in segments(~lifted):
        if down[first:last].any():
            touched = np.flatnonzero(down[first:last]) + first
            out[touched[0] : touched[-1] + 1] = True
    return out


def _without_short(mask: BoolArray, shortest: float) -> BoolArray:
    """The mask without runs of true shorter than `shortest` frames, except runs that the clip's start or end cuts."""
    out = np.zeros(len(mask), dtype=np.bool_)
    for first, last in segments(mask):
        if last - first >= shortest or first == 0 or last == len(mask):
            out[first:last] = True
    return out
