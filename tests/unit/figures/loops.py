"""Loop closure by finite differences, independent of any solver."""

import numpy as np

from poise.figure import Figure, Joint, Posture
from poise.figure.model.pose import FloatArray, Pose


def residual(figure: Figure, posture: Posture) -> FloatArray:
    """What keeps every loop joint from being closed, stacked."""
    frames = figure.frames(posture)

    def body(name: str | None) -> Pose:
        if name is None:
            return figure.placement
        row = figure.bodies.index(name)
        return Pose(frames.position[row], frames.rotation[row])

    rows = [np.zeros(0)]
    for loop in figure.loops:
        gap = (body(loop.parent) @ loop.parent_frame).inverse() @ body(loop.child) @ loop.child_frame
        rows += [_position_rows(loop, gap), _rotation_rows(loop, gap)]
    return np.concatenate(rows)


def _axes(loop: Joint, primitive: str) -> list[FloatArray]:
    if loop.kind in ("ball", "free"):
        return []
    return [np.array(axis) for kind, axis in zip(loop.primitives, loop.axes, strict=True) if kind == primitive]


def _across(axes: list[FloatArray]) -> FloatArray:
    """Directions orthogonal to all axes, as rows."""
    if not axes:
        return np.eye(3)
    _, sizes, rows = np.linalg.svd(np.array(axes))
    return rows[int((sizes > 1e-9).sum()) :]


def _position_rows(loop: Joint, gap: Pose) -> FloatArray:
    return _across(_axes(loop, "slide")) @ gap.position


def _rotation_rows(loop: Joint, gap: Pose) -> FloatArray:
    turns = _axes(loop, "turn")
    if loop.kind == "ball":
        return np.zeros(0)
    if not turns:
        return 2.0 * gap.rotation[1:] * np.sign(gap.rotation[0])
    if len(turns) == 1:
        return _across(turns) @ gap.matrix @ turns[0]
    return np.array([turns[0] @ gap.matrix @ turns[1] - turns[0] @ turns[1]])


def closure_jacobian(figure: Figure, posture: Posture, step: float = 1e-6) -> FloatArray:
    """(rows, nv) by central differences."""
    columns = []
    for k in range(figure.nv):
        nudge = np.zeros(figure.nv)
        nudge[k] = step
        ahead, behind = (residual(figure, figure.integrate(posture, s * nudge)) for s in (1.0, -1.0))
        columns.append((ahead - behind) / (2.0 * step))
    return np.array(columns).T


def mobility(figure: Figure, posture: Posture) -> int:
    """Degrees of freedom of the closed mechanism."""
    sizes = np.linalg.svd(closure_jacobian(figure, posture), compute_uv=False)
    return figure.nv - int((sizes > 1e-6).sum())


def assembled(figure: Figure, start: Posture, motors: dict[str, float]) -> Posture | None:
    """The closed posture with motors at these values that Newton's method finds from `start`, if any."""
    posture = start.changed(dict(motors))
    driven = [figure.v_slice(name).start for name in motors]
    follow = [k for k in range(figure.nv) if k not in driven]
    for _ in range(40):
        gap = residual(figure, posture)
        if np.abs(gap).max() < 1e-13:
            return posture
        step = np.zeros(figure.nv)
        step[follow] = -np.linalg.lstsq(closure_jacobian(figure, posture)[:, follow], gap, rcond=1e-9)[0]
        posture = figure.integrate(posture, step * min(1.0, 0.3 / np.abs(step).max()))
    return None


def driven_to(figure: Figure, motors: dict[str, float], steps: int) -> list[Posture | None]:
    """Closed postures on the way from neutral to these motor values; ends with None where it cannot be assembled."""
    path: list[Posture | None] = [figure.neutral()]
    for k in range(1, steps + 1):
        last = path[-1]
        assert last is not None
        path.append(assembled(figure, last, {name: value * k / steps for name, value in motors.items()}))
        if path[-1] is None:
            break
    return path
