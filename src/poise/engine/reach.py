"""Reach: put this hand there."""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from poise.errors import TaskError
from poise.figure.model.figure import Figure, PostureLike
from poise.figure.model.path import find_path
from poise.figure.model.pose import LARGEST, SMALLEST_QUATERNION, FloatArray
from poise.figure.model.posture import Posture
from poise.kernels.body.clamp import clamp
from poise.kernels.reach.path import flatten
from poise.kernels.reach.reach import reach as reach_kernel

_NOWHERE = np.empty(0)
_ORIGIN: tuple[float, ...] = (0.0, 0.0, 0.0)
_UNTURNED: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0)


class ReachResult(NamedTuple):
    """The posture a reach ended in, and how near it came."""

    posture: Posture
    """A legal posture: the one that reaches, or the nearest found."""
    status: Literal["solved", "unreachable"]
    position_error: float
    """Distance of the site from the position asked for [m]; 0 when none was."""
    rotation_error: float
    """Angle of the site from the rotation asked for [rad]; 0 when none was."""
    restarts: int
    """New starts it took."""
    iterations: int
    """Steps it took, over all starts."""


class _Prepared(NamedTuple):
    """What reaches of one site share."""

    integers: np.ndarray
    numbers: np.ndarray
    neutral: FloatArray


_prepared: dict[tuple[int, str, frozenset[str]], _Prepared] = {}


def reach(  # noqa: PLR0917 - the order in which people name them
    figure: Figure,
    site: str,
    position: ArrayLike | None = None,
    rotation: ArrayLike | None = None,
    start: PostureLike | None = None,
    restarts: int = 30,
    *,
    tolerance: float = 1e-6,
    hold: Iterable[str] = (),
    seed: int = 0,
) -> ReachResult:
    """Put a site or body at a position, at a rotation, or both, inside all limits and couplings.

    The joints from the root to the site move, a free base among them, and so do joints that a coupling ties to those;
    all others stay as they are in `start`. The first try starts there, so a near goal is met by a near posture. A goal
    out of reach is no error: the answer is then the legal posture that brings |Δp|² + ℓ² θ² to a minimum, the best of
    all tries, with Δp the offset from the position, θ the angle from the rotation, and ℓ 0.4 times the length of the
    limb between the first joint and the site.

    Args:
        figure: Whose posture to find.
        site: Name of the site or body to move.
        position: (3,) where it must be in the world [m], or None for anywhere.
        rotation: (4,) how its axes must be turned in the world, (w, x, y, z) of any length but zero, or None for any.
        start: Where to begin; the neutral posture when not given. It is moved inside the limits first.
        restarts: How many other starts may be tried.
        tolerance: Errors of position [m] and of rotation [rad] that count as none.
        hold: Joints that must stay as they are in `start`.
        seed: Chooses other starts; the same seed gives the same bytes.

    Raises:
        FigureError: The figure has no such site or joint, or `start` is no posture of it.
        TaskError: Nothing was asked, a number is not finite, or a joint on the way is part of a loop.
    """
    held = frozenset(hold) if hold else frozenset()
    prepared = _prepared.get((id(figure), site, held)) or _prepare(figure, site, held)
    if position is None and rotation is None:
        raise TaskError(f"reach needs a position, a rotation, or both for {site!r}.")
    where = _ORIGIN if position is None else _numbers(position, 3, "position")
    turned = _UNTURNED if rotation is None else _unit(_numbers(rotation, 4, "rotation"))
    if not (restarts >= 0 and tolerance >= 0.0):
        raise TaskError(f"restarts and tolerance must not be negative, and they are {restarts} and {tolerance}.")
    begin = prepared.neutral if start is None else _legal(figure, start, prepared)
    q = np.empty(begin.shape[0])
    solved, off, angle, used, steps = reach_kernel(
        prepared.integers,
        prepared.numbers,
        begin,
        (where[0], where[1], where[2], turned[0], turned[1], turned[2], turned[3]),
        (3 if position is None else 0, 3 if rotation is None else 6),
        float(tolerance),
        int(restarts),
        int(seed),
        q,
    )
    return ReachResult(Posture(figure, q), "solved" if solved else "unreachable", off, angle, used, steps)


def _prepare(figure: Figure, site: str, held: frozenset[str]) -> _Prepared:
    """Lay the path out and keep it as long as the figure lives."""
    integers, numbers = flatten(find_path(figure, site, held))
    neutral = figure.neutral().q.copy()
    clamp(figure.compiled.bounds, _NOWHERE, neutral)
    key = (id(figure), site, held)
    if key not in _prepared:
        weakref.finalize(figure, _prepared.pop, key, None)
    _prepared[key] = _Prepared(integers, numbers, neutral)
    return _prepared[key]


def _legal(figure: Figure, start: PostureLike, prepared: _Prepared) -> FloatArray:
    """Joint values of `start` inside the limits; neutral ones when the couplings leave no way in."""
    q = figure.posture(start)._q.copy()
    return q if clamp(figure.compiled.bounds, _NOWHERE, q) == 1 else prepared.neutral


def _numbers(value: ArrayLike, count: int, what: str) -> tuple[float, ...]:
    """As many finite numbers as a goal needs."""
    try:
        numbers = tuple(np.asarray(value, dtype=np.float64).tolist())
        if len(numbers) == count and math.hypot(*numbers) <= LARGEST:
            return numbers
    except (TypeError, ValueError):
        pass
    raise TaskError(f"the {what} to reach must be {count} finite numbers, not {value!r}.")


def _unit(quaternion: tuple[float, ...]) -> tuple[float, ...]:
    w, x, y, z = quaternion
    size = math.sqrt(w * w + x * x + y * y + z * z)
    if size < SMALLEST_QUATERNION:
        raise TaskError("the rotation to reach is the zero quaternion, which is none; (1, 0, 0, 0) is the identity.")
    return w / size, x / size, y / size, z / size
