"""The closed posture whose motor values are nearest to the wanted ones, when those are impossible.

Minimises ½ |m - m*|² over the closed postures inside the limits, with m the motor values and m* the wanted ones. With Z
a basis of the null space of the closure rows c, λ their multipliers and M the selection of the motors, a step d = Z y
solves

    Zᵀ (MᵀM + Σ λ_i ∇²c_i + ν) Z y = -Zᵀ g        g = Mᵀ (m - m*)

which is Newton's method on the manifold of closed postures. The loops of every trial posture are closed before its
objective is compared. The regularisation ν grows until the matrix is positive definite and the step reduces the
objective. Limits are handled by an active set: a joint that meets its limit is held there until the multiplier of the
limit changes sign [Nocedal & Wright 2006, 16.5]. A coupling or a ball joint limit that is met becomes one more row
beside the closures, for as long as it is active.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.body.tree import Tree, difference, integrate
from poise.kernels.jit.compile import kernel
from poise.kernels.loops.assemble import (
    CLOSING_TOLERANCE,
    LIMIT_VIOLATION,
    LONGEST_CLOSING_STEP,
    SUBSTEP_GAP,
    Assembling,
    close_loops,
    linearize,
)
from poise.kernels.loops.assemble_from_open import solve_damped
from poise.kernels.loops.assemble_inequalities import AT_UPPER, INACTIVE, activate, activate_equalities, most_violated
from poise.kernels.loops.closure import Closures
from poise.kernels.loops.closure_curvature import add_closure_curvature
from poise.kernels.loops.closure_factor import closure_multipliers, free_directions

Array = np.ndarray

MAX_APPROACH_STEPS = 200
"""Largest number of Newton steps."""
ZERO_GRADIENT = 1e-10
"""Largest entry of the reduced gradient, or multiplier, that counts as zero."""
ZERO_STEP = 1e-13
"""Largest step that counts as zero [rad or m]."""
LEAST_REGULARISATION, MOST_REGULARISATION = 1e-9, 1e9
"""Least regularisation ν, which the first step uses, and the greatest before the solver gives up."""


class Closest(NamedTuple):
    """Workspace of `approach`, with the motors and the fixed velocities."""

    driven: Array
    """(nv,) 1 for velocities of motors."""
    fixed: Array
    """(nv,) 1 for velocities that must not change."""
    basis: Array
    """(nv, nv) rows of Zᵀ."""
    hessian: Array
    """(nv, nv) H = MᵀM + Σ λ_i ∇²c_i."""
    reduced: Array
    """(nv, nv) Zᵀ H Z."""
    product: Array
    """(nv, nv) Zᵀ H."""
    factor: Array
    """(nv, nv) Cholesky factor of Zᵀ H Z + ν."""
    gradient: Array
    """(nv,) g."""
    slope: Array
    """(nv,) reduced gradient Zᵀ g."""
    y: Array
    """(nv,) step in the coordinates of Z."""
    ones: Array
    """(nv,) ones, the diagonal that ν multiplies."""
    unused: Array
    """(nv,) 1 for entries beyond the size of the null space."""
    multipliers: Array
    """(r,) λ."""
    new: Array
    """(nv,) 1 for joints that met their limits in the trial step."""
    couple: Array
    """(3, 3) workspace of the curvature."""
    move: Array
    """(nv,) the step d, or m - m*."""
    candidate: Array
    """(nq,) trial posture."""


def make_closest(nq: int, nv: int, rows: int) -> Closest:
    """Workspace for `nv` velocities and closures of `rows` rows."""
    return Closest(
        np.zeros(nv, dtype=np.int64),
        np.zeros(nv, dtype=np.int64),
        np.zeros((nv, nv)),
        np.zeros((nv, nv)),
        np.zeros((nv, nv)),
        np.zeros((nv, nv)),
        np.zeros((nv, nv)),
        np.zeros(nv),
        np.zeros(nv),
        np.zeros(nv),
        np.ones(nv),
        np.zeros(nv, dtype=np.int64),
        np.zeros(rows),
        np.zeros(nv, dtype=np.int64),
        np.zeros((3, 3)),
        np.zeros(nv),
        np.zeros(nq),
    )


@kernel
def approach(
    tree: Tree,
    closures: Closures,
    work: Assembling,
    closest: Closest,
    target: Array,
    # outputs
    q: Array,
) -> float:
    """Bring the motors of the closed posture `q` (nq,) as near to their values in `target` (nq,) as the loops allow.

    Returns the largest remaining distance of a motor [rad or m]. On return `work.held` marks the velocities of
    `closest.fixed` and the joints at their limits.
    """
    held, candidate = work.held, closest.candidate
    activate_equalities(work.inequalities)
    for k in range(held.shape[0]):
        held[k] = closest.fixed[k]
    regularisation, moved = LEAST_REGULARISATION, math.inf
    distance, _ = _distances(tree, closest, target, q)
    for _ in range(MAX_APPROACH_STEPS):
        linearize(tree, closures, work, q)
        count, steepest = _evaluate_model(tree, closures, work, closest, target, q)
        if steepest <= ZERO_GRADIENT or moved <= ZERO_STEP:
            if not _deactivate_one(tree, work, closest, q):
                break
            moved = math.inf
            continue
        moved = math.inf
        while regularisation <= MOST_REGULARISATION:
            if _solve(closest, count, regularisation):
                length = _try(tree, closures, work, closest, q)
                after, _ = _distances(tree, closest, target, candidate)
                if length >= 0.0 and (after < distance or length <= ZERO_STEP):
                    distance = min(after, distance)
                    moved = math.inf if _has_new_limits(work, closest) else length
                    break
                _deactivate_new(work, closest)
            regularisation *= 8.0
        if regularisation > MOST_REGULARISATION:
            break
        regularisation = max(LEAST_REGULARISATION, regularisation / 8.0)
        for i in range(q.shape[0]):
            q[i] = candidate[i]
    close_loops(tree, closures, work, CLOSING_TOLERANCE, q)
    _, farthest = _distances(tree, closest, target, q)
    return farthest


@kernel
def _distances(tree: Tree, closest: Closest, target: Array, q: Array) -> tuple[float, float]:
    """½ |m - m*|², and the largest difference; `closest.move` is m - m*."""
    difference(tree, target, q, closest.move)
    square, largest = 0.0, 0.0
    for k in range(closest.move.shape[0]):
        if closest.driven[k] == 1:
            square += 0.5 * closest.move[k] * closest.move[k]
            largest = max(largest, abs(closest.move[k]))
    return square, largest


@kernel
def _evaluate_model(
    tree: Tree, closures: Closures, work: Assembling, closest: Closest, target: Array, q: Array
) -> tuple[int, float]:
    """Evaluate gradient, multipliers and reduced Hessian at `q`.

    Returns the dimension of the null space and the largest entry of the reduced gradient.
    """
    basis, hessian, product, gradient, slope = (
        closest.basis, closest.hessian, closest.product, closest.gradient, closest.slope
    )  # fmt: skip
    nv = gradient.shape[0]
    _distances(tree, closest, target, q)
    for j in range(nv):
        gradient[j] = closest.move[j] if closest.driven[j] == 1 else 0.0
        for k in range(nv):
            hessian[j, k] = 0.0
        hessian[j, j] = 1.0 if closest.driven[j] == 1 else 0.0
    closure_multipliers(closures, work.factors, gradient, closest.multipliers)
    add_closure_curvature(
        tree, closures, work.position, work.rotation, work.axes, closest.multipliers, 0, closest.couple, hessian
    )
    count = free_directions(work.factors, work.held, basis)
    steepest = 0.0
    for i in range(count):
        slope[i] = 0.0
        for k in range(nv):
            product[i, k] = 0.0
        for j in range(nv):
            z = basis[i, j]
            slope[i] += z * gradient[j]
            if z != 0.0:
                for k in range(nv):
                    product[i, k] += z * hessian[j, k]
        steepest = max(steepest, abs(slope[i]))
    for i in range(count):
        for j in range(count):
            total = 0.0
            for k in range(nv):
                total += product[i, k] * basis[j, k]
            closest.reduced[i, j] = total
    return count, steepest


@kernel
def _solve(closest: Closest, count: int, regularisation: float) -> bool:
    """Compute the step for this ν in `closest.move`; False if the regularised Hessian is not positive definite."""
    move, y, unused = closest.move, closest.y, closest.unused
    nv = move.shape[0]
    for i in range(nv):
        unused[i] = 0 if i < count else 1
    if not solve_damped(closest.reduced, closest.slope, closest.ones, unused, regularisation, closest.factor, y):
        return False
    largest = 0.0
    for k in range(nv):
        move[k] = 0.0
        for i in range(count):
            move[k] += y[i] * closest.basis[i, k]
        largest = max(largest, abs(move[k]))
    if largest > LONGEST_CLOSING_STEP:
        for k in range(nv):
            move[k] *= LONGEST_CLOSING_STEP / largest
    return True


@kernel
def _try(tree: Tree, closures: Closures, work: Assembling, closest: Closest, q: Array) -> float:
    """Take the step up to the first limit and close the loops there; returns its length, or -1 if they do not close.

    Joints that meet their limits on the way are held there and marked in `closest.new`; inequalities become active and
    are marked in `Inequalities.new`.
    """
    move, candidate, held, inequalities = closest.move, closest.candidate, work.held, work.inequalities
    nv, count = move.shape[0], inequalities.new.shape[0]
    share, hit = 1.0, -1
    for i in range(count):
        inequalities.new[i] = 0
    for k in range(nv):
        closest.new[k] = 0
        room = _room(tree, work, q, k, move[k])
        if held[k] == 0 and room < share * abs(move[k]):
            share, hit = max(0.0, room) / abs(move[k]), k
    length = 0.0
    for k in range(nv):
        move[k] *= share
        length = max(length, abs(move[k]))
    integrate(tree, q, move, candidate)
    for _ in range(nv + count):
        if hit >= 0:
            _stop_at_limit(tree, work, closest, hit, candidate)
        if close_loops(tree, closures, work, CLOSING_TOLERANCE, candidate) > SUBSTEP_GAP:
            return -1.0
        hit = _farthest_outside(tree, work, candidate)
        if hit < 0:
            inequality, _ = most_violated(inequalities, candidate, LIMIT_VIOLATION)
            if inequality < 0:
                return length
            activate(inequalities, inequality, candidate)
    return -1.0


@kernel
def _room(tree: Tree, work: Assembling, q: Array, k: int, direction: float) -> float:
    """Distance of velocity `k` from its limit in the direction of the sign of `direction`; inf if unlimited."""
    node = tree.dof_node[k]
    if tree.v_count[node] != 1 or direction == 0.0:
        return math.inf
    value = q[tree.q_start[node]]
    return work.upper[k] - value if direction > 0.0 else value - work.lower[k]


@kernel
def _farthest_outside(tree: Tree, work: Assembling, q: Array) -> int:
    """The velocity that violates its limits most, or -1 when none does."""
    worst, found = LIMIT_VIOLATION, -1
    for k in range(work.held.shape[0]):
        excess = -min(_room(tree, work, q, k, 1.0), _room(tree, work, q, k, -1.0))
        if excess > worst:
            worst, found = excess, k
    return found


@kernel
def _stop_at_limit(tree: Tree, work: Assembling, closest: Closest, k: int, q: Array) -> None:
    """Set velocity `k` to its nearer limit in `q`, hold it, and mark it in `closest.new`."""
    at = tree.q_start[tree.dof_node[k]]
    q[at] = work.lower[k] if q[at] - work.lower[k] < work.upper[k] - q[at] else work.upper[k]
    if work.held[k] == 0:
        closest.new[k] = 1
    work.held[k] = 1


@kernel
def _has_new_limits(work: Assembling, closest: Closest) -> bool:
    """Whether the trial step made any limit or inequality active."""
    met = False
    for k in range(closest.new.shape[0]):
        met = met or closest.new[k] == 1
    for i in range(work.inequalities.new.shape[0]):
        met = met or work.inequalities.new[i] == 1
    return met


@kernel
def _deactivate_new(work: Assembling, closest: Closest) -> None:
    """Deactivate the limits and inequalities that a rejected step made active."""
    for k in range(closest.new.shape[0]):
        if closest.new[k] == 1:
            work.held[k] = 0
    for i in range(work.inequalities.new.shape[0]):
        if work.inequalities.new[i] == 1:
            work.inequalities.side[i] = INACTIVE


@kernel
def _deactivate_one(tree: Tree, work: Assembling, closest: Closest, q: Array) -> bool:
    """Deactivate the limit or inequality whose multiplier has the wrong sign by most; False when none has."""
    most, found = ZERO_GRADIENT, -1
    inequalities, inequality = work.inequalities, -1
    for k in range(work.held.shape[0]):
        if work.held[k] == 0 or closest.fixed[k] == 1:
            continue
        multiplier = closest.gradient[k]
        for i in range(work.rows.shape[0]):
            multiplier += closest.multipliers[i] * work.rows[i, k]
        at_lower = _room(tree, work, q, k, -1.0) < _room(tree, work, q, k, 1.0)
        gain = -multiplier if at_lower else multiplier
        if gain > most:
            most, found = gain, k
    for i in range(inequalities.side.shape[0]):
        if inequalities.side[i] == INACTIVE or inequalities.lower[i] == inequalities.upper[i]:
            continue
        multiplier = closest.multipliers[inequalities.row[i]]
        gain = -multiplier if inequalities.side[i] == AT_UPPER else multiplier
        if gain > most:
            most, inequality = gain, i
    if inequality >= 0:
        inequalities.side[inequality] = INACTIVE
        return True
    if found >= 0:
        work.held[found] = 0
    return found >= 0
