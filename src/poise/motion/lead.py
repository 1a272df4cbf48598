"""The tasks of a retargeting, and their targets for every frame, in the world of the figure."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from poise.figure.figure import Figure
from poise.figure.pose import FloatArray
from poise.figure.posture import Posture
from poise.motion.feet import SOFT
from poise.motion.mapping import FEET, JointMap
from poise.motion.motion import Track
from poise.motion.plan import Plan
from poise.tasks.mass import CenterOfMass
from poise.tasks.place import Orientation, Position
from poise.tasks.task import Task

TURN = 0.3
"""Weight of how the pelvis is turned, against metres."""
AIR, TURN_AIR = 2.0, 0.1
"""Weights of a foot's place and direction high in the air."""
GROUND = 1000.0
"""By how much they grow down to the ground."""


class Lead(NamedTuple):
    """A task and its targets over time."""

    task: Task
    values: FloatArray
    """(frames, 3) or (frames, 4)"""
    weights: FloatArray | None = None
    """(frames,) weight of the task, where that changes."""


class Leads:
    """Tasks that lead a figure through a plan.

    A foot that stands is led on the first level. In the air it is one wish among others, the stronger the nearer it
    comes to the ground, so that it lands where it will stand and nothing jerks when its level changes.
    """

    def __init__(self, figure: Figure, mapping: JointMap, plan: Plan, center: FloatArray | None) -> None:
        """Lay out all targets.

        Args:
            figure: Who performs.
            mapping: Who leads.
            plan: Where to.
            center: (frames, 3) where the centre of mass goes, if that matters.
        """
        self.figure = figure
        self.points: dict[str, tuple[str, FloatArray]] = {}
        self.targets: dict[str, FloatArray] = {}
        self.locks: dict[str, FloatArray] = {}
        self._plan, self._level = plan, 2 if center is None else 3
        self._always: list[Lead] = []
        if center is not None:
            axes = plan.build.axes[[0, 2]]
            self._always.append(Lead(CenterOfMass(at=center[0], axes=axes, priority=2, name="balance"), center))
        self._lead_points(mapping)
        self._lead_trunk(mapping)
        self._planted = {side: self._lead_foot(side, stands=True) for side in plan.feet}
        self._loose = {side: self._lead_foot(side, stands=False) for side in plan.feet}

    def track(self, mapping: JointMap, center: FloatArray | None) -> Track:
        """What is asked, to keep with the motion."""
        build = self._plan.build
        feet = build.feet.values()
        soles = {foot.site: np.array([foot.sole.apply(foot.ball), foot.sole.apply(foot.heel)]) for foot in feet}
        contacts = self._plan.contacts
        return Track(mapping, contacts, self.points, self.targets, self.locks, soles, build.ground, center)

    def standing(self, frame: int) -> tuple[bool, ...]:
        """Which feet stand in a frame."""
        return tuple(bool(self._plan.contacts.standing(side)[frame]) for side in self._plan.feet)

    def chosen(self, standing: tuple[bool, ...]) -> list[Lead]:
        """What leads while some feet stand."""
        feet = zip(self._plan.feet, standing, strict=True)
        return [lead for side, on in feet for lead in (self._planted if on else self._loose)[side]] + self._always

    def start(self) -> Posture:
        """The neutral posture, moved to where the motion begins."""
        neutral = self.figure.neutral()
        base = next((joint for joint in self.figure.joints if joint.kind == "free"), None)
        if base is None or self._plan.trunk is None or not self.targets:
            return neutral
        q = np.array(neutral.q)
        where = self.figure.q_slice(base.name)
        axes = self._plan.build.axes
        turn = Rotation.from_matrix(axes.T @ self._plan.trunk[0].as_matrix() @ axes)
        place = next(iter(self.targets.values()))[0]
        old = Rotation.from_quat(np.roll(q[where][3:], -1))
        name, offset = next(iter(self.points.values()))
        arm = self.figure.pose_of(name, neutral).apply(offset) - q[where][:3]
        q[where] = [*(place - turn.apply(arm)), *np.roll((turn * old).as_quat(), 1)]
        return self.figure.posture(q)

    def _lead_foot(self, side: str, *, stands: bool) -> list[Lead]:
        """The sole as planned, and toes that stay above the ground."""
        plan, build = self._plan, self._plan.build
        foot, path = build.feet[side], plan.feet[side]
        turn = path.turn
        sole_from_site = foot.sole.inverse()
        rotation = turn * _rotation(sole_from_site.rotation)
        place = build.world(path.place + turn.apply(np.array(sole_from_site.position)))
        world = _wxyz(Rotation.from_matrix(build.axes.T) * rotation)
        ends = [build.world(path.place + turn.apply(point)) for point in (foot.ball, foot.heel)]
        self.locks[foot.site] = np.stack(ends, axis=1)
        level = 1 if stands else self._level
        near = None if stands else path.near
        put = AIR * GROUND**near if near is not None else None
        turned = TURN_AIR * GROUND**near if near is not None else None
        leads = [
            Lead(Position(foot.site, place[0], priority=level), place, put),
            Lead(Orientation(foot.site, world[0], priority=level), world, turned),
        ]
        if foot.tip:
            target = self._toes(side, turn)
            leads.append(Lead(Position(foot.tip, target[0], axes=build.axes[[1]], priority=level), target, turned))
        return leads

    def _toes(self, side: str, turn: Rotation) -> FloatArray:
        """(frames, 3) where the tips of toes go: with the foot, but not into the ground."""
        plan, build = self._plan, self._plan.build
        foot, path = build.feet[side], plan.feet[side]
        frames = self.figure.frames(self.figure.neutral())
        sole = frames[foot.site] @ foot.sole
        tip = path.place + turn.apply(np.array(sole.inverse().apply(frames[foot.tip].position)))
        soft = SOFT * plan.calibration.leg * np.minimum(np.abs(path.pitch) / 0.3, 1.0)
        tip[:, 1] = 0.5 * (tip[:, 1] + np.sqrt(tip[:, 1] ** 2 + soft**2))
        return build.world(tip)

    def _lead_points(self, mapping: JointMap) -> None:
        build = self._plan.build
        for link in mapping.links:
            part = link.role.rpartition("_")[2]
            if (part in FEET and self._plan.feet) or link.weight == 0.0:
                continue
            anchor = build.anchors[link.joint]
            target = np.ascontiguousarray(build.world(self._plan.places[link.joint]))
            self.points[link.joint], self.targets[link.joint] = (anchor.site, anchor.offset), target
            level = link.priority + self._level - 2 if link.priority > 1 else 1
            task = Position(anchor.site, target[0], link.axes, offset=anchor.offset, weight=link.weight, priority=level)
            self._always.append(Lead(task, target))

    def _lead_trunk(self, mapping: JointMap) -> None:
        link = mapping.by_role().get("pelvis")
        if link is None or self._plan.trunk is None:
            return
        build = self._plan.build
        turned = Rotation.from_matrix(build.turned[link.site])
        world = _wxyz(Rotation.from_matrix(build.axes.T) * self._plan.trunk * turned)
        self._always.append(Lead(Orientation(link.site, world[0], weight=TURN, priority=self._level), world))


def _rotation(wxyz: FloatArray) -> Rotation:
    return Rotation.from_quat(np.roll(np.array(wxyz), -1))


def _wxyz(rotations: Rotation) -> FloatArray:
    return np.ascontiguousarray(np.roll(rotations.as_quat(), 1, axis=-1), dtype=np.float64)
