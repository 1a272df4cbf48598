"""Householder reflections, kept as vectors: Q = H_0 H_1 …, H_j = 1 - σ_j v_j v_jᵀ, σ_j = 2 / |v_j|², v_j zero before j.

Many rows at once are stored as columns, side by side: sums over a row then run in parallel over the rows, which a
compiler that must not reorder additions can put into vector registers. Inner loops use unsigned indices, because numba
tests every signed index for a negative value, which counts from the end.
"""

import math

import numpy as np
from numpy import uint64

from poise.kernels.jit.compile import inner_kernel
from poise.kernels.levels.problem import REFLECTORS, ROW_BLOCK, SCALES, WORK_ROW

Array = np.ndarray


@inner_kernel
def block_of(r: int) -> int:
    """First row of the block that contains row `r`."""
    return r // ROW_BLOCK * ROW_BLOCK


@inner_kernel
def dot(a: Array, i: int, b: Array, j: int, first: int, end: int) -> float:
    """Dot product of line `i` of `a` and line `j` of `b` over `first` ≤ c < `end`, as four partial sums."""
    begin, stop = uint64(first), uint64(end)
    last = begin + (stop - begin) // uint64(4) * uint64(4)
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    for c in range(begin, last, uint64(4)):
        c1, c2, c3 = c + uint64(1), c + uint64(2), c + uint64(3)
        s0 += a[i, c] * b[j, c]
        s1 += a[i, c1] * b[j, c1]
        s2 += a[i, c2] * b[j, c2]
        s3 += a[i, c3] * b[j, c3]
    for c in range(last, stop):
        s0 += a[i, c] * b[j, c]
    return s0 + s1 + (s2 + s3)


@inner_kernel
def make_reflector(tables: Array, lines: Array, place: int, size: float) -> float:
    """Make the reflection that maps the tail of WORK_ROW, from `place` on, to its first entry; returns that entry.

    `size` is the squared length of the tail.
    """
    j, n = uint64(place), uint64(tables.shape[1])
    for c in range(j, n):
        tables[REFLECTORS, j, c] = lines[WORK_ROW, c]
    head = lines[WORK_ROW, j]
    pivot = -math.sqrt(size) if head > 0.0 else math.sqrt(size)
    tables[REFLECTORS, j, j] = head - pivot
    lines[SCALES, j] = 1.0 / (size - pivot * head)
    return pivot


@inner_kernel
def reflect(tables: Array, lines: Array, place: int, which: int) -> None:
    """line ← line H_j, j = `place`."""
    j, n, line = uint64(place), uint64(tables.shape[1]), uint64(which)
    last = j + (n - j) // uint64(4) * uint64(4)
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    for c in range(j, last, uint64(4)):
        c1, c2, c3 = c + uint64(1), c + uint64(2), c + uint64(3)
        s0 += tables[REFLECTORS, j, c] * lines[line, c]
        s1 += tables[REFLECTORS, j, c1] * lines[line, c1]
        s2 += tables[REFLECTORS, j, c2] * lines[line, c2]
        s3 += tables[REFLECTORS, j, c3] * lines[line, c3]
    for c in range(last, n):
        s0 += tables[REFLECTORS, j, c] * lines[line, c]
    total = lines[SCALES, j] * (s0 + s1 + (s2 + s3))
    for c in range(j, n):
        lines[line, c] -= total * tables[REFLECTORS, j, c]


@inner_kernel
def to_coordinates(tables: Array, lines: Array, first: int, end: int, which: int) -> None:
    """line ← line H_first … H_{end-1}: from joint rates to coordinates."""
    for j in range(first, end):
        reflect(tables, lines, j, which)


@inner_kernel
def from_coordinates(tables: Array, lines: Array, count: int, which: int) -> None:
    """line ← H_0 … H_{count-1} line: from coordinates to joint rates."""
    for j in range(count - 1, -1, -1):
        reflect(tables, lines, j, which)


@inner_kernel
def reflect_columns(tables: Array, lines: Array, place: int, which: int, first: int, end: int) -> None:
    """row ← row H_j, j = `place`, for the rows stored as columns `first` ≤ r < `end` of table `which`.

    Both ends must be multiples of ROW_BLOCK.
    """
    j, n, t = uint64(place), uint64(tables.shape[1]), uint64(which)
    scale = lines[SCALES, j]
    for r in range(uint64(first), uint64(end), uint64(ROW_BLOCK)):
        r1, r2, r3, r4 = r + uint64(1), r + uint64(2), r + uint64(3), r + uint64(4)
        r5, r6, r7 = r + uint64(5), r + uint64(6), r + uint64(7)
        s0, s1, s2, s3, s4, s5, s6, s7 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for c in range(j, n):
            v = tables[REFLECTORS, j, c]
            s0 += v * tables[t, c, r]
            s1 += v * tables[t, c, r1]
            s2 += v * tables[t, c, r2]
            s3 += v * tables[t, c, r3]
            s4 += v * tables[t, c, r4]
            s5 += v * tables[t, c, r5]
            s6 += v * tables[t, c, r6]
            s7 += v * tables[t, c, r7]
        s0, s1, s2, s3 = scale * s0, scale * s1, scale * s2, scale * s3
        s4, s5, s6, s7 = scale * s4, scale * s5, scale * s6, scale * s7
        for c in range(j, n):
            v = tables[REFLECTORS, j, c]
            a0, a1, a2, a3 = tables[t, c, r], tables[t, c, r1], tables[t, c, r2], tables[t, c, r3]
            a4, a5, a6, a7 = tables[t, c, r4], tables[t, c, r5], tables[t, c, r6], tables[t, c, r7]
            tables[t, c, r] = a0 - v * s0
            tables[t, c, r1] = a1 - v * s1
            tables[t, c, r2] = a2 - v * s2
            tables[t, c, r3] = a3 - v * s3
            tables[t, c, r4] = a4 - v * s4
            tables[t, c, r5] = a5 - v * s5
            tables[t, c, r6] = a6 - v * s6
            tables[t, c, r7] = a7 - v * s7
