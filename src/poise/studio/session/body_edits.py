"""Figures with a part changed: how long and heavy it is, how its joint moves and how far, where its sites are."""

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

SHORTEST = 1e-4
"""A part shorter than this has no length that could be changed [m]."""
ALONG = 0.7
"""Cosine from which an axis of a shape counts as along a part."""
MOVING = tuple(kind for kind in COORDINATES if kind not in ("fixed", "free"))
"""Kinds that a joint can be changed to, `fixed` besides."""


def joint_of(figure: Figure, body: str) -> Joint | None:
    """The joint that a body hangs from."""
    return dict(figure.tree_order)[body]


def length_of(figure: Figure, body: str) -> float:
    """How far the end of a part is from its joint [m]: where its first joint sits, or its first site."""
    return float(np.linalg.norm(_end(figure, body)))


def _end(figure: Figure, body: str) -> FloatArray:
    """(3,) the end of a part, from where it hangs [m]."""
    start = _start(figure, body)
    ends = [joint.parent_frame.position for joint in figure.joints if joint.parent == body]
    ends += [site.pose.position for site in figure.sites if site.body == body]
    ways: list[FloatArray] = [end - start for end in ends]
    return next((way for way in ways if np.linalg.norm(way) > SHORTEST), np.zeros(3))


def _start(figure: Figure, body: str) -> FloatArray:
    joint = joint_of(figure, body)
    return np.zeros(3) if joint is None else np.array(joint.child_frame.position)


def with_length(figure: Figure, body: str, length: float) -> Figure:
    """The figure with a part stretched along itself; what hangs from it moves along, its mass stays."""
    old = length_of(figure, body)
    if old < SHORTEST or not math.isfinite(length) or length < SHORTEST:
        raise FigureError(f"body {body!r} is {old:g} m long and cannot be made {length:g} m long.")
    way = _Stretch(_start(figure, body), unit_vector(_end(figure, body)), length / old)
    bodies = [way.body(each) if each.name == body else each for each in figure.bodies]
    sites = [replace(site, pose=way.pose(site.pose)) if site.body == body else site for site in figure.sites]
    joints = [way.joint(joint, body) for joint in figure.joints]
    loops = [way.joint(joint, body) for joint in figure.loops]
    return figure.replaced(bodies=bodies, sites=sites, joints=joints, loops=loops)


class _Stretch:
    """p ↦ o + (p - o) + (f - 1) d dᵀ (p - o): longer along one direction, the same across it."""

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
        """The second moments S of the mass become T S T, and its inertia tr(S) - S with them."""
        second = 0.5 * np.trace(mass.inertia) * np.eye(3) - mass.inertia
        moved = self.matrix @ second @ self.matrix
        return Mass(mass.mass, self.point(mass.center), np.trace(moved) * np.eye(3) - moved)

    def shape(self, shape: Shape) -> Shape:
        """The shape longer along those of its own axes that run along the part."""
        moved: Any = replace(shape, pose=self.pose(shape.pose))
        cosines = np.abs(shape.pose.matrix.T @ self.direction)
        factors = np.where(cosines > ALONG, self.factor, 1.0)
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
    """The figure with a heavier or lighter part; its inertia grows with it."""
    old = figure.bodies[body].mass
    factor = mass / old.mass if old.mass > 0.0 else 1.0
    new = Mass(mass, old.center, old.inertia * factor)
    return figure.replaced(bodies=[replace(b, mass=new) if b.name == body else b for b in figure.bodies])


def with_limits(figure: Figure, joint: str, number: int, low: float, high: float) -> Figure:
    """The figure with other limits of one turn [rad] or slide [m] of a joint."""
    old = figure.joints[joint]
    lower = tuple(low if k == number else value for k, value in enumerate(old.lower))
    upper = tuple(high if k == number else value for k, value in enumerate(old.upper))
    return _with_joint(figure, replace(old, lower=lower, upper=upper))


def with_swing(figure: Figure, joint: str, x: float, y: float) -> Figure:
    """The figure with an ellipse for the swing of a ball joint, by its radii [rad]."""
    old = figure.joints[joint].ball_limits or BallLimits()
    return _with_joint(figure, replace(figure.joints[joint], ball_limits=replace(old, swing=Ellipse(x, y))))


def with_twist(figure: Figure, joint: str, low: float, high: float) -> Figure:
    """The figure with other bounds of a ball joint's twist, where it does not swing [rad]."""
    old = figure.joints[joint].ball_limits or BallLimits()
    rest = Twist.between(low, high) if old.twist is None else old.twist
    twist = Twist((low, *rest.lower[1:]), (high, *rest.upper[1:]))
    return _with_joint(figure, replace(figure.joints[joint], ball_limits=replace(old, twist=twist)))


def with_kind(figure: Figure, joint: str, kind: Kind) -> Figure:
    """The figure with a joint of another kind, without limits; postures and couplings forget it."""
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
    """As many axes as a kind is described by: those the joint had, then others across them."""
    wanted = {"revolute": 1, "prismatic": 1, "cylindrical": 1, "planar": 1, "universal": 2, "elbow": 2}.get(kind, 0)
    found = [np.array(axis) for axis in joint.axes[:wanted]]
    for candidate in np.eye(3):
        if len(found) < wanted and all(float(np.linalg.norm(np.cross(candidate, axis))) > 0.5 for axis in found):
            found.append(candidate)
    return tuple((float(a[0]), float(a[1]), float(a[2])) for a in found)


def _with_joint(figure: Figure, joint: Joint) -> Figure:
    return figure.replaced(joints=[joint if each.name == joint.name else each for each in figure.joints])


def with_site(figure: Figure, site: Site) -> Figure:
    """The figure with a site more, or in place of the one of its name."""
    known = any(each.name == site.name for each in figure.sites)
    sites: Iterable[Site] = [site if each.name == site.name else each for each in figure.sites]
    return figure.replaced(sites=sites if known else [*sites, site])


def without_site(figure: Figure, name: str) -> Figure:
    """The figure with a site less."""
    return figure.replaced(sites=[site for site in figure.sites if site.name != name])


def site_at(figure: Figure, name: str, position: Any) -> Figure:
    """The figure with a site moved to a point of its body [m]."""
    old = figure.sites[name]
    return with_site(figure, replace(old, pose=Pose(vector(position), old.pose.rotation)))
