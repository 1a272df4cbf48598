"""Distances between the bodies of a figure and to obstacles.

Compiled code measures all pairs but those with meshes; the coal library measures these, and only if the bounding
capsules of two solids are near. Each pair has one row, its nearest points. It has more where the nearest points would
jump along a long or flat contact when a body turns a little (`poise.kernels.distances.solids.NEARLY_PARALLEL`):

* two nearly parallel capsules: both ends of their overlap;
* a solid on a plane: both ends of a capsule, the four corners of a box's lower face, three points of the rim of a
  standing cylinder and both rims of a lying one, the lowest vertices of a mesh;
* a capsule that lies nearly flat on a box or a cylinder: both its ends;
* boxes, cylinders and meshes against each other, and meshes against capsules, nearer than half the reach: the nearest
  points after tipping one of them by a small angle to four sides, moved back with the body.

Every row is a distance between two points fixed to two bodies, d = n · (p_a - p_b), so that its rate is n · (v_a -
v_b). In penetration, capsules are measured from their axes, boxes, cylinders and ellipsoids from a smaller solid inside
them (`poise.kernels.distances.convex`), and meshes by the shortest separating motion. For an axis inside a box or a
cylinder, the nearest point may lie between two faces, and the row has the normal of one of them. A mesh that is not
replaced by its convex hull is only a surface, without inside and outside.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from poise.errors import FigureError
from poise.figure.collision.pairs import (
    MIN_TOUCHES,
    TOUCH_TRIALS,
    TOUCHING_DISTANCE,
    Names,
    Pair,
    candidate_pairs,
    checked_names,
)
from poise.figure.collision.proximity import Proximity, Tables
from poise.figure.collision.solids import HalfSpace, Solid, body_solids
from poise.figure.model.figure import Figure, PostureLike
from poise.figure.model.pose import FloatArray
from poise.kernels.body.tree import forward
from poise.kernels.distances.solids import Rows


class Hindrance(Protocol):
    """A fixed obstacle in the world, such as `poise.tasks.obstacles.Obstacle`."""

    @property
    def name(self) -> str:
        """Its name; empty to be named by its number."""
        ...

    def solid(self, name: str, folder: Path | None) -> Solid | HalfSpace:
        """Its geometry, owned by `name`."""
        ...


class Nearness(NamedTuple):
    """The distance of two parts at one pair of nearest points."""

    a: str
    """Name of a body."""
    b: str
    """Name of another body, or of an obstacle."""
    distance: float
    """Signed distance [m], negative in penetration."""
    point_a: FloatArray
    """(3,) world position of the nearest point on a [m]."""
    point_b: FloatArray
    """(3,) world position of the nearest point on b [m]."""


class Collisions:
    """Distances of a figure to obstacles and to itself, written into arrays that are allocated once.

    Attributes:
        figure: The figure.
        reach: Pairs farther apart than this have no row [m].
        pairs: Names of the two parts of every pair, in the order of `rows.pair`.
        always_touching: Pairs of bodies with solids that are not measured because they always touch.
        neutral_depth: (pairs,) signed distance of each pair that overlaps in the neutral posture, 0 for others [m].
            Bodies that overlap there by design cannot be separated.
    """

    def __init__(
        self,
        figure: Figure,
        obstacles: Sequence[Hindrance] = (),
        itself: bool = True,
        reach: float = 0.1,
        *,
        exclude: Names = (),
        include: Names = (),
        folder: Path | str | None = None,
    ) -> None:
        """Build the geometry and select the pairs to measure (see `poise.figure.collision.pairs`).

        Args:
            figure: The figure; its visual shapes do not collide.
            obstacles: Obstacles in the world.
            itself: Whether to measure bodies of the figure against each other.
            reach: Pairs farther apart than this have no row [m].
            exclude: Pairs of names of bodies or obstacles not to measure.
            include: Pairs to measure although a joint connects them, they always touch, or `itself` is off.
            folder: Folder of the mesh files; by default that of the figure for its own, and the current folder for
                those of obstacles.
        """
        if not (np.isfinite(reach) and reach > 0.0):
            raise FigureError(f"reach must be a positive number of metres, not {reach}.")
        home = Path(folder) if folder is not None else None
        bodies, fixtures = body_solids(figure, home), _fixtures(figure, obstacles, home)
        solids = [*bodies, *(f for f in fixtures if isinstance(f, Solid))]
        planes = [f for f in fixtures if isinstance(f, HalfSpace)]
        known = list(dict.fromkeys(part.owner for part in (*bodies, *fixtures)))
        not_wanted = checked_names(exclude, known, "exclude", figure.name)
        wanted = checked_names(include, known, "include", figure.name)
        pairs = candidate_pairs(figure, solids, itself, not_wanted, wanted)
        touching = _always_touching(figure, home or figure.folder) if itself else frozenset()
        dropped = {pair for pair in pairs if pair in touching and frozenset(_owners(solids, pair)) not in wanted}
        pairs = [pair for pair in pairs if pair not in dropped]
        standing = [
            (i, plane)
            for plane in planes
            for i, solid in enumerate(bodies)
            if solid.node > 0 and frozenset((solid.owner, plane.owner)) not in not_wanted
        ]
        self.figure, self.reach = figure, float(reach)
        self._fixtures, self._folder, self._standing = fixtures, home, [plane.owner for _, plane in standing]
        self._solid_names = [solid.owner for solid in solids]
        self.pairs = [_owners(solids, p) for p in pairs] + [(solids[i].owner, plane.owner) for i, plane in standing]
        self.always_touching = tuple(sorted({_owners(solids, pair) for pair in dropped}))
        self._proximity = Proximity(solids, pairs, standing)
        self.neutral_depth = self._neutral_depth()

    @property
    def rows(self) -> Rows:
        """The arrays that `nearest` writes."""
        return self._proximity.tables.rows

    @property
    def compiled_pairs(self) -> Tables:
        """The arrays of the distance kernels, such as `kernels.distances.all_pairs.nearest_compiled`."""
        return self._proximity.tables

    def nearest(self, position: FloatArray, rotation: FloatArray) -> int:
        """Write the rows of all pairs nearer than `reach`.

        Args:
            position: (n, 3) node frames as `poise.kernels.body.tree.forward` writes them [m].
            rotation: (n, 4) their rotations.

        Returns:
            The number of valid rows in `rows`.
        """
        return self._proximity.nearest(position, rotation, self.reach)

    def finish(self, count: int, more: int) -> int:
        """Append the rows of the `more` pairs that coal has to measure to the `count` rows of compiled code."""
        return self._proximity.finish(count, more)

    def forget(self) -> None:
        """Discard coal's cached search directions, so that equal postures give equal rows to the last bit."""
        self._proximity.forget()

    def move(self, number: int, obstacle: Hindrance) -> None:
        """Move obstacle `number`, counted from 0, to the pose of `obstacle`, which has the same shape."""
        name = self._fixtures[number].owner
        found = obstacle.solid(name, self._folder)
        if isinstance(found, Solid):
            self._proximity.place(self._solid_names.index(name), found)
            return
        watched = self._proximity.tables.watched
        here = np.array([owner == name for owner in self._standing], dtype=bool)
        watched.plane_normal[here], watched.plane_offset[here] = found.normal, found.offset

    def at(self, posture: PostureLike) -> list[Nearness]:
        """All pairs of nearest points nearer than `reach` in a posture, nearest first."""
        self.forget()
        count = self.nearest(*node_frames(self.figure, posture))
        return [self._nearness(k) for k in np.argsort(self.rows.distance[:count], kind="stable").tolist()]

    def _neutral_depth(self) -> FloatArray:
        """See `neutral_depth` in the class docstring."""
        depth = np.zeros(len(self.pairs))
        count = self._proximity.nearest(*node_frames(self.figure, self.figure.neutral()), TOUCHING_DISTANCE)
        np.minimum.at(depth, self.rows.pair[:count], self.rows.distance[:count])
        self.forget()
        return depth

    def _nearness(self, k: int) -> Nearness:
        """Row `k` with names."""
        rows = self.rows
        a, b = self.pairs[rows.pair[k]]
        return Nearness(a, b, float(rows.distance[k]), rows.point_a[k].copy(), rows.point_b[k].copy())


def node_frames(figure: Figure, posture: PostureLike) -> tuple[FloatArray, FloatArray]:
    """World positions (n, 3) and rotations (n, 4) of the nodes of a figure's tree."""
    tree = figure.compiled.tree
    position, rotation = np.empty((len(tree.parent), 3)), np.empty((len(tree.parent), 4))
    forward(tree, figure.posture(posture)._q, position, rotation)
    return position, rotation


def _owners(solids: Sequence[Solid], pair: Pair) -> tuple[str, str]:
    """Names of the bodies or obstacles of a pair of solids."""
    return solids[pair[0]].owner, solids[pair[1]].owner


def _fixtures(figure: Figure, obstacles: Sequence[Hindrance], folder: Path | None) -> list[Solid | HalfSpace]:
    """Geometry of the obstacles, each with a unique name."""
    found: list[Solid | HalfSpace] = []
    taken = set(figure.bodies.names)
    for number, obstacle in enumerate(obstacles, start=1):
        name = obstacle.name or f"obstacle {number}"
        if name in taken:
            raise FigureError(
                f"obstacle {number} has the name {name!r} of another obstacle or of a body of figure {figure.name!r}; "
                "names must be unique."
            )
        taken.add(name)
        found.append(obstacle.solid(name, folder))
    return found


@lru_cache(maxsize=64)
def _always_touching(figure: Figure, folder: Path | None) -> frozenset[Pair]:
    """Pairs of solids of a figure that touch in the neutral posture and in nearly all random ones."""
    solids = body_solids(figure, folder)
    pairs = candidate_pairs(figure, solids, True, set(), set())
    pairs = [pairs[p] for p in sorted(_touching(Proximity(solids, pairs), figure, figure.neutral()))]
    proximity = Proximity(solids, pairs)
    seen: Counter[int] = Counter()
    if pairs:
        for seed in range(TOUCH_TRIALS):
            seen.update(_touching(proximity, figure, figure.random(seed)))
    return frozenset(pair for p, pair in enumerate(pairs) if seen[p] >= MIN_TOUCHES)


def _touching(proximity: Proximity, figure: Figure, posture: PostureLike) -> set[int]:
    """Indices of the pairs that touch in a posture."""
    count = proximity.nearest(*node_frames(figure, posture), TOUCHING_DISTANCE)
    return set(proximity.tables.rows.pair[:count].tolist())
