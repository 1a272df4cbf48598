"""Lengths and masses of an average human.

Lengths are fractions of stature after Drillis and Contini [Winter 2009, fig. 4.1], because they close: ankle height,
shank, thigh, trunk, and head with neck add up to 1. Inside the trunk, whose length they give, the levels of navel,
xiphion and seventh neck vertebra divide it as in de Leva's sample. Masses, centres of mass and radii of gyration are
de Leva's for men [de Leva 1996, table 4]; each segment keeps its shares of its own length. No other table is mixed in:
the masses sum to 1 only as a family.

Their breadths, 0.259 and 0.191 of stature, are outlines. Joint centres lie inside them by the radius of the limb.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from poise.figure.model.mass import Mass


class Segment(NamedTuple):
    """Mass of a segment and how it is spread along its length."""

    mass: float
    """Share of the body's mass."""
    center: float
    """Centre of mass from the segment's upper end, share of its length."""
    gyration: tuple[float, float, float]
    """Radii of gyration about the sagittal, transverse and longitudinal axes, shares of its length."""


SEGMENTS = {
    "head": Segment(0.0694, 0.5002, (0.303, 0.315, 0.261)),
    "thorax": Segment(0.1596, 0.5066, (0.505, 0.320, 0.465)),
    "abdomen": Segment(0.1633, 0.4502, (0.482, 0.383, 0.468)),
    "pelvis": Segment(0.1117, 0.6115, (0.615, 0.551, 0.587)),
    "upper_arm": Segment(0.0271, 0.5772, (0.285, 0.269, 0.158)),
    "forearm": Segment(0.0162, 0.4574, (0.276, 0.265, 0.121)),
    "hand": Segment(0.0061, 0.7900, (0.628, 0.513, 0.401)),
    "thigh": Segment(0.1416, 0.4095, (0.329, 0.329, 0.149)),
    "shank": Segment(0.0433, 0.4395, (0.251, 0.246, 0.102)),
    "foot": Segment(0.0137, 0.4415, (0.257, 0.245, 0.124)),
}
"""Per side for limbs; the foot's length runs from heel to toe, all others from the head downwards or outwards."""

ANKLE_HEIGHT, SHANK, THIGH = 0.039, 0.246, 0.245
UPPER_ARM, FOREARM, HAND, KNUCKLES = 0.186, 0.146, 0.108, 0.0495
"""The hand's centre of mass and gyration are shares of its length to the third knuckle."""
FOOT_LENGTH, FOOT_BREADTH, HEEL_TO_ANKLE, HEEL_TO_TOES = 0.152, 0.055, 0.038, 0.109
"""The ankle stands at a quarter of the foot, the toes' joint at 72 %."""

KNEE = ANKLE_HEIGHT + SHANK
HIP = KNEE + THIGH
SHOULDER = HIP + 0.288
_TRUNK_SCALE = 0.288 / 0.2961
NAVEL = HIP + 0.0837 * _TRUNK_SCALE
XIPHION = NAVEL + 0.1238 * _TRUNK_SCALE
NECK = XIPHION + 0.1391 * _TRUNK_SCALE
JAW = 1.0 - (1.0 - NECK) * 0.1168 / 0.1395
"""Heights over the ground, standing. JAW is the level of the mid-gonion, where the head nods on the neck."""

HIP_HALF = 0.191 / 2.0 - 0.0455
SHOULDER_HALF = 0.259 / 2.0 - 0.0255
"""Joint centres from the midline."""


def segment_mass(name: str, body_mass: float, top: ArrayLike, bottom: ArrayLike) -> Mass:
    """Mass of a segment between two points of its body, given at rest with the body's long axis along y (foot: z)."""
    share = SEGMENTS[name]
    start, end = np.asarray(top, dtype=np.float64), np.asarray(bottom, dtype=np.float64)
    length = float(np.linalg.norm(end - start))
    sagittal, transverse, longitudinal = (k * length for k in share.gyration)
    radii = (transverse, sagittal, longitudinal) if name == "foot" else (transverse, longitudinal, sagittal)
    mass = share.mass * body_mass
    return Mass(mass, start + share.center * (end - start), np.diag(np.square(radii)) * mass)


def divided(whole: Mass, share: float) -> Mass:
    """A part of a segment that shares its centre, so that all parts together, unmoved, are the segment."""
    return Mass(share * whole.mass, whole.center, share * whole.inertia)


def carved(whole: Mass, share: float, center: ArrayLike) -> tuple[Mass, Mass]:
    """A segment as two bodies: the rest, and a part with a share of the mass about `center`, shaped like the whole.

    Together, unmoved, they have the mass, centre and inertia of the whole.
    """
    at = np.asarray(center, dtype=np.float64)
    part = Mass(share * whole.mass, at, share ** (5.0 / 3.0) * whole.inertia)
    left = (1.0 - share) * whole.mass
    rest_center = (whole.center - share * at) / (1.0 - share)
    apart = at - rest_center
    spread = (float(apart @ apart) * np.eye(3) - np.outer(apart, apart)) * share * left
    return Mass(left, rest_center, whole.inertia - part.inertia - spread), part
