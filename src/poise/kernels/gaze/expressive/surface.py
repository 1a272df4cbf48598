"""The self-motion manifold of a chain with a twister at its root: the postures that face a given direction.

A twister (roll joint) at the root turns the whole chain about its axis r. So some angle of the root faces the direction
d whenever the *height* of the pointing direction p over the plane perpendicular to r is that of d:

    r · p(m) = r · d          m: all joints but the root

This is one equation for n - 1 joints, so its solutions form a surface. As a function of a single joint it is C_k + A_k
cos θ_k + B_k sin θ_k = r · d, with Q_k the frame of joint k at angle 0 and v the pointing direction in the rotated
frame of joint k,

    u = Q_k⁻¹ r:   C = (a·u)(a·v),  A = u·v - C,  B = u·(a × v)

A *pivot* is a solution of this equation for one joint: the joint reaches the height alone, in closed form.
"""

import math

import numpy as np

from poise.kernels.chains.chain import Chain, wrapped
from poise.kernels.gaze.expressive.workspace import (
    HALF_COS_ROW,
    HALF_SIN_ROW,
    HEIGHT_CONSTANT_ROW,
    HEIGHT_COS_ROW,
    HEIGHT_SIN_ROW,
    HEIGHT_SLOPE_ROW,
    REST_FRAME_ROWS,
)
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.portable_trigonometry import arc_cosine, arc_tangent, sine_cosine
from poise.kernels.maths.quaternion import Quaternion, conjugate, multiply, quaternion_at, rotate
from poise.kernels.maths.vector import Vector, cross, dot, vector_at

Array = np.ndarray

MIN_HEIGHT_AMPLITUDE = 1e-9
"""A joint that changes the height by less than this amplitude is not used as a pivot."""
ANGLE_ROUNDING = 1e-12
"""Rounding error allowed at limits [rad] and in relative heights."""


@kernel
def root_axis(chain: Chain) -> Vector:
    """World axis of the joint at the root."""
    return rotate(quaternion_at(chain.rest, 0), vector_at(chain.axis, 0))


@kernel
def equivalent_angle(chain: Chain, k: int, angle: float) -> float:
    """The angle equal to `angle` modulo 2π within the limits of joint `k`; if there is none, the one in (-π, π]."""
    x = wrapped(angle)
    low, high = chain.lower[k] - ANGLE_ROUNDING, chain.upper[k] + ANGLE_ROUNDING
    if low <= x <= high:
        return x
    if low <= x + 2.0 * math.pi <= high:
        return x + 2.0 * math.pi
    if low <= x - 2.0 * math.pi <= high:
        return x - 2.0 * math.pi
    return x


@kernel
def height_coefficients(
    chain: Chain,
    work: Array,
    row: int,
    # outputs in work: REST_FRAME_ROWS, HEIGHT_CONSTANT_ROW, HEIGHT_COS_ROW, HEIGHT_SIN_ROW, HEIGHT_SLOPE_ROW
) -> Vector:
    """Write C, A, B and the slope of the height for every joint at the angles `work[row]`, with the root at angle 0.

    Returns the pointing direction.
    """
    axis, rest = chain.axis, chain.rest
    n = axis.shape[0]
    turned = quaternion_at(rest, 0)
    r = rotate(turned, vector_at(axis, 0))
    for k in range(1, n):
        turned = multiply(turned, quaternion_at(rest, k))
        work[REST_FRAME_ROWS, k], work[REST_FRAME_ROWS + 1, k] = turned.w, turned.x
        work[REST_FRAME_ROWS + 2, k], work[REST_FRAME_ROWS + 3, k] = turned.y, turned.z
        half = 0.5 * work[row, k]
        s, c = sine_cosine(half)
        work[HALF_COS_ROW, k], work[HALF_SIN_ROW, k] = c, s
        turned = multiply(turned, Quaternion(c, s * axis[k, 0], s * axis[k, 1], s * axis[k, 2]))
    v = Vector(0.0, 1.0, 0.0)
    for k in range(n - 1, 0, -1):
        a = vector_at(axis, k)
        before = Quaternion(
            work[REST_FRAME_ROWS, k],
            work[REST_FRAME_ROWS + 1, k],
            work[REST_FRAME_ROWS + 2, k],
            work[REST_FRAME_ROWS + 3, k],
        )
        u = rotate(conjugate(before), r)
        av = dot(a, v)
        level = av * dot(a, u)
        across = dot(u, v) - level
        along = dot(cross(a, v), u)
        hc, hs = work[HALF_COS_ROW, k], work[HALF_SIN_ROW, k]
        c, s = hc * hc - hs * hs, 2.0 * hc * hs
        work[HEIGHT_CONSTANT_ROW, k], work[HEIGHT_COS_ROW, k], work[HEIGHT_SIN_ROW, k] = level, across, along
        work[HEIGHT_SLOPE_ROW, k] = along * c - across * s
        v = rotate(quaternion_at(rest, k), rotate(Quaternion(hc, hs * a.x, hs * a.y, hs * a.z), v))
    return rotate(quaternion_at(rest, 0), v)


@kernel
def pivots(chain: Chain, work: Array, k: int, height: float) -> tuple[bool, float, bool, float]:
    """The two angles at which joint `k` alone reaches `height`.

    Returns (exists, angle, exists, angle): whether each is within limits, and its value clamped to the limits [rad].
    """
    across, along = work[HEIGHT_COS_ROW, k], work[HEIGHT_SIN_ROW, k]
    size = math.sqrt(across * across + along * along)
    wanted = height - work[HEIGHT_CONSTANT_ROW, k]
    if size < MIN_HEIGHT_AMPLITUDE or abs(wanted) > size * (1.0 + ANGLE_ROUNDING):
        return False, 0.0, False, 0.0
    away = arc_cosine(min(1.0, max(-1.0, wanted / size)))
    middle = arc_tangent(along, across)
    low, high = chain.lower[k], chain.upper[k]
    x, y = equivalent_angle(chain, k, middle + away), equivalent_angle(chain, k, middle - away)
    found = low - ANGLE_ROUNDING <= x <= high + ANGLE_ROUNDING
    other = low - ANGLE_ROUNDING <= y <= high + ANGLE_ROUNDING
    return found, min(high, max(low, x)), other, min(high, max(low, y))


@kernel
def nearest_height(chain: Chain, work: Array, k: int, height: float) -> float:
    """The angle of joint `k` within limits whose height is nearest to one that it cannot reach [rad]."""
    across, along = work[HEIGHT_COS_ROW, k], work[HEIGHT_SIN_ROW, k]
    wanted = height - work[HEIGHT_CONSTANT_ROW, k]
    top = arc_tangent(along, across)
    best, angle = math.inf, 0.0
    for choice in range(3):
        x = equivalent_angle(chain, k, top if wanted > 0.0 else top + math.pi)
        if choice > 0:
            x = chain.lower[k] if choice == 1 else chain.upper[k]
        if not chain.lower[k] <= x <= chain.upper[k] or math.isinf(x):
            continue
        s, c = sine_cosine(x)
        off = abs(across * c + along * s - wanted)
        if off < best - ANGLE_ROUNDING:
            best, angle = off, x
    return angle


@kernel
def sweep(chain: Chain, work: Array, row: int, height: float, downward: int) -> float:
    """Set the joints in turn to the angle nearest to the height until one reaches it; returns the height error.

    Args:
        chain: The chain.
        work: Workspace; `work[row]` holds the angles, and is changed.
        row: Row of the angles.
        height: Wanted value of r · p.
        downward: 1 to go from the tip to the root, 0 from the root to the tip.
    """
    n = chain.axis.shape[0]
    for i in range(1, n):
        k = n - i if downward else i
        height_coefficients(chain, work, row)
        across, along = work[HEIGHT_COS_ROW, k], work[HEIGHT_SIN_ROW, k]
        if math.sqrt(across * across + along * along) < MIN_HEIGHT_AMPLITUDE:
            continue
        found, x, other, y = pivots(chain, work, k, height)
        if found or other:
            if not found or (other and abs(y - work[row, k]) < abs(x - work[row, k])):
                x = y
            work[row, k] = x
            return 0.0
        work[row, k] = nearest_height(chain, work, k, height)
    return abs(dot(root_axis(chain), height_coefficients(chain, work, row)) - height)


@kernel
def heading(r: Vector, p: Vector, d: Vector) -> float:
    """Turn about r that brings p nearest to d [rad]; 0 if either is parallel to r."""
    y = dot(r, cross(p, d))
    x = dot(p, d) - dot(r, p) * dot(r, d)
    return arc_tangent(y, x) if x * x + y * y > 1e-24 else 0.0
