"""Lengths and masses of an average human, as fractions of stature and of body mass.

Lengths are those of Drillis and Contini [Winter 2009, fig. 4.1], because they add up: ankle height, shank, thigh,
trunk, and head with neck sum to 1. The levels of navel, xiphion and seventh neck vertebra divide the trunk as in de
Leva's sample. Masses, centres of mass and radii of gyration are de Leva's for men [de Leva 1996, table 4], relative to
each segment's own length. No other table is used, since the masses sum to 1 only within one table.

The breadths of shoulders and hips, 0.259 and 0.191 of stature, are those of the outline. Joint centres lie inside the
outline by the radius of the limb.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from poise.figure.model.mass import Mass


class Segment(NamedTuple):
    """Mass, centre of mass and radii of gyration of a segment."""

    mass: float
    """Share of the body's mass."""
    center: float
    """Centre of mass from the segment's upper end, share of its length."""
    gyration: tuple[float, float, float]
    """Radii of gyration about the sagittal, transverse and longitudinal axes, shares of its length."""


SEGMENT_SHARES = {
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
"""Mass properties of each segment, limbs per side; the foot's length runs from heel to toe, the others downwards."""

ANKLE_LEVEL, SHANK_FRACTION, THIGH_FRACTION = 0.039, 0.246, 0.245
"""Height of the ankle, and lengths of shank and thigh, as fractions of stature."""
UPPER_ARM_FRACTION, FOREARM_FRACTION, HAND_FRACTION, KNUCKLES_FRACTION = 0.186, 0.146, 0.108, 0.0495
"""Lengths as fractions of stature. The hand's mass properties refer to its length to the third knuckle."""
FOOT_LENGTH, FOOT_BREADTH, HEEL_TO_ANKLE, HEEL_TO_TOES = 0.152, 0.055, 0.038, 0.109
"""Sizes of the foot: the ankle is at a quarter of its length, the toes' joint at 72 %."""

KNEE_LEVEL = ANKLE_LEVEL + SHANK_FRACTION
HIP_LEVEL = KNEE_LEVEL + THIGH_FRACTION
SHOULDER_LEVEL = HIP_LEVEL + 0.288
# Drillis and Contini's trunk length over de Leva's.
_TRUNK_SCALE = 0.288 / 0.2961
NAVEL_LEVEL = HIP_LEVEL + 0.0837 * _TRUNK_SCALE
XIPHION_LEVEL = NAVEL_LEVEL + 0.1238 * _TRUNK_SCALE
NECK_LEVEL = XIPHION_LEVEL + 0.1391 * _TRUNK_SCALE
JAW_LEVEL = 1.0 - (1.0 - NECK_LEVEL) * 0.1168 / 0.1395
"""Heights above the ground, standing. JAW_LEVEL is the level of the mid-gonion, the joint between head and neck."""

HIP_HALF = 0.191 / 2.0 - 0.0455
SHOULDER_HALF = 0.259 / 2.0 - 0.0255
"""Distances of the joint centres from the midline."""


def segment_mass(name: str, body_mass: float, top: ArrayLike, bottom: ArrayLike) -> Mass:
    """Mass of a segment from `top` to `bottom` in its body's frame, with the long axis along y (foot: z)."""
    share = SEGMENT_SHARES[name]
    start, end = np.asarray(top, dtype=np.float64), np.asarray(bottom, dtype=np.float64)
    length = float(np.linalg.norm(end - start))
    sagittal, transverse, longitudinal = (k * length for k in share.gyration)
    radii = (transverse, sagittal, longitudinal) if name == "foot" else (transverse, longitudinal, sagittal)
    mass = share.mass * body_mass
    return Mass(mass, start + share.center * (end - start), np.diag(np.square(radii)) * mass)


def divided(whole: Mass, share: float) -> Mass:
    """A share of a segment's mass with the same centre; the shares of all parts at rest add up to the segment."""
    return Mass(share * whole.mass, whole.center, share * whole.inertia)


def carved(whole: Mass, share: float, center: ArrayLike) -> tuple[Mass, Mass]:
    """Split a segment into two bodies: the remainder, and a part of similar shape with a share of the mass at `center`.

    At rest both together have the mass, centre and inertia of the segment.
    """
    at = np.asarray(center, dtype=np.float64)
    part = Mass(share * whole.mass, at, share ** (5.0 / 3.0) * whole.inertia)
    left = (1.0 - share) * whole.mass
    rest_center = (whole.center - share * at) / (1.0 - share)
    apart = at - rest_center
    spread = (float(apart @ apart) * np.eye(3) - np.outer(apart, apart)) * share * left
    return Mass(left, rest_center, whole.inertia - part.inertia - spread), part
