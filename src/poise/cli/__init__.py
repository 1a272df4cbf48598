"""The command line: `poise`, or `python -m poise`."""

from __future__ import annotations

import gc
import os
import sys

GARBAGE = 50_000
"""Objects made before Python looks for garbage: importing numba makes many and throws none away."""
ONE_THREAD = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Matrices of figures are small: on a busy machine, threads that share one wait far longer than they work."""


def main() -> None:
    """Run the command line and end the program with its exit code."""
    gc.set_threshold(GARBAGE)
    for name in ONE_THREAD:
        os.environ.setdefault(name, "1")
    from poise.cli.app import run

    sys.exit(run(sys.argv[1:]))
