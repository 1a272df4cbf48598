"""A motion whose joints accelerate no more than they may, near to one whose joints do.

With x the way of the joints over time, D² its second differences and J_t the rows of what must hold in frame t, feet
that stand and loops, what is added to it is a small d with

    |D² (x + d)| ≤ a / rate²   and   J_t d_t = 0.

The least one is what the method of multipliers tends to [Boyd et al. 2011, 5]: one banded factorisation for all joints
alike, then for each round a substitution, a clamp and a projection. The first that meets both is taken.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_solve_banded, cholesky_banded

from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.kernels.motion.posture_curves import move_clip
from poise.motion.retarget.pace import rates_of

ROUNDS, DONE = 300, 0.01
"""Most rounds, and by how large a share of the limit accelerations may be over it when they end."""
STIFF, FIRM = 1e4, 1e1
"""Weights of the limits and of what must hold, against the size of the change, while they are not met yet."""
INSIDE = 0.97
"""Share of the limit that is aimed at: what must hold is put back in its place afterwards."""
NONE = 1e-9
"""Rows smaller than this, of the largest, hold nothing."""


def gentle(figure: Figure, clip: FloatArray, most: FloatArray, rows: FloatArray) -> FloatArray:
    """(frames, nq) a motion near to the clip in which no joint accelerates by more than it may, if there is one.

    Args:
        figure: Who moves.
        clip: (frames, nq) its motion.
        most: (nv,) greatest second difference from frame to frame, inf where there is none.
        rows: (frames, m, nv) what must hold, as it changes with the joints.
    """
    gained = np.diff(rates_of(figure, clip), axis=0)
    out = np.zeros_like(clip)
    move_clip(figure.compiled.tree, clip, _small_change(gained, INSIDE * most, _projections(rows)), out)
    return out


def _projections(rows: FloatArray) -> FloatArray:
    """(frames, nv, nv) projections on the changes that no row notices."""
    _, size, across = np.linalg.svd(rows, full_matrices=False)
    noticed = across * (size > NONE * np.maximum(size[:, :1], 1e-300))[..., None]
    out: FloatArray = np.eye(rows.shape[2]) - np.swapaxes(noticed, 1, 2) @ noticed
    return out


def _small_change(gained: FloatArray, bound: FloatArray, keeps: FloatArray) -> FloatArray:
    """(frames, nv) a small d with |gained + D² d| ≤ bound that `keeps` (frames, nv, nv) leaves as it is."""
    count = len(gained) + 2
    factor = cholesky_banded(_normal(count), lower=True)
    kept = over = np.zeros((count, gained.shape[1]))
    spare, held = np.zeros_like(gained), np.clip(gained, -bound, bound)
    for _ in range(ROUNDS):
        change = cho_solve_banded((factor, True), STIFF * _transposed(held - spare - gained) + FIRM * (kept - over))
        kept = (keeps @ (change + over)[..., None])[..., 0]
        over = over + change - kept
        reached = gained + np.diff(change, n=2, axis=0)
        if (np.abs(gained + np.diff(kept, n=2, axis=0)) <= (1.0 + DONE) * bound).all():
            break
        held = np.clip(reached + spare, -bound, bound)
        spare = spare + reached - held
    return np.ascontiguousarray(kept)


def _normal(count: int) -> FloatArray:
    """(3, count) lower bands of 1 + FIRM + STIFF (D²)ᵀ D²."""
    bands = np.zeros((3, count))
    for row, products in enumerate(((1.0, 4.0, 1.0), (-2.0, -2.0), (1.0,))):
        for shift, product in enumerate(products):
            bands[row, shift : shift + count - 2] += STIFF * product
    bands[0] += 1.0 + FIRM
    return bands


def _transposed(change: FloatArray) -> FloatArray:
    """(D²)ᵀ of rows (frames - 2, k)."""
    out = np.zeros((len(change) + 2, change.shape[1]))
    for shift, weight in enumerate((1.0, -2.0, 1.0)):
        out[shift : shift + len(change)] += weight * change
    return out
