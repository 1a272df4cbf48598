"""The CUDA kernels, one problem per thread; imported only for a GPU, since numba's CUDA is an optional package.

Each thread works in its own local memory, sized for the next power of two of the chain's joints.

The solutions equal those of the CPU to the last bit. All arithmetic is rounded alike on both
(`poise.kernels.maths.portable_trigonometry`), except that a GPU compiler fuses a product and a sum into one operation,
with one rounding instead of two. So fusing is disabled: by an option of the compiler that `cuda.jit` does not offer,
and by disabling link-time optimisation, which would drop that option.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from typing import Any

from numba import config, cuda, float64

from poise.expressive.cuda import Launch
from poise.kernels.gaze.batch_arrays import BatchProblems, BatchSolutions, aim_of, write_solution
from poise.kernels.gaze.erik.erik import ErikWorkspace, solve_erik
from poise.kernels.gaze.erik.phases import Frames
from poise.kernels.gaze.expressive.solve import solve as solve_expressive
from poise.kernels.gaze.expressive.workspace import WORKSPACE_ROWS


class Unfused:
    """A CUDA kernel compiled without fused multiply-add operations, at its first launch."""

    def __init__(self, function: Callable[..., None]) -> None:
        """Wrap the function; compilation happens at the first launch."""
        options = {} if config.ENABLE_CUDASIM else {"lto": False}
        self.kernel: Any = cuda.jit(function, **options)

    def __getitem__(self, grid: tuple[int, int]) -> Launch:
        """The kernel for a grid of (blocks, threads per block)."""

        def launch(*arguments: Any) -> None:
            with _nothing_fused():
                self.kernel[grid](*arguments)

        return launch

    def fused(self) -> int:
        """Number of fused double-precision operations in the compiled kernel."""
        with _nothing_fused():  # inspect_asm may compile again
            return sum(code.count("fma.rn.f64") for code in self.kernel.inspect_asm().values())


@contextmanager
def _nothing_fused() -> Iterator[None]:
    """A context in which numba compiles GPU code without fused multiply-add."""
    if config.ENABLE_CUDASIM:
        yield
        return
    from numba.cuda.cudadrv import nvvm

    compile_ir = nvvm.compile_ir
    nvvm.compile_ir = partial(compile_ir, fma=False)
    try:
        yield
    finally:
        nvvm.compile_ir = compile_ir


@cache
def erik_launch(size: int) -> Unfused:
    """The CUDA kernel of ERIK for chains of up to `size` joints."""

    def launch(chain: Any, scoring: Any, method: Any, problems: BatchProblems, solutions: BatchSolutions) -> None:
        i = cuda.grid(1)
        if i >= problems.rotation.shape[0]:
            return
        n = problems.posture.shape[1]
        angles = cuda.local.array((3, size), float64)
        frames = cuda.local.array((3, size, 4), float64)
        workspace = ErikWorkspace(
            angles[0, :n], angles[1, :n], angles[2, :n], Frames(frames[0, :n], frames[1, :n], frames[2, :n])
        )
        count = solve_erik(
            chain, scoring, method[0], method[1], aim_of(problems, i), problems.posture[i], problems.start[i], workspace
        )
        write_solution(chain, scoring, problems, i, workspace.best, count, solutions)

    return Unfused(launch)


@cache
def expressive_launch(size: int) -> Unfused:
    """The CUDA kernel of `poise.Expressive` for chains of up to `size` joints."""

    def launch(chain: Any, scoring: Any, search: Any, problems: BatchProblems, solutions: BatchSolutions) -> None:
        i = cuda.grid(1)
        if i >= problems.rotation.shape[0]:
            return
        n = problems.posture.shape[1]
        angles = cuda.local.array(size, float64)
        work = cuda.local.array((WORKSPACE_ROWS, size), float64)
        for row in range(WORKSPACE_ROWS):
            for k in range(n):
                work[row, k] = 0.0
        count = solve_expressive(
            chain, scoring, search, aim_of(problems, i), problems.posture[i], work[:, :n], angles[:n]
        )
        write_solution(chain, scoring, problems, i, angles[:n], count, solutions)

    return Unfused(launch)
