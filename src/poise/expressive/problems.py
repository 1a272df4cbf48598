"""Convert postures and targets from the caller's form to arrays for the kernels, and check them."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike

from poise.chains.chain import Limb
from poise.chains.targets import UNIT_LENGTH_TOLERANCE, Gaze, GazeLike, gaze
from poise.errors import FigureError, TaskError
from poise.expressive.point_targets import aim_rows, tips
from poise.figure.model.figure import PostureLike
from poise.figure.model.pose import LARGEST, FloatArray
from poise.figure.model.posture import Posture
from poise.kernels.gaze.batch_arrays import BatchProblems, first_outside
from poise.kernels.gaze.measures import FULL

Postures: TypeAlias = "PostureLike | Sequence[PostureLike]"
Targets: TypeAlias = "GazeLike | Sequence[GazeLike]"

LIMIT_SLACK = 1e-9
"""A wanted posture may exceed a limit by this, as rounding does [rad]."""
_UNUSED_EYE = np.zeros(3)


def whole_postures(limb: Limb, postures: Postures) -> FloatArray:
    """(m, nq) checked postures from one posture, from a sequence of them, or from an array (m, nq)."""
    if not _are_many(postures):
        rows = limb.figure.posture(cast("PostureLike", postures)).q[None].copy()
    elif isinstance(postures, np.ndarray):
        rows = np.array(postures, dtype=np.float64)
        if rows.shape[1] != limb.figure.nq:
            raise FigureError(
                f"a posture of figure {limb.figure.name!r} has {limb.figure.nq} numbers, not {rows.shape[1]}."
            )
        _check_numbers(rows)
    else:
        rows = np.array([limb.figure.posture(posture).q for posture in cast("Sequence[PostureLike]", postures)])
    _check_limits(limb, np.ascontiguousarray(rows[:, limb.places]))
    return rows


def _check_numbers(rows: FloatArray) -> None:
    """Raise an error for the first posture with a value that is not a finite number."""
    wrong = ~(np.abs(rows) <= LARGEST).all(axis=1)
    if wrong.any():
        raise FigureError(f"posture {int(np.argmax(wrong))} has a value that is not a finite number.")


def _check_limits(limb: Limb, angles: FloatArray) -> None:
    """Raise an error for the first joint whose wanted angle is outside its limits."""
    found = first_outside(limb.chain.lower, limb.chain.upper, angles, LIMIT_SLACK)
    if found < 0:
        return
    row, k = divmod(found, angles.shape[1])
    where = f"posture {row} asks" if len(angles) > 1 else "the posture asks"
    raise FigureError(
        f"{where} joint {limb.joints[k]!r} for {angles[row, k]:.4g} rad, outside its limits "
        f"{limb.chain.lower[k]:.4g} to {limb.chain.upper[k]:.4g}; figure.clamp(posture) is inside."
    )


def write_problem(
    limb: Limb, wanted: Posture, target: Gaze, previous: PostureLike | None, problems: BatchProblems
) -> None:
    """Write one problem to row 0; the direction of a point is taken from the tip of the wanted posture."""
    problems.posture[0] = wanted.q[limb.places]
    _check_limits(limb, problems.posture)
    problems.start[0] = 0.0 if previous is None else limb.angles(previous)
    if target.rotation is not None:
        problems.rotation[0], problems.kind[0] = target.rotation, FULL
        return
    eye = limb.tip_at(problems.posture[0], wanted.q) if target.point is not None else _UNUSED_EYE
    problems.rotation[0], problems.kind[0] = target.aim(limb.up, eye)


def one_target(orientation: GazeLike) -> Gaze:
    """The single target of a solve, checked."""
    if isinstance(orientation, Gaze):
        return orientation
    if _are_many(orientation):
        count = len(orientation)  # type: ignore[arg-type]
        raise TaskError(f"solve takes one orientation, not {count}; solve_batch takes many.")
    return gaze(orientation)


def targets_of(targets: Targets) -> FloatArray | list[Gaze]:
    """(m, 4) unit quaternions, or one `Gaze` for each problem; a single target becomes a list of one."""
    if not _are_many(targets):
        return [gaze(cast("GazeLike", targets))]
    if isinstance(targets, np.ndarray):
        return _checked_rows(targets)
    return [gaze(target) for target in cast("Sequence[GazeLike]", targets)]


def _are_many(things: object) -> bool:
    """Whether this is a table or a sequence of postures or targets, rather than a single one."""
    if isinstance(things, np.ndarray):
        return things.ndim == 2
    return isinstance(things, (list, tuple)) and len(things) > 0 and not isinstance(things[0], Real)


def _checked_rows(targets: ArrayLike) -> FloatArray:
    """(m, 4) unit quaternions, checked and normalised."""
    rows = np.array(targets, dtype=np.float64)
    if rows.shape[1:] != (4,):
        raise TaskError(f"orientations must be rows of 4 numbers (w, x, y, z), not an array {rows.shape}.")
    sizes = np.linalg.norm(rows, axis=1)
    wrong = ~(np.abs(sizes - 1.0) <= UNIT_LENGTH_TOLERANCE)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise TaskError(f"orientation {row} is no unit quaternion: {rows[row].tolist()} has the length {sizes[row]:g}.")
    sizes[np.abs(sizes - 1.0) < 1e-15] = 1.0
    return np.asarray(rows / sizes[:, None])


def problems_of(
    limb: Limb, postures: FloatArray, targets: FloatArray | list[Gaze], starts: FloatArray
) -> BatchProblems:
    """The arrays of a batch; a single posture or target applies to all problems.

    The direction of a point is taken from the tip of the wanted posture.
    """
    count = max(len(postures), len(targets))
    for what, rows in (("postures", postures), ("orientations", targets)):
        if len(rows) not in (1, count):
            raise TaskError(f"{count} problems need {count} {what}, or one for all, not {len(rows)}.")
    angles = np.ascontiguousarray(np.broadcast_to(postures[:, limb.places], (count, len(limb.places))))
    rotation, kind = np.empty((count, 4)), np.zeros(count, dtype=np.int64)
    problems = BatchProblems(
        rotation, kind, angles.copy(), np.ascontiguousarray(np.broadcast_to(starts, angles.shape)).copy()
    )
    if isinstance(targets, list):
        aim_rows(limb, targets, tips(limb, angles, postures), problems)
    else:
        rotation[:] = targets
    return problems
