"""Solves a led figure over a whole clip: a draft that follows, smoothed, then what must hold held exactly.

1. *Draft*: all that leads, by its weights, each frame from the one before (`poise.kernels.fit`). Weights alone make a
   motion that is smooth and nearly right, whatever the clip asks.
2. *Smoothing*, by neighbours before and after alike, so that nothing is late; wider where a joint would jerk.
3. *Levels*: feet that stand, then the centre of mass, then feet in the air, and all joints as near to the smooth draft
   as that lets them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from poise.engine.problem import Problem, StepSize
from poise.errors import TaskError
from poise.figure.compiled import IntArray
from poise.figure.figure import Figure
from poise.figure.pose import FloatArray
from poise.kernels.fit import Fit, fit_posture, make_fit
from poise.kernels.follow import aim, clip_rates, fit_clip, perform_clip, smooth_clip
from poise.motion.balance import center_schedule
from poise.motion.cast import cast_for
from poise.motion.contacts import BoolArray
from poise.motion.feet import eased, frames_from
from poise.motion.landing import final_leads, slipping
from poise.motion.lead import Leads
from poise.motion.mapping import JointMap
from poise.motion.plan import Plan

Progress = Callable[[int, int], None]

DRAFT_STEPS, DRAFT_STILL = 4, 1e-4
"""Most steps of the draft for one frame, and step at which it is done [rad or m]."""
FIRST_STEPS = 200
AT_ONCE = 100
"""Frames that are solved between two calls of `progress`."""
STEPS, STILL = 4, 1e-5
"""The same of the levels."""
ALONG = 1e3
"""Errors are not cut off in a draft, which damps its steps itself."""
WORTH = 1e-6
"""What a step must be worth (see `StepSize.worth`): frames follow each other, so no step is a fidget."""
WARM = 0.5
"""Time that is solved forward and back before the first frame counts [s]."""
JERKY, USUAL = 7.5, 95.0
"""A frame jerks if a joint's jerk is as many times the usual, which is this percentile of all frames."""
WIDER, WIDEST, AROUND = 1.6, 0.1, 0.05
"""How much wider a frame that jerks is smoothed, up to how wide [s], and how far around it [s]."""
ROUNDS = 8
RELEASES = 4
GIVES, SLIPS = 1.5e-3, 5e-4
"""How far a foot that stands may be from its place in a draft, and in the end [m]."""
SHORTEST = 0.06
"""Contacts that last less are let go with what cannot be held of them [s]."""


@dataclass(frozen=True)
class Style:
    """How a motion follows."""

    still: float = 1e-7
    """Weight of joint speeds, against metres [s²]."""
    near: float = 2e-4
    """Weight of the neutral posture, against metres."""
    smooth: float = 0.008
    """Width of the smoothing in time [s]; 0 for none."""

    def __post_init__(self) -> None:
        """Refuse what is no weight."""
        for what in ("still", "near", "smooth"):
            value = getattr(self, what)
            if not 0.0 <= value < np.inf:
                raise TaskError(f"the {what} of a retargeting's style must be zero or a positive number, not {value}.")


class Performance:
    """A figure that performs a plan, which gives way where legs cannot hold what it plants."""

    def __init__(
        self, figure: Figure, mapping: JointMap, plan: Plan, *, rate: float, style: Style, balance: bool
    ) -> None:
        """Nothing is solved yet.

        Args:
            figure: Who performs.
            mapping: Who leads.
            plan: Where to.
            rate: Frames per second of the motion.
            style: How.
            balance: Whether the centre of mass stays over what stands.
        """
        self.figure, self.mapping, self.rate, self.style, self.balance = figure, mapping, rate, style, balance
        self._plant(plan)
        self._first: FloatArray | None = None

    def sketch(self, progress: Progress) -> float:
        """Solve a first draft; returns the share of the frames in which feet should stand that they can."""
        self._first = self._draft(progress)
        standing = np.array([self.plan.contacts.standing(side) for side in self.plan.feet])
        slips = np.array([slipping(self.leads, side, self._first) > GIVES for side in self.plan.feet])
        return 1.0 - float(slips.sum()) / max(float(standing.sum()), 1.0)

    def run(self) -> FloatArray:
        """(frames, nq) the motion."""
        draft = self._draft(ignored) if self._first is None else self._first
        for _ in range(RELEASES):
            if not self._release(draft, GIVES):
                break
            draft = self._draft(ignored)
        out = self._final(draft)
        for _ in range(RELEASES):
            if not self._release(out, SLIPS):
                break
            out = self._final(draft)
        return out

    def _plant(self, plan: Plan) -> None:
        self.plan = plan
        center = center_schedule(self.figure, plan) if self.balance else None
        self.leads = Leads(self.figure, self.mapping, plan, center)

    def _release(self, clip: FloatArray, tolerance: float) -> bool:
        """Let feet go where a motion has them farther than `tolerance` from where they stand; whether any was."""
        lost = {side: slipping(self.leads, side, clip) > tolerance for side in self.plan.feet}
        if not any(frames.any() for frames in lost.values()):
            return False
        self._plant(self.plan.standing_on(self.plan.contacts.without(lost, SHORTEST * self.plan.rate)))
        return True

    def _draft(self, progress: Progress) -> FloatArray:
        return draft_clip(self.figure, self.leads, self.rate, self.style, progress)

    def _final(self, draft: FloatArray) -> FloatArray:
        """The draft smoothed and solved by levels; where that jerks, smoothed and solved again."""
        out = self._held(smoothed(self.figure, draft, np.full(len(draft), self.style.smooth * self.rate)))
        width = max(self.style.smooth * self.rate, 1.0)
        for _ in range(ROUNDS if self.style.smooth > 0.0 else 0):
            jerky = jerks(self.figure, out)
            if not jerky.any():
                break
            widths = width * around(jerky, max(AROUND * self.rate, 2.0 * width))
            out = self._held(smoothed(self.figure, out, widths), np.flatnonzero(widths), out)
            width = min(WIDER * width, WIDEST * self.rate)
        return out

    def _held(self, wanted: FloatArray, frames: IntArray | None = None, known: FloatArray | None = None) -> FloatArray:
        """What must hold, held, near a motion: in some frames where the others are known, else in all."""
        leads = final_leads(self.leads, wanted)
        out = np.zeros_like(wanted) if known is None else known.copy()
        which = np.arange(len(wanted)) if frames is None else frames
        with cast_for(self.figure, leads, StepSize(worth=WORTH)) as cast:
            course = cast.course(leads, len(wanted))
            perform_clip(cast.problem.handle, course, wanted, which, STEPS, STILL, out)
        return out


def draft_clip(figure: Figure, leads: Leads, rate: float, style: Style, progress: Progress) -> FloatArray:
    """(frames, nq) postures by weights alone."""
    count = len(leads.draft[0].values)
    neutral, q, out = figure.neutral()._q.copy(), leads.start()._q.copy(), np.zeros((count, figure.nq))
    with cast_for(figure, leads.draft, StepSize(error=ALONG, worth=WORTH)) as cast:
        problem, course = cast.problem, cast.course(leads.draft, count)
        fit = _fit(problem, style, rate)
        aim(problem.engine.goals, course, 0)
        fit.slack[:] = course.slack[0]
        fit_posture(problem.handle, fit._replace(still=np.zeros(figure.nv)), q, neutral, FIRST_STEPS, DRAFT_STILL, q)
        warm = min(count, round(WARM * rate))
        parts = [(first, min(first + AT_ONCE, count)) for first in range(0, count, AT_ONCE)]
        for span in [(0, warm), (warm - 1, -1), *parts]:
            fit_clip(problem.handle, fit, course, neutral, span, DRAFT_STEPS, DRAFT_STILL, q, out)
            progress(max(span[1], 0), count)
    return out


def ignored(done: int, total: int) -> None:
    """Progress that nobody watches."""


def smoothed(figure: Figure, clip: FloatArray, width: FloatArray) -> FloatArray:
    """(frames, nq) the clip with every frame averaged over a width (frames,) of frames, and none late."""
    if not width.any():
        return clip
    out = np.zeros_like(clip)
    smooth_clip(figure.compiled.tree, clip, np.maximum(width, 1e-3), out)
    return out


def jerks(figure: Figure, clip: FloatArray) -> BoolArray:
    """(frames,) whether some joint jerks unlike elsewhere."""
    found = np.zeros(len(clip), dtype=np.bool_)
    if len(clip) < 5:
        return found
    rates = np.zeros((len(clip) - 1, figure.nv))
    clip_rates(figure.compiled.tree, clip, rates)
    jerk = np.abs(np.diff(rates, n=2, axis=0))
    usual = np.maximum(np.percentile(jerk, USUAL, axis=0), np.percentile(jerk, USUAL))
    found[1:-2] = (jerk > JERKY * usual).any(axis=1)
    return found


def around(mask: BoolArray, reach: float) -> FloatArray:
    """(frames,) 1 where the mask is true, easing to 0 within `reach` frames of it."""
    return eased(np.clip(1.0 - frames_from(mask) / (reach + 1.0), 0.0, 1.0))


def _fit(problem: Problem, style: Style, rate: float) -> Fit:
    engine, nv = problem.engine, problem.figure.nv
    near = style.near * engine.criteria.posture_weight[0]
    limits = nv + engine.levels.general.shape[0]
    still = np.full(nv, style.still * rate**2)
    return make_fit(len(engine.goals.position), near, still, limits, problem.figure.nq)
