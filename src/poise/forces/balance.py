"""Whether a posture is balanced, and the distance of its centre of mass from the edge of the region of balance.

The centres of mass that the contact forces can balance form a convex region in the plane across gravity; on flat
ground, for the weight alone, it is the support polygon. The region is found by cutting planes. Let b(z) be the load for
a centre of mass at z, and r the residual that the contact forces cannot balance. Every load that can be balanced has
r·b ≤ 0, while r·b(z) = |r|²: the line r·b = 0 separates z from the region. Such cuts give the point at which a ray
leaves the region, and the point of the region nearest to a centre of mass outside it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from poise.errors import TaskError
from poise.figure.model.figure import Figure, PostureLike
from poise.figure.model.pose import FloatArray
from poise.forces.acting import acting_on
from poise.forces.equilibrium import level_axes
from poise.forces.loads import Load, Support
from poise.forces.reactions import Ground, Reactions
from poise.kernels.maths.nearest_point import nearest_in_polyhedron

REGION_RAYS = 24
"""Number of rays along which the edge of the region is found."""
MAX_CUTS = 40
"""Largest number of cuts along one ray."""
MIN_CUT_RESIDUAL = 1e-6
"""Residual, as a fraction of the load, below which its direction is too inaccurate to keep the cut for other rays."""
NEGLIGIBLE_RESIDUAL = 1e-7
"""Residual, as a fraction of the load, up to which a point counts as inside the region during the search."""
RAY_LENGTH = 20.0
"""Length of the rays, in sizes of the support."""
EDGE = 1e-6
"""Distance outside the region of balance at which a centre of mass still counts as on its edge [m], and unbalanced
force and moment, as a fraction of the load, that count as none: the tolerance of a solve."""


@dataclass(frozen=True)
class Balance:
    """The static balance of a posture."""

    reactions: Reactions
    """Forces of the ground, without regard to shares."""
    margin: float
    """Distance of the centre of mass from the nearest edge of the region of balance, across gravity [m]. Negative
    outside the region; -inf where the region is empty, inf where it is unbounded in all directions."""
    center: FloatArray
    """(3,) centre of mass [m]."""
    region: FloatArray
    """(k, 3) outline of the region of balance, at the height of the centre of mass [m]; empty if there is none."""

    @property
    def balanced(self) -> bool:
        """Whether the ground can hold the posture; a centre of mass on the edge of the region counts as inside."""
        return self.reactions.rest <= EDGE or self.margin >= -EDGE


class Cut(NamedTuple):
    """A cutting plane: centres of mass in the region of balance have slope · z ≤ bound."""

    slope: FloatArray
    """(2,)"""
    bound: float


class Region:
    """The region of balance, in two coordinates z across gravity relative to the centre of mass."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        gravity = np.array(ground.acting.gravity)
        self.weight = ground.acting.weight
        self.across = level_axes(gravity, gravity)
        self.cuts: list[Cut] = []

    def probe(self, z: FloatArray) -> tuple[Reactions, Cut | None]:
        """Compute the reactions for a centre of mass at z; returns them and the cut that separates z, None inside."""
        reactions, reach = self.ground.react(self.ground.center + z @ self.across, shared=False)
        if reactions.rest <= NEGLIGIBLE_RESIDUAL:
            return reactions, None
        force, moment = -reactions.rest_force, -reactions.rest_moment / reach
        slope = -self.across @ np.cross(self.weight, moment) / reach
        cut = Cut(slope, float(slope @ z - force @ force - moment @ moment))
        if reactions.rest > MIN_CUT_RESIDUAL:
            self.cuts.append(cut)
        return reactions, cut

    def edge(self, start: FloatArray, direction: FloatArray, far: float) -> float:
        """Distance from a point of the region to its edge in a direction [m]; inf if it is more than `far`."""
        s = far
        for _ in range(MAX_CUTS):
            _, cut = self.probe(start + s * direction)
            if cut is None:
                return math.inf if s == far else s
            climb = float(cut.slope @ direction)
            if climb <= 0.0:
                return 0.0
            s = max(0.0, (cut.bound - float(cut.slope @ start)) / climb)
        return s

    def nearest(self) -> FloatArray | None:
        """(2,) the point of the region nearest to the centre of mass; None where the region is empty."""
        z, size = np.zeros(2), float(np.linalg.norm(self.weight))
        cuts = self.cuts.copy()
        for _ in range(MAX_CUTS):
            _, cut = self.probe(z)
            if cut is None:
                return z
            if float(np.linalg.norm(cut.slope)) <= 1e-12 * size * max(1.0, abs(cut.bound)):
                return None
            cuts.append(cut)
            rows, bounds = np.array([c.slope for c in cuts]), np.array([c.bound for c in cuts])
            scale = np.linalg.norm(rows, axis=1)
            z = np.zeros(2)
            rows, bounds = rows / scale[:, None], bounds / scale
            if not nearest_in_polyhedron(rows, np.full(len(rows), -np.inf), bounds, z):
                return None
        return z


def balance(
    figure: Figure, posture: PostureLike, forces: Iterable[Load] = (), supports: Iterable[Support] = ()
) -> Balance:
    """Compute the contact forces of a posture, its margin of balance, and the region of balance.

    Shares of supports are ignored: the contacts may divide the load in any way that their friction cones allow.
    """
    acting = acting_on(figure, forces, supports)
    if not acting.weight.any():
        raise TaskError(
            f"figure {figure.name!r} has no weight, so there is no centre of mass to balance; "
            "it needs masses and a gravity that is not zero."
        )
    ground = Ground(figure, posture, acting)
    region = Region(ground)
    reactions, reach = ground.react(shared=False)
    far = RAY_LENGTH * reach
    if reactions.balanced:
        inside, margin = np.zeros(2), _margin(region, far)
    else:
        nearest = region.nearest()
        if nearest is None:
            return Balance(reactions, -math.inf, ground.center, np.empty((0, 3)))
        margin = -float(np.linalg.norm(nearest))
        inside = _moved_inside(region, nearest, far)
    outline = [inside + min(region.edge(inside, u, far), far) * u for u in _directions()]
    return Balance(reactions, margin, ground.center, ground.center + np.array(outline) @ region.across)


def _directions() -> list[FloatArray]:
    """Unit vectors of the rays."""
    angles = 2.0 * math.pi * np.arange(REGION_RAYS) / REGION_RAYS
    return [np.array([math.cos(a), math.sin(a)]) for a in angles]


def _margin(region: Region, far: float) -> float:
    """Distance from a balanced centre of mass to the edge of the region [m].

    Rays in all directions collect cuts; further rays along the normal of the nearest cut make it exact.
    """
    origin = np.zeros(2)
    found = min(region.edge(origin, u, far) for u in _directions())
    for _ in range(MAX_CUTS):
        known = [(cut.bound / float(np.linalg.norm(cut.slope)), cut) for cut in region.cuts if cut.slope.any()]
        if not known:
            return found
        distance, cut = min(known, key=lambda pair: pair[0])
        count = len(region.cuts)
        found = min(found, region.edge(origin, cut.slope / np.linalg.norm(cut.slope), far))
        if len(region.cuts) == count or found <= distance * (1.0 + 1e-6):
            return max(0.0, min(found, distance))
    return max(0.0, found)


def _moved_inside(region: Region, nearest: FloatArray, far: float) -> FloatArray:
    """(2,) a point inside the region, half way through it from its nearest point on."""
    size = float(np.linalg.norm(nearest))
    inward = nearest / size if size > 0.0 else np.array([1.0, 0.0])
    depth = region.edge(nearest, inward, far)
    return np.asarray(nearest + 0.5 * min(depth, far) * inward)
