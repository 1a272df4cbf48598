"""The scratch paper of the expressive solver: one array (ROWS, n), with a name for each row.

One array, not twenty, because numba counts references to every array a function is handed; the caller owns it, so that
the kernels allocate nothing and a GPU can give every thread a slice of its own.
"""

PREFIX = 0
"""4 rows: the frame of each segment at angle 0, with the root at angle 0 too."""
PLACE = 1
"""3 rows: where each joint is; they are those of PREFIX, which a look at a near point does not need."""
WISH_COS, WISH_SIN, WISH_BEND = 4, 5, 6
"""Cosine and sine of each angle of the posture, and the cosine of the bend it makes."""
LEVEL, ACROSS, ALONG = 7, 8, 9
"""C, A, B of the height C + A cos θ + B sin θ of the pointing direction over the root's equator."""
HALF_COS, HALF_SIN = 10, 11
"""Cosine and sine of half of each angle."""
SLOPE = 12
"""Derivative of the height."""
STEP = 13
"""Step of each joint."""
EASE = 14
"""1 / stiffness of each joint."""
HELD = 15
"""1 where a joint stays on the border of its box."""
HERE, TRIAL, BEST = 16, 17, 18
"""Angles."""
PIVOT_COST, PIVOT_JOINT, PIVOT_ANGLE = 19, 21, 23
"""2 rows each: starts that move one joint only."""
AXIS = 25
"""3 rows: world axis of each joint."""
LEAST, MOST = 28, 29
"""The box of a step."""
REFERENCE = 30
"""Angles of the posture, mirrored where that is nearer."""
START = 31
"""Angles a descent began with."""
WANTED = 32
"""A step before it is shortened."""
LOW, HIGH = 33, 34
"""Least and greatest angles of a held step."""
LAST = 35
"""Angles of the frame before."""
PULLED = 36
"""A reference to go back to."""
RAISED = 37
"""A goal on another latitude."""
VIA = 38
"""Angles to pass on the way."""
SOLVED = 39
"""Angles found without memory."""
GUESS = 40
"""Angles of a look ahead."""
GOAL, LIFTED = 41, 42
"""Angles to arrive at, and where a lifted path begins."""
PLAIN = 0
"""A step before its box was looked at; shares its row with PREFIX, which no step needs."""
OUT = 43
"""Angles of this frame."""
KEEP = 44
"""The best angles of several tries."""
SPENT, SPENT_MOST = 45, 46
"""In the first column: steps of holding the gaze that planning took in this frame, and how many it may take."""
ROWS = 47
