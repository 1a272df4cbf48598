"""Mechanisms in maximal coordinates, as [Schumacher et al. 2021] solve them: every body free, every joint a constraint.

Nothing here knows of trees, reduced coordinates or poise's kernels: bodies are positions and rotation matrices, joints
are what they forbid, and scipy solves for the zeros.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from scipy.linalg import lstsq
from scipy.spatial.transform import Rotation

from poise.figure import Figure, Joint, Posture

Array = np.ndarray


class Maximal:
    """One mechanism; its unknowns are a shift and a turn for every body that moves."""

    def __init__(self, figure: Figure) -> None:
        self.figure = figure
        fixed = {body for body, joint in figure.tree_order if joint is None}
        self.moving = [body.name for body in figure.bodies if body.name not in fixed]
        self.column = {name: 6 * i for i, name in enumerate(self.moving)}
        self.joints = [*figure.joints, *figure.loops]

    def poses(self, posture: Posture) -> dict[str, tuple[Array, Array]]:
        """Where all bodies are in a posture."""
        frames = self.figure.frames(posture)
        turns = Rotation.from_quat(frames.rotation, scalar_first=True).as_matrix()
        return {body.name: (frames.position[i], turns[i]) for i, body in enumerate(self.figure.bodies)}

    def solve(
        self, start: dict[str, tuple[Array, Array]], motors: Mapping[str, float]
    ) -> tuple[dict[str, tuple[Array, Array]], float]:
        """Bodies with all joints closed and motors at their values, from `start`; and the largest residual."""
        poses = start
        for _ in range(20):
            gap = np.concatenate([self._rows(joint, poses, motors) for joint in self.joints])
            if np.abs(gap).max() < 1e-12:
                break
            step = lstsq(self._jacobian(poses, motors), -gap, cond=1e-9)[0]
            poses = self._moved(poses, step * min(1.0, 0.2 / np.abs(step).max()))
        return poses, float(np.abs(gap).max())

    def _jacobian(self, poses: dict[str, tuple[Array, Array]], motors: Mapping[str, float], h: float = 1e-6) -> Array:
        """By central differences, for each joint over the two bodies it joins."""
        blocks = []
        for joint in self.joints:
            block = np.zeros((len(self._rows(joint, poses, motors)), 6 * len(self.moving)))
            both = [body for body in (joint.parent, joint.child) if body in self.column]
            for k in [self.column[body] + i for body in both for i in range(6)]:
                nudge = np.zeros(6 * len(self.moving))
                nudge[k] = h
                ahead, behind = (self._rows(joint, self._moved(poses, s * nudge, both), motors) for s in (1, -1))
                block[:, k] = (ahead - behind) / (2.0 * h)
            blocks.append(block)
        return np.vstack(blocks)

    def _moved(
        self, start: dict[str, tuple[Array, Array]], x: Array, only: Iterable[str] | None = None
    ) -> dict[str, tuple[Array, Array]]:
        """Every body, or some only, shifted and turned."""
        moved = dict(start)
        for name in self.column if only is None else only:
            k = self.column[name]
            position, matrix = start[name]
            moved[name] = (position + x[k : k + 3], Rotation.from_rotvec(x[k + 3 : k + 6]).as_matrix() @ matrix)
        return moved

    def _rows(self, joint: Joint, poses: dict[str, tuple[Array, Array]], motors: Mapping[str, float]) -> Array:
        """What a joint forbids: offsets across its slides, rotations across its turns, and its motor's error."""
        p0, R0 = self._frame(joint.parent, joint.parent_frame, poses)
        p1, R1 = self._frame(joint.child, joint.child_frame, poses)
        if joint.reversed:
            p0, R0, p1, R1 = p1, R1, p0, R0
        offset, turn = R0.T @ (p1 - p0), R0.T @ R1
        has_axes = joint.kind not in ("ball", "free")
        kinds = list(zip(joint.primitives, map(np.array, joint.axes), strict=True)) if has_axes else []
        slides, turns = ([axis for kind, axis in kinds if kind == wanted] for wanted in ("slide", "turn"))
        rows = [_across(slides) @ (turn.T @ offset if joint.kind == "cylindrical" else offset)]
        if has_axes:
            rows.append(_turn_rows(turns, turn))
        if joint.name in motors:
            value = motors[joint.name]
            if joint.kind == "prismatic":
                rows.append(np.array([slides[0] @ offset - value]))
            else:
                left = Rotation.from_rotvec(-value * turns[0]).as_matrix() @ turn
                rows.append(np.array([_spin(left, turns[0])]))
        return np.concatenate(rows)

    def _frame(self, body: str | None, frame: object, poses: dict[str, tuple[Array, Array]]) -> tuple[Array, Array]:
        if body is None:
            place = self.figure.placement
            position, matrix = place.position, place.matrix
        else:
            position, matrix = poses[body]
        return position + matrix @ frame.position, matrix @ frame.matrix


def _spin(matrix: Array, axis: Array) -> float:
    """Sine of the turn about an axis."""
    return 0.5 * float(axis @ [matrix[2, 1] - matrix[1, 2], matrix[0, 2] - matrix[2, 0], matrix[1, 0] - matrix[0, 1]])


def _across(axes: list[Array]) -> Array:
    if not axes:
        return np.eye(3)
    _, sizes, rows = np.linalg.svd(np.array(axes))
    return rows[int((sizes > 1e-9).sum()) :]


def _turn_rows(turns: list[Array], turn: Array) -> Array:
    if len(turns) == 2:
        return np.array([turns[0] @ turn @ turns[1] - turns[0] @ turns[1]])
    if len(turns) == 1:
        return _across(turns) @ turn @ turns[0]
    return Rotation.from_matrix(turn).as_rotvec()
