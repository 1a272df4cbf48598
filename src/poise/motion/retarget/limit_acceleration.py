"""Nearest motion that satisfies the acceleration limits and keeps the constraints of every frame.

With x the joint values over time, D² the second difference in time, J_t the Jacobian of the constraints in frame t
(standing feet and loops) and a the acceleration limits, find a small correction d with

    |D² (x + d)| ≤ a / rate²   and   J_t d_t = 0.

The alternating direction method of multipliers converges to the smallest such d [Boyd et al. 2011, 5]. It needs one
banded Cholesky factorisation, the same for all joints, and in each round one substitution, one clamp and one projection
on the null spaces of J_t. The first iterate that satisfies the limits is taken.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_solve_banded, cholesky_banded

from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.kernels.motion.posture_curves import move_clip
from poise.motion.retarget.pace import frame_differences

ADMM_ROUNDS = 300
"""Most rounds."""
ACCELERATION_TOLERANCE = 0.01
"""Relative excess over an acceleration limit at which the rounds end."""
LIMIT_PENALTY = 1e4
"""Penalty of the acceleration limits in the augmented Lagrangian, against ½|d|²."""
CONSTRAINT_PENALTY = 1e1
"""Penalty of the constraints in the augmented Lagrangian, against ½|d|²."""
LIMIT_SHARE = 0.97
"""Share of the acceleration limits to aim at: solving the constraints exactly afterwards needs some margin."""
CONSTRAINT_RANK_TOLERANCE = 1e-9
"""Singular values of a constraint Jacobian below this share of the largest count as zero."""


def limit_acceleration(figure: Figure, clip: FloatArray, most: FloatArray, rows: FloatArray) -> FloatArray:
    """(frames, nq) a motion near `clip` within the acceleration limits, as far as the rounds get there.

    Args:
        figure: The figure that moves.
        clip: (frames, nq) joint values.
        most: (nv,) greatest second difference between frames, inf where there is no limit.
        rows: (frames, m, nv) Jacobians of the constraints.
    """
    second_difference = np.diff(frame_differences(figure, clip), axis=0)
    out = np.zeros_like(clip)
    move_clip(
        figure.compiled.tree,
        clip,
        _admm_correction(second_difference, LIMIT_SHARE * most, _null_space_projectors(rows)),
        out,
    )
    return out


def _null_space_projectors(rows: FloatArray) -> FloatArray:
    """(frames, nv, nv) orthogonal projectors on the null spaces of the Jacobians `rows` (frames, m, nv)."""
    _, size, across = np.linalg.svd(rows, full_matrices=False)
    noticed = across * (size > CONSTRAINT_RANK_TOLERANCE * np.maximum(size[:, :1], 1e-300))[..., None]
    out: FloatArray = np.eye(rows.shape[2]) - np.swapaxes(noticed, 1, 2) @ noticed
    return out


def _admm_correction(second_difference: FloatArray, bound: FloatArray, projections: FloatArray) -> FloatArray:
    """(frames, nv) a small d with |second_difference + D² d| ≤ bound, in the range of the projections.

    Args:
        second_difference: (frames - 2, nv) D² x.
        bound: (nv,) limits.
        projections: (frames, nv, nv) projectors on the null spaces of the constraints.
    """
    count = len(second_difference) + 2
    factor = cholesky_banded(_normal_matrix_bands(count), lower=True)
    projected = constraint_dual = np.zeros((count, second_difference.shape[1]))
    limit_dual, clamped = np.zeros_like(second_difference), np.clip(second_difference, -bound, bound)
    for _ in range(ADMM_ROUNDS):
        change = cho_solve_banded(
            (factor, True),
            LIMIT_PENALTY * _transposed_second_difference(clamped - limit_dual - second_difference)
            + CONSTRAINT_PENALTY * (projected - constraint_dual),
        )
        projected = (projections @ (change + constraint_dual)[..., None])[..., 0]
        constraint_dual = constraint_dual + change - projected
        reached = second_difference + np.diff(change, n=2, axis=0)
        if (
            np.abs(second_difference + np.diff(projected, n=2, axis=0)) <= (1.0 + ACCELERATION_TOLERANCE) * bound
        ).all():
            break
        clamped = np.clip(reached + limit_dual, -bound, bound)
        limit_dual = limit_dual + reached - clamped
    return np.ascontiguousarray(projected)


def _normal_matrix_bands(count: int) -> FloatArray:
    """(3, count) lower bands of (1 + CONSTRAINT_PENALTY) I + LIMIT_PENALTY (D²)ᵀ D²."""
    bands = np.zeros((3, count))
    for row, products in enumerate(((1.0, 4.0, 1.0), (-2.0, -2.0), (1.0,))):
        for shift, product in enumerate(products):
            bands[row, shift : shift + count - 2] += LIMIT_PENALTY * product
    bands[0] += 1.0 + CONSTRAINT_PENALTY
    return bands


def _transposed_second_difference(change: FloatArray) -> FloatArray:
    """(frames, k) the product (D²)ᵀ · change, for change (frames - 2, k)."""
    out = np.zeros((len(change) + 2, change.shape[1]))
    for shift, weight in enumerate((1.0, -2.0, 1.0)):
        out[shift : shift + len(change)] += weight * change
    return out
