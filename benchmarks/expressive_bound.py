"""The least shape error of any motion that faces a moving target exactly, found by dynamic programming.

Between the twisters of Adelino and of skeleton C are two X joints a, b and a Z joint c. With the direction held, the
root's angle determines c and s = a + b:

    sin c = -sin θ sin(η - root),   s = atan2(sin θ cos(η - root), cos θ)

for a direction with heading η and angle θ from the vertical. So a posture that faces the target is a pair (root, a),
and the best motion through all frames, which knows the whole path of the target in advance, is a shortest path over a
grid of such pairs. Steps of 2.5° are rounded in favour of the bound. No tracker that faces the target can have a lower
mean shape error, and one that does not know the future cannot reach it.

python benchmarks/expressive_bound.py --figures adelino,erik_c --seconds 30 --seeds 6
"""

from __future__ import annotations

import argparse
import math

import numba
import numpy as np
from expressive_wanders import course
from machine import describe
from results import Table

import poise

CELL = 2.5
"""Width of a cell [degrees]."""
RATE = 5.0
"""Largest turn of a joint per frame [degrees]."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--figures", default="adelino,erik_c", help="skeletons with the axes Y X X Z Y")
    parser.add_argument("--bounds", default="10-85", help="angles from the vertical [degrees]")
    parser.add_argument("--speeds", default="0.5,1,2", help="degrees per frame")
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--hold", default="balanced")
    arguments = parser.parse_args()
    print(describe("numba"))
    lamp = poise.load("adelino")
    table = Table("", "mean shape error", "single solves", "bound", arguments.hold, f"{arguments.hold} / bound")
    turn = np.array([(math.sin(h), 0.35, math.cos(h)) for h in np.radians(np.arange(-180.0, 181.0))])
    for name in lamp.posture_names:
        table.row(
            f"example 21, {name}",
            *row([compared(lamp, lamp.posture(name), turn / np.linalg.norm(turn[0]), arguments.hold)]),
        )
    for name in arguments.figures.split(","):
        figure = poise.load(name)
        for speed in map(float, arguments.speeds.split(",")):
            rows = []
            for seed in range(arguments.seeds):
                rng = np.random.default_rng([seed, sum(map(ord, name)), round(10 * speed)])
                own = figure.posture_names if name == "adelino" else ()
                posture = figure.posture(own[seed % len(own)]) if own else figure.random(rng)
                directions = course(rng, arguments.bounds, speed, round(60 * arguments.seconds))
                rows.append(compared(figure, posture, directions, arguments.hold))
            table.row(f"{name} wanders {arguments.bounds}, {speed:g}° per frame", *row(rows))


def compared(figure: poise.Figure, posture: poise.Posture, directions: np.ndarray, hold: str) -> tuple[float, ...]:
    """Mean shape error of single solves, of the bound and of the tracker."""
    solver = poise.Expressive(figure, hold=hold)  # type: ignore[arg-type]
    targets = [poise.facing(direction, roll=None) for direction in directions]
    single = solver.solve_batch(posture, targets).shape_error.mean()
    bound = least_shape(directions, solver.limb.angles(posture)[1:4], solver.scoring.shapes[1:4])
    result, shapes = solver.solve(posture, targets[0]), []
    for target in targets:
        result = solver.solve(posture, target, previous=result)
        shapes.append(result.shape_error)
    return float(single), float(bound), float(np.mean(shapes))


def row(found: list[tuple[float, ...]]) -> tuple[str, ...]:
    single, bound, tracked = np.mean(found, axis=0)
    return f"{single:.4f}", f"{bound:.4f}", f"{tracked:.4f}", f"{tracked / bound:.2f}"


@numba.njit
def shape_error(angles, wanted, weights):  # type: ignore[no-untyped-def]
    same, negated = 0.0, 0.0
    for k in range(3):
        same += 0.5 * weights[k] * (1.0 - math.cos(angles[k] - wanted[k]))
        negated += 0.5 * weights[k] * (1.0 - math.cos(angles[k] + wanted[k]))
    return min(same, negated)


@numba.njit
def least_before(before, i, j, b, c, old_s, old_c, grid):  # type: ignore[no-untyped-def]
    """Least cost of the cells from which one frame leads to the root's cell `i` and a's cell `j`."""
    least, reach, most = np.inf, round(RATE / CELL), math.radians(RATE + 0.5 * CELL)
    for k in range(max(0, i - reach), min(len(grid), i + reach + 1)):
        if abs(c - old_c[k]) <= most:
            for m in range(max(0, j - reach), min(len(grid), j + reach + 1)):
                if before[k, m] < least and abs(b - (old_s[k] - grid[m])) <= most:
                    least = before[k, m]
    return least


@numba.njit
def least_shape(directions, wanted, weights):  # type: ignore[no-untyped-def]
    """Mean shape error of the best motion."""
    cells = round(180 / CELL) + 1
    grid = np.radians(-90.0 + CELL * np.arange(cells))
    before, now = np.zeros((cells, cells)), np.zeros((cells, cells))
    old_s, old_c = np.zeros(cells), np.zeros(cells)
    for t in range(len(directions)):
        x, y, z = directions[t]
        across, heading = math.hypot(x, z), math.atan2(x, z)
        c = np.arcsin(np.minimum(1.0, np.maximum(-1.0, -across * np.sin(heading - grid))))
        s = np.arctan2(across * np.cos(heading - grid), y)
        for i in range(cells):
            for j in range(cells):
                b = s[i] - grid[j]
                now[i, j] = np.inf
                if abs(b) <= math.pi / 2 + 1e-9:
                    least = 0.0 if t == 0 else least_before(before, i, j, b, c[i], old_s, old_c, grid)
                    now[i, j] = least + shape_error((grid[j], b, c[i]), wanted, weights)
        old_s, old_c = s, c
        before, now = now, before
    return before.min() / len(directions)


if __name__ == "__main__":
    main()
