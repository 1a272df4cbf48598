"""`poise compile`: compile all kernels in advance."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from poise.cli.console import print_note, print_result, stderr

if TYPE_CHECKING:
    from poise.warmup import Step

FIRST = "body"
"""The lane that must finish before all others start."""


def compile_kernels() -> None:
    """Compile every kernel now, on all cores, so that no later command has to wait for a compilation.

    [bold]poise compile[/] takes several minutes the first time and returns at once afterwards.

    The compiled code is stored in your cache folder; set POISE_CACHE_DIR to store it elsewhere.
    """
    from poise.kernels.jit.cache import is_complete, mark_complete, user_cache
    from poise.warmup import lanes

    if is_complete():
        print_result(f"the kernels are already compiled, in {user_cache()}")
        return
    started = time.monotonic()
    columns = (TextColumn("compiling {task.description}"), BarColumn(), TimeElapsedColumn())
    work = lanes()
    with Progress(*columns, console=stderr(), transient=True) as progress:
        bar = progress.add_task("the kinematic tree", total=2 * sum(map(len, work.values())))

        def done(what: str) -> None:
            progress.update(bar, description=f"{what} …", advance=1)

        try:
            _run_lanes([FIRST], done)
            _run_lanes([lane for lane in work if lane != FIRST], done)
            _run_again([step for steps in work.values() for step in steps], done)
        except KeyboardInterrupt:
            print_note("stopped; what is compiled is kept, and poise compile goes on from there.")
            raise typer.Exit(130) from None
    mark_complete()
    print_result(f"compiled every kernel in {time.monotonic() - started:.0f} s, in {user_cache()}")


def _run_lanes(names: list[str], done: Callable[[str], None]) -> None:
    """Run lanes of the warm-up, each in a process of its own, as many at once as there are cores."""
    waiting, running = list(names), list[subprocess.Popen[str]]()
    try:
        while waiting or running:
            while waiting and len(running) < (os.cpu_count() or 1):
                running.append(_start(waiting.pop(0), done))
            time.sleep(0.05)
            for process in [process for process in running if process.poll() is not None]:
                running.remove(process)
                if process.returncode != 0:
                    assert process.stderr is not None
                    raise RuntimeError(f"compiling failed:\n{process.stderr.read()}")
    finally:
        for process in running:
            process.kill()
            process.wait()


def _start(lane: str, done: Callable[[str], None]) -> subprocess.Popen[str]:
    """Start a lane in a process that Ctrl-C does not reach; `done` is called after each of its steps."""
    process = subprocess.Popen(
        [sys.executable, "-m", "poise.warmup", lane],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )

    def listen() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            done(line.strip())

    threading.Thread(target=listen, daemon=True).start()
    return process


def _run_again(steps: list[Step], done: Callable[[str], None]) -> None:
    """Run every step once more in this process.

    Two processes that store machine code of one kernel for different types at the same moment may lose one of them;
    what is lost is compiled here, the rest is loaded.
    """
    for step in steps:
        step.run()
        done(f"checking {step.what}")
