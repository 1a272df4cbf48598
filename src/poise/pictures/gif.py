"""Writes pictures as an animated GIF."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from PIL import Image

from poise.errors import PoiseError
from poise.pictures.picture import Picture

GIF_COLORS = 128
"""Number of colours per frame; more colours make larger files."""


def save_gif(pictures: Iterable[Picture], path: str | Path, *, rate: float = 15.0) -> Path:
    """Write pictures of one size as an animation that repeats.

    Args:
        pictures: The frames.
        path: The file; a name without an ending gets .gif.
        rate: Frames per second.
    """
    frames = [picture.image().quantize(GIF_COLORS, dither=Image.Dither.NONE) for picture in pictures]
    if not frames:
        raise PoiseError("an animation needs at least one picture.")
    if not 0.0 < rate <= 50.0:
        raise PoiseError(f"the rate of a GIF must be above 0 and at most 50 pictures per second, not {rate}.")
    file = Path(path) if Path(path).suffix else Path(path).with_suffix(".gif")
    pause = round(1000.0 / rate)
    frames[0].save(file, save_all=True, append_images=frames[1:], duration=pause, loop=0, optimize=True)
    return file
