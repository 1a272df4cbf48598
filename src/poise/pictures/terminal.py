"""Shows pictures in a terminal as coloured characters."""

from __future__ import annotations

from rich.color import Color as TerminalColor
from rich.segment import Segment, Segments
from rich.style import Style

from poise.pictures.canvas import Pixels
from poise.pictures.picture import Picture

UPPER_HALF = "▀"
"""A character that shows two pixels: the upper in its colour, the lower in the background colour."""


def half_blocks(picture: Picture, columns: int, rows: int) -> Segments:
    """The picture in `columns` × `rows` characters of two pixels each."""
    pixels = picture.resized((columns, 2 * rows)).pixels
    segments = []
    for upper, lower in zip(pixels[0::2], pixels[1::2], strict=True):
        segments += [Segment(UPPER_HALF, _style(above, below)) for above, below in zip(upper, lower, strict=True)]
        segments.append(Segment.line())
    return Segments(segments)


def _style(above: Pixels, below: Pixels) -> Style:
    front, back = (TerminalColor.from_rgb(*(int(channel) for channel in pixel)) for pixel in (above, below))
    return Style(color=front, bgcolor=back)
