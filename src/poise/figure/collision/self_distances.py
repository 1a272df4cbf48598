"""Distances between the parts of a figure over many postures, by compiled code alone.

Meshes are replaced by hulls of few vertices (`simple_hulls`), which are accurate to a millimetre or two. Shapes whose
mesh cannot be read are left out. Parts that overlap in the neutral posture and in `BY_DESIGN` of random postures do so
by design, as the shells of a gripper do, and are not measured. Nor are parts that cannot meet: those with two hinges
between them, such as the links of a wrist, that do not touch wherever these hinges are.
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

NEIGHBOURS, NEIGHBOUR_TRIALS = 2, 400
"""Largest number of freedoms between two parts that may be found never to meet, and postures of the figure tried."""
AT_A_LIMIT = 0.5
"""Share of the hinges that are at one of their limits in these postures."""
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
    touching = {p for p in range(len(pairs)) if neutral[p] < 0.0}
    if touching:
        for seed in range(TOUCH_TRIALS):
            near = _nearest(proximity, figure.random(seed).q, figure, TOUCHING_DISTANCE)
            seen.update(p for p in touching if np.isfinite(near[p]))
    apart = _never_meeting(proximity, pairs, figure)
    kept = [p for p in range(len(pairs)) if seen[p] < BY_DESIGN * TOUCH_TRIALS and p not in apart]
    return SelfDistances(solids, tuple(pairs[p] for p in kept), neutral[kept])


def _never_meeting(proximity: Proximity, pairs: list[tuple[int, int]], figure: Figure) -> set[int]:
    """The pairs with at most `NEIGHBOURS` freedoms between them that touch in none of `NEIGHBOUR_TRIALS` postures."""
    solids = proximity.tables.solids.node
    found = {p for p, (i, j) in enumerate(pairs) if _freedoms_between(figure, solids[i], solids[j]) <= NEIGHBOURS}
    hinges = [joint for joint in figure.joints if joint.nv == 1 and np.isfinite(joint.upper[0] - joint.lower[0])]
    chance = np.random.default_rng(0)
    for seed in range(NEIGHBOUR_TRIALS if found else 0):
        q = figure.random(seed).q.copy()
        for joint in hinges:
            if chance.random() < AT_A_LIMIT:
                q[figure.q_slice(joint.name)] = (joint.lower if chance.random() < 0.5 else joint.upper)[0]
        near = _nearest(proximity, q, figure, TOUCHING_DISTANCE)
        found -= {p for p in found if np.isfinite(near[p])}
    return found


def _freedoms_between(figure: Figure, one: int, other: int) -> int:
    """Number of freedoms of the joints between two nodes."""
    tree, above = figure.compiled.tree, []
    for node in (one, other):
        path = []
        while node > 0:
            path.append(int(node))
            node = int(tree.parent[node])
        above.append(set(path))
    return int(np.isin(tree.dof_node, list(above[0] ^ above[1])).sum())


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
