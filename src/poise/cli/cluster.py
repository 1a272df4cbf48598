"""The executor of a Dask cluster, for commands with `--dask ADDRESS`."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any

from poise.errors import TaskError
from poise.extras import require

CONNECTION_TIMEOUT = 10.0
"""Time to wait for a Dask scheduler [s]."""
RETRIES = 3
"""How often a part that failed on a worker is tried again."""


@contextmanager
def cluster(address: str | None) -> Iterator[Executor | None]:
    """The executor of a Dask cluster; None without an address."""
    if address is None:
        yield None
        return
    require("distributed", "--dask")
    import distributed

    dask: Any = distributed  # it has no types
    try:
        client = dask.Client(address, timeout=CONNECTION_TIMEOUT)
    except (OSError, ValueError) as problem:
        raise TaskError(f"there is no Dask scheduler at {address!r}: {problem}.") from problem
    with client:
        yield client.get_executor(pure=False, retries=RETRIES)
