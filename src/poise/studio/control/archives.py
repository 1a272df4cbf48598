"""Folders of files that are dropped on the page as an archive: unpacks them, and finds what to open and its meshes."""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath

from poise.errors import FormatError
from poise.figure.collision.mesh_files import find_mesh
from poise.figure.model.figure import Figure
from poise.figure.model.shapes import Mesh, Shape
from poise.formats.text.files import read_head

MOST_ARCHIVE_FILES = 5000
"""Largest number of files in an archive."""
LARGEST_ARCHIVE = 512 * 1024 * 1024
"""Largest size of all files in an archive together [bytes]."""
MOST_NAMED = 4
"""Largest number of missing files that a sentence names."""
READ_BYTES = 1 << 20
"""Bytes of a file in which its kind is looked for."""
_KINDS = (
    (".toml",),
    (".figure.toml",),
    (".urdf", ".mjcf", ".xml"),
    (".xacro",),
    (".glb", ".gltf", ".bvh"),
)
"""Endings of the files that can be opened; an archive is opened as the first kind that it contains."""
_INCLUDED = re.compile(rb"<include\s+file\s*=\s*[\"']([^\"']+)[\"']")
_ROBOT = re.compile(rb"<(mujoco|robot)\b")


def unpack(path: Path, folder: Path) -> None:
    """Unpack an archive into a new folder, without leaving it; raises `FormatError` if that is not possible."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
            if len(members) > MOST_ARCHIVE_FILES or sum(member.file_size for member in members) > LARGEST_ARCHIVE:
                raise FormatError(
                    f"an archive may have {MOST_ARCHIVE_FILES} files and {LARGEST_ARCHIVE >> 20} MB at most.", path
                )
            folder.mkdir(parents=True)
            for member in members:
                place = folder / inside(member.filename)
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(archive.read(member))
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError) as problem:
        raise FormatError(f"the archive cannot be read: {problem}", path) from None


def inside(name: str) -> Path:
    """The path of an archive's file inside the folder it is unpacked to; what leads out of it is left out."""
    parts = [part for part in PurePosixPath(name.replace("\\", "/")).parts if part not in ("/", "..", ".")]
    if not parts or "\0" in name:
        raise FormatError(f"the archive has a file whose name cannot be used: {name[:80]!r}.")
    return Path(*parts)


def openable(folder: Path) -> list[Path]:
    """The scenes in a folder and its folders, else the figures; empty if there are none."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    for endings in _KINDS:
        found = [path for path in files if _is_of(path, endings)]
        names = {path.name for path in found}
        if chosen := [path for path in found if not _included(path) & names]:
            return chosen
    return []


def _is_of(path: Path, endings: tuple[str, ...]) -> bool:
    """Whether a file is of a kind: by its ending and, for XML, by its root element."""
    name = path.name.lower()
    if endings == (".toml",):
        return name.endswith(".toml") and not name.endswith(".figure.toml")
    if not name.endswith(endings):
        return False
    return not name.endswith(".xml") or _ROBOT.search(read_head(path, READ_BYTES)) is not None


def _included(path: Path) -> set[str]:
    """Names of the files that an MJCF includes, as a scene includes its robot."""
    if path.suffix.lower() not in (".xml", ".mjcf"):
        return set()
    return {
        PurePosixPath(name.decode("utf-8", "replace")).name for name in _INCLUDED.findall(read_head(path, READ_BYTES))
    }


def closures_beside(path: Path, folder: Path) -> Path | None:
    """The only YAML file in a folder that describes loops of a URDF; None if there is none, or several."""
    if path.suffix.lower() != ".urdf":
        return None
    files = [each for ending in ("*.yaml", "*.yml") for each in sorted(folder.rglob(ending))]
    found = [each for each in files if b"closed_loop" in read_head(each, READ_BYTES)]
    near = [each for each in found if each.stem.startswith(path.stem)] or found
    return near[0] if len(near) == 1 else None


def mesh_files(figure: Figure) -> list[Path]:
    """The files of a figure's meshes that exist, each once."""
    found = (find_mesh(shape.path, figure.folder) for shape in _meshes(figure))
    return list(dict.fromkeys(path for path in found if path is not None))


def with_own_meshes(figure: Figure) -> tuple[Figure, dict[str, Path]]:
    """The figure with all its meshes in a folder "meshes" beside its file, and the files to put there."""
    names: dict[str, str] = {}
    taken: dict[str, Path] = {}
    for shape in _meshes(figure):
        path = find_mesh(shape.path, figure.folder)
        if path is None or shape.path in names:
            continue
        name = f"meshes/{path.name}"
        while taken.get(name, path) != path:
            name = f"meshes/{len(taken)} {path.name}"
        names[shape.path], taken[name] = name, path
    return _with_mesh_names(figure, names).replaced(folder=None), taken


def _meshes(figure: Figure) -> Iterator[Mesh]:
    return (shape for body in figure.bodies for shape in body.shapes if isinstance(shape, Mesh))


def missing_meshes(figure: Figure) -> list[str]:
    """References of a figure's meshes whose files do not exist."""
    references = dict.fromkeys(shape.path for shape in _meshes(figure))
    return [reference for reference in references if find_mesh(reference, figure.folder) is None]


def with_meshes_in(figure: Figure, folder: Path) -> Figure:
    """The figure whose missing meshes are taken from a folder, where files of the same names are found in it."""
    lost = missing_meshes(figure)
    files: dict[str, list[Path]] = {}
    for path in sorted(folder.rglob("*")) if lost else ():
        files.setdefault(path.name.lower(), []).append(path)
    found = {}
    for reference in lost:
        name = PurePosixPath(reference.replace("\\", "/"))
        if candidates := files.get(name.name.lower()):
            found[reference] = str(max(candidates, key=lambda path: _common_tail(path.parts, name.parts)))
    return _with_mesh_names(figure, found) if found else figure


def _with_mesh_names(figure: Figure, names: Mapping[str, str]) -> Figure:
    """The figure with other names of mesh files."""

    def renamed(shape: Shape) -> Shape:
        is_known = isinstance(shape, Mesh) and shape.path in names
        return replace(shape, path=names[shape.path]) if is_known else shape  # type: ignore[attr-defined,call-arg]

    bodies = [replace(body, shapes=tuple(renamed(shape) for shape in body.shapes)) for body in figure.bodies]
    return figure.replaced(bodies=bodies)


def _common_tail(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    """Number of last parts that two paths have in common."""
    pairs = zip(reversed(one), reversed(other), strict=False)
    return next((k for k, (a, b) in enumerate(pairs) if a.lower() != b.lower()), min(len(one), len(other)))


def missing_sentence(figure: Figure) -> str:
    """What is missing of a figure, and what would help; "" if nothing is."""
    lost = [PurePosixPath(each.replace("\\", "/")).name for each in missing_meshes(figure)]
    if not lost:
        return ""
    more = f" and {len(lost) - MOST_NAMED} more" if len(lost) > MOST_NAMED else ""
    named = f"{', '.join(lost[:MOST_NAMED])}{more}"
    verb = "mesh is" if len(lost) == 1 else "meshes are"
    return f"{len(lost)} {verb} missing and drawn as bones: {named}. Drop the folder that has them on the page."
