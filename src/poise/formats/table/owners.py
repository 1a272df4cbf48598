"""Finds the figure that a file of joint values belongs to."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from poise.errors import FigureError, FormatError
from poise.figure.model.figure import Figure


def moving_figure(figure: Figure | None, name: str, joints: Collection[str], path: Path | str | None) -> Figure:
    """The figure of a file: the given one, or the built-in one that the file names.

    It gets a floating base if the file has values for one.

    Args:
        figure: The figure that the caller gave; None for the one that the file names.
        name: Name of the figure in the file.
        joints: Joints that the file has values for.
        path: The file, for error messages.
    """
    from poise.figures import BUILT_IN, built_in

    if figure is None and name not in BUILT_IN:
        raise FormatError("does not name a built-in figure: give the figure that its joint values are of.", path)
    owner = built_in(name) if figure is None else figure
    return _floating(owner, {joint for joint in joints if joint not in owner.joints})


def _floating(figure: Figure, joints: Collection[str]) -> Figure:
    """The figure with a floating base if its free joint is among the unknown `joints`; else the figure itself."""
    if not joints:
        return figure
    try:
        walker = figure.with_floating_base()
    except FigureError:
        return figure
    return walker if any(joint.kind == "free" and joint.name in joints for joint in walker.joints) else figure
