"""The surface of middle joints on which a chain faces a direction.

A twister at the root turns the whole chain about its axis r, so the direction d is faced, by the right angle of the
root, wherever the *height* of the pointing direction p over the root's equator is that of d:

    r · p(m) = r · d          m: all joints above the root

One equation. In each joint alone it reads C_k + A_k cos θ_k + B_k sin θ_k = r · d, with

    u = Q_k⁻¹ r,  v = what the rest of the chain makes of +Y:   C = (a·u)(a·v),  A = u·v - C,  B = u·(a × v)

so any joint that can meet it alone does so in closed form: a *pivot*.
"""

import math

import numpy as np

from poise.kernels.chains.chain import Chain, wrapped
from poise.kernels.gaze.expressive.workspace import ACROSS, ALONG, HALF_COS, HALF_SIN, LEVEL, PREFIX, SLOPE
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.portable_trigonometry import arc_cosine, arc_tangent, sine_cosine
from poise.kernels.maths.quaternion import Quaternion, conjugate, multiply, quaternion_at, rotate
from poise.kernels.maths.vector import Vector, cross, dot, vector_at

Array = np.ndarray

FLAT = 1e-9
"""A joint whose height changes by less than this does not pivot."""
ROUNDING = 1e-12


@kernel
def root_axis(chain: Chain) -> Vector:
    """World axis of the joint at the root."""
    return rotate(quaternion_at(chain.rest, 0), vector_at(chain.axis, 0))


@kernel
def placed(chain: Chain, k: int, angle: float) -> float:
    """The same rotation inside the limits of joint `k`, or the wrapped angle where they hold none."""
    x = wrapped(angle)
    low, high = chain.lower[k] - ROUNDING, chain.upper[k] + ROUNDING
    if low <= x <= high:
        return x
    if low <= x + 2.0 * math.pi <= high:
        return x + 2.0 * math.pi
    if low <= x - 2.0 * math.pi <= high:
        return x - 2.0 * math.pi
    return x


@kernel
def look_along(
    chain: Chain,
    work: Array,
    row: int,
    # outputs in work: PREFIX, LEVEL, ACROSS, ALONG, SLOPE
) -> Vector:
    """Height of the pointing direction as a function of every joint, at the angles `work[row]` with the root at 0.

    Returns the pointing direction.
    """
    axis, rest = chain.axis, chain.rest
    n = axis.shape[0]
    turned = quaternion_at(rest, 0)
    r = rotate(turned, vector_at(axis, 0))
    for k in range(1, n):
        turned = multiply(turned, quaternion_at(rest, k))
        work[PREFIX, k], work[PREFIX + 1, k] = turned.w, turned.x
        work[PREFIX + 2, k], work[PREFIX + 3, k] = turned.y, turned.z
        half = 0.5 * work[row, k]
        s, c = sine_cosine(half)
        work[HALF_COS, k], work[HALF_SIN, k] = c, s
        turned = multiply(turned, Quaternion(c, s * axis[k, 0], s * axis[k, 1], s * axis[k, 2]))
    v = Vector(0.0, 1.0, 0.0)
    for k in range(n - 1, 0, -1):
        a = vector_at(axis, k)
        before = Quaternion(work[PREFIX, k], work[PREFIX + 1, k], work[PREFIX + 2, k], work[PREFIX + 3, k])
        u = rotate(conjugate(before), r)
        av = dot(a, v)
        level = av * dot(a, u)
        across = dot(u, v) - level
        along = dot(cross(a, v), u)
        hc, hs = work[HALF_COS, k], work[HALF_SIN, k]
        c, s = hc * hc - hs * hs, 2.0 * hc * hs
        work[LEVEL, k], work[ACROSS, k], work[ALONG, k] = level, across, along
        work[SLOPE, k] = along * c - across * s
        v = rotate(quaternion_at(rest, k), rotate(Quaternion(hc, hs * a.x, hs * a.y, hs * a.z), v))
    return rotate(quaternion_at(rest, 0), v)


@kernel
def pivots(chain: Chain, work: Array, k: int, height: float) -> tuple[bool, float, bool, float]:
    """Whether joint `k` alone can bring the tip to `height`, and by which angle: twice, for there may be two."""
    across, along = work[ACROSS, k], work[ALONG, k]
    size = math.sqrt(across * across + along * along)
    wanted = height - work[LEVEL, k]
    if size < FLAT or abs(wanted) > size * (1.0 + ROUNDING):
        return False, 0.0, False, 0.0
    away = arc_cosine(min(1.0, max(-1.0, wanted / size)))
    middle = arc_tangent(along, across)
    low, high = chain.lower[k], chain.upper[k]
    x, y = placed(chain, k, middle + away), placed(chain, k, middle - away)
    found = low - ROUNDING <= x <= high + ROUNDING
    other = low - ROUNDING <= y <= high + ROUNDING
    return found, min(high, max(low, x)), other, min(high, max(low, y))


@kernel
def nearest_height(chain: Chain, work: Array, k: int, height: float) -> float:
    """The angle of joint `k` that comes nearest to a height it cannot reach."""
    across, along = work[ACROSS, k], work[ALONG, k]
    wanted = height - work[LEVEL, k]
    top = arc_tangent(along, across)
    best, angle = math.inf, 0.0
    for choice in range(3):
        x = placed(chain, k, top if wanted > 0.0 else top + math.pi)
        if choice > 0:
            x = chain.lower[k] if choice == 1 else chain.upper[k]
        if not chain.lower[k] <= x <= chain.upper[k] or math.isinf(x):
            continue
        s, c = sine_cosine(x)
        off = abs(across * c + along * s - wanted)
        if off < best - ROUNDING:
            best, angle = off, x
    return angle


@kernel
def sweep(chain: Chain, work: Array, row: int, height: float, downward: int) -> float:
    """Hand the height from joint to joint until one can meet it; returns what is still missing.

    Args:
        chain: The chain.
        work: Scratch; `work[row]` holds the angles, and is changed.
        row: Which row.
        height: What r · p is to be.
        downward: 1 to begin at the tip, 0 at the root.
    """
    n = chain.axis.shape[0]
    for i in range(1, n):
        k = n - i if downward else i
        look_along(chain, work, row)
        across, along = work[ACROSS, k], work[ALONG, k]
        if math.sqrt(across * across + along * along) < FLAT:
            continue
        found, x, other, y = pivots(chain, work, k, height)
        if found or other:
            if not found or (other and abs(y - work[row, k]) < abs(x - work[row, k])):
                x = y
            work[row, k] = x
            return 0.0
        work[row, k] = nearest_height(chain, work, k, height)
    return abs(dot(root_axis(chain), look_along(chain, work, row)) - height)


@kernel
def heading(r: Vector, p: Vector, d: Vector) -> float:
    """Angle about r that brings p nearest to d; 0 where either lies along r."""
    y = dot(r, cross(p, d))
    x = dot(p, d) - dot(r, p) * dot(r, d)
    return arc_tangent(y, x) if x * x + y * y > 1e-24 else 0.0
