"""The postures and orientations of the evaluation of ERIK [Ribeiro & Paiva 2019, 4.0.3].

The joints that define the shape take values over their range, both limits included. The tip's frame is R(y, h) R(x, v)
R(y, t), with heading h, tilt v and roll t each over a full turn.

"grid" draws pairs at random from the paper's grid, "uniform" draws from the ranges of the grid, and "exhaustive" takes
every pair of the grid once. It does so in an order in which any first part is spread over the whole grid: in steps of
the golden section of their number.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple, get_args

import numpy as np

from poise.chains.chain import Limb
from poise.errors import TaskError
from poise.expressive.result import empty_problems
from poise.figure.model.pose import FloatArray
from poise.kernels.gaze.sampling import EXHAUSTIVE, GRID, UNIFORM, SampleSpace, write_samples

Sampling = Literal["grid", "uniform", "exhaustive"]

JOINT_VALUES = {3: 33, 4: 19, 5: 15, 6: 9, 8: 5}
"""Number of values of each joint, by the number of joints; it gives about as many postures as in the paper."""
TURN_VALUES = 20
"""Number of values of heading, tilt and roll."""
KINDS = {"grid": GRID, "uniform": UNIFORM, "exhaustive": EXHAUSTIVE}
"""The kernels' number of each sampling."""
MAX_PAIRS = 1 << 31
"""Largest grid whose pairs can be numbered: the square of their number must fit into 63 bits."""
GOLDEN_SECTION = 0.5 * (math.sqrt(5.0) - 1.0)


class Samples(NamedTuple):
    """Pairs of a posture and an orientation."""

    postures: FloatArray
    """(m, nq) joint values."""
    orientations: FloatArray
    """(m, 4) unit quaternions of the tip."""


def sample_space(limb: Limb, sampling: Sampling = "grid", seed: int = 0, stream: int = 0) -> SampleSpace:
    """What the problems of a chain are drawn from; another seed or stream gives other draws."""
    if sampling not in KINDS:
        raise TaskError(f"the sampling is one of {', '.join(get_args(Sampling))}, not {sampling!r}.")
    chain = limb.chain
    shapes = chain.middle == 1
    values = JOINT_VALUES.get(len(limb.joints), 5)
    pairs = values ** int(shapes.sum()) * TURN_VALUES**3
    if pairs > MAX_PAIRS:
        if sampling == "exhaustive":
            raise TaskError(f"the grid of {len(limb.joints)} joints has {pairs:.1e} pairs, too many to take them all.")
        pairs = 1
    return SampleSpace(
        KINDS[sampling],
        int(seed),
        int(stream),
        values,
        TURN_VALUES,
        pairs,
        _stride(pairs),
        np.where(shapes, np.maximum(chain.lower, -np.pi), 0.0),
        np.where(shapes, np.minimum(chain.upper, np.pi), 0.0),
    )


def samples(limb: Limb, count: int, seed: int, sampling: Sampling = "grid") -> Samples:
    """The first `count` problems of a chain."""
    problems = empty_problems(count, len(limb.joints))
    write_samples(sample_space(limb, sampling, seed), 0, problems)
    q = np.tile(limb.figure.neutral().q, (count, 1))
    q[:, limb.places] = problems.posture
    return Samples(q, problems.rotation)


def _stride(count: int) -> int:
    """The number nearest to the golden section of `count` that has no factor in common with it."""
    middle = round(GOLDEN_SECTION * count)
    return next(
        stride for away in range(count) for stride in (middle + away, middle - away) if math.gcd(stride, count) == 1
    )
