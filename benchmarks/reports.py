"""Whether reports tell the truth: random conflicts, every claim tried by intervention.

    python benchmarks/reports.py [REPORTS] [--cores N] [--first NUMBER]

A third of the reports each is about random figures, about random figures with loops or couplings, and about the human.
Tasks and limits that are named as reasons are removed, and the error must fall; tasks that are out of reach are solved
alone, and must be no better.
"""

from __future__ import annotations

import sys
from pathlib import Path

from cores import answers, parser_of
from machine import describe

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.priorities import human_question, mechanism_question, random_question
from tests.reports import false_claims

QUESTIONS = (random_question, mechanism_question, human_question)


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("reports", type=int, nargs="?", default=200)
    options = parser.parse_args()
    print(describe("numba", "numpy"))
    wrong, numbers = 0, range(options.first, options.first + options.reports)
    for number, found in zip(numbers, answers(claims_refuted, numbers, options.cores), strict=True):
        wrong += bool(found)
        for sentence in found:
            ask, seed = question(number)
            print(f"  {ask} {seed}: {sentence}", flush=True)
    print(f"of {options.reports} reports, {wrong} make a false claim")


def question(number: int) -> tuple[str, int]:
    """The name of the question that a report answers, and its seed."""
    return QUESTIONS[number % len(QUESTIONS)].__name__, number // len(QUESTIONS)


def claims_refuted(number: int) -> list[str]:
    """The false claims of a report."""
    ask, seed = QUESTIONS[number % len(QUESTIONS)], number // len(QUESTIONS)
    return list(false_claims(*ask(seed)))


if __name__ == "__main__":
    main()
