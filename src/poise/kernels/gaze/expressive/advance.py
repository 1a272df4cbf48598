"""One frame of a motion that continues the previous frame: gaze, shape and time weighed together.

**The problem.** A frame costs c = shape error + w · direction error, with the weight w of `Pace.gaze`. The sum over all
frames is to be small, and no joint may turn by more than a rate per frame. The best posture of a frame alone is that of
a single solve (`poise.kernels.gaze.expressive.solve`). As the target moves it jumps from one *branch* to another, that
is to another of several separate families of postures that face the target, such as a shape and its mirror image with
the root half a turn away. A jump takes time: half a turn at 5° per frame takes 36 frames.

**The state** is the chain's angles and its *goal*, a posture that faces the target, and the way to it (`approach`).
Every frame moves the goal to the best posture nearby that faces the new target (`follow`), so the goal stays on its
branch, and then moves the chain by one frame along its way to the goal. A chain that is at its goal follows it.

**The decision.** Staying on the goal's branch for a horizon of H frames loses

    L = Σ (c_goal - c_solve)          over the next H frames

against the single solves of the same frames. The target is predicted for the first frames, as one that turns on at its
speed, and L is sampled there; from then on the last sample counts. Changing to the posture of the single solve, or to
its mirror image, costs

    C = Σ (c_way - c_solve)           over the frames of the way

which a rollout of the way finds. Three ways are tried: holding the gaze and waiting for it, holding it as far as
possible on time, and straight. If C < L for one of them, the cheapest becomes the new goal. Every change costs
something, and that is the hysteresis: the chain does not change back and forth between branches that are equally good.
A chain that is on its way to a goal leaves it for another only if that saves a good part of the rest of the way.

**Rest.** When target and posture stand still, a way is not left until its end. When they have rested for half of H,
they are expected to rest on, so H is infinite: any loss above AS_GOOD leads to a change, and so does any gaze that is
off by more than that of the single solve. So a target at rest that a single solve faces is faced, in a posture as good,
after H / 2 and the time of one way, which every frame shortens. Then the goal is as good as the single solve; `follow`
changes a goal only if that reduces its cost, so that it comes to rest, and with it the chain. No decision depends on
the clock: the same inputs give the same frames.
"""

import math

import numpy as np

from poise.kernels.chains.chain import TWIST_JOINT, Chain, pointing
from poise.kernels.gaze.expressive.aim import copy_row, mirror, swap_rows, turn_tip_by
from poise.kernels.gaze.expressive.approach import (
    Pace,
    Way,
    approach,
    distance,
    frame_cost,
    frames_to,
    gaze_off,
    rollout,
)
from poise.kernels.gaze.expressive.bounded_step import turn_between
from poise.kernels.gaze.expressive.descend import FACING_TOLERANCE, face, settle
from poise.kernels.gaze.expressive.hold_gaze import LOST, moving
from poise.kernels.gaze.expressive.nearest_shape import shape_cost, store_posture_terms
from poise.kernels.gaze.expressive.solve import SearchSettings, solve
from poise.kernels.gaze.expressive.tracking_state import FOR_GAZE, FOR_SHAPE, TRACKING, TrackingState
from poise.kernels.gaze.expressive.workspace import (
    AHEAD_ROW,
    CURRENT_ROW,
    FRAME_ROW,
    GOAL_ROW,
    KEPT_ROW,
    MIRRORED_ROW,
    PREVIOUS_ROW,
    REFERENCE_ROW,
    SOLVED_ROW,
)
from poise.kernels.gaze.measures import DIRECTED, Aim, Scoring
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.portable_trigonometry import turn_about
from poise.kernels.maths.quaternion import multiply
from poise.kernels.maths.vector import Vector, add, length, scale

Array = np.ndarray

LOOKS, FRAMES_PER_LOOK = 3, 1.0 / 9.0
"""Number of predictions of the target, and the frames between them as a fraction of the horizon."""
FARTHEST_LOOK = math.radians(60.0)
"""Largest turn of the target that is predicted [rad]."""
MIN_LOSS = 0.011
"""Loss per frame of the horizon below which no change is considered: hardly any change costs less."""
AS_GOOD = 0.003
"""Difference in cost per frame up to which a posture is as good as a single solve, when the target rests."""
WORTH_LEAVING = 0.7
"""A chain on its way to a goal changes to another one that costs less than this fraction of the rest of the way."""
SPARE = 0.5
"""Number of frames for which a way may wait for the gaze, as a fraction of its frames."""
LONGEST_WAIT = 0.8
"""A way to a target that does not move does not wait longer than this fraction of the horizon, all frames included."""
FRAMES_BETWEEN = 2
"""Frames between two times that another goal is considered."""
RESTED = 0.5
"""Frames at rest after which a target is expected to stay at rest, as a fraction of the horizon."""
STILL = math.radians(0.02)
"""A target that turns by less than this per frame rests [rad]."""
JUMP = math.radians(10.0)
"""A target that turns by more than this in a frame has jumped, which says nothing of its motion [rad]."""
TURN_MEMORY = 0.7
"""Share of its last value in the average turn of the target."""
FACE_STEPS, SETTLE_STEPS = 12, 2
"""Number of steps by which a goal follows its target, and moves to a better shape, in a frame."""
LIMIT_ROUNDING = 1e-9
"""Rounding error allowed when the root of a mirror image is compared with its limits [rad]."""
OUT_OF_SIGHT = math.radians(1.0)
"""A goal that loses its target by more than this is left for the gaze rather than for the shape [rad]."""


@kernel
def advance(
    chain: Chain,
    scoring: Scoring,
    search: SearchSettings,
    pace: Pace,
    aim: Aim,
    posture: Array,
    # changed
    memory: TrackingState,
    work: Array,
) -> int:
    """Advance the angles in `memory` by one frame towards `aim` and `posture`; returns the number of ways tried."""
    n = posture.shape[0]
    jumped = _observe(pointing(aim.rotation), posture, memory)
    # A twister at the tip sets the roll by itself, at its own rate.
    goal_aim = aim if moving(chain) == n else Aim(aim.rotation, DIRECTED)
    d = pointing(aim.rotation)
    for k in range(n):
        work[GOAL_ROW, k] = memory.goal[k]
        work[PREVIOUS_ROW, k] = memory.angles[k]
    follow(chain, scoring, search, goal_aim, posture, GOAL_ROW, work)
    frames = frames_to(chain, pace.rate, work, PREVIOUS_ROW, GOAL_ROW)
    if frames > memory.left:
        memory.spare = _spare(frames, pace.horizon, memory)
    memory.left = max(memory.left - 1, frames)
    tried = 0
    memory.wait -= 1
    if jumped or (memory.wait <= 0 and (memory.resting == 0 or memory.left <= 1)):
        tried = _consider(chain, scoring, search, pace, goal_aim, posture, memory, work)
    if jumped:
        memory.reason = 0
    copy_row(work, PREVIOUS_ROW, FRAME_ROW)
    if distance(chain, work, PREVIOUS_ROW, GOAL_ROW) <= pace.rate:
        copy_row(work, GOAL_ROW, FRAME_ROW)
        memory.left, memory.held, memory.reason = 1, 1, 0
    else:
        way = Way(memory.left, memory.spare, memory.held)
        way = approach(chain, scoring, d, pace.rate, way, work, FRAME_ROW, GOAL_ROW)
        memory.left, memory.spare = way.left + 1, way.spare
    turn_tip_by(chain, scoring, aim, pace.rate, work, FRAME_ROW)
    for k in range(n):
        memory.goal[k], memory.angles[k] = work[GOAL_ROW, k], work[FRAME_ROW, k]
    memory.off = gaze_off(chain, d, memory.angles)
    return tried


@kernel
def _observe(d: Vector, posture: Array, memory: TrackingState) -> bool:
    """Store the target's direction d and its turn, and count the frames at rest; returns whether a new motion begins.

    A motion begins in the first frame, and after a target or a posture that jumped.
    """
    n = posture.shape[0]
    fresh = memory.mode != TRACKING
    if fresh:
        memory.mode = TRACKING
        memory.left, memory.spare, memory.held, memory.reason, memory.wait = 1, 0, 1, 0, 0
        for k in range(n):
            memory.goal[k], memory.posture[k] = memory.angles[k], posture[k]
        memory.direction[0], memory.direction[1], memory.direction[2] = d.x, d.y, d.z
        memory.turn[0] = memory.turn[1] = memory.turn[2] = 0.0
    turn = turn_between(Vector(memory.direction[0], memory.direction[1], memory.direction[2]), d)
    still, jumped = length(turn) < STILL, length(turn) > JUMP
    if jumped:
        turn = Vector(0.0, 0.0, 0.0)
    average = Vector(memory.turn[0], memory.turn[1], memory.turn[2])
    average = add(scale(average, TURN_MEMORY), scale(turn, 1.0 - TURN_MEMORY))
    memory.turn[0], memory.turn[1], memory.turn[2] = average.x, average.y, average.z
    memory.direction[0], memory.direction[1], memory.direction[2] = d.x, d.y, d.z
    for k in range(n):
        change = abs(posture[k] - memory.posture[k])
        still, jumped = still and change < STILL, jumped or change > JUMP
        memory.posture[k] = posture[k]
    memory.resting = memory.resting + 1 if still and not fresh else 0
    if fresh or jumped:
        memory.nearer = 0
        return True
    return False


@kernel
def _spare(frames: int, horizon: int, memory: TrackingState) -> int:
    """Number of frames for which a way of so many frames may wait for the gaze."""
    spare = int(SPARE * frames)
    if length(Vector(memory.turn[0], memory.turn[1], memory.turn[2])) > STILL:
        return spare
    return max(0, min(spare, int(LONGEST_WAIT * horizon) - frames))


@kernel
def follow(
    chain: Chain, scoring: Scoring, search: SearchSettings, aim: Aim, posture: Array, row: int, work: Array
) -> None:
    """Bring `work[row]` to the aim, and from there to the best shape nearby, with the signs of its bends.

    A step of `settle` neglects the curvature of the constraint, so it may go too far and back for many frames. The
    middle of a step is therefore tried, too.
    """
    n = posture.shape[0]
    negated = nearer_sign(chain, scoring, posture, work, row)
    for k in range(n):
        work[REFERENCE_ROW, k] = -posture[k] if negated and chain.role[k] != TWIST_JOINT else posture[k]
    store_posture_terms(chain, work[REFERENCE_ROW], work)
    if face(chain, scoring, aim, work, row, FACE_STEPS) > FACING_TOLERANCE:
        return
    for _ in range(SETTLE_STEPS):
        copy_row(work, row, KEPT_ROW)
        cost, _ = settle(chain, scoring, aim, search.blend, work[REFERENCE_ROW], 1, work, row)
        for k in range(n):
            work[KEPT_ROW, k] = 0.5 * (work[KEPT_ROW, k] + work[row, k])
        faced = face(chain, scoring, aim, work, KEPT_ROW, FACE_STEPS) < FACING_TOLERANCE
        if faced and shape_cost(chain, scoring, search.blend, work, KEPT_ROW) < cost:
            copy_row(work, KEPT_ROW, row)


@kernel
def nearer_sign(chain: Chain, scoring: Scoring, posture: Array, work: Array, row: int) -> int:
    """1 if `work[row]` is nearer to the posture with all swings negated, else 0."""
    if not chain.mirrors:
        return 0
    copy_row(work, row, CURRENT_ROW)
    store_posture_terms(chain, posture, work)
    same = shape_cost(chain, scoring, 0.0, work, CURRENT_ROW)
    mirror(chain, work, CURRENT_ROW)
    return 1 if shape_cost(chain, scoring, 0.0, work, CURRENT_ROW) < same else 0


@kernel
def _ahead(aim: Aim, turn: Vector, frames: int) -> Aim:
    """The aim predicted after some frames, turned by the rotation vector `turn` in each."""
    size = length(turn)
    if size * frames < STILL:
        return aim
    turned = turn_about(scale(turn, 1.0 / size), min(FARTHEST_LOOK, size * frames))
    return Aim(multiply(turned, aim.rotation), aim.kind)


@kernel
def _loss_of_staying(
    chain: Chain,
    scoring: Scoring,
    search: SearchSettings,
    pace: Pace,
    aim: Aim,
    turn: Vector,
    posture: Array,
    work: Array,
) -> tuple[float, float]:
    """L of the module docstring, and the largest direction error of the goal in the predicted frames [rad].

    SOLVED_ROW receives the single solve of the current frame.
    """
    copy_row(work, GOAL_ROW, AHEAD_ROW)
    looks, frames = LOOKS if length(turn) > STILL else 0, int(FRAMES_PER_LOOK * pace.horizon)
    total, off = 0.0, 0.0
    for look in range(looks + 1):
        there = _ahead(aim, turn, look * frames)
        d = pointing(there.rotation)
        if look > 0:
            follow(chain, scoring, search, there, posture, AHEAD_ROW, work)
        solve(chain, scoring, search, there, posture, work, work[SOLVED_ROW])
        loss = frame_cost(chain, scoring, pace, d, posture, work[AHEAD_ROW]) - frame_cost(
            chain, scoring, pace, d, posture, work[SOLVED_ROW]
        )
        off = max(off, gaze_off(chain, d, work[AHEAD_ROW]))
        total += max(0.0, loss) * (frames if look < looks else pace.horizon - looks * frames)
    return total, off


@kernel
def _consider(
    chain: Chain,
    scoring: Scoring,
    search: SearchSettings,
    pace: Pace,
    aim: Aim,
    posture: Array,
    # changed
    memory: TrackingState,
    work: Array,
) -> int:
    """Change GOAL_ROW and the way in `memory` if that costs less than staying; returns the number of ways tried."""
    d = pointing(aim.rotation)
    turn = Vector(memory.turn[0], memory.turn[1], memory.turn[2])
    memory.wait = FRAMES_BETWEEN
    least, off = _loss_of_staying(chain, scoring, search, pace, aim, turn, posture, work)
    if memory.resting > RESTED * pace.horizon:
        if least < AS_GOOD * pace.horizon and off < gaze_off(chain, d, work[SOLVED_ROW]) + LOST:
            return 0
        least = math.inf
    elif least < MIN_LOSS * pace.horizon:
        return 0
    if memory.left > 1:
        way = Way(memory.left, memory.spare, memory.held)
        rest, _ = rollout(chain, scoring, pace, d, posture, way, math.inf, work, PREVIOUS_ROW, GOAL_ROW)
        least = WORTH_LEAVING * (least + rest)
    if _choose_goal(chain, scoring, search, pace.rate, aim, posture, memory, work):
        least *= WORTH_LEAVING
    frames = frames_to(chain, pace.rate, work, PREVIOUS_ROW, SOLVED_ROW)
    tried = 0
    delayed = True
    for held, spare in ((1, _spare(frames, pace.horizon, memory)), (1, 0), (0, 0)):
        if held and spare == 0 and not delayed:
            continue
        way = Way(frames, spare, held)
        cost, delayed = rollout(chain, scoring, pace, d, posture, way, least, work, PREVIOUS_ROW, SOLVED_ROW)
        tried += 1
        if cost < least:
            least = cost
            copy_row(work, SOLVED_ROW, GOAL_ROW)
            memory.left, memory.spare, memory.held = frames, spare, held
            memory.reason = FOR_GAZE if off > OUT_OF_SIGHT else FOR_SHAPE
    return tried


@kernel
def _choose_goal(
    chain: Chain,
    scoring: Scoring,
    search: SearchSettings,
    rate: float,
    aim: Aim,
    posture: Array,
    # changed
    memory: TrackingState,
    work: Array,
) -> bool:
    """Write the single solve or its mirror image to SOLVED_ROW: the nearer one, and the farther one every other time.

    When the target rests, always the nearer one. Returns whether it is the farther one.
    """
    solve(chain, scoring, search, aim, posture, work, work[SOLVED_ROW])
    if not chain.mirrors:
        return False
    copy_row(work, SOLVED_ROW, MIRRORED_ROW)
    mirror(chain, work, MIRRORED_ROW)
    root = work[MIRRORED_ROW, 0] + (math.pi if work[MIRRORED_ROW, 0] < 0.0 else -math.pi)
    work[MIRRORED_ROW, 0] = min(chain.upper[0], max(chain.lower[0], root))
    if abs(root - work[MIRRORED_ROW, 0]) > LIMIT_ROUNDING:
        return False
    nearer = frames_to(chain, rate, work, PREVIOUS_ROW, MIRRORED_ROW) < frames_to(
        chain, rate, work, PREVIOUS_ROW, SOLVED_ROW
    )
    memory.nearer = 1 if memory.resting > 0 else 1 - memory.nearer
    if nearer == (memory.nearer == 1):
        swap_rows(work, SOLVED_ROW, MIRRORED_ROW)
    return memory.nearer == 0
