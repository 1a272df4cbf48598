"""What the limits of a step are called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poise.figure.model.figure import Figure
from poise.kernels.body.step_limits import PER_BALL, StepLimits

if TYPE_CHECKING:
    from poise.engine.goal_arrays import Asked

BALL_PARTS = ("swing", "twist", "twist")


def limit_names(figure: Figure, limits: StepLimits, fences: dict[int, Asked]) -> list[str]:
    """Names of all limits but contacts, in the order of the kernels: velocities, ball joints, couplings, fences."""
    velocities = [""] * figure.nv
    for joint in figure.joints:
        for i, v in enumerate(range(*figure.v_slice(joint.name).indices(figure.nv))):
            several = joint.scalars and len(joint.coordinates) > 1
            velocities[v] = f"{joint.name} ({joint.coordinates[i]})" if several else joint.name
    balls = [velocities[int(dof)] for dof in limits.ball_dof]
    couplings = [figure.couplings[int(i)].name for i in limits.soft]
    names = [*velocities, *(f"{ball} ({part})" for ball in balls for part in BALL_PARTS[:PER_BALL]), *couplings]
    return [*names, *(asked.task.label for asked in fences.values())]
