"""Intersection of circles: see `poise.kernels.circles` for the method."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple, Unpack

import numpy as np

from poise.chains.chain import only_tip
from poise.chains.goals import TargetLike, goal_of
from poise.chains.options import Options, Settings, settle
from poise.chains.plane import PlanarChain, planar_chain, turntable_values
from poise.chains.result import ChainResult, ChainStatus
from poise.errors import TaskError
from poise.figure.figure import Figure, PostureLike
from poise.figure.pose import FloatArray
from poise.figure.posture import Posture
from poise.kernels.circles import circles as circles_kernel


class _Placed(NamedTuple):
    """One end-point after its placements."""

    q: FloatArray
    placements: int
    legal: bool
    inside: bool
    """Whether the target was in the plane and between the safe zones."""


def circles(
    figure: Figure,
    target: TargetLike | Mapping[str, TargetLike],
    *,
    keep_shape: bool = False,
    **options: Unpack[Options],
) -> ChainResult:
    """Put the joints of a planar chain where circles meet, each once: exact, and without iterations.

    Moves the largest group of parallel hinges on the way to the tip, in whatever plane they lie, and the hinge before
    them that turns the plane. A chain of n points, end-point included, takes exactly n - 2 placements unless a limit is
    in the way; a target outside the safe zones is answered at their nearest border. Iterations are placements.

    Args:
        figure: Whose posture to find.
        target: A position (3,) [m]; or positions by site, for end-points that share no moving joint.
        keep_shape: Keep the joints as far from the base as they are in `start`, where that is possible, instead of the
            paper's choice. A tip that is dragged a little then moves its chain a little.
        **options: See `Options`. A trace has the posture after each end-point.
    """
    settings = settle("circles", figure, options, 1)
    targets = _targets(figure, target, settings)
    posture, rows, owner = settings.start, [], dict[int, str]()
    placements, errors, status = 0, dict[str, float](), list[ChainStatus]()
    for tip, place in targets.items():
        chain = planar_chain(figure, tip, posture, settings)
        _refuse_sharing(figure, chain, owner)
        placed = _solve(chain, place, posture, settings, keep_shape=keep_shape)
        posture = Posture(figure, placed.q)
        rows.append(placed.q)
        placements += placed.placements
        errors[tip] = float(np.linalg.norm(figure.pose_of(tip, posture).position - place))
        status.append(_status(errors[tip], placed, settings))
    worst: ChainStatus = next((s for s in ("unreachable", "stalled") if s in status), "solved")
    trace = np.array(rows) if settings.trace else None
    return ChainResult(posture, worst, max(errors.values()), placements, trace, errors)


def circle_zones(figure: Figure, tip: str | None = None, posture: PostureLike | None = None) -> tuple[float, float]:
    """Minimum and maximum safe zone of a tip: its least and greatest distance from the first hinge, in the plane [m].

    Args:
        figure: Whose tip.
        tip: A site or body; a figure that does not branch needs none.
        posture: Where the joints are that do not take part; neutral when not given.
    """
    settings = settle("circles", figure, {"tip": tip, "start": posture, "limits": False}, 1)
    return planar_chain(figure, tip or only_tip(figure, "circles"), settings.start, settings).zones


def _targets(
    figure: Figure, target: TargetLike | Mapping[str, TargetLike], settings: Settings
) -> dict[str, FloatArray]:
    """Positions by site."""
    if not isinstance(target, Mapping):
        target = {settings.tip if settings.tip is not None else only_tip(figure, "circles"): target}
    if not target:
        raise TaskError("circles needs at least one end-point with a target.")
    return {tip: np.asarray(goal_of(wanted, "circles", ("position",)).position) for tip, wanted in target.items()}


def _refuse_sharing(figure: Figure, chain: PlanarChain, owner: dict[int, str]) -> None:
    """End-points are placed one after the other, so none may move another."""
    table = [chain.turntable.place] if chain.turntable else []
    for place in (*chain.places.tolist(), *table):
        if place in owner:
            joint = next(n for n, where in figure.compiled.q_slices.items() if where.start <= place < where.stop)
            raise TaskError(
                f"circles places end-points one by one, and joint {joint!r} would move both {owner[place]!r} and "
                f"{chain.tip!r}: hold it with hold=[{joint!r}], or use poise.chains.fabrik."
            )
        owner[place] = chain.tip


def _solve(
    chain: PlanarChain, target: FloatArray, posture: Posture, settings: Settings, *, keep_shape: bool
) -> _Placed:
    """Turn the plane to the target, then place the chain; the other way round when limits forbid the first."""
    best: _Placed | None = None
    placements = 0
    for value, seen in turntable_values(chain, target):
        placed = _place(chain, seen, posture, settings, keep_shape=keep_shape)
        placements += placed.placements
        if chain.turntable is not None:
            placed.q[chain.turntable.place] = value
        if best is None or (placed.legal and not best.legal):
            best = placed
        if placed.legal:
            break
    assert best is not None
    return best._replace(placements=placements)


def _place(
    chain: PlanarChain, target: FloatArray, posture: Posture, settings: Settings, *, keep_shape: bool
) -> _Placed:
    """Place a chain whose plane already goes through the target, or as near to it as it can."""
    lengths, m = chain.lengths, len(chain.places)
    spot, inside = _inside_zones(chain, chain.axes @ (target - chain.base))
    off = abs(float(chain.normal @ (target - chain.base)) - chain.level)
    links = np.diff(chain.points, axis=0)
    q = posture.q.copy()
    bounds = posture.figure.compiled.bounds
    free = np.full(m, math.inf)
    lower, upper = (bounds.lower[chain.places], bounds.upper[chain.places]) if settings.limits else (-free, free)
    turned = np.empty(m)
    placements, legal = circles_kernel(
        lengths,
        np.arctan2(links[:, 1], links[:, 0]),
        q[chain.places],
        chain.sign,
        lower,
        upper,
        _wishes(chain, spot, keep_shape),
        _sides(chain),
        float(spot[0]),
        float(spot[1]),
        np.empty((7, m + 1)),
        turned,
    )
    q[chain.places] = turned
    return _Placed(q, placements, legal, inside and off <= settings.tolerance)


def _inside_zones(chain: PlanarChain, spot: FloatArray) -> tuple[FloatArray, bool]:
    """The place between the safe zones nearest to a target, and whether that is the target itself."""
    least, most = chain.zones
    distance = float(np.linalg.norm(spot))
    if least <= distance <= most:
        return spot, True
    ray = spot / distance if distance > 0.0 else _ray(chain)
    return ray * min(max(distance, least), most), False


def _ray(chain: PlanarChain) -> FloatArray:
    """Direction of the tip from the base, for a target that is on the base."""
    end = chain.points[-1]
    size = float(np.linalg.norm(end))
    return end / size if size > 0.0 else np.array([1.0, 0.0])


def _wishes(chain: PlanarChain, spot: FloatArray, keep_shape: bool) -> FloatArray:
    """Radius wished for each point: as far from the base as the target, or as it is now."""
    if keep_shape:
        now: FloatArray = np.linalg.norm(chain.points[:-1], axis=1)
        return now
    return np.full(len(chain.places), float(np.linalg.norm(spot)))


def _sides(chain: PlanarChain) -> FloatArray:
    """On which side of the line from the base to the next point each point is now."""
    x, y = chain.points.T
    across = x[1:] * y[:-1] - y[1:] * x[:-1]
    return np.where(across < 0.0, -1.0, 1.0)


def _status(error: float, placed: _Placed, settings: Settings) -> ChainStatus:
    if error <= settings.tolerance:
        return "solved"
    return "stalled" if placed.inside else "unreachable"
