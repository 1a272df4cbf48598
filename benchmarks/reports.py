"""Whether reports tell the truth: random conflicts, every claim tried by intervention.

python benchmarks/reports.py [REPORTS]

A third of the reports each is about random figures, about random figures with loops or couplings, and about the human.
Tasks and limits that are named as reasons are removed, and the error must fall; tasks that are out of reach are solved
alone, and must be no better.
"""

from __future__ import annotations

import sys
from pathlib import Path

from machine import describe

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.priorities import human_question, mechanism_question, random_question
from tests.reports import false_claims


def main(reports: str = "200") -> None:
    print(describe("numba", "numpy"))
    questions = (random_question, mechanism_question, human_question)
    wrong = 0
    for i in range(int(reports)):
        ask, seed = questions[i % len(questions)], i // len(questions)
        found = list(false_claims(*ask(seed)))
        wrong += bool(found)
        for sentence in found:
            print(f"  {ask.__name__} {seed}: {sentence}", flush=True)
    print(f"of {reports} reports, {wrong} make a false claim")


if __name__ == "__main__":
    main(*sys.argv[1:])
