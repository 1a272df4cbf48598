"""The points of a figure that FABRIK moves: the joints that may move, and the end-points."""

from __future__ import annotations

import weakref
from typing import NamedTuple

import numpy as np

from poise.chains.options import Settings, raise_coupling_error
from poise.errors import TaskError
from poise.figure.model.figure import Figure
from poise.figure.model.path import find_paths
from poise.figure.model.pose import FloatArray
from poise.kernels.body.queries import node_frames
from poise.kernels.body.tree import SLIDE, TURN, Tree
from poise.kernels.chains.fabrik import Points
from poise.kernels.reach.path import Path, PathMemory, store_path

ON_AXIS = 1e-9
"""A point within this distance of an axis is not moved by a turn about it [m]."""


class StoredPoints(NamedTuple):
    """Arrays that all solves with the same end-points share."""

    memory: PathMemory
    """The tree and its limits, for the kernels."""
    points: Points
    """The moving joints and end-points."""


_packed: dict[tuple[int, tuple[str, ...], frozenset[str], bool], tuple[StoredPoints, FloatArray]] = {}


def stored_points(figure: Figure, tips: tuple[str, ...], settings: Settings) -> StoredPoints:
    """The points of all joints that move the end-points `tips`; cached per figure and per values of the held joints."""
    key = (id(figure), tips, settings.held, settings.limits)
    held = np.concatenate([np.empty(0), *(settings.start.q[figure.q_slice(name)] for name in sorted(settings.held))])
    if key in _packed and np.array_equal(_packed[key][1], held):
        return _packed[key][0]
    path, carriers = find_paths(figure, tips, settings.held, solver=settings.solver, limits=settings.limits)
    _check(figure, path, tips, settings.solver)
    points = _points(figure, path, carriers, tips, settings)
    if key not in _packed:
        weakref.finalize(figure, _packed.pop, key, None)
    _packed[key] = StoredPoints(store_path(path), points), held
    return _packed[key][0]


def _check(figure: Figure, path: Path, tips: tuple[str, ...], solver: str) -> None:
    if path.couplings.size:
        raise_coupling_error(solver, figure, list(figure.couplings)[int(path.couplings[0])].name)
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
    """The points of the moving joints and end-points, and the points to which each joint is fitted."""
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
    # In a random posture, a point is on an axis only if it is on that axis in every posture.
    q[path.moving_q] = figure.random(0).q[path.moving_q]
    position, rotation, axes = node_frames(tree, q)
    there = np.array([position[n] + _rotated(rotation[n], p) for n, p in zip(node, place, strict=True)])
    span = np.array([np.linalg.norm(there[i] - there[k]) if k >= 0 else 0.0 for i, k in enumerate(parent)])
    turning = [axes[tree.v_start[i]] if tree.kind[i] == TURN else None for i in joints]
    levers = [_levers(k, parent, there, axis) for k, axis in enumerate(turning)]
    if _needs_end_points(turning, limits):
        for k, axis in enumerate(turning):
            beyond = [end for end in range(len(joints), len(node)) if end not in levers[k]]
            levers[k] += [e for e in beyond if _carries(e, k, parent) and _moves(there[e] - there[k], axis)]
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
    """The point of the nearest node, from `node` towards the root, that has a moving joint; -1 without one."""
    while node > 0 and index[node] < 0:
        node = int(tree.parent[node])
    return int(index[node]) if node > 0 else -1


def _levers(joint: int, parent: np.ndarray, there: FloatArray, axis: FloatArray | None) -> list[int]:
    """The nearest point on every branch after the joint that a turn of the joint moves."""
    found, waiting = [], np.flatnonzero(parent == joint).tolist()
    while waiting:
        point = waiting.pop(0)
        if _moves(there[point] - there[joint], axis):
            found.append(point)
        else:
            waiting += np.flatnonzero(parent == point).tolist()
    return found


def _carries(point: int, joint: int, parent: np.ndarray) -> bool:
    """Whether a point is a descendant of a joint."""
    while point >= 0 and point != joint:
        point = int(parent[point])
    return point == joint


def _needs_end_points(axes: list[FloatArray | None], limits: bool) -> bool:
    """Whether FABRIK can move points to where the joints cannot: joints are then fitted to the end-points as well.

    If all joints are balls, or parallel hinges without limits, they can follow the points everywhere.
    """
    hinges = [axis for axis in axes if axis is not None]
    if not hinges:
        return False
    parallel = all(abs(abs(axis @ hinges[0]) - 1.0) < ON_AXIS for axis in hinges)
    return limits or len(hinges) < len(axes) or not parallel


def _moves(arm: FloatArray, axis: FloatArray | None) -> bool:
    """Whether a turn about an axis, or about a point if `axis` is None, moves the end of an arm."""
    return bool(np.linalg.norm(np.cross(axis, arm) if axis is not None else arm) > ON_AXIS)


def _rotated(rotation: FloatArray, v: FloatArray) -> FloatArray:
    """The vector `v` rotated by a quaternion."""
    w, u = rotation[0], rotation[1:]
    turned: FloatArray = v + 2.0 * w * np.cross(u, v) + 2.0 * np.cross(u, np.cross(u, v))
    return turned
