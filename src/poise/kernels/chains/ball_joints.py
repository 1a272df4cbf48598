"""Clamping of single ball joints on a path to their swing and twist limits."""

import numpy as np

from poise.kernels.body.limits import ball_split, clamp_split, set_ball
from poise.kernels.jit.compile import inner_kernel
from poise.kernels.reach.path import Path

Array = np.ndarray


@inner_kernel
def clamp_ball(path: Path, b: int, q: Array) -> None:
    """Clamp the rotation of limited ball joint `b` of the path to its swing and twist limits."""
    ball = path.balls[b]
    split = ball_split(path.bounds, ball, q)
    allowed = clamp_split(path.bounds, ball, split)
    if allowed != split:
        set_ball(path.bounds, ball, allowed, q)


@inner_kernel
def clamp_ball_at(path: Path, k: int, q: Array) -> None:
    """Clamp the ball joint whose quaternion starts at `q[k]`; does nothing for a joint without limits."""
    for b in range(path.balls.shape[0]):
        if path.bounds.ball_start[path.balls[b]] == k:
            clamp_ball(path, b, q)
