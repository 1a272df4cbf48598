"""Repeat the evaluation of ERIK [Ribeiro & Paiva 2019, section 4].

Every case, a skeleton with a solver, is run in blocks of samples. Each block has its own random seed, and its
statistics are added to a file. So an interrupted run continues where it stopped, and a number of samples gives the same
statistics however often the run was interrupted.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from poise.errors import TaskError
from poise.evaluation.sampling import Sampling, samples
from poise.evaluation.tally import Tally
from poise.expressive.erik import Erik
from poise.expressive.measures import Weights
from poise.expressive.result import ExpressiveBatch
from poise.expressive.solver import Device, ExpressiveSolver
from poise.expressive.two_priority import TwoPriorityDls, TwoPrioritySettings
from poise.figure.model.pose import FloatArray
from poise.figures import built_in

SKELETON_LETTERS = "ABCDEFG"
"""Names of the paper's skeletons."""
THRESHOLD = 0.04
"""Combined error that counts as solved."""
BLOCK_SAMPLES = 2000
"""Number of samples of a block."""
DLS = {"C-DLS100": 100, "C-DLS200": 200, "C-DLS400": 400}
"""Number of steps of each variant of the two-priority DLS."""
NO_POSTURE = "C-DLS100_nopost"
"""Name of the DLS variant without a posture task."""
MAX_DLS_ORIENTATION_ERROR = 3.0 * THRESHOLD
"""DLS samples count only if DLS without a posture task has an orientation error within this."""

Progress = Callable[[str, int], None]
"""Called with the case and the number of samples that were added to it."""


@dataclass(frozen=True)
class Plan:
    """Parameters of an evaluation."""

    samples: int = 20_000
    """Number of samples of each case."""
    skeletons: str = SKELETON_LETTERS
    """Letters of the skeletons of table 5."""
    dls: bool = True
    """Whether skeleton C is also solved by the two-priority DLS."""
    sampling: Sampling = "grid"
    seed: int = 0
    device: Device | None = None
    """Device for ERIK: None for all cores, or "cuda"."""

    def __post_init__(self) -> None:
        """Raise an error for a plan without samples or with unknown skeletons."""
        if self.samples < 1:
            raise TaskError(f"an evaluation needs at least one sample of each skeleton, not {self.samples}.")
        unknown = sorted(set(self.skeletons.upper()) - set(SKELETON_LETTERS))
        if unknown or not self.skeletons:
            raise TaskError(
                f"the skeletons are {', '.join(SKELETON_LETTERS)}; {self.skeletons!r} names others or none."
            )
        object.__setattr__(self, "skeletons", "".join(s for s in SKELETON_LETTERS if s in self.skeletons.upper()))
        if self.sampling not in ("grid", "uniform"):
            raise TaskError(f"the sampling is grid or uniform, not {self.sampling!r}.")

    def cases(self) -> list[str]:
        """Names of the cases, in the order of table 8."""
        compared = [NO_POSTURE, *DLS] if self.dls and "C" in self.skeletons else []
        return [case for letter in self.skeletons for case in ([letter, *compared] if letter == "C" else [letter])]

    def folder(self, output: Path) -> Path:
        """The folder of the statistics, which differs for plans that draw different samples."""
        name = f"{self.sampling}-{self.seed}-{BLOCK_SAMPLES}"
        return output / f"statistics-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def evaluate(plan: Plan, output: Path, progress: Progress) -> dict[str, Tally]:
    """Run every case up to the planned number of samples and return the statistics of each."""
    folder = plan.folder(output)
    folder.mkdir(parents=True, exist_ok=True)
    found: dict[str, Tally] = {}
    for letter in plan.skeletons:
        found |= _evaluated(plan, letter, folder, progress)
    return {case: found[case] for case in plan.cases()}


def _evaluated(plan: Plan, letter: str, folder: Path, progress: Progress) -> dict[str, Tally]:
    """Run the cases of one skeleton block by block; returns their statistics."""
    solvers = case_solvers(plan, letter)
    tallies = {case: Tally.load(folder / f"{case}.npz") for case in solvers}
    for case, tally in tallies.items():
        progress(case, min(tally.asked, plan.samples))
    for block, size in _blocks(plan.samples):
        todo = [case for case in solvers if tallies[case].blocks <= block]
        if not todo:
            continue
        rng = np.random.default_rng([plan.seed, SKELETON_LETTERS.index(letter), block])
        drawn = samples(solvers[letter].limb, BLOCK_SAMPLES, rng, plan.sampling)
        solutions = _BlockSolutions(drawn.postures[:size], drawn.orientations[:size], plan.device)
        for case in todo:
            _add(case, solvers, solutions, tallies[case])
            if size == BLOCK_SAMPLES:
                tallies[case].save(folder / f"{case}.npz")
            progress(case, size)
    return tallies


def case_solvers(plan: Plan, letter: str) -> dict[str, ExpressiveSolver]:
    """The solvers of one skeleton by the names of their cases."""
    figure = built_in(f"erik_{letter.lower()}")
    solvers: dict[str, ExpressiveSolver] = {letter: Erik(figure)}
    if letter == "C" and plan.dls:
        solvers[NO_POSTURE] = TwoPriorityDls(figure, settings=TwoPrioritySettings(posture=False))
        for case, iterations in DLS.items():
            solvers[case] = TwoPriorityDls(figure, settings=TwoPrioritySettings(iterations=iterations))
    return solvers


def _blocks(count: int) -> Iterator[tuple[int, int]]:
    """Index and size of every block; only the last may be smaller."""
    for first in range(0, count, BLOCK_SAMPLES):
        yield first // BLOCK_SAMPLES, min(BLOCK_SAMPLES, count - first)


class _BlockSolutions:
    """Solutions of a block; each solver runs once."""

    def __init__(self, postures: FloatArray, orientations: FloatArray, device: Device | None) -> None:
        self.postures, self.orientations, self.device = postures, orientations, device
        self._kept: dict[str, tuple[ExpressiveBatch, float]] = {}

    def of(self, case: str, solver: ExpressiveSolver) -> tuple[ExpressiveBatch, float]:
        """The solutions of a solver, and the time they took [s]."""
        if case not in self._kept:
            device = self.device if isinstance(solver, Erik) else None
            start = time.perf_counter()
            batch = solver.solve_batch(self.postures, self.orientations, device=device)
            self._kept[case] = batch, time.perf_counter() - start
        return self._kept[case]


def _add(case: str, solvers: dict[str, ExpressiveSolver], solutions: _BlockSolutions, tally: Tally) -> None:
    """Add a block to the statistics of a case; of DLS, only the samples that pass the filter."""
    batch, seconds = solutions.of(case, solvers[case])
    kept = np.ones(len(batch), dtype=np.bool_)
    if case in DLS or case == NO_POSTURE:
        kept = solutions.of(NO_POSTURE, solvers[NO_POSTURE])[0].orientation_error <= MAX_DLS_ORIENTATION_ERROR
    weights = Weights()
    errors = np.stack(
        [
            batch.error,
            weights.orientation * batch.orientation_error,
            weights.posture * batch.posture_error,
            batch.shape_error,
        ],
        axis=1,
    )
    tally.add(errors[kept], batch.iterations[kept], asked=len(batch), threshold=THRESHOLD)
    tally.seconds += seconds


def solve_times(plan: Plan, letters: Sequence[str], count: int = 300) -> dict[str, FloatArray]:
    """Times of single solves on one thread, for each case of some skeletons, without the overhead of Python [s]."""
    times: dict[str, FloatArray] = {}
    for letter in letters:
        for case, solver in case_solvers(plan, letter).items():
            rng = np.random.default_rng([plan.seed, SKELETON_LETTERS.index(letter)])
            drawn = samples(solver.limb, count if letter == case else min(count, 60), rng, plan.sampling)
            times[case] = solver.timed(drawn.postures, drawn.orientations)
    return times
