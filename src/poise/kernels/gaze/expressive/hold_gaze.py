"""Keep the tip's direction while the joints move towards a reference.

    min ½ Σ h_k (θ_k - c_k)²   subject to  p(θ) = d  inside a box

is solved by Gauss–Newton steps with the Jacobian J of the direction: the joints move towards the reference c in the
null space of the direction d, inside a box. One step s from the current angles solves

    min ½ Σ h_k (s_k - b_k)² + |J s - e|² / (2 μ)   inside the box

with b the step to the reference, e the rotation vector to d, and a small μ. Without the box, s = b + H⁻¹ Jᵀ λ with λ =
(J H⁻¹ Jᵀ + μ I)⁻¹ (e - J b): three equations, however long the chain. The box is kept by a primal active-set method:
from a step inside the box, the free joints move towards their optimum until one meets its bound, where it is fixed.
At the optimum of the free joints, the fixed joint whose multiplier points inwards most is released. The cost decreases
all the time, so the method ends at the optimum of the convex problem: the box never costs more of the direction than it
must, which fixing one joint after another without going back does not ensure.
"""

import numpy as np

from poise.kernels.chains.chain import TWIST_JOINT, Chain, pointing
from poise.kernels.gaze.expressive.aim import turn_to
from poise.kernels.gaze.expressive.bounded_step import remove_roll, tip_and_axes, turn_between
from poise.kernels.gaze.expressive.workspace import (
    AXIS_ROWS,
    BOX_LOWER_ROW,
    BOX_UPPER_ROW,
    COMPLIANCE_ROW,
    FIXED_ROW,
    REFERENCE_ROW,
    STEP_LOWER_ROW,
    STEP_ROW,
    STEP_UPPER_ROW,
    UNBOUNDED_STEP_ROW,
)
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.vector import Vector, dot, length, scale

Array = np.ndarray

LOST = 1e-6
"""A direction whose error is above this is not faced [rad]."""
GAZE_HELD = 1e-10
"""A direction error below this counts as zero [rad]."""
HOLD_AT_REST = 1e-9
"""Gauss–Newton stops after a step below this [rad] if the gaze is held."""
GAZE_DAMPING = 1e-7
"""μ of the module docstring."""
MULTIPLIER_ROUNDING = 1e-9
"""A multiplier that points inwards by less than this counts as zero; the stiffnesses are of order 1."""


@kernel
def moving(chain: Chain) -> int:
    """Number of joints that change the pointing direction: all but a twister at the tip."""
    n = chain.role.shape[0]
    return n - 1 if n > 1 and chain.role[n - 1] == TWIST_JOINT else n


@kernel
def box_round(chain: Chain, work: Array, row: int, rate: float) -> None:
    """Set the box BOX_LOWER_ROW … BOX_UPPER_ROW to the limits, at most `rate` from `work[row]`."""
    lower, upper = chain.lower, chain.upper
    for k in range(lower.shape[0]):
        here = work[row, k]
        work[BOX_LOWER_ROW, k] = min(here, max(lower[k], here - rate))
        work[BOX_UPPER_ROW, k] = max(here, min(upper[k], here + rate))


@kernel
def _multiplier(work: Array, n: int, e: Vector, p: Vector) -> Vector:
    """λ of the free joints, while the fixed ones keep their steps in STEP_ROW.

    The components along p were removed from J, so p pᵀ is added, which keeps the three equations well-conditioned.
    """
    xx, xy, xz = GAZE_DAMPING + p.x * p.x, p.x * p.y, p.x * p.z
    yy, yz, zz = GAZE_DAMPING + p.y * p.y, p.y * p.z, GAZE_DAMPING + p.z * p.z
    ex, ey, ez = e.x, e.y, e.z
    for k in range(n):
        x, y, z = work[AXIS_ROWS, k], work[AXIS_ROWS + 1, k], work[AXIS_ROWS + 2, k]
        s = work[STEP_ROW, k]
        if work[FIXED_ROW, k] == 0.0:
            s, compliance = work[UNBOUNDED_STEP_ROW, k], work[COMPLIANCE_ROW, k]
            xx += compliance * x * x
            xy += compliance * x * y
            xz += compliance * x * z
            yy += compliance * y * y
            yz += compliance * y * z
            zz += compliance * z * z
        ex -= s * x
        ey -= s * y
        ez -= s * z
    cxx, cxy, cxz = yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy
    cyy, cyz, czz = xx * zz - xz * xz, xy * xz - xx * yz, xx * yy - xy * xy
    inverse = 1.0 / (xx * cxx + xy * cxy + xz * cxz)
    return Vector(
        (cxx * ex + cxy * ey + cxz * ez) * inverse,
        (cxy * ex + cyy * ey + cyz * ez) * inverse,
        (cxz * ex + cyz * ey + czz * ez) * inverse,
    )


@kernel
def _free_optimum(work: Array, k: int, multiplier: Vector) -> float:
    """The step b + H⁻¹ Jᵀ λ of joint `k`, without its bounds [rad]."""
    z = Vector(work[AXIS_ROWS, k], work[AXIS_ROWS + 1, k], work[AXIS_ROWS + 2, k])
    return work[UNBOUNDED_STEP_ROW, k] + work[COMPLIANCE_ROW, k] * dot(z, multiplier)


@kernel
def _fix_first(work: Array, n: int, multiplier: Vector) -> bool:
    """Move the free joints towards their optimum until one meets a bound, and fix it; returns whether one did."""
    share, first, bound = 1.0, -1, 0.0
    for k in range(n):
        if work[FIXED_ROW, k] == 0.0:
            s, end = work[STEP_ROW, k], _free_optimum(work, k, multiplier)
            limit = work[STEP_UPPER_ROW, k] if end > s else work[STEP_LOWER_ROW, k]
            if abs(end - s) > abs(limit - s) and (limit - s) / (end - s) < share:
                share, first, bound = (limit - s) / (end - s), k, limit
    for k in range(n):
        if work[FIXED_ROW, k] == 0.0:
            s = work[STEP_ROW, k] + share * (_free_optimum(work, k, multiplier) - work[STEP_ROW, k])
            work[STEP_ROW, k] = min(work[STEP_UPPER_ROW, k], max(work[STEP_LOWER_ROW, k], s))
    if first >= 0:
        work[STEP_ROW, first], work[FIXED_ROW, first] = bound, 1.0
    return first >= 0


@kernel
def _release_worst(work: Array, n: int, multiplier: Vector) -> bool:
    """Release the fixed joint that its multiplier moves inwards most; returns whether there is one."""
    worst, out = MULTIPLIER_ROUNDING, -1
    for k in range(n):
        if work[FIXED_ROW, k] == 1.0 and work[STEP_UPPER_ROW, k] > work[STEP_LOWER_ROW, k]:
            force = (_free_optimum(work, k, multiplier) - work[STEP_ROW, k]) / work[COMPLIANCE_ROW, k]
            inwards = force if work[STEP_ROW, k] == work[STEP_LOWER_ROW, k] else -force
            if inwards > worst:
                worst, out = inwards, k
    if out >= 0:
        work[FIXED_ROW, out] = 0.0
    return out >= 0


@kernel
def step_in_box(work: Array, n: int, e: Vector, p: Vector) -> None:
    """Change the preferred step b in STEP_ROW to the step s of the module docstring.

    The box is STEP_LOWER_ROW … STEP_UPPER_ROW, 1 / h is COMPLIANCE_ROW, and J is in AXIS_ROWS, without its components
    along p.
    """
    for k in range(n):
        s = work[UNBOUNDED_STEP_ROW, k] = work[STEP_ROW, k]
        work[STEP_ROW, k] = min(work[STEP_UPPER_ROW, k], max(work[STEP_LOWER_ROW, k], s))
        work[FIXED_ROW, k] = 0.0 if work[STEP_LOWER_ROW, k] < s < work[STEP_UPPER_ROW, k] else 1.0
    for _ in range(6 * n):
        multiplier = _multiplier(work, n, e, p)
        if not _fix_first(work, n, multiplier) and not _release_worst(work, n, multiplier):
            break


@kernel
def hold(chain: Chain, d: Vector, slack: float, steps: int, work: Array, row: int) -> float:
    """Bring `work[row]` to the direction d inside the box, near REFERENCE_ROW; returns the direction error [rad].

    A direction error up to `slack` counts as none.

    COMPLIANCE_ROW holds 1 / h_k, and the box is BOX_LOWER_ROW … BOX_UPPER_ROW.
    """
    n = chain.role.shape[0]
    for _ in range(steps):
        p = pointing(tip_and_axes(chain, work, row))
        e = _beyond(turn_between(p, d), slack)
        remove_roll(work, n, p)
        for k in range(n):
            work[STEP_ROW, k] = turn_to(chain, k, work[row, k], work[REFERENCE_ROW, k])
            work[STEP_LOWER_ROW, k] = work[BOX_LOWER_ROW, k] - work[row, k]
            work[STEP_UPPER_ROW, k] = work[BOX_UPPER_ROW, k] - work[row, k]
        step_in_box(work, n, e, p)
        largest = 0.0
        for k in range(n):
            work[row, k] += work[STEP_ROW, k]
            largest = max(largest, abs(work[STEP_ROW, k]))
        if largest < HOLD_AT_REST and length(e) < GAZE_HELD:
            break
    return length(_beyond(turn_between(pointing(tip_and_axes(chain, work, row)), d), slack))


@kernel
def _beyond(e: Vector, slack: float) -> Vector:
    """The rotation vector e shortened by `slack` [rad]."""
    return scale(e, max(0.0, 1.0 - slack / length(e))) if slack > 0.0 and length(e) > 0.0 else e
