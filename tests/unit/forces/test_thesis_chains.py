"""Torque minimisation on the thesis' chains, with a general-purpose optimiser on our values and gradients."""

import numpy as np
import pytest
from scipy.optimize import minimize

from poise.forces import joint_torques, net_force, root_reaction
from tests.unit.forces.thesis_chains import LINKS, REACH, double_support, single_support

SCENES = {"single": single_support, "double": double_support}


def minimised(scene):
    """The posture of least effort that meets the constraints, near the start."""
    return minimize(
        lambda q: scene.criterion.evaluate(scene.figure, q)[0],
        scene.start.q,
        jac=lambda q: scene.criterion.evaluate(scene.figure, q)[1],
        bounds=[(-REACH, REACH)] * LINKS,
        constraints=[
            {"type": "eq", "fun": lambda q: scene.constraints(q)[0], "jac": lambda q: scene.constraints(q)[1]}
        ],
        options={"ftol": 1e-13, "maxiter": 500},
    )


@pytest.mark.parametrize("name", SCENES)
def test_starts_are_legal_and_balanced(name):
    scene = SCENES[name]()
    assert scene.figure.violations(scene.start) == []
    net = net_force(scene.figure, scene.start, scene.loads)
    assert net.force == pytest.approx(np.zeros(3), abs=1e-10)
    assert net.torque == pytest.approx(np.zeros(3), abs=1e-9)
    assert scene.figure.pose_of("tip", scene.start).position[:2] == pytest.approx(scene.tip, abs=1e-9)


@pytest.mark.parametrize("name", SCENES)
def test_effort_falls_at_least_as_far_as_in_the_thesis(name):
    """The thesis reports ‖τ‖ down to 0.72 (fig. 6.8) and 0.65 (fig. 6.9) of that in postures it does not print."""
    scene = SCENES[name]()
    found = minimised(scene)
    assert found.success
    posture = scene.figure.posture(found.x)
    assert np.abs(scene.constraints(posture.q)[0]).max() <= 1e-9
    assert scene.figure.violations(posture) == []
    assert scene.torque_norm(posture) <= 0.65 * scene.torque_norm(scene.start)


@pytest.mark.parametrize("name", SCENES)
def test_no_small_legal_change_is_better_than_the_minimum(name):
    scene = SCENES[name]()
    best = scene.figure.posture(minimised(scene).x)
    least = scene.torque_norm(best)
    rng = np.random.default_rng(0)
    for _ in range(20):
        nearby = scene.corrected(best.q + 0.01 * rng.normal(size=best.q.size))
        if not scene.figure.violations(nearby):
            assert scene.torque_norm(nearby) >= least - 1e-6


def test_a_balanced_chain_needs_no_torque_at_its_base():
    """The first hinge holds the moment about the base, which balance makes zero."""
    scene = single_support()
    assert joint_torques(scene.figure, scene.start, scene.loads)[0] == pytest.approx(0.0, abs=1e-9)
    assert root_reaction(scene.figure, scene.start, scene.loads).torque == pytest.approx(np.zeros(3), abs=1e-9)
