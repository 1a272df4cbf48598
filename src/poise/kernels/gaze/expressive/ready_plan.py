"""Keep a plan ready: find it while there is time, update it in every frame, and execute it when needed.

A chain that tracks a target which is about to leave its branch is *ready* if a plan leads from the current posture to
another branch. The plan is computed again from every new frame by the attempt that found it, so that executing it is
exact. A frame from which no plan is found is rejected: the chain then executes the plan of the previous frame. So
nothing is lost by waiting, and a target that turns back causes no unnecessary motion.
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
from poise.kernels.gaze.expressive.plan import DIRECT, LATITUDES_TRIED, lifted_try, orderly, own_try, try_plan
from poise.kernels.gaze.expressive.surface import root_axis
from poise.kernels.gaze.expressive.track import Pace
from poise.kernels.gaze.expressive.tracking_state import CHANGING, TrackingState
from poise.kernels.gaze.expressive.workspace import (
    COMPLIANCE_ROW,
    CURRENT_ROW,
    FRAME_ROW,
    GOAL_ROW,
    PREVIOUS_ROW,
    REFERENCE_ROW,
    SOLVED_ROW,
    START_ROW,
    STEP_BUDGET_ROW,
    STEPS_TAKEN_ROW,
)
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.portable_trigonometry import sine
from poise.kernels.maths.vector import Vector

Array = np.ndarray

ASK_AGAIN = 2
"""Frames to wait before planning is tried again, after no plan was found."""
PLAN_RATE_SHARE = 0.97
"""Fraction of the rate that a plan uses, so that a chain that is behind can catch up."""
URGENT = 4
"""Factor on the number of attempts when the gaze is about to be lost and there is no plan."""
SOON = 2
"""Lifting the gaze is tried once the gaze will be lost within this many look-aheads."""
NODS = math.radians(3.0)
"""Nod of the target during a plan above which the plan must begin early [rad]."""
MOST_SPENT = 10_000
"""Largest number of steps of `hold` that planning may take in one frame, which bounds the time of a call."""
LATE = 0.5
"""An attempt that began after this fraction of the budget and was cut short is repeated in the next frame."""
LIFTED_TRY = 4
"""An attempt that lifts the gaze counts as this many attempts, since it takes more steps."""
LASTING = 3
"""Number of look-aheads for which a plan that lifts the gaze must follow the target from its end."""
FALL = math.radians(5.0)
"""Largest angle by which the gaze may fall behind; it grows each time all attempts have failed [rad]."""
FALL_LIFTED = math.radians(15.0)
"""Largest angle by which a lifted gaze may fall behind [rad]."""
FALL_NOW = math.radians(30.0)
"""Largest angle by which the gaze may fall behind if the target will be lost in the next frame [rad]."""
FALL_LATER = math.radians(1.0)
"""Increase of that angle for each frame since the target was lost [rad]."""
HURRIED_LATITUDES = 2
"""Number of other latitudes to which the gaze is lifted if it may also fall behind."""
SAME_LIFT = math.radians(0.5)
"""Lifts that differ by less than this count as equal [rad]."""
LESS = 0.9
"""A new plan replaces a ready one with the same lift if its sum of lifts is below this fraction."""
MORE = 1.2
"""A new plan replaces one that is no longer ready if its sum of lifts is below this multiple."""
MIN_GOAL_RANGE = 0.25
"""Fraction of its range that the root of a goal must have ahead of it."""


class Wish(NamedTuple):
    """Requirements on a plan."""

    d: Vector
    """Direction that the plan must face."""
    turning: float
    """Turn of the target per frame [rad]."""
    nodding: float
    """Change of the target's polar angle per frame [rad]."""
    left: int
    """Frames until the current branch loses the target."""
    better: bool
    """Whether another branch has the better shape."""


@kernel
def face_now(chain: Chain, d: Vector, goal: Array, work: Array) -> None:
    """Turn `goal`, made for an earlier or a predicted target, to face d; entries beyond the joints stay."""
    for k in range(work.shape[1]):
        work[PREVIOUS_ROW, k] = goal[k]
        work[CURRENT_ROW, k] = goal[k]
        work[REFERENCE_ROW, k] = goal[k]
        work[COMPLIANCE_ROW, k] = 1.0
    box_round(chain, work, PREVIOUS_ROW, math.pi)
    free_root(chain, work, PREVIOUS_ROW, math.pi)
    hold(chain, d, 20, work, CURRENT_ROW)
    for k in range(work.shape[1]):
        goal[k] = work[CURRENT_ROW, k]


@kernel
def still_ready(chain: Chain, pace: Pace, wish: Wish, memory: TrackingState, work: Array, draft: Array) -> bool:
    """Update the current plan to start at FRAME_ROW, by the attempt that found it; returns whether that succeeds."""
    path = memory.path
    last = memory.way_points - 1
    face_now(chain, wish.d, path[last], work)
    if not memory.for_shape and way_left(chain, wish.turning, path[last, 0]) < MIN_GOAL_RANGE:
        return False
    work[STEP_BUDGET_ROW, 0] = math.inf
    for k in range(work.shape[1]):
        work[START_ROW, k] = work[FRAME_ROW, k]
        work[GOAL_ROW, k] = path[last, k]
    going = _going(pace, wish, memory.hurried)
    return _keep(try_plan(chain, wish.d, memory.plan_attempt, memory.plan_latitude, going, work, draft), memory, draft)


@kernel
def _keep(count: int, memory: TrackingState, draft: Array) -> bool:
    """Copy `count` way-points of a draft to the current plan; returns whether there are any."""
    path = memory.path
    for i in range(count):
        for k in range(path.shape[1]):
            path[i, k] = draft[i, k]
    if count > 0:
        memory.way_points = count
    return count > 0


@kernel
def _going(pace: Pace, wish: Wish, hurried: int) -> Going:
    """Conditions of a plan: it follows the target, or falls behind it if `hurried`."""
    return Going(PLAN_RATE_SHARE * pace.rate, wish.turning, hurried, LASTING * pace.ahead)


@kernel
def _costs_less(chain: Chain, wish: Wish, ready: bool, draft: Array, count: int, memory: TrackingState) -> bool:
    """Whether a draft is better than the current plan: it lifts the gaze less far, or for a shorter time.

    A current plan that is not `ready` is replaced by any draft that lifts the gaze no further and hardly longer.
    """
    if memory.way_points == 0:
        return True
    most, total = plan_cost(chain, wish.turning, draft, count)
    most_in_hand, total_in_hand = plan_cost(chain, wish.turning, memory.path, memory.way_points)
    if most > most_in_hand - SAME_LIFT and ready:
        return most < most_in_hand + SAME_LIFT and total < LESS * total_in_hand
    return most < most_in_hand + SAME_LIFT and total <= MORE * total_in_hand


@kernel
def look_for_plan(
    chain: Chain, pace: Pace, wish: Wish, ready: bool, memory: TrackingState, work: Array, draft: Array
) -> tuple[bool, int]:
    """Make the next attempts to plan from FRAME_ROW; returns whether one succeeded, and how many were made.

    The gaze is lifted only if it would be lost otherwise, never for a better shape; for a target above the horizon only
    if there is no time left or all other attempts have failed once. Half of the attempts then lift the gaze, more for a
    target below the horizon. While the current plan is `ready`, only a plan that lifts the gaze less replaces it.
    """
    work[STEPS_TAKEN_ROW, 0], work[STEP_BUDGET_ROW, 0] = 0.0, MOST_SPENT
    below = polar(root_axis(chain), wish.d) > 0.5 * math.pi
    may_lift = wish.left <= SOON * pace.ahead and (below or memory.failed_rounds > 0 or wish.left <= pace.ahead)
    latitudes = LATITUDES_TRIED if may_lift else 1
    tries = pace.tries
    if memory.way_points == 0 and wish.left <= SOON * pace.ahead:
        tries *= URGENT if wish.left < pace.ahead // 4 else 2
    own = own_try(chain, memory.attempt // memory.goals, memory.failed_rounds) >= 0
    lifts = lifted_try(chain, memory.lift_attempt // memory.goals, latitudes)[0] > 0
    if not own and not lifts:
        memory.attempt, memory.wait = -1, ASK_AGAIN
        memory.failed_rounds += 1
        return False, 0
    found, tried = False, 0
    if own:
        share = 1 if not lifts else 4 if below and memory.attempt > DIRECT * memory.goals else 2
        found, tried = _try_some(chain, pace, wish, ready, tries // share, 1, memory, work, draft)
    if lifts and not found:
        found, more = _try_some(chain, pace, wish, ready, tries - tried, latitudes, memory, work, draft)
        tried += more
    work[STEP_BUDGET_ROW, 0] = math.inf
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
    memory: TrackingState,
    work: Array,
    draft: Array,
) -> tuple[bool, int]:
    """Make up to `tries` of the next attempts; they lift the gaze if `latitudes` exceeds 1."""
    no_time = pace.ahead // 4 if latitudes == 1 else pace.ahead
    hurry = memory.way_points == 0 and wish.left <= SOON * pace.ahead and abs(wish.turning) > 1e-9
    tried = 0
    while tried < tries and not out_of_time(work):
        begun = work[STEPS_TAKEN_ROW, 0]
        attempt = memory.attempt if latitudes == 1 else memory.lift_attempt
        number, goal = attempt // memory.goals, attempt % memory.goals
        latitude, which = 0, own_try(chain, number, memory.failed_rounds)
        if latitudes > 1:
            latitude, which = lifted_try(chain, number, latitudes)
        if which < 0 or (latitudes > 1 and latitude == 0):
            break
        mirrored = _set_ends(chain, wish, goal, memory, work)
        _count_attempt(memory, latitudes, attempt + 1)
        if not wish.better and way_left(chain, wish.turning, work[GOAL_ROW, 0]) < MIN_GOAL_RANGE:
            continue
        copy_row(work, GOAL_ROW, SOLVED_ROW)
        hurried = 0
        count = try_plan(chain, wish.d, which, latitude, _going(pace, wish, 0), work, draft)
        tried += 1 if latitude == 0 else LIFTED_TRY
        if count < 0 and out_of_time(work) and begun > LATE * MOST_SPENT:
            _count_attempt(memory, latitudes, attempt)
            break
        if count < 0 and hurry and (latitude > 0 or which < DIRECT) and latitude <= HURRIED_LATITUDES:
            hurried = 1
            copy_row(work, SOLVED_ROW, GOAL_ROW)
            count, fall = _hurried_plan(chain, pace, wish, which, latitude, work, draft)
            tried += 0 if latitude == 0 else LIFTED_TRY
            near = fall <= (FALL if latitude == 0 else FALL_LIFTED) * (1 + memory.failed_rounds)
            best = count > 0 and _note(chain, wish, count, latitude, attempt, memory, draft)
            if not (near and best and wish.left < no_time):
                count = -1
        if count > 0 and _costs_less(chain, wish, ready, draft, count, memory) and _keep(count, memory, draft):
            memory.attempt, memory.hurried = -1, hurried
            memory.failed_rounds = 0 if latitude == 0 else memory.failed_rounds
            memory.plan_attempt, memory.plan_latitude, memory.for_shape = (
                which,
                latitude,
                1 if wish.better and not mirrored else 0,
            )
            return True, tried
    return False, tried


@kernel
def _count_attempt(memory: TrackingState, latitudes: int, attempt: int) -> None:
    """Set the next attempt of those that lift the gaze, which have several `latitudes`, or of the others."""
    if latitudes == 1:
        memory.attempt = attempt
    else:
        memory.lift_attempt = attempt


@kernel
def _set_ends(chain: Chain, wish: Wish, goal: int, memory: TrackingState, work: Array) -> bool:
    """Set START_ROW to FRAME_ROW and GOAL_ROW to goal number `goal`; returns whether that is the mirror image."""
    for k in range(work.shape[1]):
        work[START_ROW, k] = work[FRAME_ROW, k]
        work[GOAL_ROW, k] = memory.goal[k] if goal == 0 else memory.other_goal[k]
    if not memory.mirrored or goal < memory.goals - 1:
        return False
    copy_row(work, FRAME_ROW, GOAL_ROW)
    mirror(chain, work, GOAL_ROW)
    work[GOAL_ROW, 0] -= math.copysign(math.pi, wish.turning)
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
    """`try_plan` for a gaze that may fall behind; returns the way-points and the angle by which it does [rad]."""
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
    memory: TrackingState,
    draft: Array,
) -> bool:
    """Store an attempt as the best rejected one unless another has a smaller error; returns whether it was stored."""
    cost = int(1000.0 * math.degrees(plan_cost(chain, wish.turning, draft, count)[0]))
    if memory.noted >= 0 and memory.noted_cost <= cost:
        return False
    memory.noted, memory.noted_lifts, memory.noted_cost = attempt, 1 if latitude > 0 else 0, cost
    return True


@kernel
def _noted_plan(
    chain: Chain, pace: Pace, wish: Wish, latitudes: int, memory: TrackingState, work: Array, draft: Array
) -> bool:
    """Make the stored attempt the current plan if there is no time left, or no better attempt is likely."""
    if memory.way_points > 0 or memory.noted < 0:
        return False
    least_lift = abs(0.5 * math.pi - polar(root_axis(chain), wish.d))
    lifted = memory.lift_attempt >= DIRECT * memory.goals or memory.noted_cost < 1000.0 * math.degrees(least_lift)
    in_vain = lifted and memory.attempt >= orderly(chain) * memory.goals
    if wish.left > 1 and not (in_vain and wish.left < pace.ahead):
        return False
    number, goal = memory.noted // memory.goals, memory.noted % memory.goals
    latitude, which = 0, own_try(chain, number, memory.failed_rounds)
    if memory.noted_lifts:
        latitude, which = lifted_try(chain, number, latitudes)
    mirrored = _set_ends(chain, wish, goal, memory, work)
    memory.noted = -1
    count, fall = _hurried_plan(chain, pace, wish, which, latitude, work, draft)
    if count < 0 or fall > FALL_NOW + FALL_LATER * memory.lost_frames:
        return False
    memory.attempt, memory.hurried = -1, 1
    memory.plan_attempt, memory.plan_latitude, memory.for_shape = (
        which,
        latitude,
        1 if wish.better and not mirrored else 0,
    )
    return _keep(count, memory, draft)


@kernel
def begin(chain: Chain, pace: Pace, wish: Wish, ready: bool, memory: TrackingState) -> bool:
    """Start executing the current plan if it is time; returns whether it must start at the previous frame.

    A plan takes a turning target into account, so it may wait until the gaze is about to be lost; a plan for a nodding
    target must be finished by then. A plan that lifts the gaze always waits, and is dropped if there is time. A plan
    that falls behind its target falls behind further the longer it waits.
    """
    if memory.way_points == 0:
        return False
    lifts, nods = memory.plan_latitude > 0, abs(wish.nodding) * memory.way_points > NODS
    soon = wish.left <= pace.ahead // 4 + (memory.way_points if nods and not lifts else 0)
    if not ready and lifts and (wish.left == NEVER or (nods and wish.left > pace.ahead)):
        memory.way_points = 0
        return False
    late = memory.hurried and falls_behind(chain, wish.turning, memory.path, memory.way_points) > 0.0
    if not ready or soon or late or (wish.better and memory.for_shape and not lifts):
        memory.mode, memory.way_point, memory.stuck_frames, memory.attempt = CHANGING, -1, 0, -1
    return not ready
