"""Batches on a CUDA GPU: the kernels of the cores, one thread for each question.

The same functions that numba compiles for a core compile for a GPU (`poise.expressive.launches`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from poise.errors import TaskError
from poise.kernels.gaze.batch_arrays import BatchProblems, BatchSolutions

CHUNK = 1 << 20
"""Questions on the GPU at a time: some hundred megabytes."""
BLOCK = 64
"""Threads of a block; more would spill the registers of these kernels."""
LARGEST = 64
"""Joints for which a thread's local memory is enough."""

Launch = Callable[..., None]


class Launches(Protocol):
    """A CUDA kernel that waits for its grid."""

    def __getitem__(self, grid: tuple[int, int]) -> Launch:
        """The kernel on so many blocks of so many threads."""


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


def local_array_size(joints: int) -> int:
    """The power of two that holds so many joints, so that few sizes are ever compiled."""
    if joints > LARGEST:
        raise TaskError(f"device='cuda' takes chains of up to {LARGEST} joints, not {joints}.")
    return max(4, 1 << (joints - 1).bit_length())


def solve_on_cuda(
    launch: Launches, constants: tuple[Any, ...], problems: BatchProblems, solutions: BatchSolutions
) -> None:
    """Answer all questions in chunks.

    Args:
        launch: A CUDA kernel that takes the constants, questions and answers, and answers one question in each thread.
        constants: Named tuples of arrays, the same for all questions.
        problems: The questions.
        solutions: Where the answers go.
    """
    cuda = cuda_module()
    there = tuple(on_device(part) for part in constants)
    for first in range(0, len(problems.rotation), CHUNK):
        rows = slice(first, first + CHUNK)
        questions = BatchProblems(*(cuda.to_device(np.ascontiguousarray(part[rows])) for part in problems))
        answers: Any = BatchSolutions(*(cuda.device_array(part[rows].shape, part.dtype) for part in solutions))
        count = questions.rotation.shape[0]
        launch[(count + BLOCK - 1) // BLOCK, BLOCK](*there, questions, answers)
        for part, result in zip(solutions, answers, strict=True):
            result.copy_to_host(part[rows])


def on_device(part: Any) -> Any:
    """A tuple, tuples inside it included, with its arrays on the GPU."""
    if isinstance(part, np.ndarray):
        return cuda_module().to_device(part)
    if isinstance(part, tuple):
        items = [on_device(item) for item in part]
        return type(part)(*items) if hasattr(part, "_fields") else tuple(items)
    return part
