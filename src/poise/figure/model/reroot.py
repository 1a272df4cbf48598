"""Re-rooting: the same figure with another root body, or with a floating base [Baerlocher 2001, 3.2.1]."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from poise.errors import FigureError
from poise.figure.model.joints import Joint
from poise.figure.model.pose import FloatArray, Pose
from poise.figure.model.posture import Posture

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure
    from poise.figure.model.posture import JointValues

BASE_JOINT = "base"
"""Name of the free joint of a floating base."""


def rerooted(figure: Figure, body: str, posture: Posture) -> Figure:
    """`figure` with `body` as root; every body keeps its world pose in `posture`."""
    path = _joints_to_root(figure, body)
    if not path:
        return figure
    root = path[-1].parent if path[-1].parent is not None else path[-1].child
    base = path.pop() if path[-1].parent is None else None
    if base is not None and not path:
        return figure
    if base is not None and base.kind not in ("free", "fixed"):
        raise FigureError(
            f"figure {figure.name!r} cannot be re-rooted: {base.kind} joint {base.name!r} connects its root {root!r} "
            "to the world. Only fixed and free bases can move to another body."
        )
    turned = {joint.name: joint.turned_around() for joint in path}
    new_base = replace(base, child=body, child_frame=Pose(), parent_frame=Pose()) if base is not None else None
    joints = [_exchanged(joint, base, new_base, turned) for joint in figure.joints]
    world_from_body = _body_pose(figure, body, posture)
    if new_base is not None and new_base.kind == "fixed":
        fixed_at = figure.placement.inverse() @ world_from_body
        joints = [replace(j, parent_frame=fixed_at) if j.name == new_base.name else j for j in joints]
    placement = world_from_body if base is None else figure.placement
    kept = {joint.name for joint in joints if joint.kind != "free"}
    new = figure.replaced(
        joints=_kept_in_world(joints, figure.placement, placement),
        loops=_kept_in_world(figure.loops, figure.placement, placement),
        placement=placement,
        postures=_only(figure, kept),
    )
    return new.replaced(postures=_carried_postures(figure, new))


def _kept_in_world(joints: Iterable[Joint], old: Pose, new: Pose) -> list[Joint]:
    """`joints`; those attached to the world stay put while the figure's placement changes from `old` to `new`."""
    if old == new:
        return list(joints)
    new_from_old = new.inverse() @ old
    return [
        replace(joint, parent_frame=new_from_old @ joint.parent_frame) if joint.parent is None else joint
        for joint in joints
    ]


def _joints_to_root(figure: Figure, body: str) -> list[Joint]:
    """Joints from `body` up to the root, the base joint last if there is one."""
    joint_of = {child: joint for child, joint in figure.tree_order if joint is not None}
    figure.bodies.index(body)
    path: list[Joint] = []
    at: str | None = body
    while at is not None and at in joint_of:
        path.append(joint_of[at])
        at = joint_of[at].parent
    return path


def _exchanged(joint: Joint, base: Joint | None, new_base: Joint | None, turned: dict[str, Joint]) -> Joint:
    """The joint of the re-rooted figure: the new base, a turned joint, or `joint` itself."""
    if base is not None and new_base is not None and joint.name == base.name:
        return new_base
    return turned.get(joint.name, joint)


def _only(figure: Figure, kept: set[str]) -> dict[str, JointValues]:
    """The named postures, restricted to the values of the joints `kept`."""
    return {
        name: {joint: value for joint, value in figure.named_values(name).items() if joint in kept}
        for name in figure.posture_names
    }


def _carried_postures(figure: Figure, new: Figure) -> dict[str, JointValues]:
    """The named postures of `figure`, with the values of free joints converted to the figure `new`."""
    carried: dict[str, JointValues] = {}
    free = [joint.name for joint in figure.joints if joint.kind == "free"]
    for name in figure.posture_names:
        values = figure.named_values(name)
        if any(joint in values for joint in free):
            moved = adopted(new, figure.posture(name))
            values |= {joint: tuple(moved.q[new.q_slice(joint)].tolist()) for joint in free}
        carried[name] = values
    return carried


def with_floating_base(figure: Figure) -> Figure:
    """`figure` with a free joint between the world and its single, fixed root."""
    joint_of = {body: joint for body, joint in figure.tree_order if joint is not None}
    roots = figure.roots
    if len(roots) > 1:
        raise FigureError(f"figure {figure.name!r} has {len(roots)} roots; only a single root can float.")
    root = roots[0]
    old = joint_of.get(root)
    if old is not None and old.kind == "free":
        return figure
    if old is not None and old.kind != "fixed":
        raise FigureError(
            f"figure {figure.name!r} cannot get a floating base: its root {root!r} already moves on {old.kind} joint "
            f"{old.name!r}."
        )
    name = next(n for n in (BASE_JOINT, f"{BASE_JOINT}_joint", f"{figure.name}_{BASE_JOINT}") if n not in figure.joints)
    rest = Pose() if old is None else old.parent_frame @ old.child_frame.inverse()
    base = Joint(name, "free", None, root, parent_frame=rest)
    joints = (base, *(joint for joint in figure.joints if joint is not old))
    kept = {joint.name for joint in joints}
    return figure.replaced(joints=joints, postures=_only(figure, kept))


def adopted(figure: Figure, posture: Posture) -> Posture:
    """`posture` of a figure with the same joints; free joints are computed from the bodies' world poses."""
    source = posture.figure
    q = figure.neutral().q.copy()
    for joint in figure.joints:
        if joint.nq and joint.kind != "free":
            if joint.name not in source.joints or source.joints[joint.name].nq != joint.nq:
                raise FigureError(
                    f"figure {figure.name!r} cannot take a posture of figure {source.name!r}: joint {joint.name!r} is "
                    "not the same in both."
                )
            q[figure.q_slice(joint.name)] = posture.q[source.q_slice(joint.name)]
    for joint in figure.joints:
        if joint.kind == "free" and joint.child in source.bodies:
            q[figure.q_slice(joint.name)] = _free_value(figure, joint, posture)
    return Posture(figure, q)


def _free_value(figure: Figure, joint: Joint, posture: Posture) -> FloatArray:
    """Position and rotation (7,) of a free joint that give its child the world pose it has in `posture`."""
    upper = figure.placement if joint.parent is None else _body_pose(posture.figure, joint.parent, posture)
    lower = _body_pose(posture.figure, joint.child, posture)
    value = (upper @ joint.parent_frame).inverse() @ lower @ joint.child_frame
    return np.concatenate([value.position, value.rotation])


def _body_pose(figure: Figure, body: str, posture: Posture) -> Pose:
    """World frame of a body in a posture."""
    frames = figure.frames(posture)
    row = figure.bodies.index(body)
    return Pose(frames.position[row], frames.rotation[row])
