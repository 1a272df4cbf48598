"""`poise compile`: compile all kernels in advance."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from poise.cli.console import print_result, stderr

if TYPE_CHECKING:
    from poise.cli.preparation import Preparation

BAR_UPDATE_INTERVAL = 0.2
"""Time between two updates of the progress bar [s]."""


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
    """Compile with a progress bar."""
    from poise.cli.preparation import Preparation

    preparation = Preparation()
    preparation.start()
    try:
        with progress_bar(preparation):
            preparation.wait_until_over()
    except KeyboardInterrupt:
        sys.exit("stopped; what is compiled is kept, and poise compile goes on from there.")
    finally:
        preparation.stop()


@contextmanager
def progress_bar(preparation: Preparation) -> Iterator[None]:
    """A progress bar on standard error inside a `with` block."""
    columns = (TextColumn("compiling {task.description}"), BarColumn(), TimeElapsedColumn())
    over = threading.Event()
    with Progress(*columns, console=stderr(), transient=True) as progress:
        bar = progress.add_task("…", total=1.0)

        def follow() -> None:
            while not over.wait(BAR_UPDATE_INTERVAL):
                progress.update(bar, description=f"{preparation.activity} …", completed=preparation.share())

        follower = threading.Thread(target=follow, daemon=True)
        follower.start()
        try:
            yield
        finally:
            over.set()
            follower.join()
