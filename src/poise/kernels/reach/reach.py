"""Reach: bring one site to a position, a rotation, or both, inside all limits.

The error of a posture q is e = (p* - p, ℓ log(R* R⁻¹)) in world axes, or one half of it, with a length ℓ of the figure
that converts radians to metres. |e|² is minimised by Levenberg–Marquardt steps inside the limits (`descent`,
`damped_step`), with the damping λ = μ |e|², which vanishes with the error [Yamashita & Fukushima 2001]. μ decreases
after every step that decreases |e|², and increases after every other step. The gradient -Jᵀ e of |e|²/2 is exact,
because log(R* R⁻¹) is an eigenvector of the Jacobian of log with eigenvalue 1.

A descent that stalls is at a local minimum. The next one starts elsewhere inside the limits, at the best of a few
points of a low-discrepancy sequence (the additive recurrence of the generalised golden ratio [Roberts 2018]), so that
the same input gives the same bytes. If no descent meets the goal, the best one is continued to its minimum, the nearest
posture found.
"""

import math

import numpy as np

from poise.kernels.jit.compile import inner_kernel, kernel
from poise.kernels.maths.quaternion import Quaternion
from poise.kernels.maths.vector import Vector
from poise.kernels.reach.descent import Goal, descend, error_sizes, evaluate
from poise.kernels.reach.path import Path, PathMemory, read_path
from poise.kernels.reach.starts import new_start
from poise.kernels.reach.workspace import Work, clear_work

Array = np.ndarray

DESCENT_STEPS = 30
"""Largest number of steps of one descent."""
STALL_DECREASE = 0.1
"""A descent stalls after two steps in a row that decrease |e|² by less than this share."""
POLISH_STEPS = 400
"""Largest number of steps that continue the best descent to its minimum."""


@kernel
def reach(
    memory: PathMemory,
    work: Work,
    start: Array,
    wanted: tuple[float, float, float, float, float, float, float],
    asked: tuple[int, int],
    tolerance: float,
    restarts: int,
    seed: int,
    # outputs
    q: Array,
) -> tuple[bool, float, float, int, int]:
    """Bring the site of a path to `wanted`, from the legal posture `start` (nq,) to `q` (nq,).

    Args:
        memory: The path.
        work: Workspace, which must not be in use by another thread.
        start: The start posture.
        wanted: Position [m] and quaternion of the site.
        asked: First and one after the last error component that count: (0, 3), (3, 6) or (0, 6).
        tolerance: Errors of position [m] and rotation [rad] up to this count as none.
        restarts: Largest number of restarts.
        seed: Number that selects another part of the sequence of restarts.
        q: The posture found.

    Returns:
        Whether the goal is met, the errors of position [m] and rotation [rad], and the numbers of restarts and steps.
    """
    x, y, z, qw, qx, qy, qz = wanted
    goal = Goal(Vector(x, y, z), Quaternion(qw, qx, qy, qz), asked[0], asked[1], tolerance)
    path = read_path(memory)
    clear_work(work)
    here = work.here
    _copy(start, work.trial)
    _copy(start, q)
    _copy(start, here)
    best, cost, steps, used, arrived = math.inf, 0.0, 0, 0, False
    for draw in range(restarts + 1):
        used = draw
        if draw > 0:
            new_start(path, goal, work, start, draw, seed, here)
        cost, taken, arrived = descend(path, goal, work, here, DESCENT_STEPS, STALL_DECREASE)
        steps += taken
        if arrived or cost < best:
            best = cost
            _copy_moving(path, here, q)
        if arrived:
            break
    if not arrived:
        _, taken, arrived = descend(path, goal, work, q, POLISH_STEPS, 0.0)
        steps += taken
    evaluate(path, goal, work.position, work.rotation, q, work.error)
    off, turned = error_sizes(work.error, path.site[7])
    return arrived, off, turned, used, steps


@kernel
def _copy(a: Array, b: Array) -> None:
    """Copy `a` to `b`."""
    for k in range(a.shape[0]):
        b[k] = a[k]


@inner_kernel
def _copy_moving(path: Path, a: Array, b: Array) -> None:
    """Copy the coordinates that may move from `a` to `b`; the others keep their bits."""
    moving = path.moving_q
    for i in range(moving.shape[0]):
        b[moving[i]] = a[moving[i]]
