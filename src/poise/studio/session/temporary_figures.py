"""Figures that were changed here, kept in files so that scenes can say whose they are."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache, lru_cache
from itertools import count
from pathlib import Path

from poise.engine.scene import Origin, Scene
from poise.figure.model.figure import Figure
from poise.formats.figure_toml import figure_text

KEPT = 64
"""How many changed figures have files."""
_numbers = count()


def located(scene: Scene) -> Scene:
    """The scene; where its figure comes from no file it is written to one first."""
    return scene if scene.origin is not None else moved_to(scene, _file_of(scene.figure))


def moved_to(scene: Scene, path: Path) -> Scene:
    """The same scene of the same figure, which is read from a file."""
    return Scene(
        scene.figure,
        scene.tasks,
        start=scene.start,
        forces=scene.forces,
        criteria=scene.criteria,
        obstacles=scene.obstacles,
        description=scene.description,
        origin=Origin(str(path)),
    )


def file_name(figure: Figure) -> str:
    """What the file of a figure is called."""
    plain = "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in figure.name)
    return f"{plain or 'figure'}.figure.toml"


@lru_cache(maxsize=KEPT)
def _file_of(figure: Figure) -> Path:
    folder = workshop() / str(next(_numbers))
    folder.mkdir()
    path = folder / file_name(figure)
    path.write_text(figure_text(figure), encoding="utf-8")
    return path


@cache
def workshop() -> Path:
    """A folder that goes when the studio does."""
    folder = Path(tempfile.mkdtemp(prefix="poise-workshop-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
