"""Whether a lower level ever increases the error of a higher one: random figures and the human, from random starts.

    python benchmarks/priorities.py [FIGURES MECHANISMS HUMANS] [--cores N] [--first SEED]

Every problem has three to six levels. It is solved with all levels, and again with the levels below each level removed;
both solves are continued once from their results. A level counts as worse if its error is larger with all levels, while
the levels above it are as good.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from cores import answers, parser_of
from machine import describe

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.priorities import human_question, mechanism_question, random_question, worst_loss

BOUNDS = (1e-6, 1e-3, 1e-1)
WORST_SHOWN = 5


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("counts", type=int, nargs="*", default=[600, 200, 400], metavar="COUNT")
    options = parser.parse_args()
    print(describe("numba", "numpy"))
    begin = time.perf_counter()
    kinds = {
        "random figures": loss_of_figure,
        "random figures with loops or couplings": loss_of_mechanism,
        "human, a task below the hand": loss_of_human,
    }
    for (title, loss), count in zip(kinds.items(), options.counts, strict=True):
        seeds = range(options.first, options.first + count)
        tell(title, dict(zip(seeds, answers(loss, seeds, options.cores), strict=True)))
    print(f"{time.perf_counter() - begin:.0f} s")


def loss_of_figure(seed: int) -> float:
    return worst_loss(*random_question(seed))


def loss_of_mechanism(seed: int) -> float:
    return worst_loss(*mechanism_question(seed))


def loss_of_human(seed: int) -> float:
    return worst_loss(*human_question(seed))


def tell(what: str, losses: dict[int, float]) -> None:
    """One line with the number of problems that have a level that lost more than each bound, and the worst of them."""
    if losses:
        counts = ", ".join(f"{sum(loss > bound for loss in losses.values())} above {bound:g}" for bound in BOUNDS)
        print(f"{what}: of {len(losses)}, {counts}; worst {max(losses.values()):.3g}", flush=True)
    for seed in sorted(losses, key=lambda seed: -losses[seed])[:WORST_SHOWN]:
        if losses[seed] > BOUNDS[0]:
            print(f"  seed {seed}: {losses[seed]:.3g}", flush=True)


if __name__ == "__main__":
    main()
