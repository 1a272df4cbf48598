"""One step of a chain that faces something: rows of the error, and the step inside a box.

The error e is the world rotation vector that would bring the tip where it is wanted; of a direction only, the part of
it across the pointing direction p. A joint with world axis z turns the tip by z per radian, so the rows are
J = [z_1 … z_n], freed of p when only a direction is asked. A step s solves

    min ½ Σ h_k (s_k - b_k)² + |J s - e|² / (2 μ)      inside a box

whose answer without the box is s = b + H⁻¹ Jᵀ (J H⁻¹ Jᵀ + μ I)⁻¹ (e - J b): three equations, however long the chain.
The joint that would leave its box by most is put on its border and the rest is solved again; once none would leave, a
joint that its border holds back from the inside is let go again.
"""

import math

import numpy as np

from poise.kernels.chains.chain import Chain, pointing
from poise.kernels.gaze.expressive.workspace import AXIS, EASE, HELD, LEAST, MOST, PLAIN, STEP
from poise.kernels.gaze.measures import DIRECTED, Aim, Scoring, upside_down
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.portable_trigonometry import arc_tangent, rotation_vector, turn_about
from poise.kernels.maths.quaternion import Quaternion, conjugate, multiply, quaternion_at, rotate
from poise.kernels.maths.vector import Vector, cross, dot, length, orthogonal, scale, vector_at

Array = np.ndarray


@kernel
def look_round(chain: Chain, work: Array, row: int) -> Quaternion:
    """Frame of the tip at the angles `work[row]`; the world axes of all joints go to AXIS."""
    axis, rest = chain.axis, chain.rest
    turned = Quaternion(1.0, 0.0, 0.0, 0.0)
    for k in range(axis.shape[0]):
        a = vector_at(axis, k)
        turned = multiply(turned, quaternion_at(rest, k))
        z = rotate(turned, a)
        work[AXIS, k], work[AXIS + 1, k], work[AXIS + 2, k] = z.x, z.y, z.z
        turned = multiply(turned, turn_about(a, work[row, k]))
    return turned


@kernel
def nearer_way_up(scoring: Scoring, aim: Aim, tip: Quaternion) -> Quaternion:
    """The frame wanted, upside down where that is allowed and nearer."""
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
    """Rotation vector of the shortest turn that brings the direction p to d."""
    n = cross(p, d)
    s = length(n)
    if s < 1e-12:
        return scale(orthogonal(p), math.pi) if dot(p, d) < 0.0 else Vector(0.0, 0.0, 0.0)
    return scale(n, arc_tangent(s, dot(p, d)) / s)


@kernel
def turn_missing(scoring: Scoring, aim: Aim, tip: Quaternion) -> Vector:
    """World rotation vector from the tip to what is wanted of it."""
    if aim.kind == DIRECTED:
        return turn_between(pointing(tip), pointing(aim.rotation))
    return rotation_vector(multiply(nearer_way_up(scoring, aim, tip), conjugate(tip)))


@kernel
def free_of_roll(work: Array, n: int, p: Vector) -> None:
    """Take the part along the pointing direction p out of the world axes."""
    for k in range(n):
        roll = work[AXIS, k] * p.x + work[AXIS + 1, k] * p.y + work[AXIS + 2, k] * p.z
        work[AXIS, k] -= roll * p.x
        work[AXIS + 1, k] -= roll * p.y
        work[AXIS + 2, k] -= roll * p.z


@kernel
def box_step(work: Array, n: int, e: Vector, give: float, p: Vector) -> None:
    """Bend STEP so that J s = e as nearly as `give` μ and the box LEAST … MOST allow; stiffness 1 / EASE.

    `p` is the direction of which the rows are free, or zero: nothing is asked along it, and the three equations stay
    well-conditioned.
    """
    lx, ly, lz = 0.0, 0.0, 0.0
    for k in range(n):
        work[HELD, k] = 0.0
        work[PLAIN, k] = work[STEP, k]
    for _ in range(3 * n):
        xx, xy, xz = give + p.x * p.x, p.x * p.y, p.x * p.z
        yy, yz, zz = give + p.y * p.y, p.y * p.z, give + p.z * p.z
        ex, ey, ez = e.x, e.y, e.z
        for k in range(n):
            x, y, z = work[AXIS, k], work[AXIS + 1, k], work[AXIS + 2, k]
            s = work[STEP, k]
            ease = work[EASE, k] if work[HELD, k] <= 0.0 else 0.0
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
            if work[HELD, k] <= 0.0:
                force = work[AXIS, k] * lx + work[AXIS + 1, k] * ly + work[AXIS + 2, k] * lz
                s = work[STEP, k] + work[EASE, k] * force
                if work[LEAST, k] - s > worst:
                    worst, out, end = work[LEAST, k] - s, k, work[LEAST, k]
                if s - work[MOST, k] > worst:
                    worst, out, end = s - work[MOST, k], k, work[MOST, k]
        if out >= 0:
            work[STEP, out] = end
            work[HELD, out] = 1.0
            continue
        for k in range(n):
            if work[HELD, k] == 1.0:
                force = work[AXIS, k] * lx + work[AXIS + 1, k] * ly + work[AXIS + 2, k] * lz
                s = work[PLAIN, k] + work[EASE, k] * force
                inward = s - work[LEAST, k] if work[STEP, k] == work[LEAST, k] else work[MOST, k] - s
                if inward > worst:
                    worst, out = inward, k
        if out < 0:
            break
        work[STEP, out] = work[PLAIN, out]
        work[HELD, out] = -1.0
    for k in range(n):
        if work[HELD, k] <= 0.0:
            force = work[AXIS, k] * lx + work[AXIS + 1, k] * ly + work[AXIS + 2, k] * lz
            work[STEP, k] = min(work[MOST, k], max(work[LEAST, k], work[STEP, k] + work[EASE, k] * force))
