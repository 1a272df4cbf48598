"""Style of a retargeted motion: smoothing without delay, jerk, and limits of accelerations.

`limit_acceleration` finds the nearest motion that satisfies the acceleration limits and keeps the constraints of every
frame. With x the joint values over time, D² the second difference in time, J_t the Jacobian of the constraints in frame
t (standing feet and loops) and a the acceleration limits, find a small correction d with

    |D² (x + d)| ≤ a / rate²   and   J_t d_t = 0.

The alternating direction method of multipliers converges to the smallest such d [Boyd et al. 2011, 5]. It needs one
banded Cholesky factorisation, the same for all joints, and in each round one substitution, one clamp and one projection
on the null spaces of J_t. The first iterate that satisfies the limits is taken.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve_banded, cholesky_banded

from poise.arguments import number, positive
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.kernels.motion.posture_curves import clip_rates, move_clip, smooth_clip
from poise.motion.clip.contacts import BoolArray
from poise.motion.report.curves import USUAL_JERK_PERCENTILE
from poise.motion.retarget.feet import frames_to_nearest, smootherstep

JERKY_FACTOR = 7.5
"""A frame is jerky if the jerk of a coordinate exceeds this many times its usual jerk.

It is below the `SPIKE_FACTOR` of the report, so that a motion without jerky frames has no spikes.
"""
ADMM_ROUNDS = 300
"""Largest number of rounds of the alternating direction method of multipliers (ADMM)."""
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


@dataclass(frozen=True)
class Style:
    """Style of a retargeted motion."""

    still: float = 1e-7
    """Weight of squared joint speeds against squared position errors [s²]."""
    near: float = 1e-4
    """Weight of squared deviations from the neutral posture against squared position errors."""
    smooth: float = 0.008
    """Width of the smoothing in time [s]; 0 turns it off."""
    acceleration: float = np.inf
    """Greatest acceleration of every joint but a floating base [rad/s² or m/s²]."""

    def __post_init__(self) -> None:
        """Refuse numbers that are negative or not finite."""
        for what in ("still", "near", "smooth"):
            object.__setattr__(self, what, number(getattr(self, what), f"the {what} of a style", least=0.0))
        if self.acceleration != np.inf:
            value = positive(self.acceleration, "the acceleration of a style")
            object.__setattr__(self, "acceleration", value)


def smoothed(figure: Figure, clip: FloatArray, width: FloatArray) -> FloatArray:
    """(frames, nq) the postures smoothed symmetrically in time over a `width` (frames,) of frames around each."""
    if not width.any():
        return clip
    out = np.zeros_like(clip)
    smooth_clip(figure.compiled.tree, clip, np.maximum(width, 1e-3), out)
    return out


def smoothed_where(figure: Figure, clip: FloatArray, jerky: dict[str, BoolArray], width: float) -> FloatArray:
    """(frames, nq) the postures with jerky joints, and all that they carry, smoothed around the jerky frames.

    Args:
        figure: The figure that moves.
        clip: (frames, nq) joint values.
        jerky: (frames,) the jerky frames of some joints, by name.
        width: Width of the smoothing in a jerky frame [frames]; it falls to zero within twice that.
    """
    out = clip.copy()
    carried: dict[str | None, BoolArray] = {}
    for joint in figure.joints:
        frames = jerky.get(joint.name, False) | carried.get(joint.parent, np.zeros(len(clip), dtype=np.bool_))
        carried[joint.child] = frames
        at = figure.q_slice(joint.name)
        if frames.any() and at.stop > at.start:
            out[:, at] = smoothed(figure, clip, width * eased_window(frames, 2.0 * width))[:, at]
    return out


def jerky_joints(figure: Figure, clip: FloatArray) -> dict[str, BoolArray]:
    """(frames,) the frames in which the jerk of a joint is far above its usual jerk, by name of joints with any."""
    if len(clip) < 5:
        return {}
    jerk = np.abs(np.diff(frame_differences(figure, clip), n=2, axis=0))
    usual = np.maximum(np.percentile(jerk, USUAL_JERK_PERCENTILE, axis=0), np.percentile(jerk, USUAL_JERK_PERCENTILE))
    found = {}
    for joint in figure.moving_joints:
        frames = np.zeros(len(clip), dtype=np.bool_)
        frames[1:-2] = (jerk > JERKY_FACTOR * usual)[:, figure.v_slice(joint)].any(axis=1)
        if frames.any():
            found[joint] = frames
    return found


def frame_differences(figure: Figure, clip: FloatArray) -> FloatArray:
    """(frames - 1, nv) difference of every joint between consecutive frames [rad or m]."""
    rates = np.zeros((len(clip) - 1, figure.nv))
    clip_rates(figure.compiled.tree, clip, rates)
    return rates


def slowdown_needed(figure: Figure, clip: FloatArray, rate: float, style: Style) -> float:
    """Factor, at least 1, by which to slow a motion down to the joints' speed limits and the style's acceleration."""
    rates = np.abs(frame_differences(figure, clip)) * rate
    accelerations = np.abs(np.diff(frame_differences(figure, clip), axis=0)) * rate**2
    most = 1.0
    for name in figure.moving_joints:
        joint, where = figure.joints[name], figure.v_slice(name)
        most = max(most, float(np.linalg.norm(rates[:, where], axis=1).max(initial=0.0)) / joint.speed)
        if joint.kind != "free":
            most = max(most, math.sqrt(float(accelerations[:, where].max(initial=0.0)) / style.acceleration))
    return most


def acceleration_limits(figure: Figure, acceleration: float) -> FloatArray:
    """(nv,) acceleration limits: the same for every coordinate, inf for a floating base."""
    most = np.full(figure.nv, acceleration)
    for joint in figure.joints:
        if joint.kind == "free":
            most[figure.v_slice(joint.name)] = np.inf
    return most


def eased_window(mask: BoolArray, reach: float) -> FloatArray:
    """(frames,) 1 where the mask is true, falling smoothly to 0 within `reach` frames before and after."""
    return smootherstep(np.clip(1.0 - frames_to_nearest(mask) / (reach + 1.0), 0.0, 1.0))


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
