"""Whether a posture is balanced, and how far its centre of mass is from where it would not be.

The centres of mass that the contacts can balance form a convex region across gravity: on flat ground, for the weight
alone, the support polygon. Each load that cannot be balanced gives a line that no balanced centre crosses: with r the
rest of the load b(z) for a centre at z, every load that can be balanced has r·b ≤ 0, while r·b(z) = |r|². Such cuts
find where a ray leaves the region, and the point of the region nearest to a centre outside it.
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
"""Directions in which the region is explored."""
MAX_CUTS = 40
"""Most cuts along one ray."""
MIN_CUT_RESIDUAL = 1e-6
"""Rests smaller than this fraction of the load say too little about their direction."""
NEGLIGIBLE_RESIDUAL = 1e-7
"""Rests smaller than this fraction of the load count as none on the way to the edge."""
RAY_LENGTH = 20.0
"""How far rays look, in sizes of the support."""


@dataclass(frozen=True)
class Balance:
    """How well a posture stands."""

    reactions: Reactions
    """Forces of the ground, whatever shares were given."""
    margin: float
    """How far the centre of mass may move across gravity, in the worst direction [m]. Below zero: how far it would have
    to move to be balanced; -inf where no centre of mass would be, inf where any is."""
    center: FloatArray
    """(3,) centre of mass [m]."""
    region: FloatArray
    """(k, 3) outline of where the centre of mass would be balanced, at its height [m]; empty where it is nowhere."""

    @property
    def balanced(self) -> bool:
        """Whether the ground can hold the posture."""
        return self.reactions.balanced


class Cut(NamedTuple):
    """Balanced centres have slope·z ≤ bound."""

    slope: FloatArray
    bound: float


class Region:
    """Where the centre of mass would be balanced, in two coordinates z across gravity from where it is."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        gravity = np.array(ground.acting.gravity)
        self.weight = ground.acting.weight
        self.across = level_axes(gravity, gravity)
        self.cuts: list[Cut] = []

    def probe(self, z: FloatArray) -> tuple[Reactions, Cut | None]:
        """Reactions for a centre at z, and the cut of a rest that remains."""
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
        """How far the region goes from a point of it in a direction [m]; inf beyond `far`."""
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
        """The point of the region nearest to the centre of mass; None where the region is empty."""
        z, size = np.zeros(2), float(np.linalg.norm(self.weight))
        for _ in range(MAX_CUTS):
            _, cut = self.probe(z)
            if cut is None:
                return z
            if float(np.linalg.norm(cut.slope)) <= 1e-12 * size * max(1.0, abs(cut.bound)):
                return None
            rows = np.array([c.slope for c in self.cuts] or [cut.slope])
            bounds = np.array([c.bound for c in self.cuts] or [cut.bound])
            scale = np.linalg.norm(rows, axis=1)
            z = np.zeros(2)
            rows, bounds = rows / scale[:, None], bounds / scale
            if not nearest_in_polyhedron(rows, np.full(len(rows), -np.inf), bounds, z):
                return None
        return z


def balance(
    figure: Figure, posture: PostureLike, forces: Iterable[Load] = (), supports: Iterable[Support] = ()
) -> Balance:
    """Whether the ground can hold a posture, with what margin, and where the centre of mass could be.

    Shares of supports are left aside: the question is what the contacts can do, not how they are meant to share.
    """
    acting = acting_on(figure, forces, supports)
    if not acting.weight.any():
        raise TaskError(f"figure {figure.name!r} has no weight here, so no centre of mass to balance.")
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
    angles = 2.0 * math.pi * np.arange(REGION_RAYS) / REGION_RAYS
    return [np.array([math.cos(a), math.sin(a)]) for a in angles]


def _margin(region: Region, far: float) -> float:
    """Distance from the centre of mass to the edge: that of the nearest cut, from all around, then along its normal."""
    here = np.zeros(2)
    found = min(region.edge(here, u, far) for u in _directions())
    for _ in range(MAX_CUTS):
        known = [(cut.bound / float(np.linalg.norm(cut.slope)), cut) for cut in region.cuts if cut.slope.any()]
        if not known:
            return found
        distance, cut = min(known, key=lambda pair: pair[0])
        count = len(region.cuts)
        found = min(found, region.edge(here, cut.slope / np.linalg.norm(cut.slope), far))
        if len(region.cuts) == count or found <= distance * (1.0 + 1e-6):
            return max(0.0, min(found, distance))
    return max(0.0, found)


def _moved_inside(region: Region, nearest: FloatArray, far: float) -> FloatArray:
    """A point well inside the region, beyond its nearest point."""
    size = float(np.linalg.norm(nearest))
    inward = nearest / size if size > 0.0 else np.array([1.0, 0.0])
    depth = region.edge(nearest, inward, far)
    return np.asarray(nearest + 0.5 * min(depth, far) * inward)
