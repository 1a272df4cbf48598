"""The binary frame that moves the viewport: one flat row of float32 per change.

| floats | what                                                                                  |
|--------|---------------------------------------------------------------------------------------|
| 12     | format, figure number, step, how many of each of the next seven, light, whether it has mass |
| 7 b    | every body: position x, y, z [m] and quaternion x, y, z, w                            |
| 4 j    | every marked joint: position [m], and whether it is at a limit                        |
| 6 l    | every loop joint: position on its parent and on its child [m]                         |
| 14 t   | every target: number of its task (-1: a pull), whether it is met, where it should be  |
|        | and where it is [m], whether it moves, whether it turns, quaternion x, y, z, w        |
| 3 k    | corners of the support [m]                                                            |
| 3 n    | every freedom: its axis in the world                                                  |
| 16 m   | marks, see `marks.py`                                                                 |
| 3      | centre of mass [m]; zero without mass                                                 |
"""

from __future__ import annotations

import itertools
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from poise.figure.model.figure import Figure
from poise.figure.model.frames import Frames
from poise.figure.model.violations import reached_limits
from poise.kernels.body.queries import node_frames
from poise.studio.session.outcome import LIGHTS
from poise.studio.session.state import State
from poise.studio.session.targets import Places, places
from poise.studio.wire.anchors import joint_anchors, loop_anchors, marked_joints, support_corners
from poise.studio.wire.marks import WIDTH, marks_of
from poise.tasks.mass import CenterOfMass

FORMAT = 4
PULL = -1.0
_HEADER = 12
_WIDTHS = (7, 4, 6, 14, 3, 3, WIDTH)
_POINT = 3
_WRAP = 1 << 24
"""Counters start again here, while float32 still holds every integer."""
AT_LIMIT = 1e-4
"""A joint nearer to its limit than this is drawn as being there [rad or m]."""

FloatRow = NDArray[np.float32]


class Frame(NamedTuple):
    """A frame taken apart."""

    figure_number: int
    step: int
    light: str
    bodies: FloatRow
    """(b, 7)"""
    joints: FloatRow
    """(j, 4)"""
    loops: FloatRow
    """(l, 6)"""
    targets: FloatRow
    """(t, 14)"""
    corners: FloatRow
    """(k, 3)"""
    axes: FloatRow
    """(n, 3)"""
    marks: FloatRow
    """(m, 16)"""
    center: FloatRow
    """(3,)"""


def packed(state: State) -> bytes:
    """The frame of a state."""
    figure = state.figure
    frames = figure.frames(state.posture)
    parts = [
        _bodies(figure, frames),
        _joints(state, frames),
        loop_anchors(figure).places(figure, frames).reshape(-1, 6),
        _targets(state),
        _corners(state, frames),
        node_frames(figure.compiled.tree, state.posture._q)[2],
        marks_of(state),
    ]
    numbers = [state.figure_number % _WRAP, state.step % _WRAP]
    header = [FORMAT, *numbers, *map(len, parts), LIGHTS.index(state.outcome.light), figure.mass > 0.0]
    center = figure.center_of_mass(state.posture) if figure.mass > 0.0 else np.zeros(3)
    rows = [np.array(header, dtype=np.float64), *parts, center]
    return np.concatenate([np.ravel(row) for row in rows]).astype("<f4").tobytes()


def _bodies(figure: Figure, frames: Frames) -> NDArray[np.float64]:
    count = len(figure.bodies)
    rotation = frames.rotation[:count]
    return np.concatenate([frames.position[:count], rotation[:, 1:], rotation[:, :1]], axis=1)


def _joints(state: State, frames: Frames) -> NDArray[np.float64]:
    """Places of joints, and 1 for those that can go no further one way."""
    where = joint_anchors(state.figure).places(state.figure, frames)
    numbers = _joint_numbers(state.figure)
    stopped = np.zeros((len(where), 1))
    for name in reached_limits(state.figure, state.posture, AT_LIMIT):
        stopped[numbers[name.partition(" (")[0]]] = 1.0
    return np.concatenate([where, stopped], axis=1)


@lru_cache(maxsize=16)
def _joint_numbers(figure: Figure) -> dict[str, list[int]]:
    """Numbers of the marked joints by what can be at a limit: a joint, or a coupling of several."""
    numbers = {joint.name: number for number, joint in enumerate(marked_joints(figure))}
    found = {joint.name: [numbers[joint.name]] if joint.name in numbers else [] for joint in figure.joints}
    for coupling in figure.couplings:
        found[coupling.name] = [numbers[term.joint] for term in coupling.terms if term.joint in numbers]
    return found


def _targets(state: State) -> NDArray[np.float64]:
    """A row for every active task that has a place, then one for every pull."""
    rows = []
    for number, task in enumerate(state.scene.tasks):
        found = places(task, state.posture) if task.active else None
        if found is not None:
            rows.append(_target(number, state.outcome.is_met(task), found))
    for pull in state.pulls:
        held = places(pull.task, state.posture)
        if held is not None:
            rows.append(_target(PULL, state.outcome.is_met(pull.task), held._replace(wanted=pull.at)))
    return np.array(rows, dtype=np.float64).reshape(-1, 14)


def _target(number: float, met: bool, found: Places) -> NDArray[np.float64]:
    turn = np.roll(found.rotation, -1)
    return np.array([number, met, *found.wanted, *found.got, found.moves, found.turns, *turn])


def _corners(state: State, frames: Frames) -> NDArray[np.float64]:
    """(k, 3) corners of the support that the first task about balance stands on."""
    for task in state.scene.tasks:
        if isinstance(task, CenterOfMass) and task.active and task.over is not None:
            return support_corners(state.figure, frames, task.supports)
    return np.empty((0, 3))


def unpacked(data: bytes) -> Frame:
    """A frame taken apart again."""
    row = np.frombuffer(data, dtype="<f4")
    _, figure_number, step, *counts, light, _ = (int(v) for v in row[:_HEADER])
    sizes = [width * count for width, count in zip(_WIDTHS, counts, strict=True)]
    *parts, center = [row[a:b] for a, b in itertools.pairwise(np.cumsum([_HEADER, *sizes, _POINT]))]
    shaped = [part.reshape(-1, width) for part, width in zip(parts, _WIDTHS, strict=True)]
    return Frame._make([figure_number, step, LIGHTS[light], *shaped, center])
