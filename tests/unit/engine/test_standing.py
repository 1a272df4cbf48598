"""A foot that is asked to leave the ground is no support any more, and one that is asked back is."""

import numpy as np
import pytest

import poise
from poise import CenterOfMass, Frame, Obstacle, Pose, Position, Solver
from poise.figure import Box, Builder, free, prismatic, revolute
from poise.figure.collision.soles import support_polygon
from poise.tasks.task import Task

FEET = ("left_foot", "right_foot")


@pytest.fixture(scope="module")
def human() -> poise.Figure:
    return poise.load("human")


def feet(human: poise.Figure, lifted: float = 0.0, ahead: float = 0.0) -> list[Task]:
    """Both feet where they stand, the left one lifted and ahead [m]."""
    left, right = (human.pose_of(foot, "standing") for foot in FEET)
    return [Frame(FEET[0], Pose(left.position + np.array([0.0, lifted, ahead]), left.rotation)), Frame(FEET[1], right)]


@pytest.mark.parametrize("seed", range(4))
def test_the_weight_is_over_the_foot_that_stays(human: poise.Figure, seed: int) -> None:
    rng = np.random.default_rng(seed)
    tasks = [*feet(human, rng.uniform(0.05, 0.4), rng.uniform(0.0, 0.2)), CenterOfMass(over=FEET, priority=2)]
    result = poise.solve(human, tasks, start="standing")
    assert result.status == "solved"
    assert support_polygon(result.posture, [FEET[1]]).inside >= -1e-6
    assert support_polygon(result.posture, FEET).inside == pytest.approx(
        support_polygon(result.posture, [FEET[1]]).inside, abs=1e-12
    )


def test_live_the_weight_goes_over_and_comes_back(human: poise.Figure) -> None:
    left, right = feet(human)
    solver = Solver(human, [left, right, CenterOfMass(over=FEET, margin=0.01, priority=2)], dt=1.0 / 60.0)
    home, posture = human.pose_of(FEET[0], "standing"), human.posture("standing")
    for share in np.concatenate([np.linspace(0.0, 1.0, 60), np.ones(30), np.linspace(1.0, 0.0, 60), np.zeros(30)]):
        solver.target(left, Pose(home.position + share * np.array([0.0, 0.3, 0.1]), home.rotation))
        posture = solver.step(posture)
        if share == 1.0:
            assert support_polygon(posture, FEET).inside >= -1e-4
            assert support_polygon(posture, [FEET[1]]).inside >= -1e-4
    assert solver.judge(posture).status == "solved"
    # Both feet carry again, so that the weight may be between them.
    assert support_polygon(posture, FEET).inside > support_polygon(posture, [FEET[1]]).inside


def test_a_foot_on_a_step_carries_weight(human: poise.Figure) -> None:
    tasks = [*feet(human, 0.2), CenterOfMass(over=FEET, priority=2)]
    sole = human.pose_of(FEET[0], "standing").position
    step = Obstacle(Box((0.3, 0.19, 0.6)), Pose([sole[0], 0.095, sole[2]]))
    hand = Position("right_hand", at=human.pose_of("left_hand", "standing").position, priority=3, joints=["spine"])
    alone, on_step = (
        Solver(human, [*tasks, hand], obstacles=obstacles)._problem.engine.goals.corner_node
        for obstacles in ([], [step])
    )
    assert len(set(alone)) == 1
    assert len(set(on_step)) == 2


def test_feet_at_one_height_all_carry_weight(human: poise.Figure) -> None:
    goals = Solver(human, [*feet(human), CenterOfMass(over=FEET, priority=2)])._problem.engine.goals
    assert len(set(goals.corner_node)) == 2
    both = Solver(human, [*feet(human, 0.01), CenterOfMass(over=FEET, priority=2)])._problem.engine.goals
    assert len(set(both.corner_node)) == 2


@pytest.mark.parametrize("start", ["standing", "neutral"])
def test_a_foot_that_is_lifted_without_a_direction_bends_the_knee(human: poise.Figure, start: str) -> None:
    """From straight legs, a strict task could turn the whole body over its hip instead."""
    here = human.pose_of(FEET[0], start).position
    foot = Position(FEET[0], at=here + np.array([0.05, 0.35, 0.1]), priority=3)
    tasks = [Frame(FEET[1], human.pose_of(FEET[1], start)), CenterOfMass(over=FEET, priority=2), foot]
    result = poise.solve(human, tasks, start=start)
    assert result.status == "solved"
    assert np.degrees(result.posture["left_knee"]) > 60.0
    chest = human.pose_of("thorax", result.posture).matrix @ human.pose_of("thorax", start).matrix.T
    assert np.degrees(np.arccos(chest[1, 1])) < 30.0


def table(legs: int, up: str) -> poise.Figure:
    """A floating top on legs that slide out of it, each with a hinge above: another figure than people."""
    made = Builder("table", up=up)
    axis = np.eye(3)["xyz".index(up)]
    made.body("top", joint=free("base"), shapes=[Box((0.6, 0.6, 0.6))], mass=5.0)
    for k in range(legs):
        around = 2.0 * np.pi * k / legs
        place = 0.3 * np.roll([0.0, np.cos(around), np.sin(around)], "xyz".index(up))
        hip = revolute(f"hip{k}", np.roll([0.0, 1.0, 0.0], "xyz".index(up)), limits=(-1.0, 1.0))
        made.body(f"thigh{k}", parent="top", joint=hip, at=place, mass=0.2)
        slide = prismatic(f"leg{k}", axis, limits=(-0.3, 0.3))
        made.body(f"foot{k}", parent=f"thigh{k}", joint=slide, at=-0.6 * axis, shapes=[Box((0.1, 0.1, 0.1))], mass=0.2)
    return made.build()


@pytest.mark.parametrize("up", ["x", "y", "z"])
@pytest.mark.parametrize("seed", range(3))
def test_any_figure_stands_on_the_legs_that_stay(up: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    figure, feet = table(4, up), [f"foot{k}" for k in range(4)]
    start, lifted = figure.neutral(), feet[int(rng.integers(4))]
    tasks: list[Task] = [Position(foot, at=figure.pose_of(foot, start).position) for foot in feet if foot != lifted]
    high = figure.pose_of(lifted, start).position + rng.uniform(0.05, 0.2) * figure.up_vector
    tasks += [CenterOfMass(over=feet, margin=0.02, priority=2), Position(lifted, at=high, priority=3)]
    result = poise.solve(figure, tasks, start=start)
    assert result.errors[tasks[3]] < 1e-6
    assert support_polygon(result.posture, [foot for foot in feet if foot != lifted]).inside > 0.02 - 1e-6
