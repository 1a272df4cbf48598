"""Householder reflections, kept as vectors: Q = H_0 H_1 …, H_j = 1 - σ_j v_j v_jᵀ, σ_j = 2 / |v_j|², v_j zero before j.

Many rows at once are stored as columns, eight side by side: sums over a row then run in parallel over the rows, which
a compiler that must not reorder additions can put into vector registers.
"""

import math

import numpy as np

from poise.kernels.compile import kernel

Array = np.ndarray

BLOCK = 8
"""Rows that are reflected together; arrays of columns are padded to a multiple of it."""


@kernel
def block_of(r: int) -> int:
    """The first row of the block that row `r` is in."""
    return r // BLOCK * BLOCK


@kernel
def make_reflector(reflectors: Array, scales: Array, s: int, row: Array) -> float:
    """The reflection that turns the tail of `row` from `s` on into its first entry, which is returned."""
    n = row.shape[0]
    size = 0.0
    for c in range(s, n):
        size += row[c] * row[c]
    head = row[s]
    pivot = -math.sqrt(size) if head > 0.0 else math.sqrt(size)
    for c in range(s, n):
        reflectors[s, c] = row[c]
    reflectors[s, s] = head - pivot
    scales[s] = 1.0 / (size - pivot * head)
    return pivot


@kernel
def reflect(reflectors: Array, scales: Array, j: int, row: Array) -> None:
    """row ← row H_j."""
    n = row.shape[0]
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    last = j + (n - j) // 4 * 4
    for i in range(j, last, 4):
        a += reflectors[j, i] * row[i]
        b += reflectors[j, i + 1] * row[i + 1]
        c += reflectors[j, i + 2] * row[i + 2]
        d += reflectors[j, i + 3] * row[i + 3]
    for i in range(last, n):
        a += reflectors[j, i] * row[i]
    total = scales[j] * (a + b + (c + d))
    for i in range(j, n):
        row[i] -= total * reflectors[j, i]


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
def reflect_columns(reflectors: Array, scales: Array, j: int, columns: Array, first: int, end: int) -> None:
    """Every row stored as a column `first` ≤ r < `end`, both at borders of blocks, ← row H_j."""
    n, scale = columns.shape[0], scales[j]
    for r in range(first, end, BLOCK):
        s0, s1, s2, s3, s4, s5, s6, s7 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for c in range(j, n):
            v = reflectors[j, c]
            s0 += v * columns[c, r]
            s1 += v * columns[c, r + 1]
            s2 += v * columns[c, r + 2]
            s3 += v * columns[c, r + 3]
            s4 += v * columns[c, r + 4]
            s5 += v * columns[c, r + 5]
            s6 += v * columns[c, r + 6]
            s7 += v * columns[c, r + 7]
        s0, s1, s2, s3 = s0 * scale, s1 * scale, s2 * scale, s3 * scale
        s4, s5, s6, s7 = s4 * scale, s5 * scale, s6 * scale, s7 * scale
        for c in range(j, n):
            v = reflectors[j, c]
            columns[c, r] -= v * s0
            columns[c, r + 1] -= v * s1
            columns[c, r + 2] -= v * s2
            columns[c, r + 3] -= v * s3
            columns[c, r + 4] -= v * s4
            columns[c, r + 5] -= v * s5
            columns[c, r + 6] -= v * s6
            columns[c, r + 7] -= v * s7
