"""What can be looked at: in a notebook at once, elsewhere in the browser by `show()`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

    from poise.figure.model.figure import Figure
    from poise.figure.model.posture import Posture


class View(NamedTuple):
    """What a view shows."""

    figure: Figure
    postures: Sequence[Posture]
    """One posture, or the frames of a motion."""
    rate: float = 0.0
    """Frames per second of a motion [1/s]."""
    title: str = ""
    """Title of the page; empty for the figure's name."""
    text: str = ""
    """Text below the view in a notebook."""


class Viewable:
    """Shows itself as a figure that can be turned, and played if it moves."""

    __slots__ = ()

    def view(self) -> View:
        """What the view shows."""
        raise NotImplementedError

    def show(self) -> Path | None:
        """Show it in the notebook this runs in, else in a new tab of the browser.

        Returns:
            The file that the browser shows, in the temporary folder; None in a notebook.
        """
        from poise.pictures import viewer

        return viewer.show(self.view())

    def to_rerun(self, path: str | Path | None = None) -> None:
        """Record it for the viewer Rerun, with the extra `rerun`.

        Args:
            path: The file to write, such as "walk.rrd"; None for the recording that the program has begun with
                `rerun.init`, or else for a new one in Rerun's own window.
        """
        from poise.pictures import rerun_recording

        rerun_recording.record(self.view(), path)

    def _repr_html_(self) -> str:
        """What notebooks display."""
        from poise.pictures import viewer

        return viewer.notebook_html(self.view())
