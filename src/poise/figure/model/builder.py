"""`Builder` and functions for joints: the description of a figure part by part.

lamp = Builder("lamp")
lamp.body("foot", shapes=[Cylinder(0.08, 0.02)], mass=0.5)
lamp.body("stem", parent="foot", joint=revolute("turn", "y", limits=(-1.5, 1.5)), at=(0, 0.02, 0))
lamp.site("tip", "stem", at=(0, 0.3, 0))
figure = lamp.build()
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from poise.arguments import all_of, shown
from poise.errors import FigureError
from poise.figure.model.body import Body, Site
from poise.figure.model.curves import Curve
from poise.figure.model.figure import Figure, UpAxis
from poise.figure.model.joints import Coupling, Joint, Kind, Term
from poise.figure.model.limits import BallLimits
from poise.figure.model.mass import Mass, combined
from poise.figure.model.pose import Pose
from poise.figure.model.posture import JointValues
from poise.figure.model.shapes import Shape

Axis = ArrayLike | str
Limits = tuple[float, float] | Sequence[tuple[float, float]] | None
NO_TURN = (1.0, 0.0, 0.0, 0.0)
"""The identity rotation."""


def _joint(name: str, kind: Kind, axes: Sequence[Axis], limits: Limits, options: dict[str, Any]) -> Joint:
    """A joint without bodies and frames, which `Builder.body` or `Builder.loop` fills in."""
    from poise.figure.model.pose import unit_vector

    directions = tuple(tuple(unit_vector(axis, f"the axis of joint {name!r}").tolist()) for axis in axes)
    try:
        rows = np.atleast_2d(np.array(limits, dtype=np.float64)) if limits is not None else np.empty((0, 2))
    except (TypeError, ValueError):
        raise FigureError(f"joint {name!r}: limits are (lower, upper), not {limits!r}.") from None
    if rows.ndim != 2 or rows.shape[1] != 2:
        raise FigureError(f"joint {name!r}: limits are (lower, upper), one pair per coordinate.")
    lower, upper = tuple(rows[:, 0].tolist()), tuple(rows[:, 1].tolist())
    return Joint(name, kind, None, "", directions, lower=lower, upper=upper, **options)


def fixed(name: str, *, active: bool = False) -> Joint:
    """A joint without degrees of freedom, which cannot have a motor."""
    if active:
        raise FigureError(f"joint {name!r} is fixed and cannot have a motor: make it a joint that moves, or passive.")
    return _joint(name, "fixed", (), None, {})


def revolute(name: str, axis: Axis, limits: Limits = None, **options: Any) -> Joint:
    """A hinge about `axis`, between `limits` [rad]. Options: active, speed, strength."""
    return _joint(name, "revolute", (axis,), limits, options)


def prismatic(name: str, axis: Axis, limits: Limits = None, **options: Any) -> Joint:
    """A slide along `axis`, between `limits` [m]."""
    return _joint(name, "prismatic", (axis,), limits, options)


def universal(name: str, first: Axis, second: Axis, limits: Limits = None, **options: Any) -> Joint:
    """Two hinges at one point, the first carrying the second."""
    return _joint(name, "universal", (first, second), limits, options)


def elbow(name: str, flexion: Axis, twist: Axis, limits: Limits = None, **options: Any) -> Joint:
    """A hinge, and a twist of the outgoing limb about its own axis [Baerlocher 2001, 3.4.2]."""
    return _joint(name, "elbow", (flexion, twist), limits, options)


def cylindrical(name: str, axis: Axis, limits: Limits = None, **options: Any) -> Joint:
    """A turn about `axis` and a slide along it."""
    return _joint(name, "cylindrical", (axis,), limits, options)


def planar(name: str, normal: Axis, limits: Limits = None, **options: Any) -> Joint:
    """Two slides in a plane and a turn about its normal."""
    return _joint(name, "planar", (normal,), limits, options)


def cartesian(name: str, limits: Limits = None, **options: Any) -> Joint:
    """Slides along x, y and z."""
    return _joint(name, "cartesian", (), limits, options)


def ball(name: str, limits: BallLimits | None = None, **options: Any) -> Joint:
    """A ball-and-socket joint with three rotational degrees of freedom."""
    if limits is not None and not isinstance(limits, BallLimits):
        raise FigureError(
            f"joint {name!r}: the limits of a ball joint are BallLimits(swing, twist), not {shown(limits)}."
        )
    return _joint(name, "ball", (), None, {"ball_limits": limits, **options})


def free(name: str, **options: Any) -> Joint:
    """A joint with all six degrees of freedom, such as a floating base."""
    return _joint(name, "free", (), None, options)


@dataclass
class Builder:
    """Collects the parts of a figure; `build` checks them and returns the figure."""

    name: str
    up: UpAxis = "y"
    description: str = ""
    placement: Pose = field(default_factory=Pose)
    bodies: list[Body] = field(default_factory=list)
    joints: list[Joint] = field(default_factory=list)
    sites: list[Site] = field(default_factory=list)
    loops: list[Joint] = field(default_factory=list)
    couplings: list[Coupling] = field(default_factory=list)
    postures: dict[str, JointValues] = field(default_factory=dict)

    def body(
        self,
        name: str,
        *,
        parent: str | None = None,
        joint: Joint | None = None,
        at: ArrayLike = (0.0, 0.0, 0.0),
        turned: ArrayLike = NO_TURN,
        shapes: Iterable[Shape] = (),
        mass: float | Mass | None = None,
        density: float | None = None,
        facing: Axis | None = None,
    ) -> str:
        """Add a body whose frame is at its joint, and return its name.

        Args:
            name: Name of the body.
            parent: Name of its parent body; None for the world.
            joint: The joint to the parent; None for a root that does not move, or for a rigid attachment to `parent`.
            at: Position of the joint in the parent's frame [m].
            turned: Rotation of the joint's axes in the parent's frame, as a quaternion.
            shapes: Its solids.
            mass: Mass [kg], distributed over the shapes by volume (at the origin without shapes), or a full `Mass`.
            density: Density of the shapes [kg/m³], instead of a mass.
            facing: Axis with which the body looks, in its own axes.
        """
        solids: tuple[Shape, ...] = all_of(shapes, Shape, "shape", error=FigureError)
        self.bodies.append(Body(name, _mass_of(name, solids, mass, density), solids, facing))  # type: ignore[arg-type]
        if joint is None and parent is not None:
            joint = fixed(f"{parent}_{name}")
        if joint is None:
            if Pose(at, turned) != Pose():
                raise FigureError(
                    f"body {name!r} has neither a parent nor a joint, so it cannot be at another place: give the "
                    "Builder a placement=Pose(…)."
                )
        elif not isinstance(joint, Joint):
            raise FigureError(
                f"the joint of body {name!r} must be what revolute(…), ball(…) or a similar function returns, not "
                f"{shown(joint)}."
            )
        else:
            self.joints.append(replace(joint, parent=parent, child=name, parent_frame=Pose(at, turned)))
        return name

    def site(
        self,
        name: str,
        body: str,
        at: ArrayLike = (0.0, 0.0, 0.0),
        turned: ArrayLike = NO_TURN,
        *,
        facing: Axis | None = None,
    ) -> None:
        """Add a named frame on a body; `facing` is the axis with which it looks, in its own axes."""
        self.sites.append(Site(name, body, Pose(at, turned), facing))  # type: ignore[arg-type]

    def loop(self, joint: Joint, parent: str, child: str, *, parent_frame: Pose, child_frame: Pose) -> None:
        """Add a joint between two bodies that are already in the tree, which closes a loop."""
        self.loops.append(
            replace(joint, parent=parent, child=child, parent_frame=parent_frame, child_frame=child_frame)
        )

    def couple(self, name: str, terms: Mapping[str, float], equals: float = 0.0) -> None:
        """Add the equality coupling Σ factor × joint = equals; keys are `joint` or `joint.coordinate`."""
        self.couplings.append(Coupling(name, _terms(terms), equals, equals))

    def follow(self, name: str, joint: str, leader: str, curve: Curve) -> None:
        """Add the coupling joint = curve(leader); joints are given as `joint` or `joint.coordinate`."""
        (term,), (led,) = _terms({joint: 1.0}), _terms({leader: -1.0})
        self.couplings.append(Coupling(name, (term, replace(led, curve=curve)), 0.0, 0.0))

    def bound(self, name: str, terms: Mapping[str, float], lower: float = -math.inf, upper: float = math.inf) -> None:
        """Add the coupling lower ≤ Σ factor × joint ≤ upper; keys are `joint` or `joint.coordinate`."""
        self.couplings.append(Coupling(name, _terms(terms), lower, upper))

    def posture(self, name: str, values: Mapping[str, float | Sequence[float]]) -> None:
        """Add a named posture, given as values by joint."""
        self.postures[name] = {
            joint: tuple(np.atleast_1d(np.array(value, dtype=np.float64)).tolist()) for joint, value in values.items()
        }

    def build(self) -> Figure:
        """The finished figure."""
        return Figure(
            self.name,
            self.bodies,
            self.joints,
            sites=self.sites,
            loops=self.loops,
            couplings=self.couplings,
            postures=self.postures,
            up=self.up,
            placement=self.placement,
            description=self.description,
        )


def _terms(terms: Mapping[str, float]) -> tuple[Term, ...]:
    """The terms of a coupling from factors by `joint` or `joint.coordinate`."""
    parts = []
    for key, factor in terms.items():
        joint, _, coordinate = key.partition(".")
        parts.append(Term(joint, float(factor), coordinate or None))
    return tuple(parts)


def _mass_of(name: str, shapes: tuple[Shape, ...], mass: float | Mass | None, density: float | None) -> Mass:
    """The mass of a body from a mass or a density of its shapes."""
    if isinstance(mass, Mass):
        return mass
    if mass is not None and density is not None:
        raise FigureError(f"body {name!r} has both a mass and a density; give one.")
    solids = [shape for shape in shapes if shape.role != "visual"] or list(shapes)
    if density is not None:
        return combined(shape.mass(density) for shape in solids)
    if mass is None or mass == 0.0:
        return Mass()
    if not solids:
        return Mass(mass)
    volume = sum(shape.volume() for shape in solids)
    return combined(shape.mass(mass / volume) for shape in solids)
