"""What is drawn about forces, torques, moments of inertia and obstacles: rows of numbers for the viewport.

| kind | number   | tone       | 13 numbers                                                           |
|------|----------|------------|----------------------------------------------------------------------|
| 1    | load     | 0          | a force: from, to [m]                                                |
| 2    | load     | 0          | a torque: from, to [m]                                               |
| 3    | load     | 1 or 2     | the ground on a support: from, to [m]                                |
| 4    | load     | 1 or 2     | friction cone: apex, axis, friction, height [m]                      |
| 5    | freedom  | τ/strength | torque of a joint: centre, axis, start, radius [m], angle [rad]      |
| 6    | task, -1 | 0, 1 thick | moment of inertia: centre, axis, radius of gyration [m]              |
| 7    | obstacle | form       | position, quaternion x, y, z, w, three sizes [m]                     |

Tones of the ground: 1 where it can hold the figure, 2 where it cannot.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from poise.figure.model.figure import Figure
from poise.figure.model.frames import Frames
from poise.figure.model.pose import FloatArray, unit_vector
from poise.forces.contacts import ground_normal
from poise.forces.loads import Force, Support
from poise.forces.reactions import Reactions
from poise.forces.torques import joint_torques
from poise.kernels.body.queries import node_frames
from poise.studio.session.loads import arrow_scales, reactions_of, weight_of
from poise.studio.session.obstacles import drawn_form, pose_of_obstacle
from poise.studio.session.state import State
from poise.studio.wire.anchors import joint_anchors, limb_anchors, marked_joints
from poise.tasks.mass import MomentOfInertia

FORCE, TORQUE, GROUND, CONE, ARC, RING, OBSTACLE = range(1, 8)
WIDTH = 16
GOOD, BAD = 1.0, 2.0
CONE_HEIGHT = 0.09
"""Height of a friction cone, in sizes of the figure."""
ARC_RADIUS = 0.045
"""Radius of the arcs of joint torques, in sizes of the figure."""
ARC_LOAD = 0.06
"""A torque of the weight on this lever, in sizes of the figure, is drawn as one radian less than a full turn."""
MOST_ANGLE = 2.0 * math.pi - 1.0
LEAST_ANGLE = 0.02
"""Arcs shorter than this are not drawn [rad]."""


def marks_of(state: State) -> FloatArray:
    """(m, 16) all marks of a state."""
    found = reactions_of(state.posture, state.scene.forces)
    rows = [*_loads(state, found), *_rings(state), *_obstacles(state)]
    if "torques" in state.shown and state.figure.mass > 0.0:
        rows += _arcs(state, found)
    return np.array(rows, dtype=np.float64).reshape(-1, WIDTH)


def _row(kind: int, number: int, tone: float, *parts: FloatArray | float) -> FloatArray:
    row = np.zeros(WIDTH)
    row[:3] = kind, number, tone
    values = np.concatenate([np.atleast_1d(part) for part in parts])
    row[3 : 3 + len(values)] = values
    return row


def _loads(state: State, found: Reactions | None) -> Iterator[FloatArray]:
    newton, newton_metre = arrow_scales(state.figure, state.look.extent)
    for number, load in enumerate(state.scene.forces):
        if isinstance(load, Force):
            frame = state.figure.pose_of(load.site, state.posture)
            turn = frame.matrix if load.axes == "site" else np.eye(3)
            for kind, arrow, scale in ((FORCE, load.force, newton), (TORQUE, load.torque, newton_metre)):
                if any(arrow):
                    yield _row(kind, number, 0.0, frame.position, frame.position + scale * turn @ np.array(arrow))
        elif isinstance(load, Support):
            yield from _ground(state, number, load, found)


def _ground(state: State, number: int, support: Support, found: Reactions | None) -> Iterator[FloatArray]:
    """The friction cone under a support, and how the ground pushes it."""
    apex = state.figure.pose_of(support.site, state.posture).position
    tone = GOOD
    if found is not None:
        apex, tone = found.center_of_pressure(support.site), GOOD if found.balanced else BAD
        newton, _ = arrow_scales(state.figure, state.look.extent)
        yield _row(GROUND, number, tone, apex, apex + newton * found.supports[support.site])
    height = CONE_HEIGHT * state.look.extent
    yield _row(CONE, number, tone, apex, ground_normal(state.figure, support), support.friction, height)


def _arcs(state: State, found: Reactions | None) -> list[FloatArray]:
    """Torques as arcs whose length is the load [Baerlocher 2001, 6.4.4]; those of balls as their swing and twist."""
    figure, posture = state.figure, state.posture
    torque = joint_torques(figure, posture, state.scene.forces, reactions=found)
    frames = figure.frames(posture)
    centers = joint_anchors(figure).places(figure, frames)
    axes = node_frames(figure.compiled.tree, posture._q)[2]
    rows = []
    for joint, center, limb in zip(marked_joints(figure), centers, _limbs(figure, frames, centers), strict=True):
        where = figure.v_slice(joint.name)
        if joint.kind == "ball":
            total = torque[where] @ axes[where]
            twist = float(total @ limb)
            parts = [(where.start, total - twist * limb), (where.start + 2, twist * limb)]
        else:
            turns = [k for k, kind in zip(range(where.start, where.stop), joint.scalars, strict=True) if kind == "turn"]
            parts = [(k, torque[k] * axes[k]) for k in turns]
        for number, moment in parts:
            arc = _arc(state, number, center, moment, limb)
            if arc is not None:
                arc[2] = float(np.linalg.norm(moment)) / joint.strength
                rows.append(arc)
    return rows


def _arc(state: State, number: int, center: FloatArray, moment: FloatArray, limb: FloatArray) -> FloatArray | None:
    extent = state.look.extent
    size = float(np.linalg.norm(moment))
    angle = min(MOST_ANGLE, MOST_ANGLE * size / (ARC_LOAD * extent * weight_of(state.figure)))
    if angle < LEAST_ANGLE:
        return None
    axis = moment / size
    start = limb - float(limb @ axis) * axis
    if np.linalg.norm(start) < 1e-6:
        start = np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
    return _row(ARC, number, 0.0, center, axis, start / np.linalg.norm(start), ARC_RADIUS * extent, angle)


def _limbs(figure: Figure, frames: Frames, centers: FloatArray) -> FloatArray:
    """(j, 3) the direction from each joint to the middle of what it moves; up where that is in the joint."""
    ways = limb_anchors(figure).places(figure, frames) - centers
    sizes = np.linalg.norm(ways, axis=1, keepdims=True)
    directions: FloatArray = np.where(sizes > 1e-9, ways / np.maximum(sizes, 1e-9), figure.up_vector)
    return directions


def _rings(state: State) -> Iterator[FloatArray]:
    """The moment of inertia as a ring of the radius of gyration, thin; the one that is wanted thick [7.3.3]."""
    figure, posture = state.figure, state.posture
    if figure.mass <= 0.0:
        return
    asked = [
        (number, task)
        for number, task in enumerate(state.scene.tasks)
        if isinstance(task, MomentOfInertia) and task.active
    ]
    axes = [(number, unit_vector(task.axis), task.value) for number, task in asked]
    if "inertia" in state.shown and not axes:
        axes = [(-1, figure.up_vector, -1.0)]
    center = figure.center_of_mass(posture) if axes else np.zeros(3)
    for number, axis, wanted in axes:
        yield _row(RING, number, 0.0, center, axis, math.sqrt(figure.moment_of_inertia(posture, axis) / figure.mass))
        if wanted > 0.0:
            yield _row(RING, number, 1.0, center, axis, math.sqrt(wanted / figure.mass))


def _obstacles(state: State) -> Iterator[FloatArray]:
    if not state.scene.obstacles:
        return
    frames = state.figure.frames(state.posture)
    near = frames.position[: len(state.figure.bodies)].mean(axis=0)
    for number, obstacle in enumerate(state.scene.obstacles):
        pose = pose_of_obstacle(obstacle, near)
        form, sizes = drawn_form(obstacle)
        yield _row(OBSTACLE, number, form, pose.position, np.roll(pose.rotation, -1), sizes)
