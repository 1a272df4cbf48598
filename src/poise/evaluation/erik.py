"""The evaluation of ERIK, again [Ribeiro & Paiva 2019, section 4].

Every case, a skeleton with a solver, is run in blocks of samples. A block is drawn from its own seed, and its
statistics are added to a file: a run that was stopped goes on where it was, and any number of samples gives the same
numbers however often it was stopped.
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

SKELETONS = "ABCDEFG"
THRESHOLD = 0.04
BLOCK = 2000
"""Samples of a block."""
DLS = {"C-DLS100": 100, "C-DLS200": 200, "C-DLS400": 400}
NO_POSTURE = "C-DLS100_nopost"
FILTER = 3.0 * THRESHOLD
"""DLS samples are kept whose orientation error without a posture task is within this."""

Progress = Callable[[str, int], None]
"""Told the case and how many samples of it have been added."""


@dataclass(frozen=True)
class Plan:
    """What to evaluate."""

    samples: int = 20_000
    """Of each case."""
    skeletons: str = SKELETONS
    """Letters of table 5."""
    dls: bool = True
    """Whether skeleton C is compared with the two-priority DLS."""
    sampling: Sampling = "grid"
    seed: int = 0
    device: Device | None = None
    """Where ERIK runs: None for all cores, or "cuda"."""

    def __post_init__(self) -> None:
        """Refuse plans that evaluate nothing."""
        if self.samples < 1:
            raise TaskError(f"an evaluation needs at least one sample of each skeleton, not {self.samples}.")
        unknown = sorted(set(self.skeletons.upper()) - set(SKELETONS))
        if unknown or not self.skeletons:
            raise TaskError(f"the skeletons are {', '.join(SKELETONS)}; {self.skeletons!r} names others or none.")
        object.__setattr__(self, "skeletons", "".join(s for s in SKELETONS if s in self.skeletons.upper()))
        if self.sampling not in ("grid", "uniform"):
            raise TaskError(f"the sampling is grid or uniform, not {self.sampling!r}.")

    def cases(self) -> list[str]:
        """Names of the cases, in the order of table 8."""
        compared = [NO_POSTURE, *DLS] if self.dls and "C" in self.skeletons else []
        return [case for letter in self.skeletons for case in ([letter, *compared] if letter == "C" else [letter])]

    def folder(self, output: Path) -> Path:
        """Where the statistics are kept: plans that draw other samples keep theirs elsewhere."""
        name = f"{self.sampling}-{self.seed}-{BLOCK}"
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
    """The cases of one skeleton, block by block."""
    solvers = case_solvers(plan, letter)
    tallies = {case: Tally.load(folder / f"{case}.npz") for case in solvers}
    for case, tally in tallies.items():
        progress(case, min(tally.asked, plan.samples))
    for block, size in _blocks(plan.samples):
        todo = [case for case in solvers if tallies[case].blocks <= block]
        if not todo:
            continue
        rng = np.random.default_rng([plan.seed, SKELETONS.index(letter), block])
        drawn = samples(solvers[letter].limb, BLOCK, rng, plan.sampling)
        answers = _Answers(drawn.postures[:size], drawn.orientations[:size], plan.device)
        for case in todo:
            _add(case, solvers, answers, tallies[case])
            if size == BLOCK:
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
    """Number and size of every block; only the last may be smaller."""
    for first in range(0, count, BLOCK):
        yield first // BLOCK, min(BLOCK, count - first)


class _Answers:
    """Answers of a block, each solver asked once."""

    def __init__(self, postures: FloatArray, orientations: FloatArray, device: Device | None) -> None:
        self.postures, self.orientations, self.device = postures, orientations, device
        self._kept: dict[str, tuple[ExpressiveBatch, float]] = {}

    def of(self, case: str, solver: ExpressiveSolver) -> tuple[ExpressiveBatch, float]:
        """The answers of a solver, and the seconds they took."""
        if case not in self._kept:
            device = self.device if isinstance(solver, Erik) else None
            start = time.perf_counter()
            batch = solver.solve_batch(self.postures, self.orientations, device=device)
            self._kept[case] = batch, time.perf_counter() - start
        return self._kept[case]


def _add(case: str, solvers: dict[str, ExpressiveSolver], answers: _Answers, tally: Tally) -> None:
    """Add a block to the statistics of a case; of DLS, the samples that pass the filter."""
    batch, seconds = answers.of(case, solvers[case])
    kept = np.ones(len(batch), dtype=np.bool_)
    if case in DLS or case == NO_POSTURE:
        kept = answers.of(NO_POSTURE, solvers[NO_POSTURE])[0].orientation_error <= FILTER
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
    """Seconds of single solves by one thread, for each case of some skeletons, without what Python adds."""
    times: dict[str, FloatArray] = {}
    for letter in letters:
        for case, solver in case_solvers(plan, letter).items():
            rng = np.random.default_rng([plan.seed, SKELETONS.index(letter)])
            drawn = samples(solver.limb, count if letter == case else min(count, 60), rng, plan.sampling)
            times[case] = solver.timed(drawn.postures, drawn.orientations)
    return times
