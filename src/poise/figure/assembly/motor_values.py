"""Motors on loop joints, moved into the tree so that they have coordinates, and motor values by name as arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poise.arguments import shown
from poise.errors import FigureError
from poise.figure.assembly.loop_values import loop_value, unwound
from poise.figure.model.body import Body
from poise.figure.model.joints import Joint
from poise.figure.model.pose import FloatArray, Pose
from poise.figure.model.posture import Posture

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure

Mask = NDArray[np.int64]
"""(nv,) 1 for the selected velocities, 0 for the others."""


class MotorValues:
    """Converts values of a figure's motors, those on loop joints included."""

    def __init__(self, figure: Figure, driven: Figure) -> None:
        """`driven` is the figure with the motors of loop joints in its tree, as the last coordinates."""
        self.figure, self.driven = figure, driven

    def start(self, near: Posture, values: Mapping[str, ArrayLike]) -> FloatArray:
        """Coordinates of `near` in the driven figure; angles of loop joints within half a turn of their targets."""
        parts = [near.q]
        for loop in self.figure.loops:
            if is_driven(loop):
                wanted = self._numbers(loop, values[loop.name]) if loop.name in values else None
                parts.append(loop_value(self.figure, loop, near, wanted))
        return np.concatenate(parts)

    def _numbers(self, joint: Joint, value: ArrayLike) -> FloatArray:
        """The given value of a joint as an array (nq of the joint,)."""
        try:
            return np.array(value, dtype=np.float64).reshape(joint.nq)
        except (TypeError, ValueError):
            raise FigureError(f"joint {joint.name!r} takes {joint.nq} numbers, not {shown(value)}.") from None

    def place(self, name: str) -> slice:
        """Coordinates of a motor in the driven figure; refuses joints that cannot be driven."""
        if name in self.figure.loops and name not in self.driven.joints:
            loop = self.figure.loops[name]
            if loop.nv == 0:
                raise FigureError(f"joint {name!r} is fixed and cannot be driven.")
            raise FigureError(
                f"loop joint {name!r} of figure {self.figure.name!r} has no motor: make it active to drive it."
            )
        place = self.driven.q_slice(name)
        if place.start == place.stop:
            raise FigureError(f"joint {name!r} is fixed and cannot be driven.")
        return place

    def target(self, start: FloatArray, values: Mapping[str, ArrayLike]) -> FloatArray:
        """`start` with the motors at their values; refuses unknown names, fixed joints and wrong counts."""
        q = start.copy()
        for name, value in values.items():
            place, joint = self.place(name), self.driven.joints[name]
            numbers = self._numbers(joint, value)
            q[place] = unwound(joint, numbers, start[place]) if joint.kind in ("ball", "free") else numbers
        return self.driven._checked_q(q)

    def mask(self, names: Iterable[str]) -> Mask:
        """The mask of the velocities of these motors."""
        mask = np.zeros(self.driven.nv, dtype=np.int64)
        for name in names:
            self.place(name)
            mask[self.driven.v_slice(name)] = 1
        return mask


def velocity_limits(figure: Figure) -> tuple[FloatArray, FloatArray]:
    """Lower and upper limits (nv,) of all turns and slides; infinite for other velocities."""
    lower, upper = np.full(figure.nv, -np.inf), np.full(figure.nv, np.inf)
    for joint in figure.joints:
        if joint.scalars:
            lower[figure.v_slice(joint.name)], upper[figure.v_slice(joint.name)] = joint.lower, joint.upper
    return lower, upper


def is_driven(loop: Joint) -> bool:
    """Whether a loop joint has a motor."""
    return loop.active and loop.nv > 0


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
