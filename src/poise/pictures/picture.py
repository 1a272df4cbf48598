"""A rendered picture."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from poise.arguments import shown
from poise.errors import PoiseError
from poise.pictures.canvas import Pixels, png, resized

if TYPE_CHECKING:
    from PIL import Image


@dataclass(frozen=True)
class Picture:
    """A rendered picture, with notes on what could not be drawn."""

    pixels: Pixels
    """(height, width, 3) red, green, blue."""
    notes: Sequence[str] = ()
    """One sentence for each shape that could not be drawn."""

    @property
    def size(self) -> tuple[int, int]:
        """Width and height [pixels]."""
        return self.pixels.shape[1], self.pixels.shape[0]

    def _repr_png_(self) -> bytes:
        """What notebooks display."""
        data = io.BytesIO()
        self.image().save(data, format="PNG")
        return data.getvalue()

    def image(self) -> Image.Image:
        """The picture as an image of Pillow, which has to be installed."""
        from poise.pictures.pillow import Image

        return Image.fromarray(self.pixels)

    def resized(self, size: tuple[int, int]) -> Picture:
        """The picture scaled to another width and height [pixels]."""
        return Picture(resized(self.pixels, size), self.notes)

    def save(self, path: str | Path) -> Path:
        """Write the picture in the format of the file's ending; a name without one gets .png.

        Formats other than PNG need Pillow.
        """
        if not isinstance(path, str | os.PathLike):
            raise PoiseError(f"the name of a picture's file must be text or a path, not {shown(path)}.")
        file = Path(path)
        if not file.suffix:
            file = file.with_suffix(".png")
        image = None if file.suffix.lower() == ".png" else self.image()
        try:
            if image is None:
                file.write_bytes(png(self.pixels))
            else:
                image.save(file)
        except (OSError, ValueError, KeyError) as problem:
            raise PoiseError(f"the picture cannot be written to {str(file)!r}: {_reason(problem)}.") from None
        return file


def _reason(problem: Exception) -> str:
    return problem.strerror or str(problem) if isinstance(problem, OSError) else str(problem)
