"""The postures and orientations on which ERIK was evaluated [Ribeiro & Paiva 2019, 4.0.3].

Joints that shape the posture sweep their range, both limits included. The tip's frame sweeps heading h, tilt v and
roll t, each through a full turn: R(y, h) R(x, v) R(y, t).
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from poise.chains.chain import Limb
from poise.figure.model.pose import FloatArray

Sampling = Literal["grid", "uniform"]

JOINT_VALUES = {3: 33, 4: 19, 5: 15, 6: 9, 8: 5}
"""How many values each joint takes on a chain of so many joints: about as many postures as the paper's."""
TURN_VALUES = 20
"""How many values heading, tilt and roll take."""


class Samples(NamedTuple):
    """Pairs of a posture and an orientation."""

    postures: FloatArray
    """(m, nq)"""
    orientations: FloatArray
    """(m, 4)"""


def samples(limb: Limb, count: int, rng: np.random.Generator, sampling: Sampling = "grid") -> Samples:
    """Pairs drawn at random from the paper's grid, or from the ranges it spans."""
    return Samples(_postures(limb, count, rng, sampling), _orientations(count, rng, sampling))


def _postures(limb: Limb, count: int, rng: np.random.Generator, sampling: Sampling) -> FloatArray:
    chain = limb.chain
    q = np.tile(limb.figure.neutral().q, (count, 1))
    q[:, limb.places] = 0.0
    values = JOINT_VALUES.get(len(limb.joints), 5)
    for k in np.flatnonzero(chain.middle):
        low, high = max(chain.lower[k], -np.pi), min(chain.upper[k], np.pi)
        if sampling == "grid":
            q[:, limb.places[k]] = rng.choice(np.linspace(low, high, values), count)
        else:
            q[:, limb.places[k]] = rng.uniform(low, high, count)
    return q


def _orientations(count: int, rng: np.random.Generator, sampling: Sampling) -> FloatArray:
    if sampling == "grid":
        angles = rng.choice(np.linspace(-np.pi, np.pi, TURN_VALUES), (3, count))
    else:
        angles = rng.uniform(-np.pi, np.pi, (3, count))
    return turned(*angles)


def turned(heading: FloatArray, tilt: FloatArray, roll: FloatArray) -> FloatArray:
    """(m, 4) R(y, heading) R(x, tilt) R(y, roll)."""
    plus, minus = 0.5 * (heading + roll), 0.5 * (heading - roll)
    c, s = np.cos(0.5 * tilt), np.sin(0.5 * tilt)
    return np.stack([c * np.cos(plus), s * np.cos(minus), c * np.sin(plus), -s * np.sin(minus)], axis=1)
