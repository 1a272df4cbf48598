"""Drives an engine through all frames of a clip in one crossing into compiled code."""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.compile import kernel
from poise.kernels.engine import FIRST_TASKS, MECHANISM, Engine
from poise.kernels.far_call import far_clamp, far_stance
from poise.kernels.fit import Fit, fit_posture, is_met
from poise.kernels.goals import Goals
from poise.kernels.step import take_step
from poise.kernels.step_model import prepare
from poise.kernels.tree import Tree, attached_frames, difference, forward, integrate

Array = np.ndarray

WIDEST = 3.0
"""Widths beyond which neighbours do not count."""


class Course(NamedTuple):
    """What the goals of an engine want, frame by frame."""

    position: Array
    """(frames, goals, 3)"""
    rotation: Array
    """(frames, goals, 4)"""
    weight: Array
    """(frames, rows) square roots of weights; 0 for a row that asks nothing."""
    slack: Array
    """(frames, goals) see `Fit.slack`."""


@kernel(borrows=True)
def aim(goals: Goals, course: Course, frame: int) -> None:
    """Give the goals their targets and weights of a frame."""
    position, rotation, weight = goals.position, goals.rotation, goals.weight
    for g in range(position.shape[0]):
        for i in range(3):
            position[g, i] = course.position[frame, g, i]
        for i in range(4):
            rotation[g, i] = course.rotation[frame, g, i]
    for i in range(weight.shape[0]):
        weight[i] = course.weight[frame, i]


@kernel
def fit_clip(
    engine: Engine,
    fit: Fit,
    course: Course,
    neutral: Array,
    span: tuple[int, int],
    steps: int,
    tolerance: float,
    q: Array,
    # outputs
    out: Array,
) -> None:
    """Fit postures `out` (frames, nq) from frame `span[0]` on to before `span[1]`, backwards if that comes first.

    Every frame starts where the two before lead to if they came to rest, else from the last; the first starts from what
    `q` (nq,) is, which ends at the last.
    """
    way = 1 if span[1] >= span[0] else -1
    before, onward, settled = q.copy(), np.zeros(fit.step.shape[0]), False
    for frame in range(span[0], span[1], way):
        aim(engine.goals, course, frame)
        for g in range(fit.slack.shape[0]):
            fit.slack[g] = course.slack[frame, g]
        for i in range(q.shape[0]):
            before[i] = q[i]
        if settled:
            integrate(engine.tree, before, onward, q)
            far_clamp(engine.calls, engine.bounds, before, q)
        settled = fit_posture(engine, fit, before, neutral, steps, tolerance, q)
        difference(engine.tree, before, q, onward)
        for i in range(q.shape[0]):
            out[frame, i] = q[i]


@kernel
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


@kernel
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


@kernel
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


@kernel
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


@kernel
def clip_rates(
    tree: Tree,
    clip: Array,
    # outputs
    out: Array,
) -> None:
    """Way `out` (frames - 1, nv) from each posture to the next."""
    for t in range(clip.shape[0] - 1):
        difference(tree, clip[t], clip[t + 1], out[t])


@kernel
def perform_clip(
    engine: Engine,
    fit: Fit,
    course: Course,
    wanted: Array,
    frames: Array,
    steps: int,
    tolerance: float,
    # outputs
    out: Array,
) -> int:
    """Postures `out` (frames, nq) that meet the goals by levels, each as near as it can be to `wanted` (frames, nq).

    Where all goals can be met at once, levels have nothing to decide and a fit finds the posture. Only those of some
    `frames` (k,) are found; the others are left alone. Returns in how many of them levels had to decide.
    """
    held, decided = engine.criteria.postures, 0
    for frame in frames:
        aim(engine.goals, course, frame)
        near, q = wanted[frame], out[frame]
        _start(engine, near, q)
        fit_posture(engine, fit, near, near, steps, tolerance, q)
        if is_met(engine, q):
            continue
        decided += 1
        _start(engine, near, q)
        for i in range(near.shape[0]):
            held[0, i] = near[i]
        for _ in range(steps):
            if take_step(engine, q) <= tolerance:
                break
    return decided


@kernel
def held_rows(
    engine: Engine,
    course: Course,
    clip: Array,
    levels: int,
    # outputs
    out: Array,
) -> None:
    """Rows `out` (frames, m, nv) of loops and of the first so many levels of goals, at every posture of a clip."""
    rows, start = engine.levels.rows, engine.levels.start
    for frame in range(clip.shape[0]):
        aim(engine.goals, course, frame)
        far_stance(engine.calls, engine.tree, engine.goals, clip[frame], engine.here)
        prepare(engine, clip[frame])
        first, last = start[MECHANISM], start[FIRST_TASKS + levels]
        for i in range(first, min(last, first + out.shape[1])):
            for a in range(out.shape[2]):
                out[frame, i - first, a] = rows[i, a]


@kernel
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


@kernel
def _start(engine: Engine, wanted: Array, q: Array) -> None:
    """Set `q` (nq,) to a wanted posture, inside the limits."""
    for i in range(wanted.shape[0]):
        q[i] = wanted[i]
    far_clamp(engine.calls, engine.bounds, wanted[:0], q)
