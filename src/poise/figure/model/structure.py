"""Checks of a figure's structure: all referenced names exist, and the bodies form a tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poise.errors import FigureError
from poise.figure.model.joints import Joint
from poise.figure.model.names import suggestion

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure


def check_references(figure: Figure) -> None:
    """Raise a FigureError if a joint or site refers to a body that does not exist."""
    if not len(figure.bodies):
        raise FigureError(f"figure {figure.name!r} has no bodies.")
    for joint in (*figure.joints, *figure.loops):
        for role, body in (("parent", joint.parent), ("child", joint.child)):
            if body is not None and body not in figure.bodies:
                hint = suggestion(body, figure.bodies.names)
                raise FigureError(f"joint {joint.name!r} names the {role} body {body!r}, which does not exist.{hint}")
    for joint in figure.loops:
        if joint.name in figure.joints:
            raise FigureError(f"figure {figure.name!r} has two joints named {joint.name!r}; names must be unique.")
    for site in figure.sites:
        if site.body not in figure.bodies:
            hint = suggestion(site.body, figure.bodies.names)
            raise FigureError(f"site {site.name!r} is on the body {site.body!r}, which does not exist.{hint}")


def tree_order(figure: Figure) -> tuple[tuple[str, Joint | None], ...]:
    """Bodies with parents before children, each with the joint to its parent (None for a fixed root)."""
    joint_of: dict[str, Joint] = {}
    for joint in figure.joints:
        if joint.child in joint_of:
            raise FigureError(
                f"body {joint.child!r} is the child of joints {joint_of[joint.child].name!r} and {joint.name!r}; "
                "one of them must be a loop joint."
            )
        joint_of[joint.child] = joint
    children: dict[str | None, list[str]] = {}
    for body in figure.bodies:
        upper = joint_of.get(body.name)
        children.setdefault(upper.parent if upper else None, []).append(body.name)
    free_roots = [name for name in children.get(None, []) if name not in joint_of]
    if len(free_roots) > 1:
        raise FigureError(
            f"figure {figure.name!r} is not connected: bodies {', '.join(map(repr, free_roots[:4]))} have no joint to "
            "a parent. Join them to each other, or join each to the world with a joint that has no parent."
        )
    order: list[tuple[str, Joint | None]] = []
    waiting = list(reversed(children.get(None, [])))
    while waiting:
        body_name = waiting.pop()
        order.append((body_name, joint_of.get(body_name)))
        waiting += reversed(children.get(body_name, []))
    if len(order) < len(figure.bodies):
        reached = {body_name for body_name, _ in order}
        stuck = [name for name in figure.bodies.names if name not in reached]
        raise FigureError(
            f"bodies {', '.join(map(repr, stuck[:4]))} form a cycle: one of their joints must be a loop joint."
        )
    return tuple(order)


def loop_joints(figure: Figure, loop: Joint) -> tuple[str, ...]:
    """Names of a loop's tree joints: from its parent body up to the common ancestor, then down to its child body."""
    joint_of = {body: joint for body, joint in figure.tree_order if joint is not None}

    def joints_to_root(body: str | None) -> list[str]:
        """Names of the joints from a body up to the root."""
        names = []
        while body is not None and body in joint_of:
            names.append(joint_of[body].name)
            body = joint_of[body].parent
        return names

    up, down = joints_to_root(loop.parent), joints_to_root(loop.child)
    shared = set(up) & set(down)
    return (*(name for name in up if name not in shared), *(name for name in reversed(down) if name not in shared))
