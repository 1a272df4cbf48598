"""Forward and backward reaching: see `poise.kernels.chains.fabrik` for the method."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Unpack

import numpy as np

from poise.chains.goals import TargetLike, positions_by_tip
from poise.chains.options import Options, Settings, check_options
from poise.chains.points import stored_points
from poise.chains.result import ChainResult, ChainStatus
from poise.chains.zones import can_reach
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture
from poise.kernels.chains.fabrik import fabrik as fabrik_kernel


def fabrik(figure: Figure, target: TargetLike | Mapping[str, TargetLike], **options: Unpack[Options]) -> ChainResult:
    """Move the end-points to their targets and let the joints follow, then return the root to its place, repeatedly.

    Takes hinges and ball joints, with or without limits, and several end-points on a tree. Ends that must stay are
    end-points too, with their current position as target; two ends with one target close a ring. Iterations are passes
    forward and back.

    Args:
        figure: The figure to solve for.
        target: A position (3,) [m]; or positions by site, for several end-points.
        **options: See `Options`.
    """
    settings = check_options("fabrik", figure, options, 500)
    targets = positions_by_tip("fabrik", figure, target, settings.tip)
    tips = tuple(targets)
    packed = stored_points(figure, tips, settings)
    q = np.empty(figure.nq)
    rows = np.empty((settings.max_iterations if settings.trace else 0, figure.nq))
    error, passes = fabrik_kernel(
        packed.memory,
        packed.points,
        np.array(list(targets.values())),
        settings.start._q,
        settings.tolerance,
        settings.max_iterations,
        rows,
        q,
    )
    posture = Posture(figure, q)
    frames = figure.frames(posture)
    errors = {tip: float(np.linalg.norm(frames[tip].position - place)) for tip, place in targets.items()}
    status = _status(figure, error, targets, settings)
    return ChainResult(posture, status, error, passes, rows[:passes] if settings.trace else None, errors)


def _status(figure: Figure, error: float, targets: dict[str, FloatArray], settings: Settings) -> ChainStatus:
    if error <= settings.tolerance:
        return "solved"
    start, held = settings.start, settings.held
    within = all(can_reach(figure, tip, place, start, held) for tip, place in targets.items())
    return "stalled" if within else "unreachable"
