"""Levels with curvature: stops, row multipliers, resuming, convex answers, saddles and corrections."""

import numpy as np
import pytest

from poise.kernels.levels.levels import correct_levels, resume_levels, solve_levels
from poise.kernels.levels.sweep import GIVE_WAY_SHARE
from poise.kernels.levels.workspace import CHECKED, GIVES_WAY, UNCHECKED
from tests.unit.kernels.levels.level_problems import Problem, null_space, reference


def one_curved_level(seed):
    """A random problem with convex curvature on one level, the wish included."""
    problem = Problem(seed)
    k = int(problem.rng.integers(0, len(problem.rows) + 1))
    return problem.bend(k, int(problem.rng.integers(1, problem.n + 1)))


@pytest.mark.parametrize("seed", range(60))
def test_a_convex_curved_level_is_optimal_inside_the_limits(seed):
    problem = one_curved_level(seed)
    expected = reference(problem)
    solver, x = problem.solver(), np.zeros(problem.n)
    assert solve_levels(problem.arrays(), solver, x) in (UNCHECKED, CHECKED)
    assert np.abs(x - expected).max() < 1e-7
    assert not solver.work.shift.any()
    assert solver.work.escape_curvature == 0.0


@pytest.mark.parametrize("seed", range(20))
def test_curved_levels_do_not_depend_on_the_warm_start(seed):
    problem = one_curved_level(seed)
    solver, cold, warm = problem.solver(), np.zeros(problem.n), np.zeros(problem.n)
    solve_levels(problem.arrays(), problem.solver(), cold)
    solve_levels(problem.arrays(), solver, warm)
    warm[:] = 0.0
    solve_levels(problem.arrays(), solver, warm)
    assert np.abs(warm - cold).max() < 1e-9


@pytest.mark.parametrize("seed", range(40))
def test_indefinite_curvature_gives_a_step_downhill_inside_the_limits(seed):
    rng = np.random.default_rng(seed)
    problem = Problem(seed)
    n, k = problem.n, len(problem.rows)
    root = rng.normal(size=(n, n))
    problem.curved[k], problem.curvature[k] = 1, root + root.T - 3.0 * np.eye(n)
    problem.rows, problem.targets = [np.zeros((1, n))] * k, [np.zeros(1)] * k
    solver, x = problem.solver(), np.zeros(n)
    assert solve_levels(problem.arrays(), solver, x) in (UNCHECKED, CHECKED)
    values = problem.limit_rows() @ x
    assert (values <= problem.upper + 1e-9).all()
    assert (values >= problem.lower - 1e-9).all()
    hessian = problem.curvature[k] + (1.0 + problem.wish_damping**2) * np.eye(n)
    assert 0.5 * x @ hessian @ x - problem.wish @ x <= 1e-12
    if solver.work.escape_curvature < 0.0:
        assert solver.work.shift[k] > 0.0
        assert solver.work.escape @ hessian @ solver.work.escape == pytest.approx(solver.work.escape_curvature)
        assert np.linalg.norm(solver.work.escape) == pytest.approx(1.0)


def test_a_saddle_is_left_along_its_most_negative_curvature():
    problem = Problem(0).without_limits()
    problem.n, problem.rows, problem.targets = 3, [np.zeros((1, 3))], [np.zeros(1)]
    problem.damping, problem.wish, problem.wish_damping = np.zeros(1), np.zeros(3), 0.0
    problem.general, problem.limit_level = np.zeros((0, 3)), np.zeros(3, int)
    problem.lower, problem.upper = np.full(3, -1.0), np.full(3, 1.0)
    problem.curved, problem.watch = np.array([0, 1]), np.zeros(2, int)
    problem.curvature = np.array([np.zeros((3, 3)), np.diag([2.0, -1.5, -5.0])])
    solver, x = problem.solver(), np.zeros(3)
    solve_levels(problem.arrays(), solver, x)
    assert np.abs(x).max() < 1e-12
    assert solver.work.escape_curvature == pytest.approx(-4.0, abs=0.01)
    assert abs(solver.work.escape[2]) > 0.99


def far_target(seed):
    """A problem whose last level with rows cannot be met, and is watched."""
    problem = Problem(seed)
    problem.watch[:] = 1
    problem.targets[-1] = problem.targets[-1] + 50.0
    return problem


@pytest.mark.parametrize("seed", range(60))
def test_row_multipliers_balance_the_residual(seed):
    problem = far_target(seed)
    arrays, solver, x = problem.arrays(), problem.solver(), np.zeros(problem.n)
    status = solve_levels(arrays, solver, x)
    levels = problem.levels()
    k = solver.work.stopped_level
    for j, (rows, target, _) in enumerate(levels):
        left = np.linalg.norm(target - rows @ x)
        if j == k:
            assert left > GIVE_WAY_SHARE * np.linalg.norm(target)
            break
    else:
        assert status in (UNCHECKED, CHECKED)
        return
    assert status == GIVES_WAY
    rows, target, _ = levels[k]
    missing = target - rows @ x
    start = arrays.start
    if k < len(problem.rows):
        assert np.allclose(solver.work.row_multipliers[start[k] : start[k + 1]], -missing, atol=1e-9)
        assert not solver.work.row_multipliers[start[k + 1] :].any()
    locked = problem.limit_rows()[np.flatnonzero(solver.work.side[: k + 1].any(axis=0))]
    above = arrays.rows[: start[k]]
    unbalanced = rows.T @ missing - above.T @ solver.work.row_multipliers[: start[k]]
    balance = np.hstack([locked.T, null_space(np.vstack([above, locked]))])
    shares = np.linalg.lstsq(balance, unbalanced, rcond=None)[0]
    assert np.abs(balance @ shares - unbalanced).max() < 1e-7 * max(1.0, np.abs(missing).max())


@pytest.mark.parametrize("seed", range(60))
def test_resuming_is_solving_with_curvature_from_the_start(seed):
    problem = far_target(seed)
    root = np.random.default_rng(seed).normal(size=(problem.n, problem.n))
    arrays, solver, x = problem.arrays(), problem.solver(), np.zeros(problem.n)
    status = solve_levels(arrays, solver, x)
    stops = 0
    while status == GIVES_WAY:
        k = solver.work.stopped_level
        problem.curved[k], problem.curvature[k] = 1, root @ root.T + 0.1 * np.eye(problem.n)
        status = resume_levels(arrays, solver, k, x)
        stops += 1
        assert stops <= len(problem.rows) + 1
    whole = np.zeros(problem.n)
    assert status in (UNCHECKED, CHECKED)
    assert solve_levels(problem.arrays(), problem.solver(), whole) in (UNCHECKED, CHECKED)
    assert np.abs(x - whole).max() < 1e-8


@pytest.mark.parametrize("seed", range(30))
def test_a_correction_removes_the_errors_of_the_rows(seed):
    rng = np.random.default_rng(seed)
    problem = Problem(seed)
    n = 9
    problem.n, problem.general = n, rng.normal(size=(1, n))
    problem.rows = [rng.normal(size=(2, n)), rng.normal(size=(2, n)), rng.normal(size=(2, n))]
    problem.targets, problem.damping = [0.1 * rng.normal(size=2) for _ in range(3)], np.array([0.0, 0.0, 0.2])
    problem.wish = rng.normal(size=n)
    problem.lower, problem.upper = -rng.uniform(0.1, 0.4, n + 1), rng.uniform(0.1, 0.4, n + 1)
    problem.limit_level = np.zeros(n + 1, dtype=np.int64)
    problem.curved, problem.watch, problem.curvature = np.zeros(4, int), np.zeros(4, int), np.zeros((4, n, n))
    arrays, solver, x, dx = problem.arrays(), problem.solver(), np.zeros(n), np.zeros(n)
    solve_levels(arrays, solver, x)
    side = solver.work.side.copy()
    above = np.vstack(problem.rows[:2])
    for _ in range(2):
        error = 1e-3 * rng.normal(size=4)
        assert correct_levels(arrays, solver, 2, error, x, dx)
        assert np.abs(above @ dx - error).max() < 1e-12
        values = problem.limit_rows() @ (x + dx)
        assert (values <= problem.upper + 1e-9).all()
        assert (values >= problem.lower - 1e-9).all()
    assert np.array_equal(solver.work.side, side)
    error = np.full(4, 1e3)
    assert not correct_levels(arrays, solver, 2, error, x, dx)
    values = problem.limit_rows() @ (x + dx)
    assert (values <= problem.upper + 1e-9).all()
    assert (values >= problem.lower - 1e-9).all()


def test_a_correction_that_limits_stop_does_not_stop_a_smaller_one():
    """The first correction reaches both limits; the next one, of a shorter step, must not keep to them."""
    problem = Problem(0).without_limits()
    n = problem.n
    problem.rows, problem.targets = [np.eye(1, n, n - 1), np.eye(2, n)], [np.zeros(1), np.zeros(2)]
    problem.damping, problem.curved = np.zeros(2), np.zeros(3, int)
    problem.watch, problem.curvature = np.zeros(3, int), np.zeros((3, n, n))
    problem.wish = np.zeros(n)
    problem.lower[:n], problem.upper[:n] = -1.0, 0.1
    arrays, solver, x, dx = problem.arrays(), problem.solver(), np.zeros(n), np.zeros(n)
    solve_levels(arrays, solver, x)
    error = np.array([0.0, 1.0, 1.0])
    assert not correct_levels(arrays, solver, 2, error, x, dx)
    assert np.abs(dx[:2] - 0.1).max() < 1e-12
    assert correct_levels(arrays, solver, 2, 0.05 * error, x, dx)
    assert np.abs(dx[:2] - 0.05).max() < 1e-12


def test_a_correction_far_from_limits_is_the_shortest():
    problem = Problem(0).without_limits()
    arrays, solver, x, dx = problem.arrays(), problem.solver(), np.zeros(problem.n), np.zeros(problem.n)
    solve_levels(arrays, solver, x)
    error = np.array([0.1] * len(problem.rows[0]))
    assert correct_levels(arrays, solver, 1, error, x, dx)
    assert np.allclose(dx, np.linalg.pinv(problem.rows[0]) @ error, atol=1e-12)


def test_rows_before_the_first_level_do_not_count_in_a_correction():
    problem = Problem(0).without_limits()
    problem.rows = [np.full((2, problem.n), 7.0), *problem.rows]
    problem.targets = [np.full(2, 5.0), *problem.targets]
    arrays = problem.arrays()
    arrays = arrays._replace(start=arrays.start[1:].copy())
    solver, x, dx = problem.solver(), np.zeros(problem.n), np.zeros(problem.n)
    solve_levels(arrays, solver, x)
    error = np.array([3.0] * 2 + [0.1] * len(problem.rows[1]))
    assert correct_levels(arrays, solver, 1, error, x, dx)
    assert np.allclose(dx, np.linalg.pinv(problem.rows[1]) @ error[2:], atol=1e-12)
