"""The binary frame that moves the viewport: one flat row of float32 per change.

| floats         | what                                                             |
|----------------|------------------------------------------------------------------|
| 6              | format, figure number, step, bodies b, joints j, loops l          |
| 7 b            | position x, y, z [m] and quaternion x, y, z, w of every body      |
| 3 j            | position of every marked joint [m]                                |
| 6 l            | position of every loop joint on its parent and on its child [m]   |
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from poise.figure.figure import Figure
from poise.figure.frames import Frames
from poise.figure.joints import Joint
from poise.pictures.bones import joint_places
from poise.studio.session import State

FORMAT = 1
_HEADER = 6
_BODY, _JOINT, _LOOP = 7, 3, 6
_WRAP = 1 << 24
"""Counters start again here, while float32 still holds every integer."""

FloatRow = NDArray[np.float32]


class Frame(NamedTuple):
    """A frame taken apart."""

    figure_number: int
    step: int
    bodies: FloatRow
    """(b, 7)"""
    joints: FloatRow
    """(j, 3)"""
    loops: FloatRow
    """(l, 6)"""


def marked_joints(figure: Figure) -> list[Joint]:
    """Joints that get a mark: not rigid attachments, not floating bases."""
    return [joint for joint in figure.joints if joint.kind not in ("fixed", "free")]


def packed(state: State) -> bytes:
    """The frame of a state."""
    figure = state.figure
    frames = figure.frames(state.posture)
    marked = {joint.name for joint in marked_joints(figure)}
    places = joint_places(figure, frames)
    joints = [place.on_child.position for place in places if place.joint.name in marked]
    loops = [
        np.concatenate([place.on_parent.position, place.on_child.position])
        for place in joint_places(figure, frames, loops=True)
    ]
    header = [FORMAT, state.figure_number % _WRAP, state.step % _WRAP, len(figure.bodies), len(joints), len(loops)]
    rows = [np.array(header, dtype=np.float64), _bodies(figure, frames), *joints, *loops]
    return np.concatenate([np.ravel(row) for row in rows]).astype("<f4").tobytes()


def _bodies(figure: Figure, frames: Frames) -> NDArray[np.float64]:
    count = len(figure.bodies)
    rotation = frames.rotation[:count]
    return np.concatenate([frames.position[:count], rotation[:, 1:], rotation[:, :1]], axis=1)


def unpacked(data: bytes) -> Frame:
    """A frame taken apart again."""
    row = np.frombuffer(data, dtype="<f4")
    _, figure_number, step, bodies, joints, loops = (int(value) for value in row[:_HEADER])
    ends = np.cumsum([_HEADER, _BODY * bodies, _JOINT * joints, _LOOP * loops])
    parts = [row[a:b] for a, b in itertools.pairwise(ends)]
    return Frame(
        figure_number, step, parts[0].reshape(-1, _BODY), parts[1].reshape(-1, _JOINT), parts[2].reshape(-1, _LOOP)
    )
