"""The CUDA kernels: one question in each thread. Imported when a GPU is asked for, since numba's CUDA is an extra.

What each thread works in is its own local memory, sized for the next power of two of the chain's joints.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from numba import cuda, float64

from poise.expressive.cuda import Launch
from poise.kernels.erik import ErikRoom, solve_erik
from poise.kernels.erik_phases import Frames
from poise.kernels.expressive_solve import solve as solve_expressive
from poise.kernels.expressive_work import ROWS
from poise.kernels.questions import Answers, Questions, aim_of, answer


@cache
def erik_launch(size: int) -> Launch:
    """The CUDA kernel of ERIK for chains of up to `size` joints."""

    @cuda.jit  # type: ignore[untyped-decorator, unused-ignore]
    def launch(chain: Any, scoring: Any, method: Any, asked: Questions, given: Answers) -> None:
        i = cuda.grid(1)
        if i >= asked.rotation.shape[0]:
            return
        n = asked.posture.shape[1]
        angles = cuda.local.array((3, size), float64)
        frames = cuda.local.array((3, size, 4), float64)
        room = ErikRoom(
            angles[0, :n], angles[1, :n], angles[2, :n], Frames(frames[0, :n], frames[1, :n], frames[2, :n])
        )
        count = solve_erik(
            chain, scoring, method[0], method[1], aim_of(asked, i), asked.posture[i], asked.start[i], room
        )
        answer(chain, scoring, asked, i, room.best, count, given)

    return launch  # type: ignore[no-any-return, unused-ignore]


@cache
def expressive_launch(size: int) -> Launch:
    """The CUDA kernel of `poise.Expressive` for chains of up to `size` joints."""

    @cuda.jit  # type: ignore[untyped-decorator, unused-ignore]
    def launch(chain: Any, scoring: Any, manner: Any, asked: Questions, given: Answers) -> None:
        i = cuda.grid(1)
        if i >= asked.rotation.shape[0]:
            return
        n = asked.posture.shape[1]
        angles = cuda.local.array(size, float64)
        work = cuda.local.array((ROWS, size), float64)
        for row in range(ROWS):
            for k in range(n):
                work[row, k] = 0.0
        count = solve_expressive(chain, scoring, manner, aim_of(asked, i), asked.posture[i], work[:, :n], angles[:n])
        answer(chain, scoring, asked, i, angles[:n], count, given)

    return launch  # type: ignore[no-any-return, unused-ignore]
