"""`poise compile`: compile all kernels in advance."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from poise.cli.console import print_note, print_result, stderr

FIRST = "body"
"""The lane that must finish before all others start."""


def compile_kernels(
    status: Annotated[
        bool, typer.Option("--status", help="Print what is compiled, where, and how large it is.")
    ] = False,
    clear: Annotated[
        bool, typer.Option("--clear", help="Delete everything that was compiled on this machine.")
    ] = False,
) -> None:
    """Compile every kernel now, on all cores, so that no later command has to wait for a compilation.

    [bold]poise compile[/] takes several minutes the first time and returns at once afterwards.

    [bold]poise compile --status[/] says what is compiled; [bold]--clear[/] deletes it.

    The compiled code is stored in your cache folder; set POISE_CACHE_DIR to store it elsewhere.
    """
    from poise.kernels.jit import cache, shipped
    from poise.kernels.jit.machine_code import is_complete

    if clear:
        cache.clear()
        print_result(f"deleted the compiled kernels in {cache.user_cache()}")
    if status:
        print_result("\n".join(_status()))
    if clear or status:
        return
    if is_complete():
        where = cache.SHIPPED_FOLDER if shipped.is_usable() else cache.user_cache()
        print_result(f"the kernels are already compiled, in {where}")
        return
    started = time.monotonic()
    _compile_everything()
    cache.mark_complete()
    print_result(f"compiled every kernel in {time.monotonic() - started:.0f} s, in {cache.user_cache()}")


def _status() -> list[str]:
    """Sentences about the machine code that came with poise and about what was compiled on this machine."""
    from poise.kernels.jit import cache, shipped
    from poise.kernels.jit.machine_code import is_complete

    came = shipped.files()
    lines = [f"came with poise: {_amount(came)} for {shipped.BASELINE_CPU}, in {cache.SHIPPED_FOLDER}"]
    if not came:
        lines = ["came with poise: none, since poise was not installed from a platform wheel"]
    elif reason := shipped.why_unusable():
        lines.append(f"  not used: {reason}")
    names = cache.every_folder()
    own = [file for folder in cache.stored() if folder.name in names for file in folder.glob("*.code")]
    others = [file for folder in cache.stored() if folder.name not in names for file in folder.glob("*.*")]
    lines.append(f"compiled on this machine: {_amount(own)}, in {cache.user_cache()}")
    lines.append(f"compiled for other versions: {_amount(others)}; poise compile --clear deletes them")
    lines.append("nothing is left to compile" if is_complete() else "poise compile compiles the rest")
    return lines


def _amount(files: list[Path]) -> str:
    return f"{len(files)} files, {sum(file.stat().st_size for file in files) / 1e6:.1f} MB"


def _compile_everything() -> None:
    """Run the lanes of the warm-up with a progress bar."""
    from poise.warmup import lanes

    columns = (TextColumn("compiling {task.description}"), BarColumn(), TimeElapsedColumn())
    work = lanes()
    with Progress(*columns, console=stderr(), transient=True) as progress:
        bar = progress.add_task("the kinematic tree", total=sum(map(len, work.values())))

        def done(what: str) -> None:
            progress.update(bar, description=f"{what} …", advance=1)

        try:
            _run_lanes([FIRST], done)
            _run_lanes([lane for lane in work if lane != FIRST], done)
        except KeyboardInterrupt:
            print_note("stopped; what is compiled is kept, and poise compile goes on from there.")
            raise typer.Exit(130) from None


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
        env=os.environ | {"POISE_QUIET": "1"},
        start_new_session=True,
    )

    def listen() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            done(line.strip())

    threading.Thread(target=listen, daemon=True).start()
    return process
