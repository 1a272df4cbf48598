"""Reach: put one site at a position, a rotation, or both, inside all limits.

The error of a posture q is e = (p* - p, ℓ log(R* R⁻¹)) in world axes, whichever halves are asked for, with a length ℓ
of the figure that makes metres of radians. |e|² is brought down by Levenberg–Marquardt steps inside the limits
(`reach_descent`, `damped_step`), with a damping λ = μ |e|² that vanishes with the error [Yamashita & Fukushima 2001]
and a factor μ that falls with every step that helps and rises with every one that does not. The gradient -Jᵀ e of
|e|²/2 is exact, since log(R* R⁻¹) is an axis of the rotation it stands for and any inverse Jacobian of log leaves it
alone.

A descent that stalls is a local minimum, and another starts elsewhere inside the limits, at the best of a few points of
a sequence that fills the box evenly (the additive recurrence of the generalised golden ratio [Roberts 2018]): same
question, same bytes. When no descent arrives, the best is carried on to its minimum: the nearest posture there is.
"""

import math

import numpy as np

from poise.kernels.jit.compile import inner_kernel, kernel
from poise.kernels.maths.quaternion import Quaternion
from poise.kernels.maths.vector import Vector
from poise.kernels.reach.damped_step import GOAL_ROWS, Step
from poise.kernels.reach.descent import CUT_ROUNDS, Goal, Work, descend, error_sizes, look
from poise.kernels.reach.path import Path, unflatten
from poise.kernels.reach.starts import new_start

Array = np.ndarray

DESCENT_STEPS = 30
"""Steps before a descent is given up."""
STALLED = 0.1
"""Share of |e|² that a step must take off for the descent to go on; one that does not is forgiven."""
POLISH_STEPS = 400
"""Steps that may bring the best of all descents to its minimum."""


@kernel(counts_references=True)
def reach(
    integers: Array,
    numbers: Array,
    start: Array,
    wanted: tuple[float, float, float, float, float, float, float],
    asked: tuple[int, int],
    tolerance: float,
    restarts: int,
    seed: int,
    # outputs
    q: Array,
) -> tuple[bool, float, float, int, int]:
    """Bring the site of a flattened path to `wanted`, from the legal posture `start` (nq,) to `q` (nq,).

    Returns whether it arrived, the errors of position [m] and rotation [rad], the new starts and the steps it took.
    """
    x, y, z, qw, qx, qy, qz = wanted
    goal = Goal(Vector(x, y, z), Quaternion(qw, qx, qy, qz), asked[0], asked[1], tolerance)
    whole, real = _work_size(integers, numbers)
    return _reach(integers, numbers, goal, start, restarts, seed, np.zeros(whole, dtype=np.int64), np.zeros(real), q)


@kernel
def _work_size(integers: Array, numbers: Array) -> tuple[int, int]:
    """Integers and floats of the workspace for a path."""
    nodes, n, nq, m = _sizes_of(unflatten(integers, numbers))
    return n + 2 * m, 7 * nodes + 7 * n + m * n + 6 + 3 * nq + 4 * m + m * m


@inner_kernel
def _sizes_of(path: Path) -> tuple[int, int, int, int]:
    """Nodes, velocities, coordinates, and rows of a step."""
    hard = path.couplings.shape[0] + 2 * (CUT_ROUNDS + 1) * path.balls.shape[0]
    return path.tree.parent.shape[0], path.dof_q.shape[0], path.bounds.lower.shape[0], GOAL_ROWS + hard


@inner_kernel
def _cut_work(path: Path, whole: Array, real: Array) -> Work:
    """Cut the workspace into its arrays."""
    k, n, nq, m = _sizes_of(path)
    a = 3 * k
    b = a + 4 * k
    c = b + 3 * n
    d = c + 6
    e = d + nq
    f = e + nq
    g = f + nq
    h = g + m * n
    i = h + m * m
    step = Step(
        real[g:h].reshape((m, n)),
        real[i : i + m],
        real[i + m : i + 2 * m],
        real[i + 3 * m : i + 3 * m + n],
        real[i + 3 * m + n : i + 3 * m + 2 * n],
        whole[:n],
        whole[n : n + m],
        whole[n + m : n + 2 * m],
        real[h:i].reshape((m, m)),
        real[i + 2 * m : i + 3 * m],
        real[i + 3 * m + 2 * n : i + 3 * m + 3 * n],
        real[i + 3 * m + 3 * n : i + 3 * m + 4 * n],
        real[i + 3 * m + 4 * n : i + 4 * m + 4 * n],
    )
    return Work(
        real[:a].reshape((k, 3)),
        real[a:b].reshape((k, 4)),
        real[b:c].reshape((n, 3)),
        real[c:d],
        real[d:e],
        real[e:f],
        real[f:g],
        step,
    )


@inner_kernel
def _reach(
    integers: Array,
    numbers: Array,
    goal: Goal,
    start: Array,
    restarts: int,
    seed: int,
    whole: Array,
    real: Array,
    # outputs
    q: Array,
) -> tuple[bool, float, float, int, int]:
    """`reach` with the workspace it needs."""
    path = unflatten(integers, numbers)
    work = _cut_work(path, whole, real)
    here = work.here
    _copy(start, work.trial)
    _copy(start, q)
    _copy(start, here)
    best, cost, steps, used, arrived = math.inf, 0.0, 0, 0, False
    for draw in range(restarts + 1):
        used = draw
        if draw > 0:
            new_start(path, goal, work, start, draw, seed, here)
        cost, taken, arrived = descend(path, goal, work, here, DESCENT_STEPS, STALLED)
        steps += taken
        if arrived or cost < best:
            best = cost
            _copy_moving(path, here, q)
        if arrived:
            break
    if not arrived:
        _, taken, arrived = descend(path, goal, work, q, POLISH_STEPS, 0.0)
        steps += taken
    look(path, goal, work.position, work.rotation, q, work.error)
    off, turned = error_sizes(work.error, path.site[7])
    return arrived, off, turned, used, steps


@kernel
def _copy(a: Array, b: Array) -> None:
    for k in range(a.shape[0]):
        b[k] = a[k]


@inner_kernel
def _copy_moving(path: Path, a: Array, b: Array) -> None:
    """Copy only what may change, so that all else stays to the last bit."""
    moving = path.moving_q
    for i in range(moving.shape[0]):
        b[moving[i]] = a[moving[i]]
