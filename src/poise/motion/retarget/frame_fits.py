"""Weighted fits of the frames of a clip, each started from the frame before it, forwards or backwards in time."""

from __future__ import annotations

import numpy as np

from poise.engine.problem import Problem
from poise.engine.weighted_fit import make_weighted_fit
from poise.figure.model.compiled import IntArray
from poise.figure.model.pose import FloatArray
from poise.kernels.motion.follow_clip import Course, aim, clip_costs, fit_clip
from poise.kernels.motion.posture_curves import clip_rates
from poise.kernels.motion.separation import Separation
from poise.kernels.motion.weighted_fit import fit_posture
from poise.motion.clip.contacts import BoolArray, segments

FRAME_STEPS = 10
"""Largest number of steps of the fit per frame."""
STEP_TOLERANCE = 1e-3
"""Step length below which a frame is solved [rad or m]; the next step would be far smaller."""
START_STEPS = 200
"""Largest number of steps of the fit for a frame without one before it."""
START_TOLERANCE = 1e-5
"""Step length below which such a frame is solved [rad or m]."""
AGREE = 1e-3
"""Difference of a coordinate up to which two postures agree [rad or m]."""
FRAMES_AHEAD = 10
"""Frames that are followed at once until two drafts agree."""


class FrameFits:
    """The fits of a problem's goals over a clip."""

    def __init__(  # noqa: PLR0917
        self,
        problem: Problem,
        course: Course,
        near: float,
        still: float,
        most_change: FloatArray,
        apart: Separation | None,
    ) -> None:
        """Set up the fits.

        Args:
            problem: The compiled tasks.
            course: Their targets and weights in every frame.
            near: Weight of the neutral posture.
            still: Weight of the posture of the frame before.
            most_change: (nv,) greatest change of each coordinate between frames [rad or m].
            apart: Parts of the figure to keep apart; None for none.
        """
        self.figure, self.course, self.most_change = problem.figure, course, most_change
        self._problem, self._neutral = problem, problem.figure.neutral()._q.copy()
        fit = make_weighted_fit(problem, near, still, apart=apart)
        self._start, self._fit = fit._replace(still=np.zeros_like(fit.still)), fit._replace(most_change=most_change)

    def start(self, frame: int, q: FloatArray, steps: int = START_STEPS) -> None:
        """Fit `q` (nq,), which is replaced, to a frame from where it is, however far that may be."""
        aim(self._problem.engine.goals, self.course, frame)
        self._start.slack[:] = self.course.slack[frame]
        fit_posture(self._problem.handle, self._start, q, self._neutral, steps, START_TOLERANCE, q)

    def follow(self, span: tuple[int, int], q: FloatArray, out: FloatArray) -> None:
        """Fit the frames from `span[0]` up to but not including `span[1]`, or down to it.

        Args:
            span: The frames.
            q: (nq,) the posture before; it becomes the last posture.
            out: (frames, nq) output.
        """
        fit_clip(self._problem.handle, self._fit, self.course, self._neutral, span, FRAME_STEPS, STEP_TOLERANCE, q, out)

    def solved_again(self, frames: BoolArray, known: FloatArray) -> tuple[FloatArray, BoolArray]:
        """Solve some frames of the postures `known` (frames, nq) again, and those after them until they are as known.

        Returns:
            The postures, and the mask (frames,) of those that are new.
        """
        out, new, done, count = known.copy(), np.zeros(len(known), dtype=np.bool_), 0, len(known)
        for begin, end in segments(frames):
            if end <= done:
                continue
            first = start = max(begin, done)
            q = out[max(first - 1, 0)].copy()
            if first == 0:
                self.start(0, q)
            while True:
                self.follow((first, end), q, out)
                if end == count or self.differences(known[end - 1 : end], out[end - 1 : end]).max() < AGREE:
                    break
                first, end = end, min(end + FRAMES_AHEAD, count)
            done = end
            new[start:done] = True
        return out, new

    def costs(self, frames: IntArray, clip: FloatArray) -> FloatArray:
        """(k,) costs of postures (k, nq) in frames (k,), however they were reached."""
        out, postures = np.zeros(len(clip)), np.array(clip, dtype=np.float64)  # one that kernels may write to
        clip_costs(self._problem.handle, self._fit, self.course, self._neutral, frames, postures, out)
        return out

    def differences(self, one: FloatArray, other: FloatArray) -> FloatArray:
        """(frames, nv) absolute differences of two clips (frames, nq) [rad or m]."""
        out = np.zeros((2 * len(one) - 1, self.figure.nv))
        clip_rates(self.figure.compiled.tree, in_turn(one, other), out)
        return np.abs(out[::2])


def in_turn(one: FloatArray, other: FloatArray) -> FloatArray:
    """(2 frames, nq) the postures of two clips (frames, nq) in turn: the first of one, the first of the other, …."""
    return np.ascontiguousarray(np.stack([one, other], axis=1).reshape(2 * len(one), -1))
