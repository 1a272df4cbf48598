"""Repeat the evaluation of ERIK [Ribeiro & Paiva 2019, section 4].

The samples of a case are counted in blocks, each with a file of its own. A file is named after everything that its
statistics depend on, the code of the solvers included, so a changed solver never returns old numbers. An interrupted
run continues where it stopped; a number of samples gives the same statistics however often the run was interrupted, on
a CPU or on a GPU, in one process or in many, and whatever number was asked for before.

Work is divided into units, ranges of samples of one skeleton, which any `concurrent.futures.Executor` may compute.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, as_completed
from pathlib import Path
from typing import NamedTuple

from poise.evaluation.erik.cases import Plan, case_solvers, is_filtered, solve_range
from poise.evaluation.erik.sampling import samples
from poise.evaluation.erik.tally import Statistics, Tally
from poise.figure.model.pose import FloatArray

BLOCK_SAMPLES = 1 << 20
"""Number of samples of a block; sums of more would not fit into 64 bits."""
UNIT_SAMPLES = 1 << 16
"""Largest number of samples of a unit of work on a CPU; on a GPU, a unit is a block."""

Progress = Callable[[str, int], None]
"""Called with the case and the number of samples that were added to it."""


class Unit(NamedTuple):
    """A range of samples of one block, for the cases of a skeleton that lack it."""

    letter: str
    cases: tuple[str, ...]
    block: int
    first: int
    stop: int
    saved: bool
    """Whether the statistics may be saved; not if the file already has more samples of this block."""


def evaluate(plan: Plan, output: Path, progress: Progress, executor: Executor | None = None) -> dict[str, Statistics]:
    """Run every case up to the planned number of samples and return the statistics of each.

    Args:
        plan: What to evaluate.
        output: Folder for the statistics.
        progress: Called when samples were added to a case.
        executor: Computes the units of work; None computes them here, one after the other, each on all cores.
    """
    blocks = _Blocks(plan, output / "statistics", progress)
    units = [unit for letter in plan.skeletons for unit in blocks.units(letter)]
    if executor is None:
        for unit in units:
            blocks.add(unit, solve_range(plan, unit.letter, unit.cases, unit.first, unit.stop))
        return blocks.statistics()
    futures: dict[Future[dict[str, Tally]], Unit] = {}
    for unit in units:
        future = executor.submit(solve_range, plan, unit.letter, unit.cases, unit.first, unit.stop)
        futures[future] = unit
    try:
        for done in as_completed(futures):
            blocks.add(futures.pop(done), done.result())
    finally:
        for future in futures:
            future.cancel()
    return blocks.statistics()


class _Blocks:
    """The statistics of all blocks, in memory and in files."""

    def __init__(self, plan: Plan, folder: Path, progress: Progress) -> None:
        self.plan, self.progress = plan, progress
        self.folders = {case: folder / f"{case}-{plan.key(case)}" for case in plan.cases()}
        self.tallies: dict[tuple[str, int], Tally] = {}
        self.waiting: dict[tuple[str, int, int], Tally] = {}
        for path in self.folders.values():
            path.mkdir(parents=True, exist_ok=True)

    def _path(self, case: str, block: int) -> Path:
        return self.folders[case] / f"{block:06d}.npz"

    def units(self, letter: str) -> Iterator[Unit]:
        """What is left to compute of a skeleton; cases that lack the same samples share their units."""
        size = BLOCK_SAMPLES if self.plan.device == "cuda" else UNIT_SAMPLES
        for block, count in _blocks(self.plan.count(letter)):
            lacking: dict[tuple[int, bool], list[str]] = {}
            for case in self.plan.cases_of(letter):
                found = Tally.load(self._path(case, block))
                fits = found.asked <= count
                self.tallies[case, block] = found if fits else Tally()
                self.progress(case, self.tallies[case, block].asked)
                lacking.setdefault((self.tallies[case, block].asked, fits), []).append(case)
            for (done, fits), cases in lacking.items():
                for first in range(done, count, size):
                    start = block * BLOCK_SAMPLES
                    yield Unit(letter, tuple(cases), block, start + first, start + min(first + size, count), saved=fits)

    def add(self, unit: Unit, found: dict[str, Tally]) -> None:
        """Add the statistics of a unit; those that begin behind a gap wait until it is closed."""
        for case, tally in found.items():
            self.progress(case, unit.stop - unit.first)
            self.waiting[case, unit.block, unit.first] = tally
            self._join(case, unit.block, unit.saved)

    def _join(self, case: str, block: int, saved: bool) -> None:
        before = whole = self.tallies[case, block]
        while (part := self.waiting.pop((case, block, block * BLOCK_SAMPLES + whole.asked), None)) is not None:
            whole = whole.added(part)
        self.tallies[case, block] = whole
        if saved and whole is not before:
            whole.save(self._path(case, block))

    def statistics(self) -> dict[str, Statistics]:
        """The statistics of every case."""
        return {
            case: Statistics.of(tally for (name, _), tally in self.tallies.items() if name == case)
            for case in self.plan.cases()
        }


def _blocks(count: int) -> Iterator[tuple[int, int]]:
    """Index and size of every block; only the last may be smaller."""
    for first in range(0, count, BLOCK_SAMPLES):
        yield first // BLOCK_SAMPLES, min(BLOCK_SAMPLES, count - first)


def solve_times(plan: Plan, letters: Sequence[str], count: int = 300) -> dict[str, FloatArray]:
    """Times of single solves on one thread, for each case of some skeletons, without the overhead of Python [s]."""
    times: dict[str, FloatArray] = {}
    for letter in letters:
        for case, solver in case_solvers(plan, letter).items():
            asked = min(count, 60) if is_filtered(case) else count
            drawn = samples(solver.limb, asked, plan.seed, "grid" if plan.sampling == "exhaustive" else plan.sampling)
            times[case] = solver.timed(drawn.postures, drawn.orientations)
    return times
