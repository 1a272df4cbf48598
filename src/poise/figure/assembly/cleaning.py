"""Loops as their makers meant them: anchors that meet and axes that are parallel, in double precision.

Files round their numbers. In a loop with redundant constraints, and planar loops have three, rounded numbers contradict
each other: no posture closes it better than the rounding, and a solver that tries cannot rest. At a posture in which
the loops are closed but for rounding, axes that are parallel but for rounding inside one loop are made parallel, and
the two sides of every loop joint are made to meet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from poise.errors import FigureError
from poise.figure.assembly.loop_values import body_pose, joint_gap, joint_motion, joint_values
from poise.figure.model.joints import Joint
from poise.figure.model.pose import FloatArray, Pose, to_matrix
from poise.figure.model.posture import Posture
from poise.figure.model.structure import loop_joints
from poise.kernels.body.queries import node_frames

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure
    from poise.figure.model.frames import Frames

PARALLEL = 1e-6
"""Angle up to which two axes of a loop are meant to be parallel [rad]."""
LARGEST_MOVE = 1e-5
"""What counts as rounding [m or rad]."""
CLEAN = 1e-14
"""What is not worth moving [m or rad]."""


@dataclass(frozen=True)
class Cleaning:
    """By how much a model was moved."""

    anchors: float = 0.0
    """Largest move of an anchor of a loop joint [m]."""
    axes: float = 0.0
    """Largest turn of an axis [rad]."""

    def __str__(self) -> str:
        """One sentence."""
        return f"loops were cleaned of rounding: anchors by up to {self.anchors:.2g} m, axes by {self.axes:.2g} rad"


_ORTHOGONAL = ("planar", "cartesian")


class _Axis(NamedTuple):
    """One axis of a joint: a tree joint's, or a loop joint's on its inner body."""

    joint: str
    place: int


def cleaned(figure: Figure, posture: Posture | None = None) -> tuple[Figure, Cleaning]:
    """`figure` with its loops free of rounding, and by how much it was moved.

    Args:
        figure: A figure with loops.
        posture: Where they are closed but for rounding (default: neutral).

    Raises:
        FigureError: They are open by more than rounding explains.
    """
    at = posture or figure.neutral()
    gap = figure.closure_error(at)
    if gap > LARGEST_MOVE:
        raise FigureError(
            f"figure {figure.name!r} is open by {gap:.3g} m or rad, more than rounding explains: assemble it first."
        )
    straight, turned = _with_parallel_axes(figure, at)
    loops, moved, bent = _meeting(straight, Posture(straight, at.q.copy()))
    report = Cleaning(moved, max(turned, bent))
    if max(report.anchors, report.axes) > LARGEST_MOVE:
        raise FigureError(f"figure {figure.name!r}: {report}, more than rounding explains. Check its loop joints.")
    if max(report.anchors, report.axes) <= CLEAN:
        return figure, Cleaning()
    return straight.replaced(loops=loops), report


def _with_parallel_axes(figure: Figure, posture: Posture) -> tuple[Figure, float]:
    """The figure with nearly parallel axes made parallel, and the largest turn."""
    world = _world_axes(figure, posture)
    wanted = {axis: mean for group in _parallel_groups(figure, world) for axis, mean in _means(group, world).items()}
    turned, order = 0.0, {(joint.name if joint else ""): k for k, (_, joint) in enumerate(figure.tree_order)}
    inner_first = sorted((axis for axis in wanted if axis.joint in figure.joints), key=lambda a: (order[a.joint], a))
    for axis in inner_first:
        # From the root outward: an axis that turns carries all that hangs from it.
        joint = figure.joints[axis.joint]
        new = _pointing(figure, posture, axis, wanted[axis])
        turned = max(turned, _angle_between(joint.axes, new))
        figure = figure.replaced(joints=[replace(j, axes=new) if j is joint else j for j in figure.joints])
    frames = figure.frames(Posture(figure, posture.q.copy()))
    loops = []
    for loop in figure.loops:
        rotation = _inner_pose(figure, loop, frames).matrix
        own = [wanted.get(_Axis(loop.name, i)) for i in range(len(loop.axes))]
        new = _replaced(loop.axes, [None if axis is None else rotation.T @ axis for axis in own])
        turned = max(turned, _angle_between(loop.axes, new))
        loops.append(replace(loop, axes=new))
    return figure.replaced(loops=loops), turned


def _pointing(
    figure: Figure, posture: Posture, axis: _Axis, direction: FloatArray
) -> tuple[tuple[float, float, float], ...]:
    """The axes of a tree joint, one of them along a direction of the world."""
    tree, joint = figure.compiled.tree, figure.joints[axis.joint]
    _, rotation, _ = node_frames(tree, posture._q)
    node = tree.dof_node[figure.v_slice(joint.name).start + axis.place]
    frame = to_matrix(rotation[tree.parent[node]]) @ to_matrix(tree.placement_rotation[node])
    return _replaced(joint.axes, [frame.T @ direction if i == axis.place else None for i in range(len(joint.axes))])


def _replaced(
    axes: Sequence[Sequence[float]], new: Sequence[FloatArray | None]
) -> tuple[tuple[float, float, float], ...]:
    both = zip(axes, new, strict=True)
    chosen = [old if axis is None else (axis / np.linalg.norm(axis)).tolist() for old, axis in both]
    return tuple((float(x), float(y), float(z)) for x, y, z in chosen)


def _angle_between(old: Sequence[Sequence[float]], new: Sequence[Sequence[float]]) -> float:
    return max((float(np.linalg.norm(np.cross(a, b))) for a, b in zip(old, new, strict=True)), default=0.0)


def _world_axes(figure: Figure, posture: Posture) -> dict[_Axis, FloatArray]:
    """World direction of every axis of tree and loop joints, but for those that stand at right angles to each other."""
    _, _, axes = node_frames(figure.compiled.tree, posture._q)
    frames = figure.frames(posture)
    world: dict[_Axis, FloatArray] = {}
    for joint in (joint for joint in figure.joints if joint.kind not in _ORTHOGONAL):
        first = figure.v_slice(joint.name).start
        sign = -1.0 if joint.reversed else 1.0
        world |= {_Axis(joint.name, i): sign * axes[first + i] for i in range(len(joint.axes))}
    for loop in (loop for loop in figure.loops if loop.kind not in _ORTHOGONAL):
        rotation = _inner_pose(figure, loop, frames).matrix
        world |= {_Axis(loop.name, i): rotation @ np.array(axis) for i, axis in enumerate(loop.axes)}
    return world


def _parallel_groups(figure: Figure, world: dict[_Axis, FloatArray]) -> list[set[_Axis]]:
    """Axes that are parallel but for rounding inside some loop, together with those parallel to them in others."""
    groups: list[set[_Axis]] = []
    for loop in figure.loops:
        own = [axis for name in (*loop_joints(figure, loop), loop.name) for axis in world if axis.joint == name]
        for i, a in enumerate(own):
            for b in own[i + 1 :]:
                if np.linalg.norm(np.cross(world[a], world[b])) <= PARALLEL:
                    joined = [group for group in groups if a in group or b in group]
                    groups = [group for group in groups if group not in joined] + [{a, b}.union(*joined)]
    return groups


def _means(group: set[_Axis], world: dict[_Axis, FloatArray]) -> dict[_Axis, FloatArray]:
    """The common direction of a group, with each axis' own sign."""
    members = sorted(group)
    first = world[members[0]]
    signs = [1.0 if world[axis] @ first > 0.0 else -1.0 for axis in members]
    mean = np.sum([sign * world[axis] for sign, axis in zip(signs, members, strict=True)], axis=0)
    mean /= np.linalg.norm(mean)
    return {axis: sign * mean for sign, axis in zip(signs, members, strict=True)}


def _meeting(figure: Figure, posture: Posture) -> tuple[list[Joint], float, float]:
    """The loop joints with both sides where the joint lets them be, and the largest move and turn."""
    frames = figure.frames(posture)
    loops, moved, turned = [], 0.0, 0.0
    for loop in figure.loops:
        inner, gap = _inner_pose(figure, loop, frames), joint_gap(figure, loop, frames)
        outer, ideal = inner @ gap, inner @ joint_motion(loop, joint_values(loop, gap))
        shift = 0.5 * (ideal.position - outer.position)
        sides = [Pose(inner.position - shift, inner.rotation), Pose(ideal.position - shift, ideal.rotation)]
        parent, child = reversed(sides) if loop.reversed else sides
        near, far = body_pose(figure, loop.parent, frames), body_pose(figure, loop.child, frames)
        loops.append(replace(loop, parent_frame=near.inverse() @ parent, child_frame=far.inverse() @ child))
        moved = max(moved, float(np.linalg.norm(shift)))
        turned = max(turned, 2.0 * float(np.linalg.norm((outer.inverse() @ ideal).rotation[1:])))
    return loops, moved, turned


def _inner_pose(figure: Figure, loop: Joint, frames: Frames) -> Pose:
    """World frame of a loop joint on the body that carries its first axis."""
    body, frame = (loop.child, loop.child_frame) if loop.reversed else (loop.parent, loop.parent_frame)
    return body_pose(figure, body, frames) @ frame
