"""Other postures to start from, where tasks are not met from the likely one.

**Not upright**: on their hands, turning a cartwheel, lying. The model of people
(`poise.figures.people.likely_posture`) has learnt mostly from people on their feet, and says little about handles whose
feet are above the head. But a body that is turned as a whole has a posture of its own: with R a rotation of the world,
p the likely posture and h the handles, the posture R⁻¹ p(R h) answers the same question. Among some rotations R that
bring the feet nearer to level, those count whose answers come nearest to the handles after the rigid motion that brings
them nearest [Kabsch 1976]. People with level feet are upright.

**Solid.** In the likely posture parts may be in each other, and cannot always get out. A person who stands where the
feet should be is in nobody's way: arms then come from outside, as they do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray, Pose, from_matrix, to_matrix
from poise.figure.model.posture import Posture
from poise.figures.people.likely_posture import FEET, feet_pose

TILTS, AZIMUTHS = (60.0, 120.0, 180.0), tuple(np.arange(0.0, 360.0, 60.0))
"""Angles by which people are tilted, and of the horizontal axes about which, in the frame of the feet [°]."""
MOST_TRIED = 4
"""Largest number of postures that are tried."""
LEAST_RISE = 0.2
"""By how much a rotation has to raise the sum of the cosines of the feet's tilts."""
LEVER = 0.1
"""Distance of the points that stand for the axes of a handle with a rotation [m]."""

Handles = Mapping[str, "Pose | ArrayLike"]


def turned_postures(human: Figure, likely: Callable[[Handles], FloatArray], handles: Handles) -> Iterator[Posture]:
    """Yield postures of a human who is not upright, the nearest to the handles first.

    Args:
        human: The human.
        likely: Computes the likely coordinates (nq,) for handles.
        handles: Wanted poses and positions [m]; with the poses of both feet.
    """
    feet = _feet(handles)
    if sum(map(_rise, feet)) >= len(feet) - LEAST_RISE:
        return  # Nothing can raise them by as much: people with level feet are upright.
    heading, found = Pose(rotation=feet_pose(feet).rotation), []
    for turn in _turns():
        around = heading @ turn @ heading.inverse()
        if sum(_rise(around @ foot) for foot in feet) > sum(map(_rise, feet)) + LEAST_RISE:
            q = likely({name: _moved(around, handle) for name, handle in handles.items()})
            found.append(_aligned(human, human.posture(_with_base(human, q, around.inverse())), handles))
    for _, posture in sorted(found, key=lambda each: each[0])[:MOST_TRIED]:
        yield posture


def standing_there(human: Figure, handles: Handles) -> Posture:
    """The human standing where its feet should be, and as they point; `handles` have the poses of both feet."""
    stands = human.posture("standing")
    home = feet_pose([human.pose_of(foot, stands) for foot in FEET])
    return human.posture(_with_base(human, stands._q, feet_pose(_feet(handles)) @ home.inverse()))


def _feet(handles: Handles) -> list[Pose]:
    """The poses of both feet."""
    return [pose for pose in (handles[foot] for foot in FEET) if isinstance(pose, Pose)]


def _rise(foot: Pose) -> float:
    """How far the upper side of a foot points up: the cosine of its tilt."""
    return float(foot.matrix[1, 1])


@cache
def _turns() -> tuple[Pose, ...]:
    """The rotations that are tried."""
    found = []
    for tilt in np.radians(TILTS):
        for azimuth in np.radians(AZIMUTHS if tilt < np.pi - 1e-9 else AZIMUTHS[:1]):
            s = np.sin(0.5 * tilt)
            found.append(Pose(rotation=(np.cos(0.5 * tilt), s * np.cos(azimuth), 0.0, s * np.sin(azimuth))))
    return tuple(found)


def _moved(move: Pose, handle: Pose | ArrayLike) -> Pose | FloatArray:
    """A handle after a rigid motion."""
    return move @ handle if isinstance(handle, Pose) else move.apply(np.asarray(handle, dtype=np.float64))


def _with_base(human: Figure, q: FloatArray, move: Pose) -> FloatArray:
    """(nq,) coordinates after a rigid motion of the whole human."""
    found, base = q.copy(), human.q_slice(next(joint.name for joint in human.joints if joint.kind == "free"))
    pose = move @ Pose(q[base][:3], q[base][3:])
    found[base] = np.concatenate([pose.position, pose.rotation])
    return found


def _aligned(human: Figure, posture: Posture, handles: Handles) -> tuple[float, Posture]:
    """The sum of squared distances [m²] between a posture's points and the handles, and the posture moved nearest."""
    legal = human.clamp(posture)
    frames = human.frames(legal)
    here = np.concatenate([_points(frames[name], isinstance(handle, Pose)) for name, handle in handles.items()])
    there = np.concatenate([_points(handle, True) for handle in handles.values()])
    a, b = here.mean(axis=0), there.mean(axis=0)
    u, _, v = np.linalg.svd((here - a).T @ (there - b))
    turn = v.T @ np.diag([1.0, 1.0, np.sign(np.linalg.det(v.T @ u.T))]) @ u.T
    gap = float(np.sum(((here - a) @ turn.T - (there - b)) ** 2))
    return gap, human.posture(_with_base(human, legal._q, Pose(b - turn @ a, from_matrix(turn))))


def _points(handle: Pose | ArrayLike, turned: bool) -> FloatArray:
    """(k, 3) the place of a handle and, if its rotation counts, points on its axes [m]."""
    if not isinstance(handle, Pose):
        return np.asarray(handle, dtype=np.float64)[None]
    if not turned:
        return handle.position[None]
    return np.concatenate([handle.position[None], handle.position + LEVER * to_matrix(handle.rotation).T])
