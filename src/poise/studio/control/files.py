"""Scenes, figures, postures and motions that come as files, and those that leave as files."""

from __future__ import annotations

import atexit
import io
import json
import shutil
import tempfile
import zipfile
from pathlib import Path

from poise.engine.scene import Origin, Scene
from poise.errors import FormatError, PoiseError
from poise.formats import load, load_clip
from poise.formats.figure_toml import figure_text
from poise.formats.scene_toml.write import scene_text
from poise.formats.table.posture_json import read_posture
from poise.motion.clip.clip import Clip
from poise.studio.modes.retarget.retarget import RetargetDriver, RetargetMode
from poise.studio.scenes.openings import opening
from poise.studio.session.session import Session
from poise.studio.session.temporary_figures import file_name, with_figure_file

LARGEST = 64 * 1024 * 1024
"""Bytes of the largest file that is taken."""
MOST_FILES = 50
"""Files that an archive may have."""


MOTIONS = (".csv", ".npz")
"""Endings of files that hold a motion and nothing else."""
CLIPS = (*MOTIONS, ".bvh", ".gltf", ".glb")
"""Endings of files that hold a motion, whatever else they hold."""


class Inbox:
    """A folder for files that are dropped on the page; it goes when the studio does."""

    def __init__(self, session: Session, retarget: RetargetDriver) -> None:
        """Make the folder; motions, and what is dropped while they are shown, are the business of `retarget`."""
        self.session, self.retarget = session, retarget
        self.folder = Path(tempfile.mkdtemp(prefix="poise-studio-"))
        atexit.register(shutil.rmtree, self.folder, ignore_errors=True)

    def take(self, name: str, data: bytes) -> None:
        """Show what is in a file; raises `PoiseError` that says what is wrong and where."""
        path = self.folder / plain_name(name)
        path.write_bytes(data)
        try:
            self._open(path)
        except PoiseError as problem:
            raise PoiseError(str(problem).replace(f"{path.parent}/", "")) from None

    def _open(self, path: Path) -> None:
        """A clip moves and a robot performs where motions are shown; elsewhere both are figures to pose."""
        ending, session = path.suffix.lower(), self.session
        retargets = isinstance(session.state.mode, RetargetMode)
        if ending == ".json" and not is_motion(path):
            session.take_posture(read_posture(path, session.state.figure))
        elif ending in (*MOTIONS, ".json") or (retargets and ending in CLIPS):
            self.retarget.take_clip(session, self._clip(path))
        elif ending == ".zip" or is_scene(path.name):
            session.open(scene_in(unpacked_scene(path) if ending == ".zip" else path), folder=path.parent)
        elif retargets:
            self.retarget.take_figure(session, load(path))
        else:
            session.open(scene_in(path), folder=path.parent)

    def _clip(self, path: Path) -> Clip:
        """The motion in a file, of the figure at hand where the file does not say whose it is."""
        try:
            return load_clip(path)
        except FormatError as problem:
            try:
                return load_clip(path, self.session.state.figure)
            except FormatError:
                raise problem from None


def is_motion(path: Path) -> bool:
    """Whether a JSON file has a motion in it, and not a posture."""
    try:
        found = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and "q" in found


def plain_name(name: str) -> str:
    """The last part of a file's name; raises `FormatError` where there is none."""
    plain = Path(name.replace("\\", "/")).name
    if not plain or plain in (".", "..") or "\0" in plain:
        raise FormatError(f"a file cannot be called {name!r}.")
    return plain


def unpacked_scene(path: Path) -> Path:
    """The scene of an archive, its files put beside it; raises `FormatError` for what is no such archive."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
            if len(members) > MOST_FILES or sum(member.file_size for member in members) > LARGEST:
                raise FormatError(f"an archive has at most {MOST_FILES} files and {LARGEST >> 20} MB.", path)
            for member in members:
                (path.parent / plain_name(member.filename)).write_bytes(archive.read(member))
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as problem:
        raise FormatError(f"the archive cannot be read: {problem}", path) from None
    scenes = [plain_name(member.filename) for member in members if is_scene(member.filename)]
    if len(scenes) != 1:
        raise FormatError(f"an archive has one scene, a *.toml; this has {len(scenes)}.", path)
    return path.parent / scenes[0]


def is_scene(name: str) -> bool:
    """Whether a file of this name has a scene in it."""
    return name.lower().endswith(".toml") and not name.lower().endswith(".figure.toml")


def scene_in(path: Path) -> Scene:
    """The scene that a file is, or the one that its figure opens with."""
    return Scene.load(path) if is_scene(path.name) else opening(load(path), Origin(str(path)))


def saved_text(session: Session) -> str:
    """The scene as it is now, as a file says it."""
    return scene_text(with_figure_file(session.saved()))


def saved_scene(session: Session) -> tuple[str, bytes]:
    """Name and contents of the file that keeps the scene: a TOML, or with a figure that was changed here an archive."""
    scene = session.saved()
    if scene.origin is not None:
        return "scene.toml", scene_text(scene).encode()
    here = with_figure_file(scene)
    assert here.origin is not None
    path, packed = Path(here.origin.figure), io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("scene.toml", scene_text(here, path.parent))
        archive.writestr(path.name, path.read_text(encoding="utf-8"))
    return "scene.zip", packed.getvalue()


def saved_figure(session: Session) -> tuple[str, bytes]:
    """Name and contents of the file that keeps the figure."""
    figure = session.state.figure
    return file_name(figure), figure_text(figure).encode()
