"""Drives an engine through all frames of a clip in one crossing into compiled code."""

from typing import NamedTuple

import numpy as np

from poise.kernels.body.tree import difference, integrate
from poise.kernels.engine.engine import FIRST_TASKS, MECHANISM, Engine
from poise.kernels.engine.indirect_calls import call_clamp, call_evaluate_current
from poise.kernels.engine.step import take_step
from poise.kernels.engine.step_model import prepare
from poise.kernels.goals.goals import Goals
from poise.kernels.jit.compile import kernel
from poise.kernels.motion.weighted_fit import fit_posture, is_met
from poise.kernels.motion.weighted_fit_step import Fit

Array = np.ndarray


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


@kernel
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
            call_clamp(engine.calls, engine, before, q)
        settled = fit_posture(engine, fit, before, neutral, steps, tolerance, q)
        difference(engine.tree, before, q, onward)
        for i in range(q.shape[0]):
            out[frame, i] = q[i]


@kernel(counts_references=True)
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


@kernel(counts_references=True)
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
        call_evaluate_current(engine.calls, engine, clip[frame])
        prepare(engine, clip[frame])
        first, last = start[MECHANISM], start[FIRST_TASKS + levels]
        for i in range(first, min(last, first + out.shape[1])):
            for a in range(out.shape[2]):
                out[frame, i - first, a] = rows[i, a]


@kernel(counts_references=True)
def _start(engine: Engine, wanted: Array, q: Array) -> None:
    """Set `q` (nq,) to a wanted posture, inside the limits."""
    for i in range(wanted.shape[0]):
        q[i] = wanted[i]
    call_clamp(engine.calls, engine, wanted[:0], q)
