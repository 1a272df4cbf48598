"""The command-line program: `poise`, or `python -m poise`."""

from __future__ import annotations

import gc
import os
import sys

GARBAGE_THRESHOLD = 50_000
"""Allocations between two garbage collections; importing numba allocates many objects and frees none."""
THREAD_COUNT_VARIABLES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Environment variables that limit BLAS to one thread: a figure's matrices are too small to share between threads."""


def main() -> None:
    """Run the command in `sys.argv` and exit with its exit code."""
    gc.set_threshold(GARBAGE_THRESHOLD)
    for name in THREAD_COUNT_VARIABLES:
        os.environ.setdefault(name, "1")
    from poise.cli.app import run

    sys.exit(run(sys.argv[1:]))
