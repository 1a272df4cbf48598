"""Steps between two keys: which foot swings when, along which path, and where the centre of mass is meanwhile.

A foot that stands in both keys at the same place stays there. One that stands at different places makes a step: it
rolls over the edge of its sole that is in front, swings, and lands. Feet step one after the other, the rear one first,
and in several steps where the way is long. The weight is on the standing foot before the other one leaves the ground:
the centre of mass moves over it, from where it is in the first key, and at last to where it is in the second.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from poise.engine.standing import is_on
from poise.figure.collision.soles import ground_height, sole_corners
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray, Pose
from poise.figure.model.posture import Posture
from poise.figure.model.shapes import Box
from poise.kernels.maths.nearest_point import convex_hull, nearest_on_hull
from poise.motion.keys.curves import NUMBERS, Curve, rotated, rotation_way
from poise.tasks.obstacles import Obstacle, Plane

TOUCHES = 0.005
"""Height of a sole above the ground up to which it stands [m]."""
SAME_PLACE = 1e-6
"""Change of a foot's pose below which it takes no step [m or rad]."""
LONGEST_STRIDE = 0.3
"""Longest way of a foot in one step, as a share of the figure's height."""
SHIFT, LONGEST_SWING, SETTLE = 0.6, 1.0, 0.6
"""Durations of the first shift of weight, of a swing, and of the last shift, relative to each other."""
BETWEEN = 0.5
"""Duration of the shift of weight between two swings, relative to a swing."""
ROLL_SHARE = 0.95
"""Largest share of a shift of weight during which the foot that swings next rolls."""
ROLL_SAMPLES = 24
"""Number of times at which it is checked whether the heel may leave the ground."""
SAFE = 0.005
"""Distance that the centre of mass keeps from the edge of what carries it when a heel leaves the ground [m]."""
ROLL_PER_WAY, LARGEST_ROLL = math.radians(70.0), math.radians(35.0)
"""Angle by which a foot rolls for each metre that it is behind the other feet [rad/m], and at most [rad]."""
PEAK_OF_ROLL, END_OF_ROLL = 0.15, 0.6
"""Share of a swing after which a foot has rolled farthest, and share in which it rolls back from there."""
FACES_THE_WAY = 0.5
"""Cosine of the angle between the way of a foot and the direction in which it rolls, below which it does not roll."""
FOOT_CLEARANCE, FOOT_CLEARANCE_PER_STRIDE = 0.03, 0.06
"""Height of a swinging foot [m], and what a stride of 1 m adds [m/m]."""
AHEAD = 0.35
"""Displacement of the centre of mass along the sole in a swing, each way from the middle, as a share of the length."""


@dataclass(frozen=True, eq=False)
class Foot:
    """A foot with a task for its pose in the world, and its sole."""

    figure: Figure
    site: str
    before: Pose
    """Its pose in the first key."""
    after: Pose
    """Its pose in the second key."""

    @property
    def sole(self) -> FloatArray:
        """(k, 3) corners of its sole in the frame of its site [m]."""
        return np.array(sole_corners(self.figure, self.site))

    @property
    def moves(self) -> bool:
        """Whether it is at different places in the two keys."""
        way = float(np.linalg.norm(self.after.position - self.before.position))
        return (
            way > SAME_PLACE
            or float(np.linalg.norm(rotation_way(self.before.rotation, self.after.rotation))) > SAME_PLACE
        )

    def between(self, share: float) -> Pose:
        """A place to stand between the two."""
        if share >= 1.0:
            return self.after
        way = rotation_way(self.before.rotation, self.after.rotation)
        place = self.before.position + share * (self.after.position - self.before.position)
        return Pose(place, rotated(self.before.rotation, share * way))

    def stands(self, pose: Pose, obstacles: Sequence[Obstacle | Plane]) -> bool:
        """Whether its sole is on the ground or on a box in a pose."""
        up, corners = self.figure.up_vector, np.array([pose.apply(corner) for corner in self.sole])
        if float((corners @ up).min()) <= ground_height(self.figure) + TOUCHES:
            return True
        boxes = [each for each in obstacles if isinstance(each, Obstacle) and isinstance(each.shape, Box)]
        return any(is_on(box, corners, up) for box in boxes)


@dataclass(frozen=True, eq=False)
class Swing:
    """One step of a foot, from one standing place to the next."""

    foot: Foot
    start: Pose
    end: Pose
    behind: float
    """How far it is behind the other feet when it leaves the ground [m]."""
    roll: float
    """Time at which its heel leaves the ground [s]."""
    lift: float
    """Time at which it leaves the ground [s]."""
    land: float
    """Time at which it stands again [s]."""

    def at(self, time: float) -> Pose:
        """The pose of the foot at a time from `roll` to `land` [s]."""
        up = self.foot.figure.up_vector
        way, stride = self.end.position - self.start.position, float(np.linalg.norm(self._along))
        s = min(max((time - self.lift) / (self.land - self.lift), 0.0), 1.0)
        eased = s * s * s * (10.0 + s * (6.0 * s - 15.0))
        turned = rotated(self.start.rotation, eased * rotation_way(self.start.rotation, self.end.rotation))
        edge, axis, _ = self._roller
        turned = rotated(turned, self.rolled(time) * axis)
        pivot = (1.0 - eased) * self.start.apply(edge) + eased * self.end.apply(edge)
        height = FOOT_CLEARANCE + FOOT_CLEARANCE_PER_STRIDE * stride + max(0.0, 0.5 * abs(float(way @ up)))
        pivot = pivot + (16.0 * height * (s * (1.0 - s)) ** 2) * up
        return Pose(pivot - Pose(rotation=turned).apply(edge), turned)

    @property
    def _along(self) -> FloatArray:
        """(3,) the way of the foot along the ground [m]."""
        up, way = self.foot.figure.up_vector, self.end.position - self.start.position
        along: FloatArray = way - (way @ up) * up
        return along

    @cached_property
    def _roller(self) -> tuple[FloatArray, FloatArray, float]:
        """The point (3,) and the axis (3,) about which the foot rolls, in the frame of its site, and a cosine.

        Feet with toes roll over them. Others roll over the edge of their sole that faces the way. The cosine is that of
        the angle between the way and what is across the axis; a foot does not roll sideways.
        """
        to_site = Pose(rotation=self.start.rotation).inverse()
        up, size = to_site.apply(self.foot.figure.up_vector), float(np.linalg.norm(self._along))
        ahead = to_site.apply(self._along) / max(size, SAME_PLACE)
        toes = _toes(self.foot.figure, self.foot.site)
        edges = [(place, axis) for _, axis, place in toes] if toes else _edges(self.foot.sole, up)
        found = []
        for place, axis in edges:
            across = np.cross(axis, up) / max(float(np.linalg.norm(np.cross(axis, up))), SAME_PLACE)
            side = np.sign(float(across @ (place - self.foot.sole.mean(axis=0))))
            found.append((place, side * axis, side * float(across @ ahead)))
        return max(found, key=lambda each: each[2])

    @property
    def pivot(self) -> FloatArray:
        """(3,) the point about which the foot rolls, in the frame of its site [m]."""
        return self._roller[0]

    @property
    def local_axis(self) -> FloatArray:
        """(3,) the axis about which the foot rolls, in the frame of its site."""
        return self._roller[1]

    def rolled(self, time: float) -> float:
        """The angle by which the foot is rolled over its front edge at a time [rad]."""
        if self._roller[2] < FACES_THE_WAY:
            return 0.0
        angle = min(ROLL_PER_WAY * max(self.behind, 0.2 * float(np.linalg.norm(self._along))), LARGEST_ROLL)
        swing = self.land - self.lift
        peak = self.lift + PEAK_OF_ROLL * swing
        if time < peak:
            return angle * _smooth((time - self.roll) / (peak - self.roll))
        return angle * (1.0 - _smooth((time - peak) / (END_OF_ROLL * swing)))


def _smooth(s: float) -> float:
    s = min(max(s, 0.0), 1.0)
    return s * s * (3.0 - 2.0 * s)


@dataclass(frozen=True, eq=False)
class Footsteps:
    """The steps between two keys."""

    swings: tuple[Swing, ...]
    center: Curve | None
    """The path of the centre of mass; its height does not count."""

    def pose_at(self, foot: Foot, time: float) -> Pose:
        """Where a foot is at a time [s]."""
        own = [swing for swing in self.swings if swing.foot is foot]
        for swing in own:
            if time < swing.roll:
                return swing.start
            if time < swing.land:
                return swing.at(time)
        return own[-1].end if own else foot.after

    def bends_toes(self, time: float) -> dict[str, float]:
        """By how much the toes of rolling feet bend to stay level at a time, by joint [rad]."""
        found: dict[str, float] = {}
        for swing in self.swings:
            if swing.roll < time < swing.land:
                figure, angle = swing.foot.figure, swing.rolled(time)
                for joint, axis, _ in _toes(figure, swing.foot.site):
                    found[joint] = -angle * float(axis @ swing.local_axis)
        return found


def _edges(corners: FloatArray, up: FloatArray) -> list[tuple[FloatArray, FloatArray]]:
    """Middles (3,) and directions (3,) of the edges of a sole with corners (k, 3)."""
    across = np.cross(up, np.eye(3)[int(np.argmin(np.abs(up)))])
    across /= np.linalg.norm(across)
    flat = np.ascontiguousarray(np.stack([corners @ across, corners @ np.cross(up, across)], axis=1))
    order = np.zeros(len(flat), dtype=np.int64)
    hull = corners[order[: convex_hull(flat, 0, len(flat), order)]]
    ways = [(0.5 * (a + b), b - a) for a, b in zip(hull, np.roll(hull, -1, axis=0), strict=True)]
    return [(middle, way / np.linalg.norm(way)) for middle, way in ways if np.linalg.norm(way) > SAME_PLACE]


@lru_cache(maxsize=64)
def _toes(figure: Figure, site: str) -> list[tuple[str, FloatArray, FloatArray]]:
    """The hinges that join toes to a foot, with their axes (3,) and places (3,) in the frame of the foot's site."""
    body = figure.body_of(site)
    neutral, row = figure.neutral(), figure.bodies.index(body)
    found = []
    for joint in figure.joints:
        if joint.kind == "revolute" and joint.parent == body:
            v = np.zeros(figure.nv)
            v[figure.v_slice(joint.name)] = 1.0
            child = figure.bodies.index(joint.child)
            before, after = (
                figure.frames(each).rotation[child] for each in (neutral, figure.integrate(neutral, 1e-4 * v))
            )
            turn = Pose(rotation=before).apply(rotation_way(before, after)) / 1e-4
            site_from_world = figure.pose_of(site, neutral).inverse()
            world_from_foot = Pose(figure.frames(neutral).position[row], figure.frames(neutral).rotation[row])
            hinge = world_from_foot.apply(joint.parent_frame.position)
            found.append((joint.name, site_from_world.matrix[:3, :3] @ turn, site_from_world.apply(hinge)))
    return found


def footsteps(feet: Sequence[Foot], start: float, end: float, keys: tuple[Posture, Posture]) -> Footsteps | None:
    """The steps of feet that stand in both keys, between their times [s]; None if no foot moves."""
    moving = [foot for foot in feet if foot.moves]
    if not moving or len(feet) < 2:
        return None
    plan = _order(moving)
    spans, clock = [], SHIFT
    for k in range(len(plan)):
        spans.append((clock - ROLL_SHARE * (SHIFT if k == 0 else BETWEEN), clock, clock + LONGEST_SWING))
        clock += LONGEST_SWING + (BETWEEN if k < len(plan) - 1 else SETTLE)
    scale = (end - start) / clock
    at: dict[Foot, Pose] = {foot: foot.before for foot in feet}
    swings: list[tuple[Swing, list[tuple[Foot, Pose]]]] = []
    times, places = [start], [keys[0].figure.center_of_mass(keys[0])]
    for (foot, goal), span in zip(plan, spans, strict=True):
        swing = Swing(foot, at[foot], goal, _behind(at, foot, goal), *(start + scale * moment for moment in span))
        times += [swing.lift, swing.land]
        places += [_over(at, swing, side) for side in (-AHEAD, AHEAD)]
        swings.append((swing, [(other, pose) for other, pose in at.items() if other is not foot]))
        at[foot] = goal
    times.append(end)
    places.append(keys[1].figure.center_of_mass(keys[1]))
    center = Curve(NUMBERS, times, places, ["smooth"] * len(times))
    return Footsteps(tuple(replace(swing, roll=_roll_time(swing, stand, center)) for swing, stand in swings), center)


def _roll_time(swing: Swing, standing: Sequence[tuple[Foot, Pose]], center: Curve) -> float:
    """The time from which on the heel is not needed to carry the figure [s]."""
    foot, pivot = swing.foot, swing.start.apply(swing.pivot)
    across = Pose(rotation=swing.start.rotation).apply(swing.local_axis)
    half = 0.5 * float(np.ptp(foot.sole @ swing.local_axis))
    points = [pose.apply(corner) for other, pose in standing for corner in other.sole]
    points += [pivot - half * across, pivot + half * across]
    level = [axis for axis in range(3) if abs(foot.figure.up_vector[axis]) < 0.5]
    flat = np.ascontiguousarray(np.array(points)[:, level])
    order = np.zeros(len(flat), dtype=np.int64)
    count, found = convex_hull(flat, 0, len(flat), order), swing.lift
    for time in np.linspace(swing.lift, swing.roll, ROLL_SAMPLES).tolist():
        x, y = center.at(time)[level].tolist()
        if nearest_on_hull(flat, order, 0, count, x, y).distance > -SAFE:
            break
        found = time
    return found


def _order(moving: Sequence[Foot]) -> list[tuple[Foot, Pose]]:
    """Which foot steps where, one after the other; the rear one begins."""
    if len(moving) == 1:
        return [(moving[0], moving[0].after)]
    ways = [foot.after.position - foot.before.position for foot in moving]
    way = np.mean(ways, axis=0)
    feet = sorted(moving, key=lambda foot: float(foot.before.position @ way))
    longest = max(float(np.linalg.norm(each)) for each in ways)
    rounds = 1
    while rounds < 100 and longest * _stride_share(rounds, len(feet)) > LONGEST_STRIDE * _height(feet[0].figure):
        rounds += 1
    count = rounds * len(feet)
    last = max(count - len(feet) + 1, 1)
    return [(feet[k % len(feet)], feet[k % len(feet)].between((k + 1) / last)) for k in range(count)]


def _stride_share(rounds: int, feet: int) -> float:
    """Longest way of a foot in one step, as a share of its whole way."""
    return 1.0 if rounds == 1 else feet / (rounds * feet - feet + 1)


def _height(figure: Figure) -> float:
    heights = figure.frames(figure.neutral()).position @ figure.up_vector
    return float(np.ptp(heights))


def _behind(at: dict[Foot, Pose], foot: Foot, goal: Pose) -> float:
    """How far a foot is behind the other feet, in the direction in which it steps [m]."""
    way = goal.position - at[foot].position
    size = float(np.linalg.norm(way))
    others = np.mean([pose.position for other, pose in at.items() if other is not foot], axis=0)
    return float((others - at[foot].position) @ way) / size if size > SAME_PLACE else 0.0


def _over(at: dict[Foot, Pose], swing: Swing, side: float) -> FloatArray:
    """(3,) a point over the feet that stand during a swing, ahead of their middle by a share of their length [m]."""
    up = swing.foot.figure.up_vector
    way = swing.end.position - swing.start.position
    way = way - (way @ up) * up
    size = float(np.linalg.norm(way))
    ahead = way / size if size > SAME_PLACE else np.zeros(3)
    middles = []
    for foot, pose in at.items():
        if foot is not swing.foot:
            corners = np.array([pose.apply(corner) for corner in foot.sole])
            middles.append(corners.mean(axis=0) + side * float(np.ptp(corners @ ahead)) * ahead)
    found: FloatArray = np.mean(middles, axis=0)
    return found
