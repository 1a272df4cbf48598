"""The level solver against a reference that tries every combination of active limits."""

import itertools

import numpy as np
import pytest

from poise.kernels.levels import CHECKED, MET, Levels, make_work, solve_levels


class Problem:
    """A random problem of a few unknowns, as lists of levels."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.n, levels = int(rng.integers(2, 5)), int(rng.integers(1, 4))
        self.rows, self.targets = [], []
        for k in range(levels):
            rows = rng.normal(size=(rng.integers(1, 3), self.n))
            if seed % 3 == 1 and k and rng.random() < 0.7:
                rows[0] = self.rows[rng.integers(k)][0]
            if seed % 3 == 2:
                rows[rng.random(rows.shape) < 0.5] = 0.0
            self.rows.append(rows)
            self.targets.append(rng.normal(size=len(rows)) * rng.choice([0.5, 2.0]))
        mixed = np.where(rng.random(levels) < 0.5, 0.0, rng.uniform(0.03, 1.0, levels))
        self.damping = np.zeros(levels) if seed % 2 else mixed
        self.wish, self.wish_damping = rng.normal(size=self.n), 0.3 * (rng.random() < 0.5)
        self.general = rng.normal(size=(rng.integers(0, 3) if seed % 4 > 1 else 0, self.n))
        limits = self.n + len(self.general)
        self.lower, self.upper = -rng.uniform(0.0, 1.0, limits), rng.uniform(0.0, 1.0, limits)
        self.lower[rng.random(limits) < 0.15] = -np.inf
        self.upper[rng.random(limits) < 0.15] = np.inf
        self.limit_level = np.zeros(limits, dtype=np.int64)
        self.curved, self.watch = np.zeros((2, levels + 1), dtype=np.int64)
        self.curvature = np.zeros((levels + 1, self.n, self.n))

    def arrays(self):
        return Levels(
            rows=np.vstack(self.rows),
            target=np.concatenate(self.targets),
            start=np.cumsum([0, *(len(rows) for rows in self.rows)]),
            damping=np.array([*self.damping, self.wish_damping]),
            wish=self.wish,
            general=self.general,
            lower=self.lower,
            upper=self.upper,
            limit_level=self.limit_level,
            curved=self.curved,
            curvature=self.curvature,
            watch=self.watch,
        )

    def work(self):
        return make_work(self.n, sum(map(len, self.rows)), len(self.rows), len(self.general))

    def limit_rows(self):
        return np.vstack([np.eye(self.n), self.general])

    def levels(self):
        return [
            *zip(self.rows, self.targets, self.damping, strict=True),
            (np.eye(self.n), self.wish, self.wish_damping),
        ]


def face_optimum(rows, target, damping, equations, values):
    """Least-squares optimum under equations, or None when they contradict each other."""
    point = np.linalg.lstsq(equations, values, rcond=None)[0]
    if len(equations) and np.abs(equations @ point - values).max() > 1e-7:
        return None
    _, sizes, axes = np.linalg.svd(equations)
    free = axes[(sizes > 1e-9).sum() :].T
    if free.shape[1]:
        system = np.vstack([rows @ free, damping * free])
        point = point + free @ np.linalg.lstsq(system, np.r_[target - rows @ point, -damping * point], rcond=None)[0]
    return point


def reference(problem):
    """Every level in turn, over every choice of limits to stand on."""
    limits = problem.limit_rows()
    equations, values = np.zeros((0, problem.n)), np.zeros(0)
    best = None
    for rows, target, damping in problem.levels():
        best, best_cost = None, np.inf
        for sides in itertools.product((0, -1, 1), repeat=len(limits)):
            stood = np.flatnonzero(sides)
            bounds = np.where(np.array(sides) > 0, problem.upper, problem.lower)[stood]
            if not np.isfinite(bounds).all():
                continue
            point = face_optimum(rows, target, damping, np.vstack([equations, limits[stood]]), np.r_[values, bounds])
            if (
                point is None
                or (np.maximum(limits @ point - problem.upper, problem.lower - limits @ point) > 1e-7).any()
            ):
                continue
            cost = np.sum((rows @ point - target) ** 2) + damping**2 * point @ point
            if cost < best_cost - 1e-12:
                best, best_cost = point, cost
        if best is None:
            return None
        equations, values = np.vstack([equations, rows]), np.r_[values, rows @ best]
    return best


@pytest.mark.parametrize("seed", range(90))
def test_every_level_is_optimal_inside_the_limits(seed):
    problem = Problem(seed)
    expected = reference(problem)
    if expected is None:
        pytest.fail("the reference found no answer")
    x = np.zeros(problem.n)
    assert solve_levels(problem.arrays(), problem.work(), x) in (MET, CHECKED)
    assert np.abs(x - expected).max() < 1e-8
    values = problem.limit_rows() @ x
    assert (values <= problem.upper + 1e-9).all()
    assert (values >= problem.lower - 1e-9).all()


@pytest.mark.parametrize("seed", range(20))
def test_a_warm_start_changes_nothing_but_the_way(seed):
    problem, other = Problem(seed), Problem(seed)
    other.targets = [target + 0.1 for target in other.targets]
    cold, warm, work = np.zeros(problem.n), np.zeros(problem.n), problem.work()
    solve_levels(problem.arrays(), problem.work(), cold)
    solve_levels(other.arrays(), work, warm)
    warm[:] = 0.0
    solve_levels(problem.arrays(), work, warm)
    assert np.abs(warm - cold).max() < 1e-9


@pytest.mark.parametrize("seed", range(30))
def test_a_lower_level_costs_a_higher_one_nothing(seed):
    """Dropping the last level leaves the residuals of undamped levels above it as they were."""
    whole, part = Problem(seed), Problem(seed)
    if len(whole.rows) == 1:
        part.wish = np.zeros(part.n)
    else:
        part.rows, part.targets, part.damping = part.rows[:-1], part.targets[:-1], part.damping[:-1]
    x, y = np.zeros(whole.n), np.zeros(part.n)
    solve_levels(whole.arrays(), whole.work(), x)
    solve_levels(part.arrays(), part.work(), y)
    for rows, target, damping in zip(part.rows, part.targets, part.damping, strict=True):
        if damping == 0.0:
            assert np.linalg.norm(rows @ x - target) == pytest.approx(np.linalg.norm(rows @ y - target), abs=1e-9)
