"""Denavit-Hartenberg parameters of a chain of hinges, in the classic convention.

Frame i has its z along the axis of joint i+1, and its x along the common normal from axis i to axis i+1. Then

    T_i = Rot(z, θ_i) Trans(z, d_i) Trans(x, a_i) Rot(x, α_i)

takes frame i to frame i-1, and the angle of joint i is added to θ_i. Where two axes intersect, x is their cross
product; where they are parallel, the normal goes through the origin of the previous frame; x keeps its direction where
the axes coincide. The base frame's z is the first axis. The tip's frame has the z of the last axis.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from poise.chains.chain import Limb
from poise.figure.model.pose import FloatArray
from poise.kernels.chains.chain import joint_positions, segment_rotations, world_axis

PARALLEL = 1e-9
"""Two axes are parallel if the sine of their angle is below this."""


class Parameters(NamedTuple):
    """The parameters of one joint."""

    theta: float
    """θ: angle between the x axes at rest [rad]."""
    alpha: float
    """α: angle between the z axes [rad]."""
    a: float
    """Distance of the z axes [m]."""
    d: float
    """Distance of the x axes along z [m]."""


def parameters_of(limb: Limb) -> list[Parameters]:
    """The parameters of every joint of a chain in its rest posture."""
    axes, places = _axes(limb)
    x, origin = _first_x(axes), places[0]
    found = []
    for k in range(len(axes)):
        z = axes[k]
        following = axes[k + 1] if k + 1 < len(axes) else z
        through = places[k + 1]
        next_x, foot, next_origin = _common_normal(z, origin, following, through, x)
        if k + 1 == len(axes):
            foot = next_origin = origin + z * (z @ (through - origin))
        found.append(
            Parameters(
                float(np.arctan2(z @ np.cross(x, next_x), x @ next_x)),
                float(np.arctan2(next_x @ np.cross(z, following), z @ following)),
                float(next_x @ (next_origin - foot)),
                float(z @ (foot - origin)),
            )
        )
        x, origin = next_x, next_origin
    return found


def _axes(limb: Limb) -> tuple[FloatArray, FloatArray]:
    """World axes of the joints (n, 3), and the positions of the joints and the tip (n+1, 3), at angle 0."""
    n = len(limb.joints)
    rotations, places = np.empty((n, 4)), np.empty((n + 1, 3))
    segment_rotations(limb.chain, np.zeros(n), rotations)
    joint_positions(limb.chain, rotations, places)
    return np.array([world_axis(limb.chain, rotations, k) for k in range(n)]), places


def _first_x(axes: FloatArray) -> FloatArray:
    """The x axis of the base: at right angles to the first axis, and to the next axis that is not parallel to it."""
    for axis in (*axes[1:], *np.eye(3)):
        normal = np.cross(axes[0], axis)
        if np.linalg.norm(normal) > PARALLEL:
            return np.asarray(normal / np.linalg.norm(normal))
    raise AssertionError


def _common_normal(
    z: FloatArray, origin: FloatArray, following: FloatArray, through: FloatArray, x: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The next x axis, and the feet of the common normal on both axes; lines are given by a direction and a point."""
    normal = np.cross(z, following)
    size = float(np.linalg.norm(normal))
    if size <= PARALLEL:
        apart = through - origin
        apart = apart - z * (z @ apart)
        distance = float(np.linalg.norm(apart))
        return (apart / distance if distance > PARALLEL else x), origin, origin + apart
    normal = normal / size
    # origin + s z + t normal = through + u following
    s, _, u = np.linalg.solve(np.stack([z, normal, -following], axis=1), through - origin)
    foot, other = origin + s * z, through + u * following
    return (-normal if normal @ (other - foot) < -PARALLEL else normal), foot, other
