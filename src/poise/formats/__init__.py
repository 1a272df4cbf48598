"""Figures and clips from files: `load` and `load_clip` choose the reader by the file's ending.

A figure comes from a `*.figure.toml`, a URDF, an MJCF, the skeleton of a BVH or the skin of a glTF; a clip comes from a
BVH, a glTF, a CSV table, or a motion saved as JSON or NPZ.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from poise.errors import FigureError, FormatError
from poise.figure.model.facing import with_facing_head
from poise.figure.model.figure import Figure
from poise.figure.model.names import suggestion
from poise.formats.text.files import checked_file, read_head
from poise.formats.text.npz import npz_keys

if TYPE_CHECKING:
    from poise.motion.clip.clip import Clip
    from poise.motion.clip.motion import Motion

__all__ = ["ANIMATION_ENDINGS", "MOTION_ENDINGS", "is_animation", "load", "load_clip", "save_motion", "uses_body_model"]

ANIMATION_ENDINGS = (".bvh", ".gltf", ".glb", ".npz", ".pt", ".pkl")
"""Endings of the files of clips that have a skeleton of their own."""

MOTION_ENDINGS = (".csv", ".bvh", ".json", ".npz")
"""Endings of the files that `save_motion` writes."""

_XML_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)
_XML_ROOT = re.compile(rb"<(mujoco|robot)\b")
_ROOT_SEARCH_BYTES = 1 << 20
"""The root element of an XML file must be within this many first bytes."""


def load(name_or_path: str | Path, *, closures: str | Path | None = None, guards: bool = True) -> Figure:
    """Load a built-in figure by name, a figure from a file, or a robot by name.

    Args:
        name_or_path: A built-in name such as "human", a file (`.figure.toml`, `.urdf`, `.xacro`, `.xml` or `.mjcf`,
            `.bvh`, `.gltf` or `.glb`), or a robot that is installed on this machine, such as "g1" (see
            `poise.formats.catalog.robots`).
        closures: A YAML file with the loops of a URDF, which cannot describe them itself.
        guards: Whether passive hinges of loops without limits get limits that keep them bent to their current side
            (see `poise.figure.assembly.guards`). This applies to URDF and MJCF only.

    Raises:
        FigureError: There is no such built-in figure or robot, or the robot is not on this machine.
        FormatError: The file cannot be read; the message has file and line.
    """
    from poise.figures import BUILT_IN, built_in

    if isinstance(name_or_path, str) and name_or_path in BUILT_IN:
        if closures is not None:
            raise FigureError(
                f"figure {name_or_path!r} is built in and has its loops; closures are for URDF files only."
            )
        return built_in(name_or_path)
    if isinstance(name_or_path, str) and not _looks_like_file(name_or_path):
        name_or_path = _robot_file(name_or_path)
    path = checked_file(name_or_path)
    reader = _figure_reader(path)
    if closures is not None and reader is not _read_urdf:
        raise FormatError("closures are for URDF files only; this format describes its loops itself.", path)
    figure = reader(path) if closures is None else _read_urdf(path, checked_file(closures))
    figure = figure if reader is _read_toml else with_facing_head(figure)
    return _with_loops(figure, path, guards if reader in (_read_urdf, _read_xacro, _read_mjcf) else None)


def load_clip(
    path: str | Path, figure: Figure | None = None, name: str | None = None, *, body_model: str | Path | None = None
) -> Clip:
    """Load a motion from a file: `.bvh`, `.gltf`, `.glb`, `.csv`, `.json` or `.npz`.

    An NPZ may also be an AMASS archive or a table of joint positions in SMPL's order; `.pt` is a result of GVHMR, and
    `.pkl` one of WHAM (see `poise.formats.smpl.read`).

    Args:
        path: The file.
        figure: The figure of the joint values in a CSV, JSON or NPZ; not needed if the file names a built-in figure.
            The other formats have their own skeleton.
        name: Name of an animation in a glTF file, the first if not given; or number of a person in a result of WHAM,
            the one seen longest if not given.
        body_model: For an AMASS archive or a result of GVHMR or WHAM, your body model as NPZ; without it, bones have
            average proportions.

    Raises:
        FormatError: The file cannot be read; the message has file and line.
    """
    file = checked_file(path)
    suffix = file.suffix.lower()
    if suffix in (".gltf", ".glb"):
        return _read_gltf_clip(file, name)
    if suffix == ".fbx":
        script = (
            f"bpy.ops.import_scene.fbx(filepath='{file.name}'); bpy.ops.export_scene.gltf(filepath='{file.stem}.glb')"
        )
        raise FormatError(
            "is an FBX file, which poise does not read: convert it to glTF or BVH, for example with Blender: "
            f'blender -b --python-expr "import bpy; {script}".',
            file,
        )
    if suffix not in (*ANIMATION_ENDINGS, *MOTION_ENDINGS):
        raise _unknown_ending(file, "clip", (*ANIMATION_ENDINGS, ".csv", ".json"))
    if suffix == ".pkl":
        from poise.formats.smpl.read import read_wham_clip

        return read_wham_clip(file, body_model, name)
    if name is not None:
        raise FormatError(
            "holds one motion without a name; only a glTF file and a result of WHAM have several to choose from.", file
        )
    if suffix == ".pt" or (suffix == ".npz" and _is_smpl(file)):
        from poise.formats.smpl.read import read_gvhmr_clip, read_smpl_clip

        return (read_gvhmr_clip if suffix == ".pt" else read_smpl_clip)(file, body_model)
    if body_model is not None:
        raise FormatError(
            "is neither an AMASS archive nor a result of GVHMR or WHAM; only they use a body model.", file
        )
    if suffix == ".bvh":
        from poise.formats.bvh.read import read_bvh_clip

        return read_bvh_clip(file)
    if suffix != ".csv":
        from poise.formats.table.motion_file import read_motion

        return read_motion(file, figure)
    from poise.formats.table.table import read_table

    return read_table(file, figure)


def is_animation(path: Path) -> bool:
    """Whether a file is a clip with a skeleton of its own, by its ending and, of an NPZ, by the names of its arrays."""
    ending = path.suffix.lower()
    return ending in ANIMATION_ENDINGS and (ending != ".npz" or _is_smpl(path))


def uses_body_model(path: Path) -> bool:
    """Whether a clip of `load_clip` states rotations alone, so that its bones are those of a body model or average."""
    if path.suffix.lower() in {".pt", ".pkl"}:
        return True
    return path.suffix.lower() == ".npz" and _is_smpl(path) and "global_joint_positions" not in npz_keys(path)


def save_motion(motion: Motion, path: str | Path) -> None:
    """Write a motion in the format of the file's ending: `.csv`, `.bvh`, `.json` or `.npz`.

    Raises:
        FormatError: No format has that ending, or the file cannot be written.
    """
    ending = Path(path).suffix.lower()
    if ending == ".csv":
        from poise.formats.table.table import write_table

        write_table(motion, path)
    elif ending == ".bvh":
        from poise.formats.bvh.writer import write_bvh

        write_bvh(motion, path)
    elif ending in {".json", ".npz"}:
        from poise.formats.table.motion_file import write_motion

        write_motion(motion, path)
    else:
        raise FormatError(f"a motion file must end in {', '.join(MOTION_ENDINGS)}, not in {ending or 'nothing'}.", path)


def _is_smpl(path: Path) -> bool:
    """Whether an NPZ file is an AMASS archive or a table of joint positions, by the names of its arrays."""
    keys = set(npz_keys(path))
    return "global_joint_positions" in keys or ("trans" in keys and bool({"poses", "pose_body"} & keys))


def _robot_file(name: str) -> Path:
    """The file of a robot that is installed on this machine."""
    from poise.figures import BUILT_IN
    from poise.formats.catalog.robots import ROBOTS, find_robot

    found = find_robot(name)
    if found is None:
        hint = suggestion(name, [*BUILT_IN, *ROBOTS])
        known = ", ".join(BUILT_IN)
        raise FigureError(
            f"no built-in figure, file or robot {name!r}.{hint} Built-in figures: {known}. Robots: see `poise robots`."
        )
    return found


def _looks_like_file(name: str) -> bool:
    """Whether a name is a file: it has an ending or a folder, or such a file exists."""
    try:
        return bool(Path(name).suffix) or "/" in name or "\\" in name or Path(name).is_file()
    except (OSError, ValueError):
        return False


def _figure_reader(path: Path) -> Callable[[Path], Figure]:
    """The reader for a file, by its ending and, for XML, by its root element."""
    suffix = path.suffix.lower()
    readers: dict[str, Callable[[Path], Figure]] = {
        ".toml": _read_toml,
        ".urdf": _read_urdf,
        ".xacro": _read_xacro,
        ".mjcf": _read_mjcf,
        ".bvh": _read_bvh,
        ".gltf": _read_gltf,
        ".glb": _read_gltf,
    }
    if suffix == ".xml":
        return _read_urdf if _root_element(path) == "robot" else _read_mjcf
    if suffix not in readers:
        raise _unknown_ending(
            path, "figure", (".figure.toml", ".urdf", ".xacro", ".xml", ".mjcf", ".bvh", ".gltf", ".glb")
        )
    return readers[suffix]


def _root_element(path: Path) -> str:
    """The name of an XML file's root element, "robot" or "mujoco"."""
    found = _XML_ROOT.search(_XML_COMMENT.sub(b"", read_head(path, _ROOT_SEARCH_BYTES)))
    if found is None:
        raise FormatError("is neither a URDF (<robot>) nor an MJCF (<mujoco>) file.", path)
    return found[1].decode()


def _unknown_ending(path: Path, what: str, known: tuple[str, ...]) -> FormatError:
    ending = f"ends in {path.suffix!r}" if path.suffix else "has no ending"
    return FormatError(f"cannot be read as a {what}: its name {ending}. Poise reads {', '.join(known)}.", path)


def _read_toml(path: Path) -> Figure:
    from poise.formats.figure_toml import read_figure

    return read_figure(path)


def _read_urdf(path: Path, closures: Path | None = None) -> Figure:
    from poise.formats.urdf.read import read_urdf

    return read_urdf(path, closures)


def _read_xacro(path: Path) -> Figure:
    from poise.formats.urdf.xacro import read_xacro

    return read_xacro(path)


def _read_mjcf(path: Path) -> Figure:
    from poise.formats.mjcf.read import read_mjcf

    return read_mjcf(path)


def _with_loops(figure: Figure, path: Path, guards: bool | None) -> Figure:
    """The figure with its loops closed, guarded if `guards`; for None only the limits of loop joints are added."""
    if not len(figure.loops):
        return figure
    from poise.formats.loops import assemble_loops, with_loop_limits

    return with_loop_limits(figure if guards is None else assemble_loops(figure, path, guards=guards), path)


def _read_bvh(path: Path) -> Figure:
    from poise.formats.bvh.read import read_bvh_figure

    return read_bvh_figure(path)


def _read_gltf(path: Path) -> Figure:
    from poise.formats.gltf.read import read_gltf_figure

    return read_gltf_figure(path)


def _read_gltf_clip(path: Path, name: str | None) -> Clip:
    from poise.formats.gltf.read import read_gltf_clips

    clips = read_gltf_clips(path)
    if not clips:
        raise FormatError("has no animations.", path)
    if name is None:
        return next(iter(clips.values()))
    if name not in clips:
        hint = suggestion(name, clips)
        raise FormatError(f"has no animation {name!r}.{hint} Animations: {', '.join(clips)}.", path)
    return clips[name]
