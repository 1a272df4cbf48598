"""The postures and orientations of the evaluation of ERIK [Ribeiro & Paiva 2019, 4.0.3].

The joints that define the shape take values over their range, both limits included. The tip's frame is R(y, h) R(x, v)
R(y, t), with heading h, tilt v and roll t each over a full turn.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from poise.chains.chain import Limb
from poise.figure.model.pose import FloatArray

Sampling = Literal["grid", "uniform"]

JOINT_VALUES = {3: 33, 4: 19, 5: 15, 6: 9, 8: 5}
"""Number of values of each joint, by the number of joints; it gives about as many postures as in the paper."""
TURN_VALUES = 20
"""Number of values of heading, tilt and roll."""


class Samples(NamedTuple):
    """Pairs of a posture and an orientation."""

    postures: FloatArray
    """(m, nq) joint values."""
    orientations: FloatArray
    """(m, 4) unit quaternions of the tip."""


def samples(limb: Limb, count: int, rng: np.random.Generator, sampling: Sampling = "grid") -> Samples:
    """Pairs drawn at random from the paper's grid, or uniformly from the ranges of the grid."""
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
