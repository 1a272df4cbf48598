"""A finished picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from poise.errors import PoiseError

Pixels = NDArray[np.uint8]


@dataclass(frozen=True)
class Picture:
    """Pixels, and what the one who drew them has to say."""

    pixels: Pixels
    """(height, width, 3) red, green, blue."""
    notes: Sequence[str] = ()
    """What could not be drawn, one sentence each."""

    @property
    def size(self) -> tuple[int, int]:
        """Width and height [pixels]."""
        return self.pixels.shape[1], self.pixels.shape[0]

    def image(self) -> Image.Image:
        """The picture for Pillow."""
        return Image.fromarray(self.pixels)

    def resized(self, size: tuple[int, int]) -> Picture:
        """The picture with other numbers of pixels."""
        return Picture(np.asarray(self.image().resize(size, Image.Resampling.LANCZOS)), self.notes)

    def save(self, path: str | Path) -> Path:
        """Write a file; its name's ending decides the kind, .png for one without."""
        file = Path(path)
        if not file.suffix:
            file = file.with_suffix(".png")
        try:
            self.image().save(file)
        except (OSError, ValueError, KeyError) as problem:
            raise PoiseError(f"the picture cannot be written to {str(file)!r}: {_reason(problem)}.") from None
        return file


def _reason(problem: Exception) -> str:
    return problem.strerror or str(problem) if isinstance(problem, OSError) else str(problem)
