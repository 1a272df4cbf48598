"""Task tracks: the tasks of a retargeting with their targets and weights for every frame, in the figure's world.

The draft follows the clip as well as the figure can, so its swinging feet are within reach. In the final solve a foot
must be exactly at its planned place in stance; the error of the draft there fades to zero over the swing before and
after (`final_tracks`).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from poise.errors import TaskError
from poise.figure.model.figure import Figure
from poise.figure.model.joints import Joint
from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture
from poise.kernels.motion.posture_curves import clip_frames
from poise.motion.clip.motion import Track
from poise.motion.mapping.mapping import FOOT_ROLES, JointMap
from poise.motion.retarget.build import Build
from poise.motion.retarget.feet import GROUND_CLEARANCE, faded_into_swing, ground_clearance, raised_above_ground
from poise.motion.retarget.plan import Plan, raised
from poise.tasks.mass import CenterOfMass
from poise.tasks.place import Orientation, Position
from poise.tasks.task import Task

PELVIS_ROTATION_WEIGHT = 0.01
"""Weight of the pelvis' rotation: that of two points 7 cm from its centre [m²/rad²]."""
SWING_POSITION_WEIGHT = 1.0
"""Weight of the position of a foot in swing."""
SWING_ROTATION_WEIGHT = 0.1
"""Weight of the rotation of a foot in swing [m²/rad²]."""
STANCE_WEIGHT_FACTOR = 1000.0
"""Factor on the weights of a foot in stance."""
POINT_SLACK = 0.08
"""Error of a mapped point from which its cost grows linearly, not quadratically [Huber 1964] [m]."""
FOOT_SLACK = 0.05
"""Such an error for the position of a foot in swing [m]."""
FOOT_ROTATION_SLACK = 0.3
"""Such an error for the rotation of a foot in swing [rad]."""
PRIORITY_WEIGHT_RATIO = 100.0
"""Ratio of the weights of links in consecutive priorities, in a draft."""
BALANCE_WEIGHT = 300.0
"""Weight of the centre of mass in a draft."""
SWING_PRIORITY = 3
"""Priority of swinging feet."""
BENT_LEG = 0.8
"""Share of its length below which a leg starts bent."""
OUTER_RANGE = 0.25
"""Share of its range, at either end, in which no hinge of such a leg starts."""
CORRECTION_FADE_TIME = 0.25
"""Time over which the correction of a stance fades in swing [s]."""
DRAFT_CLEARANCE_SHARE = 0.3
"""Share of the ground clearance that is applied again to the draft's feet; their plan had all of it."""


class TaskTrack(NamedTuple):
    """A task with its targets and weights over time."""

    task: Task
    values: FloatArray
    """(frames, 3) target positions [m], or (frames, 4) target rotations as quaternions."""
    weights: FloatArray | float = 1.0
    """(frames,) weight of the task, 0 to disable it in a frame."""
    slack: FloatArray | float = np.inf
    """(frames,) error from which the cost grows linearly, not quadratically [m or rad]."""


class TaskTracks:
    """The task tracks of a plan for its draft, in which weights stand for priorities."""

    def __init__(self, figure: Figure, mapping: JointMap, plan: Plan, center: FloatArray | None) -> None:
        """Make the tasks and their targets.

        Args:
            figure: The figure that moves.
            mapping: Which joint of the clip drives which site.
            plan: Targets in standing axes.
            center: (frames, 3) target of the centre of mass in the world [m]; None without balance.
        """
        self.figure, self.plan, self.center = figure, plan, center
        self.points: dict[str, tuple[str, FloatArray]] = {}
        self.targets: dict[str, FloatArray] = {}
        self.locks: dict[str, FloatArray] = {}
        self.draft: list[TaskTrack] = []
        self.first_priority: list[TaskTrack] = []
        """Tracks of links with priority 1 that are not feet."""
        if center is not None:
            self.draft.append(TaskTrack(balance_task(plan, center, 1), center, BALANCE_WEIGHT))
        for side in plan.feet:
            self.draft += self._foot_tracks(side)
        self._sway = self._balance_sway(mapping)
        self._add_points(mapping)
        self._add_trunk(mapping)
        if not self.draft:
            raise TaskError("every link of the mapping has weight 0; give at least one link a positive weight.")

    @property
    def count(self) -> int:
        """Number of frames."""
        return len(self.draft[0].values)

    def motion_track(self, mapping: JointMap) -> Track:
        """The targets, in the form that a `Motion` keeps."""
        build = self.plan.build
        feet = build.feet.values()
        soles = {foot.site: np.array([foot.sole.apply(foot.ball), foot.sole.apply(foot.heel)]) for foot in feet}
        contacts = self.plan.contacts
        floor = {foot.site: self.plan.levels[side] for side, foot in build.feet.items()}
        return Track(mapping, contacts, self.points, self.targets, self.locks, soles, build.ground, self.center, floor)

    def start(self) -> Posture:
        """The neutral posture with its floating base at the first target and turned as the pelvis is in frame 0.

        The legs of somebody who sits or squats start bent: a straight leg does not show which way its knee should bend,
        and the figure would stand on straight legs and bend its trunk instead.
        """
        if self.plan.trunk is None or not self.targets:
            return self.figure.neutral()
        point, place = next(iter(self.points.values())), next(iter(self.targets.values()))[0]
        posture = start_posture(self.figure, self.plan.build, self.plan.trunk[0].as_matrix(), point, place)
        q = np.array(posture.q)
        for site, lock in self.locks.items():
            hinges = _leg_hinges(self.figure, site)
            hip, foot = (
                self.figure.pose_of(name, posture).position for name in (hinges[-1].child if hinges else site, site)
            )
            if np.linalg.norm(lock[0, 1] - hip) >= BENT_LEG * np.linalg.norm(foot - hip):
                continue
            for joint in hinges:
                margin, at = OUTER_RANGE * (joint.upper[0] - joint.lower[0]), self.figure.q_slice(joint.name)
                q[at] = np.clip(q[at], joint.lower[0] + margin, joint.upper[0] - margin)
        return self.figure.posture(q)

    def _foot_tracks(self, side: str) -> list[TaskTrack]:
        """Tracks of a foot: position and rotation of its planned sole, and heights of its toes."""
        build, path = self.plan.build, self.plan.feet[side]
        foot = build.feet[side]
        ends = [build.world(path.place + path.turn.apply(point)) for point in (foot.ball, foot.heel)]
        self.locks[foot.site] = np.stack(ends, axis=1)
        grown = STANCE_WEIGHT_FACTOR**path.contact_proximity
        loose = 1.0 / np.maximum(1.0 - path.contact_proximity, 1e-9)
        tip = toe_tips(self.plan, side) if foot.tip else None
        place, turn, *toes = foot_tasks(self.plan, side, path.place, path.turn, tip, 1)
        return [
            place._replace(weights=SWING_POSITION_WEIGHT * grown, slack=FOOT_SLACK * loose),
            turn._replace(weights=SWING_ROTATION_WEIGHT * grown, slack=FOOT_ROTATION_SLACK * loose),
            *(track._replace(weights=SWING_ROTATION_WEIGHT * grown) for track in toes),
        ]

    def _balance_sway(self, mapping: JointMap) -> FloatArray:
        """(frames, 3) horizontal shift of all targets that brings the centre of mass to its path [m]."""
        pelvis = mapping.by_role().get("pelvis")
        if self.center is None or pelvis is None:
            return np.zeros((1, 3))
        neutral, anchor, build = self.figure.neutral(), self.plan.build.anchors[pelvis.joint], self.plan.build
        arm = self.figure.center_of_mass(neutral) - self.figure.pose_of(anchor.site, neutral).apply(anchor.offset)
        offset_needed = self.center - build.world(self.plan.places[pelvis.joint]) - arm
        level: FloatArray = offset_needed - (offset_needed @ build.axes[1])[:, None] * build.axes[1]
        return level

    def _add_points(self, mapping: JointMap) -> None:
        build = self.plan.build
        for link in mapping.links:
            part = link.role.rpartition("_")[2]
            if (part in FOOT_ROLES and self.plan.feet) or link.weight == 0.0:
                continue
            anchor = build.anchors[link.joint]
            target = np.ascontiguousarray(build.world(self.plan.places[link.joint]) + self._sway)
            self.points[link.joint], self.targets[link.joint] = (anchor.site, anchor.offset), target
            task = Position(anchor.site, target[0], link.axes, offset=anchor.offset, priority=1)
            weight = link.weight * PRIORITY_WEIGHT_RATIO ** (2 - link.priority)
            self.draft.append(TaskTrack(task, target, weight, POINT_SLACK))
            if link.priority == 1:
                self.first_priority.append(TaskTrack(task, target, link.weight))

    def _add_trunk(self, mapping: JointMap) -> None:
        link = mapping.by_role().get("pelvis")
        if link is None or self.plan.trunk is None:
            return
        build = self.plan.build
        turned = Rotation.from_matrix(build.turned[link.site])
        world = _wxyz(Rotation.from_matrix(build.axes.T) * self.plan.trunk * turned)
        self.draft.append(TaskTrack(Orientation(link.site, world[0], priority=1), world, PELVIS_ROTATION_WEIGHT))


def start_posture(
    figure: Figure, build: Build, trunk: FloatArray, point: tuple[str, FloatArray], place: FloatArray
) -> Posture:
    """The neutral posture, with the floating base turned as the pelvis and moved so that a point is at its target.

    Args:
        figure: The figure; one without a floating base stays where it is.
        build: Its proportions.
        trunk: (3, 3) rotation of the pelvis in standing axes.
        point: Site of the figure, and a point (3,) in its frame [m].
        place: (3,) where that point should be in the world [m].
    """
    neutral = figure.neutral()
    base = next((joint for joint in figure.joints if joint.kind == "free"), None)
    if base is None:
        return neutral
    q = np.array(neutral.q)
    where = figure.q_slice(base.name)
    turn = Rotation.from_matrix(build.axes.T @ trunk @ build.axes)
    old = Rotation.from_quat(np.roll(q[where][3:], -1))
    name, offset = point
    arm = figure.pose_of(name, neutral).apply(offset) - q[where][:3]
    q[where] = [*(place - turn.apply(arm)), *np.roll((turn * old).as_quat(), 1)]
    return figure.posture(q)


def _leg_hinges(figure: Figure, site: str) -> list[Joint]:
    """The hinges from a foot up to the floating base that have limits; none in a figure with loops."""
    above = {} if len(figure.loops) else {joint.child: joint for joint in figure.joints}
    out, body = [], figure.body_of(site)
    while body in above:
        joint = above[body]
        if joint.kind == "revolute" and math.isfinite(joint.upper[0] - joint.lower[0]):
            out.append(joint)
        body = joint.parent or ""
    return out


def foot_tasks(  # noqa: PLR0917
    plan: Plan, side: str, place: FloatArray, turn: Rotation, tip: FloatArray | None, priority: int
) -> list[TaskTrack]:
    """Task tracks of a foot: position and rotation of its sole, and the height of its toes.

    Args:
        plan: The plan with the foot.
        side: "left" or "right".
        place: (frames, 3) centre of the sole, in standing axes [m].
        turn: Rotation of the sole in standing axes, per frame.
        tip: (frames, 3) tip of the toes in the world [m], of which only the height is used; None without toes.
        priority: Priority of all these tasks.
    """
    build = plan.build
    foot = build.feet[side]
    sole_from_site = foot.sole.inverse()
    world = _wxyz(Rotation.from_matrix(build.axes.T) * turn * _rotation(sole_from_site.rotation))
    if foot.rolls:
        at = np.ascontiguousarray(build.world(place + turn.apply(np.array(sole_from_site.position))))
        tasks: tuple[Task, Task] = (
            Position(foot.site, at[0], priority=priority),
            Orientation(foot.site, world[0], priority=priority),
        )
    else:
        at = np.ascontiguousarray(build.world(place))
        left_and_up = foot.sole.matrix[:3, :3].T[:2]
        tasks = (
            Position(foot.site, at[0], offset=foot.sole.position, priority=priority),
            Orientation(foot.site, world[0], axes=left_and_up, own_axes=True, priority=priority),
        )
    tracks = [TaskTrack(tasks[0], at), TaskTrack(tasks[1], world)]
    if tip is not None:
        tracks.append(TaskTrack(Position(foot.tip, tip[0], axes=build.axes[[1]], priority=priority), tip))
    return tracks


def balance_task(plan: Plan, center: FloatArray, priority: int) -> CenterOfMass:
    """A task that keeps the centre of mass above or below its path `center` (frames, 3), whatever its height."""
    return CenterOfMass(at=center[0], axes=plan.build.axes[[0, 2]], priority=priority, name="balance")


def toe_tips(plan: Plan, side: str) -> FloatArray:
    """(frames, 3) path of the tip of the toes in the world, rigid with the sole but kept above the ground [m]."""
    build, path = plan.build, plan.feet[side]
    foot = build.feet[side]
    tip = path.place + path.turn.apply(foot.tip_at)
    soft = GROUND_CLEARANCE * plan.calibration.leg * np.minimum(np.abs(path.pitch) / 0.3, 1.0)
    height = tip[:, 1] - plan.levels[side]
    tip[:, 1] = plan.levels[side] + 0.5 * (height + np.sqrt(height**2 + soft**2))
    return np.ascontiguousarray(build.world(tip))


def _rotation(wxyz: FloatArray) -> Rotation:
    return Rotation.from_quat(np.roll(np.array(wxyz), -1))


def _wxyz(rotations: Rotation) -> FloatArray:
    return np.ascontiguousarray(np.roll(rotations.as_quat(), 1, axis=-1), dtype=np.float64)


def final_tracks(tracks: TaskTracks, draft: FloatArray) -> list[TaskTrack]:
    """Tasks of the final solve by priority: 1 standing feet, 2 the centre of mass, 3 swinging feet.

    Args:
        tracks: Tasks and targets of the draft.
        draft: (frames, nq) postures of the draft.
    """
    plan, out = tracks.plan, list(tracks.first_priority)
    if tracks.center is not None:
        out.append(TaskTrack(balance_task(plan, tracks.center, 2), tracks.center))
    for side in plan.feet:
        stands = plan.contacts.standing(side)
        out += [track._replace(weights=stands.astype(np.float64)) for track in _stance_tracks(tracks, side)]
        out += [track._replace(weights=(~stands).astype(np.float64)) for track in _swing_tracks(tracks, side, draft)]
    return out


def frames_over_clip(figure: Figure, clip: FloatArray, names: list[str]) -> tuple[FloatArray, FloatArray]:
    """World positions (frames, m, 3) and rotations (frames, m, 4) of sites or bodies over a clip (frames, nq)."""
    ride, rows = figure.compiled.attached, [figure.frame_row(name) for name in names]
    place, turn = np.empty((len(clip), len(rows), 3)), np.empty((len(clip), len(rows), 4))
    clip_frames(figure.compiled.tree, clip, ride.node[rows], ride.position[rows], ride.rotation[rows], place, turn)
    return place, turn


def sole_motion(tracks: TaskTracks, side: str, clip: FloatArray) -> tuple[FloatArray, Rotation]:
    """Centre (frames, 3) and rotation of a sole over postures `clip` (frames, nq), in standing axes."""
    build = tracks.plan.build
    foot = build.feet[side]
    place, turn = frames_over_clip(tracks.figure, clip, [foot.site])
    world = Rotation.from_quat(np.roll(turn[:, 0], -1, axis=1))
    at = (place[:, 0] + world.apply(np.array(foot.sole.position))) @ build.axes.T - np.array([0.0, build.ground, 0.0])
    sole = Rotation.from_quat(np.roll(np.array(foot.sole.rotation), -1))
    return at, Rotation.from_matrix(build.axes) * world * sole


def sole_heights(tracks: TaskTracks, side: str, clip: FloatArray) -> FloatArray:
    """(frames,) height above the floor of the lower end of a sole over postures `clip` (frames, nq) [m]."""
    at, turn = sole_motion(tracks, side, clip)
    foot = tracks.plan.build.feet[side]
    ends = np.minimum(turn.apply(foot.ball)[:, 1], turn.apply(foot.heel)[:, 1])
    out: FloatArray = at[:, 1] + ends - tracks.plan.levels[side]
    return out


def contact_errors(tracks: TaskTracks, side: str, clip: FloatArray) -> FloatArray:
    """(frames,) greatest distance of a foot's ball or heel in contact from its planned position, 0 in swing [m]."""
    plan = tracks.plan
    foot, path, contacts = plan.build.feet[side], plan.feet[side], plan.contacts
    at, turn = sole_motion(tracks, side, clip)
    out = np.zeros(len(clip))
    for point, stands in ((foot.ball, contacts.ball[side]), (foot.heel, contacts.heel[side])):
        off = np.linalg.norm(at + turn.apply(point) - path.place - path.turn.apply(point), axis=1)
        out = np.maximum(out, np.where(stands, off, 0.0))
    return out


def _stance_tracks(tracks: TaskTracks, side: str) -> list[TaskTrack]:
    plan = tracks.plan
    path = plan.feet[side]
    tip = toe_tips(plan, side) if plan.build.feet[side].tip else None
    return foot_tasks(plan, side, path.place, path.turn, tip, 1)


def _swing_tracks(tracks: TaskTracks, side: str, draft: FloatArray) -> list[TaskTrack]:
    """Tasks of a swinging foot: the draft's path, corrected near stances and raised above the ground."""
    plan, path, rate = tracks.plan, tracks.plan.feet[side], tracks.plan.rate
    foot, stands = plan.build.feet[side], plan.contacts.standing(side)
    at, turn = sole_motion(tracks, side, draft)
    window = max(CORRECTION_FADE_TIME * rate, 1.0)
    change = faded_into_swing(np.hstack([path.place - at, (path.turn * turn.inv()).as_rotvec()]), stands, window)
    turned = Rotation.from_rotvec(change[:, 3:]) * turn
    soft = DRAFT_CLEARANCE_SHARE * ground_clearance(stands, rate, plan.calibration.leg)
    rise = raised(plan.levels[side])
    place = raised_above_ground(foot, at + change[:, :3] - rise, turned, stands, soft) + rise
    if not foot.tip:
        return foot_tasks(plan, side, place, turned, None, SWING_PRIORITY)
    tip, _ = frames_over_clip(tracks.figure, draft, [foot.tip])
    up = plan.build.axes[1]
    wanted = faded_into_swing(((toe_tips(plan, side) - tip[:, 0]) @ up)[:, None], stands, window)[:, 0]
    height = tip[:, 0] @ up + wanted - plan.build.ground - plan.levels[side]
    cleared = 0.5 * (height + np.hypot(height, soft)) - height
    tips = tip[:, 0] + (wanted + cleared)[:, None] * up
    return foot_tasks(plan, side, place, turned, np.ascontiguousarray(tips), SWING_PRIORITY)
