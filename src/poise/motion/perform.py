"""Solves a led figure frame by frame, each from the last one's answer."""

from __future__ import annotations

import numpy as np

from poise.engine.problem import StepSize
from poise.engine.solver import Solver
from poise.figure.figure import Figure
from poise.figure.pose import FloatArray
from poise.kernels.step import settle
from poise.motion.lead import Lead, Leads
from poise.tasks.posture import Hold

STEPS = 4
"""Most steps of the solver for one frame."""
STILL = 1e-4
"""Step below which a frame is done [rad or m]."""
FIRST_STEPS = 300
WORTH = 1e-6
"""What a step must be worth (see `StepSize.worth`): frames follow each other, so no step is a fidget."""


class Performer:
    """A solver for frames in which the same feet stand."""

    def __init__(self, figure: Figure, leads: list[Lead], dt: float | None) -> None:
        """Compile what leads."""
        last = 1 + max((lead.task.priority for lead in leads), default=0)
        tasks = [*(lead.task for lead in leads), Hold(figure.neutral(), priority=last)]
        self.solver = Solver(figure, tasks, dt=dt, step=StepSize(worth=WORTH))
        self._leads = leads
        problem = self.solver._problem
        self._weighted = [
            (problem._by_task[lead.task].rows, np.sqrt(lead.weights)) for lead in leads if lead.weights is not None
        ]

    def aim(self, frame: int) -> None:
        """Take on the targets and weights of a frame."""
        for lead in self._leads:
            self.solver.target(lead.task, lead.values[frame])
        weight = self.solver._problem.engine.goals.weight
        for rows, values in self._weighted:
            weight[rows] = values[frame]


class Performers:
    """A solver for every set of feet that stands at some time."""

    def __init__(self, figure: Figure, leads: Leads, dt: float) -> None:
        """Nothing is compiled before it is needed.

        Args:
            figure: Who performs.
            leads: What leads it.
            dt: Duration of a frame [s].
        """
        self.figure, self._leads = figure, leads
        limited = any(joint.speed is not None for joint in figure.joints)
        self._dt = dt / STEPS if limited else None
        self._known: dict[tuple[bool, ...], Performer] = {}
        self._last: Performer | None = None

    def first(self) -> FloatArray:
        """(nq,) the posture to start from: the first frame's, with all the time it takes."""
        performer = Performer(self.figure, self._leads.chosen(self._leads.standing(0)), None)
        performer.aim(0)
        return np.array(performer.solver.settle(self._leads.start(), max_steps=FIRST_STEPS).posture.q)

    def follow(self, frame: int, q: FloatArray) -> None:
        """Move `q` (nq,) on to a frame."""
        standing = self._leads.standing(frame)
        if standing not in self._known:
            self._known[standing] = Performer(self.figure, self._leads.chosen(standing), self._dt)
        performer = self._known[standing]
        if performer is not self._last:
            performer.solver._problem.forget()
            self._last = performer
        performer.aim(frame)
        settle(performer.solver._problem.handle, q, STEPS, STILL)
