"""The cases of the evaluation of ERIK: a skeleton with a solver [Ribeiro & Paiva 2019, section 4].

`solve_range` is the unit of work: it solves a range of samples of one skeleton by one or more solvers and returns
statistics. Samples are numbered, and each is a function of its number, so units can be computed anywhere.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

from poise.errors import TaskError
from poise.evaluation.erik.sampling import Sampling, sample_space
from poise.evaluation.erik.tally import Tally
from poise.expressive.erik import Erik
from poise.expressive.expressive import Expressive
from poise.expressive.result import empty_problems, empty_solutions
from poise.expressive.solver import Device, ExpressiveSolver
from poise.expressive.two_priority import TwoPriorityDls, TwoPrioritySettings
from poise.figures import built_in
from poise.kernels.gaze.sampling import write_samples
from poise.kernels.gaze.tally import tally_solutions
from poise.kernels.jit.cache import dependencies, source_digest, source_name

SKELETON_LETTERS = "ABCDEFG"
"""Names of the paper's skeletons."""
THRESHOLD = 0.04
"""Combined error that counts as solved."""
DLS = {"C-DLS100": 100, "C-DLS200": 200, "C-DLS400": 400}
"""Number of steps of each variant of the two-priority DLS."""
NO_POSTURE = "C-DLS100_nopost"
"""Name of the DLS variant without a posture task."""
EXPRESSIVE = "-Expressive"
"""What follows the letter of the skeleton in the name of a case that `poise.Expressive` solves."""
MAX_DLS_ORIENTATION_ERROR = 3.0 * THRESHOLD
"""DLS samples count only if DLS without a posture task has an orientation error within this."""


@dataclass(frozen=True)
class Plan:
    """Parameters of an evaluation."""

    samples: int | None = None
    """Number of samples of each case; None is 20,000, or every pair of the grid with exhaustive sampling."""
    skeletons: str = SKELETON_LETTERS
    """Letters of the skeletons of table 5."""
    dls: bool = True
    """Whether skeleton C is also solved by the two-priority DLS."""
    sampling: Sampling = "grid"
    seed: int = 0
    device: Device | None = None
    """None for all cores, or "cuda"."""
    expressive: bool = True
    """Whether `poise.Expressive` solves every skeleton too."""

    def __post_init__(self) -> None:
        """Raise an error for a plan without samples or with unknown skeletons."""
        if self.samples is not None and self.samples < 1:
            raise TaskError(f"an evaluation needs at least one sample of each skeleton, not {self.samples}.")
        unknown = sorted(set(self.skeletons.upper()) - set(SKELETON_LETTERS))
        if unknown or not self.skeletons:
            raise TaskError(
                f"the skeletons are {', '.join(SKELETON_LETTERS)}; {self.skeletons!r} names others or none."
            )
        object.__setattr__(self, "skeletons", "".join(s for s in SKELETON_LETTERS if s in self.skeletons.upper()))
        sample_space(_solver("A").limb, self.sampling)

    def cases(self) -> list[str]:
        """Names of the cases, in the order of table 8."""
        return [case for letter in self.skeletons for case in self.cases_of(letter)]

    def cases_of(self, letter: str) -> list[str]:
        """Names of the cases of one skeleton."""
        compared = [NO_POSTURE, *DLS] if self.dls and letter == "C" else []
        return [letter, *compared, *([letter + EXPRESSIVE] if self.expressive else [])]

    def count(self, letter: str) -> int:
        """Number of samples of each case of a skeleton."""
        pairs: int = sample_space(_solver(letter).limb).pairs
        if self.sampling == "exhaustive":
            return min(self.samples or pairs, pairs)
        return self.samples or 20_000

    def key(self, case: str) -> str:
        """Eight hexadecimal digits of everything that the statistics of a case depend on."""
        solver = _solver(case)
        parts = [case, self.sampling, self.seed, THRESHOLD, MAX_DLS_ORIENTATION_ERROR, *map(str, solver.limb.chain)]
        parts += [str(solver.weights), str(getattr(solver, "settings", "")), _code_digest()]
        return hashlib.sha256("|".join(map(str, parts)).encode()).hexdigest()[:8]


def _code_digest() -> str:
    """A digest of the code of the solvers, the samples and the statistics."""
    modules = ("erik.batch", "expressive.batch", "two_priority.batch", "sampling", "tally")
    names = {source_name(f"poise.kernels.gaze.{module}") for module in modules}
    return source_digest(frozenset().union(*map(dependencies, names)))


def _solver(case: str) -> ExpressiveSolver:
    """The solver of a case."""
    figure = built_in(f"erik_{case[0].lower()}")
    if case.endswith(EXPRESSIVE):
        return Expressive(figure)
    if case == NO_POSTURE:
        return TwoPriorityDls(figure, settings=TwoPrioritySettings(posture=False))
    return TwoPriorityDls(figure, settings=TwoPrioritySettings(iterations=DLS[case])) if case in DLS else Erik(figure)


def case_solvers(plan: Plan, letter: str) -> dict[str, ExpressiveSolver]:
    """The solvers of one skeleton by the names of their cases."""
    return {case: _solver(case) for case in plan.cases_of(letter)}


def solve_range(plan: Plan, letter: str, cases: tuple[str, ...], first: int, stop: int) -> dict[str, Tally]:
    """Solve samples `first` to `stop` - 1 of some cases of a skeleton and return the statistics of each case."""
    space = sample_space(_solver(letter).limb, plan.sampling, plan.seed, SKELETON_LETTERS.index(letter))
    if plan.device == "cuda":
        from poise.evaluation.erik.cuda_tally import tally_on_cuda

        return tally_on_cuda(cases, space, first, stop)
    problems = empty_problems(stop - first, len(space.lower))
    write_samples(space, first, problems)
    tallies, filtered = {}, empty_solutions(problems)
    for names, solver in runs(cases):
        start = time.perf_counter()
        if isinstance(solver, TwoPriorityDls) and names != [NO_POSTURE]:
            found = solver.solve_stages(problems, [DLS[case] for case in names])
        else:
            found = [solver.solve_problems(problems)]
        if names == [NO_POSTURE]:
            filtered = found[0]
        seconds = time.perf_counter() - start
        for case, solutions in zip(names, found, strict=True):
            tally = Tally(seconds=seconds / len(names))
            reference, most = (filtered, MAX_DLS_ORIENTATION_ERROR) if is_filtered(case) else (solutions, math.inf)
            tally_solutions(solver.scoring, solutions, reference.errors, most, THRESHOLD, tally.arrays)
            tallies[case] = tally
    return {case: tallies[case] for case in cases}


def runs(cases: Sequence[str]) -> list[tuple[list[str], ExpressiveSolver]]:
    """The solvers to run, each with the cases whose solutions one run of it gives.

    One run of the longest DLS gives the shorter ones too; the one without a posture task comes before them.
    """
    stages = [case for case in DLS if case in cases]
    alone = [case for case in cases if case not in stages and case != NO_POSTURE]
    groups = [[case] for case in alone]
    if stages or NO_POSTURE in cases:
        groups.append([NO_POSTURE])
    if stages:
        groups.append(stages)
    return [(group, _solver(group[-1])) for group in groups]


def is_filtered(case: str) -> bool:
    """Whether only those samples count whose orientation DLS without a posture task comes near to."""
    return case in DLS or case == NO_POSTURE
