"""Householder reflections, kept as vectors: Q = H_0 H_1 …, H_j = 1 - σ_j v_j v_jᵀ, σ_j = 2 / |v_j|², v_j zero before j.

Many rows at once are stored as columns, side by side: sums over a row then run in parallel over the rows, which a
compiler that must not reorder additions can put into vector registers. Indices are unsigned where it counts: numba
would else look at each for a negative one, meant from the end.
"""

import math

import numpy as np

from poise.kernels.compile import kernel

Array = np.ndarray

BLOCK = 4
"""Rows that are reflected together; arrays of columns are padded to a multiple of it."""
WIDE = 12
"""Rows from which on a loop over all of them is faster than blocks."""


@kernel
def block_of(r: int) -> int:
    """The first row of the block that row `r` is in."""
    return r // BLOCK * BLOCK


@kernel
def make_reflector(reflectors: Array, scales: Array, s: int, row: Array) -> float:
    """The reflection that turns the tail of `row` from `s` on into its first entry, which is returned."""
    j, n = np.uint64(s), np.uint64(row.shape[0])
    size = 0.0
    for c in range(j, n):
        size += row[c] * row[c]
        reflectors[j, c] = row[c]
    head = row[j]
    pivot = -math.sqrt(size) if head > 0.0 else math.sqrt(size)
    reflectors[j, j] = head - pivot
    scales[j] = 1.0 / (size - pivot * head)
    return pivot


@kernel
def reflect(reflectors: Array, scales: Array, place: int, row: Array) -> None:
    """row ← row H_j, j = `place`."""
    j, n = np.uint64(place), np.uint64(row.shape[0])
    one, two, three, four = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    last = j + (n - j) // four * four
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    for i in range(j, last, four):
        a += reflectors[j, i] * row[i]
        b += reflectors[j, i + one] * row[i + one]
        c += reflectors[j, i + two] * row[i + two]
        d += reflectors[j, i + three] * row[i + three]
    for i in range(last, n):
        a += reflectors[j, i] * row[i]
    total = scales[j] * (a + b + (c + d))
    for i in range(j, n):
        row[i] -= total * reflectors[j, i]


@kernel
def dot(rows: Array, place: int, x: Array) -> float:
    """Row `place` times `x`."""
    r, n = np.uint64(place), np.uint64(x.shape[0])
    one, two, three, four = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    last = n // four * four
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    for i in range(np.uint64(0), last, four):
        a += rows[r, i] * x[i]
        b += rows[r, i + one] * x[i + one]
        c += rows[r, i + two] * x[i + two]
        d += rows[r, i + three] * x[i + three]
    for i in range(last, n):
        a += rows[r, i] * x[i]
    return a + b + (c + d)


@kernel
def to_coordinates(reflectors: Array, scales: Array, count: int, row: Array) -> None:
    """row ← row H_0 … H_{count-1}: from joint rates to coordinates."""
    for j in range(count):
        reflect(reflectors, scales, j, row)


@kernel
def from_coordinates(reflectors: Array, scales: Array, count: int, row: Array) -> None:
    """row ← H_0 … H_{count-1} row: from coordinates to joint rates."""
    for j in range(count - 1, -1, -1):
        reflect(reflectors, scales, j, row)


@kernel
def reflect_columns(
    reflectors: Array, scales: Array, j: int, columns: Array, first: int, end: int, sums: Array
) -> None:
    """Every row stored as a column `first` ≤ r < `end`, both at borders of blocks, ← row H_j; `sums` is scratch."""
    if end - first >= WIDE:
        _reflect_wide(reflectors, scales, j, columns, first, end, sums)
    else:
        for r in range(first, end, BLOCK):
            _reflect_block(reflectors, scales, j, columns, r)


@kernel
def _reflect_block(reflectors: Array, scales: Array, place: int, columns: Array, first: int) -> None:
    """One block of rows."""
    j, n, r = np.uint64(place), np.uint64(columns.shape[0]), np.uint64(first)
    r1, r2, r3 = r + np.uint64(1), r + np.uint64(2), r + np.uint64(3)
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    for c in range(j, n):
        v = reflectors[j, c]
        s0 += v * columns[c, r]
        s1 += v * columns[c, r1]
        s2 += v * columns[c, r2]
        s3 += v * columns[c, r3]
    scale = scales[j]
    s0, s1, s2, s3 = s0 * scale, s1 * scale, s2 * scale, s3 * scale
    for c in range(j, n):
        v = reflectors[j, c]
        columns[c, r] -= v * s0
        columns[c, r1] -= v * s1
        columns[c, r2] -= v * s2
        columns[c, r3] -= v * s3


@kernel
def _reflect_wide(
    reflectors: Array, scales: Array, place: int, columns: Array, first: int, end: int, sums: Array
) -> None:
    """All rows in one loop, four coordinates at a time."""
    j, n, f, w = np.uint64(place), np.uint64(columns.shape[0]), np.uint64(first), np.uint64(end - first)
    four = np.uint64(4)
    last = j + (n - j) // four * four
    for r in range(w):
        sums[r] = 0.0
    for c in range(j, last, four):
        c1, c2, c3 = c + np.uint64(1), c + np.uint64(2), c + np.uint64(3)
        v0, v1, v2, v3 = reflectors[j, c], reflectors[j, c1], reflectors[j, c2], reflectors[j, c3]
        for r in range(w):
            sums[r] += (v0 * columns[c, f + r] + v1 * columns[c1, f + r]) + (
                v2 * columns[c2, f + r] + v3 * columns[c3, f + r]
            )
    for c in range(last, n):
        v = reflectors[j, c]
        for r in range(w):
            sums[r] += v * columns[c, f + r]
    scale = scales[j]
    for r in range(w):
        sums[r] *= scale
    for c in range(j, n):
        v = reflectors[j, c]
        for r in range(w):
            columns[c, f + r] -= v * sums[r]
