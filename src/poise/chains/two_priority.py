"""Two-priority damped least squares: see `poise.kernels.gaze.two_priority.two_priority` for the method."""

from __future__ import annotations

from typing import Unpack

import numpy as np

from poise.chains.facing import ask_to_face
from poise.chains.goals import TargetLike
from poise.chains.options import Options
from poise.chains.result import ChainResult
from poise.figure.model.figure import Figure, PostureLike
from poise.kernels.gaze.two_priority.steps import two_priority_steps


def two_priority_dls(
    figure: Figure, target: TargetLike, *, posture: PostureLike | None = None, **options: Unpack[Options]
) -> ChainResult:
    """Face an orientation first, and be near a posture in what freedom is left.

    For chains of hinges; the method that ERIK was compared with. Twisters at the root and at the tip do not count for
    the posture. Iterations are steps, and go on until the posture rests.

    Angles are clamped after each step, as in the paper, and there the second goal costs the first one dear: where
    joints meet limits, most orientations are missed that `dls` meets. Without limits it meets nearly all.

    Args:
        figure: Whose posture to find.
        target: A unit quaternion (4,) or `poise.facing(…)`.
        posture: What to be near to; the start when not given.
        **options: See `Options`.
    """
    question = ask_to_face("two_priority_dls", figure, target, options, max_iterations=400)
    near = question.settings.start if posture is None else figure.posture(posture)
    wished = np.ascontiguousarray(question.limb.angles(near))
    tolerance, most = question.settings.tolerance, question.settings.max_iterations
    aim, chain = question.aim, question.chain
    rows, angles = question.rows(), question.start()
    error, taken = two_priority_steps(chain, aim.rotation, aim.kind, wished, tolerance, most, rows, angles)
    return question.answer(angles, error, taken, rows)
