"""A way from one branch to another that keeps facing a direction: a detour, tried before it is taken.

On its way the root turns to its new angle by one rate step at a time and the other joints are drawn to theirs, all
inside the freedom that `hold` leaves. Which detour arrives depends on how strongly they are drawn and on what they
pass: so several are tried. What is held still is the direction; where the limits cut the postures that face it in two,
no detour exists, and the gaze is lifted to another latitude about the root's axis before and lowered after.

Way-points are rows of `path` (most, n + 1): angles, and the lift [rad] of the polar angle. They are made for a target
that stands still. One that turns about the root's axis by `drift` per frame turns the root along with it, so the
limits of the root move by -drift from way-point to way-point; `cut` of those before `count` will be left out. When
there is no time for that, the limit before the root is not moved, and the gaze will fall behind where the root stops.
"""

import math

import numpy as np

from poise.kernels.chains.chain import TWIST_JOINT, Chain, pointing, tip_rotation
from poise.kernels.gaze.expressive.aim import copy_row
from poise.kernels.gaze.expressive.hold_gaze import Going, box_round, free_root, hold, moving, shift_root, turn_to
from poise.kernels.gaze.expressive.surface import heading, root_axis
from poise.kernels.gaze.expressive.workspace import EASE, HERE, LAST, RAISED, REFERENCE, SPENT, SPENT_MOST, TRIAL, VIA
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.portable_trigonometry import arc_tangent, cosine, sine
from poise.kernels.maths.vector import Vector, add, cross, dot, normalized, orthogonal, scale, subtract

Array = np.ndarray

STRENGTHS = (0.3, 0.03, 3.0, 0.0)
"""How strongly the joints above the root are drawn to the goal, one detour each."""
ROOT_PULL, ARRIVED_PULL, ROUND_PULL = 10.0, 3.0, 1.0
INERTIA = 0.3
OFF = 1e-5
"""A way-point may miss the direction by this [rad]."""
YIELDING = (0.4, 0.3, 0.01, 0.0, 0.0)
"""Shares of the root's way that are left from try to try; the other joints yield with the last ones."""
FAST_STRIDE = 1.0
STRIDE = 0.6
SLOW_STRIDE = 0.15
"""Shares of the rate by which the gaze rises or falls from way-point to way-point."""
LEAST_PART = 0.01
"""Part of such a stride below which the gaze is said to rise no further."""
PATIENCE = 12
"""Steps without progress after which a detour is given up."""
PROGRESS = math.radians(0.3)


@kernel
def out_of_time(work: Array) -> bool:
    """Whether planning has taken all the steps that it may in one frame."""
    return bool(work[SPENT, 0] > work[SPENT_MOST, 0])


@kernel
def polar(r: Vector, d: Vector) -> float:
    """Angle of d from the axis r."""
    c = cross(r, d)
    return arc_tangent(math.sqrt(dot(c, c)), dot(r, d))


@kernel
def lifted(r: Vector, d: Vector, angle: float) -> Vector:
    """The direction with the heading of d about r and the polar angle `angle`."""
    level = subtract(d, scale(r, dot(r, d)))
    side = normalized(level) if dot(level, level) > 1e-20 else orthogonal(r)
    return add(scale(r, cosine(angle)), scale(side, sine(angle)))


@kernel
def _write(path: Array, count: int, work: Array, lift: float) -> int:
    n = path.shape[1] - 1
    if count < path.shape[0]:
        for k in range(n):
            path[count, k] = work[HERE, k]
        path[count, n] = lift
        return count + 1
    return count


@kernel
def distance(chain: Chain, work: Array, row: int, goal: int) -> float:
    """Largest turn that any joint but the tip's twister still has to make."""
    far = 0.0
    for k in range(moving(chain)):
        far = max(far, abs(turn_to(chain, k, work[row, k], work[goal, k])))
    return far


@kernel
def _draw(chain: Chain, work: Array, goal: int, root: float, others: float, rate: float) -> None:
    """REFERENCE and EASE: LAST, drawn to `work[goal]`."""
    for k in range(chain.role.shape[0]):
        here = work[LAST, k]
        way = turn_to(chain, k, here, work[goal, k])
        pull = root if k == 0 else others
        if k == 0:
            way = min(rate, max(-rate, way))
        if k >= moving(chain):
            way, pull = 0.0, 0.0
        work[REFERENCE, k] = here + pull * way / (pull + INERTIA)
        work[EASE, k] = 1.0 / (pull + INERTIA)


@kernel
def glide(
    chain: Chain,
    d: Vector,
    goal: int,
    strength: float,
    going: Going,
    lift: float,
    count: int,
    cut: int,
    # changed
    work: Array,
    path: Array,
) -> tuple[bool, int]:
    """Go from HERE to `work[goal]`, both facing d, writing way-points from `count`; if it arrived, and how many."""
    rate = going.rate
    least, waited = math.inf, 0
    while count < path.shape[0] and not out_of_time(work):
        far = distance(chain, work, HERE, goal)
        if far < 0.34 * rate:
            for k in range(moving(chain)):
                work[HERE, k] = work[goal, k]
            return True, _write(path, count, work, lift)
        total = 0.0
        for k in range(moving(chain)):
            total += abs(turn_to(chain, k, work[HERE, k], work[goal, k]))
        waited += 1
        if total < least - PROGRESS:
            least, waited = total, 0
        if waited > PATIENCE:
            return False, count
        copy_row(work, HERE, LAST)
        box_round(chain, work, LAST, rate)
        shift_root(chain, work, LAST, going, count + 1 - cut)
        arrived = abs(turn_to(chain, 0, work[LAST, 0], work[goal, 0])) < 0.5 * rate
        _draw(
            chain, work, goal, ARRIVED_PULL if arrived else ROOT_PULL, max(2.0, strength) if arrived else strength, rate
        )
        if hold(chain, d, 8, work, HERE) > OFF and not _yielding(chain, d, work):
            return False, count
        count = _write(path, count, work, lift)
    return False, count


@kernel
def _yielding(chain: Chain, d: Vector, work: Array) -> bool:
    """HERE from LAST again, asking for less and less of the way: first of the root's, then of every joint's.

    Where a small turn of the root takes a large one of the joints above, it is this that makes the root wait.
    """
    for share in YIELDING:
        for k in range(chain.role.shape[0]):
            work[HERE, k] = work[LAST, k]
            if k == 0 or share < 0.1:
                way = turn_to(chain, k, work[LAST, k], work[REFERENCE, k])
                work[REFERENCE, k] = work[LAST, k] + (share if k == 0 else 0.3) * way
        if hold(chain, d, 10, work, HERE) < OFF:
            return True
    return False


@kernel
def first_stride(going: Going) -> float:
    """The stride of a gaze that has time, or has none."""
    return FAST_STRIDE if going.hurried else STRIDE


@kernel
def raise_gaze(
    chain: Chain,
    d: Vector,
    to: float,
    going: Going,
    toward: int,
    others: float,
    count: int,
    cut: int,
    # changed
    work: Array,
    path: Array,
) -> int:
    """Lift the gaze of HERE from d to the polar angle `to`, writing way-points from `count`; -1 if it cannot follow.

    The root is drawn to that of `work[toward]`, or for LAST stays where it is, if it can: near the horizon it must turn
    slowly, and has the time only if it is not at its limit. With a strength of `others` it is the joints above the root
    that are drawn. A gaze that rises too fast for most of the joints ends where a single one cannot go on: then slower.
    """
    copy_row(work, HERE, TRIAL)
    for stride in (first_stride(going), SLOW_STRIDE):
        copy_row(work, TRIAL, HERE)
        end = rise(chain, d, to, going, stride, toward, others, RAISED, count, cut, work, path)
        if end > 0:
            return end
    return -1


@kernel
def rise(
    chain: Chain,
    d: Vector,
    to: float,
    going: Going,
    stride: float,
    toward: int,
    others: float,
    round_to: int,
    count: int,
    cut: int,
    # changed
    work: Array,
    path: Array,
) -> int:
    """`raise_gaze` by a share of the rate, `stride`, from way-point to way-point; where it cannot, by less.

    In a corner, where a joint that would have to go on is at its limit, the others first go on to `work[round_to]`, on
    the latitude that was reached.
    """
    r = root_axis(chain)
    start = polar(r, d)
    share, part, drawn = 0.0, 1.0, toward
    whole = min(1.0, stride * going.rate / max(1e-9, abs(to - start)))
    while share < 1.0:
        if out_of_time(work):
            return -1
        copy_row(work, HERE, LAST)
        box_round(chain, work, LAST, going.rate)
        shift_root(chain, work, LAST, going, count + 1 - cut)
        cornered = part < LEAST_PART
        next_share = share if cornered else min(1.0, share + part * whole)
        if cornered:
            _draw(chain, work, round_to, 0.0, ROUND_PULL, going.rate)
        else:
            _draw(chain, work, drawn, ROOT_PULL if others == 0.0 else 0.0, others, going.rate)
        off = hold(chain, lifted(r, d, start + next_share * (to - start)), 8, work, HERE)
        if cornered and off > OFF:
            # What the corner is of may end between two latitudes: at the horizon, say.
            next_share = (polar(r, pointing(tip_rotation(chain, work[HERE]))) - start) / (to - start)
            off = hold(chain, lifted(r, d, start + next_share * (to - start)), 8, work, HERE)
        if cornered and (off > OFF or next_share < share or distance(chain, work, LAST, HERE) < PROGRESS):
            return -1
        if off > OFF:
            copy_row(work, LAST, HERE)
            part *= 1.0 if drawn != LAST else 0.5
            drawn = LAST
            continue
        share, part, drawn = next_share, min(1.0, 2.0 * part), toward
        if count >= path.shape[0]:
            return -1
        count = _write(path, count, work, share * (to - start))
    return count


@kernel
def pass_by(chain: Chain, d: Vector, start: int, goal: int, rate: float, work: Array) -> bool:
    """Project VIA on the postures that face d, with the root between those of `start` and `goal`."""
    if chain.role[0] == TWIST_JOINT:
        work[VIA, 0] = 0.0
        turn = heading(root_axis(chain), pointing(tip_rotation(chain, work[VIA])), d)
        middle = 0.5 * (work[start, 0] + work[goal, 0])
        work[VIA, 0] = turn + 2.0 * math.pi * math.floor((middle - turn) / (2.0 * math.pi) + 0.5)
    copy_row(work, VIA, LAST)
    box_round(chain, work, LAST, 4.0)
    free_root(chain, work, LAST, 4.0)
    _draw(chain, work, LAST, 0.0, 0.0, rate)
    return hold(chain, d, 20, work, VIA) < OFF
