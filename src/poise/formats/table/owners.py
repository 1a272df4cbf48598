"""Whose joint values a file of motion holds."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from poise.errors import FigureError, FormatError
from poise.figure.model.figure import Figure


def moving_figure(figure: Figure | None, name: str, joints: Collection[str], path: Path | str | None) -> Figure:
    """The figure of a file: the one given, or the built-in one that it names, free to walk where the file says so.

    Args:
        figure: Who moves, if the reader was told.
        name: What the file says.
        joints: Joints that the file has values of.
        path: The file, for what is wrong.
    """
    from poise.figures import BUILT_IN, built_in

    if figure is None and name not in BUILT_IN:
        raise FormatError("holds joint values only: say whose they are with figure=…", path)
    owner = built_in(name) if figure is None else figure
    return _floating(owner, {joint for joint in joints if joint not in owner.joints})


def _floating(figure: Figure, joints: Collection[str]) -> Figure:
    """The figure with a floating base if that is among `joints`, which it lacks; else as it is."""
    if not joints:
        return figure
    try:
        walker = figure.with_floating_base()
    except FigureError:
        return figure
    return walker if any(joint.kind == "free" and joint.name in joints for joint in walker.joints) else figure
