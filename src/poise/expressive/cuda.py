"""Batches on a CUDA GPU: the kernels of the cores, one thread for each question.

The same functions that numba compiles for a core compile for a GPU. What each thread works in is its own local memory,
sized for the next power of two of the chain's joints.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from poise.errors import TaskError
from poise.kernels.erik import ErikRoom, solve_erik
from poise.kernels.erik_phases import Frames
from poise.kernels.expressive_solve import solve as solve_expressive
from poise.kernels.expressive_work import ROWS
from poise.kernels.questions import Answers, Questions, aim_of, answer

CHUNK = 1 << 20
"""Questions on the GPU at a time: some hundred megabytes."""
BLOCK = 64
"""Threads of a block; more would spill the registers of these kernels."""
LARGEST = 64
"""Joints for which a thread's local memory is enough."""

Launch = Callable[..., None]


def cuda_module() -> Any:
    """numba's CUDA, or one sentence on why there is none."""
    try:
        from numba import cuda
    except ImportError:
        cuda = None
    try:
        ready = cuda is not None and bool(cuda.is_available())
    except Exception:  # a driver that is half there raises whatever it likes
        ready = False
    if not ready:
        raise TaskError(
            "device='cuda' needs an NVIDIA GPU with its driver and the package numba-cuda; leave it out for all cores."
        )
    return cuda


def room_size(joints: int) -> int:
    """The power of two that holds so many joints, so that few sizes are ever compiled."""
    if joints > LARGEST:
        raise TaskError(f"device='cuda' takes chains of up to {LARGEST} joints, not {joints}.")
    return max(4, 1 << (joints - 1).bit_length())


def answer_on_cuda(launch: Launch, constants: tuple[Any, ...], asked: Questions, given: Answers) -> None:
    """Answer all questions in chunks.

    Args:
        launch: A CUDA kernel that takes the constants, questions and answers, and answers one question in each thread.
        constants: Named tuples of arrays, the same for all questions.
        asked: The questions.
        given: Where the answers go.
    """
    cuda = cuda_module()
    there = tuple(on_device(part) for part in constants)
    for first in range(0, len(asked.rotation), CHUNK):
        rows = slice(first, first + CHUNK)
        questions = Questions(*(cuda.to_device(np.ascontiguousarray(part[rows])) for part in asked))
        answers: Any = Answers(*(cuda.device_array(part[rows].shape, part.dtype) for part in given))
        count = questions.rotation.shape[0]
        launch[(count + BLOCK - 1) // BLOCK, BLOCK](*there, questions, answers)  # type: ignore[index]
        for part, result in zip(given, answers, strict=True):
            result.copy_to_host(part[rows])


def on_device(part: Any) -> Any:
    """A tuple, tuples inside it included, with its arrays on the GPU."""
    if isinstance(part, np.ndarray):
        return cuda_module().to_device(part)
    if isinstance(part, tuple):
        items = [on_device(item) for item in part]
        return type(part)(*items) if hasattr(part, "_fields") else tuple(items)
    return part


@cache
def erik_launch(size: int) -> Launch:
    """The CUDA kernel of ERIK for chains of up to `size` joints."""
    from numba import cuda, float64

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
    from numba import cuda, float64

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
