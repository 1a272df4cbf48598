"""Whether to leave a branch, and for which other one.

A change is wished for when another branch is better by `Pace.worse`, and it is prepared for when the target is about to
leave the branch the chain is on. A plan is then kept in hand (`expressive_ready`), and tracking goes on only while it
leads to a frame from which there still is one: so a chain is never dragged into a corner that it cannot leave.
"""

import math

import numpy as np

from poise.kernels.chains.chain import TWIST_JOINT, Chain, pointing, tip_rotation
from poise.kernels.gaze.expressive.aim import copy_row, mirror, swap_rows
from poise.kernels.gaze.expressive.detour import lifted, polar
from poise.kernels.gaze.expressive.hold_gaze import LOST
from poise.kernels.gaze.expressive.look_ahead import NEVER, Motion, expected_aim, frames_left, until_stopped, way_left
from poise.kernels.gaze.expressive.memory import (
    ATTEMPT,
    COUNT,
    FOR_SHAPE,
    GOALS,
    LATITUDE,
    LIFT_ATTEMPT,
    MIRRORED,
    NOTED,
    OR_TO,
    ROUND,
    TO,
    WAIT,
    Memory,
)
from poise.kernels.gaze.expressive.ready_plan import Wish, begin, face_now, look_for_plan, still_ready
from poise.kernels.gaze.expressive.solve import Manner, solve
from poise.kernels.gaze.expressive.surface import root_axis
from poise.kernels.gaze.expressive.track import Pace
from poise.kernels.gaze.expressive.workspace import GOAL, OUT, RAISED, SOLVED
from poise.kernels.gaze.measures import Aim, Scoring, posture_error, shape_error
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.vector import Vector

Array = np.ndarray

FAR = 0.4
"""Share of its range that the root of a goal should have before it, in the sense the target turns."""
FURTHER = 0.1
"""Share of its range by which it must have more than here, at least."""
WIDE = math.radians(270.0)
"""Range of a root whose mirror image is not at its other end [rad]."""
FURTHEST = math.radians(150.0)
"""Turn of the target beyond which nothing is expected of it [rad]."""


@kernel
def consider(
    chain: Chain,
    scoring: Scoring,
    manner: Manner,
    pace: Pace,
    aim: Aim,
    posture: Array,
    motion: Motion,
    off: float,
    # changed
    memory: Memory,
    work: Array,
    draft: Array,
) -> tuple[int, bool]:
    """Whether to leave the branch of OUT; plans for it go to `draft` (PATH_MOST, n + 1) and then into memory.

    Returns how many plans were tried, and whether the one in hand must be taken now, from the frame before, because
    there is none from OUT.
    """
    tally, rows = memory.tally, memory.rows
    d = pointing(aim.rotation)
    left = 0
    if off < LOST:
        left = frames_left(chain, d, motion, pace.rate, 3 * pace.ahead, OUT, work)
    solve(chain, scoring, manner, aim, posture, work, work[SOLVED])
    gain = _cost(chain, scoring, manner, work[OUT], posture) - _cost(chain, scoring, manner, work[SOLVED], posture)
    better = gain > pace.worse
    if left == NEVER and not better and until_stopped(chain, motion, OUT, work) > 2 * pace.ahead:
        tally[ATTEMPT], tally[COUNT], tally[ROUND] = -1, 0, 0
        return 0, False
    if off > LOST:
        r = root_axis(chain)
        d = lifted(r, pointing(tip_rotation(chain, work[OUT])), polar(r, d))
    wish = Wish(d, motion.turning, motion.nodding, left, better)
    tried = 0
    ready = False
    if tally[COUNT] > 0:
        ready = still_ready(chain, pace, wish, memory, work, draft)
        tried = 1
    if tally[WAIT] > 0:
        tally[WAIT] -= 1
    elif not ready or tally[LATITUDE] > 0 or (better and not tally[FOR_SHAPE]):
        if tally[ATTEMPT] < 0:
            tally[GOALS] = _choose(chain, scoring, manner, pace, aim, posture, motion, left, better, work)
            for k in range(posture.shape[0]):
                rows[TO, k] = work[GOAL, k]
                rows[OR_TO, k] = work[RAISED, k]
            # To the mirror image any way up and down leads as well. It has no better shape, and where the root turns by
            # far more than half a turn it is no better place to go on from.
            turns = chain.mirrors and abs(motion.turning) > 1e-9 and chain.upper[0] - chain.lower[0] < WIDE
            tally[MIRRORED] = 1 if turns and not (better and left == NEVER) else 0
            tally[GOALS] += tally[MIRRORED]
            tally[ATTEMPT], tally[LIFT_ATTEMPT], tally[NOTED] = 0, 0, -1
        if tally[GOALS] > 0:
            face_now(chain, d, rows, TO, work)
            face_now(chain, d, rows, OR_TO, work)
            found, more = look_for_plan(chain, pace, wish, ready, memory, work, draft)
            ready = ready or found
            tried += more
        else:
            tally[ATTEMPT] = -1
    return tried, begin(chain, pace, wish, ready, memory)


@kernel
def _cost(chain: Chain, scoring: Scoring, manner: Manner, angles: Array, posture: Array) -> float:
    """What `solve` minimises, as a part of the combined error."""
    shape = shape_error(chain, scoring, angles, posture)
    bent = posture_error(chain, scoring, angles, posture)
    return scoring.posture * ((1.0 - manner.blend) * shape + manner.blend * bent)


@kernel
def _choose(
    chain: Chain,
    scoring: Scoring,
    manner: Manner,
    pace: Pace,
    aim: Aim,
    posture: Array,
    motion: Motion,
    left: int,
    better: bool,
    work: Array,
) -> int:
    """GOAL: what `solve` finds now, or for where the target is about to be; RAISED: its mirror image.

    For a target that turns, one whose root has a long way to go, if there is; else one whose root has a longer way than
    here, but only if the target will be lost. Returns how many goals there are.
    """
    if better:
        return _goals(chain, 0.0, work)
    for times in range(2, 6):
        frames = float(times * pace.ahead)
        if times > 2 and abs(motion.turning) * frames > FURTHEST:
            break
        goals = _goals_in(chain, scoring, manner, aim, posture, motion, frames, work)
        if goals == 2 and way_left(chain, motion.turning, work[GOAL, 0]) < FAR:
            swap_rows(work, GOAL, RAISED)
        far = way_left(chain, motion.turning, work[GOAL, 0]) > FAR
        if far and (left == NEVER or _outlives(chain, pace, pointing(aim.rotation), motion, left, work)):
            return goals
    goals = _goals_in(chain, scoring, manner, aim, posture, motion, 2.0 * pace.ahead, work)
    further = way_left(chain, motion.turning, work[GOAL, 0]) - way_left(chain, motion.turning, work[OUT, 0])
    return goals if left < NEVER and further > FURTHER else 0


@kernel
def _outlives(chain: Chain, pace: Pace, d: Vector, motion: Motion, left: int, work: Array) -> bool:
    """Whether GOAL, faced to d, keeps the target for longer than the branch the chain is on."""
    face_now(chain, d, work, GOAL, work)
    return frames_left(chain, d, motion, pace.rate, 3 * pace.ahead, GOAL, work) > left + pace.ahead // 2


@kernel
def _goals_in(
    chain: Chain, scoring: Scoring, manner: Manner, aim: Aim, posture: Array, motion: Motion, frames: float, work: Array
) -> int:
    """`_goals` for where the target will be after so many frames."""
    there, turn = expected_aim(chain, aim, motion, frames)
    solve(chain, scoring, manner, there, posture, work, work[SOLVED])
    return _goals(chain, turn, work)


@kernel
def _goals(chain: Chain, turn: float, work: Array) -> int:
    """GOAL and RAISED: SOLVED and its mirror image, turned back by `turn`, first the one whose root is nearer."""
    goals = 1
    copy_row(work, SOLVED, GOAL)
    copy_row(work, SOLVED, RAISED)
    if chain.mirrors:
        mirror(chain, work, RAISED)
        work[RAISED, 0] += math.pi if work[RAISED, 0] < 0.0 else -math.pi
        if chain.lower[0] - 1e-9 <= work[RAISED, 0] <= chain.upper[0] + 1e-9:
            goals = 2
            if abs(work[RAISED, 0] - turn - work[OUT, 0]) < abs(work[GOAL, 0] - turn - work[OUT, 0]):
                swap_rows(work, GOAL, RAISED)
    if chain.role[0] == TWIST_JOINT:
        work[GOAL, 0] -= turn
        work[RAISED, 0] -= turn
    return goals
