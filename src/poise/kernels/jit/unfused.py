"""CUDA kernels compiled without fused multiply-add, so that a GPU rounds as a CPU does.

A GPU compiler fuses a product and a sum into one operation, with one rounding instead of two. `cuda.jit` has no option
to disable that, but the compiler that it calls has one. So while a kernel is compiled, the private function
`numba.cuda.cudadrv.nvvm.compile_ir` is replaced by itself with `fma=False`; link-time optimisation is disabled, because
it would drop the option. With it, solutions on a GPU equal those of the CPU to the last bit: `benchmarks/gpu.py` counts
the fused operations in the compiled kernels, and compares the solutions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from numba import config, cuda

THREADS_PER_BLOCK = 64
"""Threads per block; the registers that these kernels need leave no room for more."""

Launch = Callable[..., None]


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

    def over(self, count: int) -> Launch:
        """The kernel for a grid with one thread for each of `count` problems."""
        return self[(count + THREADS_PER_BLOCK - 1) // THREADS_PER_BLOCK, THREADS_PER_BLOCK]

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
