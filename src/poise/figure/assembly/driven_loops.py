"""Loop joints with motors, moved into the tree so that they have coordinates."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from poise.figure.model.body import Body
from poise.figure.model.joints import Joint
from poise.figure.model.pose import Pose

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure


def is_driven(loop: Joint) -> bool:
    """Whether a loop joint has a motor."""
    return loop.active and loop.nv > 0 and loop.kind != "free"


def with_driven_loops(figure: Figure) -> Figure:
    """`figure` with every driven loop joint in its tree: it moves a massless body that is welded to the child."""
    if not any(is_driven(loop) for loop in figure.loops):
        return figure
    bodies, joints, loops = list(figure.bodies), list(figure.joints), []
    for loop in figure.loops:
        if not is_driven(loop):
            loops.append(loop)
            continue
        end = f"{loop.name} end"
        bodies.append(Body(end))
        joints.append(replace(loop, child=end, child_frame=Pose()))
        loops.append(Joint(f"{loop.name} meets", "fixed", end, loop.child, child_frame=loop.child_frame, active=False))
    return figure.replaced(bodies=bodies, joints=joints, loops=loops)
