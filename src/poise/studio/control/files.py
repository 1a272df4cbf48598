"""Opening scenes, figures, postures and motions from files, and saving scenes and figures."""

from __future__ import annotations

import atexit
import io
import json
import shutil
import tempfile
import zipfile
import zlib
from pathlib import Path

from poise.arguments import shown
from poise.engine.scene import Origin, Scene
from poise.errors import FormatError, NotReadyError, PoiseError
from poise.figure.model.figure import Figure
from poise.formats import load, load_clip
from poise.formats.figure_toml import figure_text
from poise.formats.scene_toml.write import scene_text
from poise.formats.table.motion_file import write_motion
from poise.formats.table.posture_json import read_posture
from poise.motion.clip.clip import Clip
from poise.motion.retarget.retarget import retarget
from poise.studio.modes.retarget.retarget import RetargetDriver, RetargetMode
from poise.studio.scenes.openings import opening
from poise.studio.session.changes import open_scene
from poise.studio.session.edits.scene import with_figure_file, with_parts
from poise.studio.session.edits.temporary_figures import file_name, file_stem
from poise.studio.session.postures import with_joint_values
from poise.studio.session.session import Session

LONGEST_FILE_NAME = 255
"""Longest name of a file [bytes], as most file systems have it."""
LARGEST_FILE = 64 * 1024 * 1024
"""Largest file that is opened [bytes]."""
MOST_ARCHIVE_FILES = 50
"""Largest number of files in an archive."""


CLIP_FILE = "scene.clip.npz"
"""Name of the clip that plays under the keys, in the archive of a scene."""
MOTION_FILE_ENDINGS = (".csv", ".npz")
"""Endings of files that contain only a motion."""
CLIP_FILE_ENDINGS = (*MOTION_FILE_ENDINGS, ".bvh", ".gltf", ".glb")
"""Endings of files that contain a motion, and possibly a figure."""


class Inbox:
    """Opens files that are dropped on the page; they are stored in a folder that is deleted when the studio ends."""

    def __init__(self, session: Session, retarget: RetargetDriver) -> None:
        """Create the folder; `retarget` handles motions, and all files that are dropped in the retarget mode."""
        self.session, self.retarget = session, retarget
        self.folder = Path(tempfile.mkdtemp(prefix="poise-studio-"))
        atexit.register(shutil.rmtree, self.folder, ignore_errors=True)

    def take(self, name: str, data: bytes) -> None:
        """Store a file and open it; raises `PoiseError` with the reason and line if it cannot be opened."""
        path = self.folder / plain_name(name)
        try:
            path.write_bytes(data)
            self._open(path)
        except NotReadyError:
            raise
        except PoiseError as problem:
            raise PoiseError(str(problem).replace(f"{path.parent}/", "")) from None
        except OSError as problem:
            raise PoiseError(f"{path.name} cannot be stored: {(problem.strerror or str(problem)).lower()}.") from None

    def _open(self, path: Path) -> None:
        """Open a file by its ending; in the retarget mode, a clip is retargeted and a figure performs the clip."""
        ending, session = path.suffix.lower(), self.session
        retargets = isinstance(session.state.mode, RetargetMode)
        if ending == ".json" and not is_motion(path):
            if session.state.mode.drives:
                raise FormatError(
                    f"{path.name} is a posture, and in this mode the figure's posture is computed: "
                    "switch to the pose mode first."
                )
            values = read_posture(path, session.state.figure)
            session.update(lambda state: with_joint_values(state, values))
        elif ending in (*MOTION_FILE_ENDINGS, ".json") or (retargets and ending in CLIP_FILE_ENDINGS):
            self.retarget.take_clip(session, self._clip(path))
        elif ending == ".zip" or is_scene(path.name):
            open_scene(session, scene_in(unpacked_scene(path) if ending == ".zip" else path))
        elif retargets:
            self.retarget.take_figure(session, load(path))
        else:
            open_scene(session, scene_in(path))

    def clip_of(self, name: str, data: bytes, figure: Figure) -> Clip:
        """The motion of a figure in a file; a motion of another figure is retargeted."""
        path = self.folder / plain_name(name)
        path.write_bytes(data)
        clip = self._clip(path)
        return clip if clip.figure == figure else retarget(clip, figure)

    def _clip(self, path: Path) -> Clip:
        """The motion in a file; a motion without a figure of its own is read as one of the session's figure."""
        try:
            return load_clip(path)
        except FormatError as problem:
            try:
                return load_clip(path, self.session.state.figure)
            except FormatError:
                raise problem from None


def is_motion(path: Path) -> bool:
    """Whether a JSON file contains a motion, not a posture."""
    try:
        found = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and "q" in found


def plain_name(name: str) -> str:
    """The last part of a path; raises `FormatError` if it is not a file name."""
    plain = Path(name.replace("\\", "/")).name
    if not plain or plain in (".", "..") or "\0" in plain:
        raise FormatError(f"{shown(name)} is not a file name.")
    if len(plain.encode("utf-8", "replace")) > LONGEST_FILE_NAME:
        raise FormatError(f"{shown(plain)} is too long for the name of a file: rename it first.")
    return plain


def unpacked_scene(path: Path) -> Path:
    """Unpack an archive beside itself and return the path of its scene; raises `FormatError` if it has not just one."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
            if len(members) > MOST_ARCHIVE_FILES or sum(member.file_size for member in members) > LARGEST_FILE:
                raise FormatError(
                    f"an archive may have {MOST_ARCHIVE_FILES} files and {LARGEST_FILE >> 20} MB at most.", path
                )
            for member in members:
                (path.parent / plain_name(member.filename)).write_bytes(archive.read(member))
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as problem:
        raise FormatError(f"the archive cannot be read: {problem}", path) from None
    scenes = [plain_name(member.filename) for member in members if is_scene(member.filename)]
    if len(scenes) != 1:
        raise FormatError(f"an archive must contain one scene, a *.toml file; this one contains {len(scenes)}.", path)
    return path.parent / scenes[0]


def is_scene(name: str) -> bool:
    """Whether a file name is that of a scene."""
    return name.lower().endswith(".toml") and not name.lower().endswith(".figure.toml")


def scene_in(path: Path) -> Scene:
    """The scene in a file, or the opening scene of the figure in it."""
    return Scene.load(path) if is_scene(path.name) else opening(load(path), Origin(str(path)))


def saved_scene(session: Session) -> tuple[str, bytes]:
    """Name and contents of the scene's file: TOML, or an archive with the figure if the figure was edited."""
    scene = with_parts(session.state.scene, start=session.state.posture)
    stem = file_stem(f"{scene.figure.name} scene")
    clip = None if scene.animation is None else scene.animation.clip
    if scene.origin is not None and clip is None:
        return f"{stem}.toml", scene_text(scene).encode()
    here = with_figure_file(scene)
    assert here.origin is not None
    path, packed = Path(here.origin.figure), io.BytesIO()
    folder = path.parent if scene.origin is None else None
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("scene.toml", scene_text(here, folder, clip=str((folder or Path()) / CLIP_FILE)))
        if scene.origin is None:
            archive.writestr(path.name, path.read_text(encoding="utf-8"))
        if clip is not None:
            with tempfile.TemporaryDirectory(prefix="poise-export-") as beside:
                write_motion(clip, Path(beside) / CLIP_FILE)
                archive.write(Path(beside) / CLIP_FILE, CLIP_FILE)
    return f"{stem}.zip", packed.getvalue()


def saved_figure(session: Session) -> tuple[str, bytes]:
    """Name and contents of the figure's file."""
    figure = session.state.figure
    return file_name(figure), figure_text(figure).encode()
