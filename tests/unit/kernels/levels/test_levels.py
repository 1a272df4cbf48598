"""The level solver against a reference that tries every combination of active limits."""

import numpy as np
import pytest

from poise.kernels.levels.levels import make_solver, solve_levels
from poise.kernels.levels.workspace import CHECKED, UNCHECKED
from tests.unit.kernels.levels.level_problems import Problem, reference


@pytest.mark.parametrize("seed", range(90))
def test_every_level_is_optimal_inside_the_limits(seed):
    problem = Problem(seed)
    expected = reference(problem)
    if expected is None:
        pytest.fail("the reference found no answer")
    x = np.zeros(problem.n)
    assert solve_levels(problem.arrays(), problem.solver(), x) in (UNCHECKED, CHECKED)
    assert np.abs(x - expected).max() < 1e-8
    values = problem.limit_rows() @ x
    assert (values <= problem.upper + 1e-9).all()
    assert (values >= problem.lower - 1e-9).all()


@pytest.mark.parametrize("seed", range(20))
def test_a_warm_start_does_not_change_the_answer(seed):
    problem, other = Problem(seed), Problem(seed)
    other.targets = [target + 0.1 for target in other.targets]
    cold, warm, solver = np.zeros(problem.n), np.zeros(problem.n), problem.solver()
    solve_levels(problem.arrays(), problem.solver(), cold)
    solve_levels(other.arrays(), solver, warm)
    warm[:] = 0.0
    solve_levels(problem.arrays(), solver, warm)
    assert np.abs(warm - cold).max() < 1e-9


@pytest.mark.parametrize("seed", range(30))
def test_a_lower_level_does_not_change_a_higher_one(seed):
    """Dropping the last level leaves the residuals of undamped levels above it as they were."""
    whole, part = Problem(seed), Problem(seed)
    if len(whole.rows) == 1:
        part.wish = np.zeros(part.n)
    else:
        part.rows, part.targets, part.damping = part.rows[:-1], part.targets[:-1], part.damping[:-1]
    x, y = np.zeros(whole.n), np.zeros(part.n)
    solve_levels(whole.arrays(), whole.solver(), x)
    solve_levels(part.arrays(), part.solver(), y)
    for rows, target, damping in zip(part.rows, part.targets, part.damping, strict=True):
        if damping == 0.0:
            assert np.linalg.norm(rows @ x - target) == pytest.approx(np.linalg.norm(rows @ y - target), abs=1e-9)


@pytest.mark.parametrize("seed", range(60))
def test_a_limit_binds_from_its_level_on(seed):
    problem = Problem(seed)
    problem.limit_level = problem.rng.integers(0, len(problem.rows) + 1, len(problem.lower))
    expected = reference(problem)
    x = np.zeros(problem.n)
    assert solve_levels(problem.arrays(), problem.solver(), x) in (UNCHECKED, CHECKED)
    assert np.abs(x - expected).max() < 1e-8


def test_levels_below_do_not_worsen_a_later_limit_that_is_crossed():
    problem = Problem(1).without_limits()
    problem.n, problem.rows, problem.targets = 2, [np.array([[1.0, 0.0]])], [np.array([2.0])]
    problem.damping, problem.wish, problem.general = np.zeros(1), np.array([0.0, 9.0]), np.array([[1.0, 1.0]])
    problem.wish_damping = 0.0
    problem.lower, problem.upper = np.full(3, -np.inf), np.array([np.inf, np.inf, 1.0])
    problem.limit_level, problem.curved, problem.watch = np.array([0, 0, 1]), np.zeros(2, int), np.zeros(2, int)
    solver, x = problem.solver(), np.zeros(2)
    solve_levels(problem.arrays(), solver, x)
    assert np.allclose(x, [2.0, 0.0], atol=1e-12)
    assert solver.work.side[1].tolist() == [0, 0, 1]
    assert solver.work.limit_multipliers[1, 2] == pytest.approx(9.0)
    assert np.allclose(solver.work.level_residual, [0.0, np.hypot(2.0, 9.0)])


@pytest.mark.parametrize("seed", range(20))
def test_limits_without_bounds_change_nothing(seed):
    bare, padded = Problem(seed), Problem(seed)
    padded.general = np.vstack([padded.general, np.ones((3, padded.n))])
    padded.lower, padded.upper = np.r_[padded.lower, [-np.inf] * 3], np.r_[padded.upper, [np.inf] * 3]
    padded.limit_level = np.zeros(len(padded.lower), dtype=np.int64)
    x, y, solver = np.zeros(bare.n), np.zeros(bare.n), padded.solver()
    solver.work.side[:, -3:] = 1
    solve_levels(bare.arrays(), bare.solver(), x)
    solve_levels(padded.arrays(), solver, y)
    assert np.array_equal(x, y)
    assert not solver.work.limit_multipliers[:, -3:].any()


def test_redundant_rows_that_agree_are_met_without_checking():
    rng = np.random.default_rng(3)
    problem = Problem(0).without_limits()
    closure = rng.normal(size=(3, 6)) * 0.1
    problem.n, problem.general = 6, np.zeros((0, 6))
    problem.rows = [np.vstack([closure, closure[0] + closure[2]]), rng.normal(size=(2, 6))]
    step = rng.normal(size=6)
    problem.targets, problem.damping = [problem.rows[0] @ step, np.ones(2)], np.array([0.0, 0.1])
    problem.wish, problem.lower, problem.upper = rng.normal(size=6), np.full(6, -9.0), np.full(6, 9.0)
    problem.limit_level, problem.curved, problem.watch = np.zeros(6, int), np.zeros(3, int), np.zeros(3, int)
    x = np.zeros(6)
    assert solve_levels(problem.arrays(), problem.solver(), x) == UNCHECKED
    assert np.abs(problem.rows[0] @ (x - step)).max() < 1e-12
    problem.targets[0][3] += 1.0
    assert solve_levels(problem.arrays(), problem.solver(), x := np.zeros(6)) == CHECKED
    best = np.linalg.lstsq(problem.rows[0], problem.targets[0], rcond=None)[0]
    assert np.allclose(problem.rows[0] @ x, problem.rows[0] @ best, atol=1e-9)


def test_the_same_problem_has_the_same_bytes_for_an_answer():
    problem = Problem(7)
    answers = []
    for _ in range(2):
        x = np.zeros(problem.n)
        solve_levels(problem.arrays(), problem.solver(), x)
        answers.append(x.tobytes())
    assert answers[0] == answers[1]


@pytest.mark.parametrize("seed", range(30))
def test_many_unknowns_stay_legal_and_strict(seed):
    """A lower level does not change the values of the rows above, in problems as large as a robot."""
    rng = np.random.default_rng(seed)
    n, sizes = 38, [12, 3, 3, 3]
    problem = Problem(0)
    problem.n, problem.general = n, np.zeros((0, n))
    problem.rows = [rng.normal(size=(m, n)) for m in sizes]
    problem.targets = [0.3 * rng.normal(size=m) for m in sizes]
    problem.damping, problem.wish = np.array([0.0, 0.0, 0.1, 0.2]), rng.normal(size=n)
    problem.lower, problem.upper = -rng.uniform(0.05, 0.3, n), rng.uniform(0.05, 0.3, n)
    problem.limit_level = np.zeros(n, dtype=np.int64)
    problem.curved, problem.watch, problem.curvature = np.zeros(5, int), np.zeros(5, int), np.zeros((5, n, n))
    x, y = np.zeros(n), np.zeros(n)
    assert solve_levels(problem.arrays(), problem.solver(), x) in (UNCHECKED, CHECKED)
    assert (x <= problem.upper + 1e-9).all()
    assert (x >= problem.lower - 1e-9).all()
    last = problem.rows.pop(), problem.targets.pop()
    problem.damping = problem.damping[:-1]
    solve_levels(problem.arrays(), make_solver(n, 18, 3), y)
    assert max(np.abs(rows @ (x - y)).max() for rows in problem.rows) < 1e-10
    assert np.linalg.norm(last[0] @ x - last[1]) <= np.linalg.norm(last[0] @ y - last[1]) + 0.2 * np.linalg.norm(y)
