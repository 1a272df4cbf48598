"""Rank-revealing factorisation of the closure rows, block by block.

Closure rows may be linearly dependent: a planar loop of hinges has three redundant ones. Each block's rows J are
reduced by Householder reflections from the right. The next pivot is always the row with the longest remainder
orthogonal to the rows chosen before,

    J = Pᵀ [L 0; X 0] Qᵀ        L lower triangular, r × r

until the longest remainder is a rounding error. The first r columns of Q span the row space of J, the others its null
space. Rows that were not chosen are linear combinations of those that were.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.jit.compile import kernel
from poise.kernels.loops.closure import Closures

Array = np.ndarray

DEPENDENT_ROW = 1e-7
"""A row is redundant if its remainder is shorter than this share of the longest row of its block."""


class Factors(NamedTuple):
    """The factorisation of every block."""

    dof: Array
    """(b, n) velocities that each block may use."""
    size: Array
    """(b,) number of those velocities."""
    rank: Array
    """(b,) number of linearly independent rows."""
    order: Array
    """(r,) row indices in pivot order, block after block."""
    lower: Array
    """(r, n) L and X, rows in pivot order."""
    reflector: Array
    """(b, n, n) Householder vectors v of Q."""
    sigma: Array
    """(b, n) factors 2 / |v|² of the Householder vectors."""
    vector: Array
    """(n,) workspace for products with Q."""


def make_factors(closures: Closures) -> Factors:
    """Workspace for the factorisation of these loops."""
    blocks, r = closures.block_start.shape[0] - 1, closures.turns.shape[0]
    n = int(np.diff(closures.block_start).max(initial=1))
    counts = np.zeros((2, blocks), dtype=np.int64)
    return Factors(
        np.zeros((blocks, n), dtype=np.int64),
        counts[0],
        counts[1],
        np.zeros(r, dtype=np.int64),
        np.zeros((r, n)),
        np.zeros((blocks, n, n)),
        np.zeros((blocks, n)),
        np.zeros(n),
    )


@kernel
def factor_rows(
    closures: Closures,
    rows: Array,
    first: int,
    held: Array,
    # outputs
    factors: Factors,
) -> int:
    """Factor the rows of all blocks, `rows` (…, nv) from row `first` on; returns the total rank.

    Velocities with `held` (nv,) = 1 are not used.
    """
    row_start, block_loop, block_start, block_dof = (
        closures.row_start, closures.block_loop, closures.block_start, closures.block_dof
    )  # fmt: skip
    total = 0
    for b in range(factors.size.shape[0]):
        n = 0
        for e in range(block_start[b], block_start[b + 1]):
            if held[block_dof[e]] == 0:
                factors.dof[b, n] = block_dof[e]
                n += 1
        factors.size[b] = n
        begin, end = row_start[block_loop[b]], row_start[block_loop[b + 1]]
        for i in range(begin, end):
            factors.order[i] = i
            for c in range(n):
                factors.lower[i, c] = rows[first + i, factors.dof[b, c]]
        factors.rank[b] = _reduce(b, begin, end, n, factors)
        total += factors.rank[b]
    return total


@kernel
def _reduce(b: int, begin: int, end: int, n: int, factors: Factors) -> int:
    """Reduce rows `begin` to `end` - 1 of block `b` over its `n` velocities; returns their rank."""
    lower, order, reflector, sigma = factors.lower, factors.order, factors.reflector, factors.sigma
    longest = 0.0
    for k in range(min(end - begin, n)):
        chosen, most = begin + k, -1.0
        for i in range(begin + k, end):
            size = 0.0
            for c in range(k, n):
                size += lower[i, c] * lower[i, c]
            if size > most:
                chosen, most = i, size
        longest = max(longest, most)
        if most <= DEPENDENT_ROW * DEPENDENT_ROW * longest:
            return k
        at = begin + k
        if chosen != at:
            order[at], order[chosen] = order[chosen], order[at]
            for c in range(n):
                lower[at, c], lower[chosen, c] = lower[chosen, c], lower[at, c]
        head = lower[at, k]
        pivot = -math.sqrt(most) if head > 0.0 else math.sqrt(most)
        for c in range(k, n):
            reflector[b, k, c] = lower[at, c]
            lower[at, c] = 0.0
        reflector[b, k, k] = head - pivot
        sigma[b, k] = 1.0 / (most - pivot * head)
        lower[at, k] = pivot
        for i in range(at + 1, end):
            size = 0.0
            for c in range(k, n):
                size += reflector[b, k, c] * lower[i, c]
            size *= sigma[b, k]
            for c in range(k, n):
                lower[i, c] -= size * reflector[b, k, c]
    return min(end - begin, n)


@kernel
def _reflect(b: int, k: int, n: int, factors: Factors) -> None:
    """Apply Householder reflection `k` of block `b` to `factors.vector`."""
    vector, reflector = factors.vector, factors.reflector
    size = 0.0
    for c in range(k, n):
        size += reflector[b, k, c] * vector[c]
    size *= factors.sigma[b, k]
    for c in range(k, n):
        vector[c] -= size * reflector[b, k, c]


@kernel
def least_step(
    closures: Closures,
    factors: Factors,
    residual: Array,
    # outputs
    step: Array,
) -> None:
    """The least-norm `step` (nv,) with J step = `residual` (r,) on the independent rows: L y = residual, step = Q y."""
    vector, lower, order = factors.vector, factors.lower, factors.order
    for k in range(step.shape[0]):
        step[k] = 0.0
    for b in range(factors.size.shape[0]):
        begin, n, rank = closures.row_start[closures.block_loop[b]], factors.size[b], factors.rank[b]
        for c in range(n):
            vector[c] = 0.0
        for k in range(rank):
            value = residual[order[begin + k]]
            for c in range(k):
                value -= lower[begin + k, c] * vector[c]
            vector[k] = value / lower[begin + k, k]
        for k in range(rank - 1, -1, -1):
            _reflect(b, k, n, factors)
        for c in range(n):
            step[factors.dof[b, c]] = vector[c]


@kernel
def closure_multipliers(
    closures: Closures,
    factors: Factors,
    gradient: Array,
    # outputs
    multipliers: Array,
) -> None:
    """Multipliers λ (r,) with gradient + Jᵀ λ = 0 in the row space of J; 0 for redundant rows."""
    vector, lower, order = factors.vector, factors.lower, factors.order
    for i in range(multipliers.shape[0]):
        multipliers[i] = 0.0
    for b in range(factors.size.shape[0]):
        begin, n, rank = closures.row_start[closures.block_loop[b]], factors.size[b], factors.rank[b]
        for c in range(n):
            vector[c] = gradient[factors.dof[b, c]]
        for k in range(rank):
            _reflect(b, k, n, factors)
        for k in range(rank - 1, -1, -1):
            value = -vector[k]
            for i in range(k + 1, rank):
                value -= lower[begin + i, k] * multipliers[order[begin + i]]
            multipliers[order[begin + k]] = value / lower[begin + k, k]


@kernel
def free_directions(
    factors: Factors,
    held: Array,
    # outputs
    basis: Array,
) -> int:
    """Fill rows of `basis` (nv, nv) with an orthonormal basis of the null space of J; returns its dimension.

    Velocities with `held` (nv,) = 1 are not used; each velocity that is in no loop gives one basis vector.
    """
    nv, vector = basis.shape[1], factors.vector
    found = 0
    for k in range(nv):
        in_loop = False
        for b in range(factors.size.shape[0]):
            for c in range(factors.size[b]):
                in_loop = in_loop or factors.dof[b, c] == k
        if not in_loop and held[k] == 0:
            for c in range(nv):
                basis[found, c] = 0.0
            basis[found, k] = 1.0
            found += 1
    for b in range(factors.size.shape[0]):
        n, rank = factors.size[b], factors.rank[b]
        for free in range(rank, n):
            for c in range(n):
                vector[c] = 0.0
            vector[free] = 1.0
            for k in range(rank - 1, -1, -1):
                _reflect(b, k, n, factors)
            for c in range(nv):
                basis[found, c] = 0.0
            for c in range(n):
                basis[found, factors.dof[b, c]] = vector[c]
            found += 1
    return found
