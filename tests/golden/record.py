"""Computes every answer of the golden set and writes them to a file.

Run: python -m tests.golden.record [file]

Many solves end elsewhere when a sine is rounded differently: where goals conflict, a last bit decides which limit is
met first. So everything is computed a second time in a process whose C library and BLAS round as on an older
processor, and cases with the same values there count as steady: only those are compared on machines of another kind.

Record again only where answers are meant to change, and say in the commit why they do.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import llvmlite.binding as llvm
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from tests import real_data
from tests.golden.cases import FAMILIES, cases_of
from tests.golden.motion_cases import retargeted_recordings

FloatArray = NDArray[np.float64]

ANSWERS = Path(__file__).with_name("answers.npz")
OTHER_ROUNDING = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-FMA,-AVX2,-FMA4", "OPENBLAS_CORETYPE": "Haswell"}
"""Environment of a process that rounds differently, with glibc and OpenBLAS on an x86 processor."""
STEADY = 1e-10
"""Largest relative difference there of a steady case."""
PACKAGES = ("coal", "llvmlite", "numba", "numpy", "scipy")


class Recording(NamedTuple):
    """Answers by family and case, and the machine that computed them."""

    answers: dict[str, dict[str, FloatArray]]
    machine: dict[str, str]
    steady: frozenset[tuple[str, str]]
    """Family and name of the cases whose values depend on rounding by less than `STEADY`."""


def difference(found: FloatArray, wanted: FloatArray) -> float:
    """Largest difference of two answers' values, relative to values above 1; infinite where they do not compare."""
    a, b = found[1 + int(found[0]) :], wanted[1 + int(wanted[0]) :]
    if a.size != b.size:
        return np.inf
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore"):
        apart = np.abs(a - b) / np.maximum(1.0, np.abs(b))
    return float(np.where(same, 0.0, np.where(np.isnan(apart), np.inf, apart)).max(initial=0.0))


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
    families = [family for family in FAMILIES if family is not retargeted_recordings or real_data.IS_HERE]
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


def steady_cases(answers: dict[str, dict[str, FloatArray]]) -> frozenset[tuple[str, str]]:
    """Cases that a process which rounds differently answers alike."""
    code = "import pathlib, sys; from tests.golden import record; record.record(pathlib.Path(sys.argv[1]))"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "answers.npz"
        subprocess.run([sys.executable, "-c", code, str(path)], env=os.environ | OTHER_ROUNDING, check=True)
        others = load(path).answers
    return frozenset(
        (family, name)
        for family, named in answers.items()
        for name, answer in named.items()
        if difference(others[family][name], answer) <= STEADY
    )


def record(path: Path) -> None:
    """Compute and save, without asking which cases are steady."""
    save(path, Recording(compute(), this_machine(), frozenset()))


def save(path: Path, recording: Recording) -> None:
    """Write all answers as one array, beside their names and sizes."""
    flat = [(family, name, answer) for family, named in recording.answers.items() for name, answer in named.items()]
    np.savez_compressed(
        path,
        family=np.array([family for family, _, _ in flat]),
        name=np.array([name for _, name, _ in flat]),
        size=np.array([answer.size for _, _, answer in flat]),
        values=np.concatenate([answer for _, _, answer in flat]),
        steady=np.array([(family, name) in recording.steady for family, name, _ in flat]),
        machine=np.array(json.dumps(recording.machine)),
    )


def load(path: Path) -> Recording:
    """Read what `save` wrote."""
    with np.load(path) as file:
        parts = np.split(file["values"], np.cumsum(file["size"])[:-1])
        keys = list(zip(file["family"].tolist(), file["name"].tolist(), strict=True))
        answers: dict[str, dict[str, FloatArray]] = {}
        for (family, name), answer in zip(keys, parts, strict=True):
            answers.setdefault(family, {})[name] = answer
        steady = frozenset(key for key, is_steady in zip(keys, file["steady"], strict=True) if is_steady)
        return Recording(answers, json.loads(str(file["machine"])), steady)


def main(path: Path) -> None:
    """Record."""
    if not real_data.IS_HERE:
        print(f"Recorded clips are not beside the repository: {retargeted_recordings.__name__} is left out.")
    answers = compute()
    steady = steady_cases(answers)
    save(path, Recording(answers, this_machine(), steady))
    for family, named in answers.items():
        print(f"{len(named):5} {family}, {sum((family, name) in steady for name in named)} steady")
    print(f"{sum(map(len, answers.values())):5} answers, {len(steady)} steady, {path.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ANSWERS)
