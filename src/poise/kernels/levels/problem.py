"""The problem that the level solver is given, and the names of the parts of its workspace: see `levels` for the method.

Compiled functions pay for every array they are passed, and count references of arrays that come in tuples. The solver
therefore works in three arrays, passed one by one: `tables` holds matrices of floats, `lines` holds vectors of floats
and `whole` holds vectors of integers. The constants below are indices into these arrays: `lines[Z, c]` is coordinate c
of the solution on a face.

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

from typing import NamedTuple

import numpy as np

Array = np.ndarray

UNCHECKED, CHECKED, OUT_OF_ITERATIONS, GIVES_WAY = 0, 1, 2, 3
"""How a sweep ended.

UNCHECKED          solved; levels that were met exactly were not checked against the limits one by one
CHECKED            solved, with every level checked against the limits
OUT_OF_ITERATIONS  the active-set method did not settle; the step is inside the limits but may not be optimal
GIVES_WAY          stopped at a watched level that cannot be met, to be resumed with the curvature of that level
"""

INDEPENDENCE_TOLERANCE = 1e-7
"""Length of the undecided part of a limit's row, as a share of the whole row, below which the limit is dependent."""
ROW_RANK_TOLERANCE = 1e-8
"""Pivot, as a share of the first pivot, below which rows of a level are linearly dependent."""
HESSIAN_RANK_TOLERANCE = 1e-6
"""Pivot, as a share of the first pivot, below which rows of a curved level's Hessian are linearly dependent."""
CONSISTENCY_TOLERANCE = 1e-9
"""Residual of a linearly dependent row up to which it counts as met."""
LIMIT_TOLERANCE = 1e-11
"""Distance beyond a limit up to which a point counts as inside."""
MIN_DAMPING = 1e-15
"""Damping up to which a level counts as undamped."""
GIVE_WAY_SHARE = 0.1
"""Residual of a watched level, as a share of its target, above which the level gives way."""
STOPS_IF_LEFT, STOPS, STAYS = 1, 2, 3
"""Values of `Levels.watch`.

STOPS_IF_LEFT  the sweep stops at the level if it gives way
STOPS          the sweep always stops at the level
STAYS          the level's target is the value that the levels above gave its rows, so that it only preserves that value
"""

LIMIT_OWNER, CURVATURE_OWNER = -1, -(1 << 40)
"""Owners of decided coordinates that are not rows: limit i is LIMIT_OWNER - i, a curved level is CURVATURE_OWNER."""

ROW_BLOCK = 8
"""Rows that are reflected together; tables are padded to a multiple of this."""

REFLECTORS, TRIANGLE, COLUMNS, LEVEL_ROWS, SMALL_PROBLEM, BASIS, PRODUCT, HESSIAN, FACE_HESSIAN, FACTOR = range(10)
"""Matrices in `tables`, each with n lines:

REFLECTORS     Householder vectors: one per decided coordinate, then those of the current face
TRIANGLE       rows of the locked limits, triangular, each stored at the coordinate it decides
COLUMNS        rows of all levels, one per column: reduced for levels already solved, else only reflected
LEVEL_ROWS     rows of the current level on its face, one per column
SMALL_PROBLEM  matrix of a small least-squares problem, one unknown per line
BASIS          undecided directions, one per column, from the first undecided coordinate on
PRODUCT        curvature times the basis
HESSIAN        undamped Hessian of a curved level, in undecided coordinates
FACE_HESSIAN   the same Hessian after the reflections of the locked limits
FACTOR         factor L D Lᵀ of the damped and shifted Hessian
"""

(
    SCALES, X, Y, Z, TRIAL_POINT, START_POINT, WORK_ROW, WISH, WISHED, GRADIENT, DOWNHILL, ESCAPE, LOCK_MULTIPLIERS,
    TARGET, NORMS, RESIDUAL, RIGHT, ROW_MULTIPLIERS, LOWER_BOUND, UPPER_BOUND, GIVEN_LOWER, GIVEN_UPPER, DAMPING, SHIFT,
    LEVEL_RESIDUAL, KEPT_LOWER, KEPT_UPPER, KEPT_SHIFT, LIMIT_MULTIPLIERS,
) = range(29)  # fmt: skip
"""Vectors in `lines`.

One entry per variable or coordinate:

SCALES            factors 2 / |v|² of the reflectors
X                 the step; inside the limits unless the sweep is lazy
Y                 decided coordinates, then those of the point with which the current level starts
Z, TRIAL_POINT    solution on a face, in coordinates and as a step
START_POINT       the point from which a solve starts
WORK_ROW          one row while it passes through the reflections
WISH, WISHED      the wish, and the wish after the reflections of a face
GRADIENT          negative gradient of a curved level at the decided coordinates
DOWNHILL          the same after the reflections of the locked limits
ESCAPE            direction of negative curvature of the first curved level that has one, then the curvature along it
LOCK_MULTIPLIERS  Lagrange multiplier of each locked limit

One entry per row:

TARGET            wanted value of each row
NORMS             squared length of the undecided part of each row
RESIDUAL          right-hand side on a face, then the residual of each row
RIGHT             right-hand side of the small least-squares problem
ROW_MULTIPLIERS   factors of the rows' second derivatives in the curvature of the level that gave way

One entry per limit:

LOWER_BOUND, UPPER_BOUND  bounds for the current level
GIVEN_LOWER, GIVEN_UPPER  bounds as given
LIMIT_MULTIPLIERS + k     multipliers of the limits locked by level k; a copy of this group follows for corrections
KEPT_LOWER, KEPT_UPPER    copies of the bounds during a correction

One entry per level:

DAMPING           damping λ
SHIFT             multiple of the unit matrix that was added to the Hessian of a curved level
LEVEL_RESIDUAL    length of the residual
KEPT_SHIFT        copy of SHIFT during a correction
"""

(
    OWNER, LOCKS, ORDER, DEPENDENT_LOCKS, HANDED_DOWN, BOUNDED_GENERAL, LIMIT_LEVEL, LEVEL_START, DECIDED,
    STARTING_LIMITS, CURVED_LEVELS, WATCH, SCALARS, LOCKED_SIDE,
) = range(14)  # fmt: skip
"""Vectors in `whole`:

OWNER            what decided each coordinate: a row, LIMIT_OWNER - i, or CURVATURE_OWNER
LOCKS            independent limits locked on the current face
ORDER            order of the row pivots
DEPENDENT_LOCKS  1 for locked limits that depend linearly on the decided coordinates
HANDED_DOWN      limits that a level passes on as locked to the levels below
BOUNDED_GENERAL  the general limits that have a finite bound
LIMIT_LEVEL      the first level that each limit binds
LEVEL_START      first row of each level, then twice the number of rows, as the wish has no rows
DECIDED          number of decided coordinates at the start of each level, and at the end
STARTING_LIMITS  number of limits that begin to bind at each level
CURVED_LEVELS    1 for levels with curvature
WATCH            see STOPS
SCALARS          single numbers, see LAZY
LOCKED_SIDE      first line of five groups, each with one line per level: -1 for limits locked at their lower bound, 1
                 for those locked at their upper bound, 0 for free ones
"""

SIDE_GROUPS = 5
"""Number of groups of lines from LOCKED_SIDE on."""

LEAST_SIDES, KEPT_SIDES, ROWS_SIDES, NEWTON_SIDES = 1, 2, 3, 4
"""Groups after the first, which holds the current active sets.

LEAST_SIDES   active sets of the least step that satisfies the levels above
KEPT_SIDES    copies of the first group during a correction
ROWS_SIDES    last active sets of watched levels solved by their rows
NEWTON_SIDES  last active sets of watched levels solved with curvature: they differ, and each is the better warm start
"""

LAZY, LOCK_COUNT, FACE_RANK, BOUNDED_COUNT, ESCAPE_LEVEL, LEVEL_COUNT, STOPPED_LEVEL, GROUP_LINES = range(8)
"""Entries of SCALARS:

LAZY           1 during a lazy sweep
LOCK_COUNT     number of independent locks of the current face
FACE_RANK      rank of the level's rows on the current face
BOUNDED_COUNT  number of general limits that have a finite bound
ESCAPE_LEVEL   the level that ESCAPE belongs to, or -1
LEVEL_COUNT    number of levels with rows
STOPPED_LEVEL  the level at which the sweep stopped, or -1
GROUP_LINES    lines per group after LOCKED_SIDE and LIMIT_MULTIPLIERS
"""


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
