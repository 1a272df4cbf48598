"""The tasks of a retargeting, and their targets for every frame, in the world of the figure."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from poise.errors import TaskError
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture
from poise.motion.clip.motion import Track
from poise.motion.mapping.mapping import FOOT_ROLES, JointMap
from poise.motion.retarget.feet import SOFT
from poise.motion.retarget.plan import Plan
from poise.tasks.mass import CenterOfMass
from poise.tasks.place import Orientation, Position
from poise.tasks.task import Task

TURN = 0.01
"""Weight of how the pelvis is turned: as much as two hips 7 cm from its middle would count [m²/rad²]."""
AIR, TURN_AIR = 1.0, 0.1
"""Weights of a foot's place and direction in the air."""
GROUND = 1000.0
"""By how much they grow until it stands."""
SLACK, FOOT_SLACK, TURN_SLACK = 0.08, 0.05, 0.3
"""Errors beyond which a place [m], a foot in the air [m] and its direction [rad] pull no harder."""
STRICTER = 100.0
"""By how much a link of the first priority counts more than one of the second, and that more than one of the third."""
BALANCE = 300.0
"""Weight of the centre of mass in a draft."""


class Lead(NamedTuple):
    """A task and its targets over time."""

    task: Task
    values: FloatArray
    """(frames, 3) or (frames, 4)"""
    weights: FloatArray | float = 1.0
    """(frames,) weight of the task, 0 where it asks nothing."""
    slack: FloatArray | float = np.inf
    """(frames,) error beyond which it pulls no harder."""


class Leads:
    """Tasks that lead a figure through a plan, all by their weights: feet that stand a thousand times the others'."""

    def __init__(self, figure: Figure, mapping: JointMap, plan: Plan, center: FloatArray | None) -> None:
        """Lay out all targets.

        Args:
            figure: Who performs.
            mapping: Who leads.
            plan: Where to.
            center: (frames, 3) where the centre of mass goes, if that matters.
        """
        self.figure, self.plan, self.center = figure, plan, center
        self.points: dict[str, tuple[str, FloatArray]] = {}
        self.targets: dict[str, FloatArray] = {}
        self.locks: dict[str, FloatArray] = {}
        self.draft: list[Lead] = []
        self.strict: list[Lead] = []
        """Those of the first priority besides feet."""
        if center is not None:
            self.draft.append(Lead(balance_task(plan, center, 1), center, BALANCE))
        for side in plan.feet:
            self.draft += self._foot(side)
        self._sway = self._swayed(mapping)
        self._lead_points(mapping)
        self._lead_trunk(mapping)
        if not self.draft:
            raise TaskError("nothing of the mapping leads anything: every weight in it is zero.")

    @property
    def count(self) -> int:
        """How many frames there are."""
        return len(self.draft[0].values)

    def track(self, mapping: JointMap) -> Track:
        """What is asked, to keep with the motion."""
        build = self.plan.build
        feet = build.feet.values()
        soles = {foot.site: np.array([foot.sole.apply(foot.ball), foot.sole.apply(foot.heel)]) for foot in feet}
        contacts = self.plan.contacts
        return Track(mapping, contacts, self.points, self.targets, self.locks, soles, build.ground, self.center)

    def start(self) -> Posture:
        """The neutral posture, moved to where the motion begins."""
        neutral = self.figure.neutral()
        base = next((joint for joint in self.figure.joints if joint.kind == "free"), None)
        if base is None or self.plan.trunk is None or not self.targets:
            return neutral
        q = np.array(neutral.q)
        where = self.figure.q_slice(base.name)
        axes = self.plan.build.axes
        turn = Rotation.from_matrix(axes.T @ self.plan.trunk[0].as_matrix() @ axes)
        place = next(iter(self.targets.values()))[0]
        old = Rotation.from_quat(np.roll(q[where][3:], -1))
        name, offset = next(iter(self.points.values()))
        arm = self.figure.pose_of(name, neutral).apply(offset) - q[where][:3]
        q[where] = [*(place - turn.apply(arm)), *np.roll((turn * old).as_quat(), 1)]
        return self.figure.posture(q)

    def _foot(self, side: str) -> list[Lead]:
        """The sole as planned, and toes that stay above the ground."""
        build, path = self.plan.build, self.plan.feet[side]
        foot = build.feet[side]
        ends = [build.world(path.place + path.turn.apply(point)) for point in (foot.ball, foot.heel)]
        self.locks[foot.site] = np.stack(ends, axis=1)
        grown = GROUND**path.near
        loose = 1.0 / np.maximum(1.0 - path.near, 1e-9)
        tip = toe_tips(self.plan, side) if foot.tip else None
        place, turn, *toes = foot_tasks(self.plan, side, path.place, path.turn, tip, 1)
        return [
            place._replace(weights=AIR * grown, slack=FOOT_SLACK * loose),
            turn._replace(weights=TURN_AIR * grown, slack=TURN_SLACK * loose),
            *(lead._replace(weights=TURN_AIR * grown) for lead in toes),
        ]

    def _swayed(self, mapping: JointMap) -> FloatArray:
        """(frames, 3) how far the body goes aside for its balance: with the centre of mass, which it carries [m]."""
        pelvis = mapping.by_role().get("pelvis")
        if self.center is None or pelvis is None:
            return np.zeros((1, 3))
        neutral, anchor, build = self.figure.neutral(), self.plan.build.anchors[pelvis.joint], self.plan.build
        arm = self.figure.center_of_mass(neutral) - self.figure.pose_of(anchor.site, neutral).apply(anchor.offset)
        lacks = self.center - build.world(self.plan.places[pelvis.joint]) - arm
        level: FloatArray = lacks - (lacks @ build.axes[1])[:, None] * build.axes[1]
        return level

    def _lead_points(self, mapping: JointMap) -> None:
        build = self.plan.build
        for link in mapping.links:
            part = link.role.rpartition("_")[2]
            if (part in FOOT_ROLES and self.plan.feet) or link.weight == 0.0:
                continue
            anchor = build.anchors[link.joint]
            target = np.ascontiguousarray(build.world(self.plan.places[link.joint]) + self._sway)
            self.points[link.joint], self.targets[link.joint] = (anchor.site, anchor.offset), target
            task = Position(anchor.site, target[0], link.axes, offset=anchor.offset, priority=1)
            weight = link.weight * STRICTER ** (2 - link.priority)
            self.draft.append(Lead(task, target, weight, SLACK))
            if link.priority == 1:
                self.strict.append(Lead(task, target, link.weight))

    def _lead_trunk(self, mapping: JointMap) -> None:
        link = mapping.by_role().get("pelvis")
        if link is None or self.plan.trunk is None:
            return
        build = self.plan.build
        turned = Rotation.from_matrix(build.turned[link.site])
        world = _wxyz(Rotation.from_matrix(build.axes.T) * self.plan.trunk * turned)
        self.draft.append(Lead(Orientation(link.site, world[0], priority=1), world, TURN))


def foot_tasks(  # noqa: PLR0917
    plan: Plan, side: str, place: FloatArray, turn: Rotation, tip: FloatArray | None, priority: int
) -> list[Lead]:
    """Tasks for a foot: where the centre of its sole is, how it is turned, and how high its toes are.

    Args:
        plan: Whose feet they are.
        side: Which foot.
        place: (frames, 3) centre of the sole, in standing axes [m].
        turn: How the sole is turned there.
        tip: (frames, 3) where the tip of its toes is, in the world [m]; only its height counts.
        priority: Level of all of them.
    """
    build = plan.build
    foot = build.feet[side]
    sole_from_site = foot.sole.inverse()
    rotation = turn * _rotation(sole_from_site.rotation)
    at = build.world(place + turn.apply(np.array(sole_from_site.position)))
    world = _wxyz(Rotation.from_matrix(build.axes.T) * rotation)
    leads = [
        Lead(Position(foot.site, at[0], priority=priority), np.ascontiguousarray(at)),
        Lead(Orientation(foot.site, world[0], priority=priority), world),
    ]
    if tip is not None:
        leads.append(Lead(Position(foot.tip, tip[0], axes=build.axes[[1]], priority=priority), tip))
    return leads


def balance_task(plan: Plan, center: FloatArray, priority: int) -> CenterOfMass:
    """The centre of mass on its way, heights aside."""
    return CenterOfMass(at=center[0], axes=plan.build.axes[[0, 2]], priority=priority, name="balance")


def toe_tips(plan: Plan, side: str) -> FloatArray:
    """(frames, 3) where the tips of toes go, in the world: with the foot, but not into the ground."""
    build, path = plan.build, plan.feet[side]
    foot = build.feet[side]
    tip = path.place + path.turn.apply(foot.tip_at)
    soft = SOFT * plan.calibration.leg * np.minimum(np.abs(path.pitch) / 0.3, 1.0)
    tip[:, 1] = 0.5 * (tip[:, 1] + np.sqrt(tip[:, 1] ** 2 + soft**2))
    return np.ascontiguousarray(build.world(tip))


def _rotation(wxyz: FloatArray) -> Rotation:
    return Rotation.from_quat(np.roll(np.array(wxyz), -1))


def _wxyz(rotations: Rotation) -> FloatArray:
    return np.ascontiguousarray(np.roll(rotations.as_quat(), 1, axis=-1), dtype=np.float64)
