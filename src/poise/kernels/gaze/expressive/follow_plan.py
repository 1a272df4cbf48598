"""Execution of a plan frame by frame, and the return to a solution when there is no plan."""

import math

import numpy as np

from poise.kernels.chains.chain import Chain, pointing, tip_rotation
from poise.kernels.gaze.expressive.aim import copy_row, mirror
from poise.kernels.gaze.expressive.detour import distance, lifted, polar
from poise.kernels.gaze.expressive.hold_gaze import LOST, box_round, hold, hold_first, moving, turn_to
from poise.kernels.gaze.expressive.solve import SearchSettings, solve
from poise.kernels.gaze.expressive.surface import heading, root_axis
from poise.kernels.gaze.expressive.track import LOOSE, stay_at, tip_turn
from poise.kernels.gaze.expressive.tracking_state import TRACKING, TrackingState
from poise.kernels.gaze.expressive.workspace import (
    BOX_LOWER_ROW,
    BOX_UPPER_ROW,
    COMPLIANCE_ROW,
    CURRENT_ROW,
    FRAME_ROW,
    GOAL_ROW,
    PREVIOUS_ROW,
    REFERENCE_ROW,
    SOLVED_ROW,
)
from poise.kernels.gaze.measures import Aim, Scoring
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.portable_trigonometry import angle_apart
from poise.kernels.maths.vector import Vector

Array = np.ndarray

STUCK_FOR = 8
"""A plan is abandoned after this many frames without progress."""
BEHIND = 2.5
"""Largest distance of the chain from its way-point before the plan waits, in rate steps."""
BEHIND_LIFTING = 1.0
"""Largest such distance while the gaze is lifted or lowered, in rate steps."""
LIFTED_LOST = 1e-3
"""Largest direction error of a lifted gaze, which limits may keep from its latitude [rad]."""
NO_WAY_LEFT = 2.0
"""A root within this many rate steps of its limit may be too slow to face its target."""
WAY_POINT_WINDOW = 16
"""Number of way-points ahead among which the nearest one is searched."""


@kernel
def follow_plan(
    chain: Chain, scoring: Scoring, aim: Aim, d: Vector, rate: float, memory: TrackingState, work: Array
) -> None:
    """Write the next frame of the plan to FRAME_ROW, facing d, or d lifted as the plan requires."""
    path = memory.path
    n = path.shape[1] - 1
    at = memory.way_point
    nearest, gap = at, math.inf
    if at >= 0:
        for j in range(at, min(at + WAY_POINT_WINDOW, memory.way_points)):
            away = _gap(chain, path, j, work, PREVIOUS_ROW)
            if away < gap:
                nearest, gap = j, away
    ahead = min(nearest + 1, memory.way_points - 1)
    for j in range(nearest + 2, min(nearest + 4, memory.way_points)):
        if _gap(chain, path, j, work, PREVIOUS_ROW) <= rate:
            ahead = j
    box_round(chain, work, PREVIOUS_ROW, rate)
    limit = min(chain.upper[0] - work[PREVIOUS_ROW, 0], work[PREVIOUS_ROW, 0] - chain.lower[0])
    if memory.hurried and limit < NO_WAY_LEFT * rate:
        off = _hurry(chain, d, path, ahead, min(ahead + 1, memory.way_points - 1), rate, work)
    else:
        off = _hold_on(chain, d, path, ahead, work)
    tip_turn(chain, scoring, aim, work, FRAME_ROW, rate)
    behind = BEHIND if path[ahead, n] == path[max(0, at), n] else BEHIND_LIFTING
    if off < LOST and _gap(chain, path, ahead, work, FRAME_ROW) <= behind * rate:
        nearest = ahead
    memory.stuck_frames += 1
    if nearest > at or at < 0:
        memory.way_point, memory.stuck_frames = max(0, nearest), 0
    if memory.way_point >= memory.way_points - 2 or memory.stuck_frames > STUCK_FOR:
        memory.mode, memory.way_points, memory.attempt = TRACKING, 0, -1


@kernel
def _hold_on(chain: Chain, d: Vector, path: Array, ahead: int, work: Array) -> float:
    """Write to FRAME_ROW a step to way-point `ahead` as far as the gaze allows; returns the direction error [rad]."""
    n = path.shape[1] - 1
    r = root_axis(chain)
    for k in range(n):
        held = k == 0 or k >= moving(chain)
        work[REFERENCE_ROW, k] = work[PREVIOUS_ROW, k] if held else path[ahead, k]
        work[COMPLIANCE_ROW, k] = 1.0 / LOOSE if held else 1.0
    lift = path[ahead, n]
    wanted = d if lift == 0.0 else lifted(r, d, min(math.pi, max(0.0, polar(r, d) + lift)))
    off = hold_first(chain, wanted, 10, LOST if lift == 0.0 else LIFTED_LOST, work, FRAME_ROW)
    return off if lift == 0.0 or off > LIFTED_LOST else 0.0


@kernel
def _hurry(chain: Chain, d: Vector, path: Array, ahead: int, after: int, rate: float, work: Array) -> float:
    """Write to FRAME_ROW a step past way-point `ahead`, as far as the rate allows, with the root turned to the target.

    The latitude is kept, and the heading if the root can follow. The direction error is ignored, so it returns 0.
    """
    n, r = path.shape[1] - 1, root_axis(chain)
    rest, way = rate - _gap(chain, path, ahead, work, PREVIOUS_ROW), 0.0
    for k in range(1, moving(chain)):
        way = max(way, abs(turn_to(chain, k, path[ahead, k], path[after, k])))
    share = min(1.0, max(0.0, rest / max(way, 1e-9)))
    for k in range(n):
        there = path[ahead, k] + share * turn_to(chain, k, path[ahead, k], path[after, k])
        work[FRAME_ROW, k] = (
            min(work[BOX_UPPER_ROW, k], max(work[BOX_LOWER_ROW, k], there))
            if k < moving(chain)
            else work[PREVIOUS_ROW, k]
        )
    work[FRAME_ROW, 0] = work[PREVIOUS_ROW, 0]
    turn = heading(r, pointing(tip_rotation(chain, work[FRAME_ROW])), d)
    work[FRAME_ROW, 0] = min(work[BOX_UPPER_ROW, 0], max(work[BOX_LOWER_ROW, 0], work[PREVIOUS_ROW, 0] + turn))
    lift = path[ahead, n] + share * (path[after, n] - path[ahead, n])
    stay_at(work, FRAME_ROW, n)
    p = pointing(tip_rotation(chain, work[FRAME_ROW]))
    hold(chain, lifted(r, p, min(math.pi, max(0.0, polar(r, d) + lift))), 4, work, FRAME_ROW)
    return 0.0


@kernel
def _gap(chain: Chain, path: Array, j: int, work: Array, row: int) -> float:
    """Largest turn of a joint above the root from `work[row]` to way-point `j` [rad]."""
    far = 0.0
    for k in range(1, moving(chain)):
        far = max(far, abs(turn_to(chain, k, work[row, k], path[j, k])))
    return far


@kernel
def nearer_solution(
    chain: Chain, scoring: Scoring, search: SearchSettings, aim: Aim, posture: Array, work: Array
) -> None:
    """Write the solution of `solve`, or its mirror image if that is nearer to PREVIOUS_ROW, to GOAL_ROW."""
    solve(chain, scoring, search, aim, posture, work, work[SOLVED_ROW])
    copy_row(work, SOLVED_ROW, GOAL_ROW)
    if chain.mirrors:
        mirror(chain, work, GOAL_ROW)
        work[GOAL_ROW, 0] += math.pi if work[GOAL_ROW, 0] < 0.0 else -math.pi
        inside = chain.lower[0] <= work[GOAL_ROW, 0] <= chain.upper[0]
        if not inside or distance(chain, work, PREVIOUS_ROW, SOLVED_ROW) < distance(
            chain, work, PREVIOUS_ROW, GOAL_ROW
        ):
            copy_row(work, SOLVED_ROW, GOAL_ROW)


@kernel
def worst_between(chain: Chain, d: Vector, start: int, goal: int, work: Array) -> float:
    """Largest direction error on the straight line in joint space from `work[start]` to `work[goal]` [rad]."""
    worst = 0.0
    for i in range(1, 17):
        for k in range(work.shape[1]):
            work[CURRENT_ROW, k] = work[start, k] + i / 16.0 * turn_to(chain, k, work[start, k], work[goal, k])
        worst = max(worst, angle_apart(pointing(tip_rotation(chain, work[CURRENT_ROW])), d))
    return worst


@kernel
def go_back(
    chain: Chain,
    scoring: Scoring,
    search: SearchSettings,
    aim: Aim,
    posture: Array,
    rate: float,
    memory: TrackingState,
    work: Array,
) -> None:
    """Write to FRAME_ROW one frame on the straight line from PREVIOUS_ROW to the nearer solution.

    The gaze is not held on the way: it was lost, and no plan that holds it was found.
    """
    nearer_solution(chain, scoring, search, aim, posture, work)
    copy_row(work, GOAL_ROW, FRAME_ROW)
    far = distance(chain, work, PREVIOUS_ROW, FRAME_ROW)
    if far <= rate:
        memory.mode, memory.lost_frames = TRACKING, 0
    share = min(1.0, rate / max(far, 1e-12))
    for k in range(posture.shape[0]):
        way = share * turn_to(chain, k, work[PREVIOUS_ROW, k], work[FRAME_ROW, k])
        work[FRAME_ROW, k] = min(chain.upper[k], max(chain.lower[k], work[PREVIOUS_ROW, k] + way))
    tip_turn(chain, scoring, aim, work, FRAME_ROW, rate)
