"""The errors of the expressive solvers: see `poise.kernels.gaze.measures` for the formulas."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poise.chains.chain import Limb
from poise.errors import TaskError
from poise.figure.model.figure import PostureLike
from poise.figure.model.pose import FloatArray
from poise.kernels.chains.chain import SWING_JOINT, tip_rotation
from poise.kernels.gaze import measures
from poise.kernels.gaze.measures import Aim, Scoring


@dataclass(frozen=True)
class Weights:
    """Weights of the errors; the defaults are those of [Ribeiro & Paiva 2019, 4.0.1]."""

    orientation: float = 1.0
    """Weight of the orientation error in the combined error."""
    posture: float = 0.2
    """Weight of the posture error in the combined error."""
    aggravation: float = 1.5
    """Ratio of the weights of a joint and the previous one in the posture and shape errors."""
    symmetric: bool = True
    """Whether a tip that is upside down counts as equal."""

    def __post_init__(self) -> None:
        """Raise an error for weights outside their range."""
        for name, value in (("orientation", self.orientation), ("posture", self.posture)):
            if not 0.0 <= value < np.inf:
                raise TaskError(f"the weight of the {name} error must be a number from 0 up, not {value}.")
        if not 0.0 < self.aggravation < np.inf:
            raise TaskError(f"the aggravation must be a positive number, not {self.aggravation}.")


@dataclass(frozen=True)
class Errors:
    """Errors of a solution; each is between 0 and 1."""

    combined: float
    """Weighted sum of orientation and posture error."""
    orientation: float
    """√2 sin(d/4) for a residual rotation by d."""
    posture: float
    """Difference of the cosines of the bends, which ignores their signs."""
    shape: float
    """Difference of the joint angles, up to a turn of the whole chain about its root."""


def is_whole(value: float, least: int) -> bool:
    """Whether a setting is a whole number from `least` up; NaN is none."""
    return value >= least and float(value).is_integer()


def scoring_of(limb: Limb, weights: Weights) -> Scoring:
    """The weights of all joints of a chain, for the kernels."""
    chain = limb.chain
    return Scoring(
        _shares(chain.role == SWING_JOINT, weights.aggravation),
        _shares(chain.middle == 1, weights.aggravation),
        float(weights.orientation),
        float(weights.posture),
        int(weights.symmetric),
    )


def _shares(counted: NDArray[np.bool_], aggravation: float) -> FloatArray:
    """αⁱ for the joints that count, normalised to the sum 1; i counts those joints from 0."""
    shares = np.where(counted, aggravation ** (np.cumsum(counted) - 1.0), 0.0)
    total = float(shares.sum())
    return shares / total if total > 0.0 else shares


def errors_of(limb: Limb, scoring: Scoring, aim: Aim, solution: PostureLike, posture: PostureLike) -> Errors:
    """All errors of a solution for a wanted posture and an aim."""
    angles, wanted = limb.angles(solution), limb.angles(posture)
    turned = measures.orientation_error(scoring, aim, tip_rotation(limb.chain, angles))
    bent = measures.posture_error(limb.chain, scoring, angles, wanted)
    shape = measures.shape_error(limb.chain, scoring, angles, wanted)
    return Errors(scoring.orientation * turned + scoring.posture * bent, turned, bent, shape)
