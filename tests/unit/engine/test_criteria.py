"""Criteria through `poise.solve`: they use the remaining freedom, and do not worsen tasks."""

from __future__ import annotations

import numpy as np
import pytest

import poise
from poise import Comfort, Equilibrium, Extend, Flex, Frame, Gradient, Hold, LeastTorque, NearPosture, Position
from poise.engine.external_terms import update_hessian
from poise.figure.model.posture import Posture
from poise.forces import joint_torques
from tests.unit.forces.thesis_chains import double_support, single_support

HUMAN = poise.load("human")
REACH = Position("right_hand", (-0.3, 1.2, 0.4))
TASKS = [REACH, *(Frame(foot, HUMAN.pose_of(foot, "standing")) for foot in ("left_foot", "right_foot"))]


@pytest.mark.parametrize(("scene", "share"), [(single_support(), 0.72), (double_support(), 0.65)], ids=["6.8", "6.9"])
def test_torques_fall_at_least_as_far_as_in_the_thesis(scene, share) -> None:
    tip, rest = Position("tip", (*scene.tip, 0.0), axes="xy"), Equilibrium()
    result = poise.solve(scene.figure, [tip, rest], start=scene.start, forces=scene.loads, criteria=[LeastTorque()])
    assert result.status == "solved"
    assert scene.figure.violations(result.posture) == []
    assert scene.torque_norm(result.posture) <= share * scene.torque_norm(scene.start)


def test_a_posture_near_is_a_posture_held() -> None:
    near = poise.solve(HUMAN, TASKS, criteria=[NearPosture("standing")])
    held = poise.solve(HUMAN, [*TASKS, Hold("standing", priority=2)])
    assert near.status == "solved"
    assert near.q == pytest.approx(held.q, abs=1e-4)


def test_a_gradient_leads_to_the_minimum_of_its_function() -> None:
    wanted, counts = HUMAN.posture("standing"), NearPosture("standing").term(HUMAN).weight
    near = poise.solve(HUMAN, TASKS, criteria=[NearPosture(wanted)])
    away = Gradient(lambda posture: -4.0 * counts * HUMAN.difference(posture, wanted))
    outside = poise.solve(HUMAN, TASKS, criteria=[away])
    assert outside.status == "solved"
    assert outside.q == pytest.approx(near.q, abs=1e-3)


def test_a_crooked_gradient_converges() -> None:
    """Rosenbrock's valley in two joints of a chain without tasks."""
    chain = poise.chain("XXX", lengths=[0.1, 0.2, 0.2])

    def valley(posture: Posture) -> np.ndarray:
        x, y, z = posture.q
        return np.array([-2.0 * (1.0 - x) - 20.0 * x * (y - x * x), 10.0 * (y - x * x), z])

    start = [-0.5, 0.8, 0.3]
    result = poise.solve(chain, [], start=start, criteria=[Gradient(valley)], max_steps=300)
    assert result.q == pytest.approx([1.0, 1.0, 0.0], abs=1e-3)


def test_the_bfgs_hessian_converges_to_that_of_a_quadratic() -> None:
    rng = np.random.default_rng(3)
    square = rng.normal(size=(4, 4))
    true = square @ square.T + np.eye(4)
    hessian = 5.0 * np.eye(4)
    for _ in range(200):
        step = rng.normal(size=4)
        update_hessian(hessian, step, true @ step)
    assert hessian == pytest.approx(true, abs=1e-6)
    update_hessian(hessian, np.ones(4), -true @ np.ones(4))
    assert np.linalg.eigvalsh(hessian).min() > 0.0


def test_flexing_and_extending() -> None:
    human = poise.load("human")
    knees = ["left_knee", "right_knee"]
    bent, straight = (
        poise.solve(human, [REACH], start="sitting", criteria=[criterion]) for criterion in (Flex(knees), Extend(knees))
    )
    assert bent.status == straight.status == "solved"
    for knee in knees:
        assert np.ravel(bent.posture[knee])[0] > np.ravel(straight.posture[knee])[0] + 1.5


def test_comfort_brings_joints_off_their_limits() -> None:
    human = poise.load("human")
    plain = poise.solve(human, [REACH])
    easy = poise.solve(human, [REACH], criteria=[Comfort()])
    assert easy.status == "solved"
    value = dict.fromkeys(("plain", "easy"), 0.0)
    posture, weight = Comfort().term(human)
    for name, result in (("plain", plain), ("easy", easy)):
        gap = human.difference(result.posture, Posture(human, posture.copy()))
        value[name] = float(weight @ gap**2)
    assert value["easy"] < 0.5 * value["plain"]


def test_criteria_are_summed() -> None:
    """Weights decide between two postures: a ninth of the way for a weight of one against eight."""
    chain = poise.chain("XYZ", lengths=[0.1, 0.2, 0.2])
    here, there = NearPosture([0.0, 0.0, 0.0], weight=8.0), NearPosture([0.9, -0.9, 0.45])
    result = poise.solve(chain, [], criteria=[here, there])
    assert result.q == pytest.approx([0.1, -0.1, 0.05], abs=1e-6)


def test_weak_joints_are_spared() -> None:
    human = poise.load("human")
    plain = poise.solve(human, [REACH], criteria=[LeastTorque(), NearPosture("standing", weight=0.05)])
    spared = poise.solve(
        human, [REACH], criteria=[LeastTorque(joints=["right_shoulder"]), NearPosture("standing", weight=0.05)]
    )
    shoulder = human.v_slice("right_shoulder")
    torques = [np.linalg.norm(joint_torques(human, result.posture)[shoulder]) for result in (plain, spared)]
    assert spared.status == "solved"
    assert torques[1] < torques[0]
