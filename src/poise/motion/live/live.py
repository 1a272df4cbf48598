"""Live retargeting: a figure follows a person frame by frame, with feet that stand still and inside all limits.

1. *Calibration* from a sample of the stream: mapping, scale, ground and heading, as for a whole clip (`person`).
2. Each frame: targets with bones of the figure's length; *feet* that stand where they land (`foot`).
3. A weighted *draft* of the posture, from the frame before.
4. The posture nearest to the draft that keeps *parts of the figure apart*.
5. A critically damped *follower* of these postures, so that no joint jumps (`follower`).
6. The posture nearest to that which keeps standing feet in place, inside position and speed limits.

When frames are missing, the last one is held. When they come back, or the recording jumps, the person goes on from
where the figure is, and the posture eases into the new one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from poise.arguments import positive
from poise.engine.weighted_fit import make_weighted_fit
from poise.errors import TaskError
from poise.figure.model.figure import Figure, checked_figure
from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture
from poise.kernels.body.tree import difference, integrate
from poise.kernels.jit.compile import entry_point_for
from poise.kernels.motion.follow_clip import aim
from poise.kernels.motion.posture_curves import clip_frames
from poise.kernels.motion.weighted_fit import fit_cost, fit_posture
from poise.motion.clip.clip import Clip, checked_clip
from poise.motion.clip.contacts import Contacts, ContactSettings
from poise.motion.clip.motion import Motion, Track
from poise.motion.live.follower import Point, PostureFollower, Turn
from poise.motion.live.foot import LiveFoot
from poise.motion.live.person import Person, PersonFrame
from poise.motion.live.turning import Rotated
from poise.motion.mapping.mapping import JointMap
from poise.motion.retarget.build import Build
from poise.motion.retarget.draft import DRAFT_STEP_SIZE, CachedProblem
from poise.motion.retarget.feet import smootherstep
from poise.motion.retarget.frame_fits import START_STEPS, START_TOLERANCE
from poise.motion.retarget.perform import CONSTRAINT_WEIGHT, SPEED_SHARE
from poise.motion.retarget.plan import CUT_SPEED
from poise.motion.retarget.retarget import floating
from poise.motion.retarget.self_collision import (
    FINAL_SEPARATION_WEIGHT,
    is_made_of_hinges,
    separation,
)
from poise.motion.retarget.smoothing import Style
from poise.motion.retarget.task_tracks import (
    FOOT_ROTATION_SLACK,
    FOOT_SLACK,
    STANCE_WEIGHT_FACTOR,
    SWING_POSITION_WEIGHT,
    SWING_ROTATION_WEIGHT,
    TaskTrack,
    TaskTracks,
    start_posture,
)

FAR_FROM_DRAFT, BETTER_APART = 0.7, 0.9
"""Where parts are kept apart, a posture whose coordinates differ by more than the first [rad] from the draft is fitted
once more, from there; that fit is kept if its cost is below this share of the other one's."""
DRAFT_STEPS, DRAFT_TOLERANCE = 6, 1e-3
"""Largest number of steps of the draft's fit per frame, and the step at which it ends [rad or m]."""
FINAL_STEPS, SOLID_STEPS, FINAL_TOLERANCE = 6, 8, 1e-4
"""The same of the final fit."""
POSTURE_LAG = 0.4
"""Lag of the posture, as a share of that of the targets."""
NEAR_WEIGHT = 0.3
"""Weight of the draft where parts are kept apart and feet in place: a pair that is 1 cm too near weighs as much as a
joint that is 0.2 rad from its draft."""
BASE_WEIGHT = 10.0
"""The same for the place of a floating base [1/m²], and its turn."""
LEAST_SWING_WEIGHT = 1e-3
"""Weight of a foot in the air where parts are kept apart, against one on the ground; the draft has it already."""
SWING_WEIGHT = 0.03
"""The same in the final fit, which leaves such a foot where it is, but for one below the ground."""
BODY_SHIFT_TIME = 0.2
"""Time over which the body goes with feet that stand elsewhere than the person's [s]."""
RELEASE_DISTANCE = 2e-3
"""Distance from its place beyond which a foot that should stand is released [m]."""
GAP_TIME = 0.1
"""Time without a frame from which a stream has a gap [s]."""
REJOIN_TIME = 0.5
"""Time over which the posture eases into the stream after a gap [s]."""


class _Slot:
    """The place of a task's target in a compiled problem."""

    def __init__(self, cached: CachedProblem, track: TaskTrack) -> None:
        rows = cached.problem._by_task[track.task]
        self._goals, self.goal, self._rows = cached.problem.engine.goals, rows.first_goal, rows.rows
        self._is_place = track.values.shape[1] == 3

    def set(self, value: FloatArray) -> None:
        """Set the target: a place (3,) or a rotation (4,)."""
        (self._goals.position if self._is_place else self._goals.rotation)[self.goal] = value

    def weigh(self, weight: float) -> None:
        """Set the weight."""
        self._goals.weight[self._rows] = math.sqrt(weight)


class _Record(NamedTuple):
    """What `follow` keeps of a frame: targets, planned ends of the soles, and what stands."""

    targets: list[FloatArray]
    locks: list[FloatArray]
    heel: list[bool]
    ball: list[bool]


class LiveRetarget:
    """Retargets a stream of a person's postures, one at a time.

    Attributes:
        figure: The figure that follows, with a floating base if it has feet.
        mapping: Which joint of the person drives which site.
    """

    def __init__(
        self,
        figure: Figure,
        sample: Clip,
        mapping: JointMap | Mapping[str, str] | str | Path | None = None,
        *,
        rate: float | None = None,
        solid: bool | None = None,
        contacts: ContactSettings | None = None,
        style: Style | None = None,
        lag: float = 0.015,
    ) -> None:
        """Calibrate and compile; the first `step` takes the figure to the person's posture.

        Args:
            figure: The figure that follows.
            sample: Some of the stream, or an earlier recording of the same skeleton, in which the person stands or
                walks: a second is enough. Mapping, scale, ground and heading are estimated from it.
            mapping: As in `poise.retarget`.
            rate: Frames per second of the stream; that of the sample if not given.
            solid: Whether parts of the figure are kept out of each other, as in `poise.retarget`.
            contacts: When feet stand.
            style: Weights of the draft.
            lag: The figure trails the person by 2.8 times this [s]; less is quicker, more is smoother.
        """
        checked_clip(sample, "live retargeting")
        links = JointMap.of(mapping, sample, checked_figure(figure, "live retargeting"))
        self.mapping, self.figure = links, floating(figure, links)
        self._dt, self._lag = 1.0 / positive(sample.rate if rate is None else rate, "rate"), positive(lag, "lag")
        self._build, self._skeleton = Build.of(self.figure, links), sample.figure
        self._person = Person(sample, links, self._build)
        self._style, self._settings = style or Style(), contacts or ContactSettings()
        self._compile(is_made_of_hinges(figure) if solid is None else solid)
        self.reset()

    def _compile(self, solid: bool) -> None:
        """Compile the draft and the final fit."""
        figure = self.figure
        self._tracks = tracks = TaskTracks(figure, self.mapping, self._person.plan, None)
        self._per_foot = {side: 3 if foot.tip else 2 for side, foot in self._build.feet.items()}
        feet = sum(self._per_foot.values())
        held = [*tracks.draft[:feet], *tracks.first_priority]
        self._draft = CachedProblem(figure, [track.task for track in tracks.draft], DRAFT_STEP_SIZE)
        self._final = CachedProblem(figure, [track.task for track in held], DRAFT_STEP_SIZE)
        self._draft_slots = [_Slot(self._draft, track) for track in tracks.draft]
        self._final_slots = [_Slot(self._final, track) for track in held]
        self._exact = [list(tracks.targets).index(self._joint_of(track)) for track in tracks.first_priority]
        apart = separation(figure, FINAL_SEPARATION_WEIGHT) if solid else None
        self._fit = make_weighted_fit(self._draft.problem, self._style.near, 1.0)
        course = self._draft.course(tracks.draft, tracks.count)
        aim(self._draft.problem.engine.goals, course, 0)
        aim(self._final.problem.engine.goals, self._final.course(held, tracks.count), 0)
        self._fit.slack[:] = course.slack[0]
        self._final_fit, self._solid_fit = (
            make_weighted_fit(self._final.problem, NEAR_WEIGHT, 0.0, CONSTRAINT_WEIGHT, kept) for kept in (None, apart)
        )
        base = next((joint.name for joint in figure.joints if joint.kind == "free"), None)
        for fit in (self._final_fit, self._solid_fit):
            if base is not None:
                fit.near[figure.v_slice(base)] = BASE_WEIGHT
        self._is_solid = apart is not None
        self._most_speed = np.full(figure.nv, np.inf)
        for joint in figure.joints:
            if joint.kind in {"revolute", "prismatic"}:
                self._most_speed[figure.v_slice(joint.name)] = SPEED_SHARE * joint.speed
        rows = [figure.frame_row(foot.site) for foot in self._build.feet.values()]
        ride = figure.compiled.attached
        self._ride = ride.node[rows], ride.position[rows], ride.rotation[rows]
        self._neutral = figure.neutral()._q.copy()
        q, draft, final = self._neutral.copy(), self._draft.problem.handle, self._final.problem.handle
        self._fit_posture = entry_point_for(fit_posture, draft, self._fit, q, q, 1, 1.0, q)
        self._fit_cost = entry_point_for(fit_cost, draft, self._fit, q, q, q)
        self._handles, self._way = (draft, final), np.zeros(figure.nv)
        self._to_world = Rotated(self._build.axes.T)
        pelvis = self.mapping.by_role().get("pelvis")
        self._pelvis_turned = Rotated(self._build.turned[pelvis.site] if pelvis is not None else np.eye(3))
        soles = {side: foot.sole.inverse() for side, foot in self._build.feet.items()}
        self._sole_from_site = {
            side: (np.array(pose.position), Rotated(pose.matrix[:3, :3].copy())) for side, pose in soles.items()
        }

    def _joint_of(self, track: TaskTrack) -> str:
        """The person's joint of a track of a point."""
        return next(joint for joint, path in self._tracks.targets.items() if path is track.values)

    def reset(self) -> None:
        """Forget the stream; the next frame is its first."""
        self._feet = {
            side: LiveFoot(foot, self._person.leg, self._lag, self._settings) for side, foot in self._build.feet.items()
        }
        self._seen: PersonFrame | None = None
        self._last: FloatArray | None = None
        self._shift, self._gap, self._share = np.zeros(3), 0.0, 1.0
        self._soles: dict[str, tuple[FloatArray, FloatArray, Rotated]] = {}

    def step(self, frame: Posture | ArrayLike | None, dt: float | None = None) -> Posture:
        """The posture of the figure for the next frame of the stream.

        Args:
            frame: Posture of the person, or its values (nq,), in the skeleton of the sample; None if none has come,
                as a frame with values that are not finite counts too.
            dt: Time since the frame before [s]; by default 1 / rate.
        """
        dt = self._dt if dt is None else positive(dt, "dt of a live retargeting", unit="seconds")
        q = None if frame is None else self._checked(frame)
        if self._seen is None or self._last is None:
            if q is None:
                return self.figure.neutral()
            return self._begin(q, dt)
        since = self._gap + dt
        if q is None:
            self._gap = since
        else:
            self._see(q, self._last, since)
        for side, foot in self._feet.items():
            if q is None:
                foot.settle(self._seen.feet[side], dt)
            else:
                foot.step(self._seen.feet[side], self._soles[side], dt, since)
        if all(foot.lands for foot in self._feet.values()):
            far = next((side for side, foot in self._feet.items() if foot.strays(self._seen.feet[side])), None)
            if far is not None:
                self._feet[far].step_over(self._seen.feet[far])
        self._share = min(self._share + dt / REJOIN_TIME, 1.0)
        self._set_targets(self._seen, dt)
        self._fit_draft(DRAFT_STEPS, DRAFT_TOLERANCE, dt)
        self._follower.step(self._apart(self._eased()), dt)
        return self._fit_final(dt)

    def follow(self, clip: Clip) -> Motion:
        """The motion that the frames of a clip give, one after the other, with its targets: for trying out settings."""
        self.reset()
        dt, frames, records = 1.0 / clip.rate, [], []
        for q in clip.q:
            frames.append(self.step(q, dt)._q)
            records.append(self._record())
        build, sides = self._build, list(self._feet)
        feet = build.feet.values()
        contacts = Contacts(
            {side: np.array([r.heel[k] for r in records]) for k, side in enumerate(sides)},
            {side: np.array([r.ball[k] for r in records]) for k, side in enumerate(sides)},
        )
        track = Track(
            self.mapping,
            contacts,
            self._tracks.points,
            {joint: np.array([r.targets[k] for r in records]) for k, joint in enumerate(self._tracks.points)},
            {foot.site: np.array([r.locks[k] for r in records]) for k, foot in enumerate(feet)},
            {foot.site: np.array([foot.sole.apply(foot.ball), foot.sole.apply(foot.heel)]) for foot in feet},
            build.ground,
            None,
        )
        return Motion(self.figure, np.array(frames), clip.rate, clip.name, track=track)

    @property
    def standing(self) -> dict[str, bool]:
        """Whether each foot stands on the ground, by side."""
        return {side: foot.stands for side, foot in self._feet.items()}

    def _checked(self, frame: Posture | ArrayLike) -> FloatArray | None:
        values = frame._q if isinstance(frame, Posture) else np.array(frame, dtype=np.float64)
        if values.shape != (self._skeleton.nq,):
            raise TaskError(
                f"a frame of this stream is a posture of {self._skeleton.name!r}, {self._skeleton.nq} values, not an "
                f"array {values.shape}."
            )
        return values if math.isfinite(float(values.sum())) else None

    def _begin(self, q: FloatArray, dt: float) -> Posture:
        """The first frame: the figure is in the person's posture at once."""
        self._seen = seen = self._person.see(q)
        self._smooth_from(seen)
        for side, foot in self._feet.items():
            foot.start(seen.feet[side])
        self._drafted = self._neutral.copy()
        if seen.trunk is not None and self._tracks.points:
            joint, point = next(iter(self._tracks.points.items()))
            at = self._build.world(seen.places[joint])
            self._drafted = start_posture(self.figure, self._build, seen.trunk.matrix, point, at)._q.copy()
        self._set_targets(seen, dt)
        still, self._fit.still[:] = self._fit.still.copy(), 0.0
        self._fit_draft(START_STEPS, START_TOLERANCE, None)
        self._fit.still[:] = still
        self._held, self._kept_apart = self._drafted.copy(), self._drafted.copy()
        self._apart(self._drafted)
        self._follower = PostureFollower(self.figure, self._kept_apart, POSTURE_LAG * self._lag)
        self._last = self._drafted.copy()
        return self._fit_final(None)

    def _see(self, q: FloatArray, last: FloatArray, dt: float) -> None:
        """Take a frame; after a gap or a jump of the hips, the person goes on from where the figure is."""
        before, seen = self._seen, self._person.see(q)
        assert before is not None
        farthest = CUT_SPEED * self._person.leg * dt
        if self._gap >= GAP_TIME or np.abs(seen.hips - before.hips).max() > farthest:
            seen = self._person.rejoin(q, before)
            off = [foot.offset(seen.feet[side]) for side, foot in self._feet.items() if foot.meets(seen.feet[side])]
            if off:
                # The foot that is nearest to the person's stays where it is.
                seen = self._person.move(q, min(off, key=lambda way: float(way @ way)))
            for side, foot in self._feet.items():
                foot.rejoin(seen.feet[side])
            self._ease_from(seen, last)
        elif max(float(np.abs(place - before.places[joint]).max()) for joint, place in seen.places.items()) > farthest:
            self._ease_from(seen, last)
        self._seen, self._gap = seen, 0.0

    def _ease_from(self, seen: PersonFrame, last: FloatArray) -> None:
        """Begin to ease from the last posture (nq,) into the stream, which goes on elsewhere."""
        self._smooth_from(seen)
        self._held[:] = last
        self._share = 0.0

    def _smooth_from(self, seen: PersonFrame) -> None:
        """Begin to smooth the targets at those of a frame."""
        self._places = Point(np.array([seen.places[joint] for joint in self._tracks.points]), self._lag)
        self._trunk = Turn(seen.trunk or Rotated(np.eye(3)), self._lag)

    def _set_targets(self, seen: PersonFrame, dt: float) -> None:
        """Set the targets of both fits."""
        build, k = self._build, 0
        self._move_body(seen, dt)
        self._places.step(np.array([seen.places[joint] for joint in self._tracks.points]), dt)
        self._targets = list(build.world(self._places.place + self._shift))
        for side, foot in self._feet.items():
            values = self._foot_values(side, foot.point.place, foot.turning.turn)
            firm = foot.firmness
            grown, loose = STANCE_WEIGHT_FACTOR**firm, 1.0 / max(1.0 - firm, 1e-9)
            for part, value in enumerate(values):
                draft, final = self._draft_slots[k], self._final_slots[k]
                draft.set(value)
                final.set(value)
                draft.weigh(grown * (SWING_ROTATION_WEIGHT if part else SWING_POSITION_WEIGHT))
                final.weigh((0.1 if part == 1 else 1.0) * LEAST_SWING_WEIGHT ** (1.0 - firm))
                if part < 2:
                    self._fit.slack[draft.goal] = loose * (FOOT_ROTATION_SLACK if part else FOOT_SLACK)
                k += 1
        for slot, value in zip(self._draft_slots[k:], self._targets, strict=False):
            slot.set(value)
        for slot, which in zip(self._final_slots[k:], self._exact, strict=True):
            slot.set(self._targets[which])
        if seen.trunk is not None and len(self._draft_slots) > k + len(self._targets):
            self._trunk.step(seen.trunk, dt)
            self._draft_slots[-1].set((self._to_world * self._trunk.turn * self._pelvis_turned).quaternion())

    def _move_body(self, seen: PersonFrame, dt: float) -> None:
        """Move the body with feet that stand elsewhere than the person's."""
        off = [foot.shift - seen.feet[side].ankle for side, foot in self._feet.items() if foot.lands]
        if off:
            wanted = np.mean(off, axis=0)
            self._shift = self._shift + (1.0 - math.exp(-dt / BODY_SHIFT_TIME)) * (wanted - self._shift)

    def _foot_values(self, side: str, place: FloatArray, turn: Rotated) -> Sequence[FloatArray]:
        """Targets of the tasks of a foot whose sole is at a place (3,) and turned, in the world."""
        foot, build = self._build.feet[side], self._build
        offset, sole_from_site = self._sole_from_site[side]
        turned = self._to_world * turn * sole_from_site
        out = [build.world(place + turn.apply(offset) if foot.rolls else place), turned.quaternion()]
        if foot.tip:
            tip = place + turn.apply(foot.tip_at)
            out.append(build.world(np.array([tip[0], max(tip[1], 0.0), tip[2]])))
        return out

    def _fit_draft(self, steps: int, tolerance: float, dt: float | None) -> None:
        """Fit the draft of the frame, from that of the frame before; `dt` is None for the first frame."""
        fit = self._fit
        if dt is not None:
            fit.still[:] = self._style.still / dt**2
        before = self._drafted.copy()
        self._fit_posture(self._handles[0], fit, before, self._neutral, steps, tolerance, self._drafted)

    def _eased(self) -> FloatArray:
        """The draft; after a gap, a posture between the one that was held and the draft."""
        if self._share >= 1.0:
            return self._drafted
        figure, way, out = self.figure, np.empty(self.figure.nv), self._drafted.copy()
        difference(figure.compiled.tree, self._held, self._drafted, way)
        integrate(figure.compiled.tree, self._held, float(smootherstep(np.array(self._share))) * way, out)
        return out

    def _apart(self, wanted: FloatArray) -> FloatArray:
        """The posture (nq,) nearest to `wanted` (nq,) whose parts are apart, from that of the frame before."""
        if not self._is_solid:
            self._kept_apart[:] = wanted
            return wanted
        handle, fit, q = self._handles[1], self._solid_fit, self._kept_apart
        self._fit_posture(handle, fit, wanted, wanted, SOLID_STEPS, FINAL_TOLERANCE, q)
        difference(self.figure.compiled.tree, q, wanted, self._way)
        if np.abs(self._way[6:]).max(initial=0.0) > FAR_FROM_DRAFT:
            other = wanted.copy()
            self._fit_posture(handle, fit, wanted, wanted, SOLID_STEPS, FINAL_TOLERANCE, other)
            costs = [self._fit_cost(handle, fit, posture, wanted, wanted) for posture in (other, q)]
            if costs[0] < BETTER_APART * costs[1]:
                q[:] = other
        return q

    def _fit_final(self, dt: float | None) -> Posture:
        """The posture nearest to the smooth draft with standing feet in place; `dt` is None for the first frame."""
        assert self._last is not None
        fit, wanted = self._final_fit, self._follower.q
        self._hold_swinging_feet(wanted)
        fit.most_change[:] = np.inf if dt is None else self._most_speed * dt
        q = self._last.copy()
        self._fit_posture(self._handles[1], fit, self._last, wanted, FINAL_STEPS, FINAL_TOLERANCE, q)
        self._last = q
        self._measure_soles(q, dt)
        return Posture(self.figure, q.copy())

    def _hold_swinging_feet(self, wanted: FloatArray) -> None:
        """Keep feet in the air where a posture (nq,) has them, but not below the ground."""
        k, soles = 0, self._soles_of(wanted)
        for side, foot in self._feet.items():
            if not foot.lands:
                at, turn = soles[side]
                ends = at + turn.apply(np.array([foot.foot.ball, foot.foot.heel]))
                low = -float(ends[:, 1].min())
                at[1] += max(low, 0.0)
                least = 1.0 if low > 0.0 else SWING_WEIGHT
                for part, value in enumerate(self._foot_values(side, at, turn)):
                    slot = self._final_slots[k + part]
                    slot.set(value)
                    slot.weigh(max(least, LEAST_SWING_WEIGHT ** (1.0 - foot.firmness)))
            k += self._per_foot[side]

    def _soles_of(self, q: FloatArray) -> dict[str, tuple[FloatArray, Rotated]]:
        """Centre and rotation of each sole in a posture (nq,), in standing axes."""
        place, turn = np.empty((1, len(self._feet), 3)), np.empty((1, len(self._feet), 4))
        clip_frames(self.figure.compiled.tree, q[None], *self._ride, place, turn)
        build, out = self._build, {}
        for k, side in enumerate(self._feet):
            offset, sole_from_site = self._sole_from_site[side]
            turned = self._to_world.inv() * Rotated.of_quaternion(turn[0, k]) * sole_from_site.inv()
            out[side] = build.axes @ place[0, k] - turned.apply(offset) - [0.0, build.ground, 0.0], turned
        return out

    def _measure_soles(self, q: FloatArray, dt: float | None) -> None:
        """Where the soles are; one that is dragged from its place is released."""
        for side, (at, turned) in self._soles_of(q).items():
            foot = self._feet[side]
            before = self._soles.get(side)
            speed = np.zeros(3) if before is None or dt is None else (at - before[0]) / dt
            self._soles[side] = at, speed, turned
            if foot.stands and np.abs(at - foot.point.place).max() > RELEASE_DISTANCE and self._seen is not None:
                foot.release(self._seen.feet[side])

    def _record(self) -> _Record:
        """Targets, planned soles and contacts of the last frame."""
        locks, heel, ball = [], [], []
        for foot in self._feet.values():
            ends = foot.point.place + foot.turning.turn.apply(np.array([foot.foot.ball, foot.foot.heel]))
            locks.append(self._build.world(ends))
            down = ends[:, 1] < 1e-4
            ball.append(bool(foot.stands and down[0]))
            heel.append(bool(foot.stands and down[1]))
        return _Record(list(self._targets), locks, heel, ball)
