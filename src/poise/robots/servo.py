"""Servos: the linear map between joint values and servo commands (ticks), and its limits."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from poise.errors import RobotError
from poise.figure.model.figure import Figure
from poise.figure.model.joints import in_words
from poise.figure.model.names import suggestion
from poise.figure.model.pose import FloatArray

PULSE_RANGE = (544, 2400)
"""Pulse widths over which the stock Arduino library turns a hobby servo by half a turn [µs]."""
LARGEST_TICK = 2**31 - 1
"""Largest command, a signed integer of 32 bits."""
CAUTIOUS_TURN = 1.0
"""Speed limit of a revolute joint if neither the servo nor the figure has one, about 57° a second [rad/s]."""
CAUTIOUS_SLIDE = 0.1
"""Speed limit of a prismatic joint if neither the servo nor the figure has one [m/s]."""


@dataclass(frozen=True)
class Servo:
    """One servo and the joint it moves.

    tick = middle of `ticks` + sign · (value − zero) · (ticks' range / travel)
    """

    joint: str
    """Name of the joint."""
    channel: int
    """Pin (Firmata), id (Dynamixel) or number in the text line (serial)."""
    sign: int = 1
    """1, or -1 for a servo that turns opposite to the joint."""
    zero: float = 0.0
    """Value of the joint at the middle of `ticks` [rad or m]."""
    ticks: tuple[int, int] = PULSE_RANGE
    """Smallest and largest command: pulse widths [µs] or positions."""
    travel: float = math.pi
    """Change of the joint value from the smallest to the largest tick [rad or m]."""
    lower: float = -math.inf
    """Lower limit in addition to the figure's joint limit [rad or m]."""
    upper: float = math.inf
    """Upper limit in addition to the figure's joint limit [rad or m]."""
    speed: float = math.inf
    """Speed limit in addition to the figure's; if both are infinite, a cautious one is used [rad/s or m/s]."""

    def __post_init__(self) -> None:
        """Raise an error for fields that do not define a map."""
        what = f"servo of joint {self.joint!r}"
        if self.sign not in (1, -1):
            raise RobotError(f"{what}: the sign is 1 or -1, not {self.sign!r}.")
        if not _is_integer(self.channel) or not 0 <= self.channel <= LARGEST_TICK:
            raise RobotError(f"{what}: the channel is a pin or id from 0 up, not {self.channel!r}.")
        low, high = self.ticks
        if not (_is_integer(low) and _is_integer(high)) or not -LARGEST_TICK <= low < high <= LARGEST_TICK:
            raise RobotError(f"{what}: ticks are two whole numbers of 32 bits, the smaller first, not {self.ticks!r}.")
        if not (math.isfinite(self.travel) and self.travel > 0.0 and math.isfinite(self.zero)):
            raise RobotError(
                f"{what}: travel must be above 0 and zero must be finite, not {self.travel} and {self.zero}."
            )
        if not self.lower < self.upper:
            raise RobotError(f"{what}: its lower limit {self.lower:g} is not below its upper limit {self.upper:g}.")
        if not self.speed > 0.0:
            raise RobotError(f"{what}: its speed must be above 0, not {self.speed}.")

    @property
    def scale(self) -> float:
        """Ticks per radian or metre; negative if `sign` is -1."""
        return self.sign * (self.ticks[1] - self.ticks[0]) / self.travel

    @property
    def middle(self) -> float:
        """The tick at which the joint value is `zero`."""
        return 0.5 * (self.ticks[0] + self.ticks[1])


def _is_integer(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool)


class TickRange(NamedTuple):
    """The ticks that a servo may be sent."""

    low: int
    """Smallest tick allowed."""
    high: int
    """Largest tick allowed."""
    speed: float
    """Speed limit [ticks/s]."""


def allowed(servo: Servo, figure: Figure) -> TickRange:
    """The range of ticks whose joint values are inside the limits of both the servo and the figure."""
    place = figure.q_slice(servo.joint)
    bounds = figure.compiled.bounds
    lower = max(servo.lower, float(bounds.lower[place.start]))
    upper = min(servo.upper, float(bounds.upper[place.start]))
    ends = sorted(servo.middle + servo.scale * (value - servo.zero) for value in (lower, upper))
    # Rounded inwards, so that no tick lies outside a limit; 1e-9 absorbs rounding where a limit is a whole tick.
    low = max(servo.ticks[0], math.ceil(ends[0] - 1e-9)) if math.isfinite(ends[0]) else servo.ticks[0]
    high = min(servo.ticks[1], math.floor(ends[1] + 1e-9)) if math.isfinite(ends[1]) else servo.ticks[1]
    if low > high:
        part = figure.joints[servo.joint].scalars[0]
        raise RobotError(
            f"servo of joint {servo.joint!r}: no tick of {servo.ticks[0]} … {servo.ticks[1]} is inside the joint's "
            f"limits {in_words(lower, part)} … {in_words(upper, part)}; check zero, sign and travel."
        )
    return TickRange(low, high, speed_limit(servo, figure) * abs(servo.scale))


def speed_limit(servo: Servo, figure: Figure) -> float:
    """The lower of the servo's and the figure's speed limits, or a cautious one if both are infinite [rad/s or m/s]."""
    joint = figure.joints[servo.joint]
    speed = min(servo.speed, joint.speed)
    return speed if math.isfinite(speed) else CAUTIOUS_SLIDE if joint.kind == "prismatic" else CAUTIOUS_TURN


def joints_without_speed(servos: Sequence[Servo], figure: Figure) -> list[str]:
    """Joints for which neither the servo nor the figure has a speed limit."""
    return [s.joint for s in servos if not math.isfinite(min(s.speed, figure.joints[s.joint].speed))]


def checked_servos(figure: Figure, servos: Sequence[Servo]) -> tuple[Servo, ...]:
    """The servos as a tuple; raises unless each moves a different joint of one value on a channel of its own."""
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
            raise RobotError(f"a servo moves a joint of one value, and joint {servo.joint!r} is a {kind} joint.")
        if servo.joint in joints or servo.channel in channels:
            raise RobotError(
                f"joint {servo.joint!r} on channel {servo.channel}: that joint or that channel has a servo already."
            )
        joints.add(servo.joint)
        channels.add(servo.channel)
    return tuple(servos)


def default_servos(figure: Figure, defaults: Mapping[str, object], first_channel: int) -> tuple[Servo, ...]:
    """One servo for every active joint of one value, on consecutive channels."""
    names = [joint.name for joint in figure.joints if joint.nq == 1 and joint.active]
    return tuple(Servo(name, first_channel + k, **defaults) for k, name in enumerate(names))  # type: ignore[arg-type]


def value_of(servo: Servo, tick: int) -> float:
    """The joint value of a servo at a tick [rad or m]."""
    return servo.zero + (tick - servo.middle) / servo.scale


def values_of(servos: Sequence[Servo], ticks: Sequence[int]) -> FloatArray:
    """(n,) the joint values of servos at their ticks [rad or m]."""
    return np.array([value_of(servo, tick) for servo, tick in zip(servos, ticks, strict=True)])
