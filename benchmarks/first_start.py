"""How long somebody waits who has cloned poise: the stages of the first start of the studio, and tests after an edit.

python benchmarks/first_start.py

The last commit is cloned, with an empty cache of machine code, and run with the packages of the interpreter that runs
this. Times are by the clock, from the start of `poise studio` or `make test`, so the machine should have nothing else
to do; processor time is printed beside them.
"""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from machine import describe

from poise.studio.server.waiting import PROGRESS_PATH as WAITING

ROOT = Path(__file__).resolve().parents[1]
POISE = [sys.executable, "-c", "from poise.cli import main; main()"]
KERNEL = "src/poise/kernels/engine/step.py"
EDITED = "MAX_REST_LOSS ="
"""A line of the kernel that is edited: a constant that its functions contain."""


def main() -> None:
    print(describe("numba", "numpy"))
    with tempfile.TemporaryDirectory(prefix="poise-first-start-") as folder:
        clone = Path(folder) / "poise"
        subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
        variables = os.environ | {"PYTHONPATH": str(clone / "src"), "POISE_CACHE_DIR": str(Path(folder) / "cache")}
        variables.pop("PYTHONDONTWRITEBYTECODE", None)
        print("poise studio, with an empty cache:", flush=True)
        studio_stages(clone, variables)
        # What reading and rewriting all test files takes, once, is no part of an edit.
        for _ in first_test(clone, variables):
            pass
        print(f"make test, after an edit in {KERNEL}:", flush=True)
        edit(clone / KERNEL)
        for stage in first_test(clone, variables):
            print(stage, flush=True)


def studio_stages(clone: Path, variables: dict[str, str]) -> None:
    """Start the studio of a clone, and print when it has reached each stage."""
    used = processor_time()
    with running([*POISE, "studio", "--no-browser"], clone, variables) as (begin, said):
        until(lambda: "?key=" in said(), said)
        address = re.findall(r"http://\S+", said())[0]
        until(lambda: page(address) != "", said)
        print(line("a page with a progress bar", begin), flush=True)
        until(lambda: WAITING not in (page(address) or WAITING), said)
        print(line("the figure, and sliders that move it", begin), flush=True)
        until(lambda: "ready to pull" in said(), said)
        print(line("pulling", begin), flush=True)
        until(lambda: "ready for everything" in said(), said)
        print(line("everything", begin), flush=True)
    print(f"  {'processor time in all':40}{processor_time() - used:6.1f} s")


def first_test(clone: Path, variables: dict[str, str]) -> Iterator[str]:
    """Do what `make test` does in a clone, until the first test has passed; yields lines with times."""
    used, begin = processor_time(), time.monotonic()
    subprocess.run([*POISE, "compile"], cwd=clone, env=variables, check=True, capture_output=True)
    yield line("compiled", begin)
    command = [sys.executable, "-m", "pytest", "-n", "2", "--dist", "loadgroup", "-m", "not slow", "-v"]
    with running([*command, "--ignore", "tests/browser"], clone, variables) as (_, said):
        until(lambda: "PASSED" in said(), said)
        yield line("the first test has passed", begin)
    yield f"  {'processor time in all':40}{processor_time() - used:6.1f} s"


def edit(path: Path) -> None:
    """Change a number in a kernel by so little that nothing else changes."""
    text = path.read_text()
    found = re.search(rf"^{EDITED} ([0-9.e-]+)", text, re.MULTILINE)
    if found is None:
        raise SystemExit(f"{path} has no line {EDITED!r} to edit.")
    path.write_text(text[: found.start(1)] + repr(float(found[1]) * (1.0 + 1e-9)) + text[found.end(1) :])


@contextmanager
def running(command: list[str], folder: Path, variables: dict[str, str]) -> Iterator[tuple[float, Callable[[], str]]]:
    """Run a command inside the block; gives the time of its start, and a function for what it has printed so far."""
    said: list[str] = []
    begin = time.monotonic()
    process = subprocess.Popen(
        command, cwd=folder, env=variables, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert process.stdout is not None
    threading.Thread(target=said.extend, args=[process.stdout], daemon=True).start()
    try:
        yield begin, partial(_so_far, process, said)
    finally:
        process.terminate()
        process.wait()


def _so_far(process: subprocess.Popen[str], said: list[str]) -> str:
    if process.poll() is not None:
        raise SystemExit("".join(said) + "the process has ended.")
    return "".join(said)


def until(reached: Callable[[], bool], said: Callable[[], str]) -> None:
    """Wait until a condition holds, as long as a process runs."""
    while not reached():
        said()
        time.sleep(0.05)


def page(address: str) -> str:
    """The page at an address; empty if there is none yet."""
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    try:
        with browser.open(address, timeout=5.0) as answer:
            return str(answer.read().decode())
    except urllib.error.HTTPError as answer:
        return str(answer.read().decode())
    except OSError:
        return ""


def line(what: str, begin: float) -> str:
    """A line of the table, with the time since `begin`."""
    return f"  {what:40}{time.monotonic() - begin:6.1f} s"


def processor_time() -> float:
    """Processor time of all processes that have ended here [s]."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
