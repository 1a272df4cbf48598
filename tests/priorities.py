"""Whether lower levels cost higher ones anything: questions about random figures and about the human."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import poise
from poise import CenterOfMass, LookAt, Orientation, Pose, Position
from poise.engine.problem import Problem
from poise.figure import BallLimits, Builder, Ellipse, Twist, ball, free, prismatic, revolute, universal
from poise.tasks.criteria import Criterion
from poise.tasks.task import Task

MET, SAME = 1e-6, 1e-11
"""Error up to which a level is met, and difference up to which two errors are the same.

Where a level is at its best, a tenth of a micrometre of its error is worth a tenth of a millimetre to the levels below:
a coarser measure would call a better answer a worse one."""
FEET = ("left_foot", "right_foot")


def worst_loss(
    figure: poise.Figure, tasks: list[Task], start: poise.Posture, criteria: Sequence[Criterion] | None = ()
) -> float:
    """The most that any level loses to those below it [m or rad]."""
    whole = errors(figure, tasks, start, criteria)
    priorities = sorted({task.priority for task in tasks})
    worst = 0.0
    for k, priority in enumerate(priorities[:-1]):
        alone = errors(figure, [task for task in tasks if task.priority <= priority], start, criteria)
        if all(max(whole[j], MET) >= max(alone[j], MET) - SAME for j in range(k)):
            worst = max(worst, whole[k] - alone[k])
    return worst


def errors(
    figure: poise.Figure, tasks: list[Task], start: poise.Posture, criteria: Sequence[Criterion] | None = ()
) -> list[float]:
    """Error of every level where a solve rests, continued once."""
    first = poise.solve(figure, tasks, start=start, max_steps=500, criteria=criteria)
    again = poise.solve(figure, tasks, start=first.posture, max_steps=500, criteria=criteria)
    return [float(error) for error in Problem(figure, tasks).level_errors(again.posture)]


def random_question(seed: int) -> tuple[poise.Figure, list[Task], poise.Posture]:
    """A random tree of joints of several kinds, tasks of three to six levels, a random start."""
    rng = np.random.default_rng(seed)
    figure = random_tree(rng).build()
    return figure, random_tasks(figure, rng), figure.random(rng)


def mechanism_question(seed: int) -> tuple[poise.Figure, list[Task], poise.Posture]:
    """A random tree with a loop, with joints coupled to each other, or both; tasks, and a random start."""
    rng = np.random.default_rng(seed)
    made = random_tree(rng)
    tree = made.build()
    single = [joint.name for joint in tree.joints if joint.kind in ("revolute", "prismatic")]
    has_loop = bool(rng.integers(2)) or len(single) < 2
    if len(single) >= 2 and not (has_loop and rng.integers(2)):
        one, other = rng.choice(single, 2, replace=False)
        if rng.integers(2):
            made.couple("follows", {one: 1.0, other: float(rng.uniform(-1.0, 1.0))})
        else:
            made.bound("together", {one: 1.0, other: 1.0}, lower=-0.5, upper=float(rng.uniform(0.1, 1.0)))
    if has_loop:
        one, other = (str(name) for name in rng.choice([body.name for body in tree.bodies], 2, replace=False))
        poses = tree.frames(tree.neutral())
        at = Pose(poses[other].position)
        made.loop(
            ball("closing"), one, other, parent_frame=poses[one].inverse() @ at, child_frame=poses[other].inverse() @ at
        )
    figure = made.build()
    start = figure.clamp(figure.random(rng))
    closed = figure.assemble({}, near=start) if has_loop else None
    if closed is not None:
        start = closed.posture if closed.status != "open" else figure.neutral()
    return figure, random_tasks(figure, rng), start


def random_tree(rng: np.random.Generator) -> Builder:
    """A tree of joints of several kinds."""
    made = Builder("tree")
    made.body("b0", mass=1.0, joint=free("base") if rng.integers(4) == 0 else None)
    count = int(rng.integers(4, 10))
    for i in range(1, count):
        axis = rng.normal(size=3)
        span = float(rng.uniform(0.5, 2.5))
        kinds = (
            revolute(f"j{i}", axis, limits=(-span, span)),
            revolute(f"j{i}", axis),
            prismatic(f"j{i}", axis, limits=(-0.2, 0.3)),
            universal(f"j{i}", "x", "y"),
            ball(f"j{i}", BallLimits(Ellipse(1.0, 0.6), Twist.between(-1.0, 1.0))),
        )
        parent = f"b{int(rng.integers(max(0, i - 3), i))}"
        made.body(f"b{i}", parent=parent, joint=kinds[rng.integers(5)], at=0.3 * rng.normal(size=3), mass=1.0)
    return made


def random_tasks(figure: poise.Figure, rng: np.random.Generator) -> list[Task]:
    """Tasks of three to six levels, some of them out of reach."""
    tasks: list[Task] = []
    for priority in range(1, int(rng.integers(3, 7)) + 1):
        body = f"b{int(rng.integers(1, len(figure.bodies)))}"
        there = figure.pose_of(body, figure.random(rng)).position + rng.choice([0.0, 0.3]) * rng.normal(size=3)
        match rng.integers(4):
            case 0:
                tasks.append(Orientation(body, figure.pose_of(body, figure.random(rng)).rotation, priority=priority))
            case 1:
                tasks.append(LookAt(body, at=2.0 * rng.normal(size=3), priority=priority))
            case 2:
                tasks.append(CenterOfMass(at=there, axes="xz", priority=priority))
            case _:
                tasks.append(Position(body, at=there, priority=priority))
    return tasks


def human_question(seed: int) -> tuple[poise.Figure, list[Task], poise.Posture]:
    """The human stands and reaches with the right hand; the left hand has a conflicting target of lower priority."""
    rng = np.random.default_rng(seed)
    human = poise.load("human")
    start = human.posture("standing")
    right = np.array([-0.3, 1.1, 0.2]) + 0.35 * rng.normal(size=3)
    left = np.array([0.0, 1.5, 0.0]) + rng.normal(size=3)
    feet: list[Task] = [poise.Frame(foot, human.pose_of(foot, start)) for foot in FEET]
    tasks: list[Task] = [
        *feet,
        CenterOfMass(over=FEET, priority=2),
        Position("right_hand", at=right, priority=3),
        Position("left_hand", at=left, priority=4),
    ]
    return human, tasks, start
