"""A goal follows its target on its branch: the best posture nearby that faces the target."""

import numpy as np

from poise.kernels.chains.chain import TWIST_JOINT, Chain
from poise.kernels.gaze.expressive.aim import copy_row, mirror
from poise.kernels.gaze.expressive.descend import FACING_TOLERANCE, face, settle
from poise.kernels.gaze.expressive.nearest_shape import shape_cost, store_posture_terms
from poise.kernels.gaze.expressive.solve import SearchSettings
from poise.kernels.gaze.expressive.workspace import CURRENT_ROW, KEPT_ROW, REFERENCE_ROW
from poise.kernels.gaze.measures import Aim, Scoring
from poise.kernels.jit.compile import kernel

Array = np.ndarray

FACE_STEPS, SETTLE_STEPS = 12, 2
"""Number of steps by which a goal follows its target, and moves to a better shape, in a frame."""


@kernel
def follow(
    chain: Chain, scoring: Scoring, search: SearchSettings, aim: Aim, posture: Array, row: int, work: Array
) -> None:
    """Bring `work[row]` to the aim, and from there to the best shape nearby, with the signs of its bends.

    A step of `settle` neglects the curvature of the constraint, so it may go too far and back for many frames. The
    middle of a step is therefore tried, too.
    """
    n = posture.shape[0]
    negated = nearer_sign(chain, scoring, posture, work, row)
    for k in range(n):
        work[REFERENCE_ROW, k] = -posture[k] if negated and chain.role[k] != TWIST_JOINT else posture[k]
    store_posture_terms(chain, work[REFERENCE_ROW], work)
    if face(chain, scoring, aim, work, row, FACE_STEPS) > FACING_TOLERANCE:
        return
    for _ in range(SETTLE_STEPS):
        copy_row(work, row, KEPT_ROW)
        cost, _ = settle(chain, scoring, aim, search.blend, work[REFERENCE_ROW], 1, work, row)
        for k in range(n):
            work[KEPT_ROW, k] = 0.5 * (work[KEPT_ROW, k] + work[row, k])
        faced = face(chain, scoring, aim, work, KEPT_ROW, FACE_STEPS) < FACING_TOLERANCE
        if faced and shape_cost(chain, scoring, search.blend, work, KEPT_ROW) < cost:
            copy_row(work, KEPT_ROW, row)


@kernel
def nearer_sign(chain: Chain, scoring: Scoring, posture: Array, work: Array, row: int) -> int:
    """1 if `work[row]` is nearer to the posture with all swings negated, else 0."""
    if not chain.mirrors:
        return 0
    copy_row(work, row, CURRENT_ROW)
    store_posture_terms(chain, posture, work)
    same = shape_cost(chain, scoring, 0.0, work, CURRENT_ROW)
    mirror(chain, work, CURRENT_ROW)
    return 1 if shape_cost(chain, scoring, 0.0, work, CURRENT_ROW) < same else 0
