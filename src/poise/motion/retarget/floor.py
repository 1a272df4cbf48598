"""A floor that is not flat: a map of heights, and boxes to stand on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.ndimage import gaussian_filter1d, map_coordinates, maximum_filter1d

from poise.errors import TaskError
from poise.figure.model.pose import FloatArray
from poise.motion.clip.contacts import BoolArray, segments
from poise.motion.retarget.build import Build
from poise.motion.retarget.feet import frames_to_nearest, interpolated_offsets, smootherstep

LOOK_TIME = 0.15
"""Time before and after a frame in which a foot in the air already clears what comes under it [s]."""
SMOOTH_TIME = 0.05
"""Standard deviation in time of the Gaussian that smooths that height [s]."""
RISE_TIME = 0.1
"""Time after lifting and before landing over which it rises and falls [s]."""


class Top(NamedTuple):
    """The top of a box."""

    place: tuple[float, float]
    """Centre, along the two level axes of the figure's world in their order [m]."""
    size: tuple[float, float]
    """Lengths of its edges along these axes [m]."""
    height: float
    """Height above the ground [m]."""
    turn: float = 0.0
    """Rotation about the vertical [rad]."""


@dataclass(frozen=True)
class Floor:
    """Heights of a floor above the ground; outside of the map and the boxes it is at height 0.

    The level axes are those of the figure's world that are not its up axis, in their order: x and y for most robots,
    x and z for the built-in human. A clip is centred where the figure's hips are in its neutral posture.
    """

    boxes: tuple[Top, ...] = ()
    """Boxes to stand on."""
    heights: FloatArray | None = None
    """(n, m) heights of a grid along the two level axes [m], interpolated between its points; None without a map."""
    corner: tuple[float, float] = (0.0, 0.0)
    """Where its first point is [m]."""
    spacing: float = 1.0
    """Distance of neighbouring points [m]."""

    def __post_init__(self) -> None:
        """Refuse values that are no floor."""
        object.__setattr__(self, "boxes", tuple(Top(*box) for box in self.boxes))
        numbers = np.array([[*b.place, *b.size, b.height, b.turn] for b in self.boxes], dtype=np.float64).reshape(-1, 6)
        if not np.isfinite(numbers).all() or (numbers[:, 2:4] <= 0.0).any():
            raise TaskError("a box to stand on has a place, two edges longer than 0, and a height, all finite numbers.")
        if self.heights is not None:
            object.__setattr__(self, "heights", np.array(self.heights, dtype=np.float64))
            if self.heights.ndim != 2 or not np.isfinite(self.heights).all() or not self.spacing > 0.0:
                raise TaskError("a map of heights is a table (n, m) of finite numbers, with a spacing above 0.")

    def at(self, places: ArrayLike) -> FloatArray:
        """(k,) heights at places (k, 2) [m]; the highest box counts where several are above each other."""
        level = np.atleast_2d(np.asarray(places, dtype=np.float64))
        out = np.zeros(len(level))
        if self.heights is not None:
            grid = (level - self.corner) / self.spacing
            inside = ((grid >= 0.0) & (grid <= np.array(self.heights.shape) - 1.0)).all(axis=1)
            out = np.where(inside, map_coordinates(self.heights, grid.T, order=1, mode="nearest"), 0.0)
        for box in self.boxes:
            away = level - box.place
            cos, sin = np.cos(box.turn), np.sin(box.turn)
            own = np.stack([cos * away[:, 0] + sin * away[:, 1], cos * away[:, 1] - sin * away[:, 0]], axis=1)
            out = np.where((np.abs(own) <= 0.5 * np.array(box.size)).all(axis=1), np.maximum(out, box.height), out)
        return out

    def under(self, build: Build, path: FloatArray) -> FloatArray:
        """(frames,) height of the floor under a path (frames, 3) in standing axes [m]."""
        level = np.argsort(np.abs(build.axes[1]))[:2]
        return self.at(build.world(path)[:, np.sort(level)])


def levels(under: FloatArray, stands: BoolArray, rate: float) -> FloatArray:
    """(frames,) height from which the height of a foot counts [m].

    In stance it is the median height of the floor under the foot. In the air it goes smoothly from one stance to the
    next, and above what comes under the foot on its way.

    Args:
        under: (frames,) height of the floor under the foot [m].
        stands: (frames,) whether the foot stands.
        rate: Frames per second.
    """
    flat = under.copy()
    for first, last in segments(stands):
        flat[first:last] = np.median(under[first:last])
    between = flat if not stands.any() else np.where(stands, flat, interpolated_offsets(flat, stands))
    ahead = maximum_filter1d(np.maximum(under - between, 0.0), 2 * round(LOOK_TIME * rate) + 1, mode="nearest")
    above = gaussian_filter1d(ahead, max(SMOOTH_TIME * rate, 0.3), mode="nearest")
    out: FloatArray = between + above * smootherstep(np.clip(frames_to_nearest(stands) / (RISE_TIME * rate), 0.0, 1.0))
    return out
