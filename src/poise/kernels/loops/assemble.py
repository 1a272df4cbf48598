"""Forward kinematics of a closed mechanism: the passive joint values for given motor values.

Velocities are *held* (those of motors, which are set to the wanted values) or free (those of passive joints). Loops are
closed by Newton's method on the linearly independent closure rows, with the step of least norm. The factorisation is
reused as long as each step reduces the residual tenfold.

For a **small move** of the motors this is all. From far away Newton's method diverges or ends on another branch, so a
larger move is cut into substeps along the straight line of motor values, a continuation method. The motion of the last
substep predicts the next one [Nocedal & Wright 2006, 11.3]. The path ends early where the loops cannot be closed, or
where a joint meets its limit.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.body.tree import SLIDE, TURN, Tree, difference, forward, integrate, motion_axes
from poise.kernels.jit.compile import kernel
from poise.kernels.loops.assemble_inequalities import (
    Inequalities,
    fill_inequality_rows,
    inequality_residual,
    most_violated,
)
from poise.kernels.loops.closure import Closures, closure_residual, closure_rows
from poise.kernels.loops.closure_factor import Factors, factor_rows, least_step, make_factors

Array = np.ndarray

CLOSING_TOLERANCE = 1e-13
"""Largest residual at which Newton's method stops [m]."""
ROUNDING_RESIDUAL = 1e-10
"""Below this residual, a step without progress means that rounding errors dominate [m]."""
SUBSTEP_GAP, FINAL_GAP = 1e-6, 1e-9
"""Largest residuals accepted after a substep, and after the last one [m]."""
MAX_CLOSING_STEPS = 20
"""Largest number of steps of Newton's method."""
LONGEST_CLOSING_STEP = 0.3
"""Largest change of any velocity in one Newton step [rad or m]."""
LONGEST_SUBSTEP = 0.1
"""Largest change of a motor in one substep [rad or m]."""
LIMIT_VIOLATION = 1e-9
"""Accepted violation of a limit [rad or m]."""


class Assembling(NamedTuple):
    """Workspace of the assembly kernels, with the held velocities and the limits."""

    held: Array
    """(nv,) 1 for velocities that closing the loops must not change."""
    lower: Array
    """(nv,) least value of each turn and slide."""
    upper: Array
    """(nv,) greatest value of each turn and slide."""
    position: Array
    """(n, 3) world positions of the nodes [m]."""
    rotation: Array
    """(n, 4) world rotations of the nodes."""
    axes: Array
    """(nv, 3) world axes of the velocities."""
    rows: Array
    """(r, nv) Jacobian of the closures and of the active inequalities."""
    residuals: Array
    """(r,) residual of each row [m]."""
    step: Array
    """(nv,) step of Newton's method."""
    last_motion: Array
    """(nv,) motion of the last substep, which predicts the next."""
    trial: Array
    """(nq,) posture after a trial step."""
    before: Array
    """(nq,) posture before a substep."""
    goal: Array
    """(nq,) copy of a frame's target."""
    factors: Factors
    """Factorisation of `rows`."""
    inequalities: Inequalities
    """Couplings and ball joint limits, and which of them are active."""


def make_assembling(tree: Tree, nq: int, closures: Closures, inequalities: Inequalities) -> Assembling:
    """Workspace for a tree and its loops; no velocity is held, and no turn or slide has limits."""
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
        inequalities,
    )


@kernel
def residual(tree: Tree, closures: Closures, work: Assembling, q: Array) -> float:
    """Fill `work.residuals` with the residuals of closures and active inequalities at `q`; returns the largest [m]."""
    forward(tree, q, work.position, work.rotation)
    worst = closure_residual(closures, work.position, work.rotation, work.residuals)
    return max(worst, inequality_residual(work.inequalities, q, work.residuals))


@kernel
def linearize(tree: Tree, closures: Closures, work: Assembling, q: Array) -> float:
    """Evaluate residuals, Jacobian rows and their factorisation at `q`; returns the largest residual [m]."""
    worst = residual(tree, closures, work, q)
    motion_axes(tree, work.rotation, work.axes)
    closure_rows(tree, closures, work.position, work.rotation, work.axes, 0, work.rows)
    fill_inequality_rows(work.inequalities, q, work.rows)
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
    """Close the loops of the posture `q` (nq,) by moving the velocities that are not held, by Newton's method.

    Stops at a largest residual of `tolerance`; returns the residual reached [m].
    """
    step, trial, residuals = work.step, work.trial, work.residuals
    worst = residual(tree, closures, work, q)
    fresh = False
    for _ in range(MAX_CLOSING_STEPS):
        if worst <= tolerance:
            return worst
        if not fresh:
            linearize(tree, closures, work, q)
        least_step(closures, work.factors, residuals, step)
        largest = 0.0
        for k in range(step.shape[0]):
            largest = max(largest, abs(step[k]))
        share = -min(1.0, LONGEST_CLOSING_STEP / largest) if largest > 0.0 else 0.0
        for k in range(step.shape[0]):
            step[k] *= share
        integrate(tree, q, step, trial)
        after = residual(tree, closures, work, trial)
        if not math.isfinite(after) or (after >= worst and worst <= ROUNDING_RESIDUAL):
            return worst
        fresh = after < 0.1 * worst
        worst = after
        for i in range(q.shape[0]):
            q[i] = trial[i]
    return worst


@kernel
def put_held(tree: Tree, held: Array, source: Array, q: Array) -> None:
    """Copy the coordinates of all held nodes from `source` (nq,) to `q` (nq,)."""
    for i in range(1, tree.parent.shape[0]):
        count = tree.v_count[i]
        if count == 0 or held[tree.v_start[i]] == 0:
            continue
        size = count if count == 1 else count + 1
        for c in range(tree.q_start[i], tree.q_start[i] + size):
            q[c] = source[c]


@kernel
def largest_violation(tree: Tree, work: Assembling, q: Array) -> float:
    """Largest violation of the limits of turns and slides and of the inactive inequalities [rad or m]."""
    lower, upper = work.lower, work.upper
    _, worst = most_violated(work.inequalities, q, 0.0)
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
    """Move the held velocities from the closed posture `q` (nq,) to their values in `target` (nq,), in substeps.

    Returns the fraction of the way that was possible, 1.0 for all of it; `q` ends as the closed posture there, inside
    its limits.
    """
    held, last_motion, before, step = work.held, work.last_motion, work.before, work.step
    nv, nq = held.shape[0], q.shape[0]
    for k in range(nv):
        last_motion[k] = 0.0
    done = 0.0
    while done < 1.0:
        difference(tree, q, target, step)
        distance = 0.0
        for k in range(nv):
            distance = max(distance, abs(step[k])) if held[k] == 1 else distance
        substeps = max(1.0, math.ceil(distance / LONGEST_SUBSTEP - 1e-9))
        for k in range(nv):
            step[k] = step[k] / substeps if held[k] == 1 else last_motion[k]
        for i in range(nq):
            before[i] = q[i]
        integrate(tree, before, step, q)
        last = substeps == 1.0
        if last:
            put_held(tree, held, target, q)
        gap = close_loops(tree, closures, work, CLOSING_TOLERANCE if last else SUBSTEP_GAP, q)
        if gap > (FINAL_GAP if last else SUBSTEP_GAP) or largest_violation(tree, work, q) > LIMIT_VIOLATION:
            for i in range(nq):
                q[i] = before[i]
            close_loops(tree, closures, work, CLOSING_TOLERANCE, q)
            return done
        done = 1.0 if last else done + (1.0 - done) / substeps
        difference(tree, before, q, last_motion)
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
    """Assemble a sequence of frames, from the closed posture `start` (nq,).

    The motion between the last two frames predicts the next. On entry `frames` (f, nq) holds the values of the held
    velocities; on return, whole closed postures. `shares` (f,) is the fraction of the way to each frame that was
    possible.
    """
    held, last_motion, step, before = work.held, work.last_motion, work.step, work.before
    nv, nq = held.shape[0], start.shape[0]
    for k in range(nv):
        last_motion[k] = 0.0
    for f in range(frames.shape[0]):
        last = start if f == 0 else frames[f - 1]
        target = frames[f]
        difference(tree, last, target, step)
        distance = 0.0
        for k in range(nv):
            distance = max(distance, abs(step[k])) if held[k] == 1 else distance
            step[k] = step[k] if held[k] == 1 else last_motion[k]
        integrate(tree, last, step, before)
        put_held(tree, held, target, before)
        good = distance <= LONGEST_SUBSTEP and close_loops(tree, closures, work, CLOSING_TOLERANCE, before) <= FINAL_GAP
        if good and largest_violation(tree, work, before) <= LIMIT_VIOLATION:
            shares[f] = 1.0
            for i in range(nq):
                target[i] = before[i]
        else:
            _follow_frame(tree, closures, work, last, target, shares, f)
        difference(tree, last, target, last_motion)


@kernel
def _follow_frame(
    tree: Tree, closures: Closures, work: Assembling, last: Array, target: Array, shares: Array, f: int
) -> None:
    """Run `follow` from the posture `last` to `target`, which is overwritten with the posture reached."""
    goal, nq = work.goal, last.shape[0]
    for i in range(nq):
        goal[i] = target[i]
        target[i] = last[i]
    shares[f] = follow(tree, closures, work, goal, target)
