"""The problem that the level solver is given, and its workspace: see `levels` for the method.

Words used throughout this package:

* A *face* is the set of points at which a given set of limits holds with equality. These limits are *locked*; the set
  of locked limits is the active set.
* A *coordinate* is an entry of y in x = Q y, with Q the product of all Householder reflections so far. A coordinate is
  *decided* once a level has fixed its value for all levels below.
* The *wish* w is the step that the last level wants, which has no rows of its own.
* A *general* limit bounds a row of `Levels.general`; the other limits bound one variable each.
* A *sweep* solves all levels in order. A *lazy* sweep solves the levels that can be met exactly without looking at the
  limits, and trusts the levels below to find a point inside them.
"""

from typing import Annotated, NamedTuple

import numpy as np

from poise.kernels.jit.memory import Memory

Array = np.ndarray
Table = Annotated[Array, float, "n", "width"]
"""A line per variable; columns are variables, or rows of levels."""
PerVariable = Annotated[Array, float, "n"]
PerCoordinate = Annotated[Array, int, "n"]
PerRow = Annotated[Array, float, "rows"]
PerColumn = Annotated[Array, float, "width"]
PerLimit = Annotated[Array, float, "limits"]
FlagPerLimit = Annotated[Array, int, "limits"]
PerLevel = Annotated[Array, float, "levels"]
FlagPerLevel = Annotated[Array, int, "levels"]
PerLevelAndEnd = Annotated[Array, int, "levels_and_end"]
MultiplierTable = Annotated[Array, float, "levels", "limits"]
ActiveSets = Annotated[Array, int, "levels", "limits"]
"""Active sets of all levels: -1 for limits locked at their lower bound, 1 at the upper, 0 for free ones."""

UNCHECKED, CHECKED, OUT_OF_ITERATIONS, GIVES_WAY = 0, 1, 2, 3
"""How a sweep ended.

UNCHECKED          solved; levels that were met exactly were not checked against the limits one by one
CHECKED            solved, with every level checked against the limits
OUT_OF_ITERATIONS  the active-set method did not settle; the step is inside the limits but may not be optimal
GIVES_WAY          stopped at a watched level that cannot be met, to be resumed with the curvature of that level
"""
STOPS_IF_LEFT, STOPS, STAYS = 1, 2, 3
"""Values of `Levels.watch`.

STOPS_IF_LEFT  the sweep stops at the level if it gives way
STOPS          the sweep always stops at the level
STAYS          the level's target is the value that the levels above gave its rows, so that it only preserves that value
"""
LIMIT_OWNER, CURVATURE_OWNER = -1, -(1 << 40)
"""Owners of decided coordinates that are not rows: limit i is LIMIT_OWNER - i, a curved level is CURVATURE_OWNER."""
MIN_DAMPING = 1e-15
"""Damping up to which a level counts as undamped."""
ROW_BLOCK = 8
"""Rows that are reflected together; tables are padded to a multiple of this."""


class Levels(NamedTuple):
    """A lexicographic least-squares problem: the rows of all levels, stacked, and limits."""

    rows: Array
    """(m, n) A_1, A_2, … stacked."""
    target: Array
    """(m,) b_1, b_2, …"""
    start: Array
    """(p + 1,) first row of each level, and m."""
    damping: Array
    """(p + 1,) λ of each level, and of the wish."""
    wish: Array
    """(n,) the step w that the last level wants, in the freedom that the others leave."""
    general: Array
    """(c, n) rows of the general limits."""
    lower: Array
    """(n + c,) lower bounds of the variables and of the general rows, -inf for none."""
    upper: Array
    """(n + c,) upper bounds, inf for none."""
    limit_level: Array
    """(n + c,) the first level that each limit binds, 0 for every level."""
    curved: Array
    """(p + 1,) 1 for levels with curvature."""
    curvature: Array
    """(p + 1, n, n) S of the curved levels, symmetric, definite or not; never read for other levels."""
    watch: Array
    """(p + 1,) whether the sweep stops at each level: see STOPS_IF_LEFT."""


class LevelsWork(Memory):
    """Workspace of a solve. Tables with one row of a level per column are wider than the rows: see `make_work`."""

    n: int
    """Number of variables."""
    level_count: int
    """Number of levels with rows."""
    lazy: int
    """1 during a lazy sweep."""
    downhill_only: int
    """1 if levels with second derivatives may not step over a maximum: see `newton_level.descends`."""
    looks_past_limits: int
    """1 if negative curvature is looked for with limits free that hardly bind: see `newton_level`."""
    is_corrected: int
    """1 if a correction inside the limits has replaced the factor of the last sweep."""
    stopped_level: int
    """The level at which the last sweep stopped, or -1."""
    lock_count: int
    """Number of independent locks of the current face."""
    face_rank: int
    """Rank of the level's rows on the current face."""
    bounded_count: int
    """Number of general limits that have a finite bound."""
    escape_level: int
    """The level that `escape` belongs to, or -1."""
    escape_curvature: float
    """Curvature along `escape`, negative; 0 when there is none."""
    kept_escape_curvature: float
    """Copy of `escape_curvature` during a correction."""
    kept_escape_level: int
    """Copy of `escape_level` during a correction."""

    reflectors: Table
    """Householder vectors: one per decided coordinate, then those of the current face."""
    scales: PerVariable
    """Factors 2 / |v|² of the reflectors."""
    triangle: Table
    """Rows of the locked limits, triangular, each stored at the coordinate it decides."""
    columns: Table
    """Rows of all levels, one per column: reduced for levels already solved, else only reflected."""
    level_rows: Table
    """Rows of the current level on its face, one per column."""
    small_problem: Table
    """Matrix of a small least-squares problem, one unknown per line."""
    basis: Table
    """Undecided directions, one per column, from the first undecided coordinate on."""
    product: Table
    """Curvature times the basis."""
    hessian: Table
    """Undamped Hessian of a curved level, in undecided coordinates."""
    face_hessian: Table
    """The same Hessian after the reflections of the locked limits."""
    factor: Table
    """Factor L D Lᵀ of the damped and shifted Hessian."""

    x: PerVariable
    """The step; inside the limits unless the sweep is lazy."""
    y: PerVariable
    """Decided coordinates, then those of the point with which the current level starts."""
    z: PerVariable
    """Solution on a face, in coordinates."""
    trial_point: PerVariable
    """Solution on a face, as a step."""
    start_point: PerVariable
    """The point from which a solve starts."""
    row: PerVariable
    """One row while it passes through the reflections."""
    wish: PerVariable
    """The wish."""
    wished: PerVariable
    """The wish after the reflections of a face."""
    gradient: PerVariable
    """Negative gradient of a curved level at the decided coordinates."""
    downhill: PerVariable
    """The same after the reflections of the locked limits."""
    escape: PerVariable
    """Direction of negative curvature of the first curved level that has one."""
    owner: PerCoordinate
    """What decided each coordinate: a row, LIMIT_OWNER - i, or CURVATURE_OWNER."""
    locks: PerCoordinate
    """Independent limits locked on the current face."""
    lock_multipliers: PerVariable
    """Lagrange multiplier of each of them."""

    target: PerRow
    """Wanted value of each row."""
    row_multipliers: PerRow
    """Factors of the rows' second derivatives in the curvature of the level that gave way."""
    order: Annotated[Array, int, "width"]
    """Order of the row pivots."""
    norms: PerColumn
    """Squared length of the undecided part of each row."""
    residual: PerColumn
    """Right-hand side on a face, then the residual of each row."""
    right: PerColumn
    """Right-hand side of the small least-squares problem."""

    lower: PerLimit
    """Lower bounds for the current level."""
    upper: PerLimit
    """Upper bounds for the current level."""
    given_lower: PerLimit
    """Lower bounds as given."""
    given_upper: PerLimit
    """Upper bounds as given."""
    kept_lower: PerLimit
    """Copy of `lower` during a correction."""
    kept_upper: PerLimit
    """Copy of `upper` during a correction."""
    limit_forces: PerLimit
    """Multipliers, at the optimum of the level that gave way, of all limits that it and the levels above lock."""
    limit_errors: PerLimit
    """Change that each locked limit must make in a correction."""
    limit_level: FlagPerLimit
    """The first level that each limit binds."""
    bounded_general: FlagPerLimit
    """The general limits that have a finite bound."""
    dependent_locks: FlagPerLimit
    """1 for locked limits that depend linearly on the decided coordinates."""
    handed_down: FlagPerLimit
    """Limits that a level passes on as locked to the levels below, as in `side`."""

    side: ActiveSets
    """Active set of each level: -1 at the lower bound, 1 at the upper, 0 free; kept between steps."""
    least_side: ActiveSets
    """Active sets of the least step that satisfies the levels above."""
    rows_side: ActiveSets
    """Last active sets of watched levels solved by their rows."""
    newton_side: ActiveSets
    """Those of watched levels solved with curvature: they differ, and each is the better warm start."""
    kept_side: ActiveSets
    """Copy of `side` during a correction."""
    limit_multipliers: MultiplierTable
    """Multipliers of the limits locked by each level in the last sweep, else 0."""
    kept_multipliers: MultiplierTable
    """Copy of them during a correction."""

    level_start: PerLevelAndEnd
    """First row of each level, then twice the number of rows, as the wish has no rows."""
    decided: PerLevelAndEnd
    """Number of decided coordinates at the start of each level, and at the end."""
    starting_limits: FlagPerLevel
    """Number of limits that begin to bind at each level."""
    curved: FlagPerLevel
    """1 for levels with curvature."""
    watch: FlagPerLevel
    """See STOPS."""
    damping: PerLevel
    """Damping λ."""
    shift: PerLevel
    """Multiple of the unit matrix that was added to the Hessian of each curved level."""
    kept_shift: PerLevel
    """Copy of `shift` during a correction."""
    level_residual: PerLevel
    """Residual |b - A x| of every level, and |w - x|, after a sweep."""

    def active_sets(self) -> tuple[Array, ...]:
        """What a solve remembers of the one before: the active sets with which it starts."""
        return self.side, self.least_side, self.rows_side, self.newton_side


def make_work(n: int, rows: int, levels: int, general: int = 0) -> LevelsWork:
    """Allocate the workspace for `n` variables, `rows` rows in all `levels` together, and `general` general limits."""
    # An odd multiple of ROW_BLOCK, so that lines of a table do not compete for the same cache lines.
    blocks = -(-max(n, rows + max(min(rows, n), ROW_BLOCK)) // ROW_BLOCK) | 1
    work = LevelsWork(
        n=n, rows=rows, width=blocks * ROW_BLOCK, limits=n + general, levels=levels + 1, levels_and_end=levels + 2
    )
    work.n, work.looks_past_limits = n, 1
    return work
