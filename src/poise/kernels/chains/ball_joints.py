"""Ball joints of a path, kept inside their regions one at a time."""

import numpy as np

from poise.kernels.body.limits import ball_split, clamp_split, set_ball
from poise.kernels.jit.compile import inner_kernel
from poise.kernels.reach.path import Path

Array = np.ndarray


@inner_kernel
def hold_ball(path: Path, b: int, q: Array) -> None:
    """Move limited ball `b` of the path to the nearest place inside its limits."""
    ball = path.balls[b]
    split = ball_split(path.bounds, ball, q)
    allowed = clamp_split(path.bounds, ball, split)
    if allowed != split:
        set_ball(path.bounds, ball, allowed, q)


@inner_kernel
def hold_ball_at(path: Path, k: int, q: Array) -> None:
    """Do so with the ball whose quaternion starts at `q[k]`, if it has limits."""
    for b in range(path.balls.shape[0]):
        if path.bounds.ball_start[path.balls[b]] == k:
            hold_ball(path, b, q)
