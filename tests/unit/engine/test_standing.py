"""Humanoids on both feet: a hand reaches every target that is within its reach from usual start postures."""

import numpy as np
import pytest

import poise
from tests import standing

QUESTIONS = 16
HUMANOIDS = ["five_joint_legs", "human", "h1", "g1", "talos"]


@pytest.mark.parametrize("which", HUMANOIDS)
def test_a_hand_reaches_what_other_starts_show_to_be_in_reach(which):
    humanoid = getattr(standing, which)()
    if humanoid is None:
        pytest.skip(f"{which} is not here: its model is in a package or folder that is missing")
    figure = humanoid.figure
    for start, tasks in humanoid.questions(QUESTIONS, seed=3):
        found = poise.solve(figure, tasks, start=start)
        hand = tasks[-1]
        assert max(found.errors[foot] for foot in tasks[:-1]) <= 1e-6
        if found.status != "solved":
            other = poise.solve(figure, tasks, start=start, restarts=10)
            assert found.errors[hand] <= other.errors[hand] + 1e-4, found.report()


def test_feet_whose_rows_depend_on_each_other_leave_the_pelvis_where_it_may_be():
    """Turning the pelvis of the biped about the vertical would lift a foot, to second order, either way."""
    humanoid = standing.five_joint_legs()
    figure, start = humanoid.figure, humanoid.figure.neutral()
    rows = np.concatenate([figure.jacobian(foot, start) for foot in humanoid.feet])
    assert np.linalg.matrix_rank(rows, tol=1e-9) == 11
    feet = [poise.Frame(foot, figure.pose_of(foot, start)) for foot in humanoid.feet]
    there = figure.pose_of("hand", start).position + np.array([0.15, 0.1, 0.1])
    found = poise.solve(figure, [*feet, poise.Position("hand", at=there, priority=2)], start=start)
    assert found.status == "solved", found.report()
    sideways = figure.pose_of("pelvis", found.posture).rotation
    assert abs(sideways[1]) < 1e-3
    assert abs(sideways[3]) < 1e-3


def test_a_foot_that_cannot_turn_is_named_as_the_reason():
    """Where only the curvature of the feet's tasks stops the hand, the report names them."""
    humanoid = standing.five_joint_legs()
    figure, start = humanoid.figure, humanoid.figure.neutral()
    feet = [poise.Frame(foot, figure.pose_of(foot, start), name=foot) for foot in humanoid.feet]
    turned = poise.Orientation("pelvis", poise.figure.model.pose.turn("z", 40.0), priority=2, name="pelvis")
    found = poise.solve(figure, [*feet, turned], start=start)
    verdict = next(v for v in found.verdicts if v.task is turned)
    assert not verdict.met
    assert set(verdict.gave_way_to) == set(humanoid.feet)
