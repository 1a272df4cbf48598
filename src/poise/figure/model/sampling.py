"""Random joint values inside their limits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from poise.figure.model.joints import Joint
from poise.figure.model.limits import BallLimits
from poise.figure.model.pose import FloatArray
from poise.kernels.body.limits import ball_split, swing_excess

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure

BALL_DRAWS = 1000
"""Most draws for a ball joint, after which it keeps its neutral orientation."""


def random_values(figure: Figure, rng: np.random.Generator) -> FloatArray:
    """(nq,) random values inside every joint's own limits, regardless of couplings."""
    q = figure.neutral().q.copy()
    for joint in figure.joints:
        place = figure.q_slice(joint.name)
        if joint.kind == "ball":
            q[place] = _random_ball(figure, joint, rng, q)
        elif joint.kind == "free":
            q[place] = (*rng.uniform(-1.0, 1.0, 3), *_random_rotation(rng))
        elif joint.nq:
            q[place] = [_random_scalar(joint, i, rng) for i in range(joint.nq)]
    return q


def _random_scalar(joint: Joint, i: int, rng: np.random.Generator) -> float:
    """A uniform value of turn or slide `i`; a missing limit is replaced by a range of one turn or one metre."""
    reach = math.pi if joint.scalars[i] == "turn" else 0.5
    low, high = joint.lower[i], joint.upper[i]
    if math.isinf(low) and math.isinf(high):
        return float(rng.uniform(-reach, reach))
    low = high - 2.0 * reach if math.isinf(low) else low
    high = low + 2.0 * reach if math.isinf(high) else high
    return float(rng.uniform(low, high))


def _random_rotation(rng: np.random.Generator) -> FloatArray:
    """A uniformly distributed unit quaternion (4,)."""
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def _random_ball(figure: Figure, joint: Joint, rng: np.random.Generator, q: FloatArray) -> FloatArray:
    """A rotation drawn uniformly from those with an allowed swing, by rejection; the twist is not limited here."""
    place = figure.q_slice(joint.name)
    limits = joint.ball_limits or BallLimits()
    bounds = figure.compiled.bounds
    balls = [int(start) for start in bounds.ball_start]
    if limits.swing is None or place.start not in balls:
        return _random_rotation(rng)
    ball = balls.index(place.start)
    trial = q.copy()
    for _ in range(BALL_DRAWS):
        trial[place] = _random_rotation(rng)
        split = ball_split(bounds, ball, trial)
        if swing_excess(bounds, ball, split.x, split.y) == 0.0:
            return trial[place]
    return q[place].copy()
