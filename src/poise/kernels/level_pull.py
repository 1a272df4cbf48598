"""The pull of every row on a level that gave way: see `levels` for the method."""

import numpy as np

from poise.kernels.compile import inner_kernel
from poise.kernels.level_problem import COUNT, CURVATURE, Levels, LevelsWork, rows_of

Array = np.ndarray


@inner_kernel
def find_pull(problem: Levels, work: LevelsWork, k: int) -> None:
    """Multipliers of all rows at the optimum of level `k`, whose face is still at hand, into `work.pull`.

    With r = b - A_k x, the multipliers μ of the rows above and ν of the limits locked solve, in the coordinates that
    are decided or locked,

        A_kᵀ r = Σ_j A_jᵀ μ_j + Cᵀ ν.

    The rows of level k itself pull by -r. Rows that depend on others, and rows of curved levels, do not pull.
    """
    pull, g, triangle, columns, owner, rest = work.pull, work.row, work.triangle, work.columns, work.owner, work.rest
    first, m = rows_of(problem.start, k)
    decided = work.decided[k]
    for r in range(pull.shape[0]):
        pull[r] = 0.0
    for r in range(m):
        pull[first + r] = -rest[r]
    s = decided + work.state[COUNT]
    _downhill(work, s, m, k == problem.start.shape[0] - 1)
    for c in range(s - 1, -1, -1):
        own = -1 if c >= decided else owner[c]
        if own == CURVATURE:
            continue
        if own < 0:
            value = g[c] / triangle[c, c]
            for d in range(c):
                g[d] -= triangle[c, d] * value
        else:
            value = g[c] / columns[c, own]
            for d in range(c):
                g[d] -= columns[d, own] * value
            pull[own] = value


@inner_kernel
def _downhill(work: LevelsWork, s: int, m: int, wishes: bool) -> None:
    """row = A_kᵀ r in the first `s` coordinates."""
    g, level, rest, wished, z = work.row, work.level, work.rest, work.wished, work.z
    for c in range(s):
        total = wished[c] - z[c] if wishes else 0.0
        for r in range(m):
            total += level[c, r] * rest[r]
        g[c] = total
