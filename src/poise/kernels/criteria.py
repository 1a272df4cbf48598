"""Criteria: what a figure does with the freedom that tasks leave.

Each criterion is a function f of the posture to make small. Their weighted sum has the gradient g, and the step wished
for is -g / h, with h a bound on the sum's own curvature: 1 for the distance to a posture.
"""

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


@kernel
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
