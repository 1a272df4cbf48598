"""The least wrench that is missing for balance, where no forces of the ground can balance a figure.

Let b(q) be the load, the negative net force and moment of weight and pushes, and A(q) f the wrench of contact forces f
inside their friction cones K. The missing wrench is the residual of the best contact forces,

    r = b - A f,   f = argmin |b - A f| over K.

Moments are about the middle of the contacts, and are divided by a fixed length to compare them with forces. Since r is
orthogonal to A f and to every motion of f along the cones, the derivative of its size is that with f fixed,

    d ½ |r|² = rᵀ (db - dA f).

A figure that follows it leans into its pushes as far as that helps. Some changes of the load are balanced by other
forces and leave r as it is: those in the null space of 1 - P', with P' the derivative of the projection b → A f.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture
from poise.forces.acting import Acting
from poise.forces.reactions import Ground
from poise.kernels.body.queries import node_frames
from poise.kernels.forces.friction import forces_in_cones
from poise.kernels.forces.statics import net_wrench
from poise.kernels.maths.quaternion import Quaternion, rotate
from poise.kernels.maths.vector import Vector

DIFFERENCE = 1e-6
"""Half the width of the central differences for the projection, as a share of the weight."""
ABSORBED = 0.01
"""Sensitivity of the missing wrench to a moment, below which other contact forces compensate the moment."""


class MissingWrench(NamedTuple):
    """The wrench that the contact forces lack for balance."""

    force: FloatArray
    """(3,) the missing force [N]."""
    moment: FloatArray
    """(3,) the missing moment about the middle of the contacts [N m]."""
    error: FloatArray
    """(6,) the same divided by the weight, the force times the length by which moments were divided [m]."""


class Balancing:
    """The contact forces that balance a figure best in one posture."""

    def __init__(self, acting: Acting, posture: Posture, length: float) -> None:
        """Find them; moments are divided by `length` [m]."""
        self.acting, self.posture, self.length = acting, posture, length
        self.ground = Ground(acting.figure, posture, acting)
        holds, ground = self.ground.footholds, self.ground
        self.points = np.array(
            [ground.position[n] + _turned(ground.rotation[n], p) for n, p in zip(holds.node, holds.point, strict=True)]
        )
        self.middle = self.points.mean(axis=0)
        self.weight = float(np.linalg.norm(acting.weight))
        net, moment = net_wrench(
            ground.tree,
            ground.position,
            ground.rotation,
            Vector(*ground.center.tolist()),
            ground.table,
            acting.gravity,
            Vector(*self.middle.tolist()),
        )
        self.load = -np.array([*net, *(np.array(moment) / length)]) / self.weight
        self._map = _wrenches_of((self.points - self.middle) / length)
        self.forces, self.rest = self._balanced(self.load)

    def _balanced(self, load: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(c, 3) the best contact forces for a load (6,), and (6,) what they leave."""
        holds = self.ground.footholds
        forces, rest = np.empty((len(holds.node), 3)), np.empty(6)
        forces_in_cones(self._map, load, holds.normal, holds.friction, forces, rest)
        return forces, rest

    @property
    def missing(self) -> MissingWrench:
        """What they leave."""
        force = self.weight * self.rest[:3]
        return MissingWrench(force, self.weight * self.length * self.rest[3:], self.length * self.rest)

    def moment_axes(self) -> FloatArray:
        """(3, 3) orthonormal axes of moments; zero for those that other contact forces compensate."""
        changes = []
        for nudge in DIFFERENCE * np.eye(6)[3:]:
            changes.append(self._balanced(self.load + nudge)[1] - self._balanced(self.load - nudge)[1])
        _, sizes, axes = np.linalg.svd(np.array(changes).T / (2.0 * DIFFERENCE))
        kept: FloatArray = axes * (sizes > ABSORBED)[:, None]
        return kept

    def force_jacobian(self) -> FloatArray:
        """(3, nv) derivative of the force part of `error`, with the contact forces fixed: pushes turn with bodies."""
        figure, given, tree = self.acting.figure, self.ground.table, self.ground.tree
        rows = np.zeros((3, figure.nv))
        if given.local.any():
            _, rotation, axes = node_frames(tree, self.posture._q)
            for i in np.flatnonzero(given.local):
                force, node = _turned(rotation[given.node[i]], given.force[i]), int(given.node[i])
                while node > 0:
                    for k in range(tree.v_start[node], tree.v_start[node] + tree.v_count[node]):
                        rows[:, k] += np.cross(axes[k], force) * tree.dof_turns[k]
                    node = int(tree.parent[node])
        return -self.length * rows / self.weight


def typical_length(acting: Acting) -> float:
    """Length by which moments are divided: from the contacts to the centre of mass in the neutral posture [m]."""
    return Ground(acting.figure, acting.figure.neutral(), acting).react(shared=False)[1]


def _turned(rotation: FloatArray, vector: FloatArray) -> FloatArray:
    """(3,) a vector turned by a rotation (4,)."""
    return np.array(rotate(Quaternion(*rotation.tolist()), Vector(*vector.tolist())))


def _wrenches_of(levers: FloatArray) -> FloatArray:
    """(6, 3 c) the map from forces at points (c, 3) to their sum and their moment."""
    blocks = []
    for x, y, z in levers:
        blocks.append(np.vstack([np.eye(3), [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]]))
    return np.ascontiguousarray(np.hstack(blocks))
