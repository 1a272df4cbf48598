"""The machine and versions of a benchmark, and timing by the best of several rounds."""

import os
import platform
import sys
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def describe(*packages: str) -> str:
    """Processor, Python and the versions of the packages compared."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")
        ]
        cpu = names[0] if names else cpu
    return f"{cpu}, {os.cpu_count()} cores, Python {platform.python_version()}, " + ", ".join(
        map(with_version, packages)
    )


def with_version(package: str) -> str:
    """A package and its version."""
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"{package} (not installed)"


def peers_python() -> Path:
    """The interpreter that has the other libraries: POISE_PEERS, that of `.venv-bench`, or the one that runs."""
    beside = Path(__file__).resolve().parent.parent / ".venv-bench/bin/python"
    python = Path(os.environ.get("POISE_PEERS") or (beside if beside.exists() else sys.executable))
    if not python.exists():
        raise SystemExit(f"POISE_PEERS names {python}, which is not there; give the interpreter that has the peers.")
    return python


def microseconds(call: Callable[[], object], repeats: int, rounds: int = 7) -> float:
    """Least mean duration of a call over several rounds [µs]."""
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(repeats):
            call()
        best = min(best, (time.perf_counter() - start) / repeats)
    return best * 1e6
