"""Intersection of circles: see `poise.kernels.chains.circles` for the method, and `.plane` for the joints it moves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Unpack

import numpy as np

from poise.chains.chain import only_tip
from poise.chains.goals import TargetLike, positions_by_tip
from poise.chains.options import Options, Settings, check_options
from poise.chains.problem import stored_path
from poise.chains.result import ChainResult, ChainStatus, worst_of
from poise.errors import TaskError
from poise.figure.model.figure import Figure, PostureLike
from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture
from poise.kernels.chains.circles import KEEP_DISTANCES, KEEP_HEADINGS
from poise.kernels.chains.circles_figure import Placed, circles_figure
from poise.kernels.chains.circles_figure import circle_zones as circle_zones_kernel
from poise.kernels.maths.vector import Vector

KEEPS = {"directions": KEEP_HEADINGS, "distances": KEEP_DISTANCES}
"""The kernel's preferred radius for each value of `keep`."""


def circles(
    figure: Figure,
    target: TargetLike | Mapping[str, TargetLike],
    *,
    keep: Literal["directions", "distances"] | None = None,
    **options: Unpack[Options],
) -> ChainResult:
    """Place the joints of a planar chain on intersections of circles, each once: exact, and without iterations.

    Moves the largest group of parallel hinges between the root and the tip, in any plane, and the hinge
    before them that turns the plane. A chain of n points, end-point included, takes exactly n - 2 placements unless a
    limit forbids them. For a target outside the safe zones, the distances that the links can reach, the tip moves to
    their nearest border. Iterations are placements.

    Args:
        figure: The figure to solve for.
        target: A position (3,) [m]; or positions by site, for end-points that share no moving joint.
        keep: The property of `start` that the chain keeps where possible, so that a small change of the target is a
            small change of the posture: the "directions" of its links, which leaves the change to the first two links
            and suits limbs, or the "distances" of its joints from the base, which distributes the change and suits long
            chains. By default the paper's choice.
        **options: See `Options`. A trace has the posture after each end-point.
    """
    if keep not in (None, *KEEPS):
        raise TaskError(f"circles can keep 'directions' or 'distances', not {keep!r}.")
    preferred_radius = 0.0 if keep is None else KEEPS[keep]
    settings = check_options("circles", figure, options, 1)
    targets = positions_by_tip("circles", figure, target, settings.tip)
    q, taken, rows = settings.start._q, dict[int, str](), []
    placements, errors, status = 0, dict[str, float](), list[ChainStatus]()
    for tip, place in targets.items():
        q, placed, moves = _place(figure, tip, place, settings, begin=q, preferred_radius=preferred_radius)
        _claim_coordinates(figure, tip, moves, taken)
        rows.append(q)
        placements += placed.placements
        errors[tip] = placed.error
        status.append(_status(placed, settings))
    trace = np.array(rows) if settings.trace else None
    return ChainResult(Posture(figure, q), worst_of(status), max(errors.values()), placements, trace, errors)


def circle_zones(
    figure: Figure, tip: str | None = None, start: PostureLike | None = None, hold: tuple[str, ...] = ()
) -> tuple[float, float]:
    """Smallest and largest distance of a tip from the first hinge that the links can reach, in the plane [m].

    Args:
        figure: The figure.
        tip: A site or body; a figure that does not branch needs none.
        start: Posture of the joints that the method does not move; neutral by default.
        hold: Joints that must not move.
    """
    settings = check_options("circles", figure, {"start": start, "hold": hold, "limits": False}, 1)
    end = tip if tip is not None else only_tip(figure, "circles")
    path = stored_path(figure, end, settings)
    zones = circle_zones_kernel(path.memory, settings.start._q)
    _check_group(figure, end, zones.hinges)
    return zones.least, zones.most


def _place(
    figure: Figure, tip: str, target: FloatArray, settings: Settings, *, begin: FloatArray, preferred_radius: float
) -> tuple[FloatArray, Placed, list[int]]:
    """Place one end-point; returns joint values, the kernel's result, and the coordinates that may move."""
    path = stored_path(figure, tip, settings)
    q, moves = np.empty(figure.nq), np.zeros(figure.nq, dtype=np.int64)
    wanted = Vector(*target.tolist())
    placed = circles_figure(path.memory, begin, wanted, settings.tolerance, preferred_radius, q, moves)
    _check_group(figure, tip, placed.hinges)
    return q, placed, np.flatnonzero(moves).tolist()


def _check_group(figure: Figure, tip: str, hinges: int) -> None:
    if hinges < 2:
        raise TaskError(
            f"circles needs two or more parallel hinges that may move {tip!r} of figure {figure.name!r}, and finds "
            f"{hinges}."
        )


def _claim_coordinates(figure: Figure, tip: str, moves: list[int], taken: dict[int, str]) -> None:
    """Record which end-point moves these coordinates; raise an error if another end-point moves one of them.

    End-points are placed one after the other, so a joint that moves two of them would move the first one away again.
    """
    for place in moves:
        if place in taken:
            joint = next(name for name, where in figure.compiled.q_slices.items() if where.start <= place < where.stop)
            raise TaskError(
                f"circles places end-points one by one, and joint {joint!r} would move both {taken[place]!r} and "
                f"{tip!r}: hold it with hold=[{joint!r}], or use poise.chains.fabrik."
            )
        taken[place] = tip


def _status(placed: Placed, settings: Settings) -> ChainStatus:
    if placed.error <= settings.tolerance:
        return "solved"
    return "stalled" if placed.inside else "unreachable"
