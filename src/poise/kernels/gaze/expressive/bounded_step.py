"""One step of a chain towards an orientation or direction: its residual, its Jacobian, and a box-constrained step.

The residual e is the world rotation vector from the tip to its wanted frame; for a direction, its part perpendicular to
the pointing direction p. A joint with world axis z turns the tip by z per radian, so the Jacobian is J = [z_1 … z_n],
without its component along p if only a direction is wanted. A step s solves

    min ½ Σ h_k (s_k - b_k)² + |J s - e|² / (2 μ)      inside a box

with stiffnesses h_k, preferred steps b_k and damping μ. The solution without the box is s = b + H⁻¹ Jᵀ (J H⁻¹ Jᵀ + μ
I)⁻¹ (e - J b): three equations, however long the chain. The box is handled by an active-set method: the joint that
exceeds its bound most is fixed at that bound and the rest is solved again; when no joint exceeds its bound, a fixed
joint whose multiplier points inside the box is released.
"""

import math

import numpy as np

from poise.kernels.chains.chain import Chain, pointing
from poise.kernels.gaze.expressive.workspace import (
    AXIS_ROWS,
    COMPLIANCE_ROW,
    FIXED_ROW,
    STEP_LOWER_ROW,
    STEP_ROW,
    STEP_UPPER_ROW,
    UNBOUNDED_STEP_ROW,
)
from poise.kernels.gaze.measures import DIRECTED, Aim, Scoring, upside_down
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.portable_trigonometry import arc_tangent, rotation_vector, turn_about
from poise.kernels.maths.quaternion import Quaternion, conjugate, multiply, quaternion_at, rotate
from poise.kernels.maths.vector import Vector, cross, dot, length, orthogonal, scale, vector_at

Array = np.ndarray


@kernel
def tip_and_axes(chain: Chain, work: Array, row: int) -> Quaternion:
    """Forward kinematics at the angles `work[row]`: returns the tip's frame and writes all joint axes to AXIS_ROWS."""
    axis, rest = chain.axis, chain.rest
    turned = Quaternion(1.0, 0.0, 0.0, 0.0)
    for k in range(axis.shape[0]):
        a = vector_at(axis, k)
        turned = multiply(turned, quaternion_at(rest, k))
        z = rotate(turned, a)
        work[AXIS_ROWS, k], work[AXIS_ROWS + 1, k], work[AXIS_ROWS + 2, k] = z.x, z.y, z.z
        turned = multiply(turned, turn_about(a, work[row, k]))
    return turned


@kernel
def nearer_tip_frame(scoring: Scoring, aim: Aim, tip: Quaternion) -> Quaternion:
    """The wanted frame, or the wanted frame upside down if that is allowed and nearer to `tip`."""
    wanted = aim.rotation
    if scoring.symmetric:
        other = upside_down(wanted)
        here = abs(wanted.w * tip.w + wanted.x * tip.x + wanted.y * tip.y + wanted.z * tip.z)
        there = abs(other.w * tip.w + other.x * tip.x + other.y * tip.y + other.z * tip.z)
        if there > here:
            return other
    return wanted


@kernel
def turn_between(p: Vector, d: Vector) -> Vector:
    """Rotation vector of the smallest rotation that takes the direction p to d [rad]."""
    n = cross(p, d)
    s = length(n)
    if s < 1e-12:
        return scale(orthogonal(p), math.pi) if dot(p, d) < 0.0 else Vector(0.0, 0.0, 0.0)
    return scale(n, arc_tangent(s, dot(p, d)) / s)


@kernel
def orientation_residual(scoring: Scoring, aim: Aim, tip: Quaternion) -> Vector:
    """World rotation vector from the tip to its wanted frame or direction [rad]."""
    if aim.kind == DIRECTED:
        return turn_between(pointing(tip), pointing(aim.rotation))
    return rotation_vector(multiply(nearer_tip_frame(scoring, aim, tip), conjugate(tip)))


@kernel
def remove_roll(work: Array, n: int, p: Vector) -> None:
    """Subtract from the axes in AXIS_ROWS their components along the pointing direction p."""
    for k in range(n):
        roll = work[AXIS_ROWS, k] * p.x + work[AXIS_ROWS + 1, k] * p.y + work[AXIS_ROWS + 2, k] * p.z
        work[AXIS_ROWS, k] -= roll * p.x
        work[AXIS_ROWS + 1, k] -= roll * p.y
        work[AXIS_ROWS + 2, k] -= roll * p.z


@kernel
def box_step(work: Array, n: int, e: Vector, damping: float, p: Vector) -> None:
    """Change the preferred step b in STEP_ROW to the box-constrained step s of the module docstring.

    The box is STEP_LOWER_ROW … STEP_UPPER_ROW, the stiffnesses are 1 / COMPLIANCE_ROW, J is in AXIS_ROWS, and `damping`
    is μ. If the components along a direction were removed from J, `p` is that direction, which keeps the three
    equations well-conditioned; otherwise `p` is zero.
    """
    lx, ly, lz = 0.0, 0.0, 0.0
    for k in range(n):
        work[FIXED_ROW, k] = 0.0
        work[UNBOUNDED_STEP_ROW, k] = work[STEP_ROW, k]
    for _ in range(3 * n):
        xx, xy, xz = damping + p.x * p.x, p.x * p.y, p.x * p.z
        yy, yz, zz = damping + p.y * p.y, p.y * p.z, damping + p.z * p.z
        ex, ey, ez = e.x, e.y, e.z
        for k in range(n):
            x, y, z = work[AXIS_ROWS, k], work[AXIS_ROWS + 1, k], work[AXIS_ROWS + 2, k]
            s = work[STEP_ROW, k]
            ease = work[COMPLIANCE_ROW, k] if work[FIXED_ROW, k] <= 0.0 else 0.0
            ex -= s * x
            ey -= s * y
            ez -= s * z
            xx += ease * x * x
            xy += ease * x * y
            xz += ease * x * z
            yy += ease * y * y
            yz += ease * y * z
            zz += ease * z * z
        cxx, cxy, cxz = yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy
        cyy, cyz, czz = xx * zz - xz * xz, xy * xz - xx * yz, xx * yy - xy * xy
        inverse = 1.0 / (xx * cxx + xy * cxy + xz * cxz)
        lx = (cxx * ex + cxy * ey + cxz * ez) * inverse
        ly = (cxy * ex + cyy * ey + cyz * ez) * inverse
        lz = (cxz * ex + cyz * ey + czz * ez) * inverse
        worst, out, end = 1e-14, -1, 0.0
        for k in range(n):
            if work[FIXED_ROW, k] <= 0.0:
                force = work[AXIS_ROWS, k] * lx + work[AXIS_ROWS + 1, k] * ly + work[AXIS_ROWS + 2, k] * lz
                s = work[STEP_ROW, k] + work[COMPLIANCE_ROW, k] * force
                if work[STEP_LOWER_ROW, k] - s > worst:
                    worst, out, end = work[STEP_LOWER_ROW, k] - s, k, work[STEP_LOWER_ROW, k]
                if s - work[STEP_UPPER_ROW, k] > worst:
                    worst, out, end = s - work[STEP_UPPER_ROW, k], k, work[STEP_UPPER_ROW, k]
        if out >= 0:
            work[STEP_ROW, out] = end
            work[FIXED_ROW, out] = 1.0
            continue
        for k in range(n):
            if work[FIXED_ROW, k] == 1.0:
                force = work[AXIS_ROWS, k] * lx + work[AXIS_ROWS + 1, k] * ly + work[AXIS_ROWS + 2, k] * lz
                s = work[UNBOUNDED_STEP_ROW, k] + work[COMPLIANCE_ROW, k] * force
                inward = (
                    s - work[STEP_LOWER_ROW, k]
                    if work[STEP_ROW, k] == work[STEP_LOWER_ROW, k]
                    else work[STEP_UPPER_ROW, k] - s
                )
                if inward > worst:
                    worst, out = inward, k
        if out < 0:
            break
        work[STEP_ROW, out] = work[UNBOUNDED_STEP_ROW, out]
        work[FIXED_ROW, out] = -1.0
    for k in range(n):
        if work[FIXED_ROW, k] <= 0.0:
            force = work[AXIS_ROWS, k] * lx + work[AXIS_ROWS + 1, k] * ly + work[AXIS_ROWS + 2, k] * lz
            work[STEP_ROW, k] = min(
                work[STEP_UPPER_ROW, k],
                max(work[STEP_LOWER_ROW, k], work[STEP_ROW, k] + work[COMPLIANCE_ROW, k] * force),
            )
