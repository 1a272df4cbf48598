"""The paper's method, for comparison: inverse kinematics in maximal coordinates [Schumacher et al. 2021, IV].

Every body has a position and a rotation, every hinge is five constraints, and each step solves one sparse system for
all of them and the multipliers:

    ┌ H  Jᵀ ┐ ┌ d ┐   ┌ -g ┐
    └ J  -δ ┘ └ λ ┘ = └ -c ┘        δ for the constraints that are redundant

with H from the rows of the objectives plus a small multiple of the identity, the state regulariser. Steps are not
shortened, because the targets here are within reach. Arrays cover all hinges at once, so that numpy and SuperLU do most
of the work.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csc_matrix
from scipy.sparse.linalg import splu
from scipy.spatial.transform import Rotation

import poise
from poise import Posture
from poise.figure.assembly.closure_arrays import across

Array = np.ndarray
REGULARISER, PROXIMAL = 1e-6, 1e-9
LENGTH = 0.08
"""What a direction counts for in a constraint [m]."""
DONE, STEPS = 1e-8, 30


class MaximalCoordinates:
    """A figure of hinges with a floating root, and sites with targets."""

    def __init__(self, figure: poise.Figure, sites: list[str]) -> None:
        hinges = [joint for joint in (*figure.joints, *figure.loops) if joint.kind == "revolute"]
        if len(hinges) < len(figure.joints) + len(figure.loops) - 1:
            raise ValueError("hinges and one free joint only.")
        index = {body.name: i for i, body in enumerate(figure.bodies)}
        ends = [[(j.parent, j.parent_frame), (j.child, j.child_frame)] for j in hinges]
        self.a, self.b = (np.array([index[end[k][0]] for end in ends]) for k in range(2))
        self.at_a, self.at_b = (np.array([end[k][1].position for end in ends]) for k in range(2))
        axes = [np.array(j.axes[0]) for j in hinges]
        self.u = np.array([end[0][1].matrix @ axis for end, axis in zip(ends, axes, strict=True)])
        normals = [[end[1][1].matrix @ n for n in across([axis])] for end, axis in zip(ends, axes, strict=True)]
        self.v = np.array(normals)
        self.sites = [(index[figure.sites[s].body], figure.sites[s].pose) for s in sites]
        self.figure, self.n = figure, len(index)
        self._lay_out()

    def _lay_out(self) -> None:
        """Rows and columns of the entries of J, in the order in which `_constraints` writes them."""
        m = len(self.a)
        row = 5 * np.arange(m)[:, None, None] + np.arange(5)[None, :, None] + np.zeros((1, 1, 12), dtype=int)
        six = np.arange(6)
        columns = np.concatenate([6 * self.a[:, None] + six, 6 * self.b[:, None] + six], axis=1)
        self.row, self.column = row.ravel(), np.broadcast_to(columns[:, None, :], row.shape).ravel()

    def begin(self, posture: Posture) -> None:
        """Set all bodies to their poses in a posture."""
        frames = self.figure.frames(posture)
        self.place, self.turn = frames.position[: self.n].copy(), _matrices(frames.rotation[: self.n])

    def gap(self) -> float:
        """Largest residual of a hinge [m]."""
        return float(np.abs(self._constraints()[0]).max())

    def site(self, k: int) -> tuple[Array, Array]:
        """Position and rotation of a site."""
        body, pose = self.sites[k]
        return self.place[body] + self.turn[body] @ pose.position, self.turn[body] @ pose.matrix

    def solve(self, targets: list[tuple[Array, Array]]) -> int:
        """Move all bodies until the sites reach their targets; returns the number of steps."""
        size, rows = 6 * self.n, 5 * len(self.a)
        for step in range(STEPS):
            c, entries = self._constraints()
            h, g = self._objective(targets)
            near = np.arange(size)
            data = [np.full(size, REGULARISER), h[2], entries, entries, np.full(rows, -PROXIMAL)]
            below = size + np.arange(rows)
            i = np.concatenate([near, h[0], size + self.row, self.column, below])
            j = np.concatenate([near, h[1], self.column, size + self.row, below])
            kkt = csc_matrix((np.concatenate(data), (i, j)), shape=(size + rows, size + rows))
            d = splu(kkt).solve(np.concatenate([-g, -c]))[:size].reshape(-1, 6)
            self.place += d[:, :3]
            self.turn = Rotation.from_rotvec(d[:, 3:]).as_matrix() @ self.turn
            if np.abs(d).max() < DONE:
                return step + 1
        return STEPS

    def _constraints(self) -> tuple[Array, Array]:
        """Residuals of the hinges, and the entries of their derivatives."""
        turn_a, turn_b, m = self.turn[self.a], self.turn[self.b], len(self.a)
        arm_a, arm_b = (np.einsum("kij,kj->ki", t, p) for t, p in ((turn_a, self.at_a), (turn_b, self.at_b)))
        u, v = np.einsum("kij,kj->ki", turn_a, self.u), np.einsum("kij,kaj->kai", turn_b, self.v)
        c, entries = np.zeros((m, 5)), np.zeros((m, 5, 12))
        c[:, :3] = self.place[self.a] + arm_a - self.place[self.b] - arm_b
        c[:, 3:] = LENGTH * np.einsum("ki,kai->ka", u, v)
        entries[:, :3, 0:3], entries[:, :3, 3:6] = np.eye(3), -_cross(arm_a)
        entries[:, :3, 6:9], entries[:, :3, 9:12] = -np.eye(3), _cross(arm_b)
        lever = LENGTH * np.cross(u[:, None, :], v)
        entries[:, 3:, 3:6], entries[:, 3:, 9:12] = lever, -lever
        return c.ravel(), entries.ravel()

    def _objective(self, targets: list[tuple[Array, Array]]) -> tuple[tuple[Array, Array, Array], Array]:
        """Rows of the sites squared, as a sparse matrix, and the gradient."""
        i, j, data, g = [], [], [], np.zeros(6 * self.n)
        for k, (position, matrix) in enumerate(targets):
            body, pose = self.sites[k]
            at, turn = self.site(k)
            rows = np.eye(6)
            rows[:3, 3:] = -_cross((self.turn[body] @ pose.position)[None])[0]
            error = np.concatenate([at - position, Rotation.from_matrix(turn @ matrix.T).as_rotvec()])
            at_body = 6 * body + np.arange(6)
            g[at_body] += rows.T @ error
            i.append(np.repeat(at_body, 6))
            j.append(np.tile(at_body, 6))
            data.append((rows.T @ rows).ravel())
        return (np.concatenate(i), np.concatenate(j), np.concatenate(data)), g


def _cross(v: Array) -> Array:
    out = np.zeros((len(v), 3, 3))
    out[:, 0, 1], out[:, 0, 2], out[:, 1, 2] = -v[:, 2], v[:, 1], -v[:, 0]
    return out - np.swapaxes(out, 1, 2)


def _matrices(quaternions: Array) -> Array:
    matrices: Array = Rotation.from_quat(quaternions, scalar_first=True).as_matrix()
    return matrices
