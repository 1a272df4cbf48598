"""Marks that the viewport draws: forces, torques, friction cones, moments of inertia and obstacles.

Their rows are laid out as `layout.MARKS` declares.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray, Frames, unit_vector
from poise.forces.acting import ground_normal
from poise.forces.loads import Force, Support
from poise.forces.reactions import Reactions
from poise.forces.torques import joint_torques
from poise.kernels.body.queries import node_frames
from poise.studio.session.loads import arrow_scales, reactions_of, weight_of
from poise.studio.session.obstacles import DRAWN_FORMS, drawn_form, pose_of_obstacle
from poise.studio.session.state import State
from poise.studio.wire.anchors import joint_anchors, limb_anchors, marked_joints
from poise.studio.wire.layout import WIDTHS, mark
from poise.tasks.mass import MomentOfInertia

GOOD, BAD = 1.0, 2.0
"""Tones of the ground's marks: it can hold the figure in equilibrium, or it cannot."""
CONE_HEIGHT = 0.09
"""Height of a friction cone, as a share of the figure's size."""
ARC_RADIUS = 0.045
"""Radius of the arcs of joint torques, as a share of the figure's size."""
LONGEST_ARC_LEVER = 0.06
"""Lever on which the weight makes a torque that is drawn as the longest arc, as a share of the figure's size."""
LONGEST_ARC = 2.0 * math.pi - 1.0
"""Angle of the longest arc [rad]."""
SHORTEST_ARC = 0.02
"""Angle below which an arc is not drawn [rad]."""


def marks_of(state: State) -> FloatArray:
    """Rows of the table `marks` for a state."""
    found = reactions_of(state.posture, state.scene.forces) if state.scene.forces else None
    rows = [*_loads(state, found), *_rings(state), *_obstacles(state)]
    if "torques" in state.shown and state.figure.mass > 0.0:
        rows += _arcs(state, found)
    return np.array(rows, dtype=np.float64).reshape(-1, WIDTHS["marks"])


def _loads(state: State, found: Reactions | None) -> Iterator[FloatArray]:
    for number, load in enumerate(state.scene.forces):
        if isinstance(load, Force):
            newton, newton_metre = arrow_scales(state.figure, state.look.extent)
            frame = state.figure.pose_of(load.site, state.posture)
            turn = frame.matrix if load.axes == "site" else np.eye(3)
            for kind, arrow, scale in (("force", load.force, newton), ("torque", load.torque, newton_metre)):
                if any(arrow):
                    tip = frame.position + scale * turn @ np.array(arrow)
                    yield mark(kind, number, 0.0, tail=frame.position, tip=tip)
        elif isinstance(load, Support):
            yield from _ground(state, number, load, found)


def _ground(state: State, number: int, support: Support, found: Reactions | None) -> Iterator[FloatArray]:
    """The friction cone of a support, and the ground's reaction force on it."""
    apex = state.figure.pose_of(support.site, state.posture).position
    tone = GOOD
    if found is not None:
        apex, tone = found.center_of_pressure(support.site), GOOD if found.balanced else BAD
        newton, _ = arrow_scales(state.figure, state.look.extent)
        yield mark("ground", number, tone, tail=apex, tip=apex + newton * found.supports[support.site])
    axis, height = ground_normal(state.figure, support), CONE_HEIGHT * state.look.extent
    yield mark("cone", number, tone, apex=apex, axis=axis, friction=support.friction, height=height)


def _arcs(state: State, found: Reactions | None) -> list[FloatArray]:
    """Joint torques as arcs [Baerlocher 2001, 6.4.4]; the torque of a ball joint is split into swing and twist."""
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
            arc = _arc(state, number, center, moment, limb=limb, strength=joint.strength)
            if arc is not None:
                rows.append(arc)
    return rows


def _arc(
    state: State, number: int, center: FloatArray, moment: FloatArray, *, limb: FloatArray, strength: float
) -> FloatArray | None:
    """The arc of a torque about a joint, None if it is too short; it starts at the side of the limb."""
    extent = state.look.extent
    size = float(np.linalg.norm(moment))
    angle = min(LONGEST_ARC, LONGEST_ARC * size / (LONGEST_ARC_LEVER * extent * weight_of(state.figure)))
    if angle < SHORTEST_ARC:
        return None
    axis = moment / size
    start = limb - float(limb @ axis) * axis
    if np.linalg.norm(start) < 1e-6:
        start = np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
    start = start / np.linalg.norm(start)
    return mark(
        "arc", number, size / strength, center=center, axis=axis, start=start, radius=ARC_RADIUS * extent, angle=angle
    )


def _limbs(figure: Figure, frames: Frames, centers: FloatArray) -> FloatArray:
    """(j, 3) unit vectors from each joint to the centre of mass of its child body; up if the two coincide."""
    offsets = limb_anchors(figure).places(figure, frames) - centers
    lengths = np.linalg.norm(offsets, axis=1, keepdims=True)
    directions: FloatArray = np.where(lengths > 1e-9, offsets / np.maximum(lengths, 1e-9), figure.up_vector)
    return directions


def _rings(state: State) -> Iterator[FloatArray]:
    """The moment of inertia as a thin ring of the radius of gyration, and a task's target as a thick one.

    As in [Baerlocher 2001, 7.3.3].
    """
    figure, posture = state.figure, state.posture
    if figure.mass <= 0.0:
        return
    wanted_by_tasks = [
        (number, task)
        for number, task in enumerate(state.scene.tasks)
        if isinstance(task, MomentOfInertia) and task.active
    ]
    axes = [(number, unit_vector(task.axis), task.value) for number, task in wanted_by_tasks]
    if "inertia" in state.shown and not axes:
        axes = [(-1, figure.up_vector, -1.0)]
    center = figure.center_of_mass(posture) if axes else np.zeros(3)
    for number, axis, wanted in axes:
        radius = math.sqrt(figure.moment_of_inertia(posture, axis) / figure.mass)
        yield mark("ring", number, 0.0, center=center, axis=axis, radius=radius)
        if wanted > 0.0:
            yield mark("ring", number, 1.0, center=center, axis=axis, radius=math.sqrt(wanted / figure.mass))


def _obstacles(state: State) -> Iterator[FloatArray]:
    if not state.scene.obstacles:
        return
    frames = state.figure.frames(state.posture)
    near = frames.position[: len(state.figure.bodies)].mean(axis=0)
    for number, obstacle in enumerate(state.scene.obstacles):
        pose = pose_of_obstacle(obstacle, near)
        form, sizes = drawn_form(obstacle)
        turned = np.roll(pose.rotation, -1)
        yield mark("obstacle", number, DRAWN_FORMS.index(form), position=pose.position, quaternion=turned, sizes=sizes)
