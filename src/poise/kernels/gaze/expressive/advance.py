"""One frame of a motion that continues the previous frame: gaze, shape and time weighed together.

**The problem.** A frame costs c = shape error + w · direction error, with the weight w of `Pace.gaze`. A gaze that is
off by more than a few degrees is lost, and costs no more if it is off by still more. While the target moves, a
direction error up to `Pace.slack` costs nothing, if the hold grants any, and a goal uses it for its shape (`follow`).
The sum over all frames is to be small, and no joint may turn by more than a rate per frame. The best posture of a frame
alone is that of a single solve (`poise.kernels.gaze.expressive.solve`). As the target moves it jumps from one *branch*
to another, that is to another of several separate families of postures that face the target, such as a shape and its
mirror image with the root half a turn away. A jump takes time: half a turn at 5° per frame takes 36 frames.

**The state** is the chain's angles and its *goal*, a posture that faces the target, and the way to it (`approach`).
Every frame moves the goal to the best posture nearby that faces the new target (`follow`), so the goal stays on its
branch, and then moves the chain by one frame along its way to the goal. A chain that is at its goal follows it.

**The decision.** Staying on the goal's branch for a horizon of H frames costs

    S = Σ c_goal                      over the next H frames

The target is predicted for the first frames, as one that turns on at its speed, and S is sampled there; from then on
the last sample counts. Changing to another goal g, which follows the same predicted target, costs

    C = Σ c_g + Σ (c_way - c_g)       over the next H frames, and over the frames of the way

and a rollout of the way finds the second sum. Five ways are tried: holding the gaze near the shape of the posture, or
going towards the goal at once, each waiting for the gaze or on time; and straight. Other goals are the posture of the
single solve, its mirror image, the single solve of the predicted target, and the mirror image of the goal, one of them
at a time in turn (`change_goal`). If C < S, the cheapest becomes the new goal. Every change costs something, and that
is the hysteresis: the chain does not change back and forth between branches that are equally good. A chain that is on
its way to a goal adds the rest of the way to S, and leaves it for another goal, such as the branch on which it is, only
if that saves a good part.

Single solves cost Σ c_solve in the same frames. While S is hardly more, no change is considered.

**Rest.** When target and posture stand still, a way is not left until its end. When they have rested for half of H,
they are expected to rest on, so H is infinite: any loss above AS_GOOD leads to a change, and so does any gaze that is
off by more than that of the single solve. So a target at rest that a single solve faces is faced, in a posture as good,
after H / 2 and the time of one way, which every frame shortens. Then the goal is as good as the single solve; `follow`
changes a goal only if that reduces its cost, so that it comes to rest, and with it the chain. No decision depends on
the clock: the same inputs give the same frames.
"""

import math

import numpy as np

from poise.kernels.chains.chain import Chain, pointing
from poise.kernels.gaze.expressive.aim import copy_row, turn_tip_by
from poise.kernels.gaze.expressive.approach import KEEPING_SHAPE, Pace, Way, approach, distance, frames_to, gaze_off
from poise.kernels.gaze.expressive.bounded_step import turn_between
from poise.kernels.gaze.expressive.change_goal import OPPOSITE, STILL, consider, spare_frames
from poise.kernels.gaze.expressive.follow import follow
from poise.kernels.gaze.expressive.hold_gaze import moving
from poise.kernels.gaze.expressive.solve import SearchSettings
from poise.kernels.gaze.expressive.tracking_state import TRACKING, TrackingState
from poise.kernels.gaze.expressive.workspace import FRAME_ROW, GOAL_ROW, PREVIOUS_ROW
from poise.kernels.gaze.measures import DIRECTED, Aim, Scoring
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.vector import Vector, add, length, scale

Array = np.ndarray

JUMP = math.radians(10.0)
"""A target that turns by more than this in a frame has jumped, which says nothing of its motion [rad]."""
LAG = 10.0
"""Number of frames of the target's turn to which the slack of the gaze is limited, so that it ends where the target
rests."""
TURN_MEMORY = 0.7
"""Share of its last value in the average turn of the target."""


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
    speed = length(Vector(memory.turn[0], memory.turn[1], memory.turn[2]))
    memory.slack = min(pace.slack, LAG * speed) if speed > STILL else 0.0
    pace = Pace(pace.rate, pace.gaze, pace.horizon, memory.slack)
    # A twister at the tip sets the roll by itself, at its own rate.
    goal_aim = aim if moving(chain) == n else Aim(aim.rotation, DIRECTED)
    d = pointing(aim.rotation)
    for k in range(n):
        work[GOAL_ROW, k] = memory.goal[k]
        work[PREVIOUS_ROW, k] = memory.angles[k]
    follow(chain, scoring, search, goal_aim, pace.slack, posture, GOAL_ROW, work)
    frames = frames_to(chain, pace.rate, work, PREVIOUS_ROW, GOAL_ROW)
    if frames > memory.left:
        memory.spare = spare_frames(frames, pace.horizon, memory)
    memory.left = max(memory.left - 1, frames)
    tried = 0
    memory.wait -= 1
    if jumped or (memory.wait <= 0 and (memory.resting == 0 or memory.left <= 1)):
        tried = consider(chain, scoring, search, pace, goal_aim, posture, memory, work)
    if jumped:
        memory.reason = 0
    copy_row(work, PREVIOUS_ROW, FRAME_ROW)
    if distance(chain, work, PREVIOUS_ROW, GOAL_ROW) <= pace.rate:
        copy_row(work, GOAL_ROW, FRAME_ROW)
        memory.left, memory.manner, memory.reason = 1, KEEPING_SHAPE, 0
    else:
        way = Way(memory.left, memory.spare, memory.manner)
        way = approach(chain, scoring, d, pace, posture, way, work, FRAME_ROW, GOAL_ROW)
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
        memory.left, memory.spare, memory.manner, memory.reason, memory.wait = 1, 0, KEEPING_SHAPE, 0, 0
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
        memory.candidate = OPPOSITE
        return True
    return False
