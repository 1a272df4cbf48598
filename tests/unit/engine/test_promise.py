"""The promise of the engine: no lower level costs a higher one anything, and no reason is named that does not hold."""

from __future__ import annotations

import numpy as np
import pytest

import poise
from poise import CenterOfMass, Frame, LookAt, Position
from poise.engine.problem import Problem
from poise.figure.model.pose import Pose
from poise.figure.model.shapes import Sphere
from poise.tasks.task import Task
from tests.priorities import FEET, human_question, random_question, worst_loss

LEAST_FALL = 1e-6
"""Fall of an error that shows that a reason holds [m or rad]."""


def test_a_lower_level_costs_higher_ones_nothing_on_random_figures() -> None:
    losses = {seed: worst_loss(*random_question(seed)) for seed in range(40)}
    worse = {seed: loss for seed, loss in losses.items() if loss > 1e-6}
    assert len(worse) <= 1, f"{worse}: more than one, which may creep along a narrow valley for more than 500 steps"


@pytest.mark.parametrize("seed", [26, 32, 103, 125, 217, 316, 335, 348])
def test_a_left_hand_below_costs_the_right_hand_nothing(seed: int) -> None:
    assert worst_loss(*human_question(seed)) <= 1e-6


@pytest.mark.parametrize("seed", [26, 32, 103, 217])
def test_natural_motion_costs_the_right_hand_nothing(seed: int) -> None:
    assert worst_loss(*human_question(seed), criteria=None) <= 1e-6


def test_a_gaze_below_does_not_stop_a_tip() -> None:
    arm = poise.chain("YYZZYYY", lengths=[0.3] * 7, limits=65)
    tip = Position("tip", at=(-0.79, -0.25, -0.30))
    gaze = LookAt("tip", at=(2.85, 1.08, 1.46), priority=2)
    start = arm.posture([0.84, -0.48, 0.23, 0.63, 0.49, 0.94, 0.82])
    alone, both = (poise.solve(arm, tasks, start=start).errors[tip] for tasks in ([tip], [tip, gaze]))
    assert both <= alone + 1e-6


def test_a_hand_that_can_be_met_is_met_whatever_the_other_hand_wants() -> None:
    human = poise.load("human")
    standing = human.posture("standing")
    rng = np.random.default_rng(109)
    right = Position("right_hand", at=np.array([-0.3, 1.1, 0.2]) + 0.35 * rng.normal(size=3), priority=3)
    left = Position("left_hand", at=np.array([0.0, 1.5, 0.0]) + rng.normal(size=3), priority=4)
    above: list[Task] = [Frame(foot, human.pose_of(foot, standing)) for foot in FEET]
    above.append(CenterOfMass(over=FEET, priority=2))
    assert poise.solve(human, [*above, right, left], start=standing).errors[right] <= 1e-6


def error_at(figure: poise.Figure, task: Task, posture: poise.Posture) -> float:
    return float(Problem(figure, [task]).level_errors(posture)[0])


@pytest.mark.parametrize("seed", range(30))
def test_without_the_tasks_named_as_reasons_the_error_falls(seed: int) -> None:
    figure, tasks, start = random_question(seed)
    result = poise.solve(figure, tasks, start=start, max_steps=500)
    for verdict in result.verdicts:
        named = {*verdict.gave_way_to, *verdict.shares_with}
        if not named:
            continue
        assert len(named) <= 3
        rest = [task for task in tasks if task.label not in named or task is verdict.task]
        freed = poise.solve(figure, rest, start=result.posture, max_steps=500)
        now, before = (error_at(figure, verdict.task, p) for p in (freed.posture, result.posture))
        assert now < before - LEAST_FALL, f"{verdict.task.label} {verdict.outcome}"


@pytest.mark.parametrize("seed", range(30))
def test_what_is_out_of_reach_is_so_without_all_other_tasks(seed: int) -> None:
    figure, tasks, start = random_question(seed)
    result = poise.solve(figure, tasks, start=start, max_steps=500)
    for verdict in result.verdicts:
        if verdict.outcome == "out of reach":
            alone = poise.solve(figure, [verdict.task], start=result.posture, max_steps=500)
            assert alone.errors[verdict.task] >= verdict.error - max(1e-5, 1e-3 * verdict.error)


def test_a_solve_that_ends_early_says_so_and_names_nobody() -> None:
    human = poise.load("human")
    hand = Position("right_hand", at=(0.6, 0.3, 0.9))
    result = poise.solve(human, [hand], start="standing", max_steps=2)
    (verdict,) = result.verdicts
    assert result.status == "stalled"
    assert verdict.outcome.startswith("still improving: ")
    assert verdict.outcome.endswith(" per step")
    assert verdict.gave_way_to == verdict.blocked_by == verdict.shares_with == ()


@pytest.mark.parametrize("at", [(0.3, 1.2, 0.3), (2.0, 1.3, -3.0)])
def test_an_axis_of_weight_zero_is_as_if_it_were_not_there(at: tuple[float, float, float]) -> None:
    human = poise.load("human")
    by_weight = poise.solve(human, [Position("right_hand", at=at, weight=[0.0, 1.0, 0.0])], start="standing")
    by_axis = poise.solve(human, [Position("right_hand", at=at, axes="y")], start="standing")
    assert by_weight.status == by_axis.status == "solved"
    assert by_weight.steps == by_axis.steps
    np.testing.assert_allclose(by_weight.posture.q, by_axis.posture.q, atol=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_trials_without_some_tasks_do_not_change_the_verdict_on_obstacles(seed: int) -> None:
    rng = np.random.default_rng(seed)
    human = poise.load("human")
    standing = human.posture("standing")
    hand = human.pose_of("right_hand", standing).position
    ball = poise.Obstacle(Sphere(0.12), Pose(hand + rng.normal(size=3) * 0.25 + (0.0, 0.0, 0.35)))
    tasks: list[Task] = [
        *(Frame(foot, human.pose_of(foot, standing)) for foot in FEET),
        Position("right_hand", at=hand + (0.0, 0.2, 2.0) + 0.3 * rng.normal(size=3), priority=2),
    ]
    result = poise.solve(human, tasks, start=standing, obstacles=[ball])
    (avoid,) = (verdict for verdict in result.verdicts if isinstance(verdict.task, poise.Avoid))
    again = poise.Solver(human, tasks, obstacles=[ball]).judge(result.posture)
    (judged,) = (verdict for verdict in again.verdicts if isinstance(verdict.task, poise.Avoid))
    assert not result.verdicts[-2].met
    assert avoid.error == pytest.approx(judged.error, abs=1e-9)
