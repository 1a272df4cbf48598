"""Householder reflections, kept as vectors: Q = H_0 H_1 …, H_j = 1 - σ_j v_j v_jᵀ, σ_j = 2 / |v_j|², v_j zero before j.

Many rows at once are stored as columns, side by side: sums over a row then run in parallel over the rows, which a
compiler that must not reorder additions can put into vector registers. Inner loops use unsigned indices, because numba
tests every signed index for a negative value, which counts from the end.
"""

import math

import numpy as np
from numpy import uint64

from poise.kernels.jit.compile import inner_kernel
from poise.kernels.levels.workspace import ROW_BLOCK, LevelsWork

Array = np.ndarray


@inner_kernel
def block_of(r: int) -> int:
    """First row of the block that contains row `r`."""
    return r // ROW_BLOCK * ROW_BLOCK


@inner_kernel
def dot(a: Array, b: Array, first: int, end: int) -> float:
    """Dot product of `a` and `b` over `first` ≤ c < `end`, as four partial sums."""
    begin, stop = uint64(first), uint64(end)
    last = begin + (stop - begin) // uint64(4) * uint64(4)
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    for c in range(begin, last, uint64(4)):
        c1, c2, c3 = c + uint64(1), c + uint64(2), c + uint64(3)
        s0 += a[c] * b[c]
        s1 += a[c1] * b[c1]
        s2 += a[c2] * b[c2]
        s3 += a[c3] * b[c3]
    for c in range(last, stop):
        s0 += a[c] * b[c]
    return s0 + s1 + (s2 + s3)


@inner_kernel
def make_reflector(work: LevelsWork, place: int, size: float) -> float:
    """Make the reflection that maps the tail of `row`, from `place` on, to its first entry; returns that entry.

    `size` is the squared length of the tail.
    """
    j, n = uint64(place), uint64(work.n)
    for c in range(j, n):
        work.reflectors[j, c] = work.row[c]
    head = work.row[j]
    pivot = -math.sqrt(size) if head > 0.0 else math.sqrt(size)
    work.reflectors[j, j] = head - pivot
    work.scales[j] = 1.0 / (size - pivot * head)
    return pivot


@inner_kernel
def reflect(work: LevelsWork, place: int, line: Array) -> None:
    """line ← line H_j, j = `place`."""
    j, n = uint64(place), uint64(work.n)
    last = j + (n - j) // uint64(4) * uint64(4)
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    for c in range(j, last, uint64(4)):
        c1, c2, c3 = c + uint64(1), c + uint64(2), c + uint64(3)
        s0 += work.reflectors[j, c] * line[c]
        s1 += work.reflectors[j, c1] * line[c1]
        s2 += work.reflectors[j, c2] * line[c2]
        s3 += work.reflectors[j, c3] * line[c3]
    for c in range(last, n):
        s0 += work.reflectors[j, c] * line[c]
    total = work.scales[j] * (s0 + s1 + (s2 + s3))
    for c in range(j, n):
        line[c] -= total * work.reflectors[j, c]


@inner_kernel
def to_coordinates(work: LevelsWork, first: int, end: int, line: Array) -> None:
    """line ← line H_first … H_{end-1}: from joint rates to coordinates."""
    for j in range(first, end):
        reflect(work, j, line)


@inner_kernel
def from_coordinates(work: LevelsWork, count: int, line: Array) -> None:
    """line ← H_0 … H_{count-1} line: from coordinates to joint rates."""
    for j in range(count - 1, -1, -1):
        reflect(work, j, line)


@inner_kernel
def reflect_columns(work: LevelsWork, place: int, table: Array, first: int, end: int) -> None:
    """row ← row H_j, j = `place`, for the rows stored as columns `first` ≤ r < `end` of `table`.

    Both ends must be multiples of ROW_BLOCK.
    """
    j, n = uint64(place), uint64(work.n)
    scale = work.scales[j]
    for r in range(uint64(first), uint64(end), uint64(ROW_BLOCK)):
        r1, r2, r3, r4 = r + uint64(1), r + uint64(2), r + uint64(3), r + uint64(4)
        r5, r6, r7 = r + uint64(5), r + uint64(6), r + uint64(7)
        s0, s1, s2, s3, s4, s5, s6, s7 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for c in range(j, n):
            v = work.reflectors[j, c]
            s0 += v * table[c, r]
            s1 += v * table[c, r1]
            s2 += v * table[c, r2]
            s3 += v * table[c, r3]
            s4 += v * table[c, r4]
            s5 += v * table[c, r5]
            s6 += v * table[c, r6]
            s7 += v * table[c, r7]
        s0, s1, s2, s3 = scale * s0, scale * s1, scale * s2, scale * s3
        s4, s5, s6, s7 = scale * s4, scale * s5, scale * s6, scale * s7
        for c in range(j, n):
            v = work.reflectors[j, c]
            a0, a1, a2, a3 = table[c, r], table[c, r1], table[c, r2], table[c, r3]
            a4, a5, a6, a7 = table[c, r4], table[c, r5], table[c, r6], table[c, r7]
            table[c, r] = a0 - v * s0
            table[c, r1] = a1 - v * s1
            table[c, r2] = a2 - v * s2
            table[c, r3] = a3 - v * s3
            table[c, r4] = a4 - v * s4
            table[c, r5] = a5 - v * s5
            table[c, r6] = a6 - v * s6
            table[c, r7] = a7 - v * s7
