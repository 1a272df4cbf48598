"""Random problems for the level solver, and a reference that tries every combination of active limits."""

import itertools

import numpy as np

from poise.kernels.levels.levels import make_solver
from poise.kernels.levels.workspace import Levels


class Problem:
    """A random problem of a few unknowns, as lists of levels."""

    def __init__(self, seed, most=5):
        rng = np.random.default_rng(seed)
        self.n, levels = int(rng.integers(2, most)), int(rng.integers(1, 4))
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
        self.rng = rng

    def without_limits(self):
        self.lower[:], self.upper[:] = -np.inf, np.inf
        return self

    def bend(self, k, rank):
        """Give level `k` convex curvature of this rank."""
        root = self.rng.normal(size=(self.n, rank))
        self.curved[k], self.curvature[k] = 1, root @ root.T
        return self

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

    def solver(self):
        return make_solver(self.n, sum(map(len, self.rows)), len(self.rows), len(self.general))

    def limit_rows(self):
        return np.vstack([np.eye(self.n), self.general])

    def levels(self):
        return [
            *zip(self.rows, self.targets, self.damping, strict=True),
            (np.eye(self.n), self.wish, self.wish_damping),
        ]


def face_optimum(hessian, pull, equations, values):
    """Point of least ½ xᵀ H x - pull x under equations, or None when they contradict each other."""
    point = np.linalg.lstsq(equations, values, rcond=None)[0]
    if len(equations) and np.abs(equations @ point - values).max() > 1e-7:
        return None
    free = null_space(equations)
    if free.shape[1]:
        point = (
            point + free @ np.linalg.lstsq(free.T @ hessian @ free, free.T @ (pull - hessian @ point), rcond=1e-11)[0]
        )
    return point


def null_space(equations):
    _, sizes, axes = np.linalg.svd(equations)
    return axes[(sizes > 1e-9).sum() :].T


def best_point(hessian, pull, equations, values, limits, lower, upper):
    """The best point over every choice of limits to stand on, and that choice."""
    best, best_cost, best_stood = None, np.inf, None
    for sides in itertools.product((0, -1, 1), repeat=len(limits)):
        stood = np.flatnonzero(sides)
        bounds = np.where(np.array(sides) > 0, upper, lower)[stood]
        if not np.isfinite(bounds).all():
            continue
        point = face_optimum(hessian, pull, np.vstack([equations, limits[stood]]), np.r_[values, bounds])
        if point is None or (np.maximum(limits @ point - upper, lower - limits @ point) > 1e-7).any():
            continue
        cost = 0.5 * point @ hessian @ point - pull @ point
        if cost < best_cost - 1e-12:
            best, best_cost, best_stood = point, cost, stood
    return best, best_stood


def reference(problem):
    """Every level in turn, over every choice of limits to stand on."""
    limits, n = problem.limit_rows(), problem.n
    lower, upper = (np.where(problem.limit_level == 0, bound, far) for bound, far in
                    ((problem.lower, -np.inf), (problem.upper, np.inf)))  # fmt: skip
    equations, values, best = np.zeros((0, n)), np.zeros(0), None
    for k, (rows, target, damping) in enumerate(problem.levels()):
        begins = (problem.limit_level == k) & (k > 0)
        if begins.any():
            least, _ = best_point(np.eye(n), np.zeros(n), equations, values, limits, lower, upper)
            at = limits @ least
            lower = np.where(begins, np.minimum(problem.lower, at), lower)
            upper = np.where(begins, np.maximum(problem.upper, at), upper)
        bare = rows.T @ rows + (problem.curvature[k] if problem.curved[k] else 0.0)
        hessian = bare + damping**2 * np.eye(n)
        best, stood = best_point(hessian, rows.T @ target, equations, values, limits, lower, upper)
        if best is None:
            return None
        held = rows
        if problem.curved[k]:
            pressing = np.linalg.lstsq(
                np.vstack([equations, limits[stood]]).T, rows.T @ target - hessian @ best, rcond=None
            )[0][len(equations) :]
            strong = limits[stood[np.abs(pressing) > 1e-6]]
            free = null_space(np.vstack([equations, strong]))
            held = np.vstack([strong, free.T @ bare @ free @ free.T])
        equations, values = np.vstack([equations, held]), np.r_[values, held @ best]
    return best
