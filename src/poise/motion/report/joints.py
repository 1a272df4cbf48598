"""How joints move: the room they have left to their limits, their speed, acceleration and jerk, and their spikes.

With v_i the rate of a joint from frame i to frame i + 1, its acceleration at frame i is (v_i - v_{i-1}) · rate and its
jerk from frame i to frame i + 1 the difference of two accelerations, again times the rate. A joint with several
coordinates counts as the length of its rates; the free joint of a base counts as two, its turn and its place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture
from poise.kernels.body.limits import ball_room
from poise.motion.clip.motion import Motion

SPIKE = 8.0
"""Times the usual jerk of a joint, of frames that move, at which a frame is flagged."""
USUAL = 95.0
"""Percentile of jerk that is usual."""


class Spike(NamedTuple):
    """A frame at which a joint jerks unlike anywhere else."""

    frame: int
    joint: str
    jerk: float
    """[1/s³]"""
    usual: float
    """What it would have to be under to be usual, of the same joint and the whole motion [1/s³]."""


@dataclass(frozen=True)
class JointCurve:
    """One joint over time."""

    joint: str
    slides: bool
    """Whether its values are metres, not radians."""
    room: FloatArray | None
    """(frames,) to its nearest limit, negative beyond it [rad or m]; None for a joint without limits."""
    speed: FloatArray
    """(frames - 1,) from each frame to the next [1/s]."""
    acceleration: FloatArray
    """(frames - 2,) at the second frame and on [1/s²]."""
    jerk: FloatArray
    """(frames - 3,) from the second frame to the third and on [1/s³]."""
    fastest: float
    """The limit of its speed, inf without one [1/s]."""


def joint_curves(motion: Motion) -> list[JointCurve]:
    """Every joint of a motion, in the figure's order."""
    velocity, figure = motion.velocity, motion.figure
    rooms = _rooms(motion)
    curves = []
    for joint in figure.joints:
        at = figure.v_slice(joint.name)
        if joint.kind == "free":
            parts = {f"{joint.name} (place)": (slice(at.start, at.start + 3), True)}
            parts[f"{joint.name} (turn)"] = (slice(at.start + 3, at.stop), False)
        else:
            parts = {joint.name: (at, set(joint.primitives) == {"slide"})}
        for name, (columns, slides) in parts.items():
            if columns.stop > columns.start:
                rates = _differences(velocity[:, columns], motion.rate)
                curves.append(JointCurve(name, slides, rooms.get(joint.name), *rates, joint.speed))
    return curves


def find_spikes(motion: Motion) -> tuple[Spike, ...]:
    """Where the jerk of some coordinate is far above what is usual for it and for the whole motion."""
    if len(motion) < 5:
        return ()
    jerk = np.abs(np.diff(motion.velocity, n=2, axis=0)) * motion.rate**2
    usual = np.percentile(jerk, USUAL, axis=0)
    bound = SPIKE * np.maximum(usual, np.percentile(jerk, USUAL))
    owners = _owners(motion.figure)
    worst: dict[tuple[int, str], Spike] = {}
    for row, column in np.argwhere(jerk > bound).tolist():
        spike = Spike(row + 1, owners[column], float(jerk[row, column]), float(bound[column]))
        known = worst.get((spike.frame, spike.joint))
        if known is None or spike.jerk > known.jerk:
            worst[spike.frame, spike.joint] = spike
    return tuple(worst.values())


def _owners(figure: Figure) -> list[str]:
    """Name of the joint of every column of a velocity."""
    names = [""] * figure.nv
    for joint in figure.joints:
        at = figure.v_slice(joint.name)
        names[at] = [joint.name] * (at.stop - at.start)
    return names


def _differences(velocity: FloatArray, rate: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Lengths of rates, of their first and of their second differences."""
    sizes = []
    for order in range(3):
        change = np.diff(velocity, n=order, axis=0) if len(velocity) > order else np.empty((0, velocity.shape[1]))
        sizes.append(np.linalg.norm(change, axis=1) * rate**order)
    return sizes[0], sizes[1], sizes[2]


def _rooms(motion: Motion) -> dict[str, FloatArray]:
    """(frames,) room to the nearest limit of every joint that has one."""
    figure = motion.figure
    rooms = {}
    for joint in figure.joints:
        low, high = np.array(joint.lower), np.array(joint.upper)
        if joint.scalars and (np.isfinite(low) | np.isfinite(high)).any():
            values = motion.q[:, figure.q_slice(joint.name)]
            rooms[joint.name] = np.minimum(values - low, high - values).min(axis=1)
    return rooms | _ball_rooms(figure, list(motion))


def _ball_rooms(figure: Figure, postures: list[Posture]) -> dict[str, FloatArray]:
    bounds = figure.compiled.bounds
    starts = {figure.q_slice(joint.name).start: joint.name for joint in figure.joints if joint.kind == "ball"}
    return {
        starts[int(start)]: np.array([min(ball_room(bounds, ball, posture._q)) for posture in postures])
        for ball, start in enumerate(bounds.ball_start)
    }
