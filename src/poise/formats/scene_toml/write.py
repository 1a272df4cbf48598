"""Writes scenes as files that a person can edit; default values are left out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from poise.engine.scene import Origin, Scene, comparable
from poise.errors import FormatError
from poise.figure.model.figure import Figure
from poise.figures import BUILT_IN, built_in
from poise.forces.loads import Gravity, Support
from poise.formats.figure_toml.units import InexactError, Units
from poise.formats.figure_toml.values import Pairs
from poise.formats.scene_toml.animation import animation_lines
from poise.formats.scene_toml.fields import POSTURE_CODEC, VECTOR_CODEC, Context
from poise.formats.scene_toml.kinds import REQUIRED, UNNAMED_KIND, fields_of, kind_of, sections
from poise.formats.scene_toml.paths import path_beside
from poise.formats.table.motion_file import write_motion
from poise.formats.text.files import write_atomically
from poise.formats.text.toml_emit import section
from poise.tasks.criteria import Natural, default_criteria


def write_scene(scene: Scene, path: str | Path) -> None:
    """Write `scene`, which reads back equal; if writing fails, an existing file stays unchanged."""
    file = Path(path)
    if file.suffix.lower() != ".toml":
        raise FormatError("scenes are saved as TOML; the name of the file must end in .toml.", path)
    clip = _saved_clip(scene, file)
    try:
        data = scene_text(scene, file.parent, clip=clip).encode("utf-8")
    except UnicodeEncodeError:
        raise FormatError("a name in the scene has characters that UTF-8 cannot encode.", path) from None
    write_atomically(path, data)


def _saved_clip(scene: Scene, file: Path) -> str | None:
    """Write the clip that plays under the scene's keys beside its file; returns its path, None if there is none."""
    if scene.animation is None or scene.animation.clip is None:
        return None
    path = file.with_suffix(".clip.npz")
    write_motion(scene.animation.clip, path)
    return str(path)


def scene_text(scene: Scene, folder: Path | None = None, *, clip: str | None = None) -> str:
    """The text of a scene file in `folder`: angles in degrees if that is exact and not longer than in radians.

    `clip` is the file of the clip that plays under the scene's keys, if there is one.
    """
    in_radians = _text(scene, Context(scene.figure, Units(degrees=False), folder), clip)
    try:
        in_degrees = _text(scene, Context(scene.figure, Units(degrees=True), folder), clip)
    except InexactError:
        return in_radians
    return in_degrees if len(in_degrees) <= len(in_radians) else in_radians


def _text(scene: Scene, context: Context, clip: str | None) -> str:
    top: Pairs = {"description": scene.description} if scene.description else {}
    top |= _figure(scene.origin or _origin_of(scene.figure), context.folder)
    top["angles"] = "degrees" if context.units.degrees else "radians"
    if scene.solid:
        top["solid"] = True
    loads: dict[str, list[Any]] = {"force": [], "support": []}
    for load in scene.forces:
        if isinstance(load, Gravity):
            top |= VECTOR_CODEC.write("gravity", load.acceleration, context)
        else:
            loads["support" if isinstance(load, Support) else "force"].append(load)
    start = {} if scene.start is None else POSTURE_CODEC.write("start", scene.start, context)
    named = isinstance(start.get("start"), str)
    lines = ["# A poise scene. Metres, kilograms, newtons; rotations are [w, x, y, z] or { axis, degrees }."]
    lines += section("", top | start if named else top)[2:]
    if start and not named:
        lines += section("[start]", start["start"])
    defaults = default_criteria(scene.figure, scene.tasks)
    criteria = () if scene.criteria == defaults else scene.criteria or tuple(Natural(weight=0.0) for _ in defaults)
    parts = {"task": scene.tasks, **loads, "obstacle": scene.obstacles, "criterion": criteria}
    known = sections()
    for name, all_parts in parts.items():
        for part in all_parts:
            lines += section(f"[[{name}]]", _part(part, known[name], context))
    lines += animation_lines(scene.animation, context, clip, lambda task: _part(task, known["task"], context))
    return "\n".join(lines) + "\n"


def _figure(origin: Origin, folder: Path | None) -> Pairs:
    """The keys that name the figure: `figure`, `closures` and `floating`."""
    pairs: Pairs = {"figure": path_beside(origin.figure, folder) if origin.is_file else origin.figure}
    if origin.closures is not None:
        pairs["closures"] = path_beside(origin.closures, folder)
    return pairs | ({"floating": True} if origin.floating else {})


def _origin_of(figure: Figure) -> Origin:
    """The origin of a figure that equals a built-in one."""
    if figure.name in BUILT_IN:
        known = built_in(figure.name)
        if figure == known:
            return Origin(figure.name)
        if figure == known.with_floating_base():
            return Origin(figure.name, floating=True)
    raise FormatError(
        f"figure {figure.name!r} is not built in and was not loaded from a file: save the figure first, and make the "
        "scene from that file, as in Scene('lamp.figure.toml', tasks)."
    )


def _part(part: Any, kinds: Mapping[str, type], context: Context) -> Pairs:
    """The keys of a task, load, obstacle or criterion."""
    kind = kind_of(part, kinds)
    pairs: Pairs = {"name": part.name} if getattr(part, "name", None) else {}
    pairs |= {} if kind == UNNAMED_KIND else {"kind": kind}
    for field in fields_of(kinds[kind], kind):
        value = getattr(part, field.name)
        if value is None or (field.default is not REQUIRED and comparable(value) == comparable(field.default)):
            continue
        written = field.codec.write(field.name, value, context)
        pairs |= written or ({"at": [0.0, 0.0, 0.0]} if field.default is REQUIRED else {})
    return pairs
