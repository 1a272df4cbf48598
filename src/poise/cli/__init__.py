"""The command line: `poise`, or `python -m poise`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and end the program with its exit code."""
    from poise.cli.app import run

    sys.exit(run(sys.argv[1:]))
