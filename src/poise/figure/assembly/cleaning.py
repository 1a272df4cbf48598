"""Removal of rounding errors from the geometry of loops: exactly parallel axes and exactly coinciding anchors.

Files store rounded numbers. In a loop with redundant constraints (a planar loop has three), rounded numbers contradict
each other: no posture closes the loop better than the rounding error, and a solver does not converge. Given a posture
in which the loops are closed up to rounding errors, axes of a loop that are parallel up to rounding errors are made
parallel, and the two frames of every loop joint are made to coincide.
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
    from poise.figure.model.pose import Frames

CLEANED_ANGLE = 1e-6
"""Axes of a loop within this angle are made parallel [rad]."""
LARGEST_MOVE = 1e-5
"""Largest correction that rounding errors of a file can explain [m or rad]."""
NEGLIGIBLE_CORRECTION = 1e-14
"""Corrections up to this are not made [m or rad]."""


@dataclass(frozen=True)
class Cleaning:
    """Size of the corrections that `cleaned` made."""

    anchors: float = 0.0
    """Largest shift of an anchor of a loop joint [m]."""
    axes: float = 0.0
    """Largest turn of an axis [rad]."""

    def __str__(self) -> str:
        """The corrections in one sentence."""
        return f"loops were cleaned of rounding: anchors by up to {self.anchors:.2g} m, axes by {self.axes:.2g} rad"


_ORTHOGONAL = ("planar", "cartesian")
"""Joint kinds whose axes must stay at right angles to each other, and so are not changed."""


class _Axis(NamedTuple):
    """One axis of a tree joint or of a loop joint."""

    joint: str
    """Name of the joint."""
    place: int
    """Index among the axes of the joint."""


def cleaned(figure: Figure, posture: Posture | None = None) -> tuple[Figure, Cleaning]:
    """`figure` with rounding errors removed from its loops, and the size of the corrections.

    Args:
        figure: A figure with loops.
        posture: A posture in which the loops are closed up to rounding errors (default: neutral).

    Raises:
        FigureError: The loops are open by more than rounding errors explain.
    """
    at = posture or figure.neutral()
    gap = figure.closure_error(at)
    if gap > LARGEST_MOVE:
        raise FigureError(
            f"figure {figure.name!r} is open by {gap:.3g} m or rad, more than rounding explains: assemble it first."
        )
    straight, turned = _with_parallel_axes(figure, at)
    loops, moved, bent = _with_coinciding_frames(straight, Posture(straight, at.q.copy()))
    report = Cleaning(moved, max(turned, bent))
    if max(report.anchors, report.axes) > LARGEST_MOVE:
        raise FigureError(f"figure {figure.name!r}: {report}, more than rounding explains. Check its loop joints.")
    if max(report.anchors, report.axes) <= NEGLIGIBLE_CORRECTION:
        return figure, Cleaning()
    return straight.replaced(loops=loops), report


def _with_parallel_axes(figure: Figure, posture: Posture) -> tuple[Figure, float]:
    """The figure with nearly parallel axes made parallel, and the largest rotation of an axis [rad]."""
    world = _world_axes(figure, posture)
    wanted = {axis: mean for group in _parallel_groups(figure, world) for axis, mean in _means(group, world).items()}
    turned, order = 0.0, {(joint.name if joint else ""): k for k, (_, joint) in enumerate(figure.tree_order)}
    inner_first = sorted((axis for axis in wanted if axis.joint in figure.joints), key=lambda a: (order[a.joint], a))
    for axis in inner_first:
        # From the root outward, since rotating an axis moves all its descendants.
        joint = figure.joints[axis.joint]
        new = _axes_with_direction(figure, posture, axis, wanted[axis])
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


def _axes_with_direction(
    figure: Figure, posture: Posture, axis: _Axis, direction: FloatArray
) -> tuple[tuple[float, float, float], ...]:
    """The axes of a tree joint, with `axis` set to a world direction."""
    tree, joint = figure.compiled.tree, figure.joints[axis.joint]
    _, rotation, _ = node_frames(tree, posture._q)
    node = tree.dof_node[figure.v_slice(joint.name).start + axis.place]
    frame = to_matrix(rotation[tree.parent[node]]) @ to_matrix(tree.placement_rotation[node])
    return _replaced(joint.axes, [frame.T @ direction if i == axis.place else None for i in range(len(joint.axes))])


def _replaced(
    axes: Sequence[Sequence[float]], new: Sequence[FloatArray | None]
) -> tuple[tuple[float, float, float], ...]:
    """`axes` with those that have a new direction replaced by it, normalised."""
    both = zip(axes, new, strict=True)
    chosen = [old if axis is None else (axis / np.linalg.norm(axis)).tolist() for old, axis in both]
    return tuple((float(x), float(y), float(z)) for x, y, z in chosen)


def _angle_between(old: Sequence[Sequence[float]], new: Sequence[Sequence[float]]) -> float:
    """Sine of the largest angle between corresponding axes, which is nearly the angle [rad]."""
    return max((float(np.linalg.norm(np.cross(a, b))) for a, b in zip(old, new, strict=True)), default=0.0)


def _world_axes(figure: Figure, posture: Posture) -> dict[_Axis, FloatArray]:
    """World direction of every axis of tree and loop joints, without the kinds of `_ORTHOGONAL`."""
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
    """Groups of axes that are nearly parallel within a loop; groups of several loops that share an axis are merged."""
    groups: list[set[_Axis]] = []
    for loop in figure.loops:
        own = [axis for name in (*loop_joints(figure, loop), loop.name) for axis in world if axis.joint == name]
        for i, a in enumerate(own):
            for b in own[i + 1 :]:
                if np.linalg.norm(np.cross(world[a], world[b])) <= CLEANED_ANGLE:
                    joined = [group for group in groups if a in group or b in group]
                    groups = [group for group in groups if group not in joined] + [{a, b}.union(*joined)]
    return groups


def _means(group: set[_Axis], world: dict[_Axis, FloatArray]) -> dict[_Axis, FloatArray]:
    """The mean direction of a group, with the sign of each axis."""
    members = sorted(group)
    first = world[members[0]]
    signs = [1.0 if world[axis] @ first > 0.0 else -1.0 for axis in members]
    mean = np.sum([sign * world[axis] for sign, axis in zip(signs, members, strict=True)], axis=0)
    mean /= np.linalg.norm(mean)
    return {axis: sign * mean for sign, axis in zip(signs, members, strict=True)}


def _with_coinciding_frames(figure: Figure, posture: Posture) -> tuple[list[Joint], float, float]:
    """The loop joints with coinciding frames, the largest shift [m] and the largest rotation [rad]."""
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
    """World frame of a loop joint on the body that its first axis is fixed to."""
    body, frame = (loop.child, loop.child_frame) if loop.reversed else (loop.parent, loop.parent_frame)
    return body_pose(figure, body, frames) @ frame
