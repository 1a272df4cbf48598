"""`poise compile`: no later start has to."""

from __future__ import annotations

import time

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from poise.cli.console import answer, remarks


def compile_kernels() -> None:
    """Compile every kernel once on this machine, so that nothing later has to wait.

    The machine code is kept in your cache folder; POISE_CACHE_DIR chooses another.
    """
    from poise.kernels.compile import CACHE_FOLDER, is_warm, mark_warm
    from poise.warmup import steps

    if is_warm():
        answer(f"the kernels are compiled already, in {CACHE_FOLDER}")
        return
    started = time.monotonic()
    columns = (TextColumn("compiling {task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=remarks(), transient=True) as progress:
        todo = steps()
        bar = progress.add_task("", total=len(todo))
        for step in todo:
            progress.update(bar, description=step.what)
            step.run()
            progress.advance(bar)
    mark_warm()
    answer(f"compiled every kernel in {time.monotonic() - started:.0f} s, in {CACHE_FOLDER}")
