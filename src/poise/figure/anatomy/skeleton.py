"""The moving segments of a figure with their joints, as the search for roles needs them.

Bodies that are joined rigidly are one *segment*, named after the body that its joint moves. A segment at the end of a
chain has a *tip*: the site or shape that is farthest from its joint. So a forearm without a wrist still has an end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from poise.figure.anatomy.words import Evidence, strongest
from poise.figure.model.pose import FloatArray, Frames, Pose
from poise.figure.model.shapes import Shape, extreme_points

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure
    from poise.figure.model.joints import Joint

SHORTEST_TIP = 1e-3
"""Least distance of a tip from its joint, as a share of the figure's size."""


@dataclass(frozen=True, eq=False)
class Segment:
    """A rigid part of a figure and the joint that moves it."""

    body: str
    """The body that the joint moves."""
    bodies: tuple[str, ...]
    """All its bodies."""
    sites: tuple[str, ...]
    """Sites on its bodies."""
    joint: Joint | None
    """The joint that moves it; None for a fixed root."""
    parent: int
    """Index of the segment it is joined to, -1 for a root."""
    places: FloatArray
    """(frames, 3) centre of its joint in the world."""
    axis: FloatArray | None
    """(3,) axis of its joint in the world, if the joint is a hinge."""
    evidence: Evidence
    """What the names of its body and of its joint say."""


class Skeleton:
    """The segments of a figure, parents before children."""

    def __init__(self, figure: Figure, frames: Frames, places: FloatArray | None = None) -> None:
        """Collect the segments.

        Args:
            figure: The figure.
            frames: Its frames in the neutral posture.
            places: (frames, bodies, 3) positions of its bodies over a clip; None to use `frames`.
        """
        self.figure, self.frames = figure, frames
        self._rows = {body.name: row for row, body in enumerate(figure.bodies)}
        self._moves = places
        home: dict[str, int] = {}
        groups: list[list[str]] = []
        joints: list[Joint | None] = []
        parents: list[int] = []
        for body, joint in figure.tree_order:
            above = -1 if joint is None or joint.parent is None else home[joint.parent]
            if joint is not None and joint.kind == "fixed" and above >= 0:
                home[body] = above
                groups[above].append(body)
                continue
            home[body] = len(groups)
            groups.append([body])
            joints.append(joint)
            parents.append(above)
        self.home = home
        """Index of the segment of each body."""
        self.segments = [
            self._segment(bodies, joint, parent) for bodies, joint, parent in zip(groups, joints, parents, strict=True)
        ]
        self.children: list[list[int]] = [[] for _ in self.segments]
        for i, segment in enumerate(self.segments):
            if segment.parent >= 0:
                self.children[segment.parent].append(i)
        self.looped = {i for loop in figure.loops for i in self._around(loop)}
        """Segments that are part of a loop; their joints do not make a limb by themselves."""
        self._means = np.array([segment.places.mean(axis=0) for segment in self.segments])
        self._bones: dict[tuple[int, int], float] = {}
        self._tips: dict[int, FloatArray | None] = {}
        self.size = max(float(np.ptp(self._means, axis=0).max()), 1e-9)
        """Greatest extent of the joints along an axis of the world."""

    def _around(self, loop: Joint) -> set[int]:
        """The segments of the tree that a loop joint closes to a loop."""
        ends = [set(self.path(self.home[body])) for body in (loop.parent, loop.child) if body is not None]
        return ends[0] ^ ends[1] if len(ends) == 2 else set()

    def _segment(self, bodies: list[str], joint: Joint | None, parent: int) -> Segment:
        body = bodies[0]
        sites = tuple(site.name for site in self.figure.sites if site.body in bodies)
        names = [body] if joint is None else [body, joint.name]
        return Segment(
            body,
            tuple(bodies),
            sites,
            joint,
            parent,
            self._joint_places(body, joint),
            self._axis(body, joint),
            strongest(names if parent >= 0 else bodies),
        )

    def _joint_places(self, body: str, joint: Joint | None) -> FloatArray:
        """(frames, 3) centre of the joint that moves a body, or the body's origin for a root."""
        row = self._rows[body]
        if self._moves is not None:
            return self._moves[:, row]
        pose = self.pose_of(body)
        if joint is None or joint.kind == "free":
            return np.array(pose.position)[None]
        return np.array(pose.apply(joint.child_frame.position))[None]

    def _axis(self, body: str, joint: Joint | None) -> FloatArray | None:
        if joint is None or joint.kind != "revolute" or self._moves is not None:
            return None
        turned = self.pose_of(body).matrix[:3, :3] @ joint.child_frame.matrix[:3, :3]
        axis: FloatArray = turned @ np.asarray(joint.axes[0])
        return axis

    def pose_of(self, body: str) -> Pose:
        """World frame of a body in the neutral posture; by row, since a site may have the name of its body."""
        row = self._rows[body]
        return Pose(self.frames.position[row], self.frames.rotation[row])

    def path(self, end: int) -> list[int]:
        """Indices of the segments from the root to `end`."""
        out = [end]
        while self.segments[out[-1]].parent >= 0:
            out.append(self.segments[out[-1]].parent)
        return out[::-1]

    def below(self, top: int) -> set[int]:
        """Indices of a segment and of all its descendants."""
        found, waiting = set(), [top]
        while waiting:
            i = waiting.pop()
            found.add(i)
            waiting += self.children[i]
        return found

    def common(self, one: int, other: int) -> int:
        """Index of the nearest common ancestor of two segments; -1 if there is none."""
        shared = [a for a, b in zip(self.path(one), self.path(other), strict=False) if a == b]
        return shared[-1] if shared else -1

    def place(self, i: int) -> FloatArray:
        """(3,) mean centre of a segment's joint."""
        mean: FloatArray = self._means[i]
        return mean

    def height(self, place: FloatArray) -> float:
        """Height of a place above the lowest joint, as a share of the distance from there to the highest joint."""
        heights = self._means @ self.figure.up_vector
        low, high = float(heights.min()), float(heights.max())
        return (float(place @ self.figure.up_vector) - low) / max(high - low, 1e-9)

    def bone(self, start: int, end: int) -> float:
        """Median distance between the joints of two segments."""
        if (start, end) not in self._bones:
            ways = self.segments[end].places - self.segments[start].places
            self._bones[start, end] = float(np.median(np.linalg.norm(ways, axis=1)))
        return self._bones[start, end]

    def is_at_parent(self, i: int) -> bool:
        """Whether a joint that is no hinge is at the place of the joint before it."""
        segment = self.segments[i]
        return segment.axis is None and segment.parent >= 0 and self.bone(segment.parent, i) < SHORTEST_TIP * self.size

    def tip(self, i: int) -> FloatArray | None:
        """(3,) end of a segment in the neutral posture: its farthest site or shape, else its mirrored centre of mass.

        None for a segment of which nothing is known, and for clips, whose bodies are points.
        """
        if i not in self._tips:
            self._tips[i] = None if self._moves is not None else self._find_tip(i)
        return self._tips[i]

    def _find_tip(self, i: int) -> FloatArray | None:
        start = self.segments[i].places[0]
        points = self._points(i, start)
        if not len(points):
            return None
        way = points.mean(axis=0) - start
        length = float(np.linalg.norm(way))
        if length < SHORTEST_TIP * self.size:
            return None
        ahead = way / length
        shapes = [self._farthest(body, ahead, start) for body in self.segments[i].bodies]
        reach = max([float(np.max((points - start) @ ahead)), *shapes])
        tip: FloatArray = start + reach * ahead
        return tip

    def _points(self, i: int, start: FloatArray) -> FloatArray:
        """(k, 3) centres of the shapes of a segment; without shapes, its mirror image in its centre of mass."""
        segment, out = self.segments[i], []
        for body in segment.bodies:
            pose = self.pose_of(body)
            out += [pose.apply(shape.pose.position) for shape in self._solids(body)]
        if not out:
            masses = [(self.pose_of(b), self.figure.bodies[b].mass) for b in segment.bodies]
            out = [2.0 * pose.apply(mass.center) - start for pose, mass in masses if mass.mass > 0.0]
        return np.array(out, dtype=np.float64).reshape(-1, 3)

    def _solids(self, body: str) -> list[Shape]:
        return [s for s in self.figure.bodies[body].shapes if len(extreme_points(s, np.array([0.0, 0.0, 1.0])))]

    def _farthest(self, body: str, ahead: FloatArray, start: FloatArray) -> float:
        """Greatest distance of a body's shapes from `start` along the unit vector `ahead`."""
        pose, out = self.pose_of(body), 0.0
        for shape in self.figure.bodies[body].shapes:
            world_from_shape = pose @ shape.pose
            for point in extreme_points(shape, world_from_shape.matrix[:3, :3].T @ ahead):
                out = max(out, float((world_from_shape.apply(point) - start) @ ahead))
        return out
