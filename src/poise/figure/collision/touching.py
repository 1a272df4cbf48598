"""Where the surface of a body meets that of another body, of an obstacle or of a plane."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from poise.errors import FigureError
from poise.figure.collision.collisions import node_frames
from poise.figure.collision.proximity import Proximity
from poise.figure.collision.solids import FORMULA_KINDS, ROUND_KINDS, HalfSpace, Solid, body_solids, make_solid
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray, Pose
from poise.figure.model.posture import Posture
from poise.figure.model.shapes import Sphere
from poise.kernels.body.relative_motion import relative_motion
from poise.kernels.distances.points import point_to_solid
from poise.kernels.maths.vector import Vector

NOTHING_NEAR = 1e6
"""Distance up to which surfaces are measured [m]."""
POINT_RADIUS = 1e-4
"""Radius of the ball that stands for a point of a surface [m]."""
PROTRUSION = 5e-5
"""How far that ball protrudes from the surface [m], so that what touches the ball does not touch the surface."""
CONTACT_DEPTH = 0.005
"""Points up to this much farther apart than the nearest ones belong to a contact [m]."""


class Contact(NamedTuple):
    """The nearest points of two surfaces."""

    distance: float
    """Signed distance [m], negative in penetration."""
    normal: FloatArray
    """(3,) unit normal from the second surface to the first."""
    point: FloatArray
    """(3,) nearest point of the first surface [m]."""
    other_point: FloatArray
    """(3,) nearest point of the second surface [m]."""
    nodes: tuple[int, int]
    """Nodes of both."""
    place: FloatArray
    """(k, 3) all points of the first surface in the contact, in its node's frame [m]."""


class Touching:
    """Measures the distance of the surface of one body from another surface."""

    def __init__(self, figure: Figure, own: Sequence[Solid], other: Sequence[Solid | HalfSpace]) -> None:
        """Take the solids of a body, and those of another body, an obstacle or a plane.

        Raises:
            FigureError: They cannot move relative to each other.
        """
        if own[0].node == getattr(other[0], "node", 0):
            raise FigureError(f"{own[0].owner!r} and {other[0].owner!r} cannot move relative to each other.")
        others = [solid for solid in other if isinstance(solid, Solid)]
        planes = [(k, plane) for plane in other if isinstance(plane, HalfSpace) for k in range(len(own))]
        pairs = [(i, len(own) + j) for i in range(len(own)) for j in range(len(others))]
        self.figure, self._own_count = figure, len(own)
        self._proximity = Proximity([*own, *others], pairs, planes)
        self._known: tuple[FloatArray, Contact] | None = None

    def at(self, posture: Posture) -> Contact:
        """The contact in a posture; the last answer is kept for the same posture."""
        if self._known is not None and np.array_equal(self._known[0], posture._q):
            return self._known[1]
        position, rotation = node_frames(self.figure, posture)
        self._proximity.forget()
        count = self._proximity.nearest(position, rotation, NOTHING_NEAR)
        rows = self._proximity.tables.rows
        k = int(np.argmin(rows.distance[:count]))
        node = int(rows.node_a[k])
        near = np.flatnonzero(rows.distance[:count] < rows.distance[k] + CONTACT_DEPTH)
        body = Pose(position[node], rotation[node]).inverse()
        contact = Contact(
            float(rows.distance[k]),
            rows.normal[k].copy(),
            rows.point_a[k].copy(),
            rows.point_b[k].copy(),
            (node, int(rows.node_b[k])),
            np.array([body.apply(rows.point_a[i]) for i in near]),
        )
        self._known = posture._q.copy(), contact
        return contact

    def rates(self, posture: Posture, contact: Contact, directions: FloatArray) -> FloatArray:
        """(k, nv) derivatives of the first nearest point relative to the second, along directions (k, 3)."""
        points = np.array([contact.point, contact.other_point])
        found: FloatArray = relative_motion(
            self.figure.compiled.tree, posture._q, contact.nodes, points, np.ascontiguousarray(directions)
        )
        return found

    def move(self, surface: Solid | HalfSpace) -> None:
        """Move the obstacle or plane to the place of another of the same shape."""
        self._known = None
        watched = self._proximity.tables.watched
        if isinstance(surface, HalfSpace):
            watched.plane_normal[:], watched.plane_offset[:] = surface.normal, surface.offset
        else:
            self._proximity.place(self._own_count, surface)


def solids_of(figure: Figure, body: str) -> list[Solid]:
    """The colliding solids of a body; raises `FigureError` if it has none."""
    found = [solid for solid in body_solids(figure) if solid.owner == body]
    if not found:
        raise FigureError(f"{body!r} of {figure.name} has no colliding shape, so that it has no surface.")
    return found


def part_near(solids: Sequence[Solid | HalfSpace], point: FloatArray) -> Solid:
    """The part of a surface nearest to a point in the frame of its node: a small ball, or that of a round solid."""
    first = solids[0]
    if isinstance(first, HalfSpace):
        height = float(first.normal @ point) - first.offset + POINT_RADIUS - PROTRUSION
        return _ball(first.owner, 0, point - height * first.normal, POINT_RADIUS)
    best, least = None, np.inf
    for solid in solids:
        assert isinstance(solid, Solid)
        local = solid.pose.inverse().apply(point)
        if solid.kind in ROUND_KINDS:
            half = float(solid.core.end[2])
            center = np.array([0.0, 0.0, float(np.clip(local[2], -half, half))])
            distance, found = float(np.linalg.norm(local - center)) - solid.size[0], (center, solid.size[0])
        else:
            distance, found = _nearest_on(solid, local)
        if abs(distance) < least:
            center, radius = found
            best, least = _ball(solid.owner, solid.node, solid.pose.apply(center), radius), abs(distance)
    assert best is not None
    return best


def _nearest_on(solid: Solid, local: FloatArray) -> tuple[float, tuple[FloatArray, float]]:
    """Distance of a point in a solid's frame, and the centre and radius of a small ball inside its surface there."""
    if solid.kind not in FORMULA_KINDS:
        k = int(np.argmin(np.linalg.norm(solid.vertices - local, axis=1)))
        return float(np.linalg.norm(solid.vertices[k] - local)), (solid.vertices[k], POINT_RADIUS)
    found = point_to_solid(solid.kind, Vector(*solid.size), Vector(*local.tolist()))
    center = local - (found.distance + POINT_RADIUS - PROTRUSION) * np.array(found.normal)
    return float(found.distance), (center, POINT_RADIUS)


def _ball(owner: str, node: int, center: FloatArray, radius: float) -> Solid:
    """A ball on a node."""
    return make_solid(Sphere(radius), owner, node, Pose(center))
