"""The binary frame that moves the viewport: one row of float32 for each change, laid out as `layout.py` declares."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from poise.figure.collision.soles import support_polygon
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray, Frames
from poise.figure.model.posture import reached_limits
from poise.kernels.body.queries import node_frames
from poise.studio.session.outcome import LIGHTS
from poise.studio.session.state import State
from poise.studio.wire.anchors import joint_anchors, loop_anchors, marked_joints
from poise.studio.wire.layout import FORMAT, FRAME_HEADER, TABLES, WIDTHS, rows_of
from poise.studio.wire.marks import marks_of
from poise.tasks.target import Target
from poise.tasks.touch import Touch

PULL_TASK = -1
"""Number in place of a task's in the target of a pull."""
COUNTER_LIMIT = 1 << 24
"""Counters wrap around here, because float32 represents every integer only below it."""
DRAWN_AT_LIMIT = 1e-4
"""Distance to a limit below which a joint is drawn as being at it [rad or m]."""

FloatRow = NDArray[np.float32]


class Frame(NamedTuple):
    """The contents of a frame; the tables have the columns of `layout.TABLES`."""

    figure_number: int
    step: int
    light: str
    bodies: FloatRow
    joints: FloatRow
    loops: FloatRow
    targets: FloatRow
    corners: FloatRow
    axes: FloatRow
    marks: FloatRow
    center_of_mass: FloatRow


def packed(state: State) -> bytes:
    """The frame of a state as bytes."""
    figure = state.figure
    frames = figure.frames(state.posture)
    tables = {
        "bodies": bodies_table(figure, frames),
        "joints": _joints(state, frames),
        "loops": _loops(figure, frames),
        "targets": _targets(state),
        "corners": _corners(state),
        "axes": node_frames(figure.compiled.tree, state.posture._q)[2],
        "marks": marks_of(state),
        "center_of_mass": np.array([figure.center_of_mass(state.posture)] if figure.mass > 0.0 else []).reshape(-1, 3),
    }
    numbers = {
        "format": FORMAT,
        "figure": state.figure_number % COUNTER_LIMIT,
        "step": state.step % COUNTER_LIMIT,
        "light": LIGHTS.index(state.outcome.light),
        **{name: len(rows) for name, rows in tables.items()},
    }
    header = np.array([numbers[name] for name in FRAME_HEADER], dtype=np.float64)
    return np.concatenate([header, *(np.ravel(tables[name]) for name in TABLES)]).astype("<f4").tobytes()


def bodies_table(figure: Figure, frames: Frames) -> FloatArray:
    """Rows of the table `bodies`."""
    count = len(figure.bodies)
    rotation = frames.rotation[:count]
    return rows_of("bodies", count, position=frames.position[:count], quaternion=np.roll(rotation, -1, axis=1))


def _joints(state: State, frames: Frames) -> FloatArray:
    """Rows of the table `joints`."""
    where = joint_anchors(state.figure).places(state.figure, frames)
    numbers = _joint_numbers(state.figure)
    at_limit = np.zeros(len(where))
    for name in reached_limits(state.figure, state.posture, DRAWN_AT_LIMIT):
        at_limit[numbers[name.partition(" (")[0]]] = 1.0
    return rows_of("joints", len(where), position=where, at_limit=at_limit)


def _loops(figure: Figure, frames: Frames) -> FloatArray:
    """Rows of the table `loops`."""
    ends = loop_anchors(figure).places(figure, frames)
    return rows_of("loops", len(figure.loops), on_parent=ends[0::2], on_child=ends[1::2])


@lru_cache(maxsize=16)
def _joint_numbers(figure: Figure) -> dict[str, list[int]]:
    """Numbers of the marked joints of everything that can be at a limit: a joint, or a coupling of several joints."""
    numbers = {joint.name: number for number, joint in enumerate(marked_joints(figure))}
    found = {joint.name: [numbers[joint.name]] if joint.name in numbers else [] for joint in figure.joints}
    for coupling in figure.couplings:
        found[coupling.name] = [numbers[term.joint] for term in coupling.terms if term.joint in numbers]
    return found


def _targets(state: State) -> FloatArray:
    """Rows of the table `targets`: every active task with a target, then every pull."""
    rows = [np.empty((0, WIDTHS["targets"]))]
    for number, task in enumerate(state.scene.tasks):
        found = task.target_in(state.posture) if task.active else None
        if found is not None:
            rows.append(_target(number, state.outcome.is_met(task), found))
    for pull in state.pulls:
        held = pull.task.target_in(state.posture)
        if held is not None:
            rows.append(_target(PULL_TASK, state.outcome.is_met(pull.task), held._replace(wanted=pull.at)))
    return np.concatenate(rows)


def _target(number: int, met: bool, found: Target) -> FloatArray:
    return rows_of(
        "targets",
        1,
        task=number,
        met=met,
        wanted=found.wanted,
        got=found.got,
        moves=found.moves,
        turns=found.turns,
        quaternion=np.roll(found.rotation, -1),
    )


def _corners(state: State) -> FloatArray:
    """(k, 3) corners of the support polygon of the first balance task [m].

    Where supports have to touch something, it is that of the last verdict.
    """
    touches = any(isinstance(task, Touch) and task.active for task in state.scene.tasks)
    for task in state.scene.tasks:
        if task.active and task.supports:
            verdict = state.outcome.verdicts.get(task)
            if touches and verdict is not None and verdict.support is not None:
                return verdict.support.corners
            return support_polygon(state.posture, task.supports).corners
    return np.empty((0, 3))


def unpacked(data: bytes) -> Frame:
    """The contents of a frame, from its bytes."""
    row = np.frombuffer(data, dtype="<f4")
    header = {name: int(number) for name, number in zip(FRAME_HEADER, row, strict=False)}
    tables, at = {}, len(FRAME_HEADER)
    for name, width in WIDTHS.items():
        end = at + width * header[name]
        tables[name] = row[at:end].reshape(-1, width)
        at = end
    return Frame(header["figure"], header["step"], LIGHTS[header["light"]], **tables)
