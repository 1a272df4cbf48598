"""The points of a figure that FABRIK moves: joints that are free to, and the end-points."""

from __future__ import annotations

import weakref
from typing import NamedTuple

import numpy as np

from poise.chains.options import Settings, refuse_coupling
from poise.errors import TaskError
from poise.figure.model.figure import Figure
from poise.figure.model.path import find_paths
from poise.figure.model.pose import FloatArray
from poise.kernels.body.queries import node_frames
from poise.kernels.body.tree import SLIDE, TURN, Tree
from poise.kernels.chains.fabrik import Points
from poise.kernels.reach.path import Path, flatten

ON_AXIS = 1e-9
"""A point nearer to an axis than this is not moved by turning about it [m]."""


class PreparedPoints(NamedTuple):
    """What solves of the same end-points share."""

    integers: np.ndarray
    numbers: np.ndarray
    points: Points


_prepared: dict[tuple[int, tuple[str, ...], frozenset[str], bool], tuple[PreparedPoints, FloatArray]] = {}


def prepared_points(figure: Figure, tips: tuple[str, ...], settings: Settings) -> PreparedPoints:
    """The points that move some end-points, kept as long as the figure lives and held joints stay where they are."""
    key = (id(figure), tips, settings.held, settings.limits)
    held = np.concatenate([np.empty(0), *(settings.start.q[figure.q_slice(name)] for name in sorted(settings.held))])
    if key in _prepared and np.array_equal(_prepared[key][1], held):
        return _prepared[key][0]
    path, carriers = find_paths(figure, tips, settings.held, solver=settings.solver, limits=settings.limits)
    _check(figure, path, tips, settings.solver)
    points = _points(figure, path, carriers, tips, settings)
    integers, numbers = flatten(path)
    if key not in _prepared:
        weakref.finalize(figure, _prepared.pop, key, None)
    _prepared[key] = PreparedPoints(integers, numbers, points), held
    return _prepared[key][0]


def _check(figure: Figure, path: Path, tips: tuple[str, ...], solver: str) -> None:
    if path.couplings.size:
        refuse_coupling(solver, figure, list(figure.couplings)[int(path.couplings[0])].name)
    if path.dof_held.all():
        raise TaskError(f"{solver} cannot move {tips[0]!r} of figure {figure.name!r}: no joint on the way may move.")
    moving = path.tree.dof_node[path.dof_held == 0]
    sliding = [int(path.tree.q_start[node]) for node in moving if path.tree.kind[node] == SLIDE]
    if sliding:
        name = next(n for n, place in figure.compiled.q_slices.items() if place.start <= sliding[0] < place.stop)
        raise TaskError(
            f"{solver} moves points at fixed distances from each other, and joint {name!r} of figure {figure.name!r} "
            f"slides: hold it with hold=[{name!r}], or use another solver."
        )


def _points(figure: Figure, path: Path, carriers: np.ndarray, tips: tuple[str, ...], settings: Settings) -> Points:
    tree, limits, q = path.tree, settings.limits, settings.start.q.copy()
    joints = sorted({int(node) for node in tree.dof_node[path.dof_held == 0]})
    index = np.full(len(tree.parent), -1, dtype=np.int64)
    index[joints] = np.arange(len(joints))
    sites = np.array([figure.compiled.attached.position[figure.frame_row(tip)] for tip in tips])
    node = np.array([*joints, *carriers], dtype=np.int64)
    place = np.vstack([np.zeros((len(joints), 3)), sites])
    parent = np.array(
        [*(_above(tree, index, int(tree.parent[i])) for i in joints), *(_above(tree, index, int(i)) for i in carriers)],
        dtype=np.int64,
    )
    # In a posture like no other, a point is on an axis only when it always is.
    q[path.moving_q] = figure.random(0).q[path.moving_q]
    position, rotation, axes = node_frames(tree, q)
    there = np.array([position[n] + _rotated(rotation[n], p) for n, p in zip(node, place, strict=True)])
    span = np.array([np.linalg.norm(there[i] - there[k]) if k >= 0 else 0.0 for i, k in enumerate(parent)])
    turning = [axes[tree.v_start[i]] if tree.kind[i] == TURN else None for i in joints]
    levers = [_levers(k, parent, there, axis) for k, axis in enumerate(turning)]
    if _points_may_lie(turning, limits):
        for k, axis in enumerate(turning):
            beyond = [end for end in range(len(joints), len(node)) if end not in levers[k]]
            levers[k] += [e for e in beyond if _hangs(e, k, parent) and _moves(there[e] - there[k], axis)]
    return Points(
        node,
        place,
        parent,
        span,
        index,
        np.cumsum([0, *(len(found) for found in levers), *(0 for _ in tips)]).astype(np.int64),
        np.array([point for found in levers for point in found], dtype=np.int64),
    )


def _above(tree: Tree, index: np.ndarray, node: int) -> int:
    """The point of the nearest node, from `node` towards the root, that moves by itself; -1 without one."""
    while node > 0 and index[node] < 0:
        node = int(tree.parent[node])
    return int(index[node]) if node > 0 else -1


def _levers(joint: int, parent: np.ndarray, there: FloatArray, axis: FloatArray | None) -> list[int]:
    """The first points down every branch that turning a joint moves."""
    found, waiting = [], np.flatnonzero(parent == joint).tolist()
    while waiting:
        point = waiting.pop(0)
        if _moves(there[point] - there[joint], axis):
            found.append(point)
        else:
            waiting += np.flatnonzero(parent == point).tolist()
    return found


def _hangs(point: int, joint: int, parent: np.ndarray) -> bool:
    """Whether a joint carries a point."""
    while point >= 0 and point != joint:
        point = int(parent[point])
    return point == joint


def _points_may_lie(axes: list[FloatArray | None], limits: bool) -> bool:
    """Whether joints cannot follow wherever points go, as balls alone can and parallel hinges without limits."""
    hinges = [axis for axis in axes if axis is not None]
    if not hinges:
        return False
    parallel = all(abs(abs(axis @ hinges[0]) - 1.0) < ON_AXIS for axis in hinges)
    return limits or len(hinges) < len(axes) or not parallel


def _moves(arm: FloatArray, axis: FloatArray | None) -> bool:
    """Whether a turn about an axis, or about a point, moves what is at the end of an arm."""
    return bool(np.linalg.norm(np.cross(axis, arm) if axis is not None else arm) > ON_AXIS)


def _rotated(rotation: FloatArray, v: FloatArray) -> FloatArray:
    w, u = rotation[0], rotation[1:]
    turned: FloatArray = v + 2.0 * w * np.cross(u, v) + 2.0 * np.cross(u, np.cross(u, v))
    return turned
