"""Whole clips as curves of postures: their frames, rates and means, and postures between and beside their own."""

import math

import numpy as np

from poise.kernels.body.tree import Tree, attached_frames, difference, forward, integrate
from poise.kernels.jit.compile import kernel

Array = np.ndarray

WIDEST = 3.0
"""Widths beyond which neighbours do not count."""


@kernel(counts_references=True)
def smooth_clip(
    tree: Tree,
    clip: Array,
    width: Array,
    # outputs
    out: Array,
) -> None:
    """Means `out` (frames, nq) of neighbouring postures, `width` (frames,) frames wide; ends stay.

    Neighbours count by pairs before and after, so that nothing is late, and by a Gaussian less its own bend,

        w_k = (1 - c k²) exp(-k²/2σ²),  c such that Σ k² w_k = 0,

    so that bends stay too: a motion that is cubic in time within the width stays what it is.
    """
    frames, nv = clip.shape[0], tree.dof_node.shape[0]
    gap, mean = np.zeros(nv), np.zeros(nv)
    for t in range(frames):
        reach = min(math.ceil(WIDEST * width[t]), t, frames - 1 - t)
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
    """Postures `out` (k, nq) on the cubic B-spline of a clip, a share[k] of the way on from frame `before[k]`.

    A B-spline has no corners, and its postures are means of four frames': inside every limit that those are inside of.
    Both ends stay, as if the motion came and went steadily.
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
    """World frames (frames, m, 3), (frames, m, 4) of frames rigidly attached to nodes, in every posture of a clip."""
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
    """out[k] = a ⊕ share[k] · (b ⊖ a), a and b being frame `before[k]` and the next; exactly a or b at the ends."""
    way = np.zeros(tree.dof_node.shape[0])
    for k in range(before.shape[0]):
        a, part = before[k], share[k]
        if part == 0.0 or part == 1.0:
            for i in range(clip.shape[1]):
                out[k, i] = clip[a + (1 if part == 1.0 else 0), i]
            continue
        difference(tree, clip[a], clip[a + 1], way)
        for i in range(way.shape[0]):
            way[i] *= part
        integrate(tree, clip[a], way, out[k])


@kernel(counts_references=True)
def clip_rates(
    tree: Tree,
    clip: Array,
    # outputs
    out: Array,
) -> None:
    """Way `out` (frames - 1, nv) from each posture to the next."""
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
    """Postures `out` (frames, nq) of a clip (frames, nq), each moved by its change (frames, nv)."""
    for t in range(clip.shape[0]):
        integrate(tree, clip[t], change[t], out[t])
