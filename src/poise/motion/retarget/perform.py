"""Solves a led figure over a whole clip: a draft that follows, smoothed, then what must hold held exactly.

1. *Draft*: all that leads, by its weights, each frame from the one before (`poise.kernels.motion.weighted_fit`).
   Weights alone make a motion that is smooth and nearly right, whatever the clip asks.
2. *Smoothing*, by neighbours before and after alike, so that nothing is late; wider where a joint would jerk.
3. *Levels*: feet that stand, then the centre of mass, then feet in the air, and all joints as near to the smooth draft
   as that lets them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from poise.engine.problem import StepSize
from poise.figure.model.compiled import IntArray
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.kernels.motion.follow_clip import held_rows, perform_clip
from poise.motion.clip.contacts import BoolArray
from poise.motion.clip.motion import Motion
from poise.motion.mapping.mapping import JointMap
from poise.motion.retarget.balance import center_schedule
from poise.motion.retarget.draft import Progress, draft_clip, fit_of, ignored, redraft
from poise.motion.retarget.feet import FootPath
from poise.motion.retarget.landing import IN_THE_AIR, final_leads, slipping
from poise.motion.retarget.limit_acceleration import gentle
from poise.motion.retarget.pace import around, gains, jerks, rates_of, smoothed
from poise.motion.retarget.plan import Plan
from poise.motion.retarget.problem_cache import cast_for
from poise.motion.retarget.stopped import leave
from poise.motion.retarget.style import Style
from poise.motion.retarget.task_tracks import Leads

STEPS, STILL = 4, 1e-3
"""Most steps of the levels for one frame, and step at which it is done [rad or m]."""
STEP = StepSize(min_gain=1e-6)
"""Frames follow each other, so no step is a fidget."""
ROUNDS, RELEASES = 8, 4
"""How often frames that jerk are smoothed again, and feet that slip let go."""
WIDER, WIDEST, AROUND = 1.6, 0.1, 0.05
"""How much wider a frame that still jerks is smoothed, up to how wide [s], and how far around it [s]."""
GIVES, TAUT, SLIPS = 1.5e-3, 4e-4, 5e-4
"""How far a foot that stands may be from its place in a draft, in one that is balanced, and in the end [m]."""
STRICT, NEAR = 1e4, 1e-2
"""Weights of what must hold and of the smooth draft where all can be held at once."""
CALMINGS, BETTER = 5, 0.97
"""How often accelerations are limited and what must hold put back, and share of them that must remain to go on."""
CARRIED = 1e-3
"""How far the body may be carried elsewhere by other contacts and still be solved [m]."""
SHORTEST = 0.06
"""Contacts that last less are let go with what cannot be held of them [s]."""


class Manner(NamedTuple):
    """How to perform."""

    style: Style
    balance: bool
    """Whether the centre of mass stays over what stands."""
    tempo: float
    """How fast the clip is played, as a share of how fast it was recorded."""
    name: str = ""
    """What people call the motion."""


class Performance:
    """A figure that performs a plan, which gives way where legs cannot hold what it plants."""

    def __init__(self, figure: Figure, mapping: JointMap, plan: Plan, *, manner: Manner) -> None:
        """Nothing is solved yet.

        Args:
            figure: Who performs.
            mapping: Who leads.
            plan: Where to.
            manner: How.
        """
        self.figure, self.mapping, self.style, self.balance = figure, mapping, manner.style, manner.balance
        self.rate, self.manner = plan.rate, manner
        self._plant(plan)
        self._first: FloatArray | None = None
        self._drafted, self._out = 0, np.empty((0, figure.nq))

    def sketch(self, progress: Progress) -> float:
        """Solve a first draft; returns the share of the frames in which feet should stand that they can."""

        def told(done: int, total: int) -> None:
            self._drafted = done
            progress(done, total)

        self._first = np.zeros((self.leads.count, self.figure.nq))
        with self._kept():
            draft_clip(self.figure, self.leads, self.rate, self.style, told, self._first)
        if not self.plan.feet:
            return 1.0
        whole, most = self.plan.unbroken(), TAUT if self.balance else GIVES
        standing = np.array([self.plan.contacts.standing(side) & whole for side in self.plan.feet])
        slips = standing & np.array([slipping(self.leads, side, self._first) > most for side in self.plan.feet])
        return 1.0 - float(slips.sum()) / max(float(standing.sum()), 1.0)

    def run(self) -> FloatArray:
        """(frames, nq) the motion."""
        if self._first is None:
            self.sketch(ignored)
        assert self._first is not None
        with self._kept():
            return self._calmed(self._performed(self._first))

    def motion(self, q: FloatArray) -> Motion:
        """The first frames, or all, as a motion."""
        track = self.leads.track(self.mapping)
        whole = track if len(q) == self.leads.count else track[: len(q)]
        return Motion(self.figure, q, self.rate * self.manner.tempo, self.manner.name, track=whole)

    def _performed(self, draft: FloatArray) -> FloatArray:
        for _ in range(RELEASES):
            anew = self._release(draft, GIVES)
            if not anew.any():
                break
            draft = redraft(self.figure, self.leads, self.rate, self.style, draft, anew)
        self._out = self._final(draft)
        for _ in range(RELEASES):
            anew = self._release(self._out, SLIPS)
            if not anew.any():
                break
            draft = redraft(self.figure, self.leads, self.rate, self.style, draft, anew)
            self._out = self._final(draft, self._out, anew)
        return self._out

    def _calmed(self, out: FloatArray) -> FloatArray:
        """The motion with joints that accelerate no more than they may, as far as what must hold lets them."""
        most = gains(self.figure, self.style.acceleration) / (self.rate * self.manner.tempo) ** 2
        over = _over(self.figure, out, most)
        for _ in range(CALMINGS if len(out) > 2 else 0):
            if over <= 1.0:
                break
            calm = self._held(gentle(self.figure, out, most, self._rows(out)))
            now = _over(self.figure, calm, most)
            if now > BETTER * over or jerks(self.figure, calm).any() or self._slips(calm):
                break
            self._out = out = calm
            over = now
        return out

    def _slips(self, clip: FloatArray) -> bool:
        return any((slipping(self.leads, side, clip) > SLIPS).any() for side in self.plan.feet)

    def _rows(self, clip: FloatArray) -> FloatArray:
        """(frames, m, nv) how loops, feet that stand and the centre of mass change with the joints."""
        leads = final_leads(self.leads, clip)
        with cast_for(self.figure, leads, STEP) as cast:
            problem = cast.problem
            levels = sum(priority < IN_THE_AIR for priority in problem.priorities)
            rows = np.zeros((len(clip), problem.engine.levels.rows.shape[0], self.figure.nv))
            held_rows(problem.handle, cast.course(leads, len(clip)), clip, levels, rows)
        return rows

    @contextmanager
    def _kept(self) -> Iterator[None]:
        """Whatever stops what is done inside leaves with the frames that are solved."""
        try:
            yield
        except BaseException as stop:
            if len(solved := self._so_far()):
                leave(stop, self.motion(solved), self.leads.count)
            raise

    def _so_far(self) -> FloatArray:
        """(k, nq) the frames that are solved: all of them, or those that are drafted, with what must hold held."""
        if len(self._out) or self._first is None or not self._drafted:
            return self._out
        draft, done = self._first.copy(), self._drafted
        draft[done:] = draft[done - 1]
        wanted = smoothed(self.figure, draft, np.full(len(draft), self.style.smooth * self.rate))
        return self._held(wanted, np.arange(done), draft)[:done]

    def _plant(self, plan: Plan) -> None:
        self.plan = plan
        center = center_schedule(self.figure, plan) if self.balance else None
        self.leads = Leads(self.figure, self.mapping, plan, center)

    def _release(self, clip: FloatArray, tolerance: float) -> BoolArray:
        """Let feet go where they are farther than `tolerance` from their places; (frames,) what that changes."""
        lost = {side: slipping(self.leads, side, clip) > tolerance for side in self.plan.feet}
        if not any(frames.any() for frames in lost.values()):
            return np.zeros(len(clip), dtype=np.bool_)
        before = self.plan
        self._plant(before.standing_on(before.contacts.without(lost, SHORTEST * before.rate)))
        changed = np.any([_moved(before.feet[side], self.plan.feet[side]) for side in lost], axis=0)
        for joint, path in before.places.items():
            changed |= np.abs(path - self.plan.places[joint]).max(axis=1) > CARRIED
        if self.balance:
            changed[:] = True
        return around(changed | np.any(list(lost.values()), axis=0), AROUND * before.rate) > 0.0

    def _final(self, draft: FloatArray, known: FloatArray | None = None, anew: BoolArray | None = None) -> FloatArray:
        """The draft smoothed and solved by levels, in some frames or in all; where that jerks, both again."""
        wanted = smoothed(self.figure, draft, np.full(len(draft), self.style.smooth * self.rate))
        out = self._held(wanted) if known is None or anew is None else self._held(wanted, np.flatnonzero(anew), known)
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
        with cast_for(self.figure, leads, STEP) as cast:
            course, fit = cast.course(leads, len(wanted)), fit_of(cast.problem, NEAR, 0.0, STRICT)
            perform_clip(cast.problem.handle, fit, course, wanted, which, STEPS, STILL, out)
        return out


def _over(figure: Figure, clip: FloatArray, most: FloatArray) -> float:
    """How many times their greatest second differences (nv,) joints of a clip reach."""
    return float((np.abs(np.diff(rates_of(figure, clip), axis=0)) / most).max(initial=0.0))


def _moved(one: FootPath, other: FootPath) -> BoolArray:
    """(frames,) whether two paths of a foot differ, or how much they matter."""
    turned = (one.turn.inv() * other.turn).magnitude() > 1e-9
    out: BoolArray = (
        turned | (np.abs(one.place - other.place).max(axis=1) > 1e-9) | (np.abs(one.near - other.near) > 1e-6)
    )
    return out
