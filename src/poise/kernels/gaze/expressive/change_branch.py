"""Decide whether the chain leaves its branch of solutions, and to which other branch it goes.

A change is wanted when another branch has a combined error that is smaller by `Pace.worse`. It is prepared when the
target is about to leave the range of the current branch. A plan is then kept ready
(`poise.kernels.gaze.expressive.ready_plan`), and tracking continues only while the next frame also has a plan. So the
chain never enters a region of its posture space that it cannot leave.
"""

import math

import numpy as np

from poise.kernels.chains.chain import TWIST_JOINT, Chain, pointing, tip_rotation
from poise.kernels.gaze.expressive.aim import copy_row, mirror, swap_rows
from poise.kernels.gaze.expressive.detour import lifted, polar
from poise.kernels.gaze.expressive.hold_gaze import LOST
from poise.kernels.gaze.expressive.look_ahead import NEVER, Motion, expected_aim, frames_left, until_stopped, way_left
from poise.kernels.gaze.expressive.ready_plan import Wish, begin, face_now, look_for_plan, still_ready
from poise.kernels.gaze.expressive.solve import SearchSettings, solve
from poise.kernels.gaze.expressive.surface import root_axis
from poise.kernels.gaze.expressive.track import Pace
from poise.kernels.gaze.expressive.tracking_state import TrackingState
from poise.kernels.gaze.expressive.workspace import FRAME_ROW, GOAL_ROW, RAISED_GOAL_ROW, SOLVED_ROW
from poise.kernels.gaze.measures import Aim, Scoring, posture_error, shape_error
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.vector import Vector

Array = np.ndarray

AMPLE_ROOT_RANGE = 0.4
"""Fraction of its range that the root of a goal should still have ahead of it, in the direction in which the target
turns."""
FURTHER = 0.1
"""Fraction of its range by which the root of a goal must have more ahead of it than the root has now."""
WIDE_ROOT_RANGE = math.radians(270.0)
"""Range of the root above which the mirror image of a posture is no better goal [rad]."""
FURTHEST = math.radians(150.0)
"""Turn of the target beyond which no prediction is made [rad]."""


@kernel
def consider(
    chain: Chain,
    scoring: Scoring,
    search: SearchSettings,
    pace: Pace,
    aim: Aim,
    posture: Array,
    motion: Motion,
    off: float,
    # changed
    memory: TrackingState,
    work: Array,
    draft: Array,
) -> tuple[int, bool]:
    """Decide whether to leave the branch of FRAME_ROW, and update the plan in `memory`.

    `draft` (PATH_MOST, n + 1) is a scratch array for plans. Returns the number of plans tried, and whether the current
    plan must be executed now, from the previous frame, because no plan starts at FRAME_ROW.
    """
    d = pointing(aim.rotation)
    left = 0
    if off < LOST:
        left = frames_left(chain, d, motion, pace.rate, 3 * pace.ahead, FRAME_ROW, work)
    solve(chain, scoring, search, aim, posture, work, work[SOLVED_ROW])
    gain = _cost(chain, scoring, search, work[FRAME_ROW], posture) - _cost(
        chain, scoring, search, work[SOLVED_ROW], posture
    )
    better = gain > pace.worse
    if left == NEVER and not better and until_stopped(chain, motion, FRAME_ROW, work) > 2 * pace.ahead:
        memory.attempt, memory.way_points, memory.failed_rounds = -1, 0, 0
        return 0, False
    if off > LOST:
        r = root_axis(chain)
        d = lifted(r, pointing(tip_rotation(chain, work[FRAME_ROW])), polar(r, d))
    wish = Wish(d, motion.turning, motion.nodding, left, better)
    tried = 0
    ready = False
    if memory.way_points > 0:
        ready = still_ready(chain, pace, wish, memory, work, draft)
        tried = 1
    if memory.wait > 0:
        memory.wait -= 1
    elif not ready or memory.plan_latitude > 0 or (better and not memory.for_shape):
        if memory.attempt < 0:
            memory.goals = _choose(chain, scoring, search, pace, aim, posture, motion, left, better, work)
            for k in range(posture.shape[0]):
                memory.goal[k] = work[GOAL_ROW, k]
                memory.other_goal[k] = work[RAISED_GOAL_ROW, k]
            # Any path that lifts and lowers the gaze also leads to the mirror image. The mirror image has no better
            # shape, and if the root can turn by far more than half a turn, it is no better goal.
            turns = chain.mirrors and abs(motion.turning) > 1e-9 and chain.upper[0] - chain.lower[0] < WIDE_ROOT_RANGE
            memory.mirrored = 1 if turns and not (better and left == NEVER) else 0
            memory.goals += memory.mirrored
            memory.attempt, memory.lift_attempt, memory.noted = 0, 0, -1
        if memory.goals > 0:
            face_now(chain, d, memory.goal, work)
            face_now(chain, d, memory.other_goal, work)
            found, more = look_for_plan(chain, pace, wish, ready, memory, work, draft)
            ready = ready or found
            tried += more
        else:
            memory.attempt = -1
    return tried, begin(chain, pace, wish, ready, memory)


@kernel
def _cost(chain: Chain, scoring: Scoring, search: SearchSettings, angles: Array, posture: Array) -> float:
    """The cost that `solve` minimises, weighted as in the combined error."""
    shape = shape_error(chain, scoring, angles, posture)
    bent = posture_error(chain, scoring, angles, posture)
    return scoring.posture * ((1.0 - search.blend) * shape + search.blend * bent)


@kernel
def _choose(
    chain: Chain,
    scoring: Scoring,
    search: SearchSettings,
    pace: Pace,
    aim: Aim,
    posture: Array,
    motion: Motion,
    left: int,
    better: bool,
    work: Array,
) -> int:
    """Choose the goals of a plan; returns their number.

    GOAL_ROW receives the solution for the current target, or for a predicted one, and RAISED_GOAL_ROW its mirror image.
    For a turning target a goal is preferred whose root has much of its range ahead; failing that, one whose root has
    more ahead than now, but only if the target would be lost otherwise.
    """
    if better:
        return _goals(chain, 0.0, work)
    for times in range(2, 6):
        frames = float(times * pace.ahead)
        if times > 2 and abs(motion.turning) * frames > FURTHEST:
            break
        goals = _goals_in(chain, scoring, search, aim, posture, motion, frames, work)
        if goals == 2 and way_left(chain, motion.turning, work[GOAL_ROW, 0]) < AMPLE_ROOT_RANGE:
            swap_rows(work, GOAL_ROW, RAISED_GOAL_ROW)
        far = way_left(chain, motion.turning, work[GOAL_ROW, 0]) > AMPLE_ROOT_RANGE
        if far and (left == NEVER or _outlives(chain, pace, pointing(aim.rotation), motion, left, work)):
            return goals
    goals = _goals_in(chain, scoring, search, aim, posture, motion, 2.0 * pace.ahead, work)
    further = way_left(chain, motion.turning, work[GOAL_ROW, 0]) - way_left(chain, motion.turning, work[FRAME_ROW, 0])
    return goals if left < NEVER and further > FURTHER else 0


@kernel
def _outlives(chain: Chain, pace: Pace, d: Vector, motion: Motion, left: int, work: Array) -> bool:
    """Whether GOAL_ROW, turned to d, can follow the target for longer than the current branch."""
    face_now(chain, d, work[GOAL_ROW], work)
    return frames_left(chain, d, motion, pace.rate, 3 * pace.ahead, GOAL_ROW, work) > left + pace.ahead // 2


@kernel
def _goals_in(
    chain: Chain,
    scoring: Scoring,
    search: SearchSettings,
    aim: Aim,
    posture: Array,
    motion: Motion,
    frames: float,
    work: Array,
) -> int:
    """`_goals` for the target predicted after `frames` frames."""
    there, turn = expected_aim(chain, aim, motion, frames)
    solve(chain, scoring, search, there, posture, work, work[SOLVED_ROW])
    return _goals(chain, turn, work)


@kernel
def _goals(chain: Chain, turn: float, work: Array) -> int:
    """Write SOLVED_ROW and its mirror image, turned back by `turn`, to GOAL_ROW and RAISED_GOAL_ROW; returns how many.

    The one whose root is nearer to that of FRAME_ROW comes first. The mirror image counts only if it is within limits.
    """
    goals = 1
    copy_row(work, SOLVED_ROW, GOAL_ROW)
    copy_row(work, SOLVED_ROW, RAISED_GOAL_ROW)
    if chain.mirrors:
        mirror(chain, work, RAISED_GOAL_ROW)
        work[RAISED_GOAL_ROW, 0] += math.pi if work[RAISED_GOAL_ROW, 0] < 0.0 else -math.pi
        if chain.lower[0] - 1e-9 <= work[RAISED_GOAL_ROW, 0] <= chain.upper[0] + 1e-9:
            goals = 2
            if abs(work[RAISED_GOAL_ROW, 0] - turn - work[FRAME_ROW, 0]) < abs(
                work[GOAL_ROW, 0] - turn - work[FRAME_ROW, 0]
            ):
                swap_rows(work, GOAL_ROW, RAISED_GOAL_ROW)
    if chain.role[0] == TWIST_JOINT:
        work[GOAL_ROW, 0] -= turn
        work[RAISED_GOAL_ROW, 0] -= turn
    return goals
