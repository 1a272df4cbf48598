"""Kernels that leave the interpreter free while they run, so that threads run them side by side."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

from poise.kernels.jit.compile import decorated

P = ParamSpec("P")
R = TypeVar("R")


def threaded_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """A `kernel` that other threads need not wait for."""
    return cast("Callable[P, R]", decorated(function, counts_references=False, nogil=True))
