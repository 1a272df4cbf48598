"""Two-priority damped least squares: see `poise.kernels.gaze.two_priority.two_priority` for the method."""

from __future__ import annotations

from typing import Unpack

import numpy as np

from poise.chains.facing import facing_problem
from poise.chains.goals import TargetLike
from poise.chains.options import Options
from poise.chains.result import ChainResult
from poise.figure.model.figure import Figure, PostureLike
from poise.kernels.gaze.two_priority.steps import two_priority_steps


def two_priority_dls(
    figure: Figure, target: TargetLike, *, posture: PostureLike | None = None, **options: Unpack[Options]
) -> ChainResult:
    """Reach an orientation first, and come near a posture in the null space of the orientation.

    For chains of hinges; the method that ERIK was compared with. Twisters (roll joints) at the root and at the tip do
    not count for the posture. Iterations are steps, which continue until the joints no longer move.

    Angles are clamped after each step, as in the paper. Where joints reach limits, the posture then disturbs the
    orientation: most orientations are missed that `dls` reaches. Without limits it reaches nearly all.

    Args:
        figure: The figure to solve for.
        target: A unit quaternion (4,) or `poise.facing(…)`.
        posture: The posture to come near to; by default the start.
        **options: See `Options`.
    """
    problem = facing_problem("two_priority_dls", figure, target, options, max_iterations=400)
    near = problem.settings.start if posture is None else figure.posture(posture)
    wished = np.ascontiguousarray(problem.limb.angles(near))
    tolerance, most = problem.settings.tolerance, problem.settings.max_iterations
    aim, chain = problem.aim, problem.chain
    trace_rows, angles = problem.trace_rows(), problem.start()
    error, taken = two_priority_steps(chain, aim.rotation, aim.kind, wished, tolerance, most, trace_rows, angles)
    return problem.result(angles, error, taken, trace_rows)
