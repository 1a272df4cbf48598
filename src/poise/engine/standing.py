"""Which supports of a `CenterOfMass` task carry weight: those that stand on something solid.

A foot that a task asks to be in the air is no support, from the moment it is asked: the weight goes over the other foot
first, as people do it. So whether a foot is a support depends on the targets alone and not on the posture, and the
tasks keep their priorities. The ground is where the lowest sole is asked to be; boxes among the obstacles are ground as
well. A support that no task places counts as standing.

Knees, hands, a seat: a support that a `Touch` task asks to touch something carries weight from the moment it does, if
what it touches faces up. Its corners are then the points of the contact, which are found again in every posture.

Leaning: a wall pushes a hand that is h above the soles with a force N along its normal n, which the friction of the
soles holds: N ≤ μ m g. The moment h N carries the weight at the distance h N / (m g) from where the soles press, nearer
to the wall. So the support polygon also contains the corners of the soles moved by -μ h n.

For the kernels, the corners of a lifted sole coincide with a corner that stands, and so do not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from poise.engine.engine_arrays import TaskRows
from poise.figure.collision.collisions import node_frames
from poise.figure.collision.soles import LIFTED, SupportPolygon, sole_corners
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray, to_matrix
from poise.figure.model.posture import Posture
from poise.figure.model.shapes import Box
from poise.forces.loads import DEFAULT_FRICTION
from poise.kernels.goals.goals import POINT_GOAL, STAND_GOAL, TURN_GOAL, Evaluation, Goals
from poise.kernels.goals.support_outline import support_outline
from poise.kernels.maths.vector import Vector
from poise.tasks.mass import CenterOfMass
from poise.tasks.obstacles import Obstacle, Plane
from poise.tasks.task import Goal, seat_of
from poise.tasks.touch import BoundTouch

TOUCHING = 1e-3
"""Distance up to which a support touches what it stands on [m]."""
FACING_UP = 0.7
"""Least vertical component of a contact's normal for the contact to carry weight."""
FACING_SIDEWAYS = 0.3
"""Largest vertical component of the normal of a wall to lean on."""


@dataclass(frozen=True, eq=False)
class _Sole:
    """The sole of one support of a stand goal."""

    name: str
    corners: slice
    """Its corners among those of all goals."""
    node: int
    place: FloatArray
    """(k, 3) its corners in its node [m]."""
    point: int | None
    """The goal that places its node, if there is one."""
    turn: int | None
    """The goal that turns its node, if there is one."""
    touch: BoundTouch | None
    """The task that brings it into contact, if there is one."""


class Standing:
    """The corners of all supports of a problem, up to date with its targets."""

    def __init__(
        self,
        figure: Figure,
        goals: Goals,
        task_rows: Sequence[TaskRows],
        obstacles: Iterable[Obstacle | Plane],
        touches: Iterable[BoundTouch] = (),
    ) -> None:
        """Find the soles of all `CenterOfMass` tasks among `task_rows`, and the goals that place them."""
        self._figure, self._goals, self._up = figure, goals, figure.up_vector
        self._touch_of = {touch.body: touch for touch in touches}
        self._boxes = [o for o in obstacles if isinstance(o, Obstacle) and isinstance(o.shape, Box)]
        stands = [t for t in task_rows if isinstance(t.task, CenterOfMass) and t.goals[0].kind == STAND_GOAL]
        goals_of = self._goals_by_node(task_rows) if stands else {}
        self._stands = [self._soles(t.task, t.first_goal, goals_of) for t in stands]  # type: ignore[arg-type]
        self.depends_on_posture = any(sole.touch is not None for soles in self._stands for sole in soles)
        """Whether some support stands only while it touches something."""
        placed = [sole for soles in self._stands for sole in soles if sole.point is not None and sole.touch is None]
        self._placed_by = {goal for sole in placed for goal in (sole.point, sole.turn)}
        """The goals on which it depends which soles stand."""
        self._points = [sole.point for sole in placed]
        self._begin()

    def begin_anew(self) -> None:
        """Begin as with a new problem, with the targets that the goals have now."""
        if self._is_updated:
            for soles in self._stands:
                for sole in soles:
                    self._goals.corner_node[sole.corners] = sole.node
                    self._goals.corner_place[sole.corners] = sole.place
        self._begin()

    def _begin(self) -> None:
        """Find out which soles stand, unless all do because their targets are at the same height."""
        self._is_updated = False
        heights = [float(self._goals.position[point] @ self._up) for point in self._points]
        if self.depends_on_posture or (heights and max(heights) - min(heights) > LIFTED):
            self.update()

    def _goals_by_node(self, task_rows: Sequence[TaskRows]) -> dict[tuple[int, int], int]:
        """The first goal of each kind that moves each node relative to the world, for points along the vertical too."""
        found: dict[tuple[int, int], int] = {}
        for t in task_rows:
            for k, goal in enumerate(t.goals):
                places = goal.kind == TURN_GOAL or (goal.kind == POINT_GOAL and self._counts_height(goal))
                if places and goal.base.node == 0:
                    found.setdefault((goal.seat.node, goal.kind), t.first_goal + k)
        return found

    def _counts_height(self, goal: Goal) -> bool:
        """Whether the height of a point goal counts."""
        along = (goal.directions * (goal.weights > 0.0)[:, None]) @ self._up
        return float(along @ along) > 1.0 - 1e-6

    def _soles(self, task: CenterOfMass, stand: int, goals_of: dict[tuple[int, int], int]) -> list[_Sole]:
        """The soles of the supports of a task, whose stand goal has this index."""
        goals, first, found = self._goals, int(self._goals.corner_start[stand]), []
        for name in task.supports:
            corners = slice(first, first + len(sole_corners(self._figure, name)))
            node = int(goals.corner_node[first])
            point, turn = goals_of.get((node, POINT_GOAL)), goals_of.get((node, TURN_GOAL))
            touch = self._touch_of.get(self._figure.body_of(name))
            found.append(_Sole(name, corners, node, goals.corner_place[corners].copy(), point, turn, touch))
            first = corners.stop
        return found

    def follow(self, changed: Iterable[int]) -> None:
        """Update what stands after targets of these goals have changed, if it depends on one of them."""
        if not self._placed_by.isdisjoint(changed):
            self.update()

    def update(self, posture: Posture | None = None) -> None:
        """Find out which soles stand, from the targets and contacts, and write their corners for the kernels.

        Contacts are those in a posture; without one, nothing that should touch something does so yet.
        """
        goals, self._is_updated = self._goals, True
        for soles in self._stands:
            placed = [sole for sole in soles if sole.point is not None and sole.touch is None]
            heights = {sole.name: self._asked_height(sole) for sole in placed}
            ground = min(heights.values(), default=0.0) + LIFTED
            high = [sole for sole in soles if heights.get(sole.name, ground) > ground]
            lifted = [sole for sole in high if not any(self._is_on(box, sole) for box in self._boxes)]
            places = {sole.name: self._contact_corners(sole, posture) for sole in soles if sole.touch is not None}
            lifted += [sole for sole in soles if sole.touch is not None and places[sole.name] is None]
            standing = next((sole for sole in soles if sole not in lifted), None)
            if standing is None:
                standing, lifted = soles[0], []
            first = places.get(standing.name)
            corner = standing.place[0] if first is None else first[0]
            for sole in soles:
                own = places.get(sole.name)
                goals.corner_node[sole.corners] = standing.node if sole in lifted else sole.node
                goals.corner_place[sole.corners] = corner if sole in lifted else sole.place if own is None else own
            if posture is not None:
                standing_soles = [sole for sole in soles if sole not in lifted and places.get(sole.name) is None]
                for sole in lifted:
                    self._lean(sole, standing_soles, posture)

    def _lean(self, sole: _Sole, standing: Sequence[_Sole], posture: Posture) -> None:
        """If a sole touches a wall, move its corners to where leaning on it can carry the weight."""
        contact = None if sole.touch is None or sole.touch.obstacle is None else sole.touch.contact(posture)
        if contact is None or not standing or contact.distance > TOUCHING:
            return
        if abs(float(contact.normal @ self._up)) > FACING_SIDEWAYS:
            return
        position, rotation = node_frames(self._figure, posture)
        corners = [(each.node, place) for each in standing for place in each.place]
        world = np.array([position[node] + to_matrix(rotation[node]) @ place for node, place in corners])
        level = contact.normal - (contact.normal @ self._up) * self._up
        height = max(0.0, float(contact.point @ self._up - (world @ self._up).max()))
        way = -DEFAULT_FRICTION * height / float(np.linalg.norm(level)) * level
        nearest_wall = np.argsort(world @ -way)
        for slot, k in zip(
            range(sole.corners.start, sole.corners.stop), np.resize(nearest_wall, len(sole.place)), strict=True
        ):
            node, place = corners[k]
            self._goals.corner_node[slot] = node
            self._goals.corner_place[slot] = place + to_matrix(rotation[node]).T @ way

    def _contact_corners(self, sole: _Sole, posture: Posture | None) -> FloatArray | None:
        """(k, 3) points of a contact in the node of its sole, as many as it has corners [m]; None without contact."""
        assert sole.touch is not None
        contact = None if posture is None else sole.touch.contact(posture)
        if contact is None or contact.distance > TOUCHING or contact.normal @ self._up < FACING_UP:
            return None
        found: FloatArray = contact.place[np.arange(len(sole.place)) % len(contact.place)]
        return found

    def polygon(self, rows: TaskRows, current: Evaluation) -> SupportPolygon:
        """The support polygon of a task as the kernels see it, in the posture that has been evaluated."""
        goals, g = self._goals, rows.first_goal
        corners = slice(int(goals.corner_start[g]), int(goals.corner_start[g + 1]))
        node, place, center = goals.corner_node[corners], goals.corner_place[corners], current.centers[0].tolist()
        up = "xyz".index(self._figure.up)
        return SupportPolygon(*support_outline(current.position, current.rotation, Vector(*center), node, place, up))

    def _asked_height(self, sole: _Sole) -> float:
        """Height of the lowest corner of a sole where its tasks ask it to be [m]."""
        return float(self._goals.position[sole.point] @ self._up + (self._arms(sole) @ self._up).min())

    def _arms(self, sole: _Sole) -> FloatArray:
        """(k, 3) vectors, where its tasks ask the sole to be, from the point that they place to each corner [m]."""
        goals = self._goals
        if sole.turn is None:
            seat, neutral = seat_of(self._figure, sole.name), self._figure.neutral()
            turned = self._figure.pose_of(sole.name, neutral).matrix @ seat.pose.matrix.T
        else:
            turned = to_matrix(goals.rotation[sole.turn]) @ to_matrix(goals.turn[sole.turn]).T
        arms: FloatArray = (sole.place - goals.place[sole.point]) @ turned.T
        return arms

    def _is_on(self, obstacle: Obstacle, sole: _Sole) -> bool:
        """Whether a sole is asked to be on a box."""
        return is_on(obstacle, self._goals.position[sole.point] + self._arms(sole), self._up)


def is_on(obstacle: Obstacle, corners: FloatArray, up: FloatArray) -> bool:
    """Whether some of the corners (k, 3) of a sole lie on a box."""
    pose = obstacle.pose @ obstacle.shape.pose
    local = np.array([pose.inverse().apply(corner) for corner in corners])
    upwards = pose.matrix.T @ up
    axis = int(np.argmax(np.abs(upwards)))
    half = 0.5 * np.asarray(obstacle.shape.size)  # type: ignore[attr-defined]
    beside = [k for k in range(3) if k != axis]
    above = local[:, axis] * np.sign(upwards[axis]) - half[axis]
    return bool(np.any((np.abs(above) <= LIFTED) & np.all(np.abs(local[:, beside]) <= half[beside], axis=1)))
