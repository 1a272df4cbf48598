"""Twist limits from a table: bicubic patches over a grid of swings.

A table has nx values of s_x, ny values of s_y, and for each pair (i, j) the limit f, its slopes f_x and f_y, and f_xy,
for the least twist and then for the greatest. A patch between four neighbours is their cubic Hermite interpolant, so
that the limit and its slopes are continuous. Beyond the grid, the limit is that of the nearest swing on its edge.
"""

import numpy as np

from poise.kernels.jit.compile import kernel

Array = np.ndarray

PER_NODE = 8
"""Numbers per node: f, f_x, f_y, f_xy of the least twist, and of the greatest."""


@kernel
def table_at(numbers: Array, start: int, nx: int, ny: int, side: int, x: float, y: float) -> tuple[float, float, float]:
    """A limit at swing (x, y), with its slopes ∂/∂s_x and ∂/∂s_y.

    Args:
        numbers: The numbers of all tables: nx values of s_x, ny of s_y, then the nodes, line by line.
        start: First number of the table.
        nx: Number of values of s_x.
        ny: Number of values of s_y.
        side: First number of the limit in a node: 0 for the least twist, 4 for the greatest.
        x: s_x [rad].
        y: s_y [rad].
    """
    i, u, hx = _interval(numbers, start, nx, x)
    j, v, hy = _interval(numbers, start + nx, ny, y)
    value, slope_x, slope_y = 0.0, 0.0, 0.0
    for a in range(2):
        px, dpx = _blend(u, a, 0)
        sx, dsx = _blend(u, a, 1)
        for c in range(2):
            py, dpy = _blend(v, c, 0)
            sy, dsy = _blend(v, c, 1)
            node = start + nx + ny + PER_NODE * ((i + a) * ny + j + c) + side
            f, fx, fy, fxy = numbers[node], hx * numbers[node + 1], hy * numbers[node + 2], hx * hy * numbers[node + 3]
            value += py * (px * f + sx * fx) + sy * (px * fy + sx * fxy)
            slope_x += py * (dpx * f + dsx * fx) + sy * (dpx * fy + dsx * fxy)
            slope_y += dpy * (px * f + sx * fx) + dsy * (px * fy + sx * fxy)
    inside_x = numbers[start] <= x <= numbers[start + nx - 1]
    inside_y = numbers[start + nx] <= y <= numbers[start + nx + ny - 1]
    return value, slope_x / hx if inside_x else 0.0, slope_y / hy if inside_y else 0.0


@kernel
def _interval(numbers: Array, start: int, count: int, x: float) -> tuple[int, float, float]:
    """The interval of a grid that contains `x`, the share of it before `x`, and its width."""
    i = 0
    while i < count - 2 and numbers[start + i + 1] <= x:
        i += 1
    width = numbers[start + i + 1] - numbers[start + i]
    return i, min(1.0, max(0.0, (x - numbers[start + i]) / width)), width


@kernel
def _blend(u: float, end: int, order: int) -> tuple[float, float]:
    """Cubic Hermite basis function of an end's value (order 0) or slope (order 1) at u in 0 … 1, and its derivative."""
    if end == 1:
        u = 1.0 - u
    if order == 0:
        value, slope = (1.0 + 2.0 * u) * (1.0 - u) * (1.0 - u), 6.0 * u * (u - 1.0)
        return (value, slope) if end == 0 else (value, -slope)
    value, slope = u * (1.0 - u) * (1.0 - u), (1.0 - u) * (1.0 - 3.0 * u)
    return (value, slope) if end == 0 else (-value, slope)
