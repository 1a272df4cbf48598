"""Couplings hold after clamping, at the nearest point where that is defined."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, minimize, nnls

from poise.figure.model.figure import Figure
from poise.figure.model.posture import Posture
from poise.kernels.body.limits import coupling_value
from poise.kernels.maths.nearest_point import nearest_in_polyhedron
from tests.strategies import SCALAR, Recipe, figures, figures_with_posture, legal_postures, wild_postures

SCALARS = Recipe(kinds=SCALAR, bodies=5, couplings=4, loops=0, base=("root", "world"))
BALLS = Recipe(kinds=("ball", "revolute", "universal"), bodies=4, couplings=3, loops=0, ball_couplings=True)


@given(figures(BALLS), st.data())
def test_couplings_of_ball_joints_hold_after_clamping(figure: Figure, data: st.DataObject) -> None:
    posture = figure.clamp(data.draw(wild_postures(figure)))
    assert figure.violations(posture) == []
    for k, coupling in enumerate(figure.couplings):
        value = coupling_value(figure.compiled.bounds, k, posture._q)
        assert coupling.lower - 1e-9 <= value <= coupling.upper + 1e-9


def linear_problem(figure: Figure) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, lower and upper bounds of the couplings over all joint values."""
    rows = np.zeros((len(figure.couplings), figure.nq))
    for k, coupling in enumerate(figure.couplings):
        for term in coupling.terms:
            joint = figure.joints[term.joint]
            part = joint.coordinates.index(term.coordinate) if term.coordinate else 0
            rows[k, figure.q_slice(term.joint).start + part] = term.factor
    lower = np.array([coupling.lower for coupling in figure.couplings])
    upper = np.array([coupling.upper for coupling in figure.couplings])
    return rows, lower, upper


@given(figures_with_posture(SCALARS))
def test_coupled_scalars_are_at_the_nearest_point(case: tuple[Figure, Posture]) -> None:
    """Karush–Kuhn–Tucker: the way to the wanted values is a sum of pressures of the limits that are reached."""
    figure, posture = case
    if not figure.nq:
        return
    clamped = figure.clamp(posture).q
    assert figure.violations(clamped) == []
    rows, lower, upper = linear_problem(figure)
    rows = np.concatenate([rows, np.eye(figure.nq)])
    lower = np.concatenate([lower, figure.compiled.bounds.lower])
    upper = np.concatenate([upper, figure.compiled.bounds.upper])
    reached = 1e-8 * max(1.0, float(np.abs(posture.q).max()))
    normals = [row for row, value, high in zip(rows, rows @ clamped, upper, strict=True) if value >= high - reached]
    normals += [-row for row, value, low in zip(rows, rows @ clamped, lower, strict=True) if value <= low + reached]
    push = posture.q - clamped
    if normals:
        _, rest = nnls(np.array(normals).T, push)
    else:
        rest = float(np.linalg.norm(push))
    assert rest <= 1e-6 * max(1.0, float(np.linalg.norm(push)))


@given(figures(SCALARS), st.data())
def test_coupled_scalars_agree_with_an_optimizer(figure: Figure, data: st.DataObject) -> None:
    start, wanted = data.draw(legal_postures(figure)).q, data.draw(legal_postures(figure)).q
    if not len(figure.couplings) or not figure.nq:
        return
    wanted = wanted + np.random.default_rng(1).normal(size=figure.nq)
    rows, lower, upper = linear_problem(figure)
    limits = figure.compiled.bounds
    groups = [lower == upper, lower < upper]
    found = minimize(
        lambda q: 0.5 * float((q - wanted) @ (q - wanted)),
        start,
        jac=lambda q: q - wanted,
        method="SLSQP",
        bounds=Bounds(limits.lower, limits.upper),
        constraints=[LinearConstraint(rows[group], lower[group], upper[group]) for group in groups if group.any()],
        options={"ftol": 1e-14, "maxiter": 500},
    )
    broken = max(0.0, float((lower - rows @ found.x).max()), float((rows @ found.x - upper).max()))
    if not found.success or broken > 1e-9:
        return
    np.testing.assert_allclose(figure.clamp(wanted).q, found.x, atol=1e-6)


@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.integers(1, 12))
def test_the_nearest_point_of_a_polyhedron_is_where_its_limits_push_back(seed: int, n: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    rows, inside = rng.normal(size=(m, n)) * rng.choice([0.01, 1.0, 100.0], size=(m, 1)), rng.normal(size=n)
    lower = rows @ inside - rng.choice([0.0, 1.0, math.inf], m)
    upper = rows @ inside + rng.choice([0.0, 1.0, math.inf], m)
    # Parallel rows make the held set degenerate.
    rows = np.concatenate([rows, -2.0 * rows[:2]])
    lower, upper = np.append(lower, -2.0 * upper[:2]), np.append(upper, -2.0 * lower[:2])
    wanted = inside + rng.normal(size=n) * rng.choice([1e-3, 1.0, 1e3])
    x = wanted.copy()
    assert nearest_in_polyhedron(rows, lower, upper, x) == 1
    size = np.linalg.norm(rows, axis=1)
    tolerance = 1e-11 * (1.0 + float(np.abs(x).max())) * size + 1e-11
    assert (rows @ x <= upper + tolerance).all()
    assert (rows @ x >= lower - tolerance).all()
    normals = np.concatenate([rows[rows @ x >= upper - 1e-7 * size], -rows[rows @ x <= lower + 1e-7 * size]])
    push = wanted - x
    tidy = normals / np.linalg.norm(normals, axis=1, keepdims=True)
    rest = nnls(tidy.T, push)[1] if len(normals) else float(np.linalg.norm(push))
    assert rest <= 1e-6 * max(1.0, float(np.linalg.norm(push)))


@given(st.integers(0, 2**32 - 1), st.integers(1, 6))
def test_a_polyhedron_without_points_is_noticed(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    row = rng.normal(size=n)
    rows = np.stack([row, row * 3.0, rng.normal(size=n)])
    lower, upper = np.array([1.0, -math.inf, -5.0]), np.array([math.inf, 2.0, 5.0])
    assert nearest_in_polyhedron(rows, lower, upper, rng.normal(size=n)) == 0
