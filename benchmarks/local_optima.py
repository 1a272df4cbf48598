"""Whether the last of three levels can still be improved where a solve rests: random chains, against SciPy's SLSQP.

    python benchmarks/local_optima.py [CHAINS] [--cores N] [--first SEED]

SLSQP starts from the answer, may change each joint by 0.03 rad, and must keep the levels above as good.
"""

from __future__ import annotations

import sys
from pathlib import Path

from cores import answers, parser_of
from machine import describe

import poise

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.local_optima import chain_question, possible_gain

BOUNDS = (1e-5, 1e-4, 1e-3)
WORST_SHOWN = 15


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("chains", type=int, nargs="?", default=500)
    options = parser.parse_args()
    print(describe("numba", "numpy", "scipy"))
    seeds = range(options.first, options.first + options.chains)
    gains = dict(zip(seeds, answers(gain_of, seeds, options.cores), strict=True))
    counts = ", ".join(f"{sum(gain > bound for gain in gains.values())} by more than {bound:g}" for bound in BOUNDS)
    print(f"of {len(gains)} chains, SLSQP improves {counts}")
    for seed in sorted(gains, key=lambda seed: -gains[seed])[:WORST_SHOWN]:
        print(f"  seed {seed}: {gains[seed]:.3g}")


def gain_of(seed: int) -> float:
    """How much SLSQP improves the last level of a chain [m or rad]."""
    figure, tasks, start = chain_question(seed)
    answer = poise.solve(figure, tasks, start=start, max_steps=500)
    return possible_gain(figure, tasks, answer.posture)


if __name__ == "__main__":
    main()
