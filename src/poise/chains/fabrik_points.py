"""FABRIK on free points without joints: chains, trees and rings [Aristidou & Lasenby 2011]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from poise.chains.result import ChainStatus
from poise.chains.zones import safe_zones
from poise.errors import TaskError
from poise.figure.model.pose import LARGEST, FloatArray
from poise.kernels.chains.fabrik_points import fabrik_points as fabrik_points_kernel


@dataclass(frozen=True)
class PointsResult:
    """The final points, and their distance from the targets."""

    points: FloatArray
    """(n, 3) positions [m], at their original distances from each other."""
    status: ChainStatus
    """See `ChainResult.status`."""
    error: float
    """Largest distance of a dragged point from its target [m]."""
    iterations: int
    """Number of passes forward and back."""


def fabrik_points(
    points: ArrayLike,
    target: ArrayLike | Mapping[int, ArrayLike],
    *,
    parents: Sequence[int] | None = None,
    closed: bool = False,
    tolerance: float = 1e-6,
    max_iterations: int = 500,
) -> PointsResult:
    """Drag points while their distances from one another and the position of the first point stay the same.

        fabrik_points([[0, 0, 0], [0, 1, 0], [0, 2, 0]], [1, 1, 0])

    Args:
        points: (n, 3) initial positions [m]; the first point is fixed.
        target: Target of the last point (3,) [m]; or targets by index of the point, for several.
        parents: Index of the parent of each point, -1 for the first; by default the previous point.
        closed: Whether the last point is also linked to the first: a ring, of which one point can be dragged.
        tolerance: The solve stops at this distance [m].
        max_iterations: Largest number of passes.
    """
    start = _numbers(points, "the points", (-1, 3))
    if len(start) < 2:
        raise TaskError(f"fabrik needs two points or more, not {len(start)}.")
    if not (tolerance >= 0.0 and max_iterations >= 0):
        raise TaskError(
            f"tolerance and max_iterations must not be negative, and they are {tolerance} and {max_iterations}."
        )
    targets = _targets(target, len(start))
    hangs = _parents(parents, len(start))
    if closed:
        if len(targets) != 1 or parents is not None:
            raise TaskError("a ring of points has no parents, and one of its points can be dragged at a time.")
        return _ring(start, targets, tolerance, max_iterations)
    return _tree(start, hangs, targets, tolerance, max_iterations)


def _tree(
    start: FloatArray, hangs: list[int], targets: dict[int, FloatArray], tolerance: float, most: int
) -> PointsResult:
    """Solve a tree of points; a dragged point in the middle of a chain is an end-point, and its children follow it.

    The kernel takes points in an order where parents come first and end-points last, so an end-point with children is
    represented by a copy of itself at distance zero.
    """
    order = [*range(len(start)), *targets]
    parent = np.array([*hangs, *targets], dtype=np.int64)
    span = np.array([np.linalg.norm(start[i] - start[k]) if k >= 0 else 0.0 for i, k in enumerate(hangs)])
    span = np.concatenate([span, np.zeros(len(targets))])
    moved = start[order]
    error, passes = fabrik_points_kernel(
        parent, span, np.array(list(targets.values())), float(tolerance), int(most), moved
    )
    status: ChainStatus = "solved" if error <= tolerance else "stalled"
    if status == "stalled" and not all(_within(start, hangs, i, target) for i, target in targets.items()):
        status = "unreachable"
    return PointsResult(moved[: len(start)], status, error, passes)


def _ring(start: FloatArray, targets: dict[int, FloatArray], tolerance: float, most: int) -> PointsResult:
    """Solve a ring fixed at its first point and dragged at another, as two chains with the same ends."""
    ((dragged, target),) = targets.items()
    n = len(start)
    if dragged == 0:
        raise TaskError("the first point of a ring is pinned, so another must be dragged.")
    other = [*range(n - 1, dragged, -1), dragged]
    points = start[[*range(dragged + 1), *other]]
    hangs = [-1, *range(dragged), 0, *range(dragged + 1, dragged + len(other))]
    both = _tree(points, hangs, {dragged: target, len(points) - 1: target}, tolerance, most)
    ring = np.empty_like(start)
    ring[: dragged + 1] = both.points[: dragged + 1]
    ring[other[:-1]] = both.points[dragged + 1 : -1]
    return PointsResult(ring, both.status, both.error, both.iterations)


def _within(start: FloatArray, hangs: list[int], point: int, target: FloatArray) -> bool:
    """Whether a target is neither too far for the links to its point nor too near."""
    links = []
    while hangs[point] >= 0:
        links.append(float(np.linalg.norm(start[point] - start[hangs[point]])))
        point = hangs[point]
    least, most = safe_zones(np.array(links))
    return least <= float(np.linalg.norm(target - start[point])) <= most


def _targets(target: ArrayLike | Mapping[int, ArrayLike], count: int) -> dict[int, FloatArray]:
    given: Mapping[int, ArrayLike] = target if isinstance(target, Mapping) else {count - 1: target}
    if not given:
        raise TaskError("fabrik needs at least one point with a target.")
    for point in given:
        if not 0 <= int(point) < count:
            raise TaskError(f"there is no point {point} to drag: they are numbered from 0 to {count - 1}.")
    return {int(point): _numbers(place, "a target", (3,)) for point, place in given.items()}


def _parents(parents: Sequence[int] | None, count: int) -> list[int]:
    if parents is None:
        return [-1, *range(count - 1)]
    found = [int(parent) for parent in parents]
    if len(found) != count or found[0] != -1 or any(not 0 <= parent < i for i, parent in enumerate(found) if i):
        raise TaskError(
            f"parents of {count} points are {count} numbers: -1 first, then for each the number of a point before it."
        )
    return found


def _numbers(value: ArrayLike, what: str, shape: tuple[int, ...]) -> FloatArray:
    """Convert to a new array of finite numbers of the given shape, or raise an error."""
    try:
        numbers = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.empty(0)
    fits = numbers.ndim == len(shape) and all(
        want in (-1, size) for want, size in zip(shape, numbers.shape, strict=True)
    )
    if not fits or not (np.abs(numbers) <= LARGEST).all():
        wanted = "rows of three finite numbers" if len(shape) == 2 else "three finite numbers"
        raise TaskError(f"{what} must be {wanted}, not {value!r}.")
    return numbers
