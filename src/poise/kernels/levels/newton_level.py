"""A level with curvature, solved by Newton's method on a face: see `levels` for the method.

Write x = x_s + Z t, with x_s the decided part of the step and Z a basis of the undecided directions. Level k then
minimises ½ tᵀ (B + λ² 1) t - gᵀ t with

    B = (A Z)ᵀ (A Z) + Zᵀ S Z,    g = Zᵀ (Aᵀ (b - A x_s) - S x_s).

Where B + λ² 1 is not positive definite on the face, a shift δ 1 is added, with the smallest δ of a geometric series
that makes it positive definite: the step is then shorter, but still a descent direction. A direction of negative
curvature is kept for the caller, who may be at a saddle point. The levels below may move in the null space of B, along
which the level does not change to second order.

**Straight limbs.** A straight knee or elbow is at its limit, and bending it changes the length of the limb at second
order only: the multiplier of the limit is zero, or nearly so, and the curvature along the bend may be negative. The
optimum on the face with the limit locked is then no minimum [Nocedal & Wright 2006, 12.5: the second-order condition
holds on the cone of directions that leave such limits inwards]. So negative curvature is also looked for with all
limits free that hardly bind.
"""

import math

import numpy as np
from numpy import uint64

from poise.kernels.jit.compile import inner_kernel
from poise.kernels.levels.equality_solve import (
    block_of,
    dot,
    finish_face,
    from_coordinates,
    lock_limits,
    make_reflector,
    reduce_rows,
    reflect,
    reflect_columns,
    to_coordinates,
)
from poise.kernels.levels.workspace import ROW_BLOCK, LevelsWork

Array = np.ndarray

FLAT_PIVOT = 1e-9
"""Pivot, as a share of the largest diagonal entry, below which a Hessian is not positive definite."""
FIRST_SHIFT, SHIFT_GROWTH, MAX_SHIFTS = 1e-3, 4.0, 40
"""First shift, as a share of the largest diagonal entry, its growth per attempt, and the number of attempts."""
MAX_SHIFT_TRIALS = 4
"""Number of smaller shifts to try after one that is enough."""
HESSIAN_RANK_TOLERANCE = 1e-6
"""Pivot, as a share of the first pivot, below which rows of a curved level's Hessian are linearly dependent."""
STEEP_SLOPE = 1e-3
"""Slope of a level's squared error, as a share of its target, above which the level still has a descent direction."""
WEAK_MULTIPLIER = 0.05
"""Multiplier of a limit, as a share of the largest curvature, up to which the limit hardly binds: half a leap off a
saddle point [rad or m], after which the curvature along it can have gained more than the multiplier has cost."""
NEGLIGIBLE_SLOPE = 1e-9
"""Largest slope of a level that may be rounding, relative to the sum of the sizes of its terms."""
POWER_STEPS = 5
"""Inverse iterations that turn a direction of negative curvature towards the most negative one."""


@inner_kernel
def prepare_curved(work: LevelsWork, curvature: Array, k: int, decided: int) -> None:
    """Compute the Hessian and the negative gradient of curved level `k` in the undecided coordinates."""
    n, first = work.n, work.level_start[k]
    m = work.level_start[k + 1] - first
    _curve(work, curvature, k, decided)
    for c in range(n):
        work.row[c] = work.y[c] if c < decided else 0.0
    from_coordinates(work, decided, work.row)
    begin, end = uint64(decided), uint64(n)
    for d in range(begin, end):
        work.gradient[d] = 0.0
    for a in range(n):
        value = work.row[a]
        for d in range(begin, end):
            work.gradient[d] -= work.product[a, d] * value
    if k == work.level_count:
        for c in range(n):
            work.wished[c] = work.wish[c]
        to_coordinates(work, 0, decided, work.wished)
        for c in range(begin, end):
            work.gradient[c] += work.wished[c]
            work.hessian[c, c] += 1.0
    for r in range(m):
        total = work.target[first + r]
        for c in range(decided):
            total -= work.columns[c, first + r] * work.y[c]
        for c in range(begin, end):
            work.row[c] = work.columns[c, first + r]
        for c in range(begin, end):
            value = work.row[c]
            work.gradient[c] += value * total
            for d in range(c, end):
                work.hessian[c, d] += value * work.row[d]
    for c in range(begin, end):
        for d in range(begin, c):
            work.hessian[c, d] = work.hessian[d, c]


@inner_kernel
def _curve(work: LevelsWork, curvature: Array, k: int, decided: int) -> None:
    """Compute S `z` into `product`, and the upper triangle of Zᵀ S `z` into `hessian`."""
    n = work.n
    begin, end, size = uint64(block_of(decided)), uint64(block_of(n + ROW_BLOCK - 1)), uint64(n)
    for c in range(size):
        for d in range(begin, end):
            work.basis[c, d] = 0.0
            work.hessian[c, d] = 0.0
    for d in range(decided, n):
        work.basis[d, d] = 1.0
    for j in range(decided - 1, -1, -1):
        reflect_columns(work, j, work.basis, begin, end)  # type: ignore[arg-type]
    for a in range(size):
        if not _multiply(work, curvature, k, a, begin, end):  # type: ignore[arg-type]
            continue
        for c in range(uint64(decided), size):
            value = work.basis[a, c]
            for d in range(c, end):
                work.hessian[c, d] += value * work.product[a, d]


@inner_kernel
def _multiply(work: LevelsWork, curvature: Array, k: int, a: int, begin: int, end: int) -> bool:
    """Compute row `a` of `product` = S `basis`; returns False when it is zero, as for joints of different limbs."""
    size, first, last = uint64(work.n), uint64(begin), uint64(end)
    for d in range(first, last):
        work.product[a, d] = 0.0
    some = False
    for c in range(size):
        value = curvature[k, a, c]
        if value == 0.0:
            continue
        some = True
        for d in range(first, last):
            work.product[a, d] += value * work.basis[c, d]
    return some


@inner_kernel
def _turn(work: LevelsWork, decided: int, s: int) -> None:
    """Apply the reflections of the locked limits to the Hessian and the negative gradient.

    For each reflection H B H = B - v wᵀ - w vᵀ, with w in `row`.
    """
    begin, end = uint64(decided), uint64(work.n)
    for c in range(begin, end):
        work.downhill[c] = work.gradient[c]
        for d in range(begin, end):
            work.face_hessian[c, d] = work.hessian[c, d]
    for j in range(begin, uint64(s)):
        reflect(work, j, work.downhill)
        scale = work.scales[j]
        for d in range(begin, end):
            work.row[d] = 0.0
        for c in range(j, end):
            v = scale * work.reflectors[j, c]
            for d in range(begin, end):
                work.row[d] += v * work.face_hessian[c, d]
        along = 0.0
        for c in range(j, end):
            along += work.reflectors[j, c] * work.row[c]
        for c in range(j, end):
            work.row[c] -= 0.5 * scale * along * work.reflectors[j, c]
        for c in range(begin, end):
            w = work.row[c]
            for d in range(j, end):
                work.face_hessian[c, d] -= w * work.reflectors[j, d]
        for c in range(j, end):
            v = work.reflectors[j, c]
            for d in range(begin, end):
                work.face_hessian[c, d] -= v * work.row[d]


@inner_kernel
def solve_curved(work: LevelsWork, general: Array, k: int, decided: int, locked: Array) -> None:
    """Find the optimum of curved level `k` with the `locked` limits as equalities, in `trial_point`.

    The shift never shrinks from face to face, so that all faces belong to one convex problem.
    """
    n, square = work.n, work.damping[k] * work.damping[k]
    for c in range(decided):
        work.z[c] = work.y[c]
    s = decided + lock_limits(work, general, decided, locked)
    _turn(work, decided, s)
    largest = square
    for c in range(s, n):
        largest = max(largest, abs(work.face_hessian[c, c]) + square)
    for c in range(decided, s):
        for d in range(s, n):
            work.downhill[d] -= work.face_hessian[c, d] * work.z[c]
    failed = _factor(work, s, square + work.shift[k], FLAT_PIVOT * largest)
    if work.escape_level == k:
        work.escape_level = -1
        work.escape_curvature = 0.0
    if failed >= 0:
        first = work.escape_level < 0
        if first:
            _begin_escape(work, failed, s)
        for _ in range(MAX_SHIFTS):
            shift = SHIFT_GROWTH * work.shift[k] if work.shift[k] > 0.0 else FIRST_SHIFT * max(largest, 1e-6)
            work.shift[k] = shift
            if _factor(work, s, square + shift, FLAT_PIVOT * largest) < 0:
                break
        if first and _escape(work, s, square):
            work.escape_level = k
            _refine_shift(work, k, s, square, FLAT_PIVOT * largest)
    for c in range(s, n):
        work.z[c] = work.downhill[c]
    _solve_factored(work, s, work.z)
    finish_face(work, s)


@inner_kernel
def descends(work: LevelsWork, k: int, decided: int) -> bool:
    """Whether curved level `k` improves at once on the way from `x` to the optimum of the face just solved.

    With B not positive definite, a face far from `x` can have an optimum beyond a hill: better, according to the model,
    but no shorter step towards it helps. In the coordinates of the face, with e from the optimum z to `x`, the slope of
    the level at `x` along e is eᵀ ((B + λ² 1) (z + e) - g).
    """
    n, s, square = work.n, decided + work.lock_count, work.damping[k] * work.damping[k]
    for c in range(n):
        work.row[c] = work.x[c]
    to_coordinates(work, 0, s, work.row)
    for c in range(decided, n):
        work.row[c] -= work.z[c]
    slope, size = 0.0, 0.0
    for c in range(decided, n):
        force = square * (work.z[c] + work.row[c]) - work.downhill[c]
        for d in range(decided, s):
            force += work.face_hessian[c, d] * (work.row[d] if c >= s else work.z[d] + work.row[d])
        for d in range(s, n):
            force += work.face_hessian[c, d] * (work.z[d] + work.row[d])
        slope += work.row[c] * force
        size += abs(work.row[c] * force)
    return slope >= -NEGLIGIBLE_SLOPE * size


@inner_kernel
def look_past_limits(work: LevelsWork, general: Array, k: int, decided: int, locked: Array, free: Array) -> None:
    """Look for negative curvature of curved level `k`, just solved, with the limits free that hardly bind.

    `locked` are the limits locked at its optimum, `free` is workspace of the same size. The solution is kept.
    """
    n, square, largest, weak = work.n, work.damping[k] * work.damping[k], 0.0, 0
    for c in range(decided, n):
        largest = max(largest, abs(work.hessian[c, c]) + square)
    for i in range(free.shape[0]):
        free[i] = locked[i]
    for t in range(work.lock_count):
        i = work.locks[t]
        if i < n and abs(work.lock_multipliers[t]) <= WEAK_MULTIPLIER * largest and work.lower[i] < work.upper[i]:
            free[i] = 0
            weak += 1
    if weak == 0 or (work.shift[k] == 0.0 and not _may_bend(work, decided, square, FLAT_PIVOT * largest, free)):
        return
    s = decided + lock_limits(work, general, decided, free)
    _turn(work, decided, s)
    found, shift = False, FIRST_SHIFT * max(largest, 1e-6)
    failed = _factor(work, s, square, FLAT_PIVOT * largest)
    if failed >= 0:
        _begin_escape(work, failed, s)
        for _ in range(MAX_SHIFTS):
            if _factor(work, s, square + shift, FLAT_PIVOT * largest) < 0:
                break
            shift *= SHIFT_GROWTH
        found = _escape(work, s, square)
    solve_curved(work, general, k, decided, locked)
    if found:
        work.escape_level = k


@inner_kernel
def _may_bend(work: LevelsWork, decided: int, square: float, flat: float, free: Array) -> bool:
    """Whether some motion of the locks in `free` that are 0 has no positive curvature, if other joints respond to it.

    Uses the face just solved. Motion t moves lock t by 1 and no other lock; the coordinates f of the face respond by
    the optimal -H_ff⁻¹ H_fl v_t. The curvatures of all these motions together, the Schur complement of H_ff, are tested
    for positive definiteness by elimination. This costs far less than the solution of another face.
    """
    n, s, count = work.n, decided + work.lock_count, 0
    motions, curvatures = work.basis, work.product
    for t in range(work.lock_count):
        if work.locks[t] >= n or free[work.locks[t]] != 0:
            continue
        motion = motions[count]
        for c in range(n):
            motion[c] = 0.0
        motion[decided + t] = 1.0 / work.triangle[decided + t, decided + t]
        for c in range(decided + t + 1, s):
            total = 0.0
            for d in range(decided + t, c):
                total += work.triangle[c, d] * motion[d]
            motion[c] = -total / work.triangle[c, c]
        for c in range(s, n):
            total = 0.0
            for d in range(decided + t, s):
                total -= work.face_hessian[c, d] * motion[d]
            motion[c] = total
        _solve_factored(work, s, motion)
        for c in range(decided, s):
            total = square * motion[c]
            for d in range(decided + t, n):
                total += work.face_hessian[c, d] * motion[d]
            work.row[c] = total
        count += 1
        for e in range(count):
            curvatures[e, count - 1] = dot(motions[e], work.row, decided, s)
    for j in range(count):
        pivot, size = curvatures[j, j], dot(motions[j], motions[j], decided, n)
        if pivot <= flat * size:
            beside = 0.0
            for e in range(j + 1, count):
                beside = max(beside, abs(curvatures[j, e]))
            if pivot < -flat * size or beside > flat * size:
                return True
            continue
        for e in range(j + 1, count):
            share = curvatures[j, e] / pivot
            for f in range(e, count):
                curvatures[e, f] -= share * curvatures[j, f]
    return False


@inner_kernel
def _refine_shift(work: LevelsWork, k: int, s: int, square: float, flat: float) -> None:
    """Reduce the shift towards twice the most negative curvature, which flips its sign.

    A larger shift slows the level down along all directions in which it is almost flat. The shift is between one that
    is enough and twice the curvature along `escape`, which is enough if no curvature is more negative; the interval is
    halved in proportion a few times.
    """
    enough, least = work.shift[k], -2.0 * work.escape_curvature
    trial, factored = least, True
    for _ in range(MAX_SHIFT_TRIALS):
        if trial >= enough:
            break
        factored = _factor(work, s, square + trial, flat) < 0
        if factored:
            enough = trial
            break
        least = trial
        trial = math.sqrt(least * enough)
    work.shift[k] = enough
    if not factored:
        _factor(work, s, square + enough, flat)


@inner_kernel
def _factor(work: LevelsWork, s: int, added: float, flat: float) -> int:
    """Factorise the free block, with `added` on its diagonal, as L D Lᵀ; returns the row that failed, or -1.

    D Lᵀ is stored in the upper triangle. A direction without curvature and without gradient is left out: its pivot is
    set to 0.
    """
    begin, n = uint64(s), uint64(work.n)
    pulled = 0.0
    for c in range(begin, n):
        work.row[c] = work.downhill[c]
        pulled = max(pulled, abs(work.row[c]))
        for d in range(c, n):
            work.factor[c, d] = work.face_hessian[c, d]
        work.factor[c, c] += added
    for j in range(begin, n):
        pivot, pull, next_row = work.factor[j, j], work.row[j], j + uint64(1)
        if pivot <= flat:
            beside = 0.0
            for d in range(next_row, n):
                beside = max(beside, abs(work.factor[j, d]))
            if pivot < -flat or abs(pull) > FLAT_PIVOT * pulled or beside > flat:
                return s + int(j - begin)
            work.factor[j, j] = 0.0
            continue
        inverse = 1.0 / pivot
        for c in range(next_row, n):
            share = work.factor[j, c] * inverse
            work.row[c] -= share * pull
            for d in range(c, n):
                work.factor[c, d] -= share * work.factor[j, d]
    return -1


@inner_kernel
def minds_all(work: LevelsWork, k: int, s: int) -> bool:
    """Whether the Hessian of curved level `k` has full rank, so that the levels below have no freedom left."""
    if work.damping[k] > 0.0 or work.shift[k] > 0.0:
        return False
    least, most = math.inf, 1.0
    for c in range(s, work.n):
        least, most = min(least, work.factor[c, c]), max(most, work.factor[c, c])
    return least > HESSIAN_RANK_TOLERANCE * most


@inner_kernel
def _solve_factored(work: LevelsWork, s: int, point: Array) -> None:
    """point ← (L D Lᵀ)⁻¹ point from coordinate `s` on."""
    n = work.n
    for j in range(s, n):
        if work.factor[j, j] > 0.0:
            share = point[j] / work.factor[j, j]
            for d in range(j + 1, n):
                point[d] -= work.factor[j, d] * share
    for j in range(n - 1, s - 1, -1):
        if work.factor[j, j] > 0.0:
            total = point[j]
            for d in range(j + 1, n):
                total -= work.factor[j, d] * point[d]
            point[j] = total / work.factor[j, j]
        else:
            point[j] = 0.0


@inner_kernel
def factor_curved(work: LevelsWork, general: Array, k: int, decided: int, held: Array) -> tuple[int, int]:
    """Factorise the `held` limits and the Hessian on their face; returns the number of locks and the rank."""
    n = work.n
    count = lock_limits(work, general, decided, held)
    s = decided + count
    _turn(work, decided, s)
    if s == n:
        return count, 0
    for c in range(decided, s):
        for d in range(s, n):
            work.downhill[d] -= work.face_hessian[c, d] * work.z[c]
    rank = reduce_rows(work, work.face_hessian, s, n - s, s, block_of(n + ROW_BLOCK - 1), HESSIAN_RANK_TOLERANCE)
    return count, rank + _keep_downhill(work, k, s, s + rank)


@inner_kernel
def _keep_downhill(work: LevelsWork, k: int, s: int, used: int) -> int:
    """Reserve the gradient's component in the null space of the Hessian by one reflection; returns how many were added.

    Where the curvature along a direction changes sign, the Hessian vanishes there although the level still improves
    along it: the levels below must not use that direction.
    """
    n, size = work.n, 0.0
    if used == n:
        return 0
    for r in range(work.level_start[k], work.level_start[k + 1]):
        size += work.target[r] * work.target[r]
    for c in range(n):
        work.row[c] = work.downhill[c]
    to_coordinates(work, s, used, work.row)
    tail = dot(work.row, work.row, used, n)
    if tail <= STEEP_SLOPE * STEEP_SLOPE * size:
        return 0
    make_reflector(work, used, tail)
    return 1


@inner_kernel
def _begin_escape(work: LevelsWork, failed: int, s: int) -> None:
    """Start the search for a direction of negative curvature from a factorisation that failed, in coordinates.

    From the failed row on, the factor holds the Schur complement of the Hessian; a pivot near zero with a nonzero entry
    beside it has negative curvature in the plane of both. The coordinate axis of least curvature is added, because the
    direction found may be an eigenvector that is orthogonal to the most negative one.
    """
    n = work.n
    for c in range(n):
        work.escape[c] = 0.0
    work.escape[failed] = 1.0
    partner = failed
    for d in range(failed + 1, n):
        if abs(work.factor[failed, d]) > abs(work.factor[failed, partner]):
            partner = d
    if partner != failed:
        beside = work.factor[failed, partner]
        work.escape[partner] = -math.copysign(
            min(1.0, abs(beside) / (abs(work.factor[partner, partner]) + abs(beside))), beside
        )
    for j in range(failed - 1, s - 1, -1):
        if work.factor[j, j] > 0.0:
            total = 0.0
            for d in range(j + 1, n):
                total -= work.factor[j, d] * work.escape[d]
            work.escape[j] = total / work.factor[j, j]
    least = s
    for c in range(s, n):
        if work.face_hessian[c, c] < work.face_hessian[least, least]:
            least = c
    work.escape[least] += 1.0


@inner_kernel
def _escape(work: LevelsWork, s: int, square: float) -> bool:
    """Refine `escape` by inverse iteration towards the most negative curvature; returns whether that is negative."""
    n = work.n
    for _ in range(POWER_STEPS):
        _solve_factored(work, s, work.escape)
        size = 0.0
        for c in range(s, n):
            size += work.escape[c] * work.escape[c]
        if size == 0.0:
            return False
        size = 1.0 / math.sqrt(size)
        for c in range(s, n):
            work.escape[c] *= size
    curvature, slope = square, 0.0
    for c in range(s, n):
        total = 0.0
        for d in range(s, n):
            total += work.face_hessian[c, d] * work.escape[d]
        curvature += total * work.escape[c]
        slope += work.downhill[c] * work.escape[c]
    if curvature >= 0.0:
        return False
    if slope < 0.0:
        for c in range(s, n):
            work.escape[c] = -work.escape[c]
    from_coordinates(work, s, work.escape)
    work.escape_curvature = curvature
    return True
