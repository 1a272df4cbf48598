"""What the level solver is given and what it writes to: see `levels` for the method."""

from typing import NamedTuple

import numpy as np

from poise.kernels.compile import inner_kernel
from poise.kernels.householder import BLOCK

Array = np.ndarray

MET, CHECKED, CAPPED, GIVES_WAY = 0, 1, 2, 3
"""How a problem was solved: upper levels unchecked, every level checked, out of iterations but legal, or not yet:
a watched level gave way."""

INDEPENDENT = 1e-7
"""Share of a limit's row left free below which it depends on what is decided already."""
RANK = 1e-8
"""Pivot, against the first, below which rows of a level depend on each other."""
CURVED_RANK = 1e-6
"""The same for the rows of a curved level's Hessian."""
CONSISTENT = 1e-9
"""What a row that depends on others may lack and still count as met."""
OUTSIDE = 1e-11
"""How far beyond a limit still counts as inside."""
UNDAMPED = 1e-15
GAVE_WAY = 0.1
"""Share of its target that a watched level may leave undone."""

LIMIT, CURVATURE = -1, -(1 << 40)
"""Owners of decided coordinates that are no rows: limit i is LIMIT - i."""

LAZY, COUNT, RANKED, NEAR, ESCAPING = 0, 1, 2, 3, 4
"""Places in `LevelsWork.state`."""


class Levels(NamedTuple):
    """A problem: rows of all levels one after another, and limits."""

    rows: Array
    """(m, n) A_1, A_2, … stacked."""
    target: Array
    """(m,) b_1, b_2, …"""
    start: Array
    """(p + 1,) first row of each level, and m."""
    damping: Array
    """(p + 1,) λ of each level, and of the wish."""
    wish: Array
    """(n,) the step wished for in what freedom is left."""
    general: Array
    """(c, n) rows of the limits that are not plain variables."""
    lower: Array
    """(n + c,) least values, -inf for none."""
    upper: Array
    """(n + c,) greatest values, inf for none."""
    limit_level: Array
    """(n + c,) the level from which on a limit binds, 0 for every level."""
    curved: Array
    """(p + 1,) 1 for levels with curvature."""
    curvature: Array
    """(p + 1, n, n) S of the curved levels, symmetric, definite or not; of other levels never read."""
    watch: Array
    """(p + 1,) 1 for levels that stop the sweep when they give way."""


class LevelsWork(NamedTuple):
    """Everything a solve writes to besides its answer."""

    reflectors: Array
    """(n, n) Householder vectors, one per decided coordinate and then those of the current face."""
    scales: Array
    """(n,) their factors 2 / |v|²."""
    owner: Array
    """(n,) what each coordinate was decided by: a row, LIMIT - i, or CURVATURE."""
    decided: Array
    """(p + 2,) how many coordinates are decided when a level is entered, and at the end."""
    y: Array
    """(n,) decided coordinates, then those of the point the current level was entered with."""
    z: Array
    """(n,) coordinates of the answer of a face."""
    trial: Array
    """(n,) the answer of a face."""
    first: Array
    """(n,) where a solve starts from."""
    row: Array
    """(n,) one row on its way through the reflections."""
    wished: Array
    """(n,) the wish through the reflections of a face."""
    columns: Array
    """(n, m) rows of all levels, one per column: reduced for levels passed, else through the decided reflections."""
    level: Array
    """(n, m) rows of the current level on its face."""
    norms: Array
    """(m,) square lengths of the rows' tails."""
    sums: Array
    """(m,) scratch of a reflection."""
    order: Array
    """(m,) row pivots."""
    rest: Array
    """(m,) right-hand side of a face, then its residual."""
    small: Array
    """(m + n, n + 1) small least-squares problem."""
    locks: Array
    """(n,) independent limits locked on the current face."""
    triangle: Array
    """(n, n) rows of locked limits in decided and own coordinates, in the place of their own coordinate."""
    multipliers: Array
    """(n,) one per lock."""
    dependent: Array
    """(n + c,) 1 for locked limits found to depend on what is decided."""
    held: Array
    """(n + c,) limits that a level hands down as locked."""
    side: Array
    """(p + 1, n + c) what each level locks: -1 at the lower limit, 1 at the upper, 0 not; kept between steps."""
    around: Array
    """(p + 1, n + c) the same for the least step that does what the levels above decided."""
    force: Array
    """(p + 1, n + c) multipliers of the locks of each level solved in the last sweep, else 0."""
    lower: Array
    """(n + c,) least values that bind the current level."""
    upper: Array
    """(n + c,) greatest values that bind the current level."""
    near: Array
    """(c,) the general limits with a bound."""
    starts: Array
    """(p + 1,) how many limits begin to bind at each level."""
    state: Array
    """(5,) whether the sweep is lazy; locks and rank of the face; general limits bound; the level that escapes."""
    stopped: Array
    """(1,) the level that gave way, or -1."""
    pull: Array
    """(m,) factors of the rows' second derivatives in the curvature of the level that gave way."""
    left: Array
    """(p + 1,) |b - A x| of every level, and |w - x|, after a sweep."""
    shift: Array
    """(p + 1,) what had to be added to the Hessian of each curved level."""
    escape: Array
    """(n,) direction of negative curvature of the first curved level that has one."""
    escape_curvature: Array
    """(1,) the curvature along it, negative; 0 when there is none."""
    basis: Array
    """(n, n) undecided directions, one per column from the first undecided coordinate on."""
    product: Array
    """(n, n) S times the basis."""
    hessian: Array
    """(n, n) undamped Hessian of a curved level, rows and columns by undecided coordinate."""
    turned: Array
    """(n, n) the same through the locks of a face."""
    factor: Array
    """(n, n) its Cholesky factor, damped and shifted."""
    gradient: Array
    """(n,) downhill direction of a curved level at the decided coordinates."""
    downhill: Array
    """(n,) the same through the locks of a face."""
    box: Array
    """(4, n + c) bounds of a correction, and those it must not change."""
    zeros: Array
    """(max(n, p + 1),) nothing, for the correction."""
    nothing: Array
    """(max(n + c, p + 1),) nothing, in whole numbers."""
    kept_side: Array
    """(p + 1, n + c) `side` during a correction."""
    kept_force: Array
    """(p + 1, n + c) `force` during a correction."""


def make_work(n: int, rows: int, levels: int, general: int = 0) -> LevelsWork:
    """Workspace for problems of this size; `rows` is how many all levels have together."""
    limits, whole = n + general, np.int64
    m, square = _padded(max(rows, 1)), (n, _padded(n))
    return LevelsWork(
        reflectors=np.zeros((n, n)),
        scales=np.zeros(n),
        owner=np.zeros(n, dtype=whole),
        decided=np.zeros(levels + 2, dtype=whole),
        y=np.zeros(n),
        z=np.zeros(n),
        trial=np.zeros(n),
        first=np.zeros(n),
        row=np.zeros(n),
        wished=np.zeros(n),
        columns=np.zeros((n, m)),
        level=np.zeros((n, m)),
        norms=np.zeros(max(m, square[1])),
        sums=np.zeros(max(m, square[1])),
        order=np.zeros(max(m, square[1]), dtype=whole),
        rest=np.zeros(m),
        small=np.zeros((m + n, n + 1)),
        locks=np.zeros(n, dtype=whole),
        triangle=np.zeros((n, n)),
        multipliers=np.zeros(n),
        dependent=np.zeros(limits, dtype=whole),
        held=np.zeros(limits, dtype=whole),
        side=np.zeros((levels + 1, limits), dtype=whole),
        around=np.zeros((levels + 1, limits), dtype=whole),
        force=np.zeros((levels + 1, limits)),
        lower=np.zeros(limits),
        upper=np.zeros(limits),
        near=np.zeros(general, dtype=whole),
        starts=np.zeros(levels + 1, dtype=whole),
        state=np.zeros(5, dtype=whole),
        stopped=np.zeros(1, dtype=whole),
        pull=np.zeros(rows),
        left=np.zeros(levels + 1),
        shift=np.zeros(levels + 1),
        escape=np.zeros(n),
        escape_curvature=np.zeros(1),
        basis=np.zeros(square),
        product=np.zeros(square),
        hessian=np.zeros(square),
        turned=np.zeros(square),
        factor=np.zeros(square),
        gradient=np.zeros(n),
        downhill=np.zeros(n),
        box=np.zeros((4, limits)),
        zeros=np.zeros(max(n, levels + 1)),
        nothing=np.zeros(max(limits, levels + 1), dtype=whole),
        kept_side=np.zeros((levels + 1, limits), dtype=whole),
        kept_force=np.zeros((levels + 1, limits)),
    )


def _padded(count: int) -> int:
    """The next multiple of a block."""
    return -(-count // BLOCK) * BLOCK


@inner_kernel
def rows_of(start: Array, k: int) -> tuple[int, int]:
    """First row of level `k` and how many it has; the wish has none."""
    last = start.shape[0] - 1
    if k == last:
        return start[last], 0
    return start[k], start[k + 1] - start[k]
