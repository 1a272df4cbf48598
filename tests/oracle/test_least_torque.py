"""Postures of least torque against scipy's sequential quadratic programming."""

import numpy as np
import pytest
from scipy.optimize import minimize

import poise
from poise import Equilibrium, LeastTorque, Position
from tests.unit.forces.thesis_chains import LINKS, REACH, double_support, single_support


@pytest.mark.parametrize("make", [single_support, double_support])
def test_least_torque_is_a_minimum_that_scipy_cannot_improve(make):
    scene = make()
    tasks = [Position("tip", (*scene.tip, 0.0), axes="xy"), Equilibrium()]
    result = poise.solve(scene.figure, tasks, start=scene.start, forces=scene.loads, criteria=[LeastTorque()])
    ours = scene.criterion.evaluate(scene.figure, result.posture)[0]
    found = minimize(
        lambda q: scene.criterion.evaluate(scene.figure, q)[0],
        result.q,
        jac=lambda q: scene.criterion.evaluate(scene.figure, q)[1],
        bounds=[(-REACH, REACH)] * LINKS,
        constraints=[
            {"type": "eq", "fun": lambda q: scene.constraints(q)[0], "jac": lambda q: scene.constraints(q)[1]}
        ],
        options={"ftol": 1e-13, "maxiter": 500},
    )
    assert found.success
    assert np.abs(scene.constraints(found.x)[0]).max() <= 1e-8
    assert ours <= found.fun * (1.0 + 1e-5)
