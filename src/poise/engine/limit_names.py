"""Names of the limits of a step, for reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poise.figure.model.figure import Figure
from poise.kernels.body.step_limits import PER_BALL, StepLimits

if TYPE_CHECKING:
    from poise.engine.goal_arrays import TaskRows

BALL_PARTS = ("swing", "twist", "twist")
"""Names of the limits of a ball joint, in the order of the kernels."""


def limit_names(figure: Figure, limits: StepLimits, edge_owners: dict[int, TaskRows]) -> list[str]:
    """Names of all limits but contacts, in the order of the kernels: velocities, ball joints, couplings, support edges.

    Args:
        figure: The figure.
        limits: The limits of its steps.
        edge_owners: The task that each support edge belongs to, by the index of the limit, in that order.
    """
    velocities = [""] * figure.nv
    for joint in figure.joints:
        for i, v in enumerate(range(*figure.v_slice(joint.name).indices(figure.nv))):
            several = joint.scalars and len(joint.coordinates) > 1
            velocities[v] = f"{joint.name} ({joint.coordinates[i]})" if several else joint.name
    balls = [velocities[int(dof)] for dof in limits.ball_dof]
    couplings = [figure.couplings[int(i)].name for i in limits.soft]
    names = [*velocities, *(f"{ball} ({part})" for ball in balls for part in BALL_PARTS[:PER_BALL]), *couplings]
    return [*names, *(owner.task.label for owner in edge_owners.values())]
