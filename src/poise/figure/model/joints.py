"""Joints: their kinds, frames, axes and limits; and couplings between their values [Baerlocher 2001, 3.8]."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

import numpy as np

from poise.errors import FigureError
from poise.figure.model.curves import Curve
from poise.figure.model.limits import BallLimits
from poise.figure.model.names import suggestion
from poise.figure.model.pose import FloatArray, Pose, unit_vector

Kind = Literal[
    "fixed",
    "revolute",
    "prismatic",
    "universal",
    "elbow",
    "ball",
    "cylindrical",
    "planar",
    "cartesian",
    "free",
]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""All kinds of joints."""

Primitive = Literal["turn", "slide", "ball", "free"]

PRIMITIVES: dict[Kind, tuple[Primitive, ...]] = {
    "fixed": (),
    "revolute": ("turn",),
    "prismatic": ("slide",),
    "universal": ("turn", "turn"),
    "elbow": ("turn", "turn"),
    "ball": ("ball",),
    "cylindrical": ("turn", "slide"),
    "planar": ("slide", "slide", "turn"),
    "cartesian": ("slide", "slide", "slide"),
    "free": ("free",),
}
"""The primitive motions of each kind, from the parent's side to the child's."""

COORDINATES: dict[Kind, tuple[str, ...]] = {
    "fixed": (),
    "revolute": ("angle",),
    "prismatic": ("slide",),
    "universal": ("first", "second"),
    "elbow": ("flexion", "twist"),
    "ball": ("swing_x", "swing_y", "twist"),
    "cylindrical": ("angle", "slide"),
    "planar": ("x", "y", "angle"),
    "cartesian": ("x", "y", "z"),
    "free": (),
}
"""Names of each kind's coordinates in limits and couplings."""

_GIVEN_AXES: dict[Kind, int] = {
    "revolute": 1,
    "prismatic": 1,
    "universal": 2,
    "elbow": 2,
    "cylindrical": 1,
    "planar": 1,
}
"""Number of axes that describe each kind; the others are derived from them."""

_SIZE_Q = {"turn": 1, "slide": 1, "ball": 4, "free": 7}
"""Coordinates of each primitive."""
_SIZE_V = {"turn": 1, "slide": 1, "ball": 3, "free": 6}
"""Velocities of each primitive."""


def in_words(value: float, primitive: Primitive, per: str = "") -> str:
    """The value of a turn in radians and degrees, or of a slide in metres; `per` follows the unit."""
    if primitive == "slide":
        return f"{value:g} m{per}"
    return f"{value:.4g} rad{per} ({math.degrees(value):.6g}°{per})"


@dataclass(frozen=True)
class Joint:
    """A joint between a parent and a child body.

    The joint has a frame on each body: `parent_frame` in the parent's frame and `child_frame` in the child's frame.
    With all values at rest the two coincide in the world. A parent of None is the world.
    """

    name: str
    kind: Kind
    parent: str | None
    child: str
    axes: tuple[tuple[float, float, float], ...] = ()
    """One unit axis per turn or slide, in the joint's frame."""
    parent_frame: Pose = field(default_factory=Pose)
    child_frame: Pose = field(default_factory=Pose)
    lower: tuple[float, ...] = ()
    """Least value of each turn [rad] or slide [m]."""
    upper: tuple[float, ...] = ()
    """Greatest value of each turn [rad] or slide [m]."""
    ball_limits: BallLimits | None = None
    """Limits of a ball joint."""
    active: bool = True
    """Whether a motor drives it; loops determine the values of passive joints."""
    speed: float = math.inf
    """Greatest rate of each coordinate [rad/s or m/s]."""
    strength: float = math.inf
    """Greatest torque [N m] or force [N]."""
    reversed: bool = False
    """Whether the joint's values describe the motion of the parent relative to the child (after re-rooting)."""

    def __post_init__(self) -> None:
        """Complete axes and limits, and refuse inconsistent ones."""
        if self.kind not in KINDS:
            hint = suggestion(str(self.kind), KINDS)
            raise FigureError(
                f"joint {self.name!r} has the unknown kind {self.kind!r}.{hint} Kinds: {', '.join(KINDS)}."
            )
        if self.reversed and self.kind == "free":
            raise FigureError(f"joint {self.name!r}: a free joint cannot be reversed.")
        object.__setattr__(self, "axes", self._complete_axes())
        count = len(self.scalars)
        object.__setattr__(self, "lower", self._bounds(self.lower, -math.inf, count))
        object.__setattr__(self, "upper", self._bounds(self.upper, math.inf, count))
        for part, low, high in zip(self.scalars, self.lower, self.upper, strict=True):
            if low > high:
                raise FigureError(
                    f"joint {self.name!r} has its lower limit {in_words(low, part)} above its upper limit "
                    f"{in_words(high, part)}."
                )
        if self.ball_limits is not None and self.kind != "ball":
            raise FigureError(f"joint {self.name!r} is {self.kind}: only ball joints have swing and twist limits.")
        for what, value in (("speed", self.speed), ("strength", self.strength)):
            if math.isnan(value) or value <= 0.0:
                words = in_words(value, self.scalars[0], "/s") if what == "speed" and self.scalars else f"{value:g}"
                raise FigureError(f"joint {self.name!r}: the {what} limit must be positive, not {words}.")

    def _complete_axes(self) -> tuple[tuple[float, float, float], ...]:
        """One axis per turn or slide, derived from the axes that describe the kind."""
        given = [unit_vector(axis, f"the axis of joint {self.name!r}") for axis in self.axes]
        wanted = _GIVEN_AXES.get(self.kind, 0)
        total = len(self.scalars)
        if len(given) not in (wanted, total):
            raise FigureError(f"joint {self.name!r} is {self.kind} and needs {wanted} axes, not {len(given)}.")
        if len(given) != total:
            given = _derived_axes(self.kind, given)
        if self.kind in ("universal", "elbow") and np.linalg.norm(np.cross(given[0], given[1])) < 1e-9:
            raise FigureError(f"joint {self.name!r}: the two axes of a {self.kind} joint must not be parallel.")
        return tuple((float(a[0]), float(a[1]), float(a[2])) for a in given)

    def _bounds(self, values: Sequence[float], missing: float, count: int) -> tuple[float, ...]:
        """One bound per turn or slide; `missing` if none was given."""
        if len(values) == 0:
            return (missing,) * count
        if len(values) != count:
            raise FigureError(f"joint {self.name!r} is {self.kind} and takes {count} limits, not {len(values)}.")
        if any(math.isnan(value) for value in values):
            raise FigureError(f"joint {self.name!r} has a limit that is not a number.")
        return tuple(float(value) + 0.0 for value in values)  # -0.0 becomes 0.0, which is the same limit

    @property
    def primitives(self) -> tuple[Primitive, ...]:
        """Its primitive motions, from the parent's side to the child's."""
        return PRIMITIVES[self.kind]

    @property
    def scalars(self) -> tuple[Primitive, ...]:
        """Its turns and slides, which have one coordinate each."""
        return tuple(p for p in self.primitives if p in ("turn", "slide"))

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of its coordinates in limits and couplings."""
        return COORDINATES[self.kind]

    @property
    def nq(self) -> int:
        """Number of its coordinates."""
        return sum(_SIZE_Q[p] for p in self.primitives)

    @property
    def nv(self) -> int:
        """Number of its degrees of freedom."""
        return sum(_SIZE_V[p] for p in self.primitives)

    def rest(self) -> tuple[float, ...]:
        """Its values at rest: zeros and identity quaternions."""
        quaternion = (1.0, 0.0, 0.0, 0.0)
        return {"ball": quaternion, "free": (0.0, 0.0, 0.0, *quaternion)}.get(self.kind, (0.0,) * self.nq)

    def turned_around(self) -> Joint:
        """The same joint with parent and child exchanged.

        Values keep their meaning and their signs, except those of a free joint, which hold the other body's pose.
        """
        if self.parent is None:
            raise FigureError(f"joint {self.name!r} has the world as parent, so parent and child cannot be exchanged.")
        return replace(
            self,
            parent=self.child,
            child=self.parent,
            parent_frame=self.child_frame,
            child_frame=self.parent_frame,
            reversed=not self.reversed and self.kind != "free",
        )


def _derived_axes(kind: Kind, given: Sequence[FloatArray]) -> list[FloatArray]:
    """All axes of a kind, derived from the axes that describe it."""
    if kind == "cylindrical":
        return [given[0], given[0]]
    if kind == "planar":
        normal = given[0]
        smallest = int(np.argmin(np.abs(normal)))
        # For a normal z the first axis is x, for x it is y, and for y it is z.
        first = np.roll(normal, 1) if np.count_nonzero(normal) == 1 else np.cross(np.eye(3)[smallest], normal)
        first = unit_vector(first)
        return [first, unit_vector(np.cross(normal, first)), normal]
    return [unit_vector(axis) for axis in np.eye(3)]


@dataclass(frozen=True)
class Term:
    """`factor` times one coordinate of a joint, or times a function of it."""

    joint: str
    """Name of the joint."""
    factor: float = 1.0
    """Factor of the coordinate."""
    coordinate: str | None = None
    """Name of the coordinate; None for a joint with only one."""
    curve: Curve | None = None
    """The function; None for the coordinate itself."""

    def __post_init__(self) -> None:
        """Refuse factors that are zero or not finite."""
        if not math.isfinite(self.factor) or self.factor == 0.0:
            raise FigureError(f"the factor of joint {self.joint!r} in a coupling must be finite and not 0.")


@dataclass(frozen=True)
class Coupling:
    """lower ≤ Σ factor × coordinate ≤ upper; equal bounds make an equality. Coordinates may be those of a curve."""

    name: str
    terms: tuple[Term, ...]
    """Terms of the sum."""
    lower: float = -math.inf
    """Least value of the sum."""
    upper: float = math.inf
    """Greatest value of the sum."""

    def __post_init__(self) -> None:
        """Refuse couplings without effect or without a solution."""
        if not self.terms:
            raise FigureError(f"coupling {self.name!r} has no terms.")
        seen = [(term.joint, term.coordinate) for term in self.terms]
        if len(set(seen)) != len(seen):
            raise FigureError(f"coupling {self.name!r} names the same coordinate twice.")
        if math.isnan(self.lower) or math.isnan(self.upper) or self.lower > self.upper:
            raise FigureError(f"coupling {self.name!r} needs lower ≤ upper, not {self.lower} and {self.upper}.")
        if math.isinf(self.lower) and math.isinf(self.upper):
            raise FigureError(f"coupling {self.name!r} has neither a lower nor an upper bound.")

    @property
    def is_equality(self) -> bool:
        """Whether both bounds are equal."""
        return self.lower == self.upper
