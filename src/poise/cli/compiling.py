"""The notice that explains why the first start on a machine takes longer: kernels are being compiled."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from poise.cli.console import print_note, stderr

COMPILING_NOTICE = "compiling the kernels; this happens once on this machine …"


@contextmanager
def compilation_notice() -> Iterator[None]:
    """Print a notice when the first kernel inside this block has to be compiled, and nothing if none has to be."""
    from poise.kernels.jit.machine_code import is_complete

    if is_complete():
        yield
        return
    with _print_at_first_compile():
        yield


@contextmanager
def _print_at_first_compile() -> Iterator[None]:
    from numba.core import event
    from rich.status import Status

    status = Status(COMPILING_NOTICE, console=stderr())

    class Announcer(event.Listener):  # type: ignore[misc]
        printed = False

        def on_start(self, _event: Any) -> None:
            if not self.printed and stderr().is_terminal:
                status.start()
            elif not self.printed:
                print_note(COMPILING_NOTICE)
            self.printed = True

        def on_end(self, _event: Any) -> None:
            pass

    try:
        with event.install_listener("numba:compile", Announcer()):
            yield
    finally:
        status.stop()
