"""The command line: `poise`, or `python -m poise`."""

from __future__ import annotations

import gc
import sys

GARBAGE = 50_000
"""Objects made before Python looks for garbage: importing numba makes many and throws none away."""


def main() -> None:
    """Run the command line and end the program with its exit code."""
    gc.set_threshold(GARBAGE)
    from poise.cli.app import run

    sys.exit(run(sys.argv[1:]))
