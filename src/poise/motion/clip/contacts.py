"""When feet stand on the ground: by height and speed, each with two thresholds so that noise switches nothing.

A point comes down when it is both low and slow, and lifts when it is either high or fast. Heights and speeds are in leg
lengths and leg lengths per second, so the same numbers do for a child, a giant and a robot of 40 cm.
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
    """Thresholds of contact."""

    low: float = 0.045
    """Height under which a point may come down [leg lengths]."""
    high: float = 0.075
    """Height above which it lifts."""
    slow: float = 0.45
    """Speed under which a point may come down [leg lengths / s]."""
    fast: float = 0.8
    """Speed above which it lifts."""
    shortest: float = 0.06
    """Contacts, and gaps between them, that last less are noise [s]."""

    def __post_init__(self) -> None:
        """Refuse thresholds that cross."""
        if not (0.0 < self.low <= self.high and 0.0 < self.slow <= self.fast and self.shortest >= 0.0):
            raise TaskError("contact thresholds need 0 < low ≤ high, 0 < slow ≤ fast and shortest ≥ 0.")


@dataclass(frozen=True)
class Contacts:
    """Which part of which foot stands when; make another with `changed` to edit."""

    heel: dict[str, BoolArray]
    """(frames,) by side."""
    ball: dict[str, BoolArray]
    """(frames,) by side."""

    def standing(self, side: str) -> BoolArray:
        """(frames,) whether any part of a foot stands."""
        out: BoolArray = self.heel[side] | self.ball[side]
        return out

    def flat(self, side: str) -> BoolArray:
        """(frames,) whether the whole foot stands."""
        out: BoolArray = self.heel[side] & self.ball[side]
        return out

    def changed(self, side: str, first: int, last: int, *, heel: bool, ball: bool) -> Contacts:
        """These contacts with frames `first` to `last`, both included, of one foot set by hand."""
        if side not in self.heel:
            raise TaskError(f"there is no {side!r} foot; feet: {', '.join(self.heel) or 'none'}.")
        copies = ({k: v.copy() for k, v in self.heel.items()}, {k: v.copy() for k, v in self.ball.items()})
        copies[0][side][first : last + 1], copies[1][side][first : last + 1] = heel, ball
        return Contacts(*copies)

    def longer(self, frames: int) -> Contacts:
        """These contacts with every foot down some frames earlier and up later, in the air half as long at least."""
        heel, ball = ({side: mask.copy() for side, mask in part.items()} for part in (self.heel, self.ball))
        for side in heel:
            for first, last in segments(~self.standing(side)):
                more = min(frames, (last - first) // 4)
                for mask in (heel[side], ball[side]):
                    mask[first : first + more] = first > 0 and mask[first - 1]
                    mask[last - more : last] = last < len(mask) and mask[min(last, len(mask) - 1)]
        return Contacts(heel, ball)

    def without(self, frames: Mapping[str, BoolArray], shortest: float) -> Contacts:
        """These contacts less some frames of each foot, and less what is then shorter than `shortest` frames."""
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
    """Contacts of feet.

    Args:
        heels: (frames, 3) path of each ankle by side, its height measured from flat stance [m].
        balls: (frames, 3) path of the toes' base, its height measured from the ground it stands on [m].
        leg: Length of a leg [m].
        rate: Frames per second.
        settings: Thresholds.
    """
    chosen = settings or ContactSettings()
    found = [{side: _stands(path / leg, rate, chosen) for side, path in paths.items()} for paths in (heels, balls)]
    return Contacts(found[0], found[1])


def segments(mask: BoolArray) -> list[tuple[int, int]]:
    """First and one-past-last frame of every stretch that is true."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(np.int8), [0]])))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def _stands(path: FloatArray, rate: float, limits: ContactSettings) -> BoolArray:
    speed = np.linalg.norm(np.gradient(path, axis=0), axis=1) * rate if len(path) > 1 else np.zeros(1)
    height = path[:, 1]
    down = (height < limits.low) & (speed < limits.slow)
    lifted = (height > limits.high) | (speed > limits.fast)
    out = _without_short(_grown(down, lifted), limits.shortest * rate)
    return ~_without_short(~out, limits.shortest * rate)


def _grown(down: BoolArray, lifted: BoolArray) -> BoolArray:
    """Every stretch that is surely down, on to where it surely lifts, both ways in time."""
    out = np.zeros(len(down), dtype=np.bool_)
    for first, last in segments(~lifted):
        if down[first:last].any():
            touched = np.flatnonzero(down[first:last]) + first
            out[touched[0] : touched[-1] + 1] = True
    return out


def _without_short(mask: BoolArray, shortest: float) -> BoolArray:
    """Stretches of at least `shortest` frames; those at the ends of a clip may have begun before it and are kept."""
    out = np.zeros(len(mask), dtype=np.bool_)
    for first, last in segments(mask):
        if last - first >= shortest or first == 0 or last == len(mask):
            out[first:last] = True
    return out
