"""Forward kinematics of a mechanism: where passive joints go when motors move.

Velocities are *held* (motors, which are put where they are wanted) or follow. Closing is Newton's method on the
independent rows with the smallest step each time; the factors are kept as long as a step gains a digit.

**Small moves** need nothing else. From far away Newton's method takes a mechanism apart or lands on another branch, so
larger moves go in substeps through the space of the motors, each predicted by the last [Nocedal & Wright 2006, 11.3].
A path ends early where the loops do not close any more, or where a joint meets its limit.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.body.tree import SLIDE, TURN, Tree, difference, forward, integrate, motion_axes
from poise.kernels.jit.compile import kernel
from poise.kernels.loops.assemble_inequalities import Fences, farthest_beyond, fence_residual, fill_fences
from poise.kernels.loops.closure import Closures, closure_residual, closure_rows
from poise.kernels.loops.closure_factor import Factors, factor_rows, least_step, make_factors

Array = np.ndarray

CLOSED = 1e-13
"""What a row may lack when a loop counts as closed [m]."""
ROUNDING = 1e-10
"""Where steps that gain nothing mean that rounding has been reached [m]."""
NEARLY, SHUT = 1e-6, 1e-9
"""What a row may lack between substeps, and at the end [m]."""
NEWTON = 20
"""Steps in which a loop closes or does not."""
REACH = 0.3
"""Largest change of any velocity in one of them [rad or m]."""
SUBSTEP = 0.1
"""Largest change of a motor that is not cut into smaller ones [rad or m]."""
WITHIN = 1e-9
"""What a limit may be exceeded by."""


class Assembling(NamedTuple):
    """Workspace, and what is held."""

    held: Array
    """(nv,) 1 for velocities that closing must not change."""
    lower: Array
    """(nv,) least value of each turn and slide."""
    upper: Array
    """(nv,) greatest."""
    position: Array
    """(n, 3)"""
    rotation: Array
    """(n, 4)"""
    axes: Array
    """(nv, 3)"""
    rows: Array
    """(r, nv)"""
    lacking: Array
    """(r,)"""
    step: Array
    """(nv,)"""
    ahead: Array
    """(nv,) how the last substep moved."""
    trial: Array
    """(nq,)"""
    before: Array
    """(nq,)"""
    goal: Array
    """(nq,)"""
    factors: Factors
    fences: Fences


def make_assembling(tree: Tree, nq: int, closures: Closures, fences: Fences) -> Assembling:
    """Workspace for a tree and its loops; nothing is held, and nothing has limits but fences."""
    n, nv, r = tree.parent.shape[0], tree.dof_node.shape[0], closures.turns.shape[0]
    return Assembling(
        np.zeros(nv, dtype=np.int64),
        np.full(nv, -math.inf),
        np.full(nv, math.inf),
        np.zeros((n, 3)),
        np.zeros((n, 4)),
        np.zeros((nv, 3)),
        np.zeros((r, nv)),
        np.zeros(r),
        np.zeros(nv),
        np.zeros(nv),
        np.zeros(nq),
        np.zeros(nq),
        np.zeros(nq),
        make_factors(closures),
        fences,
    )


@kernel
def residual(tree: Tree, closures: Closures, work: Assembling, q: Array) -> float:
    """What every row lacks at `q`, those of fences that are kept included; returns the largest."""
    forward(tree, q, work.position, work.rotation)
    worst = closure_residual(closures, work.position, work.rotation, work.lacking)
    return max(worst, fence_residual(work.fences, q, work.lacking))


@kernel
def linearize(tree: Tree, closures: Closures, work: Assembling, q: Array) -> float:
    """Residual, rows and their factors at `q`; returns the largest residual."""
    worst = residual(tree, closures, work, q)
    motion_axes(tree, work.rotation, work.axes)
    closure_rows(tree, closures, work.position, work.rotation, work.axes, 0, work.rows)
    fill_fences(work.fences, q, work.rows)
    factor_rows(closures, work.rows, 0, work.held, work.factors)
    return worst


@kernel
def close_loops(
    tree: Tree,
    closures: Closures,
    work: Assembling,
    tolerance: float,
    # outputs
    q: Array,
) -> float:
    """Close the loops of the posture `q` (nq,) by moving what is not held; returns the largest residual [m].

    Factors of the last posture are used again for the first step: where the mechanism has hardly moved they still fit.
    """
    step, trial, lacking = work.step, work.trial, work.lacking
    worst = residual(tree, closures, work, q)
    fresh = False
    for _ in range(NEWTON):
        if worst <= tolerance:
            return worst
        if not fresh:
            linearize(tree, closures, work, q)
        least_step(closures, work.factors, lacking, step)
        largest = 0.0
        for k in range(step.shape[0]):
            largest = max(largest, abs(step[k]))
        share = -min(1.0, REACH / largest) if largest > 0.0 else 0.0
        for k in range(step.shape[0]):
            step[k] *= share
        integrate(tree, q, step, trial)
        after = residual(tree, closures, work, trial)
        if not math.isfinite(after) or (after >= worst and worst <= ROUNDING):
            return worst
        fresh = after < 0.1 * worst
        worst = after
        for i in range(q.shape[0]):
            q[i] = trial[i]
    return worst


@kernel
def put_held(tree: Tree, held: Array, source: Array, q: Array) -> None:
    """Copy the values of all nodes that are held from `source` (nq,) to `q` (nq,)."""
    for i in range(1, tree.parent.shape[0]):
        count = tree.v_count[i]
        if count == 0 or held[tree.v_start[i]] == 0:
            continue
        size = count if count == 1 else count + 1
        for c in range(tree.q_start[i], tree.q_start[i] + size):
            q[c] = source[c]


@kernel
def outside(tree: Tree, work: Assembling, q: Array) -> float:
    """By how much the worst of the turns and slides is outside its limits, or of the fences beyond [rad or m]."""
    lower, upper = work.lower, work.upper
    _, worst = farthest_beyond(work.fences, q, 0.0)
    for i in range(1, tree.parent.shape[0]):
        if tree.kind[i] == TURN or tree.kind[i] == SLIDE:
            value, k = q[tree.q_start[i]], tree.v_start[i]
            worst = max(worst, lower[k] - value, value - upper[k])
    return worst


@kernel
def follow(
    tree: Tree,
    closures: Closures,
    work: Assembling,
    target: Array,
    # outputs
    q: Array,
) -> float:
    """Move what is held from where it is in the closed posture `q` (nq,) to its values in `target` (nq,).

    Returns the share of the way that was gone, 1.0 when all; `q` is the closed posture there, inside its limits.
    """
    held, ahead, before, step = work.held, work.ahead, work.before, work.step
    nv, nq = held.shape[0], q.shape[0]
    for k in range(nv):
        ahead[k] = 0.0
    done = 0.0
    while done < 1.0:
        difference(tree, q, target, step)
        way = 0.0
        for k in range(nv):
            way = max(way, abs(step[k])) if held[k] == 1 else way
        pieces = max(1.0, math.ceil(way / SUBSTEP - 1e-9))
        for k in range(nv):
            step[k] = step[k] / pieces if held[k] == 1 else ahead[k]
        for i in range(nq):
            before[i] = q[i]
        integrate(tree, before, step, q)
        last = pieces == 1.0
        if last:
            put_held(tree, held, target, q)
        gap = close_loops(tree, closures, work, CLOSED if last else NEARLY, q)
        if gap > (SHUT if last else NEARLY) or outside(tree, work, q) > WITHIN:
            for i in range(nq):
                q[i] = before[i]
            close_loops(tree, closures, work, CLOSED, q)
            return done
        done = 1.0 if last else done + (1.0 - done) / pieces
        difference(tree, before, q, ahead)
    return done


@kernel
def follow_frames(
    tree: Tree,
    closures: Closures,
    work: Assembling,
    start: Array,
    # outputs
    frames: Array,
    shares: Array,
) -> None:
    """Assemble frame after frame, from the closed posture `start` (nq,).

    Each frame is predicted by the last two. Values of what is held are given in `frames` (f, nq); the others are
    written there. `shares` (f,) says how much of the way to each frame was gone.
    """
    held, ahead, step, before = work.held, work.ahead, work.step, work.before
    nv, nq = held.shape[0], start.shape[0]
    for k in range(nv):
        ahead[k] = 0.0
    for f in range(frames.shape[0]):
        last = start if f == 0 else frames[f - 1]
        target = frames[f]
        difference(tree, last, target, step)
        way = 0.0
        for k in range(nv):
            way = max(way, abs(step[k])) if held[k] == 1 else way
            step[k] = step[k] if held[k] == 1 else ahead[k]
        integrate(tree, last, step, before)
        put_held(tree, held, target, before)
        good = way <= SUBSTEP and close_loops(tree, closures, work, CLOSED, before) <= SHUT
        if good and outside(tree, work, before) <= WITHIN:
            shares[f] = 1.0
            for i in range(nq):
                target[i] = before[i]
        else:
            _follow_frame(tree, closures, work, last, target, shares, f)
        difference(tree, last, target, ahead)


@kernel
def _follow_frame(
    tree: Tree, closures: Closures, work: Assembling, last: Array, target: Array, shares: Array, f: int
) -> None:
    """`follow` from the last frame, which stays, to `target`, which becomes the posture."""
    goal, nq = work.goal, last.shape[0]
    for i in range(nq):
        goal[i] = target[i]
        target[i] = last[i]
    shares[f] = follow(tree, closures, work, goal, target)
