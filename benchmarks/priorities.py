"""Whether a lower level ever increases the error of a higher one: random figures and the human, from random starts.

python benchmarks/priorities.py [FIGURES MECHANISMS HUMANS]

Every problem has three to six levels. It is solved with all levels, and again with the levels below each level removed;
both solves are continued once from their results. A level counts as worse if its error is larger with all levels, while
the levels above it are as good.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from machine import describe

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.priorities import human_question, mechanism_question, random_question, worst_loss

BOUNDS = (1e-6, 1e-3, 1e-1)


def main() -> None:
    print(describe("numba", "numpy"))
    figures, mechanisms, humans = (int(word) for word in sys.argv[1:4]) if len(sys.argv) > 3 else (600, 200, 400)
    begin = time.perf_counter()
    tell("random figures", [worst_loss(*random_question(seed)) for seed in range(figures)])
    tell("random figures with loops or couplings", [worst_loss(*mechanism_question(s)) for s in range(mechanisms)])
    tell("human, a task below the hand", [worst_loss(*human_question(seed)) for seed in range(humans)])
    print(f"{time.perf_counter() - begin:.0f} s")


def tell(what: str, losses: list[float]) -> None:
    """One line: the number of problems with a level that lost more than each bound."""
    counts = ", ".join(f"{sum(loss > bound for loss in losses)} above {bound:g}" for bound in BOUNDS)
    print(f"{what}: of {len(losses)}, {counts}; worst {max(losses):.3g}", flush=True)


if __name__ == "__main__":
    main()
