"""What somebody waits for who installs a wheel: new processes in a fresh environment, with nothing but the wheel.

python benchmarks/wheels.py [dist/poise-…-cp312-….whl …]

Each wheel, by default each in dist/, is installed in an environment of its own outside the repository, for the Python
that it is for, which has to be installed. The cache is empty at first, and has to stay empty: whatever had to be
compiled would be stored there. `make wheel PYTHON=python3.12` builds a wheel.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from machine import describe
from results import Table

SOLVE = (
    "import poise; human = poise.load('human'); "
    "print(poise.solve(human, [poise.Position('right_hand', at=(-0.3, 1.2, 0.5))]).status)"
)
CONFLICT = (
    "import poise; from poise import *; human = poise.load('human'); print(poise.solve(human, ["
    "CenterOfMass(over=['left_foot', 'right_foot']), Frame('left_foot', human.pose_of('left_foot', human.neutral())), "
    "LookAt('eyes', at=(0.4, 1.2, 1.0), priority=2), Position('right_hand', at=(0.4, 1.2, 6.0), priority=3)]).status)"
)
COMMANDS = {
    "first solve of the human": ["python", "-c", SOLVE],
    "second solve of the human": ["python", "-c", SOLVE],
    "four tasks in conflict": ["python", "-c", CONFLICT],
    "poise figures": ["poise", "figures"],
    "poise describe human": ["poise", "describe", "human"],
    "poise show human": ["poise", "show", "human"],
}


class Run(NamedTuple):
    """What one process took."""

    wall: float
    """Time by the clock [s]."""
    processor: float
    """Processor time [s]."""
    memory: float
    """Largest resident memory [MB]."""


def main() -> None:
    wheels = [Path(name).resolve() for name in sys.argv[1:]] or sorted(Path("dist").resolve().glob("*-manylinux*.whl"))
    print(describe("numba", "numpy"))
    for wheel in wheels:
        with tempfile.TemporaryDirectory(prefix="poise-wheel-") as folder:
            try_wheel(wheel, Path(folder))


def try_wheel(wheel: Path, folder: Path) -> None:
    """Install a wheel in an environment in `folder`, and print what the commands take there."""
    version = re.findall(r"-cp3(\d+)-", wheel.name)[0]
    table = Table(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB", "", "s", "s of processor time", "MB of memory")
    subprocess.run([python_3(version), "-m", "venv", folder / "venv"], check=True)
    programs = folder / "venv" / "bin"
    quietly = ["--quiet", "--quiet", "--disable-pip-version-check"]
    subprocess.run([programs / "pip", "install", *quietly, wheel], check=True)
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "POISE"))}
    variables = clean | {"POISE_CACHE_DIR": str(folder / "cache")}
    for what, (program, *arguments) in COMMANDS.items():
        took = measure([str(programs / program), *arguments], folder, variables)
        table.row(what, took.wall, took.processor, took.memory)
    compiled = list((folder / "cache").glob("kernels-*/*"))
    table.row("kernels that had to be compiled", len(compiled), "", "")


def python_3(minor: str) -> str:
    """The path of an interpreter, Python 3.`minor`."""
    versions = Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python3")
    for candidate in (shutil.which(f"python3.{minor}"), *versions):
        if candidate and subprocess.run([candidate, "--version"], capture_output=True, check=False).returncode == 0:
            return str(candidate)
    raise SystemExit(f"Python 3.{minor} is not installed.")


def measure(command: list[str], folder: Path, variables: dict[str, str]) -> Run:
    """Run a command in a new process."""
    begin = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert process.stdout is not None
    said = process.stdout.read().decode()
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - begin
    if status:
        raise SystemExit(f"{' '.join(command)} failed:\n{said}")
    return Run(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024.0)


if __name__ == "__main__":
    main()
