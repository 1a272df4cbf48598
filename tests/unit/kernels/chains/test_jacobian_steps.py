import math

import numpy as np
import pytest

from poise.kernels.chains.jacobian_steps import (
    clamp_largest,
    damped_step,
    maciejewski_damping,
    selective_step,
    transpose_step,
)
from poise.kernels.maths.singular_values import singular_rows

RNG = np.random.default_rng(7)
CASES = [(RNG.normal(size=(3, n)) * scale, RNG.normal(size=3)) for n in (3, 5, 12) for scale in (1e-2, 1.0, 30.0)]
CASES.append((np.vstack([RNG.normal(size=(2, 6)), np.zeros((1, 6))]), RNG.normal(size=3)))


def damped(J, e, bound):
    rows, left, sigma, step = J.copy(), np.empty((3, 3)), np.empty(3), np.zeros(J.shape[1])
    singular_rows(3, rows, left, sigma)
    damped_step(3, rows, left, sigma, e, bound, step)
    return step, math.sqrt(maciejewski_damping(3, sigma, e, bound))


@pytest.mark.parametrize(("J", "e"), CASES)
def test_without_a_bound_a_damped_step_is_the_pseudoinverse(J, e):
    step, damping = damped(J, e, math.inf)
    assert damping == 0.0
    assert step == pytest.approx(np.linalg.pinv(J) @ e, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("J", "e"), CASES)
@pytest.mark.parametrize("bound", [0.01, 0.3, 3.0])
def test_a_damped_step_is_that_of_equation_9_and_stays_within_its_bound(J, e, bound):
    step, damping = damped(J, e, bound)
    known = J.T @ np.linalg.solve(J @ J.T + damping**2 * np.eye(3) + 1e-300 * np.eye(3), e) if damping else None
    if known is not None:
        assert step == pytest.approx(known, rel=1e-9, abs=1e-12)
    assert np.linalg.norm(step) <= bound * (1.0 + 1e-12)


def test_the_damping_is_that_of_equation_15():
    sigma, e = np.array([2.0, 0.7, 5.0]), np.array([0.0, 1.0, 0.0])
    for bound, known in ((10.0, 0.0), (1.0, math.sqrt(0.7 * 0.3)), (1.0 / 1.3, math.sqrt(0.7 * 0.6)), (0.5, 1.0)):
        assert math.sqrt(maciejewski_damping(3, sigma, e, bound)) == pytest.approx(known)


@pytest.mark.parametrize(("J", "e"), CASES)
def test_a_transpose_step_goes_down_the_slope_as_far_as_helps(J, e):
    step = np.zeros(J.shape[1])
    transpose_step(3, J, e, step)
    slope = J.T @ e
    assert step / np.linalg.norm(step) == pytest.approx(slope / np.linalg.norm(slope))
    lengths = np.linalg.norm(step) * np.linspace(0.9, 1.1, 21)
    left = [np.linalg.norm(e - J @ (slope / np.linalg.norm(slope)) * size) for size in lengths]
    assert int(np.argmin(left)) == 10


@pytest.mark.parametrize(("J", "e"), CASES)
def test_a_selective_step_is_that_of_equations_11_and_12(J, e):
    turn = math.pi / 4.0
    reach = np.linalg.norm(J, axis=0)
    rows, left, sigma, step = J.copy(), np.empty((3, 3)), np.empty(3), np.zeros(J.shape[1])
    singular_rows(3, rows, left, sigma)
    selective_step(3, rows, left, sigma, e, reach, turn, step)
    clamp_largest(step, turn)
    u, s, vt = np.linalg.svd(J, full_matrices=False)
    known = np.zeros(J.shape[1])
    for i in range(3):
        if s[i] > 1e-10 * s[0]:
            gamma = min(1.0, 1.0 / (np.abs(vt[i]) @ reach / s[i])) * turn
            phi = (u[:, i] @ e) / s[i] * vt[i]
            known += phi * min(1.0, gamma / np.abs(phi).max())
    known *= min(1.0, turn / np.abs(known).max())
    assert step == pytest.approx(known, rel=1e-8, abs=1e-12)
    assert np.abs(step).max() <= turn * (1.0 + 1e-12)
