"""The built-in figures, functions that build chains, hands and humans, and the postures of hands."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from poise.errors import FigureError
from poise.figure.model.names import suggestion
from poise.figures.people.hand import hand
from poise.figures.people.hand_postures import hand_posture
from poise.figures.people.human_body import human
from poise.figures.robots.chains import chain

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure

BUILT_IN = {
    **{f"erik_{letter}": "poise.figures.robots.erik" for letter in "abcdefg"},
    "adelino": "poise.figures.robots.adelino",
    "snake": "poise.figures.robots.snake",
    "arm": "poise.figures.robots.arm",
    "hand": "poise.figures.people.hand",
    "cyclist": "poise.figures.people.cyclist",
    "human": "poise.figures.people.human_body",
    "four_bar": "poise.figures.mechanisms.four_bar",
    "five_bar": "poise.figures.mechanisms.five_bar",
    "delta": "poise.figures.mechanisms.delta",
    "stewart": "poise.figures.mechanisms.stewart",
    "all_joints": "poise.figures.mechanisms.all_joints",
    "serial12": "poise.figures.mechanisms.serial12",
    "boxer": "poise.figures.mechanisms.boxer",
    "dancer": "poise.figures.mechanisms.dancer",
    "walker": "poise.figures.mechanisms.walker",
}
"""Module of every built-in figure, whose `build(name)` returns the figure."""

__all__ = ["BUILT_IN", "built_in", "chain", "hand", "hand_posture", "human"]


@cache
def built_in(name: str) -> Figure:
    """The built-in figure with this name, cached.

    Raises:
        FigureError: No built-in figure has this name.
    """
    if name not in BUILT_IN:
        hint = suggestion(name, BUILT_IN)
        raise FigureError(f"there is no built-in figure {name!r}.{hint} Built-in figures: {', '.join(BUILT_IN)}.")
    figure: Figure = import_module(BUILT_IN[name]).build(name)
    return figure
