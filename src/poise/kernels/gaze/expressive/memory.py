"""What a character remembers from one frame to the next."""

from typing import NamedTuple

import numpy as np

Array = np.ndarray

FRESH, TRACKING, CHANGING, RETURNING, NEARING = 0, 1, 2, 3, 4
"""Nothing yet; on a branch; on a planned way to another; on the straight way to one, the gaze lost; missing a point
that is near, or on the straight way to a posture that sees it."""
MODE, NEGATED, COUNT, AT, ATTEMPT, STUCK, WAIT, GOALS, ASTRAY, ROUND = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
"""Mode; whether the bends are those of the posture negated; way-points of the plan in hand, 0 without one, and the one
reached; the next try, -1 when none is wished for; frames without progress; frames until a plan is asked for again;
goals; frames with the gaze lost; how often all tries were in vain."""
WHICH, LATITUDE, FOR_SHAPE = 10, 11, 12
"""Of the plan in hand: the try that made it, its latitude, and whether it leads to a better shape."""
MIRRORED = 13
"""Whether the last of the goals is the mirror image of wherever the chain is."""
LIFT_ATTEMPT = 14
"""The next try that lifts the gaze."""
HURRIED = 15
"""Whether the plan in hand was made as if the target stood still, for want of time."""
NOTED, NOTED_LIFTS, NOTED_COST = 16, 17, 18
"""The best of the tries that were refused because they fall too far behind the target, -1 without one; whether it
lifts the gaze; and how far that is off then [thousandths of a degree]."""
TALLIES = 19
ANGLES, TO, OR_TO = 0, 1, 2
MEMORY_ROWS = 3
NOW, SPEED, POINT = 0, 1, 2
PATH_MOST = 240
"""Way-points a plan may have."""


class Memory(NamedTuple):
    """What a character remembers from one frame to the next; `advance` changes it."""

    rows: Array
    """(MEMORY_ROWS, n) angles of the last frame, and the goals of the next plan."""
    path: Array
    """(PATH_MOST, n + 1) the plan in hand, or the one the chain is on."""
    tally: Array
    """(TALLIES,) integers: mode, sign of the bends, way-points, progress and so on."""
    seen: Array
    """(3, 3) the direction of the last frame; how fast the target turns and nods; the point that was looked at, or NaN.
    On the way to a posture that sees a near point, first the angle by which that posture misses it [rad]."""
