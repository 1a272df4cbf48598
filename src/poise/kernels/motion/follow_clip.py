"""Inverse kinematics for all frames of a clip, in one call of compiled code.

All frames have the same goals; their targets and weights differ from frame to frame (`Course`). `fit_clip` finds a
posture for each frame by weighted least squares (see `weighted_fit`), without priorities. `perform_clip` tries the same
first. In a frame where that does not meet every goal, it runs the engine instead, so that goals of lower priority give
way to those of higher priority. The engine does not keep the parts of the figure apart (`separation`). If it leaves
some in each other, the weighted fit solves the frame, in which some goals give way to that.
"""

from typing import NamedTuple

import numpy as np

from poise.kernels.body.tree import difference, integrate
from poise.kernels.engine.engine import FIRST_TASK_LEVEL, MECHANISM_LEVEL, Engine
from poise.kernels.engine.indirect_calls import call_build_model, call_clamp, call_evaluate_current, call_take_step
from poise.kernels.goals.goals import Goals
from poise.kernels.jit.compile import kernel
from poise.kernels.motion.separation import overlaps
from poise.kernels.motion.weighted_fit import fit_cost, fit_posture, is_met
from poise.kernels.motion.weighted_fit_step import Fit

Array = np.ndarray

STEPS_APART = 50
"""Largest number of steps of a fit that separates penetrating parts of the figure."""


class Course(NamedTuple):
    """Targets and weights of an engine's goals in every frame of a clip."""

    position: Array
    """(frames, goals, 3) target positions [m]."""
    rotation: Array
    """(frames, goals, 4) target rotations."""
    weight: Array
    """(frames, rows) square roots of the weights of the error components; 0 for one that does not count."""
    slack: Array
    """(frames, goals) threshold of the robust loss, see `Fit.slack` [m]."""


@kernel
def aim(goals: Goals, course: Course, frame: int) -> None:
    """Copy the targets and weights of one frame into the goals."""
    position, rotation, weight = goals.position, goals.rotation, goals.weight
    for g in range(position.shape[0]):
        for i in range(3):
            position[g, i] = course.position[frame, g, i]
        for i in range(4):
            rotation[g, i] = course.rotation[frame, g, i]
    for i in range(weight.shape[0]):
        weight[i] = course.weight[frame, i]


@kernel(counts_references=True)
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
    """Fit postures `out` (frames, nq) to frames `span[0]` up to but not including `span[1]`, forwards or backwards.

    Each frame minimises the cost of `weighted_fit`, with the frame before as `before`. It starts from the linear
    extrapolation of the last two frames if the last fit converged, else from the last posture; the first frame starts
    from `q` (nq,), which ends as the last posture.
    """
    direction = 1 if span[1] >= span[0] else -1
    before, last_motion, converged = q.copy(), np.zeros(fit.step.shape[0]), False
    for frame in range(span[0], span[1], direction):
        aim(engine.goals, course, frame)
        for g in range(fit.slack.shape[0]):
            fit.slack[g] = course.slack[frame, g]
        for i in range(q.shape[0]):
            before[i] = q[i]
        if converged:
            integrate(engine.tree, before, last_motion, q)
            call_clamp(engine.calls, engine, before, q)
        converged = fit_posture(engine, fit, before, neutral, steps, tolerance, q)
        difference(engine.tree, before, q, last_motion)
        for i in range(q.shape[0]):
            out[frame, i] = q[i]


@kernel(counts_references=True)
def clip_costs(
    engine: Engine,
    fit: Fit,
    course: Course,
    neutral: Array,
    frames: Array,
    clip: Array,
    # outputs
    cost: Array,
) -> None:
    """The cost (k,) of postures `clip` (k, nq) in the frames with indices `frames` (k,).

    It is that of `weighted_fit` without the regulariser towards the frame before, so that it does not depend on how the
    posture was reached.
    """
    for k in range(frames.shape[0]):
        aim(engine.goals, course, frames[k])
        for g in range(fit.slack.shape[0]):
            fit.slack[g] = course.slack[frames[k], g]
        q = clip[k]
        cost[k] = fit_cost(engine, fit, q, q, neutral)


@kernel(counts_references=True)
def perform_clip(
    engine: Engine,
    fit: Fit,
    course: Course,
    wanted: Array,
    frames: Array,
    yielding: Array,
    steps: int,
    tolerance: float,
    # outputs
    out: Array,
) -> int:
    """Postures `out` (frames, nq) that meet the goals by priority and are otherwise nearest to `wanted` (frames, nq).

    Solves the frames with indices `frames` (k,) and leaves the others unchanged. A weighted fit is tried first: if it
    meets every goal, priorities do not matter. Otherwise the engine solves its levels, of which the last one holds the
    wanted posture. Where parts of the figure would be in each other, the square roots of the weights of the error
    components are multiplied by `yielding` (rows,) instead. Returns the number of frames that needed the engine.
    """
    held, weight, solved_by_levels = engine.criteria.postures, engine.goals.weight, 0
    for frame in frames:
        aim(engine.goals, course, frame)
        near, q = wanted[frame], out[frame]
        _start(engine, near, q)
        fit_posture(engine, fit, near, near, steps, tolerance, q)
        if is_met(engine, q):
            if not overlaps(engine, fit.apart, q):
                continue
            fit_posture(engine, fit, near, near, STEPS_APART, tolerance, q)
        else:
            solved_by_levels += 1
            _start(engine, near, q)
            for i in range(near.shape[0]):
                held[0, i] = near[i]
            for _ in range(steps):
                if call_take_step(engine.calls, engine, q) <= tolerance:
                    break
        if not overlaps(engine, fit.apart, q):
            continue
        for i in range(weight.shape[0]):
            weight[i] *= yielding[i]
        _start(engine, near, q)
        fit_posture(engine, fit, near, near, STEPS_APART, tolerance, q)
    return solved_by_levels


@kernel(counts_references=True)
def held_rows(
    engine: Engine,
    course: Course,
    clip: Array,
    levels: int,
    # outputs
    out: Array,
) -> None:
    """Fill `out` (frames, m, nv) with the Jacobian of loops and of the first `levels` levels in every frame."""
    rows, start = engine.levels.rows, engine.levels.start
    for frame in range(clip.shape[0]):
        aim(engine.goals, course, frame)
        call_evaluate_current(engine.calls, engine, clip[frame])
        call_build_model(engine.calls, engine, clip[frame])
        first, last = start[MECHANISM_LEVEL], start[FIRST_TASK_LEVEL + levels]
        for i in range(first, min(last, first + out.shape[1])):
            for a in range(out.shape[2]):
                out[frame, i - first, a] = rows[i, a]


@kernel(counts_references=True)
def _start(engine: Engine, wanted: Array, q: Array) -> None:
    """Set `q` (nq,) to the wanted posture, clamped to the limits."""
    for i in range(wanted.shape[0]):
        q[i] = wanted[i]
    call_clamp(engine.calls, engine, wanted[:0], q)
