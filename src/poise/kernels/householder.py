"""Householder reflections, kept as vectors: Q = H_0 H_1 …, H_j = 1 - 2 v_j v_jᵀ / |v_j|², v_j zero before j."""

import math

import numpy as np

from poise.kernels.compile import kernel

Array = np.ndarray


@kernel
def make_reflector(reflectors: Array, scales: Array, s: int, row: Array) -> float:
    """The reflection that turns the tail of `row` from `s` on into its first entry, which is returned."""
    n = row.shape[0]
    size = 0.0
    for c in range(s, n):
        size += row[c] * row[c]
    size = math.sqrt(size)
    pivot = -size if row[s] > 0.0 else size
    reflectors[s, s] = row[s] - pivot
    for c in range(s + 1, n):
        reflectors[s, c] = row[c]
    scales[s] = 1.0 / (size * size - pivot * row[s])
    return pivot


@kernel
def reflect(reflectors: Array, scales: Array, j: int, row: Array) -> None:
    """row ← row H_j."""
    v, tail = reflectors[j, j:], row[j:]
    count = tail.shape[0]
    total = 0.0
    for c in range(count):
        total += v[c] * tail[c]
    total *= scales[j]
    for c in range(count):
        tail[c] -= total * v[c]


@kernel
def reflect_rows(reflectors: Array, scales: Array, j: int, columns: Array, m: int, sums: Array) -> None:
    """Each of the first `m` rows, stored as columns, ← row H_j."""
    n = columns.shape[0]
    for r in range(m):
        sums[r] = 0.0
    for c in range(j, n):
        value = reflectors[j, c]
        for r in range(m):
            sums[r] += value * columns[c, r]
    for r in range(m):
        sums[r] *= scales[j]
    for c in range(j, n):
        value = reflectors[j, c]
        for r in range(m):
            columns[c, r] -= value * sums[r]


@kernel
def to_coordinates(reflectors: Array, scales: Array, decided: int, x: Array, entry: Array) -> None:
    """entry = Qᵀ x for the reflections decided so far."""
    entry[:] = x
    for j in range(decided):
        reflect(reflectors, scales, j, entry)
