"""Batches on a CUDA GPU: the kernels of the CPU, with one thread for each problem.

The functions that numba compiles for a CPU also compile for a GPU (`poise.expressive.launches`).
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from poise.errors import TaskError
from poise.kernels.gaze.batch_arrays import BatchProblems, BatchSolutions

PROBLEMS_PER_LAUNCH = 1 << 20
"""Number of problems on the GPU at a time: a few hundred megabytes."""
MAX_CUDA_JOINTS = 64
"""Largest number of joints for which a thread has enough local memory."""


class CudaMethod(Protocol):
    """A solver's CUDA kernels (`poise.expressive.launches`)."""

    def solve(self, constants: tuple[Any, ...], problems: BatchProblems, solutions: BatchSolutions) -> None:
        """Solve all problems; every array is on the GPU."""


def cuda_module() -> Any:
    """The module `numba.cuda`; raises an error if there is no usable GPU."""
    try:
        from numba import cuda
    except ImportError:
        cuda = None
    try:
        ready = cuda is not None and bool(cuda.is_available())
    except Exception:  # an incomplete driver may raise any exception
        ready = False
    if not ready:
        raise TaskError(
            "device='cuda' needs an NVIDIA GPU with its driver, and numba-cuda: pip install 'poise[cuda]'; omit device"
            " to use the CPU."
        )
    return cuda


def local_array_size(joints: int) -> int:
    """The power of two that holds so many joints, so that few sizes are ever compiled."""
    if joints > MAX_CUDA_JOINTS:
        raise TaskError(f"device='cuda' takes chains of up to {MAX_CUDA_JOINTS} joints, not {joints}.")
    return max(4, 1 << (joints - 1).bit_length())


def solve_on_cuda(
    method: CudaMethod, constants: tuple[Any, ...], problems: BatchProblems, solutions: BatchSolutions
) -> None:
    """Solve all problems on the GPU, PROBLEMS_PER_LAUNCH at a time.

    Args:
        method: The CUDA kernels of the solver.
        constants: Named tuples of arrays, the same for all problems.
        problems: The problems.
        solutions: Receives the solutions.
    """
    device_constants = tuple(on_device(part) for part in constants)
    for first in range(0, len(problems.rotation), PROBLEMS_PER_LAUNCH):
        rows = slice(first, first + PROBLEMS_PER_LAUNCH)
        on_gpu = BatchProblems(*(on_device(np.ascontiguousarray(part[rows])) for part in problems))
        from_gpu = empty_on_device(BatchSolutions(*(part[rows] for part in solutions)))
        method.solve(device_constants, on_gpu, from_gpu)
        for part, result in zip(solutions, from_gpu, strict=True):
            result.copy_to_host(part[rows])


def empty_on_device(part: Any) -> Any:
    """A named tuple of uninitialised arrays on the GPU, with the shapes of those of `part`."""
    cuda = cuda_module()
    return type(part)(*(cuda.device_array(array.shape, array.dtype) for array in part))


def on_device(part: Any) -> Any:
    """A tuple, including nested tuples, with its arrays copied to the GPU."""
    if isinstance(part, np.ndarray):
        return cuda_module().to_device(part)
    if isinstance(part, tuple):
        items = [on_device(item) for item in part]
        return type(part)(*items) if hasattr(part, "_fields") else tuple(items)
    return part
