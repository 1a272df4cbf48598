"""The promise of the engine: no lower level costs a higher one anything, and no reason is named that does not hold."""

from __future__ import annotations

import numpy as np
import pytest

import poise
from poise import CenterOfMass, Frame, LookAt, Position, Solver
from poise.engine.descent import Descent, Options
from poise.engine.recruitment import Part
from poise.engine.solver import is_better
from poise.figure.model.pose import Pose
from poise.figure.model.shapes import Sphere
from poise.tasks.task import Task
from tests.local_optima import chain_question, possible_gain
from tests.priorities import FEET, human_question, mechanism_question, random_question, worst_loss
from tests.reports import false_claims


def test_a_lower_level_costs_higher_ones_nothing_on_random_figures() -> None:
    losses = {seed: worst_loss(*random_question(seed)) for seed in range(40)}
    assert max(losses.values()) <= 1e-6, losses


def test_a_lower_level_costs_higher_ones_nothing_on_figures_with_loops_and_couplings() -> None:
    losses = {seed: worst_loss(*mechanism_question(seed)) for seed in range(30)}
    assert max(losses.values()) <= 1e-6, losses


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


@pytest.mark.parametrize("seed", range(30))
def test_every_claim_of_a_report_holds_when_it_is_tried(seed: int) -> None:
    assert not list(false_claims(*random_question(seed)))


@pytest.mark.parametrize("seed", [132, 199, 208, 242, 282])
def test_nothing_near_a_place_of_rest_is_better_for_the_last_level(seed: int) -> None:
    """Where the second of three levels gave way, it is at its best, so that the third has all the freedom left."""
    figure, tasks, start = chain_question(seed)
    answer = poise.solve(figure, tasks, start=start, max_steps=500)
    assert possible_gain(figure, tasks, answer.posture) <= 1e-4


def test_a_level_that_is_met_below_one_that_gave_way_stops_nobody() -> None:
    """The centre of mass, met below a part out of reach, is corrected, so that the gaze below both can improve."""
    assert not list(false_claims(*mechanism_question(2)))


def test_a_solve_that_ends_early_says_so_and_names_nobody() -> None:
    human = poise.load("human")
    hand = Position("right_hand", at=(0.6, 0.3, 0.9))
    result = poise.solve(human, [hand], start="standing", stand=False, max_steps=2)
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


@pytest.mark.parametrize("seed", [27, *range(12)])
def test_levels_that_are_not_asked_change_nothing(seed: int) -> None:
    """The first levels of a problem come to rest in the same bytes as a problem with these levels alone."""
    figure, tasks, start = random_question(seed)
    whole = Descent(figure, Part(tuple(tasks), None), Options(criteria=()))
    q = Solver(figure, tasks, criteria=())._legal_start(start)
    for count in range(1, len(tasks)):
        alone = Descent(figure, Part(tuple(tasks[:count]), None), Options(criteria=()))
        expected = alone._rest_together(q, count - 1, 200, 1e-6)
        found = whole._rest_together(q, count - 1, 200, 1e-6)
        assert found.steps == expected.steps
        np.testing.assert_array_equal(found.q, expected.q)


def test_how_exactly_a_level_is_met_does_not_decide_what_lower_ones_lose() -> None:
    """Of two answers that meet the first level, one more exactly, the one with the better second level is better."""
    met = 1e-6
    assert is_better(np.array([9e-7, 0.1]), np.array([1e-7, 0.2]), met)
    assert not is_better(np.array([1e-7, 0.2]), np.array([9e-7, 0.1]), met)
    assert is_better(np.array([0.1, 0.3]), np.array([0.2, 0.0]), met)
