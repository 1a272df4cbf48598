"""Reach: inverse kinematics of one limb, which brings one site to a position and rotation.

**Branches.** A limb can often bring its end near a target in several ways: with the elbow up or down, or with the
shoulder turned over. No descent leads from one to another, since all ways between them are farther from the target. So
where a task is not met, `other_branches` lets its limb reach for the target from several places of its range, with the
rest of the figure where it is. Where that ends with the site elsewhere, the limb is in another branch, from which a
solve may go on.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from poise.arguments import number, shown, whole
from poise.engine.natural.motion import limb_joints
from poise.errors import TaskError
from poise.figure.model.compiled import IntArray
from poise.figure.model.figure import Figure, PostureLike, checked_figure
from poise.figure.model.path import find_path
from poise.figure.model.pose import LARGEST, SMALLEST_QUATERNION, FloatArray
from poise.figure.model.posture import Posture, finite_range
from poise.kernels.body.clamp import clamp
from poise.kernels.reach.path import PathMemory, store_path
from poise.kernels.reach.reach import reach as reach_kernel
from poise.kernels.reach.workspace import Work, make_work
from poise.tasks.place import Frame, Position
from poise.tasks.task import Task, name_list

BRANCH_TRIES = 8
"""Number of places of its range from which a limb looks for other branches."""
APART = 2e-3
"""Distance between the places of a site from which on they belong to different branches [m]."""
_NO_PREVIOUS_POSTURE = np.empty(0)
_WORLD_ORIGIN: tuple[float, ...] = (0.0, 0.0, 0.0)
_IDENTITY_ROTATION: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0)


class ReachResult(NamedTuple):
    """The posture found by a reach, and its errors."""

    posture: Posture
    """A legal posture: the one that reaches the goal, or the nearest one found."""
    status: Literal["solved", "unreachable"]
    position_error: float
    """Distance of the site from the wanted position [m]; 0 when none was given."""
    rotation_error: float
    """Angle between the site's rotation and the wanted one [rad]; 0 when none was given."""
    restarts: int
    """Number of random starts tried."""
    iterations: int
    """Number of steps, over all starts."""


class _Prepared(NamedTuple):
    """The compiled path to one site, which is kept for later reaches."""

    path: PathMemory
    work: Work
    """Workspace; threads may share it, because a kernel runs to its end before another thread enters one."""
    neutral: FloatArray
    """(nq,) the neutral posture, clamped to the limits."""


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
    hold: str | Iterable[str] = (),
    seed: int = 0,
) -> ReachResult:
    """Put a site or body at a position, at a rotation, or both, inside all limits and couplings.

    The joints from the root to the site move, a free base among them, and so do joints that a coupling ties to those;
    all others stay as they are in `start`. The first try starts there, so a near goal is met by a near posture. A goal
    out of reach is no error: the answer is then the legal posture that brings |Δp|² + ℓ² θ² to a minimum, the best of
    all tries, with Δp the offset from the position, θ the angle from the rotation, and ℓ 0.4 times the length of the
    limb between the first joint and the site.

    Args:
        figure: The figure to pose.
        site: Name of the site or body to move.
        position: (3,) where it must be in the world [m], or None for anywhere.
        rotation: (4,) how its axes must be turned in the world, (w, x, y, z) of any length but zero, or None for any.
        start: Start posture; the neutral posture when not given. It is clamped to the limits first.
        restarts: How many random starts to try while the goal is not reached.
        tolerance: Errors of position [m] and of rotation [rad] up to which the goal counts as reached.
        hold: Joints that must stay as they are in `start`.
        seed: Seed of the random starts; the same seed gives the same bytes.

    Raises:
        FigureError: The figure has no such site or joint, or `start` is not a posture of it.
        TaskError: Neither position nor rotation is given, a number is not finite, or a joint on the way to the site is
            part of a loop.
    """
    if not isinstance(site, str):
        raise TaskError(f"reach moves one site or body, given by its name, not {shown(site)}.")
    held = frozenset(name_list(hold)) if hold else frozenset()
    prepared = _prepared.get((id(figure), site, held)) or _prepare(figure, site, held)
    if position is None and rotation is None:
        raise TaskError(f"reach needs a position, a rotation, or both for {site!r}.")
    where = _WORLD_ORIGIN if position is None else _numbers(position, 3, "position")
    turned = _IDENTITY_ROTATION if rotation is None else _unit(_numbers(rotation, 4, "rotation"))
    if type(restarts) is not int or restarts < 0:
        restarts = whole(restarts, "restarts")
    if type(tolerance) is not float or not tolerance >= 0.0:
        tolerance = number(tolerance, "the tolerance of a reach", least=0.0)
    begin = prepared.neutral if start is None else _legal(figure, start, prepared)
    q = np.empty(begin.shape[0])
    solved, off, angle, used, steps = reach_kernel(
        prepared.path,
        prepared.work,
        begin,
        (where[0], where[1], where[2], turned[0], turned[1], turned[2], turned[3]),
        (3 if position is None else 0, 3 if rotation is None else 6),
        tolerance,
        restarts,
        seed if type(seed) is int else whole(seed, "the seed"),
        q,
    )
    return ReachResult(Posture(figure, q), "solved" if solved else "unreachable", off, angle, used, steps)


def other_branches(posture: Posture, tasks: Iterable[Task]) -> Iterator[Posture]:
    """Postures with the limbs of unmet tasks in other branches, the nearest to each target first."""
    for task in tasks:
        if isinstance(task, Frame | Position) and task.joints is None and not task.soft:
            yield from _branches(posture, task)


def _branches(posture: Posture, task: Frame | Position) -> list[Posture]:
    """The branches in which the limb of a task comes to rest with its site elsewhere than in a posture."""
    figure, target = posture.figure, task.target_in(posture)
    limb = () if figure.loops else limb_joints(figure, figure.body_of(task.site))
    if not limb:
        return []
    here = figure.pose_of(task.site, posture).position
    there = here + (target.wanted - target.got)
    rotation = target.rotation if isinstance(task, Frame) else None
    hold, found, places = _all_but(figure, limb), [], [here]
    for start in _spread_over_range(posture, limb):
        tried = reach(figure, task.site, there, rotation, start, restarts=0, hold=hold)
        place = figure.pose_of(task.site, tried.posture).position
        if min(float(np.linalg.norm(place - known)) for known in places) > APART:
            places.append(place)
            found.append(tried)
    return [tried.posture for tried in sorted(found, key=lambda tried: tried.position_error)]


@lru_cache(maxsize=64)
def _all_but(figure: Figure, limb: tuple[str, ...]) -> frozenset[str]:
    """The moving joints of a figure that are not in a limb."""
    return frozenset(figure.moving_joints) - frozenset(limb)


def _spread_over_range(posture: Posture, limb: tuple[str, ...]) -> Iterator[Posture]:
    """Postures with the turns and slides of a limb anywhere in their ranges, the same ones each time."""
    at, low, high = _limb_ranges(posture.figure, limb)
    rng = np.random.default_rng(0)
    for _ in range(BRANCH_TRIES):
        q = posture._q.copy()
        q[at] = rng.uniform(low, high)
        yield Posture(posture.figure, q)


@lru_cache(maxsize=64)
def _limb_ranges(figure: Figure, limb: tuple[str, ...]) -> tuple[IntArray, FloatArray, FloatArray]:
    """(k,) indices of the turns and slides of a limb among all coordinates, and their least and greatest values."""
    joints = [joint for joint in figure.joints if joint.name in limb and joint.kind not in ("ball", "free")]
    first = {joint: figure.q_slice(joint.name).start for joint in joints}
    places = [(first[joint] + i, *finite_range(joint, i)) for joint in joints for i in range(joint.nq)]
    at, low, high = np.array(places).reshape(-1, 3).T.copy()
    return at.astype(np.int64), low, high


def _prepare(figure: Figure, site: str, held: frozenset[str]) -> _Prepared:
    """Compile the path to a site, and cache it for the lifetime of the figure."""
    path = find_path(checked_figure(figure, "reach"), site, held)
    neutral = figure.neutral().q.copy()
    clamp(figure.compiled.bounds, _NO_PREVIOUS_POSTURE, neutral)
    key = (id(figure), site, held)
    if key not in _prepared:
        weakref.finalize(figure, _prepared.pop, key, None)
    _prepared[key] = _Prepared(store_path(path), make_work(path), neutral)
    return _prepared[key]


def _legal(figure: Figure, start: PostureLike, prepared: _Prepared) -> FloatArray:
    """Joint values of `start`, clamped to the limits; the neutral ones if no posture satisfies the couplings nearby."""
    q = figure.posture(start)._q.copy()
    return q if clamp(figure.compiled.bounds, _NO_PREVIOUS_POSTURE, q) == 1 else prepared.neutral


def _numbers(value: ArrayLike, count: int, what: str) -> tuple[float, ...]:
    """Check that a position or rotation is `count` finite numbers."""
    try:
        numbers = tuple(np.asarray(value, dtype=np.float64).tolist())
        if len(numbers) == count and math.hypot(*numbers) <= LARGEST:
            return numbers
    except (TypeError, ValueError):
        pass
    raise TaskError(f"the {what} to reach must be {count} finite numbers, not {shown(value)}.")


def _unit(quaternion: tuple[float, ...]) -> tuple[float, ...]:
    """Scale a quaternion to length 1."""
    w, x, y, z = quaternion
    size = math.sqrt(w * w + x * x + y * y + z * z)
    if size < SMALLEST_QUATERNION:
        raise TaskError("the rotation to reach must not be the zero quaternion; (1, 0, 0, 0) is the identity.")
    return w / size, x / size, y / size, z / size
