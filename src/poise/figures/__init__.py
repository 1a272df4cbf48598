"""The built-in figures, functions that build chains, hands and humans, and the postures of hands.

These functions are imported on first use, so that a list of the figures needs no numba.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from poise.errors import FigureError
from poise.figures.catalogue import BUILT_IN

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure
    from poise.figures.people.hand import hand
    from poise.figures.people.hand_postures import hand_posture
    from poise.figures.people.human_body import human
    from poise.figures.robots.chains import chain

_HOMES = {
    "chain": "poise.figures.robots.chains",
    "hand": "poise.figures.people.hand",
    "hand_posture": "poise.figures.people.hand_postures",
    "human": "poise.figures.people.human_body",
}
"""Modules of the functions."""

__all__ = ["BUILT_IN", "built_in", "chain", "hand", "hand_posture", "human"]


def __getattr__(name: str) -> object:
    """Import a function from its module on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module 'poise.figures' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


@cache
def built_in(name: str) -> Figure:
    """The built-in figure with this name, cached.

    Raises:
        FigureError: No built-in figure has this name.
    """
    if name not in BUILT_IN:
        from poise.figure.model.names import suggestion

        hint = suggestion(name, BUILT_IN)
        raise FigureError(f"there is no built-in figure {name!r}.{hint} Built-in figures: {', '.join(BUILT_IN)}.")
    figure: Figure = import_module(f"poise.figures.{BUILT_IN[name].module}").build(name)
    return figure
