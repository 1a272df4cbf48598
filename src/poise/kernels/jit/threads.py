"""Kernels that release Python's global interpreter lock, so that several threads run them in parallel."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

from poise.kernels.jit.compile import decorated

P = ParamSpec("P")
R = TypeVar("R")


def threaded_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` as `kernel` does, and release the global interpreter lock while it runs."""
    return cast("Callable[P, R]", decorated(function, counts_references=False, nogil=True))
