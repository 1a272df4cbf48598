"""A plan in hand: found while there is time, made anew from every frame, and taken when it is time.

A chain that tracks while its target is about to leave the branch is *ready* when a plan leads from where it is to
another branch. The plan is made again from every new frame, by the try that made it, so that following it is exact. A
frame from which none is found is not taken: the chain goes along the plan that it has from the frame before. Nothing is
lost by waiting, therefore, and a target that turns back has moved nothing that need not have been.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.chains.chain import Chain
from poise.kernels.gaze.expressive.aim import copy_row, mirror
from poise.kernels.gaze.expressive.detour import out_of_time, polar
from poise.kernels.gaze.expressive.hold_gaze import Going, box_round, free_root, hold
from poise.kernels.gaze.expressive.lift_gaze import falls_behind, plan_cost
from poise.kernels.gaze.expressive.look_ahead import NEVER, way_left
from poise.kernels.gaze.expressive.memory import (
    ASTRAY,
    AT,
    ATTEMPT,
    CHANGING,
    COUNT,
    FOR_SHAPE,
    GOALS,
    HURRIED,
    LATITUDE,
    LIFT_ATTEMPT,
    MIRRORED,
    MODE,
    NOTED,
    NOTED_COST,
    NOTED_LIFTS,
    OR_TO,
    ROUND,
    STUCK,
    TO,
    WAIT,
    WHICH,
    Memory,
)
from poise.kernels.gaze.expressive.plan import DIRECT, LATITUDES_TRIED, lifted_try, orderly, own_try, try_plan
from poise.kernels.gaze.expressive.surface import root_axis
from poise.kernels.gaze.expressive.track import Pace
from poise.kernels.gaze.expressive.workspace import (
    EASE,
    GOAL,
    HERE,
    LAST,
    OUT,
    REFERENCE,
    SOLVED,
    SPENT,
    SPENT_MOST,
    START,
)
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.portable_trigonometry import sine
from poise.kernels.maths.vector import Vector

Array = np.ndarray

ASK_AGAIN = 2
"""Frames to wait when no plan was found."""
SLACK = 0.97
"""Share of the rate that a plan uses, so that a chain that is behind can catch up."""
URGENT = 4
"""Times as many tries when the gaze is about to be lost and no plan is in hand."""
SOON = 2
"""Looks ahead that are left before the gaze is lost when lifting it begins to be tried."""
NODS = math.radians(3.0)
"""Nod of the target during a plan from which on the plan must be early [rad]."""
MOST_SPENT = 10_000
"""Steps of holding the gaze that tries take in one frame at most, for a call that is never late."""
LATE = 0.5
"""Share of them after which a try that is cut short deserves another, with all the steps of the next frame."""
LIFTED_TRY = 4
"""Tries that count for one that lifts the gaze, which has more to do."""
LASTING = 3
"""Looks ahead for which a plan that lifts the gaze must keep the target where it ends."""
FALL = math.radians(5.0)
"""Most that the gaze may fall behind for want of time; more each time that all tries were in vain [rad]."""
FALL_LIFTED = math.radians(15.0)
"""The same of a gaze that is lifted [rad]."""
FALL_NOW = math.radians(30.0)
FALL_LATER = math.radians(1.0)
"""The same where the target will be lost in the next frame, and how much more for each frame since it was [rad]."""
HURRIED_LATITUDES = 2
"""Other latitudes to which the gaze is lifted when it may fall behind as well."""
SAME_LIFT = math.radians(0.5)
"""Lifts that differ by less are the same [rad]."""
LESS = 0.9
"""Share of the sum of lifts of the plan in hand that another one must be below."""
MORE = 1.2
"""The same of a plan in hand to which there is no way any more, but from the frame before [1]."""
NEAR = 0.25
"""Share of its range that the root of a goal must have before it; one that has less will soon be no goal."""


class Wish(NamedTuple):
    """What a plan is asked for."""

    d: Vector
    """Direction it must face."""
    turning: float
    """Turn of the target per frame [rad]."""
    nodding: float
    """Change of its angle from the root's axis per frame [rad]."""
    left: int
    """Frames until the branch loses the target."""
    better: bool
    """Whether another branch has the better shape."""


@kernel
def face_now(chain: Chain, d: Vector, rows: Array, row: int, work: Array) -> None:
    """Bring a goal that faces where the target was, or is about to be, to face d."""
    for k in range(rows.shape[1]):
        work[LAST, k] = rows[row, k]
        work[HERE, k] = rows[row, k]
        work[REFERENCE, k] = rows[row, k]
        work[EASE, k] = 1.0
    box_round(chain, work, LAST, math.pi)
    free_root(chain, work, LAST, math.pi)
    hold(chain, d, 20, work, HERE)
    for k in range(rows.shape[1]):
        rows[row, k] = work[HERE, k]


@kernel
def still_ready(chain: Chain, pace: Pace, wish: Wish, memory: Memory, work: Array, draft: Array) -> bool:
    """Whether the try that made the plan in hand leads from OUT to the same goal; the plan in hand is then that."""
    tally, path = memory.tally, memory.path
    last = tally[COUNT] - 1
    face_now(chain, wish.d, path, last, work)
    if not tally[FOR_SHAPE] and way_left(chain, wish.turning, path[last, 0]) < NEAR:
        return False
    work[SPENT_MOST, 0] = math.inf
    for k in range(work.shape[1]):
        work[START, k] = work[OUT, k]
        work[GOAL, k] = path[last, k]
    going = _going(pace, wish, tally[HURRIED])
    return _keep(try_plan(chain, wish.d, tally[WHICH], tally[LATITUDE], going, work, draft), memory, draft)


@kernel
def _keep(count: int, memory: Memory, draft: Array) -> bool:
    """Take `count` way-points of a draft in hand."""
    path = memory.path
    for i in range(count):
        for k in range(path.shape[1]):
            path[i, k] = draft[i, k]
    if count > 0:
        memory.tally[COUNT] = count
    return count > 0


@kernel
def _going(pace: Pace, wish: Wish, hurried: int) -> Going:
    """How a plan is gone: with the target, or, for want of time, behind it."""
    return Going(SLACK * pace.rate, wish.turning, hurried, LASTING * pace.ahead)


@kernel
def _costs_less(chain: Chain, wish: Wish, ready: bool, draft: Array, count: int, memory: Memory) -> bool:
    """Whether a draft is to be preferred to the plan in hand: one that lifts the gaze less far, or for less long.

    A plan in hand that is not `ready` gives way to any that lifts the gaze no further, and hardly for longer.
    """
    if memory.tally[COUNT] == 0:
        return True
    most, total = plan_cost(chain, wish.turning, draft, count)
    most_in_hand, total_in_hand = plan_cost(chain, wish.turning, memory.path, memory.tally[COUNT])
    if most > most_in_hand - SAME_LIFT and ready:
        return most < most_in_hand + SAME_LIFT and total < LESS * total_in_hand
    return most < most_in_hand + SAME_LIFT and total <= MORE * total_in_hand


@kernel
def look_for_plan(
    chain: Chain, pace: Pace, wish: Wish, ready: bool, memory: Memory, work: Array, draft: Array
) -> tuple[bool, int]:
    """The next tries of a plan from OUT; whether one arrived, and how many were made.

    The gaze is lifted only if it would be lost otherwise, never for the sake of the shape, and above the horizon only
    when there is no time or all tries without were in vain once. Half of the tries are then such, below the horizon
    more. While the plan in hand is `ready`, only one that lifts the gaze less is looked for.
    """
    tally = memory.tally
    work[SPENT, 0], work[SPENT_MOST, 0] = 0.0, MOST_SPENT
    below = polar(root_axis(chain), wish.d) > 0.5 * math.pi
    may_lift = wish.left <= SOON * pace.ahead and (below or tally[ROUND] > 0 or wish.left <= pace.ahead)
    latitudes = LATITUDES_TRIED if may_lift else 1
    tries = pace.tries
    if tally[COUNT] == 0 and wish.left <= SOON * pace.ahead:
        tries *= URGENT if wish.left < pace.ahead // 4 else 2
    own = own_try(chain, tally[ATTEMPT] // tally[GOALS], tally[ROUND]) >= 0
    lifts = lifted_try(chain, tally[LIFT_ATTEMPT] // tally[GOALS], latitudes)[0] > 0
    if not own and not lifts:
        tally[ATTEMPT], tally[WAIT] = -1, ASK_AGAIN
        tally[ROUND] += 1
        return False, 0
    found, tried = False, 0
    if own:
        share = 1 if not lifts else 4 if below and tally[ATTEMPT] > DIRECT * tally[GOALS] else 2
        found, tried = _try_some(chain, pace, wish, ready, tries // share, 1, memory, work, draft)
    if lifts and not found:
        found, more = _try_some(chain, pace, wish, ready, tries - tried, latitudes, memory, work, draft)
        tried += more
    work[SPENT_MOST, 0] = math.inf
    return found or _noted_plan(chain, pace, wish, latitudes, memory, work, draft), tried


@kernel
def _try_some(
    chain: Chain,
    pace: Pace,
    wish: Wish,
    ready: bool,
    tries: int,
    latitudes: int,
    # changed
    memory: Memory,
    work: Array,
    draft: Array,
) -> tuple[bool, int]:
    """So many of the next tries, which lift the gaze if there are other `latitudes` than the target's own."""
    tally = memory.tally
    counter = ATTEMPT if latitudes == 1 else LIFT_ATTEMPT
    no_time = pace.ahead // 4 if latitudes == 1 else pace.ahead
    hurry = tally[COUNT] == 0 and wish.left <= SOON * pace.ahead and abs(wish.turning) > 1e-9
    tried = 0
    while tried < tries and not out_of_time(work):
        begun = work[SPENT, 0]
        number, goal = tally[counter] // tally[GOALS], tally[counter] % tally[GOALS]
        latitude, which = 0, own_try(chain, number, tally[ROUND])
        if latitudes > 1:
            latitude, which = lifted_try(chain, number, latitudes)
        if which < 0 or (latitudes > 1 and latitude == 0):
            break
        mirrored = _set_ends(chain, wish, goal, memory, work)
        tally[counter] += 1
        if not wish.better and way_left(chain, wish.turning, work[GOAL, 0]) < NEAR:
            continue
        copy_row(work, GOAL, SOLVED)
        hurried = 0
        count = try_plan(chain, wish.d, which, latitude, _going(pace, wish, 0), work, draft)
        tried += 1 if latitude == 0 else LIFTED_TRY
        if count < 0 and out_of_time(work) and begun > LATE * MOST_SPENT:
            tally[counter] -= 1
            break
        if count < 0 and hurry and (latitude > 0 or which < DIRECT) and latitude <= HURRIED_LATITUDES:
            hurried = 1
            copy_row(work, SOLVED, GOAL)
            count, fall = _hurried_plan(chain, pace, wish, which, latitude, work, draft)
            tried += 0 if latitude == 0 else LIFTED_TRY
            near = fall <= (FALL if latitude == 0 else FALL_LIFTED) * (1 + tally[ROUND])
            best = count > 0 and _note(chain, wish, count, latitude, tally[counter] - 1, tally, draft)
            if not (near and best and wish.left < no_time):
                count = -1
        if count > 0 and _costs_less(chain, wish, ready, draft, count, memory) and _keep(count, memory, draft):
            tally[ATTEMPT], tally[HURRIED] = -1, hurried
            tally[ROUND] = 0 if latitude == 0 else tally[ROUND]
            tally[WHICH], tally[LATITUDE], tally[FOR_SHAPE] = which, latitude, 1 if wish.better and not mirrored else 0
            return True, tried
    return False, tried


@kernel
def _set_ends(chain: Chain, wish: Wish, goal: int, memory: Memory, work: Array) -> bool:
    """START at OUT, and GOAL at one of the goals; returns whether that is the mirror image, the last of them."""
    tally, rows = memory.tally, memory.rows
    for k in range(rows.shape[1]):
        work[START, k] = work[OUT, k]
        work[GOAL, k] = rows[TO if goal == 0 else OR_TO, k]
    if not tally[MIRRORED] or goal < tally[GOALS] - 1:
        return False
    copy_row(work, OUT, GOAL)
    mirror(chain, work, GOAL)
    work[GOAL, 0] -= math.copysign(math.pi, wish.turning)
    return True


@kernel
def _hurried_plan(
    chain: Chain,
    pace: Pace,
    wish: Wish,
    which: int,
    latitude: int,
    # changed
    work: Array,
    draft: Array,
) -> tuple[int, float]:
    """`try_plan` of a gaze that may fall behind, and the angle by which it does."""
    count = try_plan(chain, wish.d, which, latitude, _going(pace, wish, 1), work, draft)
    return count, falls_behind(chain, wish.turning, draft, count) * sine(polar(root_axis(chain), wish.d))


@kernel
def _note(
    chain: Chain,
    wish: Wish,
    count: int,
    latitude: int,
    attempt: int,
    # changed
    tally: Array,
    draft: Array,
) -> bool:
    """Note the try that made a draft, unless another was noted whose gaze is less far off; returns whether it is."""
    cost = int(1000.0 * math.degrees(plan_cost(chain, wish.turning, draft, count)[0]))
    if tally[NOTED] >= 0 and tally[NOTED_COST] <= cost:
        return False
    tally[NOTED], tally[NOTED_LIFTS], tally[NOTED_COST] = attempt, 1 if latitude > 0 else 0, cost
    return True


@kernel
def _noted_plan(
    chain: Chain, pace: Pace, wish: Wish, latitudes: int, memory: Memory, work: Array, draft: Array
) -> bool:
    """Take the try that was noted in hand when it is time to: when better ones than those in vain are unlikely."""
    tally = memory.tally
    if tally[COUNT] > 0 or tally[NOTED] < 0:
        return False
    least_lift = abs(0.5 * math.pi - polar(root_axis(chain), wish.d))
    lifted = tally[LIFT_ATTEMPT] >= DIRECT * tally[GOALS] or tally[NOTED_COST] < 1000.0 * math.degrees(least_lift)
    in_vain = lifted and tally[ATTEMPT] >= orderly(chain) * tally[GOALS]
    if wish.left > 1 and not (in_vain and wish.left < pace.ahead):
        return False
    number, goal = tally[NOTED] // tally[GOALS], tally[NOTED] % tally[GOALS]
    latitude, which = 0, own_try(chain, number, tally[ROUND])
    if tally[NOTED_LIFTS]:
        latitude, which = lifted_try(chain, number, latitudes)
    mirrored = _set_ends(chain, wish, goal, memory, work)
    tally[NOTED] = -1
    count, fall = _hurried_plan(chain, pace, wish, which, latitude, work, draft)
    if count < 0 or fall > FALL_NOW + FALL_LATER * tally[ASTRAY]:
        return False
    tally[ATTEMPT], tally[HURRIED] = -1, 1
    tally[WHICH], tally[LATITUDE], tally[FOR_SHAPE] = which, latitude, 1 if wish.better and not mirrored else 0
    return _keep(count, memory, draft)


@kernel
def begin(chain: Chain, pace: Pace, wish: Wish, ready: bool, memory: Memory) -> bool:
    """Begin the change if it is time; returns whether the plan in hand is the last chance, and begins a frame before.

    A plan knows of a target that turns, so that it may wait until the gaze is about to be lost; one for a target that
    nods must be through by then. A plan that lifts the gaze waits in any case, and is let go if there is time. One that
    will fall behind its target does so the more the longer it waits.
    """
    tally = memory.tally
    if tally[COUNT] == 0:
        return False
    lifts, nods = tally[LATITUDE] > 0, abs(wish.nodding) * tally[COUNT] > NODS
    soon = wish.left <= pace.ahead // 4 + (tally[COUNT] if nods and not lifts else 0)
    if not ready and lifts and (wish.left == NEVER or (nods and wish.left > pace.ahead)):
        tally[COUNT] = 0
        return False
    late = tally[HURRIED] and falls_behind(chain, wish.turning, memory.path, tally[COUNT]) > 0.0
    if not ready or soon or late or (wish.better and tally[FOR_SHAPE] and not lifts):
        tally[MODE], tally[AT], tally[STUCK], tally[ATTEMPT] = CHANGING, -1, 0, -1
    return not ready
