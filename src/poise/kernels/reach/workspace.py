"""The workspace of a reach, as named memory."""

from typing import Annotated

import numpy as np

from poise.kernels.jit.compile import inner_kernel
from poise.kernels.jit.memory import Memory
from poise.kernels.reach.path import Path

Array = np.ndarray

GOAL_ROWS = 6
"""Rows of the goal, which come first: three of position, three of rotation."""
CUT_ROUNDS = 3
"""Times that a step is solved again with tangents for ball joints that left their regions."""


class Work(Memory):
    """Workspace of a reach: the current posture, and the damped least-squares problem of a step."""

    position: Annotated[Array, float, "nodes", "three"]
    """World positions of the nodes [m]."""
    rotation: Annotated[Array, float, "nodes", "four"]
    """World rotations of the nodes."""
    axes: Annotated[Array, float, "velocities", "three"]
    """World axes of the velocities."""
    error: Annotated[Array, float, "goal_rows"]
    """e of the last evaluated posture [m]."""
    trial: Annotated[Array, float, "coordinates"]
    """Posture after a step."""
    here: Annotated[Array, float, "coordinates"]
    """Posture of the current descent."""
    wanted: Annotated[Array, float, "coordinates"]
    """Posture before it was moved to satisfy the couplings."""

    rows: Annotated[Array, float, "rows", "velocities"]
    """J, then C: see `damped_step`."""
    low: Annotated[Array, float, "rows"]
    """e, then the lower bounds of the constraint rows."""
    high: Annotated[Array, float, "rows"]
    """Upper bounds of the constraint rows."""
    lower: Annotated[Array, float, "velocities"]
    """Least rates."""
    upper: Annotated[Array, float, "velocities"]
    """Greatest rates."""
    at: Annotated[Array, int, "velocities"]
    """-1 for a joint at its lower limit, 1 at its upper, 0 inside; warm start of the next step."""
    side: Annotated[Array, int, "rows"]
    """-1 for a constraint row active at its lower bound, 1 at its upper, 0 inactive; warm start of the next step."""
    used: Annotated[Array, int, "rows"]
    """Indices of the rows in the linear system: goal rows and active constraint rows."""
    matrix: Annotated[Array, float, "rows", "rows"]
    """A, then its Cholesky factor."""
    y: Annotated[Array, float, "rows"]
    """Right-hand side, then the multipliers y and z."""
    v: Annotated[Array, float, "velocities"]
    """The step."""
    unclipped: Annotated[Array, float, "velocities"]
    """w of the last iteration."""
    last_y: Annotated[Array, float, "rows"]
    """Multipliers of the last iteration."""


def make_work(path: Path) -> Work:
    """Allocate the workspace of reaches along a path."""
    constraints = path.couplings.shape[0] + 2 * (CUT_ROUNDS + 1) * path.balls.shape[0]
    return Work(
        nodes=path.tree.parent.shape[0],
        velocities=path.dof_q.shape[0],
        coordinates=path.bounds.lower.shape[0],
        rows=GOAL_ROWS + constraints,
        goal_rows=GOAL_ROWS,
        three=3,
        four=4,
    )


@inner_kernel
def clear_work(work: Work) -> None:
    """Forget an earlier reach: its errors and active sets."""
    error, at, side = work.error, work.at, work.side
    for r in range(error.shape[0]):
        error[r] = 0.0
    for i in range(at.shape[0]):
        at[i] = 0
    for r in range(side.shape[0]):
        side[r] = 0
