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
from poise.forces.loads import Support
from poise.forces.reactions import Reactions
from poise.forces.torques import joint_torques
from poise.pictures.force_marks import (
    ARC_RADIUS,
    JointAnchor,
    ground_forces,
    load_arrows,
    longest_arc_torque,
    torque_arcs,
)
from poise.studio.session.edits.loads import reactions_of
from poise.studio.session.edits.obstacles import DRAWN_FORMS, drawn_form, pose_of_obstacle
from poise.studio.session.state import State
from poise.studio.wire.anchors import joint_anchors, limb_anchors, marked_joints
from poise.studio.wire.layout import WIDTHS, mark
from poise.tasks.mass import MomentOfInertia

GOOD, BAD = 1.0, 2.0
"""Tones of the ground's marks: it can hold the figure in equilibrium, or it cannot."""
CONE_HEIGHT = 0.09
"""Height of a friction cone, as a share of the figure's size."""


def marks_of(state: State) -> FloatArray:
    """Rows of the table `marks` for a state."""
    found = reactions_of(state.posture, state.scene.forces) if state.scene.forces else None
    rows = [*_loads(state, found), *_rings(state), *_obstacles(state)]
    if "torques" in state.shown and state.figure.mass > 0.0:
        rows += _arcs(state, found)
    return np.array(rows, dtype=np.float64).reshape(-1, WIDTHS["marks"])


def _loads(state: State, found: Reactions | None) -> Iterator[FloatArray]:
    loads = state.scene.forces
    tone = GOOD if found is None or found.balanced else BAD
    ground = {} if found is None else ground_forces(found)
    for arrow in load_arrows(state.posture, loads, ground, state.look.extent):
        grounded = arrow.kind == "ground"
        yield mark(arrow.kind, arrow.load, tone if grounded else 0.0, tail=arrow.tail, tip=arrow.tip)
    for number, load in enumerate(loads):
        if isinstance(load, Support):
            yield _cone(state, number, load, found, tone)


def _cone(state: State, number: int, support: Support, found: Reactions | None, tone: float) -> FloatArray:
    """The friction cone of a support."""
    if found is None:
        apex = state.figure.pose_of(support.site, state.posture).position
    else:
        apex = found.center_of_pressure(support.site)
    axis, height = ground_normal(state.figure, support), CONE_HEIGHT * state.look.extent
    return mark("cone", number, tone, apex=apex, axis=axis, friction=support.friction, height=height)


def _arcs(state: State, found: Reactions | None) -> list[FloatArray]:
    """Joint torques as arcs."""
    figure, posture = state.figure, state.posture
    frames = figure.frames(posture)
    centers = joint_anchors(figure).places(figure, frames)
    limbs = _limbs(figure, frames, centers)
    anchors = map(JointAnchor, marked_joints(figure), centers, limbs)
    torque, extent = joint_torques(figure, posture, state.scene.forces, reactions=found), state.look.extent
    longest = longest_arc_torque(figure, extent)
    arcs = torque_arcs(posture, torque, anchors, radius=ARC_RADIUS * extent, longest=longest)
    return [
        mark("arc", a.freedom, a.used, center=a.center, axis=a.axis, start=a.start, radius=a.radius, angle=a.angle)
        for a in arcs
    ]


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
