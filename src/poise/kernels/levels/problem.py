"""What the level solver is given and what it writes to: see `levels` for the method.

Compiled functions pay for every array they are passed, and count references of those that come in tuples. The solver
therefore works in three arrays only, passed one by one: `tables` of numbers, `lines` of numbers and `whole` lines of
whole numbers, whose parts have the names below. `lines[Z, c]` is coordinate c of the answer of a face.
"""

from typing import NamedTuple

import numpy as np

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
STOPS_IF_LEFT, STOPS, STAYS = 1, 2, 3
"""Levels that stop the sweep when they give way, those that always do, and those that only keep what their rows are."""

LIMIT, CURVATURE = -1, -(1 << 40)
"""Owners of decided coordinates that are no rows: limit i is LIMIT - i."""

BLOCK = 8
"""Rows that are reflected together; tables are padded to a multiple of it."""

REFLECTORS, TRIANGLE, COLUMNS, LEVEL, SMALL, BASIS, PRODUCT, HESSIAN, TURNED, FACTOR = range(10)
"""Tables, each with n lines:

REFLECTORS  Householder vectors, one per decided coordinate and then those of the current face
TRIANGLE    rows of locked limits in decided and own coordinates, in the place of their own coordinate
COLUMNS     rows of all levels, one per column: reduced for levels passed, else through the decided reflections
LEVEL       rows of the current level on its face, one per column
SMALL       a small least-squares problem, one unknown per line
BASIS       undecided directions, one per column from the first undecided coordinate on
PRODUCT     curvature times the basis
HESSIAN     undamped Hessian of a curved level, by undecided coordinate
TURNED      the same through the locks of a face
FACTOR      its Cholesky factor, damped and shifted
"""

(
    SCALES, X, Y, Z, TRIAL, FIRST, ROW, WISH, WISHED, GRADIENT, DOWNHILL, ESCAPE, MULTIPLIERS,
    TARGET, NORMS, REST, RIGHT, PULL, LOWER, UPPER, BELOW, ABOVE, DAMPING, SHIFT, LEFT,
    KEPT_LOWER, KEPT_UPPER, KEPT_SHIFT, FORCE,
) = range(29)  # fmt: skip
"""Lines, by variable or coordinate:

SCALES      factors 2 / |v|² of the reflectors
X           the step, always legal unless the sweep is lazy
Y           decided coordinates, then those of the point the current level was entered with
Z, TRIAL    coordinates of the answer of a face, and the answer
FIRST       where a solve starts from
ROW         one row on its way through the reflections
WISH        the step wished for, and WISHED the same through the reflections of a face
GRADIENT    downhill direction of a curved level at the decided coordinates; DOWNHILL through the locks of a face
ESCAPE      direction of negative curvature of the first curved level that has one, then the curvature along it
MULTIPLIERS one per lock

by row:

TARGET      what the rows are to be
NORMS       square lengths of the rows' tails
REST        right-hand side of a face, then its residual
RIGHT       right-hand side of the small least-squares problem
PULL        factors of the rows' second derivatives in the curvature of the level that gave way

by limit: LOWER and UPPER bind the current level, BELOW and ABOVE are as given; by level: DAMPING, SHIFT, what had to be
added to the Hessian of a curved level, and LEFT, what it leaves undone. FORCE + k are the multipliers of the limits
locked by level k; as many lines follow to keep them during a correction, as do KEPT_LOWER, KEPT_UPPER, KEPT_SHIFT.
"""

OWNER, LOCKS, ORDER, DEPENDENT, HELD, NEAR, LIMIT_LEVEL, START, DECIDED, STARTS, CURVED, WATCH, STATE, SIDE = range(14)
"""Lines of whole numbers:

OWNER       what each coordinate was decided by: a row, LIMIT - i, or CURVATURE
LOCKS       independent limits locked on the current face
ORDER       row pivots
DEPENDENT   1 for locked limits found to depend on what is decided
HELD        limits that a level hands down as locked
NEAR        the general limits with a bound
LIMIT_LEVEL the level from which on a limit binds
START       first row of each level, and how many rows there are, twice: the wish has none
DECIDED     how many coordinates are decided when a level is entered, and at the end
STARTS      how many limits begin to bind at each level
CURVED      1 for levels with curvature
WATCH       which levels stop the sweep, or stay where they are: see STOPS
STATE       single numbers, below

SIDE + k is what level k locks: -1 at the lower limit, 1 at the upper, 0 not. As many lines follow for the least step
that does what the levels above decided, again as many to keep the first during a correction, and twice as many, for
what watched levels locked last as rows and with their curvature: the two differ, and each is the
best guess for its own kind.
"""

SIDES = 5
"""Groups of lines from SIDE on."""

LAZY, COUNT, RANKED, NEARBY, ESCAPING, LEVELS, STOPPED, SPAN = range(8)
"""Places in STATE: whether the sweep is lazy; locks and rank of the face; general limits with a bound; the level that
escapes; how many levels have rows; the level that gave way or -1; lines per group after SIDE and FORCE."""


LEAST_SIDES, KEPT_SIDES, ROWS_SIDES, NEWTON_SIDES = 1, 2, 3, 4
"""Those after the first."""


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
    """(p + 1,) see STOPS."""
