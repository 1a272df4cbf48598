"""The latitude look-up table of ERIK's joint model [Ribeiro & Paiva 2019, 3.4.1]."""

from __future__ import annotations

import math

import numpy as np

from poise.figure.model.pose import FloatArray
from poise.kernels.chains.chain import SWING_JOINT, Chain, bend_cosine
from poise.kernels.gaze.erik.joint import Lalut


def no_lalut(joints: int) -> Lalut:
    """An empty table, with which swing angles are computed instead."""
    return Lalut(np.zeros((joints, 2, 1)), np.zeros((joints, 2, 1)), np.zeros((joints, 2), dtype=np.int64))


def lalut_of(chain: Chain, step: float) -> Lalut:
    """A table of angle over latitude for every swing, `step` [degrees] apart and with both limits included."""
    rows = [[_hemisphere(chain, k, side, step) for side in (-1, 1)] for k in range(len(chain.role))]
    size = max(1, *(len(latitude) for pair in rows for latitude, _ in pair))
    table = no_lalut(len(chain.role))
    table = Lalut(np.zeros((len(rows), 2, size)), np.zeros((len(rows), 2, size)), table.entries)
    for k, pair in enumerate(rows):
        for side, (latitude, angle) in enumerate(pair):
            table.entries[k, side] = len(latitude)
            table.latitude[k, side, : len(latitude)] = latitude
            table.angle[k, side, : len(angle)] = angle
    return table


def _hemisphere(chain: Chain, k: int, side: int, step: float) -> tuple[FloatArray, FloatArray]:
    """Increasing latitudes, mapped to [0, 1], and their angles [rad], in one hemisphere of joint `k`.

    Both hemispheres meet half a turn from the angle of the greatest latitude; each has that angle with its own sign.
    """
    size = math.hypot(chain.bend[k, 1], chain.bend[k, 2])
    if chain.role[k] != SWING_JOINT or size < 1e-6:
        return np.empty(0), np.empty(0)
    middle = math.atan2(chain.bend[k, 2], chain.bend[k, 1])
    count = max(2, math.ceil(180.0 / step) + 1)
    angles = middle + side * np.linspace(np.pi, 0.0, count)
    edges = [limit for limit in (chain.lower[k], chain.upper[k]) if 0.0 <= side * (limit - middle) <= np.pi]
    inside = angles[(angles >= chain.lower[k]) & (angles <= chain.upper[k])]
    angles = np.array(sorted({*inside, *edges}, key=lambda angle: -abs(angle - middle)))
    return 0.5 * (1.0 + np.array([bend_cosine(chain, k, angle) for angle in angles])), angles
