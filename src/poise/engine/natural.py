"""Natural motion: what a figure does with the freedom that its tasks leave.

The criterion is ½ Σ_i w_i d_i² with d = q ⊖ c: joints stay near a centre c, each with its weight. Both follow the
targets of the tasks.

**What moves first.** A joint is the heavier the more *branchings* of the skeleton are between it and the nearest site
that has to move: w_i = LIMB_WEIGHT · BRANCHING^b_i (σ / σ_i)². Between a hand and the joints of its arm there is none,
between the hand and the spine there is the chest, where arms and neck branch off, between the hand and the legs also
the pelvis. So the limb moves first, the trunk when the limb runs out of reach, the legs last. The spread σ_i is how
much people's joints vary, with σ its median; for figures that are not built like the human, it is a share of the
joint's range.

**Where to.** Where the figure is when the tasks begin, s, it stays as long as it can. For people, the likely posture
p(h) for given handles h (`poise.figures.people.likely_posture`) says what to do about far targets: with h₀ the handles
at the start and h those of the targets, the centre of joint i is

    c_i = s_i + (1 - exp(-½ |p_i(h) - p_i(h₀)|² / σ_i²)) (p_i(h) - s_i)

with σ_i halved in the limb that has to move, which follows people sooner. A joint that people would not move,
p_i(h) = p_i(h₀), stays as it is, likely or not; one that they would move by more than it varies goes where they would
have it. The centre is a smooth function of the targets, and is s when they are met at the start.

**Gaze.** What looks with its face turns the centre to its target; eyes, head, trunk and legs share the turn as people
do (`poise.engine.natural_gaze`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from poise.engine.engine_arrays import TaskRows
from poise.engine.natural_gaze import NaturalGaze, is_gaze
from poise.figure.model.compiled import IntArray
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray, Pose
from poise.figure.model.posture import Posture
from poise.figures.people.likely_posture import FEET, body_of, handle_arrays, handle_point, likely_model, people_of
from poise.kernels.body.clamp import clamp
from poise.kernels.body.likely_posture import blend_likely, likely_coordinates
from poise.kernels.engine.engine import Engine
from poise.kernels.engine.indirect_calls import evaluate_current
from poise.tasks.look_at import LookAt
from poise.tasks.place import Frame, Position
from poise.tasks.ranges import ranges_of
from poise.tasks.target import TargetLike
from poise.tasks.task import Task, recruited

BRANCHING = 10.0
"""Factor on the weight of a joint for every branching between it and the nearest site that has to move."""
LIMB_SHARE = 0.5
"""Factor on the spread for joints of the limb that has to move: it follows people sooner than the rest."""
LIMB_WEIGHT = 0.05
"""Weight of a joint of median spread in the limb that has to move [1/rad²]. With more, soft tasks miss what is within
reach; with much less, they outrun the rest of the body and lead it astray."""
LEAST_SPREAD = 0.08
"""Spread of joints that hardly vary, such as the upper of the two joints of the neck [rad]."""
BASE_LEVER = 0.5
"""Length at which a displacement of a floating base counts as much as its rotation [m/rad]."""
RANGE_SHARE = 0.15
"""Spread of a joint of a figure that is not built like the human, as a share of its range."""
MOVED = 1e-3
"""Error at the start above which a task has to move its site [m or rad]."""
DIMENSIONS = 3

Targets: TypeAlias = "Mapping[Task, TargetLike | Task]"
Handles: TypeAlias = dict[str, Pose | FloatArray]


class NaturalMotion:
    """The centre and the weights of the criterion, for one figure and its tasks."""

    def __init__(
        self, engine: Engine, handle: Engine, figure: Figure, rows: Sequence[TaskRows], *, row: int, strength: float
    ) -> None:
        """Fill row `row` of the engine's postures to be near to.

        Args:
            engine: The engine.
            handle: The handle on it.
            figure: The figure.
            rows: The rows of its tasks.
            row: The row to fill.
            strength: Factor on the whole criterion.
        """
        self._engine, self._handle, self._figure, self._rows = engine, handle, figure, rows
        self._row, self._strength = row, strength
        self._start = figure.neutral()
        self._likely_at_start: FloatArray | None = None
        self._known: set[Task] = set()
        """The tasks whose handles gave the likely posture at the start."""
        self._asked: Sequence[object] = []
        self._counted = {t.task for t in rows}
        people = people_of(figure)
        self._model = None if people is None else likely_model(figure)
        self._spread = _range_spread(figure) if people is None else _with_lever(figure, people.spread)
        self._handles_of = [_Handle(t, point) for t, point in _handled(figure, rows)] if people is not None else []
        self._leaves_axes_free = any(handle.is_partial for handle in self._handles_of)
        self._sites = [(t, body_of(figure, t.task.site)) for t in rows if hasattr(t.task, "site")]
        self._gazes = [
            NaturalGaze(figure, t.task, _branchings(figure, body))
            for t, body in self._sites
            if isinstance(t.task, LookAt) and is_gaze(figure, t.task)
        ]
        self._recruited = {t.task: recruited(figure, t.task) for t in rows}
        self._way = np.zeros((2, figure.nv))

    def begin(self, q: FloatArray) -> None:
        """Start from the coordinates `q` (nq,): what no task asks to move stays there."""
        self._start, self._asked, self._likely_at_start = Posture(self._figure, q.copy()), [], None

    def follow(self, targets: Targets, levels: int) -> None:
        """Set centre and weights for the tasks of the first `levels` levels and the soft ones.

        Args:
            targets: Targets that some tasks have been given.
            levels: Number of levels that count: the way of a level alone does not depend on the levels below it.
        """
        counted = [t.level < levels or t.task.soft for t in self._rows]
        asked = [targets.get(t.task, t.task) if counts else t for t, counts in zip(self._rows, counted, strict=True)]
        if len(asked) == len(self._asked) and all(a is b for a, b in zip(asked, self._asked, strict=True)):
            return
        self._asked, self._counted = asked, {t.task for t, counts in zip(self._rows, counted, strict=True) if counts}
        criteria = self._engine.criteria
        evaluate_current(self._handle, self._start._q)
        moved = [(t, b) for t, b in self._sites if t.task in self._counted and self._largest_error(t) > MOVED]
        none = np.zeros(self._figure.nv)
        branchings = np.min([_branchings(self._figure, body) for _, body in moved] or [none], axis=0)
        weights = LIMB_WEIGHT * BRANCHING**branchings * np.square(np.median(self._spread) / self._spread)
        spread = np.where(branchings == 0.0, LIMB_SHARE, 1.0) * self._spread
        may_move = self._may_move([t for t, _ in moved])
        if not may_move.all():
            # Joints that no task may move must not move to make things easier for those that one may.
            weights = np.where(may_move, 0.0, weights)
        criteria.posture_weight[self._row] = self._strength * weights
        centre = self._centre(targets, np.where(may_move, spread, np.inf))
        criteria.postures[self._row] = self._with_gazes(centre, targets, {t.task for t, _ in moved}, may_move)

    def _largest_error(self, t: TaskRows) -> float:
        """Largest error of a task at the posture evaluated last [m or rad]."""
        return float(np.abs(self._engine.current.error[t.rows]).max(initial=0.0))

    def _may_move(self, tasks: Sequence[TaskRows]) -> FloatArray:
        """(nv,) 1 for joints that one of these tasks may move, else 0."""
        masks = [self._recruited[t.task] for t in tasks]
        found: FloatArray = np.zeros(self._figure.nv)
        for mask in masks:
            found = np.maximum(found, 1.0 if mask is None else mask)
        return found

    def first_posture(self, targets: Targets) -> Posture | None:
        """A posture to start from when none is given: the likely one for the handles, for people on their feet."""
        handles = self._handles(targets, self._start)
        if self._model is None or not any(isinstance(handles.get(foot), Pose) for foot in FEET):
            return None
        return self._figure.clamp(Posture(self._figure, self._likely(targets, handles)))

    def _centre(self, targets: Targets, spread: FloatArray) -> FloatArray:
        """(nq,) the centre at the present targets, for joints with these spreads (nv,)."""
        start, figure = self._start, self._figure
        if self._model is None:
            return start._q
        if self._likely_at_start is None or self._known != self._counted:
            self._known = self._counted
            handles = [handle for handle in self._handles_of if handle.rows.task in self._counted]
            here = {handle.point: figure.pose_of(handle.point, start) for handle in handles}
            frames = {handle.point for handle in handles if isinstance(handle.rows.task, Frame)}
            self._likely_at_start = self._likely_for({n: p if n in frames else p.position for n, p in here.items()})
        now = self._likely(targets, self._handles(targets, start))
        centre, tree = np.empty(figure.nq), figure.compiled.tree
        blend_likely(tree, start._q, self._likely_at_start, now, spread, _part_starts(figure), self._way, centre)
        clamp(figure.compiled.bounds, start._q, centre)
        return centre

    def _with_gazes(
        self, centre: FloatArray, targets: Targets, moved: Collection[Task], may_move: FloatArray
    ) -> FloatArray:
        """(nq,) a centre turned to where the tasks in `moved` look, by joints that may move (nv,)."""
        found = centre.copy()
        for gaze in self._gazes:
            if gaze.task in moved:
                value = targets.get(gaze.task, gaze.task)
                asked = value if isinstance(value, Task) else gaze.task.with_target(value)
                assert isinstance(asked, LookAt)
                gaze.turn(found, asked, may_move)
        return found

    def _likely(self, targets: Targets, handles: Handles) -> FloatArray:
        """(nq,) the likely coordinates for handles; axes that no task asks for are those of the likely posture."""
        found = self._likely_for(handles)
        if self._leaves_axes_free:
            found = self._likely_for(self._handles(targets, Posture(self._figure, found)))
        return found

    def _likely_for(self, handles: Mapping[str, Pose | ArrayLike]) -> FloatArray:
        """(nq,) the likely coordinates for handles; feet are as at the start, or turned so, where nothing is given."""
        assert self._model is not None
        feet: dict[str, Pose | ArrayLike] = {}
        for foot in FEET:
            given = handles.get(foot)
            if not isinstance(given, Pose):
                here = self._figure.pose_of(foot, self._start)
                feet[foot] = here if given is None else Pose(given, here.rotation)
        q = self._start._q.copy()
        likely_coordinates(self._model, *handle_arrays({**handles, **feet}), q)
        return q

    def _handles(self, targets: Targets, posture: Posture) -> Handles:
        """Wanted poses and positions of points that the model of people knows, as if the rest were in `posture`."""
        found: Handles = {}
        evaluate_current(self._handle, posture._q)
        for handle in (handle for handle in self._handles_of if handle.rows.task in self._counted):
            here, task = self._figure.pose_of(handle.point, posture), handle.rows.task
            if isinstance(task, Frame):
                value = targets.get(task, task)
                asked = value if isinstance(value, Task) else task.with_target(value)
                site, target = self._figure.pose_of(task.site, posture), asked.target_in(posture)
                assert target is not None
                found[handle.point] = Pose(target.wanted, target.rotation) @ (site.inverse() @ here)
            else:
                found.setdefault(handle.point, here.position + handle.way(self._engine.current.error))
        return found


class _Handle:
    """A task that says where a point that the model of people knows should be."""

    def __init__(self, rows: TaskRows, point: str) -> None:
        """Take a `Position` or a `Frame` in the world."""
        self.rows, self.point = rows, point
        self._counted = rows.goals[0].weights > 0.0
        self.is_partial = int(self._counted.sum()) < DIMENSIONS

    @cached_property
    def _from_rows(self) -> FloatArray:
        """(3, rows) the way of the point, from the errors of the rows that count."""
        return np.asarray(np.linalg.pinv(self.rows.goals[0].directions[self._counted]), dtype=np.float64)

    def way(self, error: FloatArray) -> FloatArray:
        """(3,) how far the point has to go, from the errors of all rows."""
        start = self.rows.rows.start
        way: FloatArray = self._from_rows @ error[start : start + len(self._counted)][self._counted]
        return way


def _handled(figure: Figure, rows: Sequence[TaskRows]) -> Iterator[tuple[TaskRows, str]]:
    """The tasks that say where a point in the world should be, with that of the model of people on the same body."""
    for t in rows:
        if isinstance(t.task, Position | Frame) and t.task.relative_to is None:
            point = handle_point(figure, t.task.site)
            if point is not None:
                yield t, point


def _with_lever(figure: Figure, spread: FloatArray) -> FloatArray:
    """(nv,) spreads: those of people with that of a base's place set to that of its rotation, times a lever.

    Joints that not every human has follow, with a share of their range.
    """
    found: FloatArray = np.concatenate([np.maximum(spread, LEAST_SPREAD), _range_spread(figure)[len(spread) :]])
    for joint in figure.joints:
        if joint.kind == "free":
            at = figure.v_slice(joint.name)
            found[at.start : at.start + 3] = BASE_LEVER * spread[at.start + 3 : at.stop].mean()
    return found


@lru_cache(maxsize=16)
def _range_spread(figure: Figure) -> FloatArray:
    """(nv,) a share of every joint's range, and one of a half turn for joints without limits [rad or m]."""
    spread: FloatArray = RANGE_SHARE * np.minimum(ranges_of(figure)[1], math.pi)
    return spread


@lru_cache(maxsize=16)
def _part_starts(figure: Figure) -> IntArray:
    """(parts + 1,) first velocity of each part of the motion that belongs together, and the number of velocities.

    A part is the turn of a ball joint, the place or the rotation of a base, or any other axis.
    """
    found: list[int] = []
    for joint in figure.joints:
        at = figure.v_slice(joint.name)
        found += range(at.start, at.stop, 3 if joint.kind in ("free", "ball") else 1)
    return np.array([*found, figure.nv], dtype=np.int64)


@lru_cache(maxsize=256)
def _branchings(figure: Figure, body: str) -> FloatArray:
    """(nv,) how many bodies from which several limbs go out lie between a body and each joint; eyes are no limbs."""
    beside: dict[str | None, list[tuple[str | None, str]]] = {}
    for joint in figure.joints:
        beside.setdefault(joint.parent, []).append((joint.child, joint.name))
        beside.setdefault(joint.child, []).append((joint.parent, joint.name))
    looking = {b.name for b in figure.bodies if b.facing is not None}
    eyes = {joint.name for joint in figure.joints if joint.parent in looking and joint.child in looking}
    limbs = {b for b, joints in beside.items() if sum(name not in eyes for _, name in joints) > 2}
    found, seen, todo = np.zeros(figure.nv), {body}, [(body, 0)]
    while todo:
        here, count = todo.pop()
        passed = count + (here in limbs and here != body)
        for there, name in beside.get(here, []):
            if there not in seen:
                found[figure.v_slice(name)] = passed
                if there is not None:
                    seen.add(there)
                    todo.append((there, passed))
    return found
