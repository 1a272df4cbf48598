"""Forces, supports with their contact points, and gravity on a figure, compiled for the kernels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from poise.errors import TaskError
from poise.figure.collision.soles import sole_corners
from poise.figure.model.figure import STANDARD_GRAVITY, Figure
from poise.figure.model.pose import FloatArray, Pose
from poise.forces.loads import Force, Gravity, Load, Support, shares_of
from poise.kernels.forces.reactions import Footholds
from poise.kernels.forces.statics import Wrenches
from poise.kernels.maths.quaternion import Quaternion, rotate
from poise.kernels.maths.vector import Vector

STEEPEST_STANDING_GROUND = math.radians(60.0)
"""Slope of the ground up to which a support touches it with the whole sole [rad]."""


@dataclass(frozen=True)
class Acting:
    """Forces, supports and gravity of one figure."""

    figure: Figure
    forces: tuple[Force, ...]
    supports: tuple[Support, ...]
    gravity: Vector
    """Acceleration of gravity in world axes [m/s²]."""
    wrenches: Wrenches
    """The forces, then the supports with their shares. Without supports, the root of a figure that does not float
    carries everything."""

    @property
    def weight(self) -> FloatArray:
        """(3,) weight of the figure [N]."""
        return self.figure.mass * np.array(self.gravity)

    def applied(self) -> Wrenches:
        """The forces alone, without supports."""
        return wrench_table(self.figure, self.forces)


def acting_on(figure: Figure, forces: Iterable[Load] = (), supports: Iterable[Support] = ()) -> Acting:
    """Sort loads into forces, supports and gravity; `forces` may contain all three kinds."""
    loads: list[Load] = [*forces, *supports]
    for load in loads:
        if not isinstance(load, Force | Support | Gravity):
            raise TaskError(f"a load must be a Force, Support or Gravity, not {load!r}.")
    given = [load for load in loads if isinstance(load, Gravity)]
    if len(given) > 1:
        raise TaskError(f"give at most one Gravity, not {len(given)}.")
    applied = tuple(load for load in loads if isinstance(load, Force))
    carrying = tuple(load for load in loads if isinstance(load, Support))
    gravity = given[0].acceleration if given else tuple((-STANDARD_GRAVITY * figure.up_vector).tolist())
    return Acting(figure, applied, carrying, Vector(*gravity), wrench_table(figure, applied, carrying, root=True))


class _Row(NamedTuple):
    """One row of a table of wrenches."""

    node: int
    point: Sequence[float]
    force: Sequence[float] = (0.0, 0.0, 0.0)
    torque: Sequence[float] = (0.0, 0.0, 0.0)
    local: bool = False
    share: tuple[float, float] = (0.0, 0.0)


def wrench_table(
    figure: Figure, forces: Sequence[Force], supports: Sequence[Support] = (), *, root: bool = False
) -> Wrenches:
    """The table of wrenches of forces, then of supports with their shares.

    Args:
        figure: The figure.
        forces: Forces on it.
        supports: Supports that carry it.
        root: Whether the root carries everything if the figure has no supports and does not float.
    """
    rows = [_force_row(figure, force) for force in forces]
    for support, share in zip(supports, shares_of(supports), strict=True):
        rows.append(_Row(*_place(figure, support.site), share=share))
    if root and not supports and not floats(figure):
        rows.append(_Row(0, figure.placement.position.tolist(), share=(1.0, 1.0)))
    return Wrenches(
        np.array([row.node for row in rows], dtype=np.int64),
        np.array([row.point for row in rows], dtype=np.float64).reshape(-1, 3),
        np.array([row.force for row in rows], dtype=np.float64).reshape(-1, 3),
        np.array([row.torque for row in rows], dtype=np.float64).reshape(-1, 3),
        np.array([row.local for row in rows], dtype=np.int64),
        np.array([row.share for row in rows], dtype=np.float64).reshape(-1, 2),
    )


def floats(figure: Figure) -> bool:
    """Whether the figure is not attached to the world: all its roots have free joints."""
    roots = [joint for body, joint in figure.tree_order if joint is None or joint.parent is None]
    return all(joint is not None and joint.kind == "free" for joint in roots)


def _place(figure: Figure, site: str) -> tuple[int, list[float]]:
    """The node that a site is fixed to, and the site's origin in that node."""
    row = figure.frame_row(site)
    return int(figure.compiled.attached.node[row]), figure.compiled.attached.position[row].tolist()


def _force_row(figure: Figure, force: Force) -> _Row:
    """The row of one force."""
    node, point = _place(figure, force.site)
    if force.axes == "world":
        return _Row(node, point, force.force, force.torque)
    node_from_site = Quaternion(*figure.compiled.attached.rotation[figure.frame_row(force.site)].tolist())
    turned = [rotate(node_from_site, Vector(*v)) for v in (force.force, force.torque)]
    return _Row(node, point, turned[0], turned[1], local=True)


def footholds_of(acting: Acting) -> Footholds:
    """The contact points of all supports, with their normals and friction."""
    figure, supports = acting.figure, acting.supports
    points = [contact_points(figure, support) for support in supports]
    counts = [len(found) for found in points]
    rows = [figure.frame_row(support.site) for support in supports]
    normals = np.array([ground_normal(figure, support) for support in supports]).reshape(-1, 3)
    places = [_on_node(figure, row, found) for row, found in zip(rows, points, strict=True)]
    return Footholds(
        np.array([int(figure.compiled.attached.node[row]) for row in np.repeat(rows, counts)], dtype=np.int64),
        np.concatenate([np.empty((0, 3)), *places]),
        np.repeat(normals, counts, axis=0),
        np.repeat(np.array([support.friction for support in supports], dtype=np.float64), counts),
        np.repeat(np.arange(len(supports), dtype=np.int64), counts),
    )


def _on_node(figure: Figure, row: int, points: FloatArray) -> FloatArray:
    """Points of an attached frame, transformed to the frame of its node."""
    attached = figure.compiled.attached
    node_from_frame = Pose(attached.position[row], attached.rotation[row])
    return np.array([node_from_frame.apply(point) for point in points])


def ground_normal(figure: Figure, support: Support) -> FloatArray:
    """(3,) unit normal of the ground under a support, in world axes."""
    return figure.up_vector if support.normal is None else np.array(support.normal)


def contact_points(figure: Figure, support: Support) -> FloatArray:
    """(k, 3) contact points of a support, in the frame of its site [m].

    If the support does not give them, they are the corners of its sole; on steeper ground, walls and ceilings, the
    origin of the site.
    """
    figure.frame_row(support.site)
    if support.contacts is not None:
        return np.array(support.contacts)
    if float(ground_normal(figure, support) @ figure.up_vector) < math.cos(STEEPEST_STANDING_GROUND):
        return np.zeros((1, 3))
    return np.array(sole_corners(figure, support.site))
