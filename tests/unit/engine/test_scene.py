"""Scenes: invalid parts, equality, and solving."""

from pathlib import Path

import numpy as np
import pytest

import poise
from poise.engine import solver
from poise.engine.scene import Scene
from poise.errors import FigureError, TaskError
from poise.figure.model.shapes import Sphere
from poise.figures import built_in
from poise.tasks.look_at import LookAt
from poise.tasks.obstacles import Obstacle
from poise.tasks.place import Position
from poise.tasks.posture import Hold

EXAMPLE = Path(__file__).parents[3] / "examples" / "scenes" / "reach.toml"


def test_a_figure_may_be_given_by_name_or_itself():
    assert poise.Scene("arm") == Scene(built_in("arm"))
    assert Scene("arm") != Scene("hand")
    assert hash(Scene("arm")) == hash(Scene(built_in("arm")))
    assert repr(Scene("arm", [Position("tip", (0, 1, 0))])) == "Scene('arm', 1 tasks)"


@pytest.mark.parametrize(
    ("tasks", "start", "error", "words"),
    [
        ([Position("tpi", (0, 1, 0))], None, FigureError, "Did you mean 'tip'?"),
        ([Position("tip", (0, 1, 0), joints=["sholder"])], None, FigureError, "no joint 'sholder'"),
        ([Hold({"nothing": 1})], None, FigureError, "no joint 'nothing'"),
        (["reach"], None, TaskError, "'reach' is not a task"),
        ([], "flying", FigureError, "no posture 'flying'"),
        ([], [1.0], FigureError, "numbers"),
    ],
)
def test_what_the_figure_cannot_be_asked_is_refused(tasks, start, error, words):
    with pytest.raises(error, match=words.replace("?", r"\?")):
        Scene("arm", tasks, start=start)


def test_two_ways_to_say_the_same_are_equal():
    arm = built_in("arm")
    posture = arm.random(1)
    ways = [posture, posture.q, posture.as_dict()]
    scenes = [Scene(arm, [Hold(way)], start=way) for way in ways]
    assert scenes[0] == scenes[1] == scenes[2]
    lists = [Scene(arm, [Position("tip", at, axes)]) for at, axes in (((0, 1, 0), "y"), (np.eye(3)[1], [0, 1, 0]))]
    assert lists[0] == lists[1]
    assert Scene(arm, [Position("tip", (0, 1, 0))]) != Scene(arm, [LookAt("tip", (0, 1, 0))])


def test_solving_passes_on_what_the_scene_has(monkeypatch):
    asked = []
    monkeypatch.setattr(solver, "solve", lambda figure, tasks, **options: asked.append((figure, tasks, options)))
    task, ball = Position("tip", (0, 1, 0)), Obstacle(Sphere(0.1))
    Scene("arm", [task]).solve()
    Scene("arm", [task], start="folded", obstacles=[ball]).solve(max_steps=7, start=None)
    arm = built_in("arm")
    parts = {"stand": False, "forces": (), "criteria": (), "solid": False}
    assert asked == [
        (arm, (task,), {**parts, "obstacles": ()}),
        (arm, (task,), {**parts, "obstacles": (ball,), "max_steps": 7, "start": None}),
    ]


def test_the_example_is_solved():
    scene = Scene.load(EXAMPLE)
    result = scene.solve()
    assert not scene.figure.violations(result.posture)
    assert result.errors["left foot"] < 1e-6
    assert result.errors["right foot"] < 1e-6
    assert result.errors["centre of mass"] < 1e-6
    assert result.errors["gaze of eyes"] < 1e-6
    before = Position("right_hand", (-0.7, 1.1, 0.9))
    start = scene.figure.pose_of("right_hand", scene.start).position
    assert result.errors["reach for the ball"] < 0.5 * np.linalg.norm(start - before.at)
