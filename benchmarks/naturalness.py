"""How near poise and its peers come to real postures of people from the handles an animator would give.

    python benchmarks/naturalness.py [FRAMES [SOLVER...]]

Postures of clips that no model has seen are retargeted on the human. A solver gets the frames of both feet and some
other handles, keeps its balance where the real posture does, and must find the rest of the body.

* poise: `poise.solve` as it is by default, without a start;
* poise-solid: the same with `solid=True`, inside a floor and a body that nothing passes through;
* poise-plain: without a criterion, from standing at the same place and heading;
* PlaCo, mink: from the same start, with a posture task on it, until they rest, with the one of three weights of that
  task that comes nearest to the real postures (`naturalness_peers.py`).

Distances are between the joints of the answer and of the real posture, mean / 90th percentile; *joints* is the mean
difference of all joint angles. *Met* counts the postures whose feet and handles are all within 1 mm and mrad, and
within 1 cm. *Limits* counts those in which a limit of a joint is broken. *Deepest* is how far a body is in another one,
beyond what it is in the neutral posture, with the number of postures above 1 cm. Time is processor time, as a ratio to
the median of poise in the same row.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from machine import describe
from naturalness_cases import PARTS, SETS, Case, Witness, cases
from naturalness_peers import PEERS, asked

import poise

OWN = {"poise": {}, "poise-solid": {"solid": True}, "poise-plain": {"criteria": ()}}
SOLVERS = (*OWN, *PEERS)
MET, NEARLY_MET = 1e-3, 1e-2
"""Errors up to which all handles count as met [m or rad]."""
DEEP = 1e-2
"""Depth of a body in another one that counts [m]."""
HEAD = (
    "handles besides the feet", "solver", *(f"{part} mm" for part in PARTS), "joints °", "met 1 mm, 1 cm", "limits",
    "deepest mm, over 1 cm", "ms, ratio",
)  # fmt: skip


class Answers(NamedTuple):
    """What a solver answers to all questions."""

    name: str
    postures: list[poise.Posture]
    seconds: np.ndarray
    """(n,) processor time of each [s]."""


def main(frames: str = "180", *solvers: str) -> None:
    human = poise.load("human")
    questions = cases(human, int(frames))
    witness = Witness(human)
    print(describe("numba", "numpy"))
    print(f"{len(questions)} frames of clips that no model has seen\n")
    print(f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}")
    real = [case.real for case in questions]
    print(row(witness, questions, "all", Answers("the real postures", real, np.zeros(len(real))), None), flush=True)
    for handles in SETS:
        first = None
        for solver in solvers or SOLVERS:
            answers = answers_of(solver, witness, questions, handles)
            first = first or float(np.median(answers.seconds))
            print(row(witness, questions, handles, answers, first), flush=True)


def answers_of(solver: str, witness: Witness, questions: Sequence[Case], handles: str) -> Answers:
    """The answers of a solver; of a peer, those with the weight of the posture that comes nearest."""
    if solver in PEERS:
        return best_of_peer(solver, witness, questions, handles)
    found, seconds = [], []
    for case in questions:
        tasks = case.tasks(SETS[handles])
        start = case.start if solver == "poise-plain" else None
        begin = time.process_time()
        found.append(poise.solve(witness.human, tasks, start=start, **OWN[solver]).posture)
        seconds.append(time.process_time() - begin)
    return Answers(solver, found, np.array(seconds))


def best_of_peer(peer: str, witness: Witness, questions: Sequence[Case], handles: str) -> Answers:
    """The answers of a peer with the weight of the posture whose mean distance over all parts is least."""

    def distance(postures: Sequence[poise.Posture]) -> float:
        gaps = gaps_of(witness, questions, postures)
        return float(np.mean([np.mean(gap) for gap in gaps.values()]))

    found = asked(peer, witness.human, questions, handles, balances=True)
    weight = min(found, key=lambda weight: distance(found[weight].postures))
    return Answers(f"{peer}, posture {weight:g}", found[weight].postures, found[weight].seconds)


def gaps_of(witness: Witness, questions: Sequence[Case], postures: Sequence[poise.Posture]) -> dict[str, list[float]]:
    """Distances of the joints of each part from the real ones [m]."""
    found: dict[str, list[float]] = {part: [] for part in PARTS}
    for case, posture in zip(questions, postures, strict=True):
        for part, gaps in witness.gaps(posture, case.real).items():
            found[part] += gaps
    return found


def row(witness: Witness, questions: Sequence[Case], handles: str, answers: Answers, first: float | None) -> str:
    """One line of the table; `first` is the median time of the solver to compare with [s]."""
    postures = answers.postures
    gaps = gaps_of(witness, questions, postures)
    cells = [f"{1e3 * np.mean(gap):.0f} / {1e3 * np.percentile(gap, 90):.0f}" for gap in gaps.values()]
    turns = [witness.turn(posture, case.real) for posture, case in zip(postures, questions, strict=True)]
    cells.append(f"{np.degrees(np.mean(turns)):.1f}")
    if handles in SETS:
        tasks = [case.tasks(SETS[handles]) for case in questions]
        errors = np.array([witness.error(posture, t) for posture, t in zip(postures, tasks, strict=True)])
        cells.append(f"{(errors <= MET).sum()}, {(errors <= NEARLY_MET).sum()}")
    else:
        cells.append("")
    cells.append(f"{sum(map(witness.breaks_limits, postures))}")
    depths = np.array([witness.depth(posture) for posture in postures])
    cells.append(f"{1e3 * depths.max():.0f}, {(depths > DEEP).sum()}")
    middle = float(np.median(answers.seconds))
    cells.append(f"{1e3 * middle:.1f}, {middle / first:.2f}" if first else "")
    return f"| {handles} | {answers.name} | {' | '.join(cells)} |"


if __name__ == "__main__":
    main(*sys.argv[1:])
