"""Functions that return a figure with another structure: bodies added, removed or moved to another parent, a base."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from poise.errors import FigureError
from poise.figure.model.body import Body
from poise.figure.model.figure import Figure
from poise.figure.model.joints import Joint
from poise.figure.model.mass import Mass
from poise.figure.model.pose import Pose
from poise.figure.model.posture import Posture
from poise.figure.model.shapes import Capsule
from poise.studio.session.edits.body import joint_of, length_of

NEW_LENGTH_SHARE = 0.6
"""Length of a new body, as a share of its parent's."""
LEAST_NEW_LENGTH = 0.05
"""Shortest length of a new body [m]."""
NEW_RADIUS_SHARE = 0.15
"""Radius of a new body, as a share of its length."""
NEW_MASS = 0.1
"""Mass of a new body [kg]."""


def with_new_body(figure: Figure, parent: str, name: str) -> Figure:
    """The figure with a capsule that hangs on a hinge at the end of a body."""
    if not name or name in figure.bodies.names or name in figure.sites.names or name in figure.joints.names:
        raise FigureError(f"{name!r} cannot be the name of a new body: choose another one.")
    long = max(NEW_LENGTH_SHARE * length_of(figure, parent), LEAST_NEW_LENGTH)
    radius = NEW_RADIUS_SHARE * long
    middle = Pose([0.0, 0.0, 0.5 * long])
    mass = Mass(NEW_MASS, middle.position, NEW_MASS * long**2 / 12.0 * np.eye(3))
    body = Body(name, mass, (Capsule(radius=radius, length=long, pose=middle),))
    at = max(
        (site.pose.position for site in figure.sites if site.body == parent), key=np.linalg.norm, default=np.zeros(3)
    )
    joint = Joint(name, "revolute", parent, name, axes=((1.0, 0.0, 0.0),), parent_frame=Pose(at))
    return figure.replaced(bodies=[*figure.bodies, body], joints=[*figure.joints, joint])


def without_body(figure: Figure, name: str) -> Figure:
    """The figure without a body and all bodies that hang on it, and without their joints, sites and loops."""
    if joint_of(figure, name) is None or _is_base(figure, name):
        raise FigureError(f"{name!r} is the root, which all other bodies hang on: remove another body.")
    gone = set(hanging_on(figure, name))
    joints = [joint for joint in figure.joints if joint.child not in gone]
    names = {joint.name for joint in joints}
    couplings = [each for each in figure.couplings if all(term.joint in names for term in each.terms)]
    postures = {
        posture: {joint: value for joint, value in figure.named_values(posture).items() if joint in names}
        for posture in figure.posture_names
    }
    return figure.replaced(
        bodies=[body for body in figure.bodies if body.name not in gone],
        sites=[site for site in figure.sites if site.body not in gone],
        joints=joints,
        loops=[loop for loop in figure.loops if not {loop.parent, loop.child} & gone],
        couplings=couplings,
        postures=postures,
    )


def with_parent(figure: Figure, name: str, parent: str, posture: Posture) -> Figure:
    """The figure with a body's joint on another parent; nothing moves in the present posture."""
    joint = joint_of(figure, name)
    if joint is None or joint.parent is None:
        raise FigureError(f"{name!r} is the root and hangs on nothing: choose another root first.")
    if parent in hanging_on(figure, name):
        raise FigureError(f"{name!r} cannot hang on {parent!r}, which hangs on it.")
    here = _body_frame(posture, parent).inverse() @ _body_frame(posture, joint.parent) @ joint.parent_frame
    return figure.replaced(
        joints=[replace(each, parent=parent, parent_frame=here) if each is joint else each for each in figure.joints]
    )


def hanging_on(figure: Figure, name: str) -> Iterable[str]:
    """A body and all bodies that hang on it, directly or not."""
    found = [name]
    for body in found:
        found += [joint.child for joint in figure.joints if joint.parent == body]
    return found


def is_floating(figure: Figure) -> bool:
    """Whether the root moves freely in the world."""
    return any(joint.kind == "free" and joint.parent is None for joint in figure.joints)


def with_base(figure: Figure, floating: bool, posture: Posture) -> Figure:
    """The figure with a root that moves freely, or stays where it is in a posture."""
    if floating == is_floating(figure):
        return figure
    if floating:
        return figure.with_floating_base()
    base = next(joint for joint in figure.joints if joint.kind == "free" and joint.parent is None)
    there = figure.placement.inverse() @ _body_frame(posture, base.child) @ base.child_frame
    fixed = Joint(base.name, "fixed", None, base.child, parent_frame=there, child_frame=base.child_frame)
    postures = {
        name: {joint: value for joint, value in figure.named_values(name).items() if joint != base.name}
        for name in figure.posture_names
    }
    joints = [fixed if joint is base else joint for joint in figure.joints]
    return figure.replaced(joints=joints, postures=postures)


def _body_frame(posture: Posture, body: str) -> Pose:
    """World frame of a body, which may have a site with its name."""
    row, frames = posture.figure.bodies.index(body), posture.figure.frames(posture)
    return Pose(frames.position[row], frames.rotation[row])


def _is_base(figure: Figure, name: str) -> bool:
    joint = joint_of(figure, name)
    return joint is not None and joint.parent is None
