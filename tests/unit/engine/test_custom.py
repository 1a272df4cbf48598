"""Custom tasks: they behave like built-in ones."""

import numpy as np
import pytest

import poise
from poise import Custom, Hold, Position, TaskError
from poise.figures import built_in

ARM = built_in("arm")
TARGET = np.array([0.2, 0.5, 0.4])


def to_target(posture: poise.Posture) -> np.ndarray:
    return posture.figure.pose_of("tip", posture).position - TARGET


def its_jacobian(posture: poise.Posture) -> np.ndarray:
    return posture.figure.jacobian("tip", posture)[:3]


def test_a_custom_position_is_a_position():
    start = ARM.posture("ready")
    built_in_one = poise.solve(ARM, [Position("tip", at=TARGET)], start=start)
    for jacobian in (its_jacobian, None):
        result = poise.solve(ARM, [Custom(to_target, jacobian, size=3)], start=start)
        assert result.status == "solved"
        assert np.abs(to_target(result.posture)).max() < 1e-6
        assert result.steps <= built_in_one.steps + 3
        np.testing.assert_allclose(result.posture.q, built_in_one.posture.q, atol=0.1)


def test_differences_are_the_jacobian():
    posture = ARM.random(3)
    task = Custom(to_target, size=3)
    np.testing.assert_allclose(task.jacobian_at(posture), its_jacobian(posture), atol=1e-8)
    human = built_in("human")
    height = Custom(lambda p: human.center_of_mass(p)[1])
    bent = human.random(1)
    np.testing.assert_allclose(height.jacobian_at(bent)[0], human.center_of_mass_jacobian(bent)[1], atol=1e-8)


def test_priorities_hold_against_a_custom_task():
    tip_up = Custom(lambda p: p.figure.pose_of("tip", p).position[1] - 0.9, priority=2, name="up")
    result = poise.solve(ARM, [Position("tip", at=TARGET, priority=1), tip_up], start="ready")
    assert result.errors["position of tip"] < 1e-6
    assert result.errors["up"] == pytest.approx(0.4, abs=1e-6)
    swapped = poise.solve(
        ARM, [Position("tip", at=TARGET, priority=2), Custom(tip_up.error, priority=1, name="up")], start="ready"
    )
    assert swapped.errors["up"] < 1e-6


def test_a_custom_task_keeps_to_its_joints():
    start = ARM.posture("ready")
    result = poise.solve(ARM, [Custom(to_target, its_jacobian, size=3, joints=["turn", "elbow"])], start=start)
    assert result.posture["shoulder"] == start["shoulder"]
    assert result.posture["wrist"] == start["wrist"]


def test_an_error_that_is_far_from_linear_is_met():
    """Newton's step for arctan runs away from where this starts."""
    steep = Custom(lambda p: np.arctan(20.0 * float(p["elbow"])), name="steep")
    result = poise.solve(ARM, [steep], start={"elbow": 1.2})
    assert result.posture["elbow"] == pytest.approx(0.0, abs=1e-6)


def test_a_custom_task_that_cannot_be_met_comes_to_rest():
    away = np.array([0.0, 0.29, 3.0])
    far = Custom(lambda p: p.figure.pose_of("tip", p).position - away, size=3)
    result = poise.solve(ARM, [far], start="ready")
    assert result.status == "unreachable"
    assert result.errors[far] == pytest.approx(3.0 - 1.05, abs=0.02)


def test_a_custom_task_beside_a_held_posture_and_obstacles():
    start = ARM.posture("ready")
    result = poise.solve(
        ARM, [Custom(to_target, size=3), Hold(start, priority=5)], start=start, obstacles=[poise.Plane("y", 0.02)]
    )
    assert result.errors["custom to_target"] < 1e-6


@pytest.mark.parametrize(
    ("task", "words"),
    [
        (lambda: Custom(lambda p: [1.0, 2.0]), r"its error must have shape \(1,\), not \(2,\)"),
        (lambda: Custom(lambda p: float("nan")), "its error is not finite"),
        (lambda: Custom(lambda p: "far"), "its error must return numbers"),
        (lambda: Custom(lambda p: 1.0, lambda p: np.zeros(3)), r"its jacobian must have shape \(1, 4\), not \(3,\)"),
        (lambda: Custom(lambda p: 1.0, lambda p: np.full((1, 4), np.inf)), "its jacobian is not finite"),
        (lambda: Custom(lambda p: 1.0, size=0), "size must be a whole number of 1 or more"),
        (lambda: Custom(3.0), "must be functions of a posture"),
    ],
)
def test_what_a_function_may_not_return_is_said_in_a_sentence(task, words):
    with pytest.raises(TaskError, match=words):
        poise.solve(ARM, [task()], start="ready")


def test_a_custom_task_has_no_target():
    task = Custom(to_target, size=3)
    with pytest.raises(TaskError, match="has no target"):
        poise.Solver(ARM, [task]).target(task, TARGET)
