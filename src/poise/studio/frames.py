"""The binary frame that moves the viewport: one flat row of float32 per change.

| floats | what                                                                                     |
|--------|------------------------------------------------------------------------------------------|
| 10     | format, figure number, step, bodies b, joints j, loops l, targets t, corners k, light, mass |
| 7 b    | position x, y, z [m] and quaternion x, y, z, w of every body                              |
| 3 j    | position of every marked joint [m]                                                        |
| 6 l    | position of every loop joint on its parent and on its child [m]                           |
| 8 t    | number of the task (-1: a pull), whether it is met, where it should be and where it is [m]  |
| 3 k    | corners of the support [m]                                                                |
| 3      | centre of mass [m]; zero without mass                                                     |
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from poise.figure.figure import Figure
from poise.figure.frames import Frames
from poise.studio.anchors import joint_anchors, loop_anchors, support_corners
from poise.studio.outcome import LIGHTS
from poise.studio.state import State
from poise.studio.targets import places
from poise.tasks.mass import CenterOfMass

FORMAT = 2
PULL = -1.0
_HEADER = 10
_BODY, _JOINT, _LOOP, _TARGET, _POINT = 7, 3, 6, 8, 3
_WRAP = 1 << 24
"""Counters start again here, while float32 still holds every integer."""

FloatRow = NDArray[np.float32]


class Frame(NamedTuple):
    """A frame taken apart."""

    figure_number: int
    step: int
    light: str
    bodies: FloatRow
    """(b, 7)"""
    joints: FloatRow
    """(j, 3)"""
    loops: FloatRow
    """(l, 6)"""
    targets: FloatRow
    """(t, 8)"""
    corners: FloatRow
    """(k, 3)"""
    center: FloatRow
    """(3,)"""


def packed(state: State) -> bytes:
    """The frame of a state."""
    figure = state.figure
    frames = figure.frames(state.posture)
    joints = joint_anchors(figure).places(figure, frames)
    loops = loop_anchors(figure).places(figure, frames).reshape(-1, _LOOP)
    targets, corners = _targets(state), _corners(state, frames)
    counts = [len(figure.bodies), len(joints), len(loops), len(targets), len(corners)]
    numbers = [state.figure_number % _WRAP, state.step % _WRAP]
    header = [FORMAT, *numbers, *counts, LIGHTS.index(state.outcome.light), figure.mass > 0.0]
    center = figure.center_of_mass(state.posture) if figure.mass > 0.0 else np.zeros(3)
    rows = [np.array(header, dtype=np.float64), _bodies(figure, frames), joints, loops, *targets, corners, center]
    return np.concatenate([np.ravel(row) for row in rows]).astype("<f4").tobytes()


def _bodies(figure: Figure, frames: Frames) -> NDArray[np.float64]:
    count = len(figure.bodies)
    rotation = frames.rotation[:count]
    return np.concatenate([frames.position[:count], rotation[:, 1:], rotation[:, :1]], axis=1)


def _targets(state: State) -> list[NDArray[np.float64]]:
    """A row for every active task that has a place, then one for every pull."""
    rows = []
    for number, task in enumerate(state.scene.tasks):
        found = places(task, state.posture) if task.active else None
        if found is not None:
            rows.append(np.array([number, state.outcome.is_met(task), *found.wanted, *found.got]))
    for pull in state.pulls:
        held = places(pull.task, state.posture)
        assert held is not None
        rows.append(np.array([PULL, state.outcome.is_met(pull.task), *pull.at, *held.got]))
    return rows


def _corners(state: State, frames: Frames) -> NDArray[np.float64]:
    """(k, 3) corners of the support that the first task about balance stands on."""
    for task in state.scene.tasks:
        if isinstance(task, CenterOfMass) and task.active and task.over is not None:
            return support_corners(state.figure, frames, task.supports)
    return np.empty((0, 3))


def unpacked(data: bytes) -> Frame:
    """A frame taken apart again."""
    row = np.frombuffer(data, dtype="<f4")
    _, figure_number, step, bodies, joints, loops, targets, corners, light, _ = (int(v) for v in row[:_HEADER])
    sizes = [_BODY * bodies, _JOINT * joints, _LOOP * loops, _TARGET * targets, _POINT * corners, _POINT]
    parts = [row[a:b] for a, b in itertools.pairwise(np.cumsum([_HEADER, *sizes]))]
    widths = (_BODY, _JOINT, _LOOP, _TARGET, _POINT)
    shaped = [part.reshape(-1, width) for part, width in zip(parts[:-1], widths, strict=True)]
    b, j, k, t, c = shaped
    return Frame(figure_number, step, LIGHTS[light], b, j, k, t, c, parts[-1])
