"""Clearances: distances of pairs less the distance to keep, in the last two measurements, and what a step did to them.

The *reach* of a pair is the distance from which on it has no row, and no limit in the next step. It follows the speed
of both solids, so that few pairs have one. Solids that were farther apart cannot have met in a step in which they
moved by less relative to each other. Such a step is safe; one that is not is repeated with the greatest reach.
"""

import math
from typing import Annotated, NamedTuple

import numpy as np

from poise.kernels.distances.all_pairs import nearest_placed
from poise.kernels.distances.solids import Placed, Rows, Solids, Watched, place_solids
from poise.kernels.jit.compile import kernel
from poise.kernels.jit.memory import Memory

Array = np.ndarray

MARGIN_TOLERANCE = 1e-4
"""Violation of the margin up to which it counts as kept [m]."""
MAX_STEP_VIOLATION = 5e-4
"""Violation of the margin that a step may cause [m], because the limits are linear and distances are not; the next
steps remove it."""
DISTANCE_ROUNDING = 1e-9
"""Change of a distance that counts as rounding [m]."""
LEAST_REACH_SHARE = 0.05
"""Reach of a pair at rest, beyond the distance to keep, as a share of the greatest reach."""
REACH_PER_TRAVEL = 2.0
"""Reach of a pair, as a multiple of what both solids moved in the last step: they may move faster in the next."""


class Clearances(Memory):
    """Clearances of all pairs in the last two measurements; entry `now` of two is that of the last one."""

    now: int
    """Index of the last measurement: 0 or 1."""
    allowed: Annotated[Array, float, "pairs"]
    """(p,) distance to keep [m]."""
    of_rows: Annotated[Array, float, "rows"]
    """(c,) clearance of each row of the last measurement [m]."""
    of_pairs: Annotated[Array, float, "two", "pairs"]
    """(2, p) least clearance of each pair, infinite for pairs without a row [m]."""
    reach: Annotated[Array, float, "two", "pairs"]
    """(2, p) distance from which on a pair has no row [m]."""
    start: Annotated[Array, float, "two", "solids", "three"]
    """(2, s, 3) first ends of the bounding capsules [m]."""
    end: Annotated[Array, float, "two", "solids", "three"]
    """(2, s, 3) second ends of the bounding capsules [m]."""
    travel: Annotated[Array, float, "solids"]
    """(s,) displacement of each solid between the two measurements [m]."""


class StepEffect(NamedTuple):
    """What a step did to the clearances."""

    violation_ratio: float
    """Largest increased violation of a margin, as a multiple of the allowed one; 0 if all increases are small."""
    missed_violation: bool
    """Whether a pair without a row before violates its margin now."""
    approach_ratio: float
    """Largest possible approach of two solids, as a multiple of the safe one."""

    @property
    def looked_too_near(self) -> bool:
        """Whether a pair that had no limit, because it had no row, may have come into contact."""
        return self.missed_violation or self.approach_ratio > 1.0


@kernel
def measure_clearances(
    solids: Solids,
    position: Array,
    rotation: Array,
    most: float,
    follows_speed: bool,
    # outputs
    watched: Watched,
    placed: Placed,
    rows: Rows,
    clearances: Clearances,
) -> tuple[int, int]:
    """Measure all pairs that need no library, for node frames (n, 3), (n, 4); the measurement before is kept.

    The reach of all pairs is `most` [m] or, if it `follows_speed`, what their solids have moved since the last
    measurement asks for. Returns the number of rows and of pairs for the library.
    """
    place_solids(solids, position, rotation, placed)
    now = 1 - clearances.now
    clearances.now = now
    start, end, travel = clearances.start, clearances.end, clearances.travel
    for i in range(start.shape[1]):
        first = second = 0.0
        for c in range(3):
            start[now, i, c], end[now, i, c] = placed.start[i, c], placed.end[i, c]
            first += (start[now, i, c] - start[1 - now, i, c]) ** 2
            second += (end[now, i, c] - end[1 - now, i, c]) ** 2
        travel[i] = math.sqrt(max(first, second))
    pairs = watched.first.shape[0]
    for p in range(watched.reach.shape[0]):
        reach = most
        if follows_speed:
            keep = max(clearances.allowed[p], 0.0)
            if p < pairs:
                moved = travel[watched.first[p]] + travel[watched.second[p]]
            else:
                moved = travel[watched.plane_solid[p - pairs]]
            reach = min(most, keep + max(LEAST_REACH_SHARE * (most - keep), REACH_PER_TRAVEL * moved))
        watched.reach[p] = clearances.reach[now, p] = reach
    return nearest_placed(solids, watched, placed, rows)


@kernel
def note_clearances(
    solids: Solids,
    watched: Watched,
    rows: Rows,
    count: int,
    most: float,
    # outputs
    clearances: Clearances,
) -> StepEffect:
    """Store the clearances of the `count` rows of a measurement, and compare it with the previous one.

    A step is safe for a pair that had a row if the pair moved by no more than `most` [m] relative to each other, and
    for another pair if it moved by no more than both distances, before and after, together: solids that pass through
    each other move by more. Planes are left out, because a solid behind a plane is still found to be there.
    """
    now, of_pairs, of_rows, travel = clearances.now, clearances.of_pairs, clearances.of_rows, clearances.travel
    before = 1 - now
    for p in range(of_pairs.shape[1]):
        of_pairs[now, p] = math.inf
    for r in range(count):
        p = rows.pair[r]
        of_rows[r] = rows.distance[r] - clearances.allowed[p]
        of_pairs[now, p] = min(of_pairs[now, p], of_rows[r])
    grew, missed, ratio = 0.0, False, 0.0
    for r in range(count):
        p = rows.pair[r]
        most_before = max(-of_pairs[before, p], MAX_STEP_VIOLATION)
        if -of_pairs[now, p] > most_before + DISTANCE_ROUNDING:
            grew = max(grew, -of_pairs[now, p] / most_before)
            missed = missed or of_pairs[before, p] == math.inf
    for p in range(watched.first.shape[0]):
        i, j, safe = watched.first[p], watched.second[p], most
        if of_pairs[before, p] == math.inf:
            left = max(0.0, min(clearances.reach[now, p], of_pairs[now, p] + clearances.allowed[p]))
            safe = clearances.reach[before, p] + left
        if travel[i] + travel[j] > max(ratio, 1.0) * safe:
            moved, apart = _relative_motion(clearances, i, j)
            ratio = max(ratio, moved / max(apart - solids.extent[i] - solids.extent[j], safe))
    return StepEffect(grew, missed, ratio)


@kernel
def _relative_motion(clearances: Clearances, i: int, j: int) -> tuple[float, float]:
    """How far points of two solids have moved relative to each other at most, and how far apart their middles were [m].

    The displacement of each point of an axis is that of its middle, up to that of an end relative to the middle.
    """
    start, end, now = clearances.start, clearances.end, clearances.now
    before = 1 - now
    apart = moved = turned_i = turned_j = 0.0
    for c in range(3):
        gap = 0.5 * (start[before, i, c] + end[before, i, c] - start[before, j, c] - end[before, j, c])
        gap_after = 0.5 * (start[now, i, c] + end[now, i, c] - start[now, j, c] - end[now, j, c])
        apart += gap * gap
        moved += (gap_after - gap) ** 2
        turned_i += (0.5 * (end[now, i, c] - start[now, i, c] - end[before, i, c] + start[before, i, c])) ** 2
        turned_j += (0.5 * (end[now, j, c] - start[now, j, c] - end[before, j, c] + start[before, j, c])) ** 2
    return math.sqrt(moved) + math.sqrt(turned_i) + math.sqrt(turned_j), math.sqrt(apart)
