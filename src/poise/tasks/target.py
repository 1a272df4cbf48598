"""Targets of tasks as points in the world, which pictures show and a page can drag."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from poise.figure.model.pose import FloatArray, Frames, Pose
from poise.figure.model.posture import Posture

if TYPE_CHECKING:
    from poise.figure.model.figure import PostureLike

TargetLike: TypeAlias = "Pose | PostureLike"
"""The target of some task: a position, rotation, direction, pose, posture or number."""

_NO_ROTATION = np.array([1.0, 0.0, 0.0, 0.0])


class Target(NamedTuple):
    """The target of a task in the world, and the point of the figure that it is for."""

    wanted: FloatArray
    """(3,) position of the target [m]."""
    got: FloatArray
    """(3,) present position of the figure's point [m]."""
    rotation: FloatArray = _NO_ROTATION
    """(4,) orientation of the target in the world, (w, x, y, z)."""
    moves: bool = True
    """Whether the target can be moved."""
    turns: bool = False
    """Whether the target can be rotated."""
    is_seen: bool = False
    """Whether the point should look at the target, instead of being there."""


@lru_cache(maxsize=8)
def _frames(posture: Posture) -> Frames:
    """All frames of a posture; cached, because several targets use them."""
    return posture.figure.frames(posture)


def world_from_part(posture: Posture, part: str | None) -> Pose:
    """The pose of a site or body; the identity for None, the world."""
    return Pose() if part is None else _frames(posture)[part]


def part_from_world(posture: Posture, part: str | None) -> Pose:
    """The pose that transforms from the world to the frame of a site or body; the identity for None."""
    return Pose() if part is None else world_from_part(posture, part).inverse()


def nearest_target(here: FloatArray, at: FloatArray, directions: FloatArray) -> FloatArray:
    """(3,) the point nearest to `here` that has the coordinates of `at` along the directions (rows, 3)."""
    if np.array_equal(directions, np.eye(3)):
        return at
    nearest: FloatArray = here + np.linalg.pinv(directions) @ (directions @ (at - here))
    return nearest
