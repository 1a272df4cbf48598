"""Frames between keys, each solved with the tasks of its time.

Between two keys the targets of tasks move along curves (`task_curves.py`), feet that change their place make steps
(`footsteps.py`), and all joints are drawn, below all tasks, to a posture that moves from one key's posture to the next
(`curves.py`). The engine solves each frame from the one before, so limits, loops, contacts and the floor hold in every
frame, and a task of a higher priority is not given up for a posture. Every stretch between two whole keys begins with
the posture of its first key and depends on nothing before it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from poise.arguments import positive, shown
from poise.engine.animation import SAME_TIME, Animation, Key
from poise.engine.scene import Scene
from poise.engine.solver import Solver
from poise.errors import TaskError
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray, Pose
from poise.figure.model.posture import Posture
from poise.motion.clip.clip import Clip, frame_times
from poise.motion.clip.motion import Motion
from poise.motion.filter.filter import MotionFilter
from poise.motion.keys.curves import NUMBERS, Curve, postures
from poise.motion.keys.footsteps import Foot, Footsteps, footsteps
from poise.motion.keys.task_curves import TaskCurve, as_it_is, target_of, task_curves
from poise.tasks.mass import CenterOfMass
from poise.tasks.place import Frame
from poise.tasks.posture import Hold
from poise.tasks.task import Task

MOST_STEPS = 60
"""Largest number of solver steps for one frame."""
AT_REST = 1e-8
"""Largest change of a joint in a step at which a frame is solved [rad or m]."""
BASE_PLACE_WEIGHT, BASE_TURN_WEIGHT = 0.1, 20.0
"""Weights of the place and of the direction of a floating base in the posture between keys; joints have 1."""
STILL_STEPS = 2
"""Number of steps without a movement after which a frame is solved."""
SAME_AS_CLIP = 1e-3
"""Difference up to which a target agrees with the clip under the keys [m or rad]."""
DRAWN_TO_POSTURE = "the posture between keys"
"""Name of the task that keeps all joints near the posture interpolated between two keys."""
Progress = Callable[[int, int], object]


def animate(
    scene: Scene, *, rate: float | None = None, filter: MotionFilter | None = None, progress: Progress | None = None
) -> Motion:
    """The motion of a scene's animation: every frame is solved with the tasks of its time.

    Args:
        scene: A scene with an animation, whose keys have postures of its figure.
        rate: Frames per second [1/s]; that of the animation if not given.
        filter: A motion filter as the last pass: joints then keep its limits of speed, acceleration and jerk, and lag
            behind by what it holds back, feet too.
        progress: Called after every frame with the number of frames that are done, and of all.

    Raises:
        TaskError: The scene has no animation, or its animation has no keys.
    """
    inbetweens = Inbetweens(scene, rate)
    frames: list[FloatArray] = []
    for stretch in inbetweens.stretches:
        for q in stretch.frames():
            frames.append(q)
            if progress is not None:
                progress(len(frames), len(inbetweens.times))
    return finished(inbetweens, np.array(frames), filter)


def finished(inbetweens: Inbetweens, q: FloatArray, filter: MotionFilter | None) -> Motion:
    """The motion with these frames (frames, nq), filtered if a filter is given."""
    figure, rate = inbetweens.scene.figure, inbetweens.rate
    motion = Motion(figure, q, rate, inbetweens.scene.description or figure.name)
    if filter is None:
        return motion
    return filtered(motion, filter)


def filtered(motion: Motion, filter: MotionFilter) -> Motion:
    """The motion with every joint led by a motion filter, at rest in the first frame.

    The filter follows the ways that the joints have gone since the first frame, which have no jumps for balls either;
    a frame differs from that of the motion by how far the filter is behind.
    """
    figure = motion.figure
    ways = np.vstack([np.zeros(figure.nv), np.cumsum(motion.velocity, axis=0) / motion.rate])
    filter.reset(ways[0])
    behind = filter.run(ways, motion.rate) - ways
    frames = [figure.clamp(figure.integrate(posture, way)).q for posture, way in zip(motion, behind, strict=True)]
    return Motion(figure, np.array(frames), motion.rate, motion.name)


class Inbetweens:
    """Tasks and reference posture at every time of an animation, and the intervals that can be solved independently."""

    def __init__(self, scene: Scene, rate: float | None = None) -> None:
        """Lay curves through the keys of a scene's animation."""
        if not isinstance(scene, Scene):
            raise TaskError(f"animate takes a scene, such as Scene(figure, animation=…), not {shown(scene)}.")
        animation = scene.animation
        if animation is None or animation.is_empty:
            raise TaskError("there is nothing to animate: the scene has no keys.")
        wanted = animation.rate if rate is None else rate
        self.scene, self.rate = scene, positive(wanted, "the rate of an animation", unit="frames per second")
        self.times = frame_times(scene.figure, animation.duration, self.rate)
        """(frames,) times of all frames [s]."""
        self._animation = animation
        self._keys = _played_keys(animation)
        self.clip: Clip | None = animation.clip
        """The clip that plays under the keys."""
        if self.clip is not None and self.clip.figure != scene.figure:
            raise TaskError(
                f"the clip under the keys is of figure {self.clip.figure.name!r}, not of {scene.figure.name!r}: "
                "retarget it first."
            )
        self.tracks = task_curves(scene.figure, self._keys, loop=animation.loop)
        """The tasks, with the curves of their targets."""
        if self.clip is not None:
            self.tracks = _over_clip(self.tracks, self.clip)

    @cached_property
    def _posture_curve(self) -> Curve:
        """Postures, or what they change of the clip (nv,), between whole keys."""
        figure, clip = self.scene.figure, self.clip
        whole = [key for key in self._keys if key.is_whole]
        start = figure.neutral() if self.scene.start is None else figure.posture(self.scene.start)
        values: list[Any] = [figure.posture(key.posture) for key in whole if key.posture is not None] or [start]
        times = [key.time for key in whole] or [0.0]
        if clip is not None:
            values = [figure.difference(clip.at(time), value) for time, value in zip(times, values, strict=True)]
            values = values if whole else [np.zeros(figure.nv)]
        space = postures(figure) if clip is None else NUMBERS
        return Curve(space, times, values, [key.ease for key in whole] or ["stop"], loop=self._animation.loop)

    def posture_at(self, time: float) -> Posture:
        """The posture that joints are drawn to at a time [s]."""
        found = self._posture_curve.at(time)
        if self.clip is None:
            return found  # type: ignore[no-any-return]
        return self.scene.figure.clamp(self.scene.figure.integrate(self.clip.at(time), found))

    @cached_property
    def stretches(self) -> list[Stretch]:
        """The frames from each whole key to the next; the last one has the last frame too."""
        last = self._animation.duration
        marks = [0.0, *(key.time for key in self._keys if key.is_whole and SAME_TIME < key.time < last), last]
        if last <= SAME_TIME:
            return [Stretch(self, 0.0, 0.0, self.times)]
        found = []
        for k, (start, end) in enumerate(pairwise(marks)):
            first = np.searchsorted(self.times, start - 0.5 * SAME_TIME)
            stop = len(self.times) if k == len(marks) - 2 else np.searchsorted(self.times, end - 0.5 * SAME_TIME)
            found.append(Stretch(self, start, end, self.times[first:stop]))
        return found

    def tasks_at(self, time: float) -> list[Task]:
        """The tasks that hold at a time, with their targets [s].

        At a whole key, and after the last one, they are those of the key.
        """
        whole = [key for key in self._keys if key.is_whole]
        own = next((key for key in whole if abs(key.time - time) < SAME_TIME), None)
        if whole and time > whole[-1].time:
            own = whole[-1]
        if own is not None and self.clip is None:
            return [task for task in own.tasks if task.active]
        return self.stretch_at(time).tasks_at(time)

    def stretch_at(self, time: float) -> Stretch:
        """The stretch in which a time is [s]."""
        return next((s for s in reversed(self.stretches) if s.start <= time + 0.5 * SAME_TIME), self.stretches[0])


def _over_clip(tracks: Sequence[TaskCurve], clip: Clip) -> list[TaskCurve]:
    """The tasks over a clip: those that ask at all their keys for what the clip does follow the clip, such as feet.

    The balance of a clip is its own.
    """
    found = []
    for track in tracks:
        if track.curve is None:
            continue
        follows = all(
            np.abs(track.curve.way_to(k, target_of(as_it_is(track.task_at(time), clip.at(time)), clip.figure))).max()
            < SAME_AS_CLIP
            for k, time in enumerate(track.curve.times.tolist())
        )
        found.append(replace(track, clip=clip) if follows else track)
    return found


def _played_keys(animation: Animation) -> list[Key]:
    """The keys up to the end; a loop ends with its first key again."""
    end = animation.duration
    keys = [key for key in animation.keys if key.time <= end + SAME_TIME]
    if not keys and animation.clip is None:
        raise TaskError(f"all keys are after the end of the animation at {end:g} s.")
    if keys and animation.loop and end - keys[-1].time > SAME_TIME:
        keys.append(replace(keys[0], time=end))
    return keys


@dataclass(frozen=True, eq=False)
class Stretch:
    """The frames between two whole keys."""

    inbetweens: Inbetweens
    start: float
    """Time of the first key [s]."""
    end: float
    """Time of the second key [s]."""
    times: FloatArray
    """(frames,) times of its frames [s]."""

    @cached_property
    def tracks(self) -> list[TaskCurve]:
        """The tasks that hold in it."""
        return [track for track in self.inbetweens.tracks if track.holds_in(self.start, self.end)]

    @cached_property
    def _feet(self) -> dict[TaskCurve, Foot]:
        """The feet that stand at both ends, by their tracks."""
        figure, found = self.inbetweens.scene.figure, {}
        for track in self.tracks:
            task = track.task
            if isinstance(task, Frame) and task.relative_to is None and track.curve is not None and track.clip is None:
                foot = Foot(figure, task.site, track.curve.at(self.start), track.curve.at(self.end))
                if all(foot.stands(pose, self.inbetweens.scene.obstacles) for pose in (foot.before, foot.after)):
                    found[track] = foot
        return found

    @cached_property
    def steps(self) -> Footsteps | None:
        """The steps of its feet; None if all stay where they are."""
        ends = self.inbetweens.posture_at(self.start), self.inbetweens.posture_at(self.end)
        return footsteps(list(self._feet.values()), self.start, self.end, ends)

    @cached_property
    def _center(self) -> CenterOfMass | None:
        """The task that moves the centre of mass during steps, in place of those that keep it over all feet."""
        balance = next((track.task for track in self.tracks if _is_balance(track.task)), None)
        if self.steps is None or balance is None:
            return None
        up = self.inbetweens.scene.figure.up_vector
        level = [axis for axis in np.eye(3) if abs(float(axis @ up)) < 0.5]
        return CenterOfMass(np.zeros(3), axes=level, priority=balance.priority, name=balance.name)

    def values_at(self, time: float) -> list[tuple[Task, Any]]:
        """The tasks that hold, each with its target at a time; None for a task without one [s]."""
        found: list[tuple[Task, Any]] = []
        for track in self.tracks:
            if self._center is not None and _is_balance(track.task):
                continue
            foot = self._feet.get(track) if self.steps is not None else None
            if foot is not None and self.steps is not None:
                found.append((track.task, self.steps.pose_at(foot, time)))
            else:
                found.append((track.task, track.target_at(time)))
        if self._center is not None and self.steps is not None and self.steps.center is not None:
            found.append((self._center, self.steps.center.at(time)))
        return found

    def tasks_at(self, time: float) -> list[Task]:
        """The tasks of the keys that hold, with their targets at a time [s]."""
        return [
            task if value is None else task.with_target(value)
            for task, value in self.values_at(time)
            if task is not self._center
        ] + [track.task for track in self.tracks if self._center is not None and _is_balance(track.task)]

    def posture_at(self, time: float) -> Posture:
        """The posture that joints are drawn to at a time; toes of rolling feet stay level [s]."""
        posture = self.inbetweens.posture_at(time)
        bent = {} if self.steps is None else self.steps.bends_toes(time)
        if not bent:
            return posture
        values = {joint: posture[joint] + angle for joint, angle in bent.items()}
        return posture.figure.clamp(posture.changed(values))

    @cached_property
    def _asked(self) -> list[tuple[list[tuple[Task, Any]], Posture]]:
        """What is asked in each frame: the tasks with their targets, and the posture that joints are drawn to."""
        return [(self.values_at(time), self.posture_at(time)) for time in self.times.tolist()]

    @property
    def digest(self) -> bytes:
        """Identifies everything that its frames depend on, for the same scene without its animation."""
        made = hashlib.sha256(self.inbetweens.posture_at(self.start).q.tobytes())
        for values, posture in self._asked:
            made.update(posture.q.tobytes())
            for task, value in values:
                made.update(f"{task.label} {task.rank} {task.weight}".encode())
                made.update(b"" if value is None else _numbers_of(value).tobytes())
        return made.digest()

    def frames(self) -> Iterator[FloatArray]:
        """The joint values (nq,) of its frames, one after the other."""
        scene = self.inbetweens.scene
        tasks = [task for task, _ in self.values_at(self.start)]
        lowest = 1 + max((task.priority for task in tasks), default=0)
        hold = Hold(
            self.inbetweens.posture_at(self.start),
            joints=scene.figure.moving_joints,
            priority=lowest,
            weight=posture_weights(scene.figure),
            name=DRAWN_TO_POSTURE,
        )
        solver = Solver(
            scene.figure, [*tasks, hold], obstacles=scene.obstacles, solid=scene.solid, forces=scene.forces, criteria=()
        )
        posture = self.inbetweens.posture_at(self.start)
        for values, wanted in self._asked:
            for task, value in values:
                if value is not None:
                    solver.target(task, value)
            solver.target(hold, wanted)
            posture = _settled(solver, posture)
            yield np.array(posture.q)


def posture_weights(figure: Figure) -> list[float]:
    """Weight of each velocity in the task that keeps joints near the interpolated posture.

    A floating base keeps its direction rather than its place: the weight of a body that bends shifts by its hips.
    """
    weights = np.ones(figure.nv)
    for joint in figure.joints:
        if joint.kind == "free":
            rows = figure.v_slice(joint.name)
            weights[rows.start : rows.start + 3] = BASE_PLACE_WEIGHT
            weights[rows.start + 3 : rows.stop] = BASE_TURN_WEIGHT
    return weights.tolist()


def _settled(solver: Solver, posture: Posture) -> Posture:
    """The posture at rest after some steps; a single step without movement may only be a rejected one."""
    still = 0
    for _ in range(MOST_STEPS):
        before, posture = posture, solver.step(posture)
        still = still + 1 if np.abs(solver.figure.difference(before, posture)).max(initial=0.0) < AT_REST else 0
        if still == STILL_STEPS:
            break
    return posture


def _is_balance(task: Task) -> bool:
    return isinstance(task, CenterOfMass) and task.over is not None


def _numbers_of(value: Any) -> FloatArray:
    if isinstance(value, Pose):
        return np.concatenate([value.position, value.rotation])
    return np.asarray(value.q if isinstance(value, Posture) else value, dtype=np.float64)
