"""Errors of a solution: its distance from the wanted orientation and from the wanted posture.

Orientation: Z(τ, ω) = min(|τ - ω|, |τ + ω|) / √2, which is √2 sin(d/4) for a residual rotation by d: 0.354 per radian
near 0, and 1 at half a turn [Ribeiro & Paiva 2019, eq. 20].

Posture: Σ w_k |c_k(θ_k) - c_k(ψ_k)| / 2 with c_k the cosine of the angle between segment k and the previous one, over
the swings, the joints that bend the chain; w_k ∝ αⁱ, i counting those joints from 0, Σ w = 1 [Ribeiro & Paiva 2019,
eq. 21-22]. This error ignores the sign of a bend, and the angle of a twister (roll joint) in the middle of the chain.

Shape: min over s = ±1 of Σ w_k (1 - cos(θ_k - s ψ_k)) / 2 over all joints but a twister at the root and one at the tip,
i counting those joints. It includes the signs of bends and the angles of twisters. Negating all swings turns the chain
by half a turn about its root axis, which does not change its shape, hence the minimum over s. Twisters always have
s = 1, and so do all joints of a chain without that symmetry.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.chains.chain import SWING_JOINT, Chain, bend_cosine, pointing, tip_rotation
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.portable_trigonometry import angle_apart, cosine, sine
from poise.kernels.maths.quaternion import Quaternion

Array = np.ndarray

FULL, DIRECTED = 0, 1
"""Values of `Aim.kind`: a full orientation, or a direction with a free roll."""


class Scoring(NamedTuple):
    """Weights of the errors."""

    bends: Array
    """(n,) weight w_k of each joint in the posture error, 0 for twisters; they sum to 1."""
    shapes: Array
    """(n,) weight w_k of each joint in the shape error, 0 for twisters at root and tip; they sum to 1."""
    orientation: float
    """Weight of the orientation error in the combined error."""
    posture: float
    """Weight of the posture error in the combined error."""
    symmetric: int
    """1 if a tip that is upside down, turned by π about its own +Y, counts as equal."""


class Aim(NamedTuple):
    """The wanted orientation or direction of the tip."""

    rotation: Quaternion
    """Wanted world frame of the tip."""
    kind: int
    """FULL: the tip must have this frame; DIRECTED: only its +Y must have the direction of this frame's +Y."""


@kernel
def rotation_distance(a: Quaternion, b: Quaternion) -> float:
    """Z(a, b) = min(|a - b|, |a + b|) / √2 [Ribeiro & Paiva 2019, eq. 20]."""
    w, x, y, z = a.w - b.w, a.x - b.x, a.y - b.y, a.z - b.z
    less = w * w + x * x + y * y + z * z
    w, x, y, z = a.w + b.w, a.x + b.x, a.y + b.y, a.z + b.z
    more = w * w + x * x + y * y + z * z
    return math.sqrt(0.5 * min(less, more))


@kernel
def upside_down(q: Quaternion) -> Quaternion:
    """q R(y, π): the frame turned by half a turn about its own +Y, with the same direction."""
    return Quaternion(-q.y, -q.z, q.w, q.x)


@kernel
def orientation_error(scoring: Scoring, aim: Aim, tip: Quaternion) -> float:
    """Z between the tip and the aim, or √2 sin(d/4) for directions an angle d apart.

    With `scoring.symmetric`, the smaller Z of the tip and of the tip upside down.
    """
    if aim.kind == DIRECTED:
        return math.sqrt(2.0) * sine(0.25 * angle_apart(pointing(tip), pointing(aim.rotation)))
    error = rotation_distance(aim.rotation, tip)
    if scoring.symmetric:
        error = min(error, rotation_distance(aim.rotation, upside_down(tip)))
    return error


@kernel
def posture_error(chain: Chain, scoring: Scoring, angles: Array, posture: Array) -> float:
    """Σ w_k |c_k(θ_k) - c_k(ψ_k)| / 2 [Ribeiro & Paiva 2019, eq. 21]."""
    bends = scoring.bends
    total = 0.0
    for k in range(bends.shape[0]):
        if bends[k] > 0.0:
            total += 0.5 * bends[k] * abs(bend_cosine(chain, k, angles[k]) - bend_cosine(chain, k, posture[k]))
    return total


@kernel
def shape_error(chain: Chain, scoring: Scoring, angles: Array, posture: Array) -> float:
    """min over s = ±1 of Σ w_k (1 - cos(θ_k - s ψ_k)) / 2."""
    shapes, role = scoring.shapes, chain.role
    same = 0.0
    negated = 0.0
    for k in range(shapes.shape[0]):
        if shapes[k] > 0.0:
            as_given = 0.5 * shapes[k] * (1.0 - cosine(angles[k] - posture[k]))
            same += as_given
            if role[k] == SWING_JOINT:
                as_given = 0.5 * shapes[k] * (1.0 - cosine(angles[k] + posture[k]))
            negated += as_given
    return min(same, negated) if chain.mirrors else same


@kernel
def combined_error(chain: Chain, scoring: Scoring, aim: Aim, angles: Array, posture: Array) -> float:
    """Weighted sum of the orientation and the posture error [Ribeiro & Paiva 2019, eq. 19]."""
    turned = orientation_error(scoring, aim, tip_rotation(chain, angles))
    return scoring.orientation * turned + scoring.posture * posture_error(chain, scoring, angles, posture)
