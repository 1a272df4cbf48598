"""Start postures of the restarts of a reach, from a low-discrepancy sequence inside the limits."""

import math

import numpy as np

from poise.kernels.body.limits import Bounds
from poise.kernels.body.tree import BALL, BALL_REVERSED, FREE
from poise.kernels.jit.compile import inner_kernel, kernel
from poise.kernels.reach.descent import Goal, evaluate
from poise.kernels.reach.limits import clamp_balls, clamp_couplings
from poise.kernels.reach.path import Path
from poise.kernels.reach.workspace import Work

Array = np.ndarray

CANDIDATES = 8
"""Points of the sequence per restart, of which the one with the least error is the start."""
SEED_STRIDE = 4096.0
"""Points of the sequence between two seeds."""


@inner_kernel
def new_start(path: Path, goal: Goal, work: Work, start: Array, draw: int, seed: int, q: Array) -> None:
    """Set `q` to the best of `CANDIDATES` points of the sequence, or to `start` if none satisfies the couplings."""
    best = math.inf
    trial = work.trial
    for k in range(q.shape[0]):
        q[k] = start[k]
    for i in range(CANDIDATES):
        _sequence_point(path, start, CANDIDATES * draw + i + SEED_STRIDE * seed, trial)
        clamp_balls(path, start, trial, 0, work.rows[:0], work.low, work.high)
        if not clamp_couplings(path, trial, work.wanted):
            continue
        cost = evaluate(path, goal, work.position, work.rotation, trial, work.error)
        if cost < best:
            best = cost
            for k in range(q.shape[0]):
                q[k] = trial[k]
    at = work.at
    for c in range(at.shape[0]):
        at[c] = 0


@inner_kernel
def _sequence_point(path: Path, start: Array, number: float, q: Array) -> None:
    """Set `q` to point `number` of the sequence: turns within π of `start`, slides near it, any rotations."""
    tree, bounds = path.tree, path.bounds
    golden = path.site[8]
    share = 1.0
    for i in range(1, tree.parent.shape[0]):
        kind, v = tree.kind[i], tree.v_start[i]
        if tree.v_count[i] == 0 or path.dof_held[v] == 1:
            continue
        k = tree.q_start[i]
        if kind == BALL or kind == BALL_REVERSED or kind == FREE:
            k += 3 if kind == FREE else 0
            u0 = _fraction(number, share * golden)
            u1 = _fraction(number, share * golden * golden)
            share *= golden**3
            u2 = _fraction(number, share)
            _put_rotation(u0, u1, u2, q, k)
            continue
        share *= golden
        half = math.pi if tree.dof_turns[v] == 1 else path.site[7]
        low, high = _window(bounds, k, start[k], half)
        q[k] = low + (high - low) * _fraction(number, share)


@kernel
def _window(bounds: Bounds, k: int, middle: float, half: float) -> tuple[float, float]:
    """The part of a coordinate's range that is at most 2 `half` wide and whose centre is nearest to `middle`."""
    low = max(bounds.lower[k], min(middle - half, bounds.upper[k] - 2.0 * half))
    high = min(bounds.upper[k], max(middle + half, bounds.lower[k] + 2.0 * half))
    return low, high


@kernel
def _fraction(number: float, share: float) -> float:
    """Fractional part of ½ + number · share."""
    value = 0.5 + number * share
    return value - math.floor(value)


@kernel
def _put_rotation(u0: float, u1: float, u2: float, q: Array, k: int) -> None:
    """Write a uniformly distributed rotation for uniform numbers in 0 … 1, by Shoemake's method."""
    a, b = math.sqrt(1.0 - u0), math.sqrt(u0)
    q[k] = b * math.cos(2.0 * math.pi * u2)
    q[k + 1] = a * math.sin(2.0 * math.pi * u1)
    q[k + 2] = a * math.cos(2.0 * math.pi * u1)
    q[k + 3] = b * math.sin(2.0 * math.pi * u2)
