"""Looking at a point that is near, whose direction depends on where the tip comes to be.

A joint with world axis z through o turns the tip by z per radian and moves it by z × (t - o). The direction u from the
tip t to a point D away then turns by -u × (z × (t - o)) / D, so that seen from the point the tip turns by

    z + u × (z × (t - o)) / D

With these rows a step knows that the tip is going to be elsewhere. Every frame turns the tip nearer to the point inside
what joints may do, and never further away: so a chain comes to rest when the point does. Where it can see the point,
the shape is pulled to the posture in the freedom that is left. Where it cannot, other postures are brought to see the
point as well as they can, each at rest by itself; one that sees it better by `BETTER` is gone to straight, and the
chain stays with it until it is there.
"""

import math

import numpy as np

from poise.kernels.chains.chain import Chain, pointing
from poise.kernels.gaze.expressive.advance import nearer_sign
from poise.kernels.gaze.expressive.aim import copy_row, place_here
from poise.kernels.gaze.expressive.bounded_step import box_step, free_of_roll, turn_between
from poise.kernels.gaze.expressive.detour import distance
from poise.kernels.gaze.expressive.hold_gaze import LOST, box_round, turn_to
from poise.kernels.gaze.expressive.memory import ANGLES, AT, FRESH, MODE, NEARING, NOW, TO, WAIT, Memory
from poise.kernels.gaze.expressive.nearest_shape import note_wish, shape_cost
from poise.kernels.gaze.expressive.solve import Manner, scatter
from poise.kernels.gaze.expressive.track import pull_to_shape
from poise.kernels.gaze.expressive.workspace import (
    AXIS,
    EASE,
    GOAL,
    HERE,
    HIGH,
    KEEP,
    LAST,
    LEAST,
    LOW,
    MOST,
    OUT,
    PLACE,
    REFERENCE,
    START,
    STEP,
)
from poise.kernels.gaze.measures import Scoring
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.portable_trigonometry import turn_about
from poise.kernels.maths.quaternion import Quaternion, multiply, quaternion_at, rotate
from poise.kernels.maths.vector import Vector, add, cross, length, scale, subtract, vector_at

Array = np.ndarray

SEEN = math.radians(0.5)
"""A goal that misses the point by less sees it [rad]."""
BETTER = math.radians(2.0)
"""By how much less another posture must miss the point before the chain goes there [rad]."""
STARTS = 12
PATIENCE = 10
"""Frames after which other postures are tried again."""
STEPS_HERE, STEPS_THERE = 12, 40
ROUNDS, SETTLING = 3, 12
"""NodeForces to the shape, in a frame and without one before."""
LONGEST = 0.7
"""Turn of the tip asked of one step [rad]."""
STALLED = 1e-4
"""Share of the missing angle that a step must take off for another to be worth while."""
TIGHT = 1e-8
"""An angle that is none [rad]."""
CLOSEST = 1e-6
"""A point is no nearer to the tip than this [m]."""


@kernel
def look_near(chain: Chain, point: Vector, work: Array, row: int) -> tuple[Vector, Vector]:
    """Where the tip points at the angles `work[row]`, and where `point` is from there; AXIS: the rows of the error."""
    axis, rest, offset = chain.axis, chain.rest, chain.offset
    n = axis.shape[0]
    turned, place = Quaternion(1.0, 0.0, 0.0, 0.0), vector_at(offset, 0)
    for k in range(n):
        a = vector_at(axis, k)
        turned = multiply(turned, quaternion_at(rest, k))
        z = rotate(turned, a)
        work[AXIS, k], work[AXIS + 1, k], work[AXIS + 2, k] = z.x, z.y, z.z
        work[PLACE, k], work[PLACE + 1, k], work[PLACE + 2, k] = place.x, place.y, place.z
        turned = multiply(turned, turn_about(a, work[row, k]))
        place = add(place, rotate(turned, vector_at(offset, k + 1)))
    way = subtract(point, place)
    far = max(CLOSEST, length(way))
    u = scale(way, 1.0 / far)
    for k in range(n):
        z = Vector(work[AXIS, k], work[AXIS + 1, k], work[AXIS + 2, k])
        arm = subtract(place, Vector(work[PLACE, k], work[PLACE + 1, k], work[PLACE + 2, k]))
        moved = scale(cross(u, cross(z, arm)), 1.0 / far)
        work[AXIS, k] += moved.x
        work[AXIS + 1, k] += moved.y
        work[AXIS + 2, k] += moved.z
    p = pointing(turned)
    free_of_roll(work, n, p)
    return p, u


@kernel
def _box(chain: Chain, work: Array, row: int) -> None:
    """LEAST … MOST: what a step from `work[row]` may be inside LOW … HIGH."""
    for k in range(chain.role.shape[0]):
        work[LEAST, k] = work[LOW, k] - work[row, k]
        work[MOST, k] = work[HIGH, k] - work[row, k]


@kernel
def face_near(chain: Chain, point: Vector, steps: int, work: Array, row: int) -> float:
    """Turn the tip of `work[row]` towards the point inside LOW … HIGH; returns the angle it misses it by [rad]."""
    n = chain.role.shape[0]
    p, u = look_near(chain, point, work, row)
    e = turn_between(p, u)
    off, damping = length(e), 1e-3
    for _ in range(steps):
        if off < TIGHT:
            break
        _box(chain, work, row)
        for k in range(n):
            work[EASE, k], work[STEP, k] = 1.0, 0.0
            work[START, k] = work[row, k]
        box_step(work, n, scale(e, min(1.0, LONGEST / off)), damping * min(1.0, off * off) + 1e-12, p)
        for k in range(n):
            work[row, k] += work[STEP, k]
        p, u = look_near(chain, point, work, row)
        e = turn_between(p, u)
        if length(e) < off:
            before, off = off, length(e)
            damping *= 0.2
            if off > before * (1.0 - STALLED):
                break
            continue
        copy_row(work, START, row)
        damping *= 30.0
        if damping > 1e6:
            break
        p, u = look_near(chain, point, work, row)
        e = turn_between(p, u)
    return off


@kernel
def hold_near(chain: Chain, point: Vector, steps: int, work: Array, row: int) -> float:
    """Bring `work[row]` to face the point inside LOW … HIGH, pulled to REFERENCE with EASE; the angle it misses by."""
    n = chain.role.shape[0]
    for _ in range(steps):
        p, u = look_near(chain, point, work, row)
        _box(chain, work, row)
        for k in range(n):
            work[STEP, k] = turn_to(chain, k, work[row, k], work[REFERENCE, k])
        box_step(work, n, turn_between(p, u), 1e-7, p)
        for k in range(n):
            work[row, k] += work[STEP, k]
    p, u = look_near(chain, point, work, row)
    return length(turn_between(p, u))


@kernel
def _limits(chain: Chain, work: Array, row: int) -> None:
    """LOW … HIGH: the limits, or a turn either way of `work[row]`."""
    box_round(chain, work, row, 2.0 * math.pi)


@kernel
def best_look(
    chain: Chain, scoring: Scoring, manner: Manner, point: Vector, posture: Array, starts: int, work: Array
) -> float:
    """GOAL: of several postures, each at rest by itself, the one that sees the point best; the angle it misses by.

    The first is LAST. Of those that see it equally well, the one nearest in shape and in angles.
    """
    note_wish(chain, posture, work)
    least, missed = math.inf, math.inf
    for start in range(starts):
        if start == 0:
            copy_row(work, LAST, HERE)
        elif start < 3:
            place_here(chain, posture, start - 1, work)
        else:
            scatter(chain, start, work)
        _limits(chain, work, HERE)
        off = face_near(chain, point, STEPS_THERE, work, HERE)
        cost = off if off > TIGHT else 0.0
        cost += 0.2 * shape_cost(chain, scoring, manner.blend, work, HERE) + 0.02 * distance(chain, work, LAST, HERE)
        if cost < least:
            least, missed = cost, off
            copy_row(work, HERE, GOAL)
    return missed


@kernel
def near_frame(
    chain: Chain,
    scoring: Scoring,
    manner: Manner,
    rate: float,
    point: Vector,
    posture: Array,
    # changed
    memory: Memory,
    work: Array,
) -> None:
    """OUT: one frame on from the angles in memory, towards seeing the point with the shape of `posture`."""
    rows, tally = memory.rows, memory.tally
    n = posture.shape[0]
    going, wait = tally[MODE] == NEARING and tally[AT] == 1, tally[WAIT] if tally[MODE] == NEARING else 0
    for k in range(n):
        work[LAST, k], work[GOAL, k] = rows[ANGLES, k], rows[TO, k]
    if going:
        _limits(chain, work, GOAL)
        going = face_near(chain, point, STEPS_THERE, work, GOAL) < memory.seen[NOW, 0] + SEEN
    off = 0.0
    if not going:
        off = _look_from_here(chain, scoring, rate, point, posture, work)
        wait = max(0, wait - 1)
        if off > LOST and wait == 0:
            memory.seen[NOW, 0] = best_look(chain, scoring, manner, point, posture, STARTS, work)
            going, wait = memory.seen[NOW, 0] < off - BETTER, PATIENCE
    for i in range(tally.shape[0]):
        tally[i] = 0
    tally[WAIT] = wait
    if going:
        far = distance(chain, work, LAST, GOAL)
        tally[AT] = 1 if far > rate else 0
        share = min(1.0, rate / max(far, 1e-12))
        for k in range(n):
            rows[TO, k] = work[GOAL, k]
            work[OUT, k] = work[LAST, k] + share * turn_to(chain, k, work[LAST, k], work[GOAL, k])
    tally[MODE] = NEARING if tally[AT] or off > LOST else FRESH


@kernel
def _look_from_here(chain: Chain, scoring: Scoring, rate: float, point: Vector, posture: Array, work: Array) -> float:
    """OUT: the point seen as well as it can be from LAST in one frame; returns the angle it is missed by."""
    copy_row(work, LAST, OUT)
    negated = nearer_sign(chain, scoring, posture, work)
    box_round(chain, work, LAST, rate)
    copy_row(work, LAST, HERE)
    off = face_near(chain, point, STEPS_HERE, work, HERE)
    copy_row(work, HERE, OUT)
    if off > LOST:
        return off
    off = _pull_near(chain, scoring, point, posture, negated, off, ROUNDS, work)
    copy_row(work, HERE, OUT)
    return off


@kernel
def _pull_near(
    chain: Chain, scoring: Scoring, point: Vector, posture: Array, negated: int, off: float, rounds: int, work: Array
) -> float:
    """Pull HERE, which sees the point, to the shape of the posture inside LOW … HIGH; the angle it then misses by."""
    for _ in range(rounds):
        copy_row(work, HERE, KEEP)
        pull_to_shape(chain, scoring, posture, negated, work, HERE)
        held = hold_near(chain, point, 6, work, HERE)
        if held > LOST:
            copy_row(work, KEEP, HERE)
            break
        off = held
    return off


@kernel
def look_at(
    chain: Chain, scoring: Scoring, manner: Manner, point: Vector, posture: Array, starts: int, work: Array
) -> float:
    """OUT: the posture that sees the point best, from LAST or from elsewhere, and then the nearest shape that does."""
    off = best_look(chain, scoring, manner, point, posture, starts, work)
    copy_row(work, GOAL, OUT)
    if off > LOST:
        return off
    negated = nearer_sign(chain, scoring, posture, work)
    copy_row(work, GOAL, HERE)
    copy_row(work, GOAL, LAST)
    _limits(chain, work, HERE)
    off = _pull_near(chain, scoring, point, posture, negated, off, SETTLING, work)
    copy_row(work, HERE, OUT)
    return off
