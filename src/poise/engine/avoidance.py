"""Obstacle and self-collision avoidance: distances between bodies, measured in one posture after another.

Pairs of bodies nearer than a *reach* become linear limits of the next step. Pairs farther apart cannot collide in a
step during which no pair approaches by more than that: `effect` tests this condition after the step, and also whether
the linear limits were accurate enough. The reach of a pair follows the speed of both bodies, up to that of the `Avoid`
task: see `poise.kernels.distances.clearance`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from poise.engine.engine_arrays import TaskRows
from poise.errors import FigureError, TaskError
from poise.figure.collision.collisions import Collisions, node_frames
from poise.figure.model.compiled import IntArray
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray, Pose
from poise.kernels.distances.clearance import (
    MARGIN_TOLERANCE,
    Clearances,
    StepEffect,
    measure_clearances,
    note_clearances,
)
from poise.kernels.engine.engine import FIRST_TASK_LEVEL
from poise.kernels.goals.contacts import Contacts
from poise.kernels.goals.near_pairs import MOVES, STANDS, add_contacts, follow_contacts
from poise.tasks.avoid import Avoid
from poise.tasks.obstacles import Obstacle, Plane
from poise.tasks.place import Frame
from poise.tasks.task import recruited

HELD_ERROR = 1e-5
"""Error up to which a task of the first level holds its body [m or rad]."""
MAX_CONTACTS = 64
"""Largest number of pairs of nearest points that limit one step."""


class Avoidance:
    """All `Avoid` tasks of a problem."""

    def __init__(self, figure: Figure, tasks: Sequence[Avoid]) -> None:
        """Build the geometry; raises `TaskError` for a name that `figure` does not have."""
        self._distances: list[AvoidDistances] = []
        for task in tasks:
            self._distances.append(AvoidDistances(figure, task, first_pair=self.pair_count))
        self.max_contacts = min(MAX_CONTACTS, sum(distances.max_contacts for distances in self._distances))
        """Largest number of contacts in one step."""
        self._pairs = np.zeros(self.max_contacts, dtype=np.int64)
        """Pair of each contact written last, numbered through all tasks."""
        self._used = np.zeros(1, dtype=np.int64)
        """(1,) number of contacts written last."""
        self._kept_sides = np.zeros(self.max_contacts, dtype=np.int64)
        self.follows_speed = False
        """Whether the reach of the next measurement follows the speed of the figure, or is that of the tasks."""

    @property
    def memory(self) -> tuple[IntArray, ...]:
        """What one step remembers for the next, besides the measurements: which pairs its contacts belong to."""
        return self._pairs, self._used

    def let_touch(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Keep no margin between the bodies and obstacles with these names."""
        names = {frozenset(pair) for pair in pairs}
        for distances in self._distances:
            for k, pair in enumerate(distances.collisions.pairs):
                if frozenset(pair) in names:
                    distances.clearances.allowed[k] = min(distances.clearances.allowed[k], 0.0)

    @property
    def pair_count(self) -> int:
        """Number of pairs of solids whose distance is measured."""
        return sum(len(distances.collisions.pairs) for distances in self._distances)

    def measure(self, position: FloatArray, rotation: FloatArray) -> None:
        """Measure all distances for node positions (n, 3) and rotations (n, 4), and keep the measurement before."""
        for distances in self._distances:
            distances.measure(position, rotation, self.follows_speed)

    def discard_last(self) -> None:
        """Discard the last measurement, whose posture was rejected, in favour of the one before."""
        for distances in self._distances:
            distances.discard_last()

    @property
    def effect(self) -> StepEffect:
        """What the step between the last two measurements did, the worst of all tasks."""
        effects = [distances.effect for distances in self._distances]
        return StepEffect(
            max(e.violation_ratio for e in effects),
            any(e.missed_violation for e in effects),
            max(e.approach_ratio for e in effects),
        )

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
        self._used[:] = 0
        self.follows_speed = False

    def write_contacts(
        self, contacts: Contacts, motion: IntArray, active_sets: Iterable[IntArray] = (), first: int = 0
    ) -> None:
        """Write the pairs of least clearance to `contacts`, in the order of pairs.

        Args:
            contacts: The contacts of the last step, replaced by those of the next.
            motion: (n,) how each node can move: see `HeldNodes.motion`.
            active_sets: (levels, limits) active sets of the last step, which follow the pairs to their new places.
            first: The limit of the first contact.
        """
        before = self._pairs[: self._used[0]].copy()
        contacts.used[0] = 0
        largest = np.inf
        if sum(distances.count for distances in self._distances) > self.max_contacts:
            found = np.concatenate([distances.clearance for distances in self._distances])
            largest = float(np.partition(found, self.max_contacts - 1)[self.max_contacts - 1])
        for distances in self._distances:
            rows, clearances, first_pair = distances.collisions.rows, distances.clearances, distances.first_pair
            add_contacts(rows, clearances, distances.count, largest, first_pair, motion, contacts, self._pairs)
        self._used[:] = contacts.used
        now = self._pairs[: self._used[0]]
        if not np.array_equal(before, now):
            for side in active_sets:
                follow_contacts(before, now, first, side, self._kept_sides)

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


class HeldNodes:
    """How the nodes of a figure can move while the tasks of the first level that are met hold some of them.

    A foot that a `Frame` task of the first level holds on the ground cannot go through it: a limit of its distance
    would say again what the task says. Limits that depend on tasks, and on each other, make a step expensive.
    """

    def __init__(self, figure: Figure, task_rows: Sequence[TaskRows]) -> None:
        """Find the nodes that `Frame` tasks of the first level hold in the world."""
        first = [t for t in task_rows if t.level == FIRST_TASK_LEVEL and not t.task.soft]
        masked = any(recruited(figure, t.task) is not None for t in first)
        self._tree, self._rows = figure.compiled.tree, [t.rows for t in first]
        self._nodes = [t.goals[0].seat.node for t in first if _holds(t)] if not masked else []
        self._free = np.full(len(self._tree.parent), MOVES, dtype=np.int64)
        self._free[0] = STANDS

    @cached_property
    def _held(self) -> IntArray:
        """(n,) how each node moves while the tasks hold theirs."""
        tree, found = self._tree, self._free.copy()
        for node in range(1, len(found)):
            above, count = found[tree.parent[node]], int(tree.v_count[node])
            if node in self._nodes or (count == 0 and above != MOVES):
                found[node] = STANDS if node in self._nodes else above
            elif count == 1 and above == STANDS and tree.parent[node] != 0:
                found[node] = tree.v_start[node]
        return found

    def motion(self, error: FloatArray) -> IntArray:
        """(n,) MOVES, STANDS, or the one velocity that moves each node, from the errors of all goals."""
        if not self._nodes:
            return self._free
        met = all(np.abs(error[rows]).max(initial=0.0) <= HELD_ERROR for rows in self._rows)
        return self._held if met else self._free


def _holds(rows: TaskRows) -> bool:
    """Whether a task holds a body in the world, its place and its rotation."""
    return isinstance(rows.task, Frame) and all(
        goal.base.node == 0 and np.linalg.matrix_rank(goal.directions[goal.weights > 0.0]) == 3 for goal in rows.goals
    )


class AvoidDistances:
    """Distances of the pairs of one `Avoid` task in the last two measurements."""

    def __init__(self, figure: Figure, task: Avoid, first_pair: int = 0) -> None:
        self.task = task
        self.first_pair = first_pair
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
        self.count = 0
        """Number of rows of the last measurement."""
        tables = self.collisions.compiled_pairs
        self.clearances = Clearances(
            pairs=len(self.collisions.pairs), rows=self.max_contacts, solids=len(tables.solids.kind), two=2, three=3
        )
        self.clearances.allowed[:] = self._allowed_distances(figure)
        self.effect = StepEffect(0.0, False, 0.0)
        """What the step between the last two measurements did."""

    def _allowed_distances(self, figure: Figure) -> FloatArray:
        """(pairs,) distance to keep [m]: the margin or, if less, the distance of two bodies in the neutral posture."""
        collisions = self.collisions
        allowed = np.full(len(collisions.pairs), self.task.margin)
        count = collisions.nearest(*node_frames(figure, figure.neutral()))
        collisions.forget()
        own = collisions.rows.node_b[:count] > 0
        np.minimum.at(allowed, collisions.rows.pair[:count][own], collisions.rows.distance[:count][own])
        return allowed

    def measure(self, position: FloatArray, rotation: FloatArray, follows_speed: bool) -> None:
        """Measure all distances for node positions (n, 3) and rotations (n, 4)."""
        (solids, watched, placed, rows), reach = self.collisions.compiled_pairs, self.task.reach
        count, more = measure_clearances(
            solids, position, rotation, reach, follows_speed, watched, placed, rows, self.clearances
        )
        self.count = self.collisions.finish(count, more) if more else count
        self.effect = StepEffect(*note_clearances(solids, watched, rows, self.count, reach, self.clearances))

    def discard_last(self) -> None:
        """Discard the last measurement in favour of the one before."""
        self.clearances.now = 1 - self.clearances.now

    @property
    def clearance(self) -> FloatArray:
        """(count,) distance of every pair of nearest points minus the distance to keep [m]."""
        found: FloatArray = self.clearances.of_rows[: self.count]
        return found

    @property
    def violation(self) -> float:
        """Largest violation of the margin [m]."""
        return max(0.0, -float(self.clearance.min(initial=0.0)))

    def move(self, obstacle: Obstacle | Plane, there: Obstacle | Plane) -> bool:
        """Move an obstacle to the pose of another; returns False when it is not one of this task's."""
        for number, other in enumerate(self.task.obstacles):
            if other is obstacle:
                self.collisions.move(number, there)
                return True
        return False
