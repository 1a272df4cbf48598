"""Marks of forces: arrows of loads and of the ground's reactions, and arcs of joint torques [Baerlocher 2001, 6.4.4].

All arrows of forces have one scale, and so have all arcs: the figure's weight and size set it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, NamedTuple

import numpy as np

from poise.figure.model.figure import STANDARD_GRAVITY, Figure
from poise.figure.model.joints import Joint
from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture
from poise.forces.loads import Force, Load, Support
from poise.forces.reactions import Reactions
from poise.kernels.body.queries import node_frames

WEIGHT_ARROW_LENGTH = 0.45
"""Length of the arrow of a force equal to the figure's weight, as a share of the figure's size."""
WEIGHT_ARROW_LEVER = 0.1
"""Lever on which the weight makes a torque drawn with an arrow of that length, as a share of the figure's size."""
MASSLESS_FIGURE_WEIGHT = 10.0
"""Weight assumed for a figure without mass [N]."""
ARC_RADIUS = 0.045
"""Radius of the arcs of joint torques, as a share of the figure's size."""
LONGEST_ARC_LEVER = 0.06
"""Lever on which the weight makes a torque that is drawn as the longest arc, as a share of the figure's size."""
LONGEST_ARC = 2.0 * math.pi - 1.0
"""Angle of the longest arc [rad]."""
SHORTEST_ARC = 0.02
"""Angle below which an arc is not drawn [rad]."""

ArrowKind = Literal["force", "torque", "ground"]


class Arrow(NamedTuple):
    """A force or torque on the figure, or the ground's reaction on a support."""

    kind: ArrowKind
    load: int
    """Number of the load among all loads."""
    tail: FloatArray
    """(3,) point at which it acts [m]."""
    tip: FloatArray
    """(3,) [m]."""


class Arc(NamedTuple):
    """A joint torque, as an arc about its axis whose length is the size of the torque."""

    freedom: int
    """Number of the degree of freedom."""
    center: FloatArray
    """(3,) position of the joint [m]."""
    axis: FloatArray
    """(3,) unit vector along the torque."""
    start: FloatArray
    """(3,) unit vector from the centre to the arc's start."""
    radius: float
    """[m]"""
    angle: float
    """[rad]"""
    used: float
    """Share of the joint's strength that the torque takes."""


def weight_of(figure: Figure) -> float:
    """The figure's weight, by which forces are scaled [N]."""
    return STANDARD_GRAVITY * figure.mass or MASSLESS_FIGURE_WEIGHT


def arrow_scales(figure: Figure, extent: float) -> tuple[float, float]:
    """Arrow lengths of one newton [m/N] and of one newton metre [m/(N m)]; `extent` is the figure's size [m]."""
    weight = weight_of(figure)
    return WEIGHT_ARROW_LENGTH * extent / weight, WEIGHT_ARROW_LENGTH / (WEIGHT_ARROW_LEVER * weight)


class GroundForce(NamedTuple):
    """The force of the ground on a support."""

    point: FloatArray
    """(3,) [m]"""
    force: FloatArray
    """(3,) [N]"""


def ground_forces(found: Reactions) -> dict[str, GroundForce]:
    """Forces of the ground on all supports, each at its centre of pressure, by site."""
    return {site: GroundForce(found.center_of_pressure(site), force) for site, force in found.supports.items()}


def load_arrows(
    posture: Posture, loads: Iterable[Load], ground: Mapping[str, GroundForce], extent: float
) -> Iterator[Arrow]:
    """Arrows of all forces and torques, and of the forces of the ground on the supports.

    Args:
        posture: The posture.
        loads: The loads.
        ground: Forces of the ground by the site of the support; a support that it lacks gets no arrow.
        extent: Size of the figure [m].
    """
    figure = posture.figure
    newton, newton_metre = arrow_scales(figure, extent)
    for number, load in enumerate(loads):
        if isinstance(load, Force):
            frame = figure.pose_of(load.site, posture)
            turn = frame.matrix if load.axes == "site" else np.eye(3)
            if any(load.force):
                tip = frame.position + newton * turn @ np.array(load.force)
                yield Arrow("force", number, frame.position, tip)
            if any(load.torque):
                tip = frame.position + newton_metre * turn @ np.array(load.torque)
                yield Arrow("torque", number, frame.position, tip)
        elif isinstance(load, Support) and load.site in ground:
            point, force = ground[load.site]
            yield Arrow("ground", number, point, point + newton * force)


class JointAnchor(NamedTuple):
    """A joint, where it is, and the direction of the limb that it moves."""

    joint: Joint
    center: FloatArray
    """(3,) [m]"""
    limb: FloatArray
    """(3,) unit vector."""


def longest_arc_torque(figure: Figure, extent: float) -> float:
    """The torque that is drawn as the longest arc, unless another is asked for [N m]; `extent` is the size [m]."""
    return LONGEST_ARC_LEVER * extent * weight_of(figure)


def torque_arcs(
    posture: Posture, torque: FloatArray, anchors: Iterable[JointAnchor], *, radius: float, longest: float
) -> Iterator[Arc]:
    """Joint torques as arcs; the torque of a ball joint is split into swing and twist.

    Args:
        posture: The posture.
        torque: (nv,) the torques [N m].
        anchors: The joints to draw arcs on.
        radius: Radius of the arcs [m].
        longest: The torque that is drawn as the longest arc; larger ones are drawn like it [N m].
    """
    figure = posture.figure
    axes = node_frames(figure.compiled.tree, posture._q)[2]
    for joint, center, limb in anchors:
        where = figure.v_slice(joint.name)
        if joint.kind == "ball":
            total = torque[where] @ axes[where]
            twist = float(total @ limb)
            parts = [(where.start, total - twist * limb), (where.start + 2, twist * limb)]
        else:
            turns = [k for k, kind in zip(range(where.start, where.stop), joint.scalars, strict=True) if kind == "turn"]
            parts = [(k, torque[k] * axes[k]) for k in turns]
        for number, moment in parts:
            size = float(np.linalg.norm(moment))
            angle = LONGEST_ARC * min(1.0, size / longest)
            if angle >= SHORTEST_ARC:
                axis = moment / size
                start = _across(limb, axis)
                yield Arc(number, center, axis, start, radius, angle, size / joint.strength)


def _across(limb: FloatArray, axis: FloatArray) -> FloatArray:
    """(3,) unit vector across an axis, on the side of a limb where it has one."""
    start = limb - float(limb @ axis) * axis
    if np.linalg.norm(start) < 1e-6:
        start = np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
    return np.asarray(start / np.linalg.norm(start))
