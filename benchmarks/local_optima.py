"""Whether the last of three levels can still be improved where a solve rests: random chains, against SciPy's SLSQP.

python benchmarks/local_optima.py [CHAINS]

SLSQP starts from the answer, may change each joint by 0.03 rad, and must keep the levels above as good.
"""

from __future__ import annotations

import sys
from pathlib import Path

from machine import describe

import poise

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.local_optima import chain_question, possible_gain

BOUNDS = (1e-5, 1e-4, 1e-3)


def main(chains: str = "500") -> None:
    print(describe("numba", "numpy", "scipy"))
    gains = {}
    for seed in range(int(chains)):
        figure, tasks, start = chain_question(seed)
        answer = poise.solve(figure, tasks, start=start, max_steps=500)
        gains[seed] = possible_gain(figure, tasks, answer.posture)
    counts = ", ".join(f"{sum(gain > bound for gain in gains.values())} by more than {bound:g}" for bound in BOUNDS)
    print(f"of {len(gains)} chains, SLSQP improves {counts}")
    for seed in sorted(gains, key=lambda seed: -gains[seed])[:10]:
        print(f"  seed {seed}: {gains[seed]:.3g}")


if __name__ == "__main__":
    main(*sys.argv[1:])
