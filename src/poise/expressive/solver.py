"""What all expressive solvers share: questions in, answers out, on all cores."""

from __future__ import annotations

import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import Literal

import numpy as np

from poise.chains.chain import chain_of
from poise.chains.targets import Gaze, GazeLike
from poise.errors import TaskError
from poise.expressive.asking import (
    Postures,
    Targets,
    one_target,
    problems_of,
    targets_of,
    whole_postures,
    write_problem,
)
from poise.expressive.measures import Weights, scoring_of
from poise.expressive.result import ExpressiveBatch, ExpressiveResult, empty_problems, empty_solutions
from poise.expressive.sighting import looked_at
from poise.figure.model.figure import Figure, PostureLike
from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture
from poise.kernels.gaze.batch_arrays import BatchProblems, BatchSolutions

Device = Literal["cuda"]

SHARE = 64
"""A thread takes no fewer questions than this."""


class ExpressiveSolver(ABC):
    """Holds a posture while the tip of a chain faces a target."""

    def __init__(self, figure: Figure, tip: str | None, weights: Weights, name: str, *, slides: bool = False) -> None:
        """Find the chain; see the solvers themselves."""
        self.figure = figure
        self.weights = weights
        self.limb = chain_of(figure, tip, solver=name, slides=slides)
        self.scoring = scoring_of(self.limb, weights)
        self._own = threading.local()

    def __getstate__(self) -> dict[str, object]:
        """Everything but what belongs to a thread."""
        return {name: value for name, value in self.__dict__.items() if name != "_own"}

    def __setstate__(self, state: dict[str, object]) -> None:
        """Start without threads."""
        self.__dict__.update(state)
        self._own = threading.local()

    def solve(
        self,
        posture: PostureLike,
        orientation: GazeLike,
        previous: ExpressiveResult | PostureLike | None = None,
    ) -> ExpressiveResult:
        """The posture nearest to the wanted one whose tip faces the target.

        Args:
            posture: The posture to hold: a name, joint values by name, numbers, or a `Posture`.
            orientation: A unit quaternion (w, x, y, z), `poise.facing(direction)` or `poise.at(point)`.
            previous: The answer of the frame before, or its posture, from which a motion goes on. None: no motion, the
                best answer there is.
        """
        wanted, target, problems = self.figure.posture(posture), one_target(orientation), self._problem()
        before = previous.posture if isinstance(previous, ExpressiveResult) else previous
        write_problem(self.limb, wanted, target, before, problems)
        return self._solved(wanted, target, problems, previous)

    def _solved(
        self, wanted: Posture, target: Gaze, problems: BatchProblems, previous: ExpressiveResult | PostureLike | None
    ) -> ExpressiveResult:
        """The answer to one question that has been checked."""
        frame = partial(self._solve_frame, problems, previous is not None)
        solutions = self._solve_targets([target], wanted.q[None], problems, frame)
        return self._result(wanted, problems, solutions)

    def solve_batch(
        self, postures: Postures, orientations: Targets, *, device: Device | None = None
    ) -> ExpressiveBatch:
        """Many questions at once, each answered by itself; one posture or one orientation serves all.

        Args:
            postures: (m, nq) numbers, or a sequence of whatever `solve` takes.
            orientations: (m, 4) unit quaternions, or a sequence of whatever `solve` takes.
            device: None for all cores of this machine, "cuda" for its GPU.
        """
        if device not in (None, "cuda"):
            raise TaskError(f"there is no device {device!r}: leave it out for all cores, or say 'cuda'.")
        whole = whole_postures(self.limb, postures)
        targets = targets_of(orientations)
        problems = problems_of(self.limb, whole, targets, np.zeros((1, len(self.limb.joints))))
        solutions = self._solve_targets(targets, whole, problems, partial(self._solve_all, problems, device))
        return self._batch(whole, problems, solutions)

    def timed(self, postures: Postures, orientations: Targets) -> FloatArray:
        """(m,) seconds that each question takes one thread, without what the call from Python costs."""
        whole = whole_postures(self.limb, postures)
        problems = problems_of(self.limb, whole, targets_of(orientations), np.zeros((1, len(self.limb.joints))))
        solutions = empty_solutions(problems)
        idle = min(self._seconds(problems, 0, 0, solutions) for _ in range(20))
        rows = range(len(problems.rotation))
        taken = [min(self._seconds(problems, i, i + 1, solutions) for _ in range(3)) - idle for i in rows]
        return np.maximum(taken, 0.0)

    def _seconds(self, problems: BatchProblems, first: int, stop: int, solutions: BatchSolutions) -> float:
        start = time.perf_counter()
        self._solve_rows(problems, first, stop, solutions)
        return time.perf_counter() - start

    @abstractmethod
    def _solve_rows(self, problems: BatchProblems, first: int, stop: int, solutions: BatchSolutions) -> None:
        """Answer the questions of some rows; called from several threads at once."""

    def _solve_on_cuda(self, problems: BatchProblems, solutions: BatchSolutions) -> None:
        """Answer all questions on a GPU."""
        raise TaskError(f"{type(self).__name__} does not run on a GPU; leave out device=….")

    def _problem(self) -> BatchProblems:
        """Room for one question, this thread's own."""
        problems: BatchProblems | None = getattr(self._own, "asked", None)
        if problems is None:
            problems = self._own.problems = empty_problems(1, len(self.limb.joints))
        return problems

    def _solve_frame(self, problems: BatchProblems, follows: bool) -> BatchSolutions:
        """Answer the one question of a frame; `follows` says that it comes after another, whose answer is its start."""
        solutions = empty_solutions(problems)
        self._solve_rows(problems, 0, 1, solutions)
        return solutions

    def _result(self, wanted: Posture, problems: BatchProblems, solutions: BatchSolutions) -> ExpressiveResult:
        q = wanted.q.copy()
        q[self.limb.places] = solutions.angles[0]
        error, turned, bent, shape = solutions.errors[0].tolist()
        iterations = int(solutions.iterations[0])
        return ExpressiveResult(
            Posture(self.figure, q), error, turned, bent, shape, iterations, problems.rotation[0].copy()
        )

    def _solve_targets(
        self,
        targets: FloatArray | list[Gaze],
        postures: FloatArray,
        problems: BatchProblems,
        solve_all: Callable[[], BatchSolutions],
    ) -> BatchSolutions:
        """Answers to all questions; a point is looked at again from wherever the tip has come to be."""
        if isinstance(targets, list) and any(target.point is not None for target in targets):
            return looked_at(self.limb, self.scoring, targets, postures, problems, solve_all=solve_all)
        return solve_all()

    def _solve_all(self, problems: BatchProblems, device: Device | None) -> BatchSolutions:
        solutions = empty_solutions(problems)
        if device == "cuda":
            self._solve_on_cuda(problems, solutions)
            return solutions
        count = len(problems.rotation)
        shares = _shares(count)
        if len(shares) == 1:
            self._solve_rows(problems, 0, count, solutions)
        else:
            with ThreadPoolExecutor(len(shares)) as pool:
                for future in [pool.submit(self._solve_rows, problems, *share, solutions) for share in shares]:
                    future.result()
        return solutions

    def _batch(self, whole: FloatArray, problems: BatchProblems, solutions: BatchSolutions) -> ExpressiveBatch:
        q = np.broadcast_to(whole, (len(solutions.angles), self.figure.nq)).copy()
        q[:, self.limb.places] = solutions.angles
        error, turned, bent, shape = np.ascontiguousarray(solutions.errors.T)
        return ExpressiveBatch(self.figure, q, error, turned, bent, shape, solutions.iterations, problems.rotation)


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _shares(count: int) -> list[tuple[int, int]]:
    """Rows for each thread: as many threads as cores, unless there is too little to do."""
    threads = max(1, min(cores(), count // SHARE))
    edges = [count * i // threads for i in range(threads + 1)]
    return list(pairwise(edges))
