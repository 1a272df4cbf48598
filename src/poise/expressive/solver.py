"""The base class of the expressive solvers: input checks, batches on all cores, results."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from poise.arguments import kind_of
from poise.chains.chain import chain_of
from poise.chains.targets import Gaze, GazeLike
from poise.cores import usable_cores
from poise.errors import TaskError
from poise.expressive.cuda import CudaMethod, solve_on_cuda
from poise.expressive.measures import Weights, scoring_of
from poise.expressive.point_targets import solve_points
from poise.expressive.problems import (
    Postures,
    Targets,
    one_target,
    problems_of,
    targets_of,
    whole_postures,
    write_problem,
)
from poise.expressive.result import ExpressiveBatch, ExpressiveResult, empty_problems, empty_solutions
from poise.figure.model.facing import warn_of_crown
from poise.figure.model.figure import Figure, PostureLike, checked_figure
from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture
from poise.kernels.gaze.batch_arrays import BatchProblems, BatchSolutions

Device = Literal["cuda"]

MIN_PROBLEMS_PER_THREAD = 64
"""A thread solves no fewer problems than this."""


class ExpressiveSolver(ABC):
    """Keeps the shape of a posture while the tip of a chain faces a target."""

    def __init__(
        self,
        figure: Figure,
        tip: str | None,
        weights: Weights | None,
        name: str,
        *,
        slides: bool = False,
        needs_lengths: bool = False,
    ) -> None:
        """Find the chain of joints that ends at the tip; see the subclasses and `chain_of` for the arguments."""
        checked_figure(figure, name)
        self.figure = figure
        self.weights = kind_of(weights, Weights, "weights") or Weights()
        self.limb = chain_of(figure, tip, solver=name, slides=slides, needs_lengths=needs_lengths, faces=True)
        if self.limb.tip in figure.bodies:
            warn_of_crown(figure, self.limb.tip, name, 'the body facing=, such as facing="z"')
        self.scoring = scoring_of(self.limb, self.weights)
        self._own = threading.local()

    def __getstate__(self) -> dict[str, object]:
        """All attributes but those of the current thread, for pickling."""
        return {name: value for name, value in self.__dict__.items() if name != "_own"}

    def __setstate__(self, state: dict[str, object]) -> None:
        """Restore the attributes, without those of a thread."""
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
            posture: The wanted posture: a name, joint values by name, numbers, or a `Posture`.
            orientation: A unit quaternion (w, x, y, z), `poise.facing(direction)`, `poise.at(point)`, or a direction
                as three numbers, with the roll free.
            previous: The result of the previous frame, or its posture, to continue a motion. None finds the best
                solution regardless of any motion.
        """
        wanted, target, problems = self.figure.posture(posture), one_target(orientation), self._problem()
        before = previous.posture if isinstance(previous, ExpressiveResult) else previous
        write_problem(self.limb, wanted, target, before, problems)
        return self._solved(wanted, target, problems, previous)

    def _solved(
        self, wanted: Posture, target: Gaze, problems: BatchProblems, previous: ExpressiveResult | PostureLike | None
    ) -> ExpressiveResult:
        """The result of one checked problem."""
        frame = partial(self._solve_frame, problems, previous is not None)
        solutions = self._solve_targets([target], wanted.q[None], problems, frame)
        return self._result(wanted, problems, solutions)

    def solve_batch(
        self, postures: Postures, orientations: Targets, *, device: Device | None = None
    ) -> ExpressiveBatch:
        """Solve many problems independently; a single posture or orientation applies to all.

        Args:
            postures: (m, nq) numbers, or a sequence of postures as for `solve`.
            orientations: (m, 4) unit quaternions, or a sequence of targets as for `solve`.
            device: None for all cores of the CPU, "cuda" for the GPU.
        """
        if device not in (None, "cuda"):
            raise TaskError(f"there is no device {device!r}: omit device to use all CPU cores, or pass 'cuda'.")
        whole = whole_postures(self.limb, postures)
        targets = targets_of(orientations)
        problems = problems_of(self.limb, whole, targets, np.zeros((1, len(self.limb.joints))))
        solutions = self._solve_targets(targets, whole, problems, partial(self.solve_problems, problems, device))
        return self._batch(whole, problems, solutions)

    def timed(self, postures: Postures, orientations: Targets) -> FloatArray:
        """(m,) time that each problem takes on one thread, without the overhead of the call from Python [s]."""
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
        """Solve some rows of a batch; called from several threads at once."""

    @abstractmethod
    def cuda_method(self) -> tuple[CudaMethod, tuple[Any, ...]]:
        """The CUDA kernels and their constants, arrays of the CPU; raises an error if there is no usable GPU."""

    def _problem(self) -> BatchProblems:
        """The arrays of one problem, reused by the current thread."""
        problems: BatchProblems | None = getattr(self._own, "problems", None)
        if problems is None:
            problems = self._own.problems = empty_problems(1, len(self.limb.joints))
        return problems

    def _solve_frame(self, problems: BatchProblems, follows: bool) -> BatchSolutions:
        """Solve the single problem of a frame; `follows` says that it continues the previous frame."""
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
        """Solve all problems; the direction to a point is computed again from the tip of each solution."""
        if isinstance(targets, list) and any(target.point is not None for target in targets):
            return solve_points(self.limb, self.scoring, targets, postures, problems, solve_all=solve_all)
        return solve_all()

    def solve_problems(self, problems: BatchProblems, device: Device | None = None) -> BatchSolutions:
        """Solve problems that are arrays already, on all cores or on the GPU."""
        solutions = empty_solutions(problems)
        if device == "cuda":
            solve_on_cuda(*self.cuda_method(), problems, solutions)
            return solutions
        on_all_cores(len(problems.rotation), lambda first, stop: self._solve_rows(problems, first, stop, solutions))
        return solutions

    def _batch(self, whole: FloatArray, problems: BatchProblems, solutions: BatchSolutions) -> ExpressiveBatch:
        q = np.broadcast_to(whole, (len(solutions.angles), self.figure.nq)).copy()
        q[:, self.limb.places] = solutions.angles
        error, turned, bent, shape = np.ascontiguousarray(solutions.errors.T)
        return ExpressiveBatch(self.figure, q, error, turned, bent, shape, solutions.iterations, problems.rotation)


def on_all_cores(count: int, solve_rows: Callable[[int, int], None]) -> None:
    """Call `solve_rows` with the first and the last row of each thread."""
    ranges = _row_ranges(count)
    if len(ranges) == 1:
        solve_rows(0, count)
        return
    with ThreadPoolExecutor(len(ranges)) as pool:
        for future in [pool.submit(solve_rows, *share) for share in ranges]:
            future.result()


def _row_ranges(count: int) -> list[tuple[int, int]]:
    """First and last row of each thread: one thread per core, fewer for a small batch."""
    threads = max(1, min(usable_cores(), count // MIN_PROBLEMS_PER_THREAD))
    edges = [count * i // threads for i in range(threads + 1)]
    return list(pairwise(edges))
