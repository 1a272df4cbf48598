"""State of a motion that is passed from one frame to the next."""

from typing import NamedTuple

import numpy as np

Array = np.ndarray

FRESH, TRACKING, CHANGING, RETURNING, NEARING = 0, 1, 2, 3, 4
"""Values of TRACKING_MODE.

FRESH: no frame yet. TRACKING: following the target on a branch of solutions. CHANGING: executing a plan to another
branch. RETURNING: moving straight to a solution after the gaze was lost. NEARING: a near point is missed, or the chain
moves straight to a posture that faces it."""
TRACKING_MODE, NEGATED, COUNT, WAY_POINT, ATTEMPT, STUCK, WAIT, GOALS, LOST_FRAMES, FAILED_ROUNDS = (
    0,
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    9,
)
"""Indices in `Memory.tally`.

TRACKING_MODE: one of the modes above. NEGATED: 1 if the bends are those of the posture negated. COUNT: way-points of
the current plan, 0 without one. WAY_POINT: the way-point reached. ATTEMPT: the next attempt to plan, -1 if no plan is
wanted. STUCK: frames without progress. WAIT: frames until planning is tried again. GOALS: number of goals. LOST_FRAMES:
frames since the gaze was lost. FAILED_ROUNDS: how often all attempts have failed."""
WHICH, LATITUDE, FOR_SHAPE = 10, 11, 12
"""Indices in `Memory.tally` of the current plan: its attempt, its latitude, and whether it leads to a better shape."""
MIRRORED = 13
"""Index in `Memory.tally`: 1 if the last goal is the mirror image of the current posture."""
LIFT_ATTEMPT = 14
"""Index in `Memory.tally`: the next attempt that lifts the gaze."""
HURRIED = 15
"""Index in `Memory.tally`: 1 if the current plan was made without enough time, as if the target stood still."""
NOTED, NOTED_LIFTS, NOTED_COST = 16, 17, 18
"""Indices in `Memory.tally` of the best attempt rejected because it falls too far behind the target.

NOTED: the attempt, -1 without one. NOTED_LIFTS: 1 if it lifts the gaze. NOTED_COST: its direction error [thousandths of
a degree]."""
TALLIES = 19
"""Length of `Memory.tally`."""
ANGLES, TO, OR_TO = 0, 1, 2
"""Rows of `Memory.rows`: angles of the last frame, and the two goals of the next plan."""
MEMORY_ROWS = 3
"""Number of rows of `Memory.rows`."""
LAST_DIRECTION, SPEED, POINT = 0, 1, 2
"""Rows of `Memory.seen`: last direction, motion of the target, and the point looked at."""
PATH_MOST = 240
"""Largest number of way-points of a plan."""


class Memory(NamedTuple):
    """State of a motion between frames; `advance` changes it."""

    rows: Array
    """(MEMORY_ROWS, n) angles of the last frame, and the goals of the next plan [rad]."""
    path: Array
    """(PATH_MOST, n + 1) the current plan: angles and lift of each way-point [rad]."""
    tally: Array
    """(TALLIES,) integers: mode, sign of the bends, number of way-points, progress and so on."""
    seen: Array
    """(3, 3) the direction of the last frame; the turn and nod of the target per frame; the point looked at, or NaN.
    While the chain moves to a posture that faces a near point, the first entry is that posture's angle error [rad]."""
