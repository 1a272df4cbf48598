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
p(h) for given handles h (`poise.figures.people.likely_posture`; `poise.engine.natural.humanoid` carries it over to
humanoids) says what to do about far targets: with h₀ the handles
at the start and h those of the targets, the centre of joint i is

    c_i = s_i + (1 - exp(-½ |p_i(h) - p_i(h₀)|² / σ_i²)) (p_i(h) - s_i)

with σ_i halved in the limb that has to move, which follows people sooner. A joint that people would not move,
p_i(h) = p_i(h₀), stays as it is, likely or not; one that they would move by more than it varies goes where they would
have it. The centre is a smooth function of the targets, and is s when they are met at the start. σ_i is doubled for
joints that move nothing that has a task. While one arm has a task, the other one hangs: where the trunk bends, s_i of
its shoulder is turned so that the arm keeps its direction in space, but for turns about the vertical.

**Gaze.** What looks with its face turns the centre to its target; eyes, head, trunk and legs share the turn as people
do (`poise.engine.natural.gaze`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from poise.engine.engine_arrays import TaskRows
from poise.engine.natural.gaze import NaturalGaze, is_gaze
from poise.engine.natural.humanoid import LikelyHumanoid, humanoid_rest
from poise.engine.natural.starts import standing_there, turned_postures
from poise.figure.model.compiled import IntArray
from poise.figure.model.figure import Figure
from poise.figure.model.path import moving_joints
from poise.figure.model.pose import FloatArray, Frames, Pose
from poise.figure.model.posture import Posture
from poise.figures.people.likely_posture import (
    FEET,
    SHOULDERS,
    handle_arrays,
    handle_point,
    likely_model,
    people_of,
)
from poise.kernels.body.clamp import clamp
from poise.kernels.body.likely_posture import blend_likely, likely_coordinates
from poise.kernels.engine.engine import Engine
from poise.kernels.engine.indirect_calls import evaluate_current
from poise.kernels.maths.vector import Vector
from poise.tasks.look_at import LookAt
from poise.tasks.place import Frame, Position
from poise.tasks.ranges import ranges_of
from poise.tasks.target import TargetLike
from poise.tasks.task import Task, recruited
from poise.tasks.touch import BoundTouch, Touch

if TYPE_CHECKING:
    from poise.engine.problem import Problem

BRANCHING = 10.0
"""Factor on the weight of a joint for every branching between it and the nearest site that has to move."""
LIMB_SHARE = 0.5
"""Factor on the spread of joints of the limb that has to move, so that it moves as people do sooner than the rest."""
FREE_SHARE = 2.0
"""Factor on the spread of joints that carry no body with a task: the targets say little about them."""
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
_NO_PREVIOUS_POSTURE = np.empty(0)

Targets: TypeAlias = "Mapping[Task, TargetLike | Task]"
Handles: TypeAlias = dict[str, Pose | FloatArray]


class NaturalMotion:
    """The centre and the weights of the criterion, for one figure and its tasks."""

    def __init__(
        self,
        engine: Engine,
        handle: Engine,
        figure: Figure,
        rows: Sequence[TaskRows],
        *,
        row: int,
        strength: float,
        compiled: Callable[[Figure, Sequence[Task]], Problem],
        touches: Sequence[BoundTouch] = (),
    ) -> None:
        """Prepare row `row` of the engine's reference postures.

        Args:
            engine: The engine.
            handle: The handle on it.
            figure: The figure.
            rows: The rows of its tasks.
            row: The row to fill.
            strength: Factor on the whole criterion.
            compiled: Compiles tasks of a figure.
            touches: Its `Touch` tasks.
        """
        self._engine, self._handle, self._figure, self._rows = engine, handle, figure, rows
        self._row = row
        self._likely_postures = _likely_postures(figure, compiled)
        self._up = Vector(*figure.up_vector.tolist())
        by_task: dict[Task, BoundTouch] = {touch.task: touch for touch in touches}
        self._handles_of = [
            _Handle(t, point, by_task.get(t.task)) for t, point in _handled(self._likely_postures, rows)
        ]
        self._leaves_axes_free = any(handle.is_partial for handle in self._handles_of)
        self._sites = [(t, figure.body_of(t.task.site)) for t in rows if hasattr(t.task, "site")]
        self._gazes = [
            (t, NaturalGaze(figure, t.task, _branchings(figure, body)))
            for t, body in self._sites
            if isinstance(t.task, LookAt) and is_gaze(figure, t.task)
        ]
        self._masks = [recruited(figure, t.task) for t in rows]
        self._way = np.zeros((2, figure.nv))
        self.begin_anew(strength)

    def begin_anew(self, strength: float) -> None:
        """Forget everything but the structure of the tasks, which may have other targets now."""
        figure, self._strength = self._figure, strength
        self._start, self._start_frames = figure.neutral(), _frames_in_neutral(figure)
        self._likely_at_start: FloatArray | None = None
        self._known: frozenset[Task] = frozenset()
        """The tasks that counted when the likely posture at the start was computed."""
        self._asked: Sequence[object] = []
        self._counted = frozenset(t.task for t in self._rows)
        self._recruited = {t.task: mask for t, mask in zip(self._rows, self._masks, strict=True)}
        self._recruitments: dict[tuple[frozenset[Task], tuple[Task, ...]], _Recruitment] = {}
        """Cache; keys are the tasks that count, and those of them that have to move their sites."""
        self._asked_poses: dict[_Handle, tuple[TargetLike | Task, Pose]] = {}
        """Cache of the poses that tasks ask for, with the targets that they were computed from."""
        for rows, gaze in self._gazes:
            assert isinstance(rows.task, LookAt)
            gaze.task = rows.task

    def begin(self, q: FloatArray) -> None:
        """Start from the coordinates `q` (nq,): what no task asks to move stays there."""
        self._start, self._asked, self._likely_at_start = Posture(self._figure, q.copy()), [], None
        self._start_frames = self._figure.frames(self._start)
        if isinstance(self._likely_postures, LikelyHumanoid):
            self._likely_postures.forget()

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
        self._asked = asked
        self._counted = frozenset(t.task for t, counts in zip(self._rows, counted, strict=True) if counts)
        criteria = self._engine.criteria
        evaluate_current(self._handle, self._start._q)
        errors = self._engine.current.error.tolist()
        moved = [
            (t, body)
            for t, body in self._sites
            if t.task in self._counted and any(abs(error) > MOVED for error in errors[t.rows])
        ]
        key = tuple(t.task for t, _ in moved)
        recruitment = self._recruitments.get((self._counted, key))
        if recruitment is None:
            recruitment = self._recruitments[self._counted, key] = self._recruitment(moved)
        criteria.posture_weight[self._row] = self._strength * recruitment.weights
        centre = self._centre(targets, recruitment)
        criteria.postures[self._row] = self._with_gazes(centre, targets, key, recruitment.may_move)

    def _recruitment(self, moved: Sequence[tuple[TaskRows, str]]) -> _Recruitment:
        """Which joints move first for the tasks that have to move a site of these bodies."""
        held = tuple(body for t, body in self._sites if t.task in self._counted)
        may_move = self._may_move([t for t, _ in moved])
        return _recruitment(self._figure, tuple(body for _, body in moved), held, may_move.tobytes())

    def _may_move(self, tasks: Sequence[TaskRows]) -> FloatArray:
        """(nv,) 1 for joints that one of these tasks may move, else 0."""
        masks = [self._recruited[t.task] for t in tasks]
        found: FloatArray = np.zeros(self._figure.nv)
        for mask in masks:
            found = np.maximum(found, 1.0 if mask is None else mask)
        return found

    def first_posture(self, targets: Targets) -> Posture | None:
        """A posture to start from when none is given: the likely one for the handles, for people on their feet."""
        people = self._likely_postures
        if people is None or self._placed().isdisjoint(people.feet):
            return None
        found = self._likely(targets, self._handles_from_start(targets)).copy()
        clamp(self._figure.compiled.bounds, _NO_PREVIOUS_POSTURE, found)
        return Posture(self._figure, found)

    def other_postures(self, targets: Targets, *, solid: bool) -> Iterator[Posture]:
        """Yield other postures to start from, for people whose feet are placed: see `poise.engine.natural.starts`.

        Args:
            targets: Targets that some tasks have been given.
            solid: Whether there are parts that cannot pass through each other.
        """
        people = self._likely_postures
        if isinstance(people, LikelyPerson) and self._placed().issuperset(people.feet):
            handles = self._handles_from_start(targets)
            if solid:
                yield self._figure.clamp(standing_there(self._figure, handles))
            yield from turned_postures(self._figure, self._likely_for, handles)

    def _placed(self) -> set[str]:
        """The points of the model of people that `Frame` tasks place."""
        return {handle.point for handle in self._handles_of if isinstance(handle.rows.task, Frame)}

    def _handles_from_start(self, targets: Targets) -> Handles:
        """Wanted poses and positions of the model's points; what no task asks for is as at the start."""
        evaluate_current(self._handle, self._start._q)
        return self._handles(targets, self._start, self._start_frames)

    def _centre(self, targets: Targets, recruitment: _Recruitment) -> FloatArray:
        """(nq,) the centre at the present targets."""
        start, figure = self._start, self._figure
        if self._likely_postures is None:
            return start._q
        if self._likely_at_start is None or self._known != self._counted:
            self._known = self._counted
            handles = [handle for handle in self._handles_of if handle.rows.task in self._counted]
            turned = {handle.point for handle in handles if isinstance(handle.rows.task, Frame)}
            points = tuple((handle.point, handle.point in turned) for handle in handles)
            if isinstance(self._likely_postures, LikelyPerson):
                self._likely_at_start = _likely_at(figure, start._q.tobytes(), points)
            else:
                self._likely_at_start = self._likely_for(_places(self._start_frames, points))
        now = self._likely(targets, self._handles(targets, start, self._start_frames))
        centre, tree = np.empty(figure.nq), figure.compiled.tree
        was, spread, hanging = self._likely_at_start, recruitment.spread, recruitment.hanging
        parts = _part_starts(figure)
        blend_likely(tree, start._q, was, now, spread, parts, hanging, self._up, self._way, centre)
        clamp(figure.compiled.bounds, start._q, centre)
        return centre

    def _with_gazes(
        self, centre: FloatArray, targets: Targets, moved: Collection[Task], may_move: FloatArray
    ) -> FloatArray:
        """(nq,) a centre turned to where the tasks in `moved` look, by joints that may move (nv,)."""
        found = centre.copy()
        for _, gaze in self._gazes:
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
            likely = Posture(self._figure, found)
            evaluate_current(self._handle, found)
            found = self._likely_for(self._handles(targets, likely, self._figure.frames(likely)))
        return found

    def _likely_for(self, handles: Mapping[str, Pose | ArrayLike]) -> FloatArray:
        """(nq,) the likely coordinates for handles; feet are as at the start, or turned so, where nothing is given."""
        assert self._likely_postures is not None
        return self._likely_postures.likely(handles, self._start_frames)

    def _handles(self, targets: Targets, posture: Posture, frames: Frames) -> Handles:
        """Wanted poses and positions of the model's points; what no task asks for is taken from `posture`.

        Args:
            targets: Targets that some tasks have been given.
            posture: The posture.
            frames: Where all bodies and sites are in it; the errors of all tasks there must have been evaluated.
        """
        found: Handles = {}
        for handle in (handle for handle in self._handles_of if handle.rows.task in self._counted):
            if isinstance(handle.rows.task, Frame):
                found[handle.point] = self._asked_pose(handle, targets)
            elif handle.point not in found:
                here = frames.position[frames.index[handle.point]]
                found[handle.point] = here + handle.way(self._engine.current.error, posture)
        return found

    def _asked_pose(self, handle: _Handle, targets: Targets) -> Pose:
        """The pose of a handle's point that its `Frame` task asks for."""
        task = handle.rows.task
        assert isinstance(task, Frame)
        value, known = targets.get(task, task), self._asked_poses.get(handle)
        if known is not None and known[0] is value:
            return known[1]
        asked = value if isinstance(value, Task) else task.with_target(value)
        assert isinstance(asked, Frame)
        pose = asked.wanted
        if handle.point != task.site:
            pose @= _on_its_body(self._figure, task.site, handle.point)
        self._asked_poses[handle] = value, pose
        return pose


@lru_cache(maxsize=64)
def _on_its_body(figure: Figure, part: str, point: str) -> Pose:
    """The pose of a point relative to a part of the same body."""
    frames = _frames_in_neutral(figure)
    return frames[part].inverse() @ frames[point]


class LikelyPerson:
    """The likely posture of the built-in human for given handles."""

    feet = FEET
    """The parts that are its feet."""

    def __init__(self, figure: Figure) -> None:
        """Take a human of any size."""
        self._figure = figure

    def point_of(self, part: str) -> str | None:
        """The point that the model of people knows on the same body as a site or body; None if there is none."""
        return handle_point(self._figure, part)

    def likely(self, handles: Mapping[str, Pose | ArrayLike], start: Frames) -> FloatArray:
        """(nq,) the likely coordinates for handles; feet are as at the start, or turned so, where nothing is given."""
        arrays, q = handle_arrays(handles), self._figure.neutral()._q.copy()
        for foot in FEET:
            given, row = handles.get(foot), start.index[foot]
            if not isinstance(given, Pose):
                place = start.position[row] if given is None else np.asarray(given, dtype=np.float64)
                arrays.set(foot, place, start.rotation[row])
        likely_coordinates(likely_model(self._figure), *arrays, q)
        return q


def _places(frames: Frames, points: Iterable[tuple[str, bool]]) -> Handles:
    """Positions of points; poses for those whose second entry is true."""
    return {name: frames[name] if turned else frames[name].position for name, turned in points}


@lru_cache(maxsize=64)
def _likely_at(human: Figure, q: bytes, points: tuple[tuple[str, bool], ...]) -> FloatArray:
    """(nq,) the likely coordinates for points of a human where they are at the coordinates `q`: see `LikelyPerson`."""
    frames = human.frames(Posture(human, np.frombuffer(q).copy()))
    return LikelyPerson(human).likely(_places(frames, points), frames)


def is_person(figure: Figure) -> bool:
    """Whether the likely postures of people are known for a figure: the built-in human, or one built like people."""
    return people_of(figure) is not None or humanoid_rest(figure) is not None


def _likely_postures(
    figure: Figure, compiled: Callable[[Figure, Sequence[Task]], Problem]
) -> LikelyPerson | LikelyHumanoid | None:
    """What is known of the likely postures of a figure; None for figures that are not built like people."""
    if people_of(figure) is not None:
        return LikelyPerson(figure)
    return None if humanoid_rest(figure) is None else LikelyHumanoid(figure, compiled)


class _Recruitment(NamedTuple):
    """Which joints move first."""

    weights: FloatArray
    """(nv,) weight of each joint."""
    spread: FloatArray
    """(nv,) spread of each joint, infinite for those that may not move [rad or m]."""
    may_move: FloatArray
    """(nv,) 1 for joints that may move, else 0."""
    hanging: IntArray
    """(k,) nodes of the ball joints from which free limbs hang."""


class _Handle:
    """A task that says where a point that the model of people knows should be."""

    def __init__(self, rows: TaskRows, point: str, touch: BoundTouch | None) -> None:
        """Take a `Position` or a `Frame` in the world, or a `Touch` with its surfaces."""
        self.rows, self.point, self._touch = rows, point, touch
        self._counted = rows.goals[0].weights > 0.0
        self.is_partial = touch is not None or int(self._counted.sum()) < DIMENSIONS

    @cached_property
    def _from_rows(self) -> FloatArray:
        """(3, rows) map from the errors of the rows that count to the displacement of the point."""
        return _pseudo_inverse(self.rows.goals[0].directions[self._counted].tobytes())

    def way(self, error: FloatArray, posture: Posture) -> FloatArray:
        """(3,) displacement that brings the point to its target, from the errors of all rows in a posture."""
        if self._touch is not None:
            contact = self._touch.contact(posture)
            return np.asarray(-contact.distance * contact.normal, dtype=np.float64)
        start = self.rows.rows.start
        way: FloatArray = self._from_rows @ error[start : start + len(self._counted)][self._counted]
        return way


@lru_cache(maxsize=64)
def _pseudo_inverse(directions: bytes) -> FloatArray:
    """(3, rows) the pseudo-inverse of the directions (rows, 3) in these bytes."""
    return np.asarray(np.linalg.pinv(np.frombuffer(directions).reshape(-1, DIMENSIONS)), dtype=np.float64)


@lru_cache(maxsize=16)
def _frames_in_neutral(figure: Figure) -> Frames:
    """Where all bodies and sites are in the neutral posture."""
    return figure.frames(figure.neutral())


def _handled(people: LikelyPerson | LikelyHumanoid | None, rows: Sequence[TaskRows]) -> Iterator[tuple[TaskRows, str]]:
    """Tasks that place a body in the world, each with the point of the model of people on that body."""
    for t in rows:
        if isinstance(t.task, Position | Frame) and t.task.relative_to is not None:
            continue
        if people is not None and isinstance(t.task, Position | Frame | Touch):
            point = people.point_of(t.task.site)
            if point is not None:
                yield t, point


@lru_cache(maxsize=256)
def _recruitment(figure: Figure, moved: tuple[str, ...], held: tuple[str, ...], allowed: bytes) -> _Recruitment:
    """Which joints move first.

    Args:
        figure: The figure.
        moved: The bodies that tasks have to move.
        held: The bodies that have a task.
        allowed: (nv,) 1 for joints that may move, else 0.
    """
    may_move = np.frombuffer(allowed).copy()  # Kernels take arrays that can be written.
    weights, spread, freely = _limbs_first(figure, moved)
    free = 1.0 - np.max([moving_joints(figure, body) for body in held] or [np.zeros(figure.nv)], axis=0)
    spread = np.where(free, freely, spread)
    if not may_move.all():
        # Joints that no task may move must stay where they are, even if that would help the others.
        weights, spread = np.where(may_move, 0.0, weights), np.where(may_move, spread, np.inf)
    return _Recruitment(weights, spread, may_move, _hanging(figure, free * may_move))


def _hanging(figure: Figure, free: FloatArray) -> IntArray:
    """(k,) node of the shoulder of the free arm, if exactly one arm of a person has a task; `free` is (nv,)."""
    if people_of(figure) is None:
        return np.empty(0, dtype=np.int64)
    arms = [v for v in (figure.v_slice(name).start for name in SHOULDERS) if free[v] > 0.0]
    return figure.compiled.tree.dof_node[arms if len(arms) == 1 else []]


def _limbs_first(figure: Figure, moved: tuple[str, ...]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(nv,) weight [1/rad²] and spread [rad or m] of each joint, if tasks have to move these bodies.

    The last array has the spread of joints that move nothing that has a task.
    """
    own = _range_spread(figure) if people_of(figure) is None else _people_spread(figure)
    branchings = np.min([_branchings(figure, body) for body in moved] or [np.zeros(figure.nv)], axis=0)
    weights: FloatArray = BRANCHING**branchings * (LIMB_WEIGHT * np.square(np.median(own) / own))
    spread: FloatArray = np.where(branchings == 0.0, LIMB_SHARE, 1.0) * own
    return weights, spread, FREE_SHARE * own


def branchings_below(figure: Figure, body: str) -> int:
    """How many branchings are between a body and the farthest joint that carries it."""
    return int((_branchings(figure, body) * moving_joints(figure, body)).max(initial=0.0))


@lru_cache(maxsize=64)
def limb_joints(figure: Figure, body: str) -> tuple[str, ...]:
    """The joints between a body and the first branching on its way to the root; none where nothing branches."""
    branchings, carrying = _branchings(figure, body), moving_joints(figure, body) > 0.0
    if not branchings[carrying].any():
        return ()
    near = carrying & (branchings == 0.0)
    return tuple(name for name in figure.moving_joints if near[figure.v_slice(name)].any())


@lru_cache(maxsize=16)
def _people_spread(figure: Figure) -> FloatArray:
    """(nv,) spreads of people; for the position of a base, the spread of its rotation times a lever arm.

    Joints that not every human has follow, with a share of their range.
    """
    people = people_of(figure)
    assert people is not None
    spread = people.spread
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
    """(nv,) number of bodies with three or more limbs on the path from `body` to each joint; eyes are no limbs."""
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
