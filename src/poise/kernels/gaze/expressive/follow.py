"""A goal follows its target on its branch: the best posture nearby that faces the target."""

import numpy as np

from poise.kernels.chains.chain import TWIST_JOINT, Chain, pointing
from poise.kernels.gaze.expressive.aim import copy_row, mirror
from poise.kernels.gaze.expressive.bounded_step import box_step, remove_roll, tip_and_axes, turn_between
from poise.kernels.gaze.expressive.descend import FACING_TOLERANCE, face, settle, shape_step
from poise.kernels.gaze.expressive.nearest_shape import shape_cost, store_posture_terms
from poise.kernels.gaze.expressive.solve import SearchSettings
from poise.kernels.gaze.expressive.workspace import AXIS_ROWS, CURRENT_ROW, KEPT_ROW, REFERENCE_ROW, STEP_ROW
from poise.kernels.gaze.measures import DIRECTED, Aim, Scoring
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.portable_trigonometry import turn_about
from poise.kernels.maths.quaternion import multiply
from poise.kernels.maths.vector import Vector, length, scale, subtract

Array = np.ndarray

FACE_STEPS, SETTLE_STEPS = 12, 2
"""Number of steps by which a goal follows its target, and moves to a better shape, in a frame."""
WORTH_EASING = 0.01
"""Decrease of the shape error per radian for which the gaze gives way by all of its slack, and less for less."""
NO_EASE = 1e-9
"""Angle below which the gaze does not give way [rad]."""


@kernel
def follow(
    chain: Chain,
    scoring: Scoring,
    search: SearchSettings,
    aim: Aim,
    slack: float,
    posture: Array,
    row: int,
    work: Array,
) -> None:
    """Bring `work[row]` to the aim, and from there to the best shape nearby, with the signs of its bends.

    The gaze may be off by `slack` [rad] where that helps the shape.

    A step of `settle` neglects the curvature of the constraint, so it may go too far and back for many frames. The
    middle of a step is therefore tried, too.
    """
    n = posture.shape[0]
    negated = nearer_sign(chain, scoring, posture, work, row)
    for k in range(n):
        work[REFERENCE_ROW, k] = -posture[k] if negated and chain.role[k] != TWIST_JOINT else posture[k]
    store_posture_terms(chain, work[REFERENCE_ROW], work)
    if slack > 0.0 and aim.kind == DIRECTED:
        aim = _eased(chain, scoring, aim, slack, work, row)
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
def _eased(chain: Chain, scoring: Scoring, aim: Aim, slack: float, work: Array, row: int) -> Aim:
    """The aim turned by at most `slack` to where the shape of `work[row]` comes nearer to REFERENCE_ROW.

    One step that gives way in the gaze, as if by a spring, shows where to.
    """
    n = chain.role.shape[0]
    p = pointing(tip_and_axes(chain, work, row))
    remove_roll(work, n, p)
    e = turn_between(p, pointing(aim.rotation))
    shape_step(chain, scoring, work[REFERENCE_ROW], work, row)
    box_step(work, n, e, slack / WORTH_EASING, p)
    for k in range(n):
        s = work[STEP_ROW, k]
        e = subtract(e, scale(Vector(work[AXIS_ROWS, k], work[AXIS_ROWS + 1, k], work[AXIS_ROWS + 2, k]), s))
    off = length(e)
    if off < NO_EASE:
        return aim
    turned = turn_about(scale(e, -1.0 / off), min(off, slack))
    return Aim(multiply(turned, aim.rotation), aim.kind)


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
