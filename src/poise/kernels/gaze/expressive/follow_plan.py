"""Following a plan, and the way back when there is none."""

import math

import numpy as np

from poise.kernels.chains.chain import Chain, pointing, tip_rotation
from poise.kernels.gaze.expressive.aim import copy_row, mirror
from poise.kernels.gaze.expressive.detour import distance, lifted, polar
from poise.kernels.gaze.expressive.hold_gaze import LOST, box_round, hold, hold_first, moving, turn_to
from poise.kernels.gaze.expressive.memory import ASTRAY, AT, ATTEMPT, COUNT, HURRIED, MODE, STUCK, TRACKING, Memory
from poise.kernels.gaze.expressive.solve import Manner, solve
from poise.kernels.gaze.expressive.surface import heading, root_axis
from poise.kernels.gaze.expressive.track import LOOSE, stay_at, tip_turn
from poise.kernels.gaze.expressive.workspace import EASE, GOAL, HERE, HIGH, LAST, LOW, OUT, REFERENCE, SOLVED
from poise.kernels.gaze.measures import Aim, Scoring
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.portable_trigonometry import angle_apart
from poise.kernels.maths.vector import Vector

Array = np.ndarray

STUCK_FOR = 8
"""Frames without progress after which a plan is given up."""
BEHIND = 2.5
"""Rate steps by which the chain may be behind its plan before the plan waits."""
BEHIND_LIFTING = 1.0
"""The same while the gaze is lifted or lowered."""
LIFTED_LOST = 1e-3
"""Angle by which a gaze that is lifted may miss its latitude: in a corner of the limits it does [rad]."""
NO_WAY_LEFT = 2.0
"""Rate steps before its limit from which on the root may be too late for its target."""
WINDOW = 16
"""Way-points ahead among which the nearest is looked for."""


@kernel
def follow_plan(chain: Chain, scoring: Scoring, aim: Aim, d: Vector, rate: float, memory: Memory, work: Array) -> None:
    """OUT: one frame on along the plan, facing d, or d lifted as the plan says."""
    tally, path = memory.tally, memory.path
    n = path.shape[1] - 1
    at = tally[AT]
    nearest, gap = at, math.inf
    if at >= 0:
        for j in range(at, min(at + WINDOW, tally[COUNT])):
            away = _gap(chain, path, j, work, LAST)
            if away < gap:
                nearest, gap = j, away
    ahead = min(nearest + 1, tally[COUNT] - 1)
    for j in range(nearest + 2, min(nearest + 4, tally[COUNT])):
        if _gap(chain, path, j, work, LAST) <= rate:
            ahead = j
    box_round(chain, work, LAST, rate)
    limit = min(chain.upper[0] - work[LAST, 0], work[LAST, 0] - chain.lower[0])
    if tally[HURRIED] and limit < NO_WAY_LEFT * rate:
        off = _hurry(chain, d, path, ahead, min(ahead + 1, tally[COUNT] - 1), rate, work)
    else:
        off = _hold_on(chain, d, path, ahead, work)
    tip_turn(chain, scoring, aim, work, OUT, rate)
    behind = BEHIND if path[ahead, n] == path[max(0, at), n] else BEHIND_LIFTING
    if off < LOST and _gap(chain, path, ahead, work, OUT) <= behind * rate:
        nearest = ahead
    tally[STUCK] += 1
    if nearest > at or at < 0:
        tally[AT], tally[STUCK] = max(0, nearest), 0
    if tally[AT] >= tally[COUNT] - 2 or tally[STUCK] > STUCK_FOR:
        tally[MODE], tally[COUNT], tally[ATTEMPT] = TRACKING, 0, -1


@kernel
def _hold_on(chain: Chain, d: Vector, path: Array, ahead: int, work: Array) -> float:
    """OUT: on to way-point `ahead` as far as the gaze allows; returns the angle it is off."""
    n = path.shape[1] - 1
    r = root_axis(chain)
    for k in range(n):
        held = k == 0 or k >= moving(chain)
        work[REFERENCE, k] = work[LAST, k] if held else path[ahead, k]
        work[EASE, k] = 1.0 / LOOSE if held else 1.0
    lift = path[ahead, n]
    wanted = d if lift == 0.0 else lifted(r, d, min(math.pi, max(0.0, polar(r, d) + lift)))
    off = hold_first(chain, wanted, 10, LOST if lift == 0.0 else LIFTED_LOST, work, OUT)
    return off if lift == 0.0 or off > LIFTED_LOST else 0.0


@kernel
def _hurry(chain: Chain, d: Vector, path: Array, ahead: int, after: int, rate: float, work: Array) -> float:
    """OUT: past way-point `ahead` towards the one after as far as the rate allows, the root turned to the target.

    The latitude is kept, and the heading if the root can. Nothing else counts: returns 0.
    """
    n, r = path.shape[1] - 1, root_axis(chain)
    rest, way = rate - _gap(chain, path, ahead, work, LAST), 0.0
    for k in range(1, moving(chain)):
        way = max(way, abs(turn_to(chain, k, path[ahead, k], path[after, k])))
    share = min(1.0, max(0.0, rest / max(way, 1e-9)))
    for k in range(n):
        there = path[ahead, k] + share * turn_to(chain, k, path[ahead, k], path[after, k])
        work[OUT, k] = min(work[HIGH, k], max(work[LOW, k], there)) if k < moving(chain) else work[LAST, k]
    work[OUT, 0] = work[LAST, 0]
    turn = heading(r, pointing(tip_rotation(chain, work[OUT])), d)
    work[OUT, 0] = min(work[HIGH, 0], max(work[LOW, 0], work[LAST, 0] + turn))
    lift = path[ahead, n] + share * (path[after, n] - path[ahead, n])
    stay_at(work, OUT, n)
    p = pointing(tip_rotation(chain, work[OUT]))
    hold(chain, lifted(r, p, min(math.pi, max(0.0, polar(r, d) + lift))), 4, work, OUT)
    return 0.0


@kernel
def _gap(chain: Chain, path: Array, j: int, work: Array, row: int) -> float:
    """Largest turn of a joint above the root from `work[row]` to way-point `j`."""
    far = 0.0
    for k in range(1, moving(chain)):
        far = max(far, abs(turn_to(chain, k, work[row, k], path[j, k])))
    return far


@kernel
def nearer_solution(chain: Chain, scoring: Scoring, manner: Manner, aim: Aim, posture: Array, work: Array) -> None:
    """GOAL: what `solve` finds, or its mirror image if that is nearer to LAST."""
    solve(chain, scoring, manner, aim, posture, work, work[SOLVED])
    copy_row(work, SOLVED, GOAL)
    if chain.mirrors:
        mirror(chain, work, GOAL)
        work[GOAL, 0] += math.pi if work[GOAL, 0] < 0.0 else -math.pi
        inside = chain.lower[0] <= work[GOAL, 0] <= chain.upper[0]
        if not inside or distance(chain, work, LAST, SOLVED) < distance(chain, work, LAST, GOAL):
            copy_row(work, SOLVED, GOAL)


@kernel
def worst_between(chain: Chain, d: Vector, start: int, goal: int, work: Array) -> float:
    """Largest angle from d on the straight way from `work[start]` to `work[goal]`."""
    worst = 0.0
    for i in range(1, 17):
        for k in range(work.shape[1]):
            work[HERE, k] = work[start, k] + i / 16.0 * turn_to(chain, k, work[start, k], work[goal, k])
        worst = max(worst, angle_apart(pointing(tip_rotation(chain, work[HERE])), d))
    return worst


@kernel
def go_back(
    chain: Chain,
    scoring: Scoring,
    manner: Manner,
    aim: Aim,
    posture: Array,
    rate: float,
    memory: Memory,
    work: Array,
) -> None:
    """OUT: one frame on, straight from LAST to what `solve` finds, or to its mirror image if that is nearer.

    The gaze is not held on the way: it was lost, and no way was found that would have held it.
    """
    nearer_solution(chain, scoring, manner, aim, posture, work)
    copy_row(work, GOAL, OUT)
    far = distance(chain, work, LAST, OUT)
    if far <= rate:
        memory.tally[MODE], memory.tally[ASTRAY] = TRACKING, 0
    share = min(1.0, rate / max(far, 1e-12))
    for k in range(posture.shape[0]):
        way = share * turn_to(chain, k, work[LAST, k], work[OUT, k])
        work[OUT, k] = min(chain.upper[k], max(chain.lower[k], work[LAST, k] + way))
    tip_turn(chain, scoring, aim, work, OUT, rate)
