"""More targets than a chain can reach: least squares shares the error, and equal weights do not give equal errors.

After [Baerlocher 2001, fig. 5.1-5.3]. Run: python examples/05_more_wishes_than_joints.py [folder for the pictures]
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import poise
from poise import Position
from poise.pictures import Picture, contact_sheet, draw_scene

LINKS = 20


def points(places: Sequence[tuple[str, float, tuple[float, float]]]) -> list[Position]:
    """Tasks of equal priority and weight: a point of a segment, `height` along it, at a position in the plane."""
    return [Position(body, at=(x, y, 0.0), offset=(0, height, 0), axes="xy") for body, height, (x, y) in places]


def total(result: poise.Result) -> float:
    """The root of the sum of all squared errors."""
    return float(np.linalg.norm(list(result.errors.values())))


def imbalance(figure: poise.Figure, tasks: Sequence[Position], posture: poise.Posture) -> float:
    """|Σ Jᵀe| over Σ |Jᵀe|: at a least-squares optimum the gradients of all tasks cancel [eq. 5.5]."""
    pulls = []
    for task in tasks:
        frame = figure.pose_of(task.site, posture)
        arm = frame.apply(np.asarray(task.offset, dtype=np.float64)) - frame.position
        jacobian = figure.jacobian(task.site, posture)
        rows = jacobian[:3] - np.cross(arm, jacobian[3:], axisb=0, axisc=0)
        pulls.append(rows[:2].T @ (np.asarray(task.at) - frame.position - arm)[:2])
    return float(np.linalg.norm(sum(pulls)) / sum(map(np.linalg.norm, pulls)))


def shared(figure: poise.Figure, tasks: Sequence[Position], start: Sequence[float]) -> tuple[poise.Result, Picture]:
    """The best compromise and its picture."""
    scene = poise.Scene(figure, tasks, start=figure.posture(np.array(start)))
    result = scene.solve()
    assert imbalance(figure, tasks, result.posture) < 0.01
    return result, draw_scene(scene, result.posture, size=(330, 400), view="front")


def main(folder: Path) -> None:
    """Two links with many targets, twenty links with five and fewer, and two links with two."""
    two = poise.chain("ZZ", lengths=[1.0, 1.0], limits=170)
    along = [
        ("segment_2", h, (0.6 + 0.6 * h, 0.9 + wave)) for h, wave in ((0.25, 0.3), (0.5, -0.3), (0.75, 0.3), (1, -0.2))
    ]
    below = [("segment_1", h, (-0.5, h)) for h in (0.3, 0.6, 0.9)]
    few, picture_few = shared(two, points(along), (0.5, -1.2))
    more, picture_more = shared(two, points(along + below), (0.5, -1.2))
    print(f"Two hinges, {len(along)} wishes: {total(few):.3f} m in all; {len(below)} more: {total(more):.3f} m")
    assert total(more) > total(few)

    long = poise.chain("Z" * LINKS, lengths=[0.1] * LINKS, limits=170)
    places = [((-0.5, 0.5), 4), ((0.6, 0.7), 8), ((-0.4, 1.1), 12), ((0.5, 1.5), 16), ((-0.6, 1.3), 20)]
    wishes = points([(f"segment_{k}", 0.1, place) for place, k in places])
    bent = [0.1, -0.1] * (LINKS // 2)
    sheet, sums = [("7 wishes, 2 hinges", picture_more), ("4 wishes, 2 hinges", picture_few)], []
    for count in (5, 4, 3):
        result, picture = shared(long, wishes[:count], bent)
        sums.append(total(result))
        sheet.append((f"{count} wishes, {LINKS} hinges", picture))
        print(f"{LINKS} hinges, {count} wishes: {total(result):.3f} m in all ({result.status})")
    assert sums[0] > sums[1] > sums[2]

    rivalry, picture = shared(
        two, [*points([("segment_2", 1.0, (1.2, 0.4)), ("segment_2", 0.0, (-0.9, 0.3))])], (0.5, -1.2)
    )
    first, second = rivalry.errors.values()
    print(f"Two wishes of equal weight miss by {first:.3f} and {second:.3f} m.")
    assert abs(first - second) > 0.1 * max(first, second)
    sheet.append(("equal weights, unequal errors", picture))

    folder.mkdir(parents=True, exist_ok=True)
    contact_sheet(sheet, columns=3).save(folder / "least_squares.png")
    print(f"See {folder / 'least_squares.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
