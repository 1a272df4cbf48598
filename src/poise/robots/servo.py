"""How a joint becomes a number that a servo understands."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from poise.errors import RobotError
from poise.figure.model.figure import Figure
from poise.figure.model.names import suggestion
from poise.figure.model.pose import FloatArray

PULSES = (544, 2400)
"""Pulse widths over which the stock Arduino library turns a hobby servo by half a turn [µs]."""
LARGEST_TICK = 2**31 - 1
CAUTIOUS_TURN = 1.0
"""Speed assumed for a joint that turns where neither servo nor figure has a limit, about 57° a second [rad/s]."""
CAUTIOUS_SLIDE = 0.1
"""Speed assumed for a joint that slides where neither servo nor figure has a limit [m/s]."""


@dataclass(frozen=True)
class Servo:
    """One servo and the joint it moves.

    tick = middle of `ticks` + sign · (value − zero) · (ticks' range / travel)
    """

    joint: str
    channel: int
    """Pin, bus id or number on the line."""
    sign: int = 1
    """1, or -1 for a servo that is mounted the other way round."""
    zero: float = 0.0
    """Value of the joint at the middle of `ticks` [rad or m]."""
    ticks: tuple[int, int] = PULSES
    """Least and greatest tick: pulse widths [µs] or positions."""
    travel: float = math.pi
    """How far the joint moves from one end of `ticks` to the other [rad or m]."""
    lower: float = -math.inf
    """Hard limit beside that of the figure [rad or m]."""
    upper: float = math.inf
    """Hard limit beside that of the figure [rad or m]."""
    speed: float = math.inf
    """Greatest speed beside that of the figure [rad/s or m/s]; without either, a cautious one is assumed."""

    def __post_init__(self) -> None:
        """Refuse a map that means nothing."""
        what = f"servo of joint {self.joint!r}"
        if self.sign not in (1, -1):
            raise RobotError(f"{what}: the sign is 1 or -1, not {self.sign!r}.")
        if not _is_whole(self.channel) or not 0 <= self.channel <= LARGEST_TICK:
            raise RobotError(f"{what}: the channel is a pin or id from 0 up, not {self.channel!r}.")
        low, high = self.ticks
        if not (_is_whole(low) and _is_whole(high)) or not -LARGEST_TICK <= low < high <= LARGEST_TICK:
            raise RobotError(f"{what}: ticks are two whole numbers of 32 bits, the smaller first, not {self.ticks!r}.")
        if not (math.isfinite(self.travel) and self.travel > 0.0 and math.isfinite(self.zero)):
            raise RobotError(f"{what}: travel must be above 0 and zero a number, not {self.travel} and {self.zero}.")
        if not self.lower < self.upper:
            raise RobotError(f"{what}: its lower limit {self.lower:g} is not below its upper limit {self.upper:g}.")
        if not self.speed > 0.0:
            raise RobotError(f"{what}: its speed must be above 0, not {self.speed}.")

    @property
    def scale(self) -> float:
        """Ticks per radian or metre, with the sign."""
        return self.sign * (self.ticks[1] - self.ticks[0]) / self.travel

    @property
    def middle(self) -> float:
        """Tick at which the joint is at `zero`."""
        return 0.5 * (self.ticks[0] + self.ticks[1])


def _is_whole(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool)


class TickRange(NamedTuple):
    """The ticks a servo may be sent, both ends included, and how many a second."""

    low: int
    high: int
    speed: float


def allowed(servo: Servo, figure: Figure) -> TickRange:
    """Ticks whose joint value is inside the limits of the servo and of the figure."""
    place = figure.q_slice(servo.joint)
    bounds = figure.compiled.bounds
    lower = max(servo.lower, float(bounds.lower[place.start]))
    upper = min(servo.upper, float(bounds.upper[place.start]))
    ends = sorted(servo.middle + servo.scale * (value - servo.zero) for value in (lower, upper))
    # Rounded inwards, so that no whole tick lies beyond a limit; a hair of room for limits that are whole ticks.
    low = max(servo.ticks[0], math.ceil(ends[0] - 1e-9)) if math.isfinite(ends[0]) else servo.ticks[0]
    high = min(servo.ticks[1], math.floor(ends[1] + 1e-9)) if math.isfinite(ends[1]) else servo.ticks[1]
    if low > high:
        raise RobotError(
            f"servo of joint {servo.joint!r}: no tick of {servo.ticks[0]} … {servo.ticks[1]} is inside the joint's "
            f"limits {lower:g} … {upper:g}; check zero, sign and travel."
        )
    return TickRange(low, high, speed_limit(servo, figure) * abs(servo.scale))


def speed_limit(servo: Servo, figure: Figure) -> float:
    """The lower of the servo's and the figure's speed limits, a cautious one where there is none [rad/s or m/s]."""
    joint = figure.joints[servo.joint]
    speed = min(servo.speed, joint.speed)
    return speed if math.isfinite(speed) else CAUTIOUS_SLIDE if joint.kind == "prismatic" else CAUTIOUS_TURN


def without_speed(servos: Sequence[Servo], figure: Figure) -> list[str]:
    """Joints for which no speed limit is known."""
    return [s.joint for s in servos if not math.isfinite(min(s.speed, figure.joints[s.joint].speed))]


def checked_servos(figure: Figure, servos: Sequence[Servo]) -> tuple[Servo, ...]:
    """Servos of known joints with one value each, one servo per joint and per channel."""
    if not servos:
        raise RobotError(f"a robot needs at least one servo; figure {figure.name!r} has {len(figure.joints)} joints.")
    joints: set[str] = set()
    channels: set[int] = set()
    for servo in servos:
        if servo.joint not in figure.joints:
            hint = suggestion(servo.joint, figure.joints.names)
            raise RobotError(f"figure {figure.name!r} has no joint {servo.joint!r} for channel {servo.channel}.{hint}")
        if figure.joints[servo.joint].nq != 1:
            kind = figure.joints[servo.joint].kind
            raise RobotError(f"a servo moves one number, and joint {servo.joint!r} is {kind}.")
        if servo.joint in joints or servo.channel in channels:
            raise RobotError(f"joint {servo.joint!r} on channel {servo.channel}: one of the two has a servo already.")
        joints.add(servo.joint)
        channels.add(servo.channel)
    return tuple(servos)


def one_each(figure: Figure, defaults: Mapping[str, object], first_channel: int) -> tuple[Servo, ...]:
    """A servo for every active joint of one value, on channels in a row."""
    names = [joint.name for joint in figure.joints if joint.nq == 1 and joint.active]
    return tuple(Servo(name, first_channel + k, **defaults) for k, name in enumerate(names))  # type: ignore[arg-type]


def value_of(servo: Servo, tick: int) -> float:
    """The joint value that a tick means [rad or m]."""
    return servo.zero + (tick - servo.middle) / servo.scale


def values_of(servos: Sequence[Servo], ticks: Sequence[int]) -> FloatArray:
    """(n,) the joint values that ticks mean."""
    return np.array([value_of(servo, tick) for servo, tick in zip(servos, ticks, strict=True)])
