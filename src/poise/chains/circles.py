"""Intersection of circles: see `poise.kernels.chains.circles` for the method, and `.plane` for the joints it moves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
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
from poise.kernels.chains.circles import ARC, KEEP_DISTANCES, KEEP_HEADINGS
from poise.kernels.chains.circles_figure import Placed, circles_figure
from poise.kernels.chains.circles_figure import circle_zones as circle_zones_kernel
from poise.kernels.maths.vector import Vector

SHARED_ROUNDS = 50
"""Largest number of rounds in which end-points that share joints are placed, unless more are asked for."""
KEEPS = {"directions": KEEP_HEADINGS, "distances": KEEP_DISTANCES, "arc": ARC}
"""The kernel's `preferred_radius` for each value of `keep`."""


def circles(
    figure: Figure,
    target: TargetLike | Mapping[str, TargetLike],
    *,
    keep: Literal["directions", "distances", "arc"] | None = None,
    **options: Unpack[Options],
) -> ChainResult:
    """Solve a planar chain in closed form: each joint is placed once, on an intersection of two circles.

    Moves the largest group of parallel hinges between the root and the tip, in any plane, and the hinge
    before them that turns the plane. A chain of n points, end-point included, takes exactly n - 2 placements unless a
    limit forbids them; `iterations` of the result counts placements. If the target is nearer to the base or farther
    from it than the links can reach (outside the safe zones), the tip goes to the nearest distance that they can reach.

    Args:
        figure: The figure to solve for.
        target: A position (3,) [m]; or positions by site. End-points that share joints are placed together: the shared
            joints go to the mean of what each end-point would need, then each branch is placed from there, and the
            shared joints follow what is missing, until all end-points are placed or nothing improves.
        keep: The property of `start` that the chain keeps where possible, so that a small change of the target is a
            small change of the posture: the "directions" of its links, which leaves the change to the first two links
            and suits limbs, or the "distances" of its joints from the base, which distributes the change and suits long
            chains. "arc" puts all joints on one arc from the base to the target, on which links never cross, as far as
            limits allow it. By default, as in the paper, joints are as far from the base as the target if links allow.
        **options: See `Options`. A trace has the posture after each end-point.
    """
    if keep not in (None, *KEEPS):
        raise TaskError(f"circles can keep 'directions', 'distances' or an 'arc', not {keep!r}.")
    preferred_radius = 0.0 if keep is None else KEEPS[keep]
    settings = check_options("circles", figure, options, 1)
    targets = positions_by_tip("circles", figure, target, settings.tip)
    q, taken, rows = settings.start._q, set[int](), []
    placements, errors, status = 0, dict[str, float](), list[ChainStatus]()
    shared: set[int] = set()
    for tip, place in targets.items():
        q, placed, moves = _place(figure, tip, place, settings, begin=q, preferred_radius=preferred_radius)
        shared |= taken & set(moves)
        taken |= set(moves)
        rows.append(q)
        placements += placed.placements
        errors[tip] = placed.error
        status.append(_status(placed, settings))
    if shared:
        joints = {name for name, where in figure.compiled.q_slices.items() if where.start in shared}
        return _place_together(figure, targets, settings, joints, preferred_radius)
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


def _place_together(
    figure: Figure,
    targets: Mapping[str, FloatArray],
    settings: Settings,
    shared: set[str],
    preferred_radius: float,
) -> ChainResult:
    """Place end-points that share joints: the point where they part, then each branch, in turn."""
    if len(shared) < 2:
        (joint,) = shared
        raise TaskError(
            f"joint {joint!r} moves several of the end-points {', '.join(map(repr, targets))}, and circles needs two "
            "or more parallel hinges to place what they share: hold it with "
            f"hold=[{joint!r}], or use poise.chains.fabrik."
        )
    fork = _fork(figure, next(iter(targets)), shared)
    own = replace(settings, held=settings.held | shared)
    common = replace(settings, held=settings.held | ({joint.name for joint in figure.joints} - shared))
    start = settings.start._q
    alone = [
        _place(figure, tip, place, settings, begin=start, preferred_radius=preferred_radius)
        for tip, place in targets.items()
    ]
    wanted = np.mean([figure.pose_of(fork, Posture(figure, q)).position for q, _, _ in alone], axis=0)
    placements, best, rows, q = sum(placed.placements for _, placed, _ in alone), None, [], start
    for _ in range(max(settings.max_iterations, SHARED_ROUNDS)):
        q, placed, _ = _place(figure, fork, wanted, common, begin=q, preferred_radius=preferred_radius)
        placements += placed.placements
        found = {}
        for tip, place in targets.items():
            q, found[tip], _ = _place(figure, tip, place, own, begin=q, preferred_radius=preferred_radius)
            placements += found[tip].placements
        rows.append(q)
        worst = max(one.error for one in found.values())
        if best is None or worst < best[0]:
            best = worst, q, found
        posture = Posture(figure, q)
        missing = [place - figure.pose_of(tip, posture).position for tip, place in targets.items()]
        if worst <= settings.tolerance:
            break
        wanted = figure.pose_of(fork, posture).position + np.mean(missing, axis=0)
    assert best is not None
    worst, q, found = best
    status = worst_of([_status(one, settings) for one in found.values()])
    errors = {tip: one.error for tip, one in found.items()}
    trace = np.array(rows) if settings.trace else None
    return ChainResult(Posture(figure, q), status, worst, placements, trace, errors)


def _fork(figure: Figure, tip: str, shared: set[str]) -> str:
    """The body after the last shared joint on the way to a tip: its origin is where the branch begins."""
    above = {joint.child: joint for joint in figure.joints}
    body = figure.body_of(tip)
    last, here = body, above.get(body)
    while here is not None and here.name not in shared:
        last, here = here.child, above.get(here.parent or "")
    return last


def _status(placed: Placed, settings: Settings) -> ChainStatus:
    if placed.error <= settings.tolerance:
        return "solved"
    return "stalled" if placed.inside else "unreachable"
