"""Repeat the evaluation of inverse kinematics with loops [Schumacher et al. 2021, section V].

Each case is a robot and a motion. Every frame is one step of the engine from the previous frame, timed by the clock of
its own thread. With regularisers, whose cost is far from quadratic, a frame is as many steps as the figure needs to
rest; its time includes that of the verdict.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from poise.engine.solver import Solver
from poise.errors import TaskError
from poise.evaluation.loops.motions import Dance, Punch, Walk
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray, Pose
from poise.figure.model.posture import Posture
from poise.figures import built_in
from poise.tasks.mass import CenterOfMass
from poise.tasks.place import Frame, Orientation, Position
from poise.tasks.steady import StayStill, TurnSlowly
from poise.tasks.task import Task

FRAMES_PER_SECOND = 1200.0
"""Frame rate of the paper [1/s]."""
CASES = ("Boxer", "Boxer (reg.)", "Boxer (limited)", "Dancer", "Walker")
"""Names of the cases: those of table I, and the boxer with speed limits instead of regularisers."""
STATE_WEIGHT, VELOCITY_WEIGHT = 2e-4, 1e-4
"""Weights of the boxer's regularisers [Schumacher et al. 2021, V]."""
REGULARISED_SPEED = 4.0
"""Speed from which on the boxer's velocity regulariser acts: the paper's threshold of 1.11e-5 at its frame rate
[rad/s]."""
STEPS_PER_FRAME = 50
"""Largest number of steps per frame of a regularised motion."""

Target = Callable[[float], ArrayLike | Pose]
"""The target of a task as a function of time [s]."""


@dataclass(frozen=True)
class Case:
    """A robot, its tasks with their targets, and its initial posture."""

    figure: Figure
    tasks: Sequence[tuple[Task, Target]]
    start: Posture
    targets: str
    """Description of the targets, in the notation of table I."""
    limited: bool = False
    """Whether motors respect their speed limits."""
    regularised: bool = False
    """Whether regularisers keep the bodies slow."""

    def regularisers(self, rate: float) -> list[Task]:
        """The paper's state and velocity regularisers at a frame rate [1/s]."""
        if not self.regularised:
            return []
        slow = TurnSlowly(speed=REGULARISED_SPEED, rate=rate, weight=VELOCITY_WEIGHT)
        return [StayStill(weight=STATE_WEIGHT), slow]


@dataclass(frozen=True)
class Row:
    """Results of a case."""

    actuators: int
    joints: int
    components: int
    targets: str
    milliseconds: float
    """Median time per frame [ms]."""
    mean: float
    """Mean over the frames of the largest position error [mm]."""
    largest: float
    """Largest position error of all frames [mm]."""
    center: float | None
    """Largest error of the centre of mass [mm]; None without a task for it."""
    speed: float
    """Largest speed of a motor [rad/s]."""
    gap: float
    """Largest gap of a loop [m or rad]."""


def built(name: str) -> Case:
    """A case of table I by its name."""
    if name in ("Boxer", "Boxer (reg.)", "Boxer (limited)"):
        return replace(_boxer(), limited=name == "Boxer (limited)", regularised=name == "Boxer (reg.)")
    if name == "Dancer":
        figure, dance = built_in("dancer"), Dance()
        task = Frame("pelvis", dance.pose(figure, 0.0))
        return Case(figure, [(task, lambda at: dance.pose(figure, at))], figure.neutral(), "Fr (1)")
    if name == "Walker":
        return _walker()
    raise TaskError(f"the cases are {', '.join(CASES)}; there is no {name!r}.")


def _boxer() -> Case:
    figure, punch = built_in("boxer"), Punch()
    start = figure.posture(punch.start())
    task = Frame("glove", punch.pose(figure, 0.0))
    return Case(figure, [(task, lambda at: punch.pose(figure, at))], start, "Fr (1)")


def _walker() -> Case:
    """The walker: feet first, then the centre of mass over the ground, then height and orientation of the pelvis."""
    figure, walk = built_in("walker").with_floating_base(), Walk()
    pelvis = walk.pelvis(figure, 0.0)
    left, right = (Frame(f"{side}_foot", walk.foot(figure, side, 0.0), priority=1) for side in ("left", "right"))
    center = CenterOfMass(at=walk.center(figure, 0.0), axes="xz", priority=2)
    height = Position("pelvis", at=pelvis.position, axes="y", priority=3)
    turn = Orientation("pelvis", pelvis.rotation, priority=3)
    tasks: list[tuple[Task, Target]] = [
        (left, lambda at: walk.foot(figure, "left", at)),
        (right, lambda at: walk.foot(figure, "right", at)),
        (center, lambda at: walk.center(figure, at)),
        (height, lambda at: walk.pelvis(figure, at).position),
        (turn, lambda at: walk.pelvis(figure, at).rotation),
    ]
    return Case(figure, tasks, figure.neutral(), "Fr (3), CoM")


def run(case: Case, seconds: float, rate: float = FRAMES_PER_SECOND) -> Row:
    """Run the motion of a case frame by frame, and measure times and errors."""
    if not (seconds > 0.0 and rate > 0.0):
        raise TaskError(f"an evaluation needs a positive duration and rate, not {seconds} s at {rate} per second.")
    figure, dt = case.figure, 1.0 / rate
    tasks = [*(task for task, _ in case.tasks), *case.regularisers(rate)]
    solver = Solver(figure, tasks, dt=dt if case.limited else None)
    motors = [figure.v_slice(joint.name).start for joint in figure.joints if joint.active and joint.nv == 1]
    posture, times, errors, speed, gap = case.start, [], [], 0.0, 0.0
    for k in range(1, round(seconds * rate) + 1):
        wanted = [target(k * dt) for _, target in case.tasks]
        for (task, _), value in zip(case.tasks, wanted, strict=True):
            solver.target(task, value)
        begin = time.thread_time()
        after = solver.settle(posture, max_steps=STEPS_PER_FRAME).posture if case.regularised else solver.step(posture)
        times.append(time.thread_time() - begin)
        speed = max(speed, float(np.abs(figure.difference(posture, after)[motors]).max()) * rate)
        gap = max(gap, figure.closure_error(after))
        errors.append(_errors(case, after, wanted))
        posture = after
    frames, center = np.array(errors).T
    has_center = any(isinstance(task, CenterOfMass) for task, _ in case.tasks)
    return Row(
        actuators=len(motors),
        joints=sum(not joint.active and joint.nv > 0 for joint in (*figure.joints, *figure.loops)),
        components=sum(body.mass.mass > 0.0 for body in figure.bodies),
        targets=case.targets,
        milliseconds=1e3 * float(np.median(times)),
        mean=1e3 * float(frames.mean()),
        largest=1e3 * float(frames.max()),
        center=1e3 * float(center.max()) if has_center else None,
        speed=speed,
        gap=gap,
    )


def _errors(case: Case, posture: Posture, wanted: Sequence[ArrayLike | Pose]) -> tuple[float, float]:
    """Largest position error of the frames, and error of the centre of mass, along the axes of the tasks [m]."""
    frames, center = 0.0, 0.0
    for (task, _), value in zip(case.tasks, wanted, strict=True):
        target = task.with_target(value).target_in(posture)
        error = 0.0 if target is None else _length(target.got - target.wanted)
        if isinstance(task, CenterOfMass):
            center = max(center, error)
        else:
            frames = max(frames, error)
    return frames, center


def _length(vector: FloatArray) -> float:
    return float(np.linalg.norm(vector))
