"""Distances between the parts of a figure over many postures, by compiled code alone.

Meshes are replaced by hulls of few vertices (`simple_hulls`), which are accurate to a millimetre or two. Shapes whose
mesh cannot be read are left out. Parts that touch in the neutral posture and in `BY_DESIGN` of random postures overlap
by design, as the shells of a gripper do, and are not measured.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from poise.errors import FigureError
from poise.figure.collision.collisions import node_frames
from poise.figure.collision.pairs import TOUCH_TRIALS, TOUCHING_DISTANCE, candidate_pairs
from poise.figure.collision.proximity import Proximity, Tables
from poise.figure.collision.simple_hulls import with_simple_hull
from poise.figure.collision.solids import Solid, make_solid
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray, Pose
from poise.kernels.distances.solids import HULL

BY_DESIGN = 0.9
"""Share of random postures in contact above which two parts count as overlapping by design."""


class SelfDistances(NamedTuple):
    """The pairs of parts of a figure that can collide."""

    solids: tuple[Solid, ...]
    pairs: tuple[tuple[int, int], ...]
    """Indices of the solids of each pair."""
    neutral: FloatArray
    """(pairs,) distance in the neutral posture, up to a reach; infinite beyond it [m]."""

    def allowed(self, margin: float) -> FloatArray:
        """(pairs,) distance to keep [m]: the margin, or less for parts that are nearer in the neutral posture.

        Parts may overlap as they do there, but for meshes: they are what a robot is made of, and the zero posture of
        its file may have a hand in a thigh.
        """
        hulls = [any(self.solids[k].kind == HULL for k in pair) for pair in self.pairs]
        least = np.where((self.neutral < 0.0) & np.array(hulls, dtype=np.bool_), np.inf, self.neutral)
        out: FloatArray = np.minimum(margin, least)
        return out

    def tables(self) -> Tables:
        """New arrays for the distance kernels; the reach of every pair is 0."""
        return Proximity(self.solids, self.pairs, compiled=True).tables


@lru_cache(maxsize=16)
def self_distances(figure: Figure, reach: float = 0.05) -> SelfDistances:
    """The pairs of parts of `figure` that can collide, but for those that overlap by design."""
    solids = _readable_solids(figure, figure.folder)
    pairs = candidate_pairs(figure, solids, True, set(), set())
    proximity = Proximity(solids, pairs, compiled=True)
    neutral = _nearest(proximity, figure.neutral().q, figure, reach)
    seen: Counter[int] = Counter()
    touching = {p for p in range(len(pairs)) if neutral[p] < TOUCHING_DISTANCE}
    if touching:
        for seed in range(TOUCH_TRIALS):
            near = _nearest(proximity, figure.random(seed).q, figure, TOUCHING_DISTANCE)
            seen.update(p for p in touching if np.isfinite(near[p]))
    kept = [p for p in range(len(pairs)) if seen[p] < BY_DESIGN * TOUCH_TRIALS]
    return SelfDistances(solids, tuple(pairs[p] for p in kept), neutral[kept])


def _readable_solids(figure: Figure, folder: Path | None) -> tuple[Solid, ...]:
    """The colliding shapes of a figure, with simple hulls."""
    ride, found = figure.compiled.attached, []
    for row, body in enumerate(figure.bodies):
        place = Pose(ride.position[row], ride.rotation[row])
        for shape in body.shapes:
            if shape.role == "visual":
                continue
            try:
                solid = make_solid(shape, body.name, int(ride.node[row]), place, folder=folder)
            except FigureError:
                continue
            found.append(with_simple_hull(solid) if solid.kind == HULL else solid)
    return tuple(found)


def _nearest(proximity: Proximity, q: FloatArray, figure: Figure, reach: float) -> FloatArray:
    """(pairs,) distances in a posture; infinite beyond `reach` [m]."""
    count = proximity.nearest(*node_frames(figure, q), reach)
    rows = proximity.tables.rows
    out: FloatArray = np.full(len(proximity.tables.watched.first), np.inf)
    np.minimum.at(out, rows.pair[:count], rows.distance[:count])
    return out
