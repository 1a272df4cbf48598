"""Curves through the postures of a clip: smoothing, B-splines, interpolation, velocities and world frames.

Nothing is optimised here: each function is a weighted mean of neighbouring postures, computed in the tangent space of
one of them with q ⊖ p (`difference`) and p ⊕ v (`integrate`).
"""

import math

import numpy as np

from poise.kernels.body.tree import Tree, attached_frames, difference, forward, integrate
from poise.kernels.jit.compile import kernel

Array = np.ndarray

WINDOW_WIDTHS = 3.0
"""Half-width of the smoothing window, in standard deviations."""


@kernel(counts_references=True)
def smooth_clip(
    tree: Tree,
    clip: Array,
    width: Array,
    # outputs
    out: Array,
) -> None:
    """Smooth a clip `out` (frames, nq) with a zero-phase kernel of standard deviation `width` (frames,) in frames.

    Frame k before and frame k after have equal weights, so the motion is not delayed. The kernel is a Gaussian with
    its second moment removed,

        w_k = (1 - c k²) exp(-k²/2σ²),  c such that Σ k² w_k = 0,

    so a motion that is cubic in time within the window does not change. The window shrinks towards both ends, which
    stay as they are.
    """
    frames, nv = clip.shape[0], tree.dof_node.shape[0]
    gap, mean = np.zeros(nv), np.zeros(nv)
    for t in range(frames):
        reach = min(math.ceil(WINDOW_WIDTHS * width[t]), t, frames - 1 - t)
        for a in range(nv):
            mean[a] = 0.0
        second, fourth = 0.0, 1e-300
        for k in range(1, reach + 1):
            share = math.exp(-0.5 * (k / width[t]) ** 2)
            second += share * k**2
            fourth += share * k**4
        total = 1.0
        for k in range(1, reach + 1):
            share = (1.0 - second / fourth * k**2) * math.exp(-0.5 * (k / width[t]) ** 2)
            total += 2.0 * share
            for side in (-k, k):
                difference(tree, clip[t], clip[t + side], gap)
                for a in range(nv):
                    mean[a] += share * gap[a]
        for a in range(nv):
            mean[a] /= total
        integrate(tree, clip[t], mean, out[t])


@kernel(counts_references=True)
def curve_clip(
    tree: Tree,
    clip: Array,
    before: Array,
    share: Array,
    # outputs
    out: Array,
) -> None:
    """Evaluate the uniform cubic B-spline of a clip at times `before[k]` + `share[k]` frames, `out` (k, nq).

    The spline has continuous acceleration. Each posture is a convex combination of four frames, so it is inside every
    convex limit that those are inside. Beyond both ends the clip is extended by point reflection, so that the first and
    last postures stay as they are.
    """
    nv, last = tree.dof_node.shape[0], clip.shape[0] - 1
    gap, mean, weight = np.zeros(nv), np.zeros(nv), np.zeros(4)
    for k in range(before.shape[0]):
        a, s = before[k], share[k]
        weight[0], weight[3] = (1.0 - s) ** 3 / 6.0, s**3 / 6.0
        weight[1] = (3.0 * s**3 - 6.0 * s**2 + 4.0) / 6.0
        weight[2] = 1.0 - weight[0] - weight[1] - weight[3]
        for i in range(nv):
            mean[i] = 0.0
        for j in range(-1, 3):
            at = a + j
            beyond = at < 0 or at > last
            if beyond:
                at = -at if at < 0 else 2 * last - at
            difference(tree, clip[a], clip[at], gap)
            for i in range(nv):
                mean[i] += (-weight[j + 1] if beyond else weight[j + 1]) * gap[i]
            if beyond and a != 0:
                difference(tree, clip[a], clip[last], gap)
                for i in range(nv):
                    mean[i] += 2.0 * weight[j + 1] * gap[i]
        integrate(tree, clip[a], mean, out[k])


@kernel(counts_references=True)
def clip_frames(
    tree: Tree,
    clip: Array,
    node: Array,
    local_position: Array,
    local_rotation: Array,
    # outputs
    position: Array,
    rotation: Array,
) -> None:
    """World positions (frames, m, 3) and rotations (frames, m, 4) of frames attached to nodes, for a whole clip."""
    count = tree.parent.shape[0]
    places, turns = np.empty((count, 3)), np.empty((count, 4))
    for t in range(clip.shape[0]):
        forward(tree, clip[t], places, turns)
        attached_frames(node, local_position, local_rotation, places, turns, position[t], rotation[t])


@kernel(counts_references=True)
def interpolate_clip(
    tree: Tree,
    clip: Array,
    before: Array,
    share: Array,
    # outputs
    out: Array,
) -> None:
    """Interpolate linearly, out[k] = a ⊕ share[k] · (b ⊖ a), between frames a = before[k] and b = before[k] + 1."""
    gap = np.zeros(tree.dof_node.shape[0])
    for k in range(before.shape[0]):
        a, part = before[k], share[k]
        if part == 0.0 or part == 1.0:
            for i in range(clip.shape[1]):
                out[k, i] = clip[a + (1 if part == 1.0 else 0), i]
            continue
        difference(tree, clip[a], clip[a + 1], gap)
        for i in range(gap.shape[0]):
            gap[i] *= part
        integrate(tree, clip[a], gap, out[k])


@kernel(counts_references=True)
def clip_rates(
    tree: Tree,
    clip: Array,
    # outputs
    out: Array,
) -> None:
    """Fill `out` (frames - 1, nv) with the difference of each posture and the next."""
    for t in range(clip.shape[0] - 1):
        difference(tree, clip[t], clip[t + 1], out[t])


@kernel(counts_references=True)
def move_clip(
    tree: Tree,
    clip: Array,
    change: Array,
    # outputs
    out: Array,
) -> None:
    """Fill `out` (frames, nq) with clip[t] ⊕ change[t] for each frame t; `change` is (frames, nv)."""
    for t in range(clip.shape[0]):
        integrate(tree, clip[t], change[t], out[t])
