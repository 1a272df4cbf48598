"""Functions that return a figure with one part changed: a length, a mass, a joint's kind or limits, a site."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from poise.errors import FigureError
from poise.figure.model.body import Body, Site
from poise.figure.model.figure import Figure
from poise.figure.model.joints import COORDINATES, Joint, Kind
from poise.figure.model.limits import BallLimits, Ellipse, Twist
from poise.figure.model.mass import Mass
from poise.figure.model.pose import FloatArray, Pose, unit_vector, vector
from poise.figure.model.shapes import Box, Cylinder, Ellipsoid, Mesh, Shape

SHORTEST_LENGTH = 1e-4
"""Shortest length of a body that can be changed [m]."""
ALONG_COSINE = 0.7
"""An axis of a shape is stretched with its body if the cosine of its angle to the body's long axis exceeds this."""
MOVING_KINDS = tuple(kind for kind in COORDINATES if kind not in ("fixed", "free"))
"""Kinds that a joint can be changed to, in addition to `fixed`."""


def joint_of(figure: Figure, body: str) -> Joint | None:
    """The joint that connects a body to its parent; None for the root."""
    return dict(figure.tree_order)[body]


def length_of(figure: Figure, body: str) -> float:
    """Distance from a body's joint to its end, which is the next joint or the first site [m]."""
    return float(np.linalg.norm(_end(figure, body)))


def _end(figure: Figure, body: str) -> FloatArray:
    """(3,) vector from a body's joint to its end; zero if the body has none [m]."""
    start = _start(figure, body)
    ends = [joint.parent_frame.position for joint in figure.joints if joint.parent == body]
    ends += [site.pose.position for site in figure.sites if site.body == body]
    offsets: list[FloatArray] = [end - start for end in ends]
    return next((offset for offset in offsets if np.linalg.norm(offset) > SHORTEST_LENGTH), np.zeros(3))


def _start(figure: Figure, body: str) -> FloatArray:
    joint = joint_of(figure, body)
    return np.zeros(3) if joint is None else np.array(joint.child_frame.position)


def with_length(figure: Figure, body: str, length: float) -> Figure:
    """The figure with a body stretched along its length; bodies attached to it move along, its mass stays the same."""
    old = length_of(figure, body)
    if old < SHORTEST_LENGTH or not math.isfinite(length) or length < SHORTEST_LENGTH:
        raise FigureError(f"body {body!r} is {old:g} m long and cannot be made {length:g} m long.")
    stretch = _Stretch(_start(figure, body), unit_vector(_end(figure, body)), length / old)
    bodies = [stretch.body(each) if each.name == body else each for each in figure.bodies]
    sites = [replace(site, pose=stretch.pose(site.pose)) if site.body == body else site for site in figure.sites]
    joints = [stretch.joint(joint, body) for joint in figure.joints]
    loops = [stretch.joint(joint, body) for joint in figure.loops]
    return figure.replaced(bodies=bodies, sites=sites, joints=joints, loops=loops)


class _Stretch:
    """The map p ↦ o + (I + (f - 1) d dᵀ)(p - o), which scales by f along the direction d only."""

    def __init__(self, origin: FloatArray, direction: FloatArray, factor: float) -> None:
        self.origin, self.direction, self.factor = origin, direction, factor
        self.matrix = np.eye(3) + (factor - 1.0) * np.outer(direction, direction)

    def point(self, point: FloatArray) -> FloatArray:
        return np.asarray(self.origin + self.matrix @ (point - self.origin))

    def pose(self, pose: Pose) -> Pose:
        return Pose(self.point(pose.position), pose.rotation)

    def joint(self, joint: Joint, body: str) -> Joint:
        if joint.parent == body:
            joint = replace(joint, parent_frame=self.pose(joint.parent_frame))
        return replace(joint, child_frame=self.pose(joint.child_frame)) if joint.child == body else joint

    def body(self, body: Body) -> Body:
        return replace(body, mass=self.mass(body.mass), shapes=tuple(self.shape(shape) for shape in body.shapes))

    def mass(self, mass: Mass) -> Mass:
        """Stretch a mass: the matrix of second moments S becomes T S T, and the inertia is tr(S) I - S."""
        second = 0.5 * np.trace(mass.inertia) * np.eye(3) - mass.inertia
        moved = self.matrix @ second @ self.matrix
        return Mass(mass.mass, self.point(mass.center), np.trace(moved) * np.eye(3) - moved)

    def shape(self, shape: Shape) -> Shape:
        """Stretch a shape along those of its own axes that are nearly parallel to the stretch direction."""
        moved: Any = replace(shape, pose=self.pose(shape.pose))
        cosines = np.abs(shape.pose.matrix.T @ self.direction)
        factors = np.where(cosines > ALONG_COSINE, self.factor, 1.0)
        if isinstance(shape, Cylinder):
            return replace(moved, length=shape.length * factors[2])  # type: ignore[no-any-return]
        if isinstance(shape, Box):
            return replace(moved, size=tuple(shape.size * factors))  # type: ignore[no-any-return]
        if isinstance(shape, Ellipsoid):
            return replace(moved, radii=tuple(shape.radii * factors))  # type: ignore[no-any-return]
        if isinstance(shape, Mesh):
            return replace(moved, scale=tuple(shape.scale * factors))  # type: ignore[no-any-return]
        return moved  # type: ignore[no-any-return]


def with_mass(figure: Figure, body: str, mass: float) -> Figure:
    """The figure with another mass of a body; its inertia is scaled by the same factor."""
    old = figure.bodies[body].mass
    factor = mass / old.mass if old.mass > 0.0 else 1.0
    new = Mass(mass, old.center, old.inertia * factor)
    return figure.replaced(bodies=[replace(b, mass=new) if b.name == body else b for b in figure.bodies])


def with_limits(figure: Figure, joint: str, number: int, low: float, high: float) -> Figure:
    """The figure with new limits of one coordinate of a joint, a rotation [rad] or a translation [m]."""
    old = figure.joints[joint]
    lower = tuple(low if k == number else value for k, value in enumerate(old.lower))
    upper = tuple(high if k == number else value for k, value in enumerate(old.upper))
    return _with_joint(figure, replace(old, lower=lower, upper=upper))


def with_swing(figure: Figure, joint: str, x: float, y: float) -> Figure:
    """The figure with an elliptic swing limit of a ball joint, given by the ellipse's radii [rad]."""
    old = figure.joints[joint].ball_limits or BallLimits()
    return _with_joint(figure, replace(figure.joints[joint], ball_limits=replace(old, swing=Ellipse(x, y))))


def with_twist(figure: Figure, joint: str, low: float, high: float) -> Figure:
    """The figure with new twist limits of a ball joint at zero swing [rad]."""
    old = figure.joints[joint].ball_limits or BallLimits()
    rest = Twist.between(low, high) if old.twist is None else old.twist
    twist = Twist((low, *rest.lower[1:]), (high, *rest.upper[1:]))
    return _with_joint(figure, replace(figure.joints[joint], ball_limits=replace(old, twist=twist)))


def with_kind(figure: Figure, joint: str, kind: Kind) -> Figure:
    """The figure with a joint of another kind, without limits; its couplings and its values in postures are removed."""
    old = figure.joints[joint]
    new = replace(old, kind=kind, axes=_axes(old, kind), lower=(), upper=(), ball_limits=None)
    couplings = [each for each in figure.couplings if all(term.joint != joint for term in each.terms)]
    postures = {
        name: {each: value for each, value in figure.named_values(name).items() if each != joint}
        for name in figure.posture_names
    }
    joints = [new if each.name == joint else each for each in figure.joints]
    return figure.replaced(joints=joints, couplings=couplings, postures=postures)


def _axes(joint: Joint, kind: Kind) -> tuple[tuple[float, float, float], ...]:
    """The axes that a kind of joint needs: those the joint had, then axes not parallel to them."""
    wanted = {"revolute": 1, "prismatic": 1, "cylindrical": 1, "planar": 1, "universal": 2, "elbow": 2}.get(kind, 0)
    found = [np.array(axis) for axis in joint.axes[:wanted]]
    for candidate in np.eye(3):
        if len(found) < wanted and all(float(np.linalg.norm(np.cross(candidate, axis))) > 0.5 for axis in found):
            found.append(candidate)
    return tuple((float(a[0]), float(a[1]), float(a[2])) for a in found)


def _with_joint(figure: Figure, joint: Joint) -> Figure:
    return figure.replaced(joints=[joint if each.name == joint.name else each for each in figure.joints])


def with_site(figure: Figure, site: Site) -> Figure:
    """The figure with a site added, or replaced if it has one of that name."""
    known = any(each.name == site.name for each in figure.sites)
    sites: Iterable[Site] = [site if each.name == site.name else each for each in figure.sites]
    return figure.replaced(sites=sites if known else [*sites, site])


def without_site(figure: Figure, name: str) -> Figure:
    """The figure without a site."""
    return figure.replaced(sites=[site for site in figure.sites if site.name != name])


def site_at(figure: Figure, name: str, position: Any) -> Figure:
    """The figure with a site moved to a position in its body's frame [m]."""
    old = figure.sites[name]
    return with_site(figure, replace(old, pose=Pose(vector(position), old.pose.rotation)))
