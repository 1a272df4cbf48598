"""The line that says why a first start takes longer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from poise.cli.console import remark, remarks

COMPILING = "compiling the kernels, once on this machine …"


@contextmanager
def compiling_noted() -> Iterator[None]:
    """Say so as soon as a kernel has to be compiled, and only then."""
    from poise.kernels.jit.cache import is_complete

    if is_complete():
        yield
        return
    with _announcing():
        yield


@contextmanager
def _announcing() -> Iterator[None]:
    from numba.core import event
    from rich.status import Status

    status = Status(COMPILING, console=remarks())

    class Announcer(event.Listener):  # type: ignore[misc]
        said = False

        def on_start(self, _event: Any) -> None:
            if not self.said and remarks().is_terminal:
                status.start()
            elif not self.said:
                remark(COMPILING)
            self.said = True

        def on_end(self, _event: Any) -> None:
            pass

    try:
        with event.install_listener("numba:compile", Announcer()):
            yield
    finally:
        status.stop()
