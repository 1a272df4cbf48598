"""What a figure has to keep clear of, measured in one posture after another.

Bodies nearer than the reach of an `Avoid` task become limits of the next step, linear in it. What is farther away
cannot be touched by a step in which no pair comes nearer to each other by more than the reach; `overreach` says whether
a step was like that, and `got_deeper` whether the limits, being linear, promised too much.
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

MOST_CONTACTS = 64
"""Witnesses that limit one step."""
TOUCHING = 1e-5
"""Lack of room that is not worth parting for [m]: bodies that are being parted cannot leave each other faster."""
DEEPER = 1e-4
"""How much may be lacking of the distance to keep [m]: limits are linear, and the world is not."""
ROUNDING = 1e-9


class Avoidance:
    """All `Avoid` tasks of a problem."""

    def __init__(self, figure: Figure, tasks: Sequence[Avoid]) -> None:
        """Build the geometry; raises `TaskError` for what `figure` has not."""
        self._tree = figure.compiled.tree
        self._watches: list[Watch] = []
        for task in tasks:
            self._watches.append(Watch(figure, task, first_pair=self.pair_count))
        nodes = len(self._tree.parent)
        self._position, self._rotation = np.empty((nodes, 3)), np.empty((nodes, 4))
        self.most = min(MOST_CONTACTS, sum(watch.most for watch in self._watches))
        """Most contacts at one time."""
        self._pairs = np.zeros(self.most, dtype=np.int64)
        """Pair of each contact handed over, counted through all tasks."""

    @property
    def pair_count(self) -> int:
        """How many pairs of solids are watched."""
        return sum(len(watch.collisions.pairs) for watch in self._watches)

    def look(self, q: FloatArray) -> None:
        """Measure the posture `q` (nq,), and remember the one before."""
        forward(self._tree, q, self._position, self._rotation)
        for watch in self._watches:
            watch.look(self._position, self._rotation)

    def look_back(self) -> None:
        """Compare the next look with the one before the last: the last one's posture was not taken."""
        for watch in self._watches:
            watch.look_back()

    def got_deeper(self) -> bool:
        """Whether some pair is nearer than it should be, and nearer than in the look before."""
        return any(watch.got_deeper() for watch in self._watches)

    def overreach(self) -> float:
        """Approach of two bodies since the look before, as a share of what can be foreseen."""
        return max(watch.overreach() for watch in self._watches)

    def excess(self, task: Avoid) -> float:
        """How much nearer than it should be the worst pair of a task is [m]."""
        return next(watch.excess for watch in self._watches if watch.task is task)

    @property
    def largest_excess(self) -> float:
        """How much nearer than it should be the worst pair of all is [m]; 0 for what a step may lose."""
        worst = max(watch.excess for watch in self._watches)
        return worst if worst > DEEPER else 0.0

    def forget(self) -> None:
        """Forget all looks, so that the same postures are measured the same to the last bit."""
        for watch in self._watches:
            watch.collisions.forget()

    def hand_over(self, contacts: Contacts) -> None:
        """Write the witnesses that have least room, in the order of their pairs: what stays near keeps its place."""
        room = self._joined("room")
        chosen: slice | IntArray = slice(0, room.size)
        if room.size > self.most:
            chosen = np.sort(np.argsort(room, kind="stable")[: self.most])
        count = min(room.size, self.most)
        contacts.used[0] = count
        contacts.distance[:count] = np.where((room > -TOUCHING) & (room < 0.0), 0.0, room)[chosen]
        for field in ("node_a", "node_b", "point_a", "point_b", "normal"):
            getattr(contacts, field)[:count] = self._joined(field)[chosen]
        self._pairs[:count] = self._joined("pair")[chosen]

    def _joined(self, field: str) -> FloatArray:
        """One array of the witnesses of all tasks."""
        columns = [watch.column(field) for watch in self._watches]
        return columns[0] if len(columns) == 1 else np.concatenate(columns)

    def name(self, c: int) -> str:
        """What contact `c` of those handed over last is between."""
        pairs = [pair for watch in self._watches for pair in watch.collisions.pairs]
        return "contact of {} with {}".format(*pairs[self._pairs[c]])

    def move(self, obstacle: Obstacle | Plane, pose: Pose) -> None:
        """Put an obstacle somewhere else."""
        moved = [watch.move(obstacle, pose) for watch in self._watches]
        if not any(moved):
            raise TaskError(f"{obstacle!r} is not one of the obstacles.")


class Watch:
    """One `Avoid` task: distances in the last two looks."""

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
        self.most = self.collisions.rows.distance.size
        self.room = np.empty(0)
        """(count,) distance of every witness less what it should be [m]."""
        self._allowed = self._allowed_distances(figure)
        self._worst, self._worst_before = (np.full(len(self._allowed), np.inf) for _ in range(2))
        self._ends, self._ends_before = np.empty(0), np.empty(0)

    def _allowed_distances(self, figure: Figure) -> FloatArray:
        """(pairs,) the margin, or for bodies of the figure what its neutral posture has, where that is less."""
        collisions = self.collisions
        allowed = np.full(len(collisions.pairs), self.task.margin)
        count = collisions.nearest(*node_frames(figure, figure.neutral()))
        collisions.forget()
        own = collisions.rows.node_b[:count] > 0
        np.minimum.at(allowed, collisions.rows.pair[:count][own], collisions.rows.distance[:count][own])
        return allowed

    def look(self, position: FloatArray, rotation: FloatArray) -> None:
        """Measure distances for node frames (n, 3), (n, 4)."""
        rows, placed = self.collisions.rows, self.collisions.compiled_pairs.placed
        count = self.collisions.nearest(position, rotation)
        pair = rows.pair[:count]
        self.room = rows.distance[:count] - self._allowed[pair]
        self._worst, self._worst_before = self._worst_before, self._worst
        self._worst.fill(np.inf)
        np.minimum.at(self._worst, pair, self.room)
        self._ends_before, self._ends = self._ends, np.stack((placed.start, placed.end))

    def look_back(self) -> None:
        """Take the look before for the last one."""
        self._worst, self._worst_before = self._worst_before, self._worst
        self._ends = self._ends_before

    def got_deeper(self) -> bool:
        """Whether some pair lacks more room than a step may take, and more than it lacked."""
        return bool((self._worst < np.minimum(self._worst_before, -DEEPER) - ROUNDING).any())

    def overreach(self) -> float:
        """Largest approach of two solids, as a share of the distance they surely had or would have been seen at.

        Planes are left out: nobody gets through to their other side.
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
    def excess(self) -> float:
        """How much nearer than it should be the worst pair is [m]."""
        return max(0.0, -float(self.room.min(initial=0.0)))

    def column(self, field: str) -> FloatArray:
        """One array of the witnesses of the last look; pairs are counted through all tasks."""
        if field == "room":
            return self.room
        column: FloatArray = getattr(self.collisions.rows, field)[: self.room.size]
        return column + self._first_pair if field == "pair" else column

    def move(self, obstacle: Obstacle | Plane, pose: Pose) -> bool:
        """Put an obstacle somewhere else; False when it is not one of this task's."""
        for number, other in enumerate(self.task.obstacles):
            if other is obstacle:
                self.collisions.move(number, obstacle.moved(pose))
                return True
        return False
