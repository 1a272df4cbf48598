"""Solves the motion of a planned clip: a weighted draft, smoothing, then exact constraints by priority.

1. *Draft*: a weighted least-squares fit to all targets, each frame warm-started from the last one
   (`poise.kernels.motion.weighted_fit`). Its motion is smooth and nearly meets its constraints.
2. *Smoothing*, symmetric in time so that it adds no delay; wider around jerky frames.
3. *Priorities*: standing feet, then the centre of mass, then swinging feet, and all joints as near to the smooth draft
   as these tasks allow.

A contact that the figure's legs cannot hold is released, and the plan and the affected frames are made again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from poise.engine.problem import StepSize
from poise.engine.weighted_fit import make_weighted_fit
from poise.figure.model.compiled import IntArray
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.kernels.motion.follow_clip import held_rows, perform_clip
from poise.kernels.motion.posture_curves import interpolate_clip
from poise.kernels.motion.separation import clip_depths
from poise.motion.clip.contacts import BoolArray, segments
from poise.motion.clip.motion import Motion
from poise.motion.mapping.mapping import JointMap
from poise.motion.retarget.balance import center_schedule
from poise.motion.retarget.draft import (
    Draft,
    Pace,
    Progress,
    cached_problem,
    free_draft,
    no_progress,
    redraft,
    with_parts_apart,
)
from poise.motion.retarget.feet import FootPath, frames_to_nearest, smootherstep
from poise.motion.retarget.plan import Plan
from poise.motion.retarget.self_collision import (
    DRAFT_SEPARATION_WEIGHT,
    FINAL_SEPARATION_WEIGHT,
    separation,
)
from poise.motion.retarget.smoothing import (
    Style,
    acceleration_limits,
    eased_window,
    frame_differences,
    jerky_joints,
    limit_acceleration,
    smoothed,
    smoothed_where,
)
from poise.motion.retarget.task_tracks import SWING_PRIORITY, TaskTracks, contact_errors, final_tracks, sole_heights

LEVEL_STEPS = 4
"""Largest number of steps of the prioritised solver per frame."""
LEVEL_STEP_TOLERANCE = 1e-3
"""Step length below which a frame is solved [rad or m]."""
LEVEL_STEP_SIZE = StepSize(min_gain=1e-6)
"""Step settings of the prioritised solver: consecutive frames differ little, so even small improvements count."""
SMOOTHING_ROUNDS, SOLID_SMOOTHING_ROUNDS = 8, 12
"""Largest number of rounds of smoothing jerky frames again, and of figures whose parts are kept apart."""
RELEASE_ROUNDS = 4
"""Largest number of rounds of releasing contacts that slip."""
GROUND_ROUNDS = 4
"""Largest number of rounds of solving frames again in which a foot is below the ground."""
FASTER = 1.5
"""Greatest speed of a frame that is solved again, as a multiple of the greatest speed in the other frames."""
SELF_DEPTH = 5e-3
"""Depth of one part of a figure in another from which the frame counts as faulty [m]."""
PENETRATION_REACHES = (0.05, 0.1, 0.2, 0.4)
"""Times before and after such a frame that are solved again with it, one after the other [s]."""
GROUND_DEPTH = 5e-4
"""Depth below the ground from which a frame is solved again [m]."""
SMOOTHING_GROWTH = 1.6
"""Factor by which the smoothing grows wider in each round."""
WIDEST_SMOOTHING, WIDEST_SOLID_SMOOTHING = 0.1, 0.25
"""Greatest width of the smoothing, and for figures whose parts are kept apart: hands go round the body [s]."""
RESOLVE_MARGIN_TIME = 0.05
"""Time before and after a changed or jerky frame that is solved again with it [s]."""
DRAFT_SLIP = 1.5e-3
"""Greatest distance of a contact from its planned position in a draft; beyond it the contact is released [m]."""
BALANCED_DRAFT_SLIP = 4e-4
"""Distance beyond which a contact counts as missed in the draft of a balanced motion [m]."""
FINAL_SLIP = 5e-4
"""Greatest distance of a contact from its planned position in the result [m]."""
CONSTRAINT_WEIGHT = 1e4
"""Weight of the constraints in the fit that is tried before the prioritised solver."""
DRAFT_WEIGHT = 1e-2
"""Weight of the smooth draft in that fit."""
ACCELERATION_ROUNDS = 5
"""Largest number of rounds of limiting accelerations and solving the constraints again."""
ACCELERATION_PROGRESS = 0.97
"""The rounds end if the greatest acceleration stays above this share of its last value."""
SPEED_SHARE = 0.95
"""Share of the speed limits that a draft uses, since the constraints are solved after it."""
BODY_SHIFT_TOLERANCE = 1e-3
"""Change of a target by a released contact below which the frame is not solved again [m]."""
SHORTEST_KEPT_CONTACT = 0.06
"""When part of a contact is released, remaining parts shorter than this are released too [s]."""


class SolveSettings(NamedTuple):
    """Settings of a `MotionSolver`."""

    style: Style
    balance: bool
    """Whether the centre of mass stays over the standing feet."""
    tempo: float
    """Playback speed as a share of the recorded speed."""
    solid: bool = True
    """Whether the parts of the figure are kept apart."""
    name: str = ""
    """Name of the motion."""


class MotionSolver:
    """Solves the motion of a figure after a plan; contacts that its legs cannot hold are released."""

    def __init__(self, figure: Figure, mapping: JointMap, plan: Plan, *, settings: SolveSettings) -> None:
        """Set up the tasks; `solve_draft` and `solve` compute the motion.

        Args:
            figure: The figure that moves.
            mapping: Which joint of the clip drives which site.
            plan: Targets of every frame.
            settings: Style, balance, tempo and name.
        """
        self.figure, self.mapping, self.style, self.balance = figure, mapping, settings.style, settings.balance
        self.rate, self.settings = plan.rate, settings
        self._apart = separation(figure, FINAL_SEPARATION_WEIGHT) if settings.solid else None
        self._touching = separation(figure, 0.0, margin=0.0) if settings.solid else None
        apart = separation(figure, DRAFT_SEPARATION_WEIGHT) if settings.solid else None
        self.pace = Pace(plan.rate, _most_change(figure, plan, plan.rate * settings.tempo), apart)
        self._set_plan(plan)
        self._first: FloatArray | None = None
        self._drafted, self._out = 0, np.empty((0, figure.nq))

    def solve_draft(self, progress: Progress) -> float:
        """Solve the first draft and return the share of contacts that it holds; frames near cuts do not count.

        A draft holds a contact if it does so for most of its time: at the ends of a contact, where a foot lands or
        leaves, the frames before and after draw it away. A balanced motion counts the frames of all contacts.
        """

        def count_and_report(done: int, total: int) -> None:
            self._drafted = done
            progress(done, total)

        self._first = np.zeros((self.tracks.count, self.figure.nq))
        with self._attaching_solved_frames():
            free_draft(self.figure, self.tracks, self.pace, self.style, count_and_report, self._first)
        if not self.plan.feet:
            return 1.0
        counted, most = self.plan.away_from_cuts(), BALANCED_DRAFT_SLIP if self.balance else DRAFT_SLIP
        standing = np.array([self.plan.contacts.standing(side) & counted for side in self.plan.feet])
        slips = standing & np.array([contact_errors(self.tracks, side, self._first) > most for side in self.plan.feet])
        if not self.balance:
            for foot, slip in zip(standing, slips, strict=True):
                for first, last in segments(foot):
                    slip[first:last] = 2 * int(slip[first:last].sum()) > last - first
        return 1.0 - float(slips.sum()) / max(float(standing.sum()), 1.0)

    def solve(self) -> FloatArray:
        """(frames, nq) the solved motion."""
        if self._first is None:
            self.solve_draft(no_progress)
        assert self._first is not None
        with self._attaching_solved_frames():
            draft = with_parts_apart(self.figure, self.tracks, self.pace, self.style, self._first)
            return self._with_limited_acceleration(self._without_slipping_contacts(draft))

    def motion(self, q: FloatArray) -> Motion:
        """Joint values (k, nq) of all frames, or of the first k, as a motion with its targets."""
        track = self.tracks.motion_track(self.mapping)
        solved = track if len(q) == self.tracks.count else track[: len(q)]
        return Motion(self.figure, q, self.rate * self.settings.tempo, self.settings.name, track=solved)

    def penetrating(self, out: FloatArray) -> BoolArray:
        """(frames,) the frames in which a part of the figure is in another, if they are kept apart at all."""
        return np.zeros(len(out), dtype=np.bool_) if self._apart is None else self._depths(out) > SELF_DEPTH

    def _without_slipping_contacts(self, draft: Draft) -> FloatArray:
        """(frames, nq) the motion, after releasing the contacts that slip in the draft and then in the result."""
        for _ in range(RELEASE_ROUNDS):
            changed_frames = self._release_slipping_feet(draft.held, DRAFT_SLIP)
            if not changed_frames.any():
                break
            draft = redraft(self.figure, self.tracks, self.pace, self.style, draft, changed_frames)
        self._out = self._smoothed_with_constraints(draft.held)
        if self._apart is not None and (faults := self._faults(self._out)):
            steady = self._without_leaps(draft)
            if steady is not None:
                out = self._smoothed_with_constraints(steady.held)
                if self._faults(out) < faults:
                    draft, self._out = steady, out
        for _ in range(RELEASE_ROUNDS):
            changed_frames = self._release_slipping_feet(self._out, FINAL_SLIP)
            if not changed_frames.any():
                break
            draft = redraft(self.figure, self.tracks, self.pace, self.style, draft, changed_frames)
            self._out = self._smoothed_with_constraints(draft.held, self._out, changed_frames)
        if self._apart is not None:
            self._out = self._without_penetration(self._out)
        return self._out

    def _faults(self, out: FloatArray) -> int:
        """Number of jerky frames, summed over the joints, and of frames in which parts of the figure penetrate."""
        jerky = jerky_joints(self.figure, out).values()
        return int((self._depths(out) > SELF_DEPTH).sum()) + sum(int(frames.sum()) for frames in jerky)

    def _without_leaps(self, draft: Draft) -> Draft | None:
        """The draft, in which a limb stays on its side of the body; None if no limb leaps to the other.

        A hand that is led through the body leaps round it in one frame. Smoothing mostly spreads the leap over time;
        where it cannot, since smoothed postures are inside the body, no joint may move much faster than the fastest
        does in frames without a leap. Joints that carry a foot may, since a foot that is late would miss its step.
        """
        frames = np.any(list(jerky_joints(self.figure, draft.held).values()), axis=0)
        if not np.any(frames) or len(self.figure.loops):
            return None
        near = eased_window(frames, RESOLVE_MARGIN_TIME * self.rate) > 0.0
        held = _carries_no_foot(self.figure, self.plan)
        rates = np.abs(frame_differences(self.figure, draft.held))[~(near[1:] | near[:-1])]
        fastest = rates[:, held].max(initial=0.0)
        if fastest == 0.0:
            return None
        most = np.where(held, FASTER * fastest, np.inf)
        pace = self.pace._replace(most_change=np.minimum(self.pace.most_change, most))
        return redraft(self.figure, self.tracks, pace, self.style, draft, frames)

    def _with_limited_acceleration(self, out: FloatArray) -> FloatArray:
        """(frames, nq) the motion within the acceleration limits, as far as the constraints allow."""
        most = acceleration_limits(self.figure, self.style.acceleration) / (self.rate * self.settings.tempo) ** 2
        excess = _acceleration_excess(self.figure, out, most)
        for _ in range(ACCELERATION_ROUNDS if len(out) > 2 else 0):
            if excess <= 1.0:
                break
            limited = self._with_constraints(limit_acceleration(self.figure, out, most, self._constraint_jacobian(out)))
            new_excess = _acceleration_excess(self.figure, limited, most)
            if new_excess > ACCELERATION_PROGRESS * excess:
                break
            if jerky_joints(self.figure, limited) or self._any_contact_slips(limited):
                break
            self._out = out = limited
            excess = new_excess
        return out

    def _any_contact_slips(self, clip: FloatArray) -> bool:
        return any((contact_errors(self.tracks, side, clip) > FINAL_SLIP).any() for side in self.plan.feet)

    def _constraint_jacobian(self, clip: FloatArray) -> FloatArray:
        """(frames, m, nv) Jacobians of the loops, the standing feet and the centre of mass."""
        tracks = final_tracks(self.tracks, clip)
        with cached_problem(self.figure, tracks, LEVEL_STEP_SIZE) as cached:
            problem = cached.problem
            levels = sum(priority < SWING_PRIORITY for priority in problem.priorities)
            rows = np.zeros((len(clip), problem.engine.levels.rows.shape[0], self.figure.nv))
            held_rows(problem.handle, cached.course(tracks, len(clip)), clip, levels, rows)
        return rows

    @contextmanager
    def _attaching_solved_frames(self) -> Iterator[None]:
        """Attach the frames solved so far to any exception, Ctrl-C included, that leaves the block."""
        try:
            yield
        except BaseException as stop:
            if len(solved := self._solved_frames()):
                attach_motion(stop, self.motion(solved), self.tracks.count)
            raise

    def _solved_frames(self) -> FloatArray:
        """(k, nq) the frames solved so far: the result, or else the finished frames of the draft with constraints."""
        if len(self._out) or self._first is None or not self._drafted:
            return self._out
        draft, done = self._first.copy(), self._drafted
        draft[done:] = draft[done - 1]
        wanted = smoothed(self.figure, draft, np.full(len(draft), self.style.smooth * self.rate))
        return self._with_constraints(wanted, np.arange(done), draft)[:done]

    def _set_plan(self, plan: Plan) -> None:
        self.plan = plan
        center = center_schedule(self.figure, plan) if self.balance else None
        self.tracks = TaskTracks(self.figure, self.mapping, plan, center)

    def _release_slipping_feet(self, clip: FloatArray, tolerance: float) -> BoolArray:
        """Release contacts that are farther than `tolerance` [m] from their planned positions, and plan again.

        Returns:
            (frames,) the frames that the new plan changes.
        """
        lost = {side: contact_errors(self.tracks, side, clip) > tolerance for side in self.plan.feet}
        if not any(frames.any() for frames in lost.values()):
            return np.zeros(len(clip), dtype=np.bool_)
        before = self.plan
        self._set_plan(before.with_contacts(before.contacts.without(lost, SHORTEST_KEPT_CONTACT * before.rate)))
        changed = np.any([_path_changed(before.feet[side], self.plan.feet[side]) for side in lost], axis=0)
        for joint, path in before.places.items():
            changed |= np.abs(path - self.plan.places[joint]).max(axis=1) > BODY_SHIFT_TOLERANCE
        if self.balance:
            changed[:] = True
        return eased_window(changed | np.any(list(lost.values()), axis=0), RESOLVE_MARGIN_TIME * before.rate) > 0.0

    def _smoothed_with_constraints(
        self, draft: FloatArray, known: FloatArray | None = None, changed: BoolArray | None = None
    ) -> FloatArray:
        """(frames, nq) the smoothed draft with its constraints solved, smoothed and solved again where it is jerky.

        Args:
            draft: (frames, nq) the draft.
            known: (frames, nq) an earlier result; None to solve all frames.
            changed: (frames,) frames to solve; the others are those of `known`.
        """
        wanted = smoothed(self.figure, draft, np.full(len(draft), self.style.smooth * self.rate))
        if known is None or changed is None:
            out = self._with_constraints(wanted)
        else:
            out = self._with_constraints(wanted, np.flatnonzero(changed), known)
        return self._above_ground(self._steady(out))

    def _steady(self, out: FloatArray) -> FloatArray:
        """(frames, nq) the motion, smoothed and solved again where it is jerky."""
        width = max(self.style.smooth * self.rate, 1.0)
        rounds, widest = SMOOTHING_ROUNDS, WIDEST_SMOOTHING
        if self._apart is not None:
            rounds, widest = SOLID_SMOOTHING_ROUNDS, WIDEST_SOLID_SMOOTHING
        for _ in range(rounds if self.style.smooth > 0.0 else 0):
            jerky = jerky_joints(self.figure, out)
            if not jerky:
                break
            window = eased_window(np.any(list(jerky.values()), axis=0), max(RESOLVE_MARGIN_TIME * self.rate, 2 * width))
            wanted = smoothed_where(self.figure, out, jerky, width)
            out = self._with_constraints(wanted, np.flatnonzero(window), out)
            width = min(SMOOTHING_GROWTH * width, widest * self.rate)
        return out

    def _above_ground(self, out: FloatArray) -> FloatArray:
        """(frames, nq) the motion, with frames solved again in which a foot is below the ground.

        A draft that is far from the ground, as where the recording jumps, needs more steps than other frames. Frames
        that would then move faster than the motion does anywhere, or with a spike, stay as they are.
        """
        for _ in range(GROUND_ROUNDS if self.plan.feet else 0):
            deep = np.any([sole_heights(self.tracks, side, out) < -GROUND_DEPTH for side in self.plan.feet], axis=0)
            if not np.any(deep) or len(out) < 2:
                break
            solved = self._with_constraints(out, np.flatnonzero(deep), out)
            before = out
            for first, last in segments(deep):
                trial = out.copy()
                trial[first:last] = solved[first:last]
                if self._is_calm(trial, out, (first, last)):
                    out = trial
            if out is before:
                break
        return out

    def _is_calm(self, trial: FloatArray, out: FloatArray, span: tuple[int, int]) -> bool:
        """Whether a motion with other frames in a span is not much faster there than `out` is anywhere, nor jerky."""
        most = np.abs(frame_differences(self.figure, out)).max(axis=0)
        ways = np.abs(frame_differences(self.figure, trial[max(span[0] - 1, 0) : span[1] + 1]))
        return bool((ways <= FASTER * most).all()) and not jerky_joints(self.figure, trial)

    def _without_penetration(self, out: FloatArray) -> FloatArray:
        """(frames, nq) the motion, with frames solved again in which parts of the figure are still in each other.

        Such a frame is at a local minimum, as where two legs cross. It is solved from between the postures before and
        after it, which leads past the other part; then from between postures farther away.
        """
        for reach in PENETRATION_REACHES:
            depth = self._depths(out)
            if not (depth > SELF_DEPTH).any():
                break
            for first, last in segments(frames_to_nearest(depth > SELF_DEPTH) <= reach * self.rate):
                ends = max(first - 1, 0), min(last, len(out) - 1)
                frames = np.arange(first, last)
                share = smootherstep((frames - ends[0]) / max(ends[1] - ends[0], 1))
                wanted, between = out.copy(), np.empty((last - first, out.shape[1]))
                interpolate_clip(
                    self.figure.compiled.tree, out[list(ends)], np.zeros(len(frames), dtype=np.int64), share, between
                )
                wanted[first:last] = between
                trial = self._steady(self._with_constraints(wanted, frames, wanted))
                shallower = self._depths(trial[first:last]).max() < 0.5 * depth[first:last].max()
                if shallower and self._is_calm(trial, out, (first, last)):
                    out = trial
        return out

    def _depths(self, out: FloatArray) -> FloatArray:
        """(frames,) greatest depth of a part of the figure in another [m]."""
        assert self._touching is not None
        depth, pair = np.zeros(len(out)), np.full(len(out), -1, dtype=np.int64)
        clip_depths(self.figure.compiled.tree, out, self._touching, depth, pair)
        return depth

    def _with_constraints(
        self, wanted: FloatArray, frames: IntArray | None = None, known: FloatArray | None = None
    ) -> FloatArray:
        """(frames, nq) the postures nearest to `wanted` (frames, nq) that meet the constraints by priority.

        Args:
            wanted: (frames, nq) the postures to stay near to.
            frames: (k,) numbers of the frames to solve; None for all.
            known: (frames, nq) postures of the frames that are not solved.
        """
        tracks = final_tracks(self.tracks, wanted)
        out = np.zeros_like(wanted) if known is None else known.copy()
        which = np.arange(len(wanted)) if frames is None else frames
        with cached_problem(self.figure, tracks, LEVEL_STEP_SIZE) as cached:
            course = cached.course(tracks, len(wanted))
            fit = make_weighted_fit(cached.problem, DRAFT_WEIGHT, 0.0, CONSTRAINT_WEIGHT, self._apart)
            yielding = cached.yielding(tracks)
            perform_clip(
                cached.problem.handle, fit, course, wanted, which, yielding, LEVEL_STEPS, LEVEL_STEP_TOLERANCE, out
            )
        return out


def _most_change(figure: Figure, plan: Plan, rate: float) -> FloatArray:
    """(nv,) greatest change between frames of the joints that carry no foot, by their speed limits; inf for the others.

    A leg that is too slow for a step would miss the step, so the whole motion is played more slowly instead; so is the
    motion of a figure without feet.

    Args:
        figure: The figure.
        plan: The plan, with the feet.
        rate: Frames per second at which the motion is played.
    """
    out = np.full(figure.nv, np.inf)
    if not plan.build.feet or len(figure.loops):
        return out
    free = _carries_no_foot(figure, plan)
    for joint in figure.joints:
        at = figure.v_slice(joint.name)
        if joint.kind in {"revolute", "prismatic"} and free[at].all():
            out[at] = SPEED_SHARE * joint.speed / rate
    return out


def _carries_no_foot(figure: Figure, plan: Plan) -> BoolArray:
    """(nv,) whether a coordinate belongs to a joint, not that of the base, that carries no foot of the plan."""
    above = {joint.child: joint for joint in figure.joints}
    carrying = {joint.name for joint in figure.joints if joint.kind == "free"}
    for foot in plan.build.feet.values():
        body: str | None = figure.body_of(foot.site)
        while body in above:
            carrying.add(above[body].name)
            body = above[body].parent
    out = np.ones(figure.nv, dtype=np.bool_)
    for name in carrying:
        out[figure.v_slice(name)] = False
    return out


def _acceleration_excess(figure: Figure, clip: FloatArray, most: FloatArray) -> float:
    """Greatest ratio of a second difference in a clip to its limit `most` (nv,)."""
    return float((np.abs(np.diff(frame_differences(figure, clip), axis=0)) / most).max(initial=0.0))


def _path_changed(one: FootPath, other: FootPath) -> BoolArray:
    """(frames,) whether two paths of a foot differ in position, rotation or proximity to a contact."""
    turned = (one.turn.inv() * other.turn).magnitude() > 1e-9
    moved = np.abs(one.place - other.place).max(axis=1) > 1e-9
    out: BoolArray = turned | moved | (np.abs(one.contact_proximity - other.contact_proximity) > 1e-6)
    return out


def attach_motion(stop: BaseException, motion: Motion, total: int) -> None:
    """Set the attribute `motion` of an exception to the motion solved so far, and add a note that says so."""
    stop.motion = motion  # type: ignore[attr-defined]
    stop.add_note(f"{len(motion)} of {total} frames are solved: this exception's `motion` has them.")


def attached_motion(stop: BaseException) -> Motion | None:
    """The motion attached to an exception; None if no frame was solved before it."""
    motion = getattr(stop, "motion", None)
    return motion if isinstance(motion, Motion) else None
