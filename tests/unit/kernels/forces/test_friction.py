"""Forces in friction cones: the conditions of optimality, other solvers, and closed forms."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize, nnls

from poise.kernels.forces.friction import forces_in_cones, into_cone
from poise.kernels.maths.vector import Vector

UP = np.array([0.0, 0.0, 1.0])


def wrench_map(points):
    """(6, 3 c) force and moment of forces at points."""
    A = np.zeros((6, 3 * len(points)))
    for c, (x, y, z) in enumerate(points):
        A[:3, 3 * c : 3 * c + 3] = np.eye(3)
        A[3:, 3 * c : 3 * c + 3] = [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]
    return A


def solved(A, b, normal, friction):
    force, rest = np.empty((len(normal), 3)), np.empty(len(b))
    forces_in_cones(A, b, normal, friction, force, rest)
    return force, rest


def split(vectors, normal):
    """Parts along and across normals."""
    along = np.einsum("ij,ij->i", vectors, normal)
    return along, np.linalg.norm(vectors - along[:, None] * normal, axis=1)


def random_problem(seed):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 9))
    points = rng.normal(size=(count, 3)) * [1.0, 1.0, rng.choice([0.0, 0.2, 1.0])]
    tilt = rng.normal(size=(count, 3)) * rng.choice([0.0, 0.5])
    normal = UP + tilt
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    friction = rng.uniform(0.0, 1.0, count) * rng.choice([0.0, 1.0], count, p=[0.2, 0.8])
    center = rng.normal(size=3) * 0.4
    push = UP + rng.normal(size=3) * rng.choice([0.0, 0.3])
    b = np.concatenate([push, np.cross(center, push)])
    return wrench_map(points), b / np.linalg.norm(b), normal, friction


@given(st.integers(0, 2**32 - 1))
def test_nothing_balances_better(seed):
    """f is in its cones, and the rest r has Aᵀ r in their polars with f·Aᵀ r = 0: then |b - A f| is least."""
    A, b, normal, friction = random_problem(seed)
    force, rest = solved(A, b, normal, friction)
    np.testing.assert_allclose(rest, b - A @ force.ravel(), atol=1e-12)
    along, across = split(force, normal)
    assert (across <= friction * along + 1e-12).all()
    pull = (A.T @ rest).reshape(-1, 3)
    along, across = split(pull, normal)
    assert (along + friction * across).max() <= 2e-6
    assert abs(float(np.sum(pull * force))) <= 1e-6


@given(st.integers(0, 2**32 - 1))
def test_facets_inside_the_cones_never_do_better(seed):
    """Against non-negative least squares on 32 edges of every cone."""
    A, b, normal, friction = random_problem(seed)
    _, rest = solved(A, b, normal, friction)
    edges = []
    for c, (n, mu) in enumerate(zip(normal, friction, strict=True)):
        x = np.cross(n, np.eye(3)[int(np.argmin(np.abs(n)))])
        x /= np.linalg.norm(x)
        y = np.cross(n, x)
        for angle in np.arange(32) * 2.0 * math.pi / 32:
            edge = n + mu * (math.cos(angle) * x + math.sin(angle) * y)
            edges.append(A[:, 3 * c : 3 * c + 3] @ edge)
    _, faceted = nnls(np.array(edges).T, b, maxiter=5000)
    assert np.linalg.norm(rest) <= faceted + 1e-6
    assert np.linalg.norm(rest) >= faceted - 0.02


@pytest.mark.parametrize("seed", range(8))
def test_of_all_forces_that_balance_it_finds_the_least(seed):
    rng = np.random.default_rng(seed)
    points = np.array([[1.0, 0.0, 0.0], [-0.8, 0.6, 0.1], [-0.5, -0.9, 0.0], [0.3, 0.2, 0.4]])
    normal = UP + rng.normal(size=(4, 3)) * 0.2
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    friction = np.full(4, 0.4)
    A = wrench_map(points)
    inside = normal + 0.2 * rng.normal(size=(4, 3))
    b = A @ inside.ravel() / 4.0
    force, rest = solved(A, b, normal, friction)
    assert np.abs(rest).max() <= 1e-13

    def room(f):
        along, across = split(f.reshape(-1, 3), normal)
        return friction * along - across

    other = minimize(
        lambda f: f @ f,
        inside.ravel() / 4.0,
        jac=lambda f: 2.0 * f,
        constraints=[
            {"type": "eq", "fun": lambda f: A @ f - b, "jac": lambda f: A},
            {"type": "ineq", "fun": room},
        ],
        options={"ftol": 1e-15, "maxiter": 500},
    )
    assert float(np.sum(force**2)) <= other.fun + 1e-9
    assert float(np.sum(force**2)) == pytest.approx(other.fun, abs=1e-6)


@pytest.mark.parametrize("friction", [0.0, 0.3, 1.0])
def test_the_projection_on_one_cone(friction):
    """The nearest point of the ray in the plane of y and the normal, or y, or the tip."""
    rng = np.random.default_rng(2)
    for _ in range(50):
        y = rng.normal(size=3)
        got = np.array(into_cone(Vector(*y), Vector(*UP), friction))
        size = math.hypot(y[0], y[1])
        inside = size <= friction * y[2]
        ray = np.array([friction * y[0] / size, friction * y[1] / size, 1.0])
        ray /= np.linalg.norm(ray)
        wanted = y if inside else max(0.0, float(y @ ray)) * ray
        assert got == pytest.approx(wanted, abs=1e-14)


def test_a_block_on_a_slope_slides_beyond_the_friction_angle():
    """The rest is what the nearest edge of the cone cannot give: sin(slope - friction angle)."""
    for slope, mu in ((0.3, 0.5), (0.5, 0.5), (1.0, 0.5), (0.1, 0.0)):
        normal = np.array([[math.sin(slope), 0.0, math.cos(slope)]])
        force, rest = solved(wrench_map([(0.0, 0.0, 0.0)]), np.array([*UP, 0.0, 0.0, 0.0]), normal, np.array([mu]))
        excess = max(0.0, slope - math.atan(mu))
        assert np.linalg.norm(rest) == pytest.approx(math.sin(excess), abs=1e-7)
        assert np.linalg.norm(force) == pytest.approx(math.cos(excess), abs=1e-7)


def test_same_question_same_bytes():
    for seed in range(5):
        problem = random_problem(seed)
        first, second = solved(*problem), solved(*problem)
        assert first[0].tobytes() == second[0].tobytes()
        assert first[1].tobytes() == second[1].tobytes()


def test_forces_change_continuously_with_the_load():
    """Along a path of loads from balanced to beyond, forces never jump."""
    points = np.array([[1.0, 0.0, 0.0], [-0.5, 0.8, 0.0], [-0.5, -0.8, 0.0]])
    A, normal, friction = wrench_map(points), np.tile(UP, (3, 1)), np.full(3, 0.5)
    before = None
    for x in np.linspace(0.0, 1.5, 301):
        b = np.concatenate([UP, np.cross([x, 0.1, 0.5], UP)])
        force, rest = solved(A, b, normal, friction)
        assert (np.linalg.norm(rest) <= 1e-12) == (abs(x) <= 0.8125)
        assert before is None or np.abs(force - before).max() <= 0.02
        before = force
