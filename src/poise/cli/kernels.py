"""`poise compile`: no later start has to."""

from __future__ import annotations

import time

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from poise.cli.console import answer, remarks


def compile_kernels() -> None:
    """Compile every kernel once on this machine, so that nothing later has to wait.

    The machine code is kept in your cache folder; POISE_CACHE_DIR chooses another.
    """
    from poise.kernels.jit.cache import is_complete, mark_complete, user_cache
    from poise.warmup import steps

    if is_complete():
        answer(f"the kernels are compiled already, in {user_cache()}")
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
    mark_complete()
    answer(f"compiled every kernel in {time.monotonic() - started:.0f} s, in {user_cache()}")
