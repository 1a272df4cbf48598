"""The number of cores that this process may use."""

from __future__ import annotations

import os


def usable_cores() -> int:
    """Number of cores that this process may use: fewer than the machine has, if it was given only some of them."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
