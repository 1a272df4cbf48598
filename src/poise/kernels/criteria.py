"""Criteria: what a figure does with the freedom that tasks leave.

Each criterion is a function f of the posture to make small. Their weighted sum has the gradient g, and the step wished
for is -g / h, with h a bound on the sum's own curvature: 1 for the distance to a posture.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.compile import kernel
from poise.kernels.goals import Stance
from poise.kernels.tree import Tree, difference

Array = np.ndarray


class Criteria(NamedTuple):
    """What to make small."""

    posture: Array
    """(nq,) posture to be near to."""
    posture_weight: Array
    """(nv,) how much each velocity matters for that."""
    slope: Array
    """(nv,) a constant gradient: flexing, and what comes from outside."""
    gap: Array
    """(nv,) workspace."""


@kernel(borrows=True)
def fill_wish(
    tree: Tree,
    criteria: Criteria,
    stance: Stance,
    q: Array,
    # outputs
    wish: Array,
) -> None:
    """The step (nv,) that the criteria wish for at `q`."""
    difference(tree, q, criteria.posture, criteria.gap)
    for k in range(wish.shape[0]):
        wish[k] = criteria.posture_weight[k] * criteria.gap[k] - criteria.slope[k]


@kernel(borrows=True)
def criteria_value(tree: Tree, criteria: Criteria, stance: Stance, q: Array) -> float:
    """How far the posture is from what the criteria want."""
    difference(tree, q, criteria.posture, criteria.gap)
    total = 0.0
    for k in range(criteria.gap.shape[0]):
        total += criteria.posture_weight[k] * criteria.gap[k] * criteria.gap[k]
    return math.sqrt(total)
