"""Computes every answer of the golden set and writes them to a file.

Run: python -m tests.golden.record [file]

Record again only where answers are meant to change, and say in the commit why they do.
"""

from __future__ import annotations

import json
import platform
import sys
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import llvmlite.binding as llvm
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from tests.golden.cases import FAMILIES, cases_of
from tests.golden.motion_cases import are_recordings_here, retargeted_recordings

FloatArray = NDArray[np.float64]

ANSWERS = Path(__file__).with_name("answers.npz")
PACKAGES = ("coal", "llvmlite", "numba", "numpy", "scipy")


class Recording(NamedTuple):
    """Answers by family and case, and the machine that computed them."""

    answers: dict[str, dict[str, FloatArray]]
    machine: dict[str, str]


def this_machine() -> dict[str, str]:
    """What the last bits of an answer depend on: the processor, the C library and the packages that compute."""
    machine = {
        "architecture": platform.machine(),
        "processor": llvm.get_host_cpu_name(),
        "features": llvm.get_host_cpu_features().flatten(),
        "C library": " ".join(platform.libc_ver()),
    }
    return machine | {package: version(package) for package in PACKAGES}


def compute() -> dict[str, dict[str, FloatArray]]:
    """Every answer, with a progress bar."""
    console = Console(stderr=True)
    families = [family for family in FAMILIES if family is not retargeted_recordings or are_recordings_here()]
    cases = {family.__name__: cases_of(family) for family in families}
    bar = Progress(
        TextColumn("{task.description:<22}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=console
    )
    answers: dict[str, dict[str, FloatArray]] = {}
    with bar:
        task = bar.add_task("", total=sum(map(len, cases.values())))
        for family, named in cases.items():
            bar.update(task, description=family)
            answers[family] = {}
            for name, case in named.items():
                answers[family][name] = case()
                bar.advance(task)
    return answers


def save(path: Path, recording: Recording) -> None:
    """Write all answers as one array, beside their names and sizes."""
    flat = [(family, name, answer) for family, named in recording.answers.items() for name, answer in named.items()]
    np.savez_compressed(
        path,
        family=np.array([family for family, _, _ in flat]),
        name=np.array([name for _, name, _ in flat]),
        size=np.array([answer.size for _, _, answer in flat]),
        values=np.concatenate([answer for _, _, answer in flat]),
        machine=np.array(json.dumps(recording.machine)),
    )


def load(path: Path) -> Recording:
    """Read what `save` wrote."""
    with np.load(path) as file:
        parts = np.split(file["values"], np.cumsum(file["size"])[:-1])
        answers: dict[str, dict[str, FloatArray]] = {}
        for family, name, answer in zip(file["family"].tolist(), file["name"].tolist(), parts, strict=True):
            answers.setdefault(family, {})[name] = answer
        return Recording(answers, json.loads(str(file["machine"])))


def main(path: Path) -> None:
    """Record."""
    if not are_recordings_here():
        print(f"Recorded clips are not beside the repository: {retargeted_recordings.__name__} is left out.")
    answers = compute()
    save(path, Recording(answers, this_machine()))
    for family, named in answers.items():
        print(f"{len(named):5} {family}")
    print(f"{sum(map(len, answers.values())):5} answers, {path.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ANSWERS)
