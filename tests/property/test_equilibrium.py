"""Whatever the shares and the forces, what rests is balanced, and limits hold."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import poise
from poise import Equilibrium, Force, Frame, Hold, LeastTorque, Support
from poise.forces import find_reactions, net_force

FEET = ("left_foot", "right_foot")
numbers = st.floats(-40.0, 40.0)


def solve(forces, criteria=()):
    figure = poise.load("human").with_floating_base()
    stand = [Frame(foot, figure.pose_of(foot, "standing"), priority=1) for foot in FEET]
    tasks = [*stand, Equilibrium(priority=2, level=True), Hold("standing", priority=3)]
    return figure, poise.solve(
        figure, tasks[:-1] if criteria else tasks, start="standing", forces=forces, criteria=criteria
    )


@settings(max_examples=15)
@given(st.floats(0.0, 1.0), numbers, numbers)
def test_met_equilibrium_is_balance(share, down, forwards):
    forces = [Support("left_foot", share), Support("right_foot"), Force("left_hand", (0.0, down, forwards))]
    figure, result = solve(forces)
    assert figure.violations(result.posture) == []
    if result.errors["equilibrium"] <= 1e-6:
        net = net_force(figure, result.posture, forces)
        weight = figure.mass * 9.80665
        assert np.abs(net.force).max() <= 1e-9 * weight
        assert np.abs(net.torque[[0, 2]]).max() <= 2e-6 * weight


@settings(max_examples=8)
@given(numbers, numbers, numbers)
def test_open_supports_end_in_balance(x, y, z):
    forces = [*(Support(foot) for foot in FEET), Force("left_hand", (x, y, z))]
    figure, result = solve(forces)
    assert figure.violations(result.posture) == []
    if result.errors["equilibrium"] <= 1e-6:
        assert find_reactions(figure, result.posture, forces).rest <= 1e-5


@settings(max_examples=5)
@given(st.floats(0.1, 0.9))
def test_the_same_question_has_the_same_answer(share):
    forces = [Support("left_foot", share), Support("right_foot")]
    assert solve(forces, [LeastTorque()])[1].q.tobytes() == solve(forces, [LeastTorque()])[1].q.tobytes()
