"""Guards against reversed knees: limits that keep the hinges of a loop from passing through straight or folded.

Where two links of a loop come into line, a mechanism may go on bent either way. Closed and converged, it is then
another robot. A guard keeps the bend of a passive hinge, the angle between the links on its two sides, on the side it
is on in the assembled posture, a margin away from straight and from folded. The links are rigid, so the bend is the
hinge's own angle but for a constant, and a guard is no more than a pair of limits.

Two sorts of hinges have one. Between two passive hinges with parallel axes, straight means that motors lose hold of the
loop. Next to a motor with a parallel axis, in a loop with another motor, straight is the border of what the two can
reach, beyond which they come back bent the other way.

A hinge that closes a loop of parallel hinges is guarded like those of the tree; its limits hold as a coupling (see
`guards_cut`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from poise.figure.assembly.cut_joint_guards import PARALLEL, sum_of_hinges, with_cut_limits
from poise.figure.assembly.loop_values import body_pose, loop_value
from poise.figure.model.joints import Joint
from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture
from poise.figure.model.structure import loop_joints
from poise.kernels.body.queries import node_frames

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure

MARGIN = math.radians(2.0)
"""How far a hinge stays from straight and from folded [rad]."""
SHORT = 1e-6
"""Links shorter than this, seen along the axis, have no direction [m]."""


@dataclass(frozen=True)
class Guard:
    """Limits of a hinge that keep it bent the way it is."""

    joint: str
    lower: float
    upper: float
    between: tuple[str, str]
    """The joints at the other ends of its two links."""

    def __str__(self) -> str:
        """One sentence."""
        low, high = math.degrees(self.lower), math.degrees(self.upper)
        return (
            f"{self.joint} stays between {low:.1f}° and {high:.1f}°, bent as it is between {' and '.join(self.between)}"
        )


class _Pin(NamedTuple):
    """A joint of a loop in the world."""

    joint: Joint
    at: FloatArray
    axis: FloatArray | None
    """Of a hinge; the side further from the root turns about it as the value grows."""
    outward: bool
    """Whether one goes from parent to child in the order of the loop."""


def find_guards(figure: Figure, margin: float = MARGIN, posture: Posture | None = None) -> tuple[Guard, ...]:
    """Guards for all hinges that need one and have no limits of their own, in an assembled posture."""
    at = posture or figure.neutral()
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
    """`figure` with guards as limits: those of `find_guards`, or others."""
    limits = {guard.joint: guard for guard in (find_guards(figure) if guards is None else guards)}
    if not limits:
        return figure
    joints, loops = ([_limited(joint, limits) for joint in part] for part in (figure.joints, figure.loops))
    return with_cut_limits(figure.replaced(joints=joints, loops=loops))


def _limited(joint: Joint, limits: Mapping[str, Guard]) -> Joint:
    guard = limits.get(joint.name)
    return joint if guard is None else replace(joint, lower=(guard.lower,), upper=(guard.upper,))


def _can_be_limited(figure: Figure, joint: Joint, posture: Posture) -> bool:
    return joint.name in figure.joints or sum_of_hinges(figure, joint, posture) is not None


def _value(figure: Figure, joint: Joint, posture: Posture) -> float:
    if joint.name in figure.joints:
        return float(posture.q[figure.q_slice(joint.name).start])
    return float(loop_value(figure, joint, posture)[0])


def _pins(figure: Figure, loop: Joint, posture: Posture) -> list[_Pin]:
    """The joints of a loop in order, the one that closes it last."""
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
    joint = pin.joint
    if pin.axis is None or joint.active or math.isfinite(joint.lower[0]) or math.isfinite(joint.upper[0]):
        return False
    beside = [_is_parallel(pin, before), _is_parallel(pin, after)]
    if not before.joint.active and not after.joint.active:
        return all(beside)
    driven = [other.joint.active and parallel for other, parallel in zip((before, after), beside, strict=True)]
    return sum(driven) == 1 and motors > 1


def _is_parallel(a: _Pin, b: _Pin) -> bool:
    return a.axis is not None and b.axis is not None and float(np.linalg.norm(np.cross(a.axis, b.axis))) <= PARALLEL


def _guard(before: _Pin, pin: _Pin, after: _Pin, margin: float, value: float) -> Guard | None:
    """Limits for one hinge; None where it is straight or folded already, or has a link without length."""
    axis = pin.axis
    assert axis is not None
    here, there = (v - (axis @ v) * axis for v in (pin.at - before.at, after.at - pin.at))
    if min(np.linalg.norm(here), np.linalg.norm(there)) < SHORT:
        return None
    bend = math.atan2(float(axis @ np.cross(here, there)), float(here @ there))
    if not margin < abs(bend) < math.pi - margin:
        return None
    low, high = (margin, math.pi - margin) if bend > 0.0 else (margin - math.pi, -margin)
    # Inward the link before the hinge turns, and the bend shrinks as the value grows.
    room = (low - bend, high - bend) if pin.outward else (bend - high, bend - low)
    return Guard(pin.joint.name, value + room[0], value + room[1], (before.joint.name, after.joint.name))


def _narrower(a: Guard | None, b: Guard) -> Guard:
    """Both guards at once."""
    if a is None:
        return b
    return replace(b, lower=max(a.lower, b.lower), upper=min(a.upper, b.upper))
