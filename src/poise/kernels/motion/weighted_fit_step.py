"""The best step of a fit inside the limits: see `fit` for the method. Limits that are reached are stiff springs."""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.engine.engine import Engine
from poise.kernels.jit.compile import kernel

Array = np.ndarray

RIGID = 1e6
"""Stiffness of loops and of limits that are reached, against goals of weight 1."""
SURE = 1e-12
"""What a limit may be crossed by before it counts [rad or m]."""
ROUNDS, RELEASES = 6, 2
"""How often the limits that are reached may change within a step, and how often some may be let go: none cycles."""


class Fit(NamedTuple):
    """Weights of a fit, and room to work in."""

    slack: Array
    """(goals,) error of a place beyond which it counts by its size and no longer by its square [m]; inf for never."""
    near: Array
    """(nv,) ν of each velocity: how much the neutral posture counts."""
    still: Array
    """(nv,) η of each velocity: how much the posture of the frame before counts."""
    hessian: Array
    """(nv, nv)"""
    factor: Array
    """(nv, nv) its Cholesky factor, row by row."""
    pull: Array
    """(nv,) right-hand side."""
    step: Array
    """(nv,)"""
    gap: Array
    """(nv,)"""
    reached: Array
    """(nv + g,) -1 or 1 for limits that are reached on their lower or upper side, 0 for others."""
    best: Array
    """(nq,) the best posture so far."""
    damping: Array
    """(1,) λ, from which the next posture goes on: hard frames come together."""
    strict: float
    """How many times the weight of each goal counts."""


def make_fit(goals: int, near: Array, still: Array, limits: int, nq: int, strict: float = 1.0) -> Fit:
    """Room for a fit of a figure with so many goals and limits."""
    n = near.shape[0]
    return Fit(
        slack=np.full(goals, math.inf),
        near=near,
        still=still,
        hessian=np.zeros((n, n)),
        factor=np.zeros((n, n)),
        pull=np.zeros(n),
        step=np.zeros(n),
        gap=np.zeros(n),
        reached=np.zeros(limits, dtype=np.int64),
        best=np.zeros(nq),
        damping=np.zeros(1),
        strict=strict,
    )


@kernel
def add_row(rows: Array, i: int, weight: float, target: float, hessian: Array, pull: Array) -> None:
    """Add one row of the goals to the quadratic."""
    n = rows.shape[1]
    for a in range(n):
        value = weight * rows[i, a]
        if value != 0.0:
            pull[a] += value * target
            for b in range(a, n):
                hessian[a, b] += value * rows[i, b]


@kernel(counts_references=True)
def best_step(engine: Engine, fit: Fit, damping: float) -> None:
    """Least of the quadratic inside the limits, in `fit.step`; limits that were reached last are tried first."""
    for k in range(ROUNDS):
        _solve_with_limits(engine, fit, damping)
        if _settle_limits(engine, fit, k < RELEASES) == 0:
            return


@kernel(counts_references=True)
def _solve_with_limits(engine: Engine, fit: Fit, damping: float) -> None:
    """The step with springs at the limits that are reached."""
    hessian, factor, pull, step, reached = fit.hessian, fit.factor, fit.pull, fit.step, fit.reached
    lower, upper, general = engine.levels.lower, engine.levels.upper, engine.levels.general
    n = step.shape[0]
    for a in range(n):
        step[a] = pull[a]
        for b in range(a, n):
            factor[a, b] = hessian[a, b]
        factor[a, a] += damping
        room = lower[a] if reached[a] < 0 else upper[a]
        if reached[a] != 0 and math.isfinite(room):
            factor[a, a] += RIGID
            step[a] += RIGID * room
    for g in range(general.shape[0]):
        side = reached[n + g]
        room = lower[n + g] if side < 0 else upper[n + g]
        if side == 0 or not math.isfinite(room):
            continue
        for a in range(n):
            value = RIGID * general[g, a]
            if value != 0.0:
                step[a] += value * room
                for b in range(a, n):
                    factor[a, b] += value * general[g, b]
    factorise(factor)
    substitute(factor, step)


@kernel
def factorise(factor: Array) -> None:
    """Turn the upper triangle of A into that of R with A = Rᵀ R, in place."""
    n = factor.shape[0]
    for k in range(n):
        pivot = math.sqrt(max(factor[k, k], 1e-12))
        factor[k, k] = pivot
        inverse = 1.0 / pivot
        for j in range(k + 1, n):
            factor[k, j] *= inverse
        for i in range(k + 1, n):
            value = factor[k, i]
            if value != 0.0:
                for j in range(i, n):
                    factor[i, j] -= value * factor[k, j]


@kernel
def substitute(factor: Array, x: Array) -> None:
    """Solve Rᵀ R x = b in place: R is the upper triangle of `factor`, b is in `x`."""
    n = x.shape[0]
    for k in range(n):
        x[k] /= factor[k, k]
        along = x[k]
        for i in range(k + 1, n):
            x[i] -= along * factor[k, i]
    for k in range(n - 1, -1, -1):
        total = x[k]
        for j in range(k + 1, n):
            total -= factor[k, j] * x[j]
        x[k] = total / factor[k, k]


@kernel(counts_references=True)
def _settle_limits(engine: Engine, fit: Fit, lets_go: bool) -> int:
    """Add limits that the step crosses, and let go of those it stays inside of; returns how many changed."""
    step, reached = fit.step, fit.reached
    lower, upper, general = engine.levels.lower, engine.levels.upper, engine.levels.general
    n = step.shape[0]
    changed = 0
    for i in range(n + general.shape[0]):
        if i < n:
            value = step[i]
        else:
            if lower[i] == -math.inf and upper[i] == math.inf:
                reached[i] = 0
                continue
            value = 0.0
            for a in range(n):
                value += general[i - n, a] * step[a]
        side = -1 if value < lower[i] - SURE else (1 if value > upper[i] + SURE else 0)
        if side != reached[i] and (side != 0 or lets_go):
            reached[i] = side
            changed += 1
    return changed
