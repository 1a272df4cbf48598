"""Scenes and figures that come as files, and the scene that leaves as one."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from pathlib import Path

from poise.engine.scene import Origin, Scene
from poise.errors import FormatError, PoiseError
from poise.formats import load
from poise.formats.scene_toml_write import scene_text
from poise.studio.openings import opening
from poise.studio.session import Session

LARGEST = 64 * 1024 * 1024
"""Bytes of the largest file that is taken."""


class Inbox:
    """A folder for files that are dropped on the page; it goes when the studio does."""

    def __init__(self, session: Session) -> None:
        """Make the folder."""
        self.session = session
        self.folder = Path(tempfile.mkdtemp(prefix="poise-studio-"))
        atexit.register(shutil.rmtree, self.folder, ignore_errors=True)

    def take(self, name: str, data: bytes) -> None:
        """Show the scene or figure in a file; raises `PoiseError` that says what is wrong and where."""
        plain = Path(name.replace("\\", "/")).name
        if not plain or plain in (".", "..") or "\0" in plain:
            raise FormatError(f"a file cannot be called {name!r}.")
        path = self.folder / plain
        path.write_bytes(data)
        try:
            self.session.open(scene_in(path), folder=path.parent)
        except PoiseError as problem:
            raise PoiseError(str(problem).replace(f"{path.parent}/", "")) from None


def scene_in(path: Path) -> Scene:
    """The scene that a file is, or the one that its figure opens with."""
    if path.suffix.lower() == ".toml" and not path.name.lower().endswith(".figure.toml"):
        return Scene.load(path)
    return opening(load(path), Origin(str(path)))


def saved_text(session: Session) -> str:
    """The scene as it is now, as a file says it."""
    return scene_text(session.saved())
