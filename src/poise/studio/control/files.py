"""Opening scenes, figures, postures and motions from files, and saving scenes and figures."""

from __future__ import annotations

import atexit
import contextlib
import io
import json
import re
import shutil
import tempfile
import tomllib
import zipfile
from pathlib import Path

from poise.arguments import shown
from poise.engine.scene import Origin, Scene
from poise.errors import FormatError, NotReadyError, PoiseError
from poise.figure.model.figure import Figure
from poise.figure.model.names import look_up
from poise.formats import load, load_clip
from poise.formats.figure_toml import figure_text
from poise.formats.mapping_toml import read_mapping
from poise.formats.scene_toml.write import scene_text
from poise.formats.table.motion_file import write_motion
from poise.formats.table.posture_json import read_posture
from poise.motion.clip.clip import Clip
from poise.motion.retarget.retarget import retarget
from poise.pictures.parts import kept_mesh
from poise.studio.control.archives import (
    closures_beside,
    mesh_files,
    missing_sentence,
    openable,
    unpack,
    with_meshes_in,
    with_own_meshes,
)
from poise.studio.modes.retarget.retarget import RetargetDriver, RetargetMode
from poise.studio.scenes.openings import opening
from poise.studio.session.changes import open_scene, with_figure
from poise.studio.session.edits.scene import with_figure_file, with_parts
from poise.studio.session.edits.temporary_figures import file_name, file_stem
from poise.studio.session.postures import with_joint_values
from poise.studio.session.readiness import Readiness
from poise.studio.session.session import Session

LONGEST_FILE_NAME = 255
"""Longest name of a file [bytes], as most file systems have it."""
LARGEST_FILE = 256 * 1024 * 1024
"""Largest file that is opened [bytes]."""
CLIP_FILE = "scene.clip.npz"
"""Name of the clip that plays under the keys, in the archive of a scene."""
MOTION_FILE_ENDINGS = (".csv", ".npz")
"""Endings of files that contain only a motion."""
CLIP_FILE_ENDINGS = (*MOTION_FILE_ENDINGS, ".bvh", ".gltf", ".glb")
"""Endings of files that contain a motion, and possibly a figure."""


class Inbox:
    """Opens files that are dropped on the page."""

    def __init__(self, session: Session, retarget: RetargetDriver, folder: Path | None = None) -> None:
        """Store files in `folder`, or in one that is deleted when the studio ends.

        `retarget` handles motions, and all files that are dropped in the retarget mode.
        """
        self.session, self.retarget = session, retarget
        self.folder = folder or Path(tempfile.mkdtemp(prefix="poise-studio-"))
        if folder is None:
            atexit.register(shutil.rmtree, self.folder, ignore_errors=True)
        self.choices: dict[str, Path] = {}
        """What the last archive has to offer, if it has several figures or scenes, by the path in it."""
        self.loading: Readiness | None = None
        """How far the opening of a file has got; None while nothing is opened."""

    def take(self, name: str, data: bytes) -> str:
        """Store a file and open it; raises `PoiseError` with the reason and line if it cannot be opened.

        Returns:
            What is missing of the figure, in a sentence; "" if nothing is.
        """
        path = self.place(name)
        try:
            path.write_bytes(data)
        except OSError as problem:
            raise PoiseError(f"{path.name} cannot be stored: {(problem.strerror or str(problem)).lower()}.") from None
        return self.open(path)

    def place(self, name: str) -> Path:
        """Where a file is stored."""
        path = self.folder / plain_name(name)
        self.folder.mkdir(parents=True, exist_ok=True)
        return path

    def open(self, path: Path) -> str:
        """Open a stored file; as `take`."""
        self.choices = {}
        self.loading = Readiness(0.0, f"Opening {path.name} …")
        try:
            return self._open_archive(path) if path.suffix.lower() == ".zip" else self._open(path)
        except NotReadyError:
            raise
        except PoiseError as problem:
            stored = re.escape(f"{self.folder}/") + r"(?:\d+/)?"
            raise PoiseError(re.sub(stored, "", str(problem))) from None
        finally:
            self.loading = None

    def choose(self, name: str) -> str:
        """Open one of the `choices`; as `take`."""
        return self.open(look_up(self.choices, name, "file", "the archive"))

    def _open_archive(self, archive: Path) -> str:
        """Unpack an archive and open what is in it; several figures or scenes become `choices`."""
        number = 1 + max((int(each.name) for each in self.folder.iterdir() if each.name.isdigit()), default=0)
        folder = self.folder / str(number)
        unpack(archive, folder)
        archive.unlink(missing_ok=True)
        found = openable(folder)
        if not found:
            return self._open_meshes(archive, folder)
        if len(found) > 1:
            self.choices = {path.relative_to(folder).as_posix(): path for path in found}
            return ""
        return self._open(found[0])

    def _open_meshes(self, archive: Path, folder: Path) -> str:
        """Give the present figure its missing meshes from a folder without figures."""
        figure = self.session.state.figure
        complete = with_meshes_in(figure, folder)
        if complete is figure:
            raise FormatError(
                "there is no scene, figure or motion in it, and no mesh that the present figure misses.", archive
            )
        self._read_meshes(complete)
        self.session.update(lambda state: with_figure(state, complete))
        return missing_sentence(complete)

    def _open(self, path: Path) -> str:
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
            return ""
        if ending in (*MOTION_FILE_ENDINGS, ".json") or (retargets and ending in CLIP_FILE_ENDINGS):
            self.retarget.take_clip(session, self._clip(path))
            return ""
        if is_scene(path.name) and is_mapping(path):
            self.retarget.take_mapping(session, read_mapping(path))
            return ""
        if is_scene(path.name):
            scene = Scene.load(path)
            self._read_meshes(scene.figure)
            open_scene(session, scene)
            return missing_sentence(scene.figure)
        figure, origin = self._figure(path)
        self._read_meshes(figure)
        if retargets:
            self.retarget.take_figure(session, figure)
        else:
            open_scene(session, opening(figure, origin))
        return missing_sentence(figure)

    def _figure(self, path: Path) -> tuple[Figure, Origin | None]:
        """The figure in a file, with loops and meshes from the files of its folder, and its source."""
        dropped = next((each for each in path.parents if each.parent == self.folder), None)
        closures = None if dropped is None else closures_beside(path, dropped)
        figure = load(path, closures=closures)
        complete = figure if dropped is None else with_meshes_in(figure, dropped)
        return complete, Origin(str(path), None if closures is None else str(closures)) if complete is figure else None

    def _read_meshes(self, figure: Figure) -> None:
        """Read the meshes of a figure one by one, which takes most of the time; what is read is kept."""
        found = mesh_files(figure)
        for number, path in enumerate(found):
            self.loading = Readiness(number / len(found), f"Reading mesh {number + 1} of {len(found)}: {path.name}")
            with contextlib.suppress(FormatError, OSError):  # it is drawn as a bone, and a note says why
                kept_mesh(path)

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


def is_mapping(path: Path) -> bool:
    """Whether a TOML file contains the pairs of a retargeting, not a scene."""
    try:
        return set(tomllib.loads(path.read_text(encoding="utf-8"))) == {"link"}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError):
        return False


def plain_name(name: str) -> str:
    """The last part of a path; raises `FormatError` if it is not a file name."""
    plain = Path(name.replace("\\", "/")).name
    if not plain or plain in (".", "..") or "\0" in plain:
        raise FormatError(f"{shown(name)} is not a file name.")
    if len(plain.encode("utf-8", "replace")) > LONGEST_FILE_NAME:
        raise FormatError(f"{shown(plain)} is too long for the name of a file: rename it first.")
    return plain


def is_scene(name: str) -> bool:
    """Whether a file name is that of a scene."""
    return name.lower().endswith(".toml") and not name.lower().endswith(".figure.toml")


def saved_scene(session: Session, dropped: Path | None = None) -> tuple[str, bytes]:
    """Name and contents of the scene's file: TOML, or an archive with all that has no file of its own.

    Args:
        session: The session.
        dropped: The folder of files that were dropped, which do not last: a figure from it is saved with its meshes.
    """
    scene = with_parts(session.state.scene, start=session.state.posture)
    stem = file_stem(f"{scene.figure.name} scene")
    clip = None if scene.animation is None else scene.animation.clip
    meshes: dict[str, Path] = {}
    if dropped is not None and _is_from(scene, dropped):
        figure, meshes = with_own_meshes(scene.figure)
        scene = with_parts(scene, figure=figure, start=figure.adopt(session.state.posture), origin=None)
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
        for name, mesh in meshes.items():
            archive.write(mesh, name)
        if clip is not None:
            with tempfile.TemporaryDirectory(prefix="poise-export-") as beside:
                write_motion(clip, Path(beside) / CLIP_FILE)
                archive.write(Path(beside) / CLIP_FILE, CLIP_FILE)
    return f"{stem}.zip", packed.getvalue()


def _is_from(scene: Scene, folder: Path) -> bool:
    """Whether a scene's figure, or one of its meshes, is from a folder."""
    sources = mesh_files(scene.figure)
    if scene.origin is not None and scene.origin.is_file:
        sources = [*sources, Path(scene.origin.figure)]
    return any(path.resolve().is_relative_to(folder.resolve()) for path in sources)


def saved_figure(session: Session) -> tuple[str, bytes]:
    """Name and contents of the figure's file."""
    figure = session.state.figure
    return file_name(figure), figure_text(figure).encode()
