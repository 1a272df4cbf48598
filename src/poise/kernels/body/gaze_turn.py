"""How people share a turn of the gaze between eyes, head, trunk and base.

The target asks for a turn of A from where the eyes look: by an elevation, then by an azimuth about the axis of the
trunk. In people [Kim 2010; Land 2004; Sidenmark & Gellersen 2019] the eyes take the first 15 to 20°, the head most of
the rest, the trunk follows from 50 to 60° on, and the hips turn when the trunk runs out of range. So the parts of the
body turn, against where they were, by

    eyes in the head   E(A) = e tanh(A / e)
    head in space      A - E(A)
    trunk in space     T(A) = s(A; TRUNK_FROM, TRUNK_WIDTH)
    base in space      B(A) = s(T(A); BASE_FROM, BASE_WIDTH)

    s(x; x₀, w) = ½ (x - x₀ + √((x - x₀)² + w²)) - ½ (-x₀ + √(x₀² + w²))

where s is 0 at 0, nearly flat up to x₀, and then rises like x. The nodes of a part share its turn by their ranges. What
a part cannot do because of its limits is left to those after it. An azimuth counts for less near the axis of the trunk,
where it means little: the result is a smooth function of the target but where that passes straight behind.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.body.clamp import clamp
from poise.kernels.body.limits import Bounds
from poise.kernels.body.tree import Tree, forward, integrate, motion_axes
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.quaternion import (
    about,
    conjugate,
    multiply,
    quaternion_at,
    rotate,
    to_rotation_vector,
)
from poise.kernels.maths.vector import Vector, add, cross, dot, length, orthogonal, scale, subtract, vector_at

Array = np.ndarray

EYES_MOST = math.radians(18.0)
"""Greatest turn of the eyes in the head that people keep [rad]."""
TRUNK_FROM, TRUNK_WIDTH = math.radians(55.0), math.radians(30.0)
"""Turn of the gaze from which on the trunk turns, and how gradually [rad]."""
BASE_FROM, BASE_WIDTH = math.radians(35.0), math.radians(20.0)
"""Turn of the trunk from which on the base turns, and how gradually [rad]."""
STEEP = math.cos(math.radians(60.0))
"""Cosine of the elevation above which an azimuth counts for less."""
LEAST_LENGTH = 1e-9
"""Length below which a vector has no direction."""
LIMB, BASE, TRUNK, NECK, EYES = -1, 0, 1, 2, 3
"""Parts of the body: limbs that go out from the base and stay as they are, and those that share a turn."""


class GazeChain(NamedTuple):
    """The nodes that turn the gaze of a part, from the root to it, then those of limbs that stay as they are."""

    node: Array
    """(k,) the nodes."""
    part: Array
    """(k,) the part that each one belongs to."""
    azimuth: Array
    """(k,) share of an azimuth of its part that the node and those before it in the part take."""
    elevation: Array
    """(k,) the same for an elevation."""
    eye: Array
    """(1,) the node that looks."""
    trunk: Array
    """(1,) the node that carries the neck, whose axis an azimuth is about."""
    frame: Array
    """(3, 3) position of the eye [m] and direction of sight on its node, and the axis of the trunk on its own."""


@kernel
def gaze_shares(angle: float, has_eyes: bool) -> tuple[float, float, float]:
    """Turns of base, trunk and head in space, as shares of a turn of the gaze by `angle` > 0 [rad]."""
    eyes = EYES_MOST * math.tanh(angle / EYES_MOST) if has_eyes else 0.0
    trunk = _rise(angle, TRUNK_FROM, TRUNK_WIDTH)
    return _rise(trunk, BASE_FROM, BASE_WIDTH) / angle, trunk / angle, (angle - eyes) / angle


@kernel
def _rise(x: float, start: float, width: float) -> float:
    """s(x; x₀, w)."""
    return 0.5 * (x - start + math.hypot(x - start, width)) - 0.5 * (math.hypot(start, width) - start)


@kernel(counts_references=True)
def turn_to_gaze(
    tree: Tree,
    bounds: Bounds,
    chain: GazeChain,
    target: Vector,
    is_direction: bool,
    may_move: Array,
    # outputs
    q: Array,
) -> None:
    """Turn the posture `q` (nq,) so that its eyes look at a point, or in a direction, as far as limits allow.

    Args:
        tree: The tree.
        bounds: Its limits.
        chain: The nodes that share the turn.
        target: The point [m], or the direction.
        is_direction: Whether it is a direction.
        may_move: (nv,) 1 for velocities that may be used, else 0.
        q: The posture to turn.
    """
    n, nv = tree.parent.shape[0], tree.dof_node.shape[0]
    position, start, now = np.empty((n, 3)), np.empty((n, 4)), np.empty((n, 4))
    axes, velocity, moved, before = np.empty((nv, 3)), np.empty(nv), np.empty(q.shape[0]), q.copy()
    forward(tree, q, position, start)
    eye, trunk = chain.eye[0], chain.trunk[0]
    wanted = target
    if not is_direction:
        wanted = subtract(
            target, add(vector_at(position, eye), rotate(quaternion_at(start, eye), vector_at(chain.frame, 0)))
        )
    up = rotate(quaternion_at(start, trunk), vector_at(chain.frame, 2))
    sight = rotate(quaternion_at(start, eye), vector_at(chain.frame, 1))
    across, azimuth, elevation = _turn_between(sight, wanted, up)
    angle = math.hypot(azimuth, elevation)
    if angle < LEAST_LENGTH:
        return
    for k in range(chain.node.shape[0]):
        share_azimuth, share_elevation = _share(chain, k, angle)
        turn = multiply(about(up, share_azimuth * azimuth), about(across, share_elevation * elevation))
        i = chain.node[k]
        forward(tree, q, position, now)
        motion_axes(tree, now, axes)
        missing = to_rotation_vector(
            multiply(multiply(turn, quaternion_at(start, i)), conjugate(quaternion_at(now, i)))
        )
        velocity[:] = 0.0
        for j in range(tree.v_start[i], tree.v_start[i] + tree.v_count[i]):
            if tree.dof_turns[j] == 1 and may_move[j] > 0.0:
                velocity[j] = dot(vector_at(axes, j), missing)
        integrate(tree, q, velocity, moved)
        if k + 1 == chain.node.shape[0] or chain.part[k + 1] != chain.part[k]:
            clamp(bounds, before, moved)
            before[:] = moved
        q[:] = moved


@kernel
def _turn_between(sight: Vector, wanted: Vector, up: Vector) -> tuple[Vector, float, float]:
    """The axis of the elevation, and the azimuth about `up` and the elevation that take one direction to another."""
    rise, rise_wanted = dot(sight, up), dot(wanted, up)
    flat, flat_wanted = subtract(sight, scale(up, rise)), subtract(wanted, scale(up, rise_wanted))
    size, size_wanted, far = length(flat), length(flat_wanted), length(wanted)
    if far < LEAST_LENGTH:
        return up, 0.0, 0.0
    ahead = scale(flat, 1.0 / size) if size > LEAST_LENGTH else orthogonal(up)
    azimuth = math.atan2(dot(flat_wanted, cross(up, ahead)), dot(flat_wanted, ahead))
    elevation = math.atan2(rise_wanted, size_wanted) - math.atan2(rise, size)
    return cross(ahead, up), azimuth * min(1.0, min(size, size_wanted / far) / STEEP), elevation


@kernel
def _share(chain: GazeChain, k: int, angle: float) -> tuple[float, float]:
    """Shares of azimuth and elevation by which node `k` of a chain turns in space; limbs do not."""
    part = chain.part[k]
    if part == LIMB:
        return 0.0, 0.0
    has_eyes = False
    for other in range(chain.part.shape[0]):
        has_eyes = has_eyes or chain.part[other] == EYES
    base, trunk, head = gaze_shares(angle, has_eyes)
    if part == BASE:
        low, high = 0.0, base
    elif part == TRUNK:
        low, high = base, trunk
    elif part == NECK:
        low, high = trunk, head
    else:
        low, high = head, 1.0
    return low + chain.azimuth[k] * (high - low), low + chain.elevation[k] * (high - low)
