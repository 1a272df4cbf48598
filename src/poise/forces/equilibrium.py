"""Net forces and moments on a figure, and its static equilibrium [Baerlocher 2001, 6.2–6.3]."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from poise.errors import TaskError
from poise.figure.model.figure import Figure, PostureLike
from poise.figure.model.pose import FloatArray, vector
from poise.forces.acting import Acting, acting_on, floats, ground_normal
from poise.forces.loads import Load, Support
from poise.kernels.body.queries import node_frames
from poise.kernels.body.tree import center_of_mass
from poise.kernels.forces.equilibrium import equilibrium_rows
from poise.kernels.forces.statics import acting_wrenches, net_wrench
from poise.kernels.maths.vector import Vector


class Wrench(NamedTuple):
    """A force at a point, and a torque."""

    force: FloatArray
    """(3,) [N]"""
    torque: FloatArray
    """(3,) [N m]"""
    point: FloatArray
    """(3,) point at which the force acts, or about which the torque is taken [m]."""


class Moment(NamedTuple):
    """The unbalanced moment, and its Jacobian."""

    error: FloatArray
    """(3,) or (2,) unbalanced moment [N m]."""
    jacobian: FloatArray
    """(3, nv) or (2, nv) derivative of the moment by the velocities."""


def net_force(
    figure: Figure,
    posture: PostureLike,
    forces: Iterable[Load] = (),
    supports: Iterable[Support] = (),
    *,
    about: ArrayLike = (0.0, 0.0, 0.0),
) -> Wrench:
    """Sum of the weight, the forces and the forces of the supports, with the moment about a point of the world.

    The root carries a figure that is attached to the world and has no supports.
    """
    point = vector(about, "the point moments are taken about")
    force, moment = _net(acting_on(figure, forces, supports), posture, point, carried=True)
    return Wrench(force, moment, point)


def root_reaction(
    figure: Figure, posture: PostureLike, forces: Iterable[Load] = (), supports: Iterable[Support] = ()
) -> Wrench:
    """Force and torque of the world on the root that keep the figure at rest [Baerlocher 2001, eq. 6.1–6.2].

    Without supports the root carries the whole load; with them, only the moment that they do not balance.
    """
    acting = acting_on(figure, forces, supports)
    point = figure.pose_of(figure.roots[0], posture).position
    force, moment = _net(acting, posture, point, carried=bool(acting.supports))
    return Wrench(-force, -moment, point)


def support_forces(
    figure: Figure, posture: PostureLike, forces: Iterable[Load] = (), supports: Iterable[Support] = ()
) -> dict[str, FloatArray]:
    """Force that each support carries according to its share (3,) [N], by site."""
    acting = acting_on(figure, forces, supports)
    position, rotation, _ = node_frames(figure.compiled.tree, figure.posture(posture)._q)
    point, force, torque = (np.empty_like(acting.wrenches.force) for _ in range(3))
    acting_wrenches(figure.compiled.tree, position, rotation, acting.wrenches, acting.gravity, point, force, torque)
    first = len(acting.forces)
    return {support.site: force[first + i].copy() for i, support in enumerate(acting.supports)}


def friction_used(
    figure: Figure, posture: PostureLike, forces: Iterable[Load] = (), supports: Iterable[Support] = ()
) -> dict[str, float]:
    """Share of the available friction that each support uses: tangential over normal force, over friction coefficient.

    Above 1 the support slips [Baerlocher 2001, fig. 6.4]; it is infinite where the support would have to pull.
    """
    acting = acting_on(figure, forces, supports)
    carried = support_forces(figure, posture, forces=acting.forces, supports=acting.supports)
    return {s.site: _used(carried[s.site], ground_normal(figure, s), s.friction) for s in acting.supports}


def _used(force: FloatArray, normal: FloatArray, friction: float) -> float:
    """Share of the available friction that a force uses on ground with this normal."""
    along = float(force @ normal)
    across = float(np.linalg.norm(force - along * normal))
    if along < 0.0:
        return math.inf
    if across == 0.0:
        return 0.0
    return across / (friction * along) if friction * along > 0.0 else math.inf


def equilibrium_error(
    figure: Figure,
    posture: PostureLike,
    forces: Iterable[Load] = (),
    supports: Iterable[Support] = (),
    *,
    level: bool = False,
) -> Moment:
    """The unbalanced moment about the centre of mass, and its exact Jacobian [Baerlocher 2001, eq. 6.3 and 6.6].

    Args:
        figure: The figure.
        posture: Its posture.
        forces: Forces on it; supports and gravity may be among them.
        supports: Supports, each of which carries its share.
        level: Whether to return the two components across gravity only; the third is zero where all forces are parallel
            to gravity.
    """
    acting = acting_on(figure, forces, supports)
    if not acting.supports and floats(figure):
        raise TaskError(f"figure {figure.name!r} floats: it can only be in equilibrium on supports; give at least one.")
    tree = figure.compiled.tree
    position, rotation, axes = node_frames(tree, figure.posture(posture)._q)
    centers = np.empty_like(position)
    about = center_of_mass(tree, position, rotation, centers)
    error, rows = np.empty(3), np.empty((3, figure.nv))
    equilibrium_rows(tree, position, rotation, axes, centers, acting.wrenches, acting.gravity, about, error, rows)
    if not level:
        return Moment(error, rows)
    across = level_axes(np.array(acting.gravity), figure.up_vector)
    return Moment(across @ error, across @ rows)


def level_axes(gravity: FloatArray, up: FloatArray) -> FloatArray:
    """(2, 3) orthonormal directions across gravity, or across `up` where there is no gravity."""
    axis = gravity if gravity.any() else up
    first = np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
    first /= np.linalg.norm(first)
    second = np.cross(axis, first)
    return np.array([first, second / np.linalg.norm(second)])


def _net(acting: Acting, posture: PostureLike, about: FloatArray, *, carried: bool) -> tuple[FloatArray, FloatArray]:
    """Net force and moment about a point, with the forces of the supports if `carried`."""
    tree = acting.figure.compiled.tree
    position, rotation, _ = node_frames(tree, acting.figure.posture(posture)._q)
    center = center_of_mass(tree, position, rotation, np.empty_like(position))
    table = acting.wrenches if carried else acting.applied()
    force, moment = net_wrench(tree, position, rotation, center, table, acting.gravity, Vector(*about.tolist()))
    return np.array(force), np.array(moment)
