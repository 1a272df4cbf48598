"""The closed posture whose motors come closest to what was asked, where what was asked is impossible.

Minimises ½ |m - m*|² over closed postures inside limits. With Z the directions that keep the loops closed and λ the
forces that do, a step d = Z y solves

    Zᵀ (MᵀM + Σ λ_i ∇²c_i + ν) Z y = -Zᵀ g        g = Mᵀ (m - m*)

which is Newton's method on the manifold of closed postures; every trial is closed again before it is judged. ν grows
until the matrix is positive definite and the step gains. A joint that meets its limit is held there until the
multiplier of the limit changes sign [Nocedal & Wright 2006, 16.5], and a coupling or a ball joint's region that is met
becomes a row of the loops for as long.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.body.tree import Tree, difference, integrate
from poise.kernels.jit.compile import kernel
from poise.kernels.loops.assemble import CLOSED, NEARLY, REACH, WITHIN, Assembling, close_loops, linearize
from poise.kernels.loops.assemble_from_open import solve_damped
from poise.kernels.loops.assemble_inequalities import AT_UPPER, OPEN, farthest_beyond, keep, let_go
from poise.kernels.loops.closure import Closures
from poise.kernels.loops.closure_curvature import add_closure_curvature
from poise.kernels.loops.closure_factor import closure_multipliers, free_directions

Array = np.ndarray

STEPS = 200
"""Steps in which the closest posture is found or not."""
FLAT = 1e-10
"""Gradient that counts as none."""
STILL = 1e-13
"""Step that counts as none [rad or m]."""
SMALLEST, STIFFEST = 1e-9, 1e9
"""ν of the first step and of the last that is tried."""


class Closest(NamedTuple):
    """Workspace."""

    driven: Array
    """(nv,) 1 for velocities of motors."""
    fixed: Array
    """(nv,) 1 for velocities that must not change."""
    basis: Array
    """(nv, nv) rows of Zᵀ."""
    hessian: Array
    """(nv, nv)"""
    reduced: Array
    """(nv, nv) Zᵀ H Z."""
    product: Array
    """(nv, nv) Zᵀ H."""
    factor: Array
    """(nv, nv)"""
    gradient: Array
    """(nv,)"""
    slope: Array
    """(nv,) Zᵀ g."""
    y: Array
    """(nv,)"""
    ones: Array
    """(nv,)"""
    unused: Array
    """(nv,) 1 beyond the size of Zᵀ."""
    multipliers: Array
    """(r,)"""
    new: Array
    """(nv,) 1 for joints that met their limits in the step."""
    couple: Array
    """(3, 3)"""
    move: Array
    """(nv,)"""
    candidate: Array
    """(nq,)"""


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
    """Bring the motors of the closed posture `q` (nq,) as close to their values in `target` (nq,) as loops let them.

    Returns how far the farthest is still away [rad or m]. `work.held` marks what stays: what `closest.fixed` says, and
    joints at their limits.
    """
    held, candidate = work.held, closest.candidate
    let_go(work.fences)
    for k in range(held.shape[0]):
        held[k] = closest.fixed[k]
    stiffness, moved = SMALLEST, math.inf
    distance, _ = _distances(tree, closest, target, q)
    for _ in range(STEPS):
        linearize(tree, closures, work, q)
        count, steepest = _model(tree, closures, work, closest, target, q)
        if steepest <= FLAT or moved <= STILL:
            if not _release(tree, work, closest, q):
                break
            moved = math.inf
            continue
        moved = math.inf
        while stiffness <= STIFFEST:
            if _solve(closest, count, stiffness):
                length = _try(tree, closures, work, closest, q)
                after, _ = _distances(tree, closest, target, candidate)
                if length >= 0.0 and (after < distance or length <= STILL):
                    distance = min(after, distance)
                    moved = math.inf if _met_limit(work, closest) else length
                    break
                _take_back(work, closest)
            stiffness *= 8.0
        if stiffness > STIFFEST:
            break
        stiffness = max(SMALLEST, stiffness / 8.0)
        for i in range(q.shape[0]):
            q[i] = candidate[i]
    close_loops(tree, closures, work, CLOSED, q)
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
def _model(
    tree: Tree, closures: Closures, work: Assembling, closest: Closest, target: Array, q: Array
) -> tuple[int, float]:
    """Gradient, multipliers and reduced Hessian; returns the number of free directions and the largest slope."""
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
def _solve(closest: Closest, count: int, stiffness: float) -> bool:
    """The step for this ν in `closest.move`; False where the model has no minimum."""
    move, y, unused = closest.move, closest.y, closest.unused
    nv = move.shape[0]
    for i in range(nv):
        unused[i] = 0 if i < count else 1
    if not solve_damped(closest.reduced, closest.slope, closest.ones, unused, stiffness, closest.factor, y):
        return False
    largest = 0.0
    for k in range(nv):
        move[k] = 0.0
        for i in range(count):
            move[k] += y[i] * closest.basis[i, k]
        largest = max(largest, abs(move[k]))
    if largest > REACH:
        for k in range(nv):
            move[k] *= REACH / largest
    return True


@kernel
def _try(tree: Tree, closures: Closures, work: Assembling, closest: Closest, q: Array) -> float:
    """Take the step as far as limits let it, close the loops there; returns its length, -1 where they do not close.

    Joints that meet their limits on the way are held there, and marked in `closest.new`; fences likewise.
    """
    move, candidate, held, fences = closest.move, closest.candidate, work.held, work.fences
    nv, count = move.shape[0], fences.new.shape[0]
    share, hit = 1.0, -1
    for i in range(count):
        fences.new[i] = 0
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
        if close_loops(tree, closures, work, CLOSED, candidate) > NEARLY:
            return -1.0
        hit = _farthest_outside(tree, work, candidate)
        if hit < 0:
            fence, _ = farthest_beyond(fences, candidate, WITHIN)
            if fence < 0:
                return length
            keep(fences, fence, candidate)
    return -1.0


@kernel
def _room(tree: Tree, work: Assembling, q: Array, k: int, direction: float) -> float:
    """How far velocity `k` may go in a direction."""
    node = tree.dof_node[k]
    if tree.v_count[node] != 1 or direction == 0.0:
        return math.inf
    value = q[tree.q_start[node]]
    return work.upper[k] - value if direction > 0.0 else value - work.lower[k]


@kernel
def _farthest_outside(tree: Tree, work: Assembling, q: Array) -> int:
    """The velocity that exceeds its limits by most, -1 when none does."""
    worst, found = WITHIN, -1
    for k in range(work.held.shape[0]):
        excess = -min(_room(tree, work, q, k, 1.0), _room(tree, work, q, k, -1.0))
        if excess > worst:
            worst, found = excess, k
    return found


@kernel
def _stop_at_limit(tree: Tree, work: Assembling, closest: Closest, k: int, q: Array) -> None:
    at = tree.q_start[tree.dof_node[k]]
    q[at] = work.lower[k] if q[at] - work.lower[k] < work.upper[k] - q[at] else work.upper[k]
    if work.held[k] == 0:
        closest.new[k] = 1
    work.held[k] = 1


@kernel
def _met_limit(work: Assembling, closest: Closest) -> bool:
    met = False
    for k in range(closest.new.shape[0]):
        met = met or closest.new[k] == 1
    for i in range(work.fences.new.shape[0]):
        met = met or work.fences.new[i] == 1
    return met


@kernel
def _take_back(work: Assembling, closest: Closest) -> None:
    """Let go of the joints and fences that a step which was not taken met the limits of."""
    for k in range(closest.new.shape[0]):
        if closest.new[k] == 1:
            work.held[k] = 0
    for i in range(work.fences.new.shape[0]):
        if work.fences.new[i] == 1:
            work.fences.side[i] = OPEN


@kernel
def _release(tree: Tree, work: Assembling, closest: Closest, q: Array) -> bool:
    """Let go of the joint or fence that would gain most by leaving its limit; False when none would."""
    most, found = FLAT, -1
    fences, fence = work.fences, -1
    for k in range(work.held.shape[0]):
        if work.held[k] == 0 or closest.fixed[k] == 1:
            continue
        pull = closest.gradient[k]
        for i in range(work.rows.shape[0]):
            pull += closest.multipliers[i] * work.rows[i, k]
        at_lower = _room(tree, work, q, k, -1.0) < _room(tree, work, q, k, 1.0)
        gain = -pull if at_lower else pull
        if gain > most:
            most, found = gain, k
    for i in range(fences.side.shape[0]):
        if fences.side[i] == OPEN or fences.lower[i] == fences.upper[i]:
            continue
        push = closest.multipliers[fences.row[i]]
        gain = -push if fences.side[i] == AT_UPPER else push
        if gain > most:
            most, fence = gain, i
    if fence >= 0:
        fences.side[fence] = OPEN
        return True
    if found >= 0:
        work.held[found] = 0
    return found >= 0
