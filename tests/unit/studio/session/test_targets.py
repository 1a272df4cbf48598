"""Targets that are dragged far in one event, and targets that are measured from another part."""

import numpy as np
import pytest

from poise.engine.scene import Scene
from poise.figure.model.pose import Pose, turn
from poise.figures import built_in
from poise.studio.scenes.openings import EXAMPLE_SCENES
from poise.studio.session.changes import with_target
from poise.studio.session.session import Session
from poise.tasks.distance import OnEllipsoid
from poise.tasks.form import RELATIVE_TO, Setting
from poise.tasks.look_at import LookAt
from poise.tasks.place import Frame, Orientation, Position
from poise.tasks.task import Task

from .test_pulling import rest

STRIDE = 0.35
"""How far a foot's target is dragged in one event [m]."""


def standing() -> Session:
    session = Session(EXAMPLE_SCENES["Standing"]())
    rest(session)
    return session


@pytest.mark.parametrize("foot", [0, 1])
@pytest.mark.parametrize("way", [(0.57, -0.81, -0.06), (0.3, -0.45, -0.86), (0.0, -1.0, 0.0), (0.0, -0.6, 0.8)])
def test_a_foot_that_is_dragged_into_the_floor_in_one_event_stays_on_it(foot: int, way: tuple[float, ...]) -> None:
    session = standing()
    outward = np.array([1.0 if foot == 0 else -1.0, 1.0, 1.0])
    target = session.state.scene.tasks[foot].target_in(session.state.posture)
    assert target is not None
    session.update(lambda state: with_target(state, foot, target.wanted + STRIDE * outward * np.array(way)))
    rest(session)
    assert session.state.outcome.light == "green", session.state.outcome.sentence


def test_a_gaze_may_be_dragged_below_the_floor() -> None:
    figure = built_in("human")
    session = Session(Scene(figure, [LookAt("eyes", [0.0, 1.0, 1.0])], solid=True))
    session.update(lambda state: with_target(state, 0, [0.0, -1.0, 1.0]))
    np.testing.assert_allclose(session.state.scene.tasks[0].at, [0.0, -1.0, 1.0])  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "task",
    [
        Position("right_hand", [0.2, 1.1, 0.4]),
        Orientation("right_hand", turn("x", 40.0)),
        Frame("right_hand", Pose([0.2, 1.1, 0.4], turn("z", 25.0))),
        LookAt("eyes", [0.3, 1.2, 2.0]),
        OnEllipsoid("right_hand", center=[0.2, 1.0, 0.4], radii=[0.1, 0.2, 0.3]),
    ],
    ids=lambda task: type(task).__name__,
)
def test_a_target_stays_in_its_place_when_it_is_measured_from_another_part(task: Task) -> None:
    figure = built_in("human")
    posture = figure.posture("waving") if "waving" in figure.posture_names else figure.posture("sitting")
    before = task.target_in(posture)
    for part in ("head", "left_hand", "World"):
        task = RELATIVE_TO.put(task, part, Setting(posture))
        after = task.target_in(posture)
        assert before is not None and after is not None
        np.testing.assert_allclose(after.wanted, before.wanted, atol=1e-9)
        assert abs(float(after.rotation @ before.rotation)) == pytest.approx(1.0) or isinstance(task, Position | LookAt)
