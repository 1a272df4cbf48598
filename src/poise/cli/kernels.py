"""`poise compile`: compile all kernels in advance."""

from __future__ import annotations

import time

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from poise.cli.console import print_result, stderr


def compile_kernels() -> None:
    """Compile every kernel now, so that no later command has to wait for a compilation.

    [bold]poise compile[/] takes several minutes the first time and returns at once afterwards.

    The compiled code is stored in your cache folder; set POISE_CACHE_DIR to store it elsewhere.
    """
    from poise.kernels.jit.cache import is_complete, mark_complete, user_cache
    from poise.warmup import steps

    if is_complete():
        print_result(f"the kernels are already compiled, in {user_cache()}")
        return
    started = time.monotonic()
    columns = (TextColumn("compiling {task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=stderr(), transient=True) as progress:
        todo = steps()
        bar = progress.add_task("", total=len(todo))
        for step in todo:
            progress.update(bar, description=step.what)
            step.run()
            progress.advance(bar)
    mark_complete()
    print_result(f"compiled every kernel in {time.monotonic() - started:.0f} s, in {user_cache()}")
