"""Facing a target with any chain of hinges, and then the nearest shape that still faces it.

`face` brings the error of orientation down by damped steps inside the limits, the joints that shape the posture moving
least. `settle` then walks along the postures that face the target towards the wanted shape: a step of the quadratic
above the shape error in the space the rows of the error leave free, `face` to return, shortened until the cost falls.
"""

import numpy as np

from poise.kernels.chains.chain import Chain, pointing, wrapped
from poise.kernels.gaze.expressive.bounded_step import box_step, free_of_roll, look_round, turn_missing
from poise.kernels.gaze.expressive.nearest_shape import ENOUGH, LEAST_CURVATURE, LIGHT, SHORTENED, TRIES, shape_cost
from poise.kernels.gaze.expressive.workspace import EASE, LEAST, MOST, START, STEP, TRIAL, WANTED
from poise.kernels.gaze.measures import DIRECTED, Aim, Scoring
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.portable_trigonometry import sine
from poise.kernels.maths.vector import Vector, length, scale

Array = np.ndarray

FACED = 1e-9
"""An error of orientation below this is none [rad]."""
LONGEST = 1.0
"""Turn of the tip asked of one step [rad]."""
FACE_STEPS = 24
RETURN_STEPS = 5
STALLED = 1e-3
"""Share of the missing angle that a step must take off for another to be worth while."""
STIFF = 1e-9
"""Damping of a step that must keep the orientation."""


@kernel
def room(chain: Chain, work: Array, row: int) -> None:
    """The box of a step from `work[row]`: to the limits."""
    lower, upper = chain.lower, chain.upper
    for k in range(lower.shape[0]):
        work[LEAST, k] = lower[k] - work[row, k]
        work[MOST, k] = upper[k] - work[row, k]


@kernel
def _missing(chain: Chain, scoring: Scoring, aim: Aim, work: Array, row: int) -> tuple[Vector, Vector]:
    """What the tip lacks at `work[row]`, with the rows of the error in AXIS, and the direction they are free of."""
    tip = look_round(chain, work, row)
    p = Vector(0.0, 0.0, 0.0)
    if aim.kind == DIRECTED:
        p = pointing(tip)
        free_of_roll(work, chain.role.shape[0], p)
    return turn_missing(scoring, aim, tip), p


@kernel
def face(chain: Chain, scoring: Scoring, aim: Aim, work: Array, row: int, steps: int) -> float:
    """Turn the tip of `work[row]` towards the aim; returns the angle it still lacks [rad]."""
    shapes = scoring.shapes
    n = shapes.shape[0]
    e, p = _missing(chain, scoring, aim, work, row)
    lacking = length(e)
    damping = 1e-3
    for _ in range(steps):
        if lacking < FACED:
            break
        room(chain, work, row)
        for k in range(n):
            work[EASE, k] = 1.0 / (shapes[k] + 0.02)
            work[STEP, k] = 0.0
            work[START, k] = work[row, k]
        box_step(work, n, scale(e, min(1.0, LONGEST / lacking)), damping * min(1.0, lacking * lacking) + 1e-12, p)
        for k in range(n):
            work[row, k] += work[STEP, k]
        e, p = _missing(chain, scoring, aim, work, row)
        before, lacking = lacking, min(lacking, length(e))
        if lacking < before:
            damping *= 0.2
            if lacking > before * (1.0 - STALLED):
                break
            continue
        for k in range(n):
            work[row, k] = work[START, k]
        damping *= 30.0
        if damping > 1e6:
            break
        e, p = _missing(chain, scoring, aim, work, row)
    return lacking


@kernel
def settle(
    chain: Chain,
    scoring: Scoring,
    aim: Aim,
    blend: float,
    posture: Array,
    steps: int,
    # changed
    work: Array,
    row: int,
) -> tuple[float, int]:
    """Take at most `steps` steps from `work[row]`, which faces the aim, to the shape of `posture`, which is noted."""
    shapes = scoring.shapes
    n = shapes.shape[0]
    cost = shape_cost(chain, scoring, blend, work, row)
    for step in range(steps):
        e, p = _missing(chain, scoring, aim, work, row)
        room(chain, work, row)
        for k in range(n):
            d = wrapped(posture[k] - work[row, k]) if shapes[k] > 0.0 else 0.0
            falls = sine(d) / d if abs(d) > 1e-6 else 1.0
            pull = shapes[k] * max(LEAST_CURVATURE, falls)
            work[EASE, k] = 1.0 / (pull + LIGHT)
            work[STEP, k] = pull * d / (pull + LIGHT)
        box_step(work, n, e, STIFF, p)
        largest = 0.0
        for k in range(n):
            largest = max(largest, abs(work[STEP, k]))
        if largest < 1e-4:
            return cost, step + 1
        fell = _shorten(chain, scoring, aim, blend, posture, cost, min(1.0, 1.0 / largest), work, row)
        cost -= fell
        if fell < ENOUGH * cost + 1e-7:
            return cost, step + 1
    return cost, steps


@kernel
def _shorten(
    chain: Chain,
    scoring: Scoring,
    aim: Aim,
    blend: float,
    posture: Array,
    cost: float,
    share: float,
    # changed
    work: Array,
    row: int,
) -> float:
    """Try shorter and shorter shares of STEP until the cost falls; returns by how much it fell."""
    n = posture.shape[0]
    for k in range(n):
        work[WANTED, k] = work[STEP, k]
    for _ in range(TRIES):
        for k in range(n):
            work[TRIAL, k] = work[row, k] + share * work[WANTED, k]
        if face(chain, scoring, aim, work, TRIAL, RETURN_STEPS) < FACED:
            there = shape_cost(chain, scoring, blend, work, TRIAL)
            if there < cost - 1e-9:
                for k in range(n):
                    work[row, k] = work[TRIAL, k]
                return cost - there
        share *= SHORTENED
    return 0.0
