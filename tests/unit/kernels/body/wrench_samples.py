"""Random wrenches on the nodes of figures, and derivatives by fourth-order differences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from poise.figure.model.figure import Figure
from poise.figure.model.posture import Posture
from poise.kernels.body.queries import node_frames
from poise.kernels.body.tree import add_wrench_row
from poise.kernels.maths.quaternion import quaternion_at, rotate
from poise.kernels.maths.vector import Vector, vector_at

STEP = 2e-3


@dataclass(frozen=True)
class Push:
    """A constant world force and torque on a point that moves with a node."""

    node: int
    point: Vector
    """In the node's frame [m]."""
    force: Vector
    torque: Vector


def random_pushes(figure: Figure, rng: np.random.Generator, count: int = 4) -> list[Push]:
    """Pushes on random nodes of `figure`, the world among them."""
    nodes = figure.compiled.tree.parent.shape[0]
    return [Push(int(rng.integers(nodes)), *(Vector(*rng.normal(size=3)) for _ in range(3))) for _ in range(count)]


def world_point(position: np.ndarray, rotation: np.ndarray, push: Push) -> Vector:
    """Where a push acts [m]."""
    arm = rotate(quaternion_at(rotation, push.node), push.point)
    return Vector(*(np.array(vector_at(position, push.node)) + np.array(arm)))


def generalised_force(figure: Figure, q: np.ndarray, pushes: list[Push]) -> np.ndarray:
    """Jᵀ f of all pushes (nv,)."""
    tree = figure.compiled.tree
    position, rotation, axes = node_frames(tree, q)
    out = np.zeros((1, figure.nv))
    for push in pushes:
        point = world_point(position, rotation, push)
        add_wrench_row(tree, position, axes, push.node, point, push.force, push.torque, 0, out)
    return out[0]


def slope(figure: Figure, posture: Posture, measure: Callable[[Posture], np.ndarray]) -> np.ndarray:
    """(…, nv) derivative of `measure` by fourth-order central differences."""
    columns = []
    for k in range(figure.nv):
        v = STEP * np.eye(figure.nv)[k]
        at = [measure(figure.integrate(posture, times * v)) for times in (-2.0, -1.0, 1.0, 2.0)]
        columns.append((at[0] - 8.0 * at[1] + 8.0 * at[2] - at[3]) / (12.0 * STEP))
    return np.stack(columns, axis=-1) if columns else np.zeros((*np.shape(measure(posture)), 0))


def symmetric(matrix: np.ndarray) -> np.ndarray:
    """Its symmetric part."""
    return np.asarray((matrix + matrix.T) / 2.0)
