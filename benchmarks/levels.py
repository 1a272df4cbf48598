"""Cost of the level solver against unknowns n, rows m and levels p: warm, from compiled code, with and without limits.

Rows are dense and random, the first two levels undamped, the others damped; below them is a criterion. Every solve
starts from the active limits of the last one, as in tracking. The last line adds curvature to a level. With a path, the
growth with each of the three is drawn there as well.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from machine import describe, microseconds
from results import Table

from poise.kernels.jit.compile import kernel
from poise.kernels.levels.levels import LevelsSolver, make_solver, solve_levels
from poise.kernels.levels.workspace import Levels

GROWTH = [
    (7, (6,)),
    (10, (3, 3, 2)),
    (20, (6, 3, 3)),
    (38, (6,)),
    (38, (12,)),
    (38, (21,)),
    (38, (12, 3, 3, 3)),
    (38, (12, 3, 2, 2, 2)),
    (38, (12, 3, 2, 2, 1, 1)),
    (50, (12, 6, 6, 3)),
    (60, (12, 6, 6, 6)),
    (100, (24, 12, 6, 6)),
]


@kernel
def repeat(count: int, problem: Levels, solver: LevelsSolver, x: np.ndarray) -> int:
    status = 0
    for _ in range(count):
        for c in range(x.shape[0]):
            x[c] = 0.0
        status = solve_levels(problem, solver, x)
    return status


def make(n: int, sizes: tuple[int, ...], room: float) -> tuple[Levels, LevelsSolver]:
    """A random problem with `room` between the limits and zero."""
    rng, m, levels = np.random.default_rng(1), sum(sizes), len(sizes)
    nothing = np.zeros(levels + 1, dtype=np.int64)
    problem = Levels(
        rows=rng.normal(size=(m, n)),
        target=0.05 * rng.normal(size=m),
        start=np.cumsum([0, *sizes]),
        damping=np.array([0.0 if k < 2 else 0.1 for k in range(levels)] + [0.1]),
        wish=0.1 * rng.normal(size=n),
        general=np.zeros((0, n)),
        lower=np.full(n, -room),
        upper=np.full(n, room),
        limit_level=np.zeros(n, dtype=np.int64),
        curved=nothing.copy(),
        curvature=np.zeros((levels + 1, n, n)),
        watch=nothing.copy(),
    )
    return problem, make_solver(n, m, levels)


def cost(problem: Levels, solver: LevelsSolver) -> float:
    """Microseconds per warm solve."""
    x = np.zeros(problem.wish.shape[0])
    repeat(3, problem, solver, x)
    inner = 300
    return microseconds(lambda: repeat(inner, problem, solver, x), 1, rounds=15) / inner


def main() -> None:
    print(describe("numba", "numpy"))
    table = Table("", "unknowns", "rows of each level", "free µs", "limited µs", "limits reached")
    for n, sizes in GROWTH:
        free, solver = make(n, sizes, 10.0)
        without = cost(free, solver)
        limited, solver = make(n, sizes, 0.1)
        within = cost(limited, solver)
        locks = np.count_nonzero(solver.work.limit_multipliers)
        table.row(n, ", ".join(map(str, sizes)), without, within, locks)
    problem, solver = make(38, (12, 3, 3, 3), 10.0)
    flat = cost(problem, solver)
    root = 0.3 * np.random.default_rng(2).normal(size=(38, 38))
    problem.curved[2], problem.curvature[2] = 1, root @ root.T
    print(f"a curved level with 23 undecided directions costs {cost(problem, solver) - flat:.2f} µs more")
    if len(sys.argv) > 1:
        draw(Path(sys.argv[1]))


def draw(path: Path) -> None:
    """Time against unknowns, rows and levels, after [Baerlocher 2001, fig. 5.14]."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    panels: dict[str, dict[int, tuple[int, tuple[int, ...]]]] = {
        "unknowns n, with 12 rows in 4 levels": {n: (n, (3, 3, 3, 3)) for n in range(10, 101, 10)},
        "rows m of one level, with 50 unknowns": {m: (50, (m,)) for m in range(3, 43, 3)},
        "levels p of 3 rows each, with 50 unknowns": {p: (50, (3,) * p) for p in range(1, 13)},
    }
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.4))
    for axis, (title, problems) in zip(axes, panels.items(), strict=True):
        for room, label, color in ((10.0, "free", "#2b6cb0"), (0.1, "with limits reached", "#c05621")):
            spent = [cost(*make(n, sizes, room)) for n, sizes in problems.values()]
            axis.plot(list(problems), spent, "o-", color=color, label=label, markersize=4)
        axis.set(xlabel=title, ylabel="µs per solve", ylim=(0, None))
        axis.grid(alpha=0.3)
    axes[0].legend(frameon=False)
    figure.tight_layout()
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
