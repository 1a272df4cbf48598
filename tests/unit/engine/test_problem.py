"""Problems: invalid tasks are refused, targets change in place, and limits have names."""

import math

import numpy as np
import pytest

import poise
from poise import CenterOfMass, Frame, Hold, LookAt, MomentOfInertia, Orientation, Pose, Position, TaskError
from poise.engine.problem import Problem
from poise.figure.model.builder import Builder, ball, cylindrical, revolute
from poise.figure.model.limits import BallLimits, Ellipse, Twist
from poise.kernels.engine.step_model import MAX_EXCLUDED
from tests.unit.kernels.goals.evaluation import evaluate


@pytest.fixture(scope="module")
def human() -> poise.Figure:
    return poise.load("human")


def jointed() -> poise.Figure:
    """One joint of every sort that limits have names for."""
    made = Builder("jointed")
    made.body("base", mass=1.0)
    made.body("arm", parent="base", joint=revolute("hinge", "z", limits=(-1.0, 1.0)), mass=1.0)
    made.body("rod", parent="arm", joint=cylindrical("rod", "x"), at=(1, 0, 0), mass=1.0)
    region = BallLimits(Ellipse(1.0, 0.5), Twist.between(-1.0, 1.0))
    made.body("hand", parent="rod", joint=ball("wrist", limits=region), at=(1, 0, 0), mass=1.0)
    made.bound("together", {"hinge": 1.0, "rod.angle": 1.0}, lower=-1.5)
    return made.build()


def errors(problem: Problem, posture: poise.Posture) -> np.ndarray:
    engine = problem.engine
    evaluate(engine.tree, engine.goals, posture._q, engine.current)
    return engine.current.error.copy()


TARGETS = [
    (Position("right_hand", at=(0, 1, 0)), (0.3, 1.0, 0.2), Position("right_hand", at=(0.3, 1.0, 0.2))),
    (LookAt("eyes", at=(0, 1, 2)), (1, 1, 1), LookAt("eyes", at=(1, 1, 1))),
    (LookAt("eyes", direction="z"), (0, 2, 2), LookAt("eyes", direction=(0, 5, 5))),
    (LookAt("eyes", direction="z"), "y", LookAt("eyes", direction=(0, 1, 0))),
    (Orientation("head", (1, 0, 0, 0)), (0, 3, 0, 0), Orientation("head", (0, 1, 0, 0))),
    (Frame("head", Pose()), Pose((1, 2, 3), (0, 1, 0, 0)), Frame("head", Pose((1, 2, 3), (0, 1, 0, 0)))),
    (Frame("head", Pose()), ((1, 2, 3), (0, 1, 0, 0)), Frame("head", Pose((1, 2, 3), (0, 1, 0, 0)))),
    (CenterOfMass(at=(0, 1, 0)), (0.1, 0.9, 0), CenterOfMass(at=(0.1, 0.9, 0))),
    (MomentOfInertia("y", 1.0), 2.0, MomentOfInertia("y", 2.0)),
    (Hold("waving"), "standing", Hold("standing")),
    (Hold("waving"), Hold("standing"), Hold("standing")),
    (Position("right_hand", at=(0, 1, 0)), Position("right_hand", at=(1, 1, 1)), Position("right_hand", at=(1, 1, 1))),
]


@pytest.mark.parametrize(("task", "value", "same"), TARGETS)
def test_another_target_is_the_task_with_that_target(human, task, value, same):
    posture = human.random(3)
    last = Position("left_hand", at=(0, 0, 0), priority=2)
    moved = Problem(human, [task, last])
    moved.retarget(task, value)
    assert np.array_equal(errors(moved, posture), errors(Problem(human, [same, last]), posture))


def test_a_posture_held_last_gets_another(human):
    hold = Hold("standing", priority=2)
    problem = Problem(human, [Position("left_hand", at=(0, 0, 0)), hold])
    assert problem.last_hold is hold
    problem.retarget(hold, "waving")
    assert problem.hold_error(human.posture("waving")) == pytest.approx(np.zeros(human.nv), abs=1e-12)
    assert np.abs(problem.hold_error(human.posture("standing"))).max() > 0.1


@pytest.mark.parametrize(
    ("task", "value", "words"),
    [
        (Position("right_hand", at=(0, 1, 0)), (math.nan, 0, 0), "finite"),
        (Position("right_hand", at=(0, 1, 0)), (1, 0), "3"),
        (LookAt("eyes", direction="z"), (0, 0, 0), "must not be the zero vector"),
        (Orientation("head", (1, 0, 0, 0)), (0, 0, 0, 0), "quaternion"),
        (Frame("head", Pose()), 5.0, "a position and a rotation"),
        (CenterOfMass(over=["left_foot", "right_foot"]), (0, 0, 0), "stays over its support"),
        (MomentOfInertia("y", 1.0), -1.0, "must be a number of 0 kg"),
        (MomentOfInertia("y", 1.0), (1.0, 2.0), "must be a number of 0 kg"),
        (Position("right_hand", at=(0, 1, 0)), Pose(), "only the position or the rotation"),
        (Orientation("head", (1, 0, 0, 0)), {"neck": 0.0}, "a posture is for Hold"),
        (Hold("standing", joints=["right_elbow"], weight=[2.0]), Pose(), "holds a posture"),
        (Hold("standing"), Pose(), "holds a posture"),
        (Position("right_hand", at=(0, 1, 0)), Hold("standing"), "a task of another kind"),
    ],
)
def test_a_target_that_makes_no_sense_is_refused(human, task, value, words):
    problem = Problem(human, [task])
    before = errors(problem, human.neutral())
    with pytest.raises(TaskError, match=words):
        problem.retarget(task, value)
    assert np.array_equal(errors(problem, human.neutral()), before)


def test_only_active_tasks_have_targets(human):
    asleep = Position("right_hand", at=(0, 1, 0), active=False)
    problem = Problem(human, [asleep, Position("left_hand", at=(0, 1, 0))])
    with pytest.raises(TaskError, match="active tasks, so it cannot have another target"):
        problem.retarget(asleep, (0, 0, 0))


def test_axes_have_words(human):
    posture = human.random(1)
    for word, axis in (("y", (0, 1, 0)), ("-z", (0, 0, -1)), ("x", (2, 0, 0))):
        worded, plain = (Problem(human, [LookAt("eyes", at=(1, 1, 1), axis=a)]) for a in (word, axis))
        assert np.array_equal(errors(worded, posture), errors(plain, posture))
    with pytest.raises(TaskError, match="axis"):
        LookAt("eyes", at=(1, 1, 1), axis="up")


def test_limits_have_names():
    figure = jointed()
    problem = Problem(figure, [CenterOfMass(over="base", name="balance")])
    names = [problem.limit_name(i) for i in range(problem.engine.levels.lower.shape[0])]
    edges = problem.support_edges_of(problem.task_rows[0])
    velocities = ["hinge", "rod (slide)", "rod (angle)", "wrist", "wrist", "wrist"]
    assert sorted(names[: figure.nv]) == sorted(velocities)
    assert names[figure.nv : figure.nv + 4] == ["wrist (swing)", "wrist (twist)", "wrist (twist)", "together"]
    assert [names[i] for i in edges] == ["balance"] * len(edges)
    assert len(names) == figure.nv + 4 + len(edges) + MAX_EXCLUDED


def test_errors_by_level_are_weighted_and_end_with_the_posture_held(human):
    here = human.neutral()
    hand = human.pose_of("left_hand", here).position
    tasks = [
        Position("left_hand", at=hand + np.array([0.1, 0, 0]), weight=4.0),
        Position("left_hand", at=hand + np.array([0, 0.2, 0]), priority=2),
        Hold({"left_elbow": here["left_elbow"] + 0.3}, priority=3),
    ]
    assert Problem(human, tasks).level_errors(here) == pytest.approx([0.2, 0.2, 0.3], abs=1e-9)
