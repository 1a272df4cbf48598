"""Verdicts: each names exactly the tasks and limits that keep its task from being met."""

import math

import numpy as np
import pytest

import poise
from poise import CenterOfMass, Frame, Hold, LookAt, Position, Solver
from poise.engine.engine_arrays import table
from poise.engine.reasons import Constraint, TaskGradient, balance_gradient, explain
from poise.engine.result import Verdict
from poise.figure.model.builder import Builder, ball, prismatic, revolute
from poise.figure.model.limits import BallLimits, Ellipse, Twist
from poise.figure.model.shapes import Box


def two_links(lower: float = -3.0, upper: float = 3.0) -> poise.Figure:
    made = Builder("two_links")
    made.body("base")
    made.body("upper", parent="base", joint=revolute("shoulder", "z", limits=(lower, upper)), mass=1.0)
    made.body("lower", parent="upper", joint=revolute("elbow", "z", limits=(lower, upper)), at=(1, 0, 0), mass=1.0)
    made.site("tip", "lower", at=(1, 0, 0))
    made.site("bend", "upper", at=(1, 0, 0))
    return made.build()


def slides(**couplings: float) -> poise.Figure:
    """A point on two slides, x up to 1 m and y up to 2 m."""
    made = Builder("slides")
    made.body("base")
    made.body("cart", parent="base", joint=prismatic("along", "x", limits=(-1.0, 1.0)), mass=1.0)
    made.body("lift", parent="cart", joint=prismatic("up", "y", limits=(-2.0, 2.0)), mass=1.0)
    made.site("tip", "lift")
    if couplings:
        made.bound("sum", {"along": 1.0, "up": 1.0}, **couplings)
    return made.build()


def verdict_of(result: poise.Result, label: str) -> Verdict:
    return next(verdict for verdict in result.verdicts if verdict.task.label == label)


def test_a_met_task_has_no_reasons():
    (verdict,) = poise.solve(slides(), [Position("tip", at=(0.5, 1.0, 0.0))]).verdicts
    assert verdict.met
    assert verdict.outcome == "met"
    assert verdict.gave_way_to == verdict.blocked_by == verdict.shares_with == ()


def test_a_stretched_arm_is_out_of_reach():
    result = poise.solve(two_links(), [Position("tip", at=(2.0, 2.0, 0.0))], start={"elbow": 0.4})
    (verdict,) = result.verdicts
    assert result.status == "unreachable"
    assert verdict.outcome == "out of reach"
    assert verdict.error == pytest.approx(math.hypot(2.0, 2.0) - 2.0, abs=1e-6)


def test_a_limit_that_blocks_is_named_and_others_are_not():
    result = poise.solve(slides(), [Position("tip", at=(3.0, 1.0, 0.0))])
    (verdict,) = result.verdicts
    assert result.status == "unreachable"
    assert verdict.blocked_by == ("along",)
    assert verdict.outcome == "blocked by along"
    both = poise.solve(slides(), [Position("tip", at=(3.0, -3.0, 0.0))]).verdicts[0]
    assert set(both.blocked_by) == {"along", "up"}


def test_a_limit_that_is_reached_but_does_not_hold_back_is_not_named():
    figure = slides()
    tasks = [Position("tip", at=(1.0, 3.0, 0.0))]
    (verdict,) = poise.solve(figure, tasks).verdicts
    assert verdict.blocked_by == ("up",)


def test_a_coupling_that_blocks_is_named():
    (verdict,) = poise.solve(slides(upper=1.0), [Position("tip", at=(0.8, 1.8, 0.0))]).verdicts
    assert verdict.blocked_by == ("sum",)
    assert verdict.error == pytest.approx(1.6 / math.sqrt(2.0), abs=1e-6)


def test_a_ball_joint_blocks_by_its_swing_or_its_twist():
    made = Builder("shoulder")
    made.body("base")
    region = BallLimits(Ellipse(0.5, 0.5), Twist.between(-0.2, 0.2))
    made.body("arm", parent="base", joint=ball("shoulder", limits=region), mass=1.0)
    made.site("tip", "arm", at=(0, 0, 1))
    figure = made.build()
    out = poise.solve(figure, [LookAt("tip", direction=(1, 0, 0), axis="z")])
    assert out.verdicts[0].blocked_by == ("shoulder (swing)",)
    turned = [LookAt("tip", direction="z", axis="z"), LookAt("tip", direction="y", axis="x", priority=2, name="turn")]
    assert verdict_of(poise.solve(figure, turned), "turn").blocked_by == ("shoulder (twist)",)


def test_a_task_gives_way_to_the_one_above_and_not_to_others():
    figure = slides()
    tasks = [
        Position("tip", at=(0.5, 0.0, 0.0), axes="x", priority=1, name="first"),
        Position("tip", at=(0.0, 0.7, 0.0), axes="y", priority=2, name="second"),
        Position("tip", at=(-0.5, 0.7, 0.0), priority=3, name="third"),
    ]
    result = poise.solve(figure, tasks)
    third = verdict_of(result, "third")
    assert result.status == "compromised"
    assert third.gave_way_to == ("first",)
    assert third.blocked_by == third.shares_with == ()
    assert third.error == pytest.approx(1.0, abs=1e-6)


def test_a_task_that_the_figure_alone_stops_gives_way_to_nobody():
    tasks = [
        Position("tip", at=(1.0, 0.0, 0.0), axes="x", priority=1, name="first"),
        Position("tip", at=(3.0, 0.0, 0.0), axes="x", priority=2, name="farther"),
    ]
    result = poise.solve(slides(), tasks)
    assert verdict_of(result, "farther").blocked_by == ("along",)
    assert result.status == "unreachable"


def test_two_tasks_of_a_level_share():
    tasks = [
        Position("tip", at=(0.5, 0.0, 0.0), weight=3.0, name="right"),
        Position("tip", at=(-0.5, 0.0, 0.0), name="left"),
    ]
    result = poise.solve(slides(), tasks)
    right, left = verdict_of(result, "right"), verdict_of(result, "left")
    assert result.status == "compromised"
    assert right.shares_with == ("left",)
    assert left.outcome == "compromises with right"
    assert result.posture["along"] == pytest.approx(0.25, abs=1e-6)


def test_a_task_below_one_that_is_out_of_reach_itself_gives_way_to_it():
    far = Position("tip", at=(5.0, 0.0, 0.0), priority=1, name="far")
    bend = Position("bend", at=(0.0, 1.0, 0.0), priority=2, name="bend")
    result = poise.solve(two_links(), [far, bend], start={"shoulder": 0.3, "elbow": 0.3})
    assert verdict_of(result, "far").outcome == "out of reach"
    assert verdict_of(result, "bend").gave_way_to == ("far",)
    assert result.posture.q == pytest.approx([0.0, 0.0], abs=1e-5)


def test_a_posture_held_last_gives_way_to_what_keeps_it():
    tasks = [Position("tip", at=(0.5, 0.0, 0.0), axes="x"), Hold({"along": -0.5, "up": 0.3}, priority=2)]
    result = poise.solve(slides(), tasks)
    hold = verdict_of(result, "hold a posture")
    assert hold.gave_way_to == ("position of tip",)
    assert hold.error == pytest.approx(1.0, abs=1e-6)
    alone = poise.solve(slides(), [Hold({"along": -0.5, "up": 0.3})])
    assert alone.status == "solved"


def test_a_support_is_given_way_to_by_the_name_of_its_task():
    made = Builder("crane")
    made.body("foot", mass=1.0, shapes=[Box((0.4, 0.02, 0.4))])
    made.body("arm", parent="foot", joint=prismatic("reach", "x", limits=(-2.0, 2.0)), at=(0, 1, 0), mass=1.0)
    made.site("hook", "arm")
    tasks = [CenterOfMass(over="foot"), Position("hook", at=(1.0, 1.0, 0.0), priority=2)]
    result = poise.solve(made.build(), tasks)
    hook = verdict_of(result, "position of hook")
    assert result.posture["reach"] == pytest.approx(0.4, abs=1e-6)
    assert hook.gave_way_to == ("centre of mass",)
    assert hook.blocked_by == ()
    assert verdict_of(result, "centre of mass").met


def test_the_cap_of_a_step_is_not_a_limit_of_the_figure():
    solver = Solver(slides(), [Position("tip", at=(0.9, 1.5, 0.0))], dt=0.01)
    result = solver.settle(slides().neutral(), max_steps=1)
    assert result.status == "stalled"
    assert result.verdicts[0].blocked_by == ()


def test_a_person_reaching_beyond_balance():
    human = poise.load("human").with_floating_base()
    feet = [Frame(foot, human.pose_of(foot, human.neutral()), name=foot) for foot in ("left_foot", "right_foot")]
    tasks = [
        *feet,
        CenterOfMass(over=["left_foot", "right_foot"], priority=2),
        Position("right_hand", at=(0.0, 0.6, 2.0), priority=3),
    ]
    result = Solver(human, tasks).settle(human.neutral())
    hand = verdict_of(result, "position of right_hand")
    assert result.status == "compromised"
    assert "centre of mass" in hand.gave_way_to
    assert "gave way to" in result.report()
    assert human.violations(result.posture) == []


def constraint(kind: str, name: str, rows: list[list[float]], normals: list[list[float]]) -> Constraint:
    return Constraint(kind, (name,), table(rows, 3), table(normals, 3))


def test_limits_balance_gradients_of_one_sign_only():
    wall = constraint("limits", "wall", [], [[1, 0, 0]])
    assert balance_gradient(np.array([2.0, 0.0, 0.0]), [wall]) == (0.0, [2.0])
    assert balance_gradient(np.array([-2.0, 0.0, 0.0]), [wall]) == (2.0, [0.0])


def test_tasks_balance_gradients_of_both_signs():
    task = constraint("above", "task", [[1, 1, 0]], [])
    for sign in (1.0, -1.0):
        left, balanced = balance_gradient(sign * np.array([1.0, 1.0, 0.5]), [task])
        assert left == pytest.approx(0.5)
        assert balanced == pytest.approx([math.sqrt(2.0)])


def test_the_first_stage_that_balances_a_gradient_is_enough():
    gradient = TaskGradient(np.array([1.0, 0.0, 0.0]), 1e-6)
    wall, task = constraint("limits", "wall", [], [[1, 0, 0]]), constraint("above", "task", [[1, 0, 0]], [])
    assert explain(gradient, ([wall], [task])).limits == ("wall",)
    assert explain(gradient, ([wall], [task])).above == ()
    assert explain(gradient, ([], [task])).above == ("task",)
    assert explain(TaskGradient(np.zeros(3), 1e-6), ([wall], [task])) == ((), (), ())


def test_judging_changes_nothing_that_later_steps_remember():
    """A live solver that is asked for its verdicts after every step takes the same steps as one that is not."""
    human = poise.load("human")
    start, rng = human.posture("standing"), np.random.default_rng(4)

    def solver() -> poise.Solver:
        feet = [poise.Frame(foot, human.pose_of(foot, start)) for foot in ("left_foot", "right_foot")]
        hands = [poise.Position(f"{s}_hand", at=(x, 1.4, 0.6), priority=3) for s, x in (("left", 1.1), ("right", -1.1))]
        balance = poise.CenterOfMass(over=["left_foot", "right_foot"], priority=2)
        return poise.Solver(human, [*feet, balance, *hands], obstacles=[poise.Plane("y")])

    asked, alone = solver(), solver()
    posture = other = start
    for _ in range(25):
        posture, other = asked.step(posture), alone.step(other)
        assert np.array_equal(posture.q, other.q)
        verdicts = asked.judge(human.integrate(posture, 0.05 * rng.normal(size=human.nv))).verdicts
        assert any(not verdict.met for verdict in verdicts)
        asked.judge(posture)
