"""Functions of one joint value, for couplings that are not linear: polynomials in pieces, continued as straight lines.

A curve is a row of pieces. Piece i holds from its start x_i up to the start of the next one, as Σ_k c_ik (x - x_i)^k of
degree at most five; the first piece also holds before its start, the last one after it.
"""

import numpy as np

from poise.kernels.jit.compile import kernel

Array = np.ndarray

DEGREE = 5
"""Largest degree of a piece; its row has the start, then DEGREE + 1 coefficients."""


@kernel
def curve_at(piece_start: Array, pieces: Array, curve: int, x: float) -> tuple[float, float, float]:
    """Value, slope and second derivative of a curve at `x`.

    Args:
        piece_start: (n + 1,) range of each curve's pieces.
        pieces: (p, 7) start and coefficients of each piece.
        curve: Index of the curve.
        x: The joint value [rad or m].
    """
    low, high = piece_start[curve], piece_start[curve + 1] - 1
    while low < high:
        middle = (low + high + 1) // 2
        if pieces[middle, 0] <= x:
            low = middle
        else:
            high = middle - 1
    d = x - pieces[low, 0]
    value, slope, bend = pieces[low, DEGREE + 1], 0.0, 0.0
    for k in range(DEGREE, 0, -1):
        bend = bend * d + 2.0 * slope
        slope = slope * d + value
        value = value * d + pieces[low, k]
    return value, slope, bend
