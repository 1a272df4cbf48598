"""Obstacle and self-collision avoidance: distances between bodies, measured in one posture after another.

Pairs of bodies nearer than the reach of an `Avoid` task become linear limits of the next step. Pairs farther apart
cannot collide in a step during which no pair approaches by more than the reach: `approach_ratio` tests this condition
after the step. `margin_violation_grew` tests whether the linear limits were accurate enough.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from poise.errors import FigureError, TaskError
from poise.figure.collision.collisions import Collisions, node_frames
from poise.figure.model.compiled import IntArray
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray, Pose
from poise.kernels.body.tree import forward
from poise.kernels.goals.contacts import Contacts
from poise.tasks.avoid import Avoid
from poise.tasks.obstacles import Obstacle, Plane

MAX_CONTACTS = 64
"""Largest number of pairs of nearest points that limit one step."""
NEGLIGIBLE_PENETRATION = 1e-5
"""Violation of the margin that is not corrected [m]: a pair that is being separated cannot move apart any faster."""
MARGIN_TOLERANCE = 1e-4
"""Violation of the margin that a step may cause [m], because the limits are linear and distances are not."""
DISTANCE_ROUNDING = 1e-9
"""Change of a distance that counts as rounding [m]."""


class Avoidance:
    """All `Avoid` tasks of a problem."""

    def __init__(self, figure: Figure, tasks: Sequence[Avoid]) -> None:
        """Build the geometry; raises `TaskError` for a name that `figure` does not have."""
        self._tree = figure.compiled.tree
        self._distances: list[AvoidDistances] = []
        for task in tasks:
            self._distances.append(AvoidDistances(figure, task, first_pair=self.pair_count))
        nodes = len(self._tree.parent)
        self._position, self._rotation = np.empty((nodes, 3)), np.empty((nodes, 4))
        self.max_contacts = min(MAX_CONTACTS, sum(distances.max_contacts for distances in self._distances))
        """Largest number of contacts in one step."""
        self._pairs = np.zeros(self.max_contacts, dtype=np.int64)
        """Pair of each contact written last, numbered through all tasks."""

    @property
    def pair_count(self) -> int:
        """Number of pairs of solids whose distance is measured."""
        return sum(len(distances.collisions.pairs) for distances in self._distances)

    def measure(self, q: FloatArray) -> None:
        """Measure all distances in the posture `q` (nq,), and keep the measurement before."""
        forward(self._tree, q, self._position, self._rotation)
        for distances in self._distances:
            distances.measure(self._position, self._rotation)

    def discard_last(self) -> None:
        """Discard the last measurement, whose posture was rejected, in favour of the one before."""
        for distances in self._distances:
            distances.discard_last()

    def margin_violation_grew(self) -> bool:
        """Whether some pair violates its margin, and by more than in the measurement before."""
        return any(distances.margin_violation_grew() for distances in self._distances)

    def approach_ratio(self) -> float:
        """Largest approach of two bodies since the measurement before, as a multiple of the safe approach."""
        return max(distances.approach_ratio() for distances in self._distances)

    def violation(self, task: Avoid) -> float:
        """Largest violation of the margin among the pairs of one task [m]."""
        return next(distances.violation for distances in self._distances if distances.task is task)

    @property
    def largest_violation(self) -> float:
        """Largest violation of the margin among all pairs [m]; 0 up to MARGIN_TOLERANCE."""
        worst = max(distances.violation for distances in self._distances)
        return worst if worst > MARGIN_TOLERANCE else 0.0

    def forget(self) -> None:
        """Forget all measurements, so that the same postures give the same distances to the last bit."""
        for distances in self._distances:
            distances.collisions.forget()

    def write_contacts(self, contacts: Contacts) -> None:
        """Write the pairs of least clearance to `contacts`, in the order of pairs, which keeps their indices stable."""
        clearance = self._concatenate("clearance")
        chosen: slice | IntArray = slice(0, clearance.size)
        if clearance.size > self.max_contacts:
            chosen = np.sort(np.argsort(clearance, kind="stable")[: self.max_contacts])
        count = min(clearance.size, self.max_contacts)
        contacts.used[0] = count
        contacts.distance[:count] = np.where((clearance > -NEGLIGIBLE_PENETRATION) & (clearance < 0.0), 0.0, clearance)[
            chosen
        ]
        for field in ("node_a", "node_b", "point_a", "point_b", "normal"):
            getattr(contacts, field)[:count] = self._concatenate(field)[chosen]
        self._pairs[:count] = self._concatenate("pair")[chosen]

    def _concatenate(self, field: str) -> FloatArray:
        """One array of the nearest points of all tasks."""
        columns = [distances.column(field) for distances in self._distances]
        return columns[0] if len(columns) == 1 else np.concatenate(columns)

    def name(self, c: int) -> str:
        """Name of contact `c` of those written last, for reports."""
        pairs = [pair for distances in self._distances for pair in distances.collisions.pairs]
        return "contact of {} with {}".format(*pairs[self._pairs[c]])

    def move(self, obstacle: Obstacle | Plane, where: Pose | Obstacle | Plane) -> None:
        """Move an obstacle to another pose, or to that of another obstacle with the same shape."""
        there = obstacle.moved(where) if isinstance(where, Pose) else where
        if type(there) is not type(obstacle):
            raise TaskError(f"{obstacle!r} cannot be moved to the place of {there!r}, which is of another kind.")
        moved = [distances.move(obstacle, there) for distances in self._distances]
        if not any(moved):
            raise TaskError(f"{obstacle!r} is not one of the solver's obstacles; give it as obstacles=[…] first.")


class AvoidDistances:
    """Distances of the pairs of one `Avoid` task in the last two measurements."""

    def __init__(self, figure: Figure, task: Avoid, first_pair: int = 0) -> None:
        self.task = task
        self._first_pair = first_pair
        try:
            self.collisions = Collisions(
                figure,
                task.obstacles,
                task.itself,
                task.reach,
                exclude=task.exclude,
                include=task.include,
                folder=task.folder,
            )
        except FigureError as error:
            raise TaskError(f"{task.label}: {error}") from error
        self.max_contacts = self.collisions.rows.distance.size
        self.clearance = np.empty(0)
        """(count,) distance of every pair of nearest points minus the distance to keep [m]."""
        self._allowed = self._allowed_distances(figure)
        self._clearance, self._clearance_before = (np.full(len(self._allowed), np.inf) for _ in range(2))
        self._ends, self._ends_before = np.empty(0), np.empty(0)

    def _allowed_distances(self, figure: Figure) -> FloatArray:
        """(pairs,) distance to keep [m]: the margin or, if less, the distance of two bodies in the neutral posture."""
        collisions = self.collisions
        allowed = np.full(len(collisions.pairs), self.task.margin)
        count = collisions.nearest(*node_frames(figure, figure.neutral()))
        collisions.forget()
        own = collisions.rows.node_b[:count] > 0
        np.minimum.at(allowed, collisions.rows.pair[:count][own], collisions.rows.distance[:count][own])
        return allowed

    def measure(self, position: FloatArray, rotation: FloatArray) -> None:
        """Measure all distances for node positions (n, 3) and rotations (n, 4)."""
        rows, placed = self.collisions.rows, self.collisions.compiled_pairs.placed
        count = self.collisions.nearest(position, rotation)
        pair = rows.pair[:count]
        self.clearance = rows.distance[:count] - self._allowed[pair]
        self._clearance, self._clearance_before = self._clearance_before, self._clearance
        self._clearance.fill(np.inf)
        np.minimum.at(self._clearance, pair, self.clearance)
        self._ends_before, self._ends = self._ends, np.stack((placed.start, placed.end))

    def discard_last(self) -> None:
        """Discard the last measurement in favour of the one before."""
        self._clearance, self._clearance_before = self._clearance_before, self._clearance
        self._ends = self._ends_before

    def margin_violation_grew(self) -> bool:
        """Whether some pair violates its margin by more than MARGIN_TOLERANCE, and by more than before."""
        return bool((self._clearance < np.minimum(self._clearance_before, -MARGIN_TOLERANCE) - DISTANCE_ROUNDING).any())

    def approach_ratio(self) -> float:
        """Largest possible approach of two solids since the measurement before, as a multiple of the safe approach.

        The safe approach of a pair is the larger of the reach of the task and a lower bound of the distance before.
        Planes are left out, because a solid behind a plane is still found to be there.
        """
        if self._ends_before.shape != self._ends.shape:
            return 0.0
        solids, watched = self.collisions.compiled_pairs[:2]
        travel = np.sqrt(np.square(self._ends - self._ends_before).sum(axis=2).max(axis=0))
        if 2.0 * travel.max(initial=0.0) <= self.task.reach:
            return 0.0
        a, b = watched.first, watched.second
        middle = 0.5 * (self._ends_before[0] + self._ends_before[1])
        apart = np.linalg.norm(middle[a] - middle[b], axis=1) - solids.extent[a] - solids.extent[b]
        share = (travel[a] + travel[b]) / np.maximum(apart, self.task.reach)
        return float(share.max(initial=0.0))

    @property
    def violation(self) -> float:
        """Largest violation of the margin [m]."""
        return max(0.0, -float(self.clearance.min(initial=0.0)))

    def column(self, field: str) -> FloatArray:
        """One array of the last measurement; pairs are numbered through all tasks."""
        if field == "clearance":
            return self.clearance
        column: FloatArray = getattr(self.collisions.rows, field)[: self.clearance.size]
        return column + self._first_pair if field == "pair" else column

    def move(self, obstacle: Obstacle | Plane, there: Obstacle | Plane) -> bool:
        """Move an obstacle to the pose of another; returns False when it is not one of this task's."""
        for number, other in enumerate(self.task.obstacles):
            if other is obstacle:
                self.collisions.move(number, there)
                return True
        return False
