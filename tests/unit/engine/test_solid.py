"""Solid figures: they touch themselves, the floor and obstacles, and pass through nothing."""

from pathlib import Path

import numpy as np
import pytest

import poise
from poise import CenterOfMass, Frame, Obstacle, Plane, Pose, Position, Scene, Solver
from poise.engine.problem import StepSize
from poise.figure.collision.collisions import Collisions, node_frames
from poise.figure.collision.soles import ground_height
from poise.figure.model.builder import Builder, free
from poise.figure.model.shapes import Box, Sphere
from poise.figures import built_in
from poise.figures.people.human_postures import HUMAN_POSTURES
from poise.tasks.avoid import solid_task
from poise.tasks.task import Task

HUMAN = built_in("human")
FEET = ("left_foot", "right_foot")
DEEPEST = 1e-3
"""Deepest penetration that nobody sees [m]."""


def depth(posture: poise.Posture) -> float:
    """Greatest depth in the floor and in the body, beyond that of the neutral posture [m]."""
    figure = posture.figure
    task = solid_task(figure)
    assert task is not None
    collisions = Collisions(figure, task.obstacles, reach=0.02)
    count = collisions.nearest(*node_frames(figure, posture))
    pairs = collisions.rows.pair[:count]
    return float((collisions.neutral_depth[pairs] - collisions.rows.distance[:count]).max(initial=0.0))


def standing() -> list[Task]:
    feet = [Frame(foot, HUMAN.pose_of(foot, "standing"), priority=1) for foot in FEET]
    return [*feet, CenterOfMass(over=FEET, margin=0.02, priority=2)]


@pytest.mark.parametrize("name", HUMAN_POSTURES)
def test_postures_that_come_with_the_human_pass_through_nothing(name: str) -> None:
    assert depth(HUMAN.posture(name)) < DEEPEST


@pytest.mark.parametrize("seed", range(6))
def test_a_random_posture_comes_out_of_itself_and_of_the_floor(seed: int) -> None:
    rng = np.random.default_rng(seed)
    start = HUMAN.random(rng).changed({"base": (0.0, 0.5, 0.0, *rng.normal(size=4))})
    posture = HUMAN.clamp(start)
    solver = Solver(HUMAN, [], solid=True, step=StepSize(turn=0.1))
    before = depth(posture)
    moves = []
    for _ in range(120):
        after = solver.step(posture)
        moves.append(float(np.abs(HUMAN.difference(posture, after)).max()))
        posture = after
    assert before > 0.02
    assert depth(posture) < DEEPEST
    assert max(moves) < 0.31
    assert moves[-1] < 1e-4
    assert HUMAN.violations(posture) == []


@pytest.mark.parametrize("at", [(-0.3, -0.3, 0.3), (0.0, 0.95, 0.0), (0.1, 1.3, 0.0), (0.15, 0.5, -0.05)])
def test_a_hand_asked_into_the_floor_or_the_body_stops_at_its_surface(at: tuple[float, float, float]) -> None:
    tasks = [*standing(), Position("right_hand", at=at, priority=3)]
    hollow = poise.solve(HUMAN, tasks, start="standing")
    solid = poise.solve(HUMAN, tasks, start="standing", solid=True)
    assert depth(hollow.posture) > 0.02
    assert depth(solid.posture) < DEEPEST
    assert max(solid.errors[foot] for foot in tasks[:2]) < 1e-5


def test_the_floor_is_where_a_figure_stands() -> None:
    assert ground_height(HUMAN) == 0.0
    made = Builder("cube", up="z")
    made.body("cube", joint=free("base"), shapes=[Box((0.2, 0.2, 0.4))])
    cube = made.build()
    assert ground_height(cube) == pytest.approx(-0.2)
    task = solid_task(cube)
    assert task is not None
    assert task.obstacles == [Plane("z", -0.2, name="floor")]


def test_a_plane_that_faces_up_is_the_floor() -> None:
    low = Plane("y", -0.5, name="cellar")
    task = solid_task(HUMAN, [low, Plane("x", -3.0)])
    assert task is not None
    assert task.obstacles == [low, Plane("x", -3.0)]


def test_a_figure_that_is_held_has_no_floor_and_one_without_shapes_nothing_to_meet() -> None:
    arm = solid_task(built_in("arm"))
    assert arm is not None
    assert arm.obstacles == []
    made = Builder("ghost")
    made.body("ghost", joint=free("base"))
    assert solid_task(made.build()) is None
    assert poise.solve(made.build(), [Position("ghost", at=(0, -1, 0))], solid=True).status == "solved"


def test_obstacles_are_touched_without_a_margin() -> None:
    made = Builder("ball")
    made.body("ball", joint=free("base"), shapes=[Sphere(0.1)])
    ball, wall = made.build(), Obstacle(Box((0.2, 2.0, 2.0)), Pose((0.5, 0.0, 0.0)), name="wall")
    ask = Position("ball", at=(1.0, 0.5, 0.0))
    result = poise.solve(ball, [ask], obstacles=[wall], solid=True, start=[0.0, 0.5, 0.0, 1.0, 0.0, 0.0, 0.0])
    assert ball.pose_of("ball", result.posture).position[0] == pytest.approx(0.3, abs=2e-5)
    assert result.verdicts[0].blocked_by == ("contact of ball with wall",)
    assert result.verdicts[-1].task.label == "solid bodies"


def test_a_scene_file_says_whether_its_figure_is_solid(tmp_path: Path) -> None:
    scene = Scene("human", standing(), start="standing", solid=True)
    scene.save(tmp_path / "stand.toml")
    assert "solid = true" in (tmp_path / "stand.toml").read_text()
    assert Scene.load(tmp_path / "stand.toml") == scene
    assert Scene.load(tmp_path / "stand.toml").solid
    assert scene != Scene("human", standing(), start="standing")
    assert [verdict.task.label for verdict in scene.solve().verdicts][-1] == "solid bodies"
