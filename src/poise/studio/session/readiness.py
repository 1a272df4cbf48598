"""How far the studio has got with getting ready: after the first start on a machine, kernels are still compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Readiness(NamedTuple):
    """What pages say while the studio gets ready."""

    share: float
    """Share of the work that is done, from 0 to 1."""
    sentence: str
    """What works already, and what will in a moment."""


Progress = Callable[[], Readiness | None]
"""The present readiness; None once everything is ready."""


def all_ready() -> None:
    """The progress of a studio that is ready from the start."""
