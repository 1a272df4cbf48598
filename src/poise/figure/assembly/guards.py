"""Guards: limits that keep the passive hinges of a loop on their solution branch.

Where two links of a loop become collinear, two solution branches meet, and a solver may continue on the other one: a
knee bent backwards, in a posture that is closed and converged. A guard keeps the bend of a passive hinge, the angle
between its two links, at the sign it has in the assembled posture, a margin away from straight (0) and from folded (π).
The links are rigid, so the bend is the hinge's value plus a constant, and a guard is a pair of limits.

Two kinds of hinges get one. A hinge between two passive hinges with parallel axes: when it is straight, the motors lose
control of the loop. A hinge next to one motor with a parallel axis, in a loop with another motor: when it is straight,
the two motors are at the boundary of their workspace, where both branches meet.

A loop hinge in a loop of parallel hinges is guarded like those of the tree; its limits become a coupling (see
`cut_joint_guards`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from poise.figure.assembly.cut_joint_guards import PARALLEL_HINGES, sum_of_hinges, with_cut_limits
from poise.figure.assembly.loop_values import body_pose, loop_value
from poise.figure.model.joints import Joint
from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture
from poise.figure.model.structure import loop_joints
from poise.kernels.body.queries import node_frames

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure

GUARD_MARGIN = math.radians(2.0)
"""Least angle between a guarded hinge and its straight or folded position [rad]."""
SHORTEST_GUARDED_LINK = 1e-6
"""Links shorter than this, projected along the axis, have no reliable direction [m]."""


@dataclass(frozen=True)
class Guard:
    """Limits of a hinge that keep it on its solution branch."""

    joint: str
    """Name of the hinge."""
    lower: float
    """Least value [rad]."""
    upper: float
    """Greatest value [rad]."""
    between: tuple[str, str]
    """The joints at the other ends of its two links."""

    def __str__(self) -> str:
        """The guard in one sentence."""
        low, high = math.degrees(self.lower), math.degrees(self.upper)
        return (
            f"{self.joint} stays between {low:.1f}° and {high:.1f}°, bent as it is between {' and '.join(self.between)}"
        )


class _Pin(NamedTuple):
    """A joint of a loop, with its world position and axis."""

    joint: Joint
    at: FloatArray
    """World position [m]."""
    axis: FloatArray | None
    """World axis of a hinge, about which its outer body turns as the value grows; None for other joints."""
    outward: bool
    """Whether the loop passes the joint from parent to child."""


def find_guards(figure: Figure, margin: float = GUARD_MARGIN) -> tuple[Guard, ...]:
    """Guards for all hinges that need one and have no limits, from their bends in the neutral posture."""
    at = figure.neutral()
    found: dict[str, Guard] = {}
    for loop in figure.loops:
        pins = _pins(figure, loop, at)
        motors = sum(pin.joint.active for pin in pins)
        for before, pin, after in zip([*pins[-1:], *pins], pins, [*pins[1:], *pins[:1]], strict=False):
            if _needs_guard(before, pin, after, motors) and _can_be_limited(figure, pin.joint, at):
                guard = _guard(before, pin, after, margin, _value(figure, pin.joint, at))
                if guard is not None:
                    found[guard.joint] = _narrower(found.get(guard.joint), guard)
    return tuple(found.values())


def guarded(figure: Figure, guards: Iterable[Guard] | None = None) -> Figure:
    """`figure` with guards as limits of its hinges (default: those of `find_guards`)."""
    limits = {guard.joint: guard for guard in (find_guards(figure) if guards is None else guards)}
    if not limits:
        return figure
    joints, loops = ([_limited(joint, limits) for joint in part] for part in (figure.joints, figure.loops))
    return with_cut_limits(figure.replaced(joints=joints, loops=loops))


def _limited(joint: Joint, limits: Mapping[str, Guard]) -> Joint:
    """`joint` with the limits of its guard, if it has one."""
    guard = limits.get(joint.name)
    return joint if guard is None else replace(joint, lower=(guard.lower,), upper=(guard.upper,))


def _can_be_limited(figure: Figure, joint: Joint, posture: Posture) -> bool:
    """Whether limits of this hinge can be expressed: on the joint itself, or as a coupling."""
    return joint.name in figure.joints or sum_of_hinges(figure, joint, posture) is not None


def _value(figure: Figure, joint: Joint, posture: Posture) -> float:
    """Angle of a tree or loop hinge in a posture [rad]."""
    if joint.name in figure.joints:
        return float(posture.q[figure.q_slice(joint.name).start])
    return float(loop_value(figure, joint, posture)[0])


def _pins(figure: Figure, loop: Joint, posture: Posture) -> list[_Pin]:
    """The moving joints of a loop in order, the loop joint last."""
    tree = figure.compiled.tree
    position, _, axes = node_frames(tree, posture._q)
    frames = figure.frames(posture)
    pins, reached = [], loop.parent
    for name in loop_joints(figure, loop):
        joint, first = figure.joints[name], figure.v_slice(name).start
        outward = joint.parent == reached
        reached = joint.child if outward else joint.parent
        if joint.nv:
            axis = axes[first] if joint.kind == "revolute" else None
            pins.append(_Pin(joint, position[tree.dof_node[first]], axis, outward))
    if loop.nv == 0:
        return pins
    closing = body_pose(figure, loop.parent, frames) @ loop.parent_frame
    axis = closing.matrix @ np.array(loop.axes[0]) if loop.kind == "revolute" else None
    return [*pins, _Pin(loop, closing.position, axis, False)]


def _needs_guard(before: _Pin, pin: _Pin, after: _Pin, motors: int) -> bool:
    """Whether a hinge is of one of the two kinds of the module's docstring, and has no limits."""
    joint = pin.joint
    if pin.axis is None or joint.active or math.isfinite(joint.lower[0]) or math.isfinite(joint.upper[0]):
        return False
    beside = [_is_parallel(pin, before), _is_parallel(pin, after)]
    if not before.joint.active and not after.joint.active:
        return all(beside)
    driven = [other.joint.active and parallel for other, parallel in zip((before, after), beside, strict=True)]
    return sum(driven) == 1 and motors > 1


def _is_parallel(a: _Pin, b: _Pin) -> bool:
    """Whether both are hinges with parallel axes."""
    return (
        a.axis is not None and b.axis is not None and float(np.linalg.norm(np.cross(a.axis, b.axis))) <= PARALLEL_HINGES
    )


def _guard(before: _Pin, pin: _Pin, after: _Pin, margin: float, value: float) -> Guard | None:
    """The guard of one hinge; None if it is straight or folded already, or if a link is too short."""
    axis = pin.axis
    assert axis is not None
    here, there = (v - (axis @ v) * axis for v in (pin.at - before.at, after.at - pin.at))
    if min(np.linalg.norm(here), np.linalg.norm(there)) < SHORTEST_GUARDED_LINK:
        return None
    bend = math.atan2(float(axis @ np.cross(here, there)), float(here @ there))
    if not margin < abs(bend) < math.pi - margin:
        return None
    low, high = (margin, math.pi - margin) if bend > 0.0 else (margin - math.pi, -margin)
    # If the loop passes the joint inward, the bend decreases as the value grows.
    room = (low - bend, high - bend) if pin.outward else (bend - high, bend - low)
    return Guard(pin.joint.name, value + room[0], value + room[1], (before.joint.name, after.joint.name))


def _narrower(a: Guard | None, b: Guard) -> Guard:
    """The intersection of two guards of one hinge."""
    if a is None:
        return b
    return replace(b, lower=max(a.lower, b.lower), upper=min(a.upper, b.upper))
