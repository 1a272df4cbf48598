"""Figures that come with poise, and makers of chains and humans."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from poise.errors import FigureError
from poise.figure.names import suggestion
from poise.figures.chains import chain
from poise.figures.human_body import human

if TYPE_CHECKING:
    from poise.figure.figure import Figure

BUILT_IN = {
    **{f"erik_{letter}": "poise.figures.erik" for letter in "abcdefg"},
    "adelino": "poise.figures.adelino",
    "snake": "poise.figures.snake",
    "arm": "poise.figures.arm",
    "hand": "poise.figures.hand",
    "cyclist": "poise.figures.cyclist",
    "human": "poise.figures.human_body",
    "four_bar": "poise.figures.four_bar",
    "five_bar": "poise.figures.five_bar",
    "delta": "poise.figures.delta",
    "stewart": "poise.figures.stewart",
    "all_joints": "poise.figures.all_joints",
    "serial12": "poise.figures.serial12",
    "boxer": "poise.figures.boxer",
    "dancer": "poise.figures.dancer",
    "walker": "poise.figures.walker",
}
"""Module of every built-in figure; its `build(name)` makes it."""

__all__ = ["BUILT_IN", "built_in", "chain", "human"]


@cache
def built_in(name: str) -> Figure:
    """The built-in figure of this name, made once.

    Raises:
        FigureError: When no figure has this name.
    """
    if name not in BUILT_IN:
        hint = suggestion(name, BUILT_IN)
        raise FigureError(f"there is no built-in figure {name!r}.{hint} Built in: {', '.join(BUILT_IN)}.")
    figure: Figure = import_module(BUILT_IN[name]).build(name)
    return figure
