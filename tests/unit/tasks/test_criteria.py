"""Terms of criteria, and invalid arguments."""

from __future__ import annotations

import math

import numpy as np
import pytest

import poise
from poise import Comfort, Extend, FigureError, Flex, Force, Gradient, LeastTorque, NearPosture, TaskError
from poise.figure.model.builder import Builder, revolute
from poise.figure.model.figure import Figure
from poise.tasks.criteria import Slope
from poise.tasks.ranges import ranges_of
from tests.unit.figure.model.samples import two_links


def hinges() -> Figure:
    """A knee that bends forwards, one that bends backwards, one that does both, one without limits."""
    made = Builder("hinges")
    below = made.body("base")
    for name, limits in {"forth": (0.0, 2.0), "back": (-2.0, 0.1), "both": (-1.0, 1.0), "free": None}.items():
        below = made.body(name, parent=below, joint=revolute(name, "x", limits=limits), at=(0, 0.1, 0), mass=1.0)
    return made.build()


def test_the_middle_of_ranges() -> None:
    middle, size = ranges_of(hinges())
    assert middle.q == pytest.approx([1.0, -0.95, 0.0, 0.0])
    assert size == pytest.approx([2.0, 2.1, 2.0, math.inf])


def test_the_middle_of_a_ball_is_legal_and_far_from_its_limits() -> None:
    human = poise.load("human")
    middle, size = ranges_of(human)
    assert human.violations(middle) == []
    hip = human.v_slice("left_hip")
    assert 0.5 < size[hip][0] < math.pi
    for way in np.eye(3):
        step = np.zeros(human.nv)
        step[hip] = 0.2 * way
        assert human.violations(human.integrate(middle, step)) == []


def test_comfort_counts_shares_of_ranges() -> None:
    posture, weight = Comfort(weight=3.0).term(hinges())
    assert posture == pytest.approx(ranges_of(hinges()).middle.q)
    assert weight == pytest.approx([6.0 / 4.0, 6.0 / 2.1**2, 6.0 / 4.0, 0.0])


def test_joints_bend_towards_the_larger_side_of_their_range() -> None:
    assert Flex().term(hinges()).gradient == pytest.approx([-1.0, 1.0, 0.0, 0.0])
    assert Extend(weight=0.5).term(hinges()).gradient == pytest.approx([0.5, -0.5, 0.0, 0.0])
    assert Flex("forth").term(hinges()) == Slope(pytest.approx([-1.0, 0.0, 0.0, 0.0]))
    with pytest.raises(TaskError, match="has a larger range on one side"):
        Flex(["both", "free"]).term(hinges())


def test_a_human_flexes_knees_forwards_and_hips_up() -> None:
    human = poise.load("human")
    bent = human.integrate(human.neutral(), -0.5 * Flex(["left_hip", "left_knee"]).term(human).gradient)
    foot, thigh = human.pose_of("left_foot", bent), human.pose_of("left_foot", human.neutral())
    assert foot.position[1] > thigh.position[1] + 0.05


def test_least_torque_is_scaled_by_the_figure() -> None:
    """Scaling masses and strengths by ten does not change the weight of the criterion."""
    for strength in (None, 10.0):
        acting, weakness = LeastTorque(strength=strength).term(two_links())
        assert weakness == pytest.approx(LeastTorque().term(two_links()).weakness)
        assert acting.figure is not None
    _, twice = LeastTorque(weight=4.0).term(two_links())
    assert twice == pytest.approx(2.0 * weakness)


def test_least_torque_has_its_own_forces_or_those_of_the_solve() -> None:
    push = Force("tip", (0.0, 1.0, 0.0))
    assert LeastTorque().term(two_links(), [push]).acting.forces == (push,)
    assert LeastTorque(forces=[push]).term(two_links()).acting.forces == (push,)
    assert LeastTorque(forces=()).term(two_links(), [push]).acting.forces == ()


def test_wrong_criteria_are_refused() -> None:
    with pytest.raises(TaskError, match="Comfort: weight must be"):
        Comfort(weight=-1.0)
    with pytest.raises(TaskError, match="LeastTorque: weight must be"):
        LeastTorque(weight=math.nan)
    with pytest.raises(TaskError, match="a strength must be a positive number"):
        LeastTorque(strength=-1.0)
    with pytest.raises(FigureError, match="no joint 'nkee'"):
        NearPosture([0.0] * 4, joints="nkee").term(hinges())
    with pytest.raises(TaskError, match="must return 2 finite numbers"):
        Gradient(lambda posture: [1.0]).term(two_links()).gradient(two_links().neutral())
