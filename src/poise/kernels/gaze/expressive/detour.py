"""Plan a path from one branch of solutions to another that keeps facing a direction.

Along the path the root turns to its goal angle by one rate step per way-point, and the other joints move towards theirs
in the null space that `hold` leaves. Whether such a path arrives depends on the stiffness towards the goal and on
intermediate postures, so several are tried. If the limits split the postures that face the direction into disconnected
sets, no such path exists. The gaze is then lifted to another latitude about the root axis first, and lowered at the
end.

Way-points are rows of `path` (most, n + 1): angles, and the lift [rad] of the polar angle. They are computed for a
target that stands still. A target that turns about the root axis by `drift` per frame turns the root with it, so the
limits of the root move by -drift from one way-point to the next; `cut` of the way-points before `count` will be removed
later. If there is too little time, the limit ahead of the root is not moved, and the gaze falls behind the target when
the root stops.
"""

import math

import numpy as np

from poise.kernels.chains.chain import TWIST_JOINT, Chain, pointing, tip_rotation
from poise.kernels.gaze.expressive.aim import copy_row
from poise.kernels.gaze.expressive.hold_gaze import Going, box_round, free_root, hold, moving, shift_root, turn_to
from poise.kernels.gaze.expressive.surface import heading, root_axis
from poise.kernels.gaze.expressive.workspace import (
    COMPLIANCE_ROW,
    CURRENT_ROW,
    PREVIOUS_ROW,
    RAISED_GOAL_ROW,
    REFERENCE_ROW,
    STEP_BUDGET_ROW,
    STEPS_TAKEN_ROW,
    TRIAL_ROW,
    VIA_ROW,
)
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.portable_trigonometry import arc_tangent, cosine, sine
from poise.kernels.maths.vector import Vector, add, cross, dot, normalized, orthogonal, scale, subtract

Array = np.ndarray

STRENGTHS = (0.3, 0.03, 3.0, 0.0)
"""Stiffness of the joints above the root towards the goal, one value for each attempt."""
ROOT_PULL, ARRIVED_PULL, ROUND_PULL = 10.0, 3.0, 1.0
"""Stiffness of the root towards its goal, of the root once it is near, and of the other joints when a joint is at a
limit."""
INERTIA = 0.3
"""Stiffness of all joints towards their previous angles."""
OFF = 1e-5
"""Largest direction error of a way-point [rad]."""
YIELDING = (0.4, 0.3, 0.01, 0.0, 0.0)
"""Fractions of the root's turn that are tried in sequence; in the last ones the other joints turn less too."""
FAST_STRIDE = 1.0
"""Change of the polar angle per way-point without time to spare, as a fraction of the rate."""
STRIDE = 0.6
"""Change of the polar angle per way-point with time to spare, as a fraction of the rate."""
SLOW_STRIDE = 0.15
"""Change of the polar angle per way-point after a faster attempt failed, as a fraction of the rate."""
LEAST_PART = 0.01
"""Fraction of a stride below which the gaze counts as stopped by a limit."""
DETOUR_STALL_STEPS = 12
"""An attempt is abandoned after this many way-points without progress."""
DETOUR_MIN_PROGRESS = math.radians(0.3)
"""Smallest decrease of the total distance to the goal that counts as progress [rad]."""


@kernel
def out_of_time(work: Array) -> bool:
    """Whether planning has used its budget of steps for this frame."""
    return bool(work[STEPS_TAKEN_ROW, 0] > work[STEP_BUDGET_ROW, 0])


@kernel
def polar(r: Vector, d: Vector) -> float:
    """Angle between the axis r and d [rad]."""
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
    """Append CURRENT_ROW and the lift as way-point `count`; returns the new number of way-points."""
    n = path.shape[1] - 1
    if count < path.shape[0]:
        for k in range(n):
            path[count, k] = work[CURRENT_ROW, k]
        path[count, n] = lift
        return count + 1
    return count


@kernel
def distance(chain: Chain, work: Array, row: int, goal: int) -> float:
    """Largest turn that a joint, other than a twister at the tip, still has to make from `row` to `goal` [rad]."""
    far = 0.0
    for k in range(moving(chain)):
        far = max(far, abs(turn_to(chain, k, work[row, k], work[goal, k])))
    return far


@kernel
def _draw(chain: Chain, work: Array, goal: int, root: float, others: float, rate: float) -> None:
    """Set REFERENCE_ROW and COMPLIANCE_ROW: from PREVIOUS_ROW towards `work[goal]` with the given stiffnesses."""
    for k in range(chain.role.shape[0]):
        here = work[PREVIOUS_ROW, k]
        way = turn_to(chain, k, here, work[goal, k])
        pull = root if k == 0 else others
        if k == 0:
            way = min(rate, max(-rate, way))
        if k >= moving(chain):
            way, pull = 0.0, 0.0
        work[REFERENCE_ROW, k] = here + pull * way / (pull + INERTIA)
        work[COMPLIANCE_ROW, k] = 1.0 / (pull + INERTIA)


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
    """Append way-points from CURRENT_ROW to `work[goal]`, both facing d; returns whether it arrived and the count."""
    rate = going.rate
    least, waited = math.inf, 0
    while count < path.shape[0] and not out_of_time(work):
        far = distance(chain, work, CURRENT_ROW, goal)
        if far < 0.34 * rate:
            for k in range(moving(chain)):
                work[CURRENT_ROW, k] = work[goal, k]
            return True, _write(path, count, work, lift)
        total = 0.0
        for k in range(moving(chain)):
            total += abs(turn_to(chain, k, work[CURRENT_ROW, k], work[goal, k]))
        waited += 1
        if total < least - DETOUR_MIN_PROGRESS:
            least, waited = total, 0
        if waited > DETOUR_STALL_STEPS:
            return False, count
        copy_row(work, CURRENT_ROW, PREVIOUS_ROW)
        box_round(chain, work, PREVIOUS_ROW, rate)
        shift_root(chain, work, PREVIOUS_ROW, going, count + 1 - cut)
        arrived = abs(turn_to(chain, 0, work[PREVIOUS_ROW, 0], work[goal, 0])) < 0.5 * rate
        _draw(
            chain, work, goal, ARRIVED_PULL if arrived else ROOT_PULL, max(2.0, strength) if arrived else strength, rate
        )
        if hold(chain, d, 8, work, CURRENT_ROW) > OFF and not _yielding(chain, d, work):
            return False, count
        count = _write(path, count, work, lift)
    return False, count


@kernel
def _yielding(chain: Chain, d: Vector, work: Array) -> bool:
    """Repeat the step from PREVIOUS_ROW with smaller and smaller turns until d is held; returns whether it is.

    First the root's turn is reduced, then that of every joint. This makes the root wait where a small turn of the root
    needs a large turn of the joints above it.
    """
    for share in YIELDING:
        for k in range(chain.role.shape[0]):
            work[CURRENT_ROW, k] = work[PREVIOUS_ROW, k]
            if k == 0 or share < 0.1:
                way = turn_to(chain, k, work[PREVIOUS_ROW, k], work[REFERENCE_ROW, k])
                work[REFERENCE_ROW, k] = work[PREVIOUS_ROW, k] + (share if k == 0 else 0.3) * way
        if hold(chain, d, 10, work, CURRENT_ROW) < OFF:
            return True
    return False


@kernel
def first_stride(going: Going) -> float:
    """The stride of the first attempt: faster if there is no time to spare."""
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
    """Append way-points that lift the gaze of CURRENT_ROW from d to polar angle `to`; returns the count, or -1.

    The root moves towards that of `work[toward]`, or stays if that is PREVIOUS_ROW: near the horizon it must turn
    slowly, and has the time only if it is not at its limit. If the stiffness `others` is positive, the joints above the
    root move towards `work[toward]` instead. If the chain cannot follow at the first stride, a slower one is tried.
    """
    copy_row(work, CURRENT_ROW, TRIAL_ROW)
    for stride in (first_stride(going), SLOW_STRIDE):
        copy_row(work, TRIAL_ROW, CURRENT_ROW)
        end = rise(chain, d, to, going, stride, toward, others, RAISED_GOAL_ROW, count, cut, work, path)
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
    """`raise_gaze` with a fixed stride, a fraction of the rate; the stride is halved where the chain cannot follow.

    Where a joint that would have to continue is at its limit, the other joints first move towards `work[round_to]` on
    the latitude reached.
    """
    r = root_axis(chain)
    start = polar(r, d)
    share, part, drawn = 0.0, 1.0, toward
    whole = min(1.0, stride * going.rate / max(1e-9, abs(to - start)))
    while share < 1.0:
        if out_of_time(work):
            return -1
        copy_row(work, CURRENT_ROW, PREVIOUS_ROW)
        box_round(chain, work, PREVIOUS_ROW, going.rate)
        shift_root(chain, work, PREVIOUS_ROW, going, count + 1 - cut)
        cornered = part < LEAST_PART
        next_share = share if cornered else min(1.0, share + part * whole)
        if cornered:
            _draw(chain, work, round_to, 0.0, ROUND_PULL, going.rate)
        else:
            _draw(chain, work, drawn, ROOT_PULL if others == 0.0 else 0.0, others, going.rate)
        off = hold(chain, lifted(r, d, start + next_share * (to - start)), 8, work, CURRENT_ROW)
        if cornered and off > OFF:
            # The limit may stop mattering between two latitudes, at the horizon for example.
            next_share = (polar(r, pointing(tip_rotation(chain, work[CURRENT_ROW]))) - start) / (to - start)
            off = hold(chain, lifted(r, d, start + next_share * (to - start)), 8, work, CURRENT_ROW)
        if cornered and (
            off > OFF or next_share < share or distance(chain, work, PREVIOUS_ROW, CURRENT_ROW) < DETOUR_MIN_PROGRESS
        ):
            return -1
        if off > OFF:
            copy_row(work, PREVIOUS_ROW, CURRENT_ROW)
            part *= 1.0 if drawn != PREVIOUS_ROW else 0.5
            drawn = PREVIOUS_ROW
            continue
        share, part, drawn = next_share, min(1.0, 2.0 * part), toward
        if count >= path.shape[0]:
            return -1
        count = _write(path, count, work, share * (to - start))
    return count


@kernel
def pass_by(chain: Chain, d: Vector, start: int, goal: int, rate: float, work: Array) -> bool:
    """Project VIA_ROW onto the postures that face d, its root between those of `start` and `goal`; returns success."""
    if chain.role[0] == TWIST_JOINT:
        work[VIA_ROW, 0] = 0.0
        turn = heading(root_axis(chain), pointing(tip_rotation(chain, work[VIA_ROW])), d)
        middle = 0.5 * (work[start, 0] + work[goal, 0])
        work[VIA_ROW, 0] = turn + 2.0 * math.pi * math.floor((middle - turn) / (2.0 * math.pi) + 0.5)
    copy_row(work, VIA_ROW, PREVIOUS_ROW)
    box_round(chain, work, PREVIOUS_ROW, 4.0)
    free_root(chain, work, PREVIOUS_ROW, 4.0)
    _draw(chain, work, PREVIOUS_ROW, 0.0, 0.0, rate)
    return hold(chain, d, 20, work, VIA_ROW) < OFF
