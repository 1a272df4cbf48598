"""Temporary files of figures that were edited in the studio, so that a scene file can refer to them."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache, lru_cache
from itertools import count
from pathlib import Path

from poise.figure.model.figure import Figure
from poise.formats.figure_toml import figure_text

FILES_KEPT = 64
"""Number of edited figures whose files are remembered."""
LONGEST_STEM = 50
"""Longest name of a file without its ending [characters], each of up to four bytes."""
_numbers = count()


def file_name(figure: Figure) -> str:
    """The file name for a figure."""
    return f"{file_stem(figure.name) or 'figure'}.figure.toml"


def file_stem(words: str) -> str:
    """Words as the name of a file without its ending: letters and digits, short enough for any file system."""
    return "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in words[:LONGEST_STEM])


@lru_cache(maxsize=FILES_KEPT)
def figure_file(figure: Figure) -> Path:
    """A temporary file of a figure."""
    folder = temporary_folder() / str(next(_numbers))
    folder.mkdir()
    path = folder / file_name(figure)
    path.write_text(figure_text(figure), encoding="utf-8")
    return path


@cache
def temporary_folder() -> Path:
    """A temporary folder that is deleted when the studio ends."""
    folder = Path(tempfile.mkdtemp(prefix="poise-figures-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
