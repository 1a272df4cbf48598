"""A human that starts on its feet keeps standing, unless a task says otherwise."""

from __future__ import annotations

import numpy as np
import pytest

import poise
from poise import CenterOfMass, Frame, Hold, LookAt, Position
from poise.engine.natural.stance import stance
from poise.figure.collision.soles import support_polygon
from poise.tasks.task import Task

FEET = ("left_foot", "right_foot")


@pytest.fixture(scope="module")
def human() -> poise.Figure:
    return poise.load("human")


def feet(human: poise.Figure, posture: poise.Posture) -> np.ndarray:
    return np.array([human.pose_of(foot, posture).position for foot in FEET])


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("start", ["neutral", "standing"])
def test_feet_stay_and_carry_the_weight_wherever_a_hand_goes(human: poise.Figure, start: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    begins = human.posture(start)
    hand = Position("right_hand", at=np.array([-0.3, 1.1, 0.3]) + 0.5 * rng.normal(size=3))
    found = poise.solve(human, [hand], start=begins)
    assert feet(human, found.posture) == pytest.approx(feet(human, begins), abs=1e-6)
    assert support_polygon(found.posture, FEET).inside > -1e-6


def test_a_target_that_needs_a_step_gives_way_to_the_feet(human: poise.Figure) -> None:
    hand = Position("right_hand", at=(-0.4, 1.2, 2.2))
    found = poise.solve(human, [hand])
    assert found.status == "compromised"
    verdict = next(verdict for verdict in found.verdicts if verdict.task is hand)
    assert set(verdict.gave_way_to) & {"left foot", "right foot", "balance"}
    assert feet(human, found.posture) == pytest.approx(feet(human, human.neutral()), abs=1e-6)


def test_without_it_the_feet_are_free(human: poise.Figure) -> None:
    hand = Position("right_hand", at=(-0.4, 1.2, 2.2))
    assert poise.solve(human, [hand], stand=False).status == "solved"


@pytest.mark.parametrize(
    ("task", "added"),
    [
        (Position("pelvis", at=(0.0, 0.6, -0.1)), ["left foot", "right foot", "balance"]),
        (Position("right_hand", at=(0.0, 0.0, 0.3), relative_to="pelvis"), ["left foot", "right foot", "balance"]),
        (CenterOfMass(at=(0.05, 0.8, 0.0)), ["left foot", "right foot"]),
        (CenterOfMass(over=["left_foot"]), ["left foot", "right foot"]),
        (Frame("left_foot", poise.Pose((0.1, 0.3, 0.2))), ["right foot", "balance"]),
        (Position("left_toes", at=(0.1, 0.3, 0.2)), ["right foot", "balance"]),
        (Position("right_shank", at=(0.0, 0.5, 0.3)), ["left foot", "balance"]),
        (poise.Distance("left_foot", "right_foot", 0.5), []),
        (Hold("sitting"), []),
        (poise.Custom(lambda posture: np.zeros(1)), []),
    ],
)
def test_a_task_frees_the_foot_of_its_own_leg_alone(human: poise.Figure, task: Task, added: list[str]) -> None:
    found = stance(human, [Position("right_hand", at=(0.0, 1.0, 0.3)), task], human.neutral())
    assert [each.label for each in found] == added


def test_who_lifts_a_foot_stands_on_the_other_one(human: poise.Figure) -> None:
    begins = human.neutral()
    lifted = Position("left_foot", at=human.pose_of("left_foot", begins).apply((0.0, 0.3, 0.1)))
    found = poise.solve(human, [lifted])
    assert found.status == "solved"
    assert feet(human, found.posture)[1] == pytest.approx(feet(human, begins)[1], abs=1e-6)
    assert support_polygon(found.posture, ["right_foot"]).inside > -1e-6


def test_who_steps_stands_on_both_feet(human: poise.Figure) -> None:
    begins = human.neutral()
    step = Position("left_foot", at=human.pose_of("left_foot", begins).apply((0.1, 0.0, 0.2)))
    found = poise.solve(human, [step])
    assert found.status == "solved"
    assert support_polygon(found.posture, FEET).inside > -1e-6


def test_whose_pelvis_is_lowered_squats(human: poise.Figure) -> None:
    begins = human.neutral()
    found = poise.solve(human, [Position("pelvis", at=(0.0, 0.6, -0.2))])
    assert found.status == "solved"
    assert feet(human, found.posture) == pytest.approx(feet(human, begins), abs=1e-6)


def test_nothing_is_added_where_nothing_moves(human: poise.Figure) -> None:
    elbow = Position("right_hand", at=(0.0, 1.0, 0.3), joints=["right_elbow"])
    assert stance(human, [], human.neutral()) == stance(human, [elbow], human.neutral()) == ()


def test_only_humans_on_their_feet_stand(human: poise.Figure) -> None:
    asked = [LookAt("eyes", at=(0.5, 1.0, 2.0))]
    assert [task.label for task in stance(human, asked, human.neutral())] == ["left foot", "right foot", "balance"]
    lifted = human.posture({"right_knee": 1.0})
    assert stance(human, asked, lifted) == ()
    walker = poise.load("walker")
    site = walker.sites.names[0] if len(walker.sites) else walker.bodies.names[-1]
    assert stance(walker, [Position(site, at=(0.0, 0.0, 0.0))], walker.neutral()) == ()
