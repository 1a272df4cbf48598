"""Rotations drawn from the three places where rotation code goes wrong differently."""

import math

from hypothesis import strategies as st

from poise.kernels.maths.quaternion import Quaternion, from_rotation_vector
from poise.kernels.maths.vector import Vector, normalized

unit_interval = st.floats(-1.0, 1.0)
directions = (
    st.tuples(unit_interval, unit_interval, unit_interval)
    .filter(lambda v: math.hypot(*v) > 1e-3)
    .map(lambda v: normalized(Vector(*v)))
)
vectors = st.tuples(*[st.floats(-10.0, 10.0)] * 3).map(lambda v: Vector(*v))

angles = st.one_of(
    st.floats(0.0, math.pi),
    st.floats(0.0, 1e-6),
    st.sampled_from([0.0, 1e-12, 1e-9, 1e-5, math.pi]),
    st.floats(0.0, 1e-6).map(lambda e: math.pi - e),
)
"""Uniform, near the identity, near half a turn."""


def _rotation(pair: tuple[Vector, float]) -> Quaternion:
    axis, angle = pair
    return from_rotation_vector(Vector(axis.x * angle, axis.y * angle, axis.z * angle))


rotations = st.tuples(directions, angles).map(_rotation)
