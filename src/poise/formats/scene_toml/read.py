"""Reads scene files; every mistake in one raises a FormatError with file and line."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from poise.engine.scene import Origin, Scene, check_part
from poise.errors import FigureError, TaskError
from poise.figure.model.figure import Figure
from poise.forces.loads import Gravity
from poise.formats.figure_toml.units import Units
from poise.formats.scene_toml.animation import read_animation
from poise.formats.scene_toml.fields import POSTURE_CODEC, VECTOR_CODEC, Context
from poise.formats.scene_toml.kinds import REQUIRED, UNNAMED_KIND, fields_of, sections
from poise.formats.text.files import read_bytes
from poise.formats.text.toml_tables import Source, Table


def read_scene(path: str | Path) -> Scene:
    """Read the scene in a file."""
    return parse_scene(read_bytes(path), path)


def parse_scene(text: str | bytes, path: str | Path | None = None) -> Scene:
    """Parse a scene from text; paths in it are relative to the folder of `path`."""
    file = Path(path) if path is not None else None
    top = Source(text, file).top
    folder = file.parent if file is not None else None
    units = Units(top.choice("angles", ("radians", "degrees"), "radians") == "degrees")
    description = top.text("description", "")
    solid = top.flag("solid", default=False)
    known = sections()
    tables = {section: top.tables(section, section) for section in known}
    keys = top.tables("key", "key")
    top.finish("figure", "closures", "floating", "start", "gravity", "animation")
    origin = _origin(top, folder)
    with top.locating_errors("figure"):
        figure = origin.load()
    context = Context(figure, units, folder)
    parts = {name: [_part(table, kinds, context) for table in tables[name]] for name, kinds in known.items()}
    start = _start(top, context) if "start" in top else None
    animation = read_animation(top, keys, context, lambda table: _part(table, known["task"], context))
    forces = [*parts["force"], *parts["support"], *_gravity(top, context)]
    with top.locating_errors():
        return Scene(
            figure,
            parts["task"],
            start=start,
            forces=forces,
            criteria=parts["criterion"] or None,
            obstacles=parts["obstacle"],
            solid=solid,
            animation=animation,
            description=description,
            origin=origin,
        )


def read_part(table: Table, section: str, figure: Figure) -> Any:
    """A task, force, support, obstacle or criterion from a table that is in no file, with angles in radians."""
    return _part(table, sections()[section], Context(figure, Units(degrees=False), None))


def _origin(top: Table, folder: Path | None) -> Origin:
    """The figure's origin: a built-in name, or a file beside the scene."""
    closures = top.text("closures", None)
    loops = None if closures is None else str(_file(top, "closures", closures, folder))
    floating = top.flag("floating", default=False)
    name = top.text("figure")
    place = str(_file(top, "figure", name, folder)) if Origin(name).is_file else name
    return Origin(place, loops, floating)


def _file(top: Table, key: str, name: str, folder: Path | None) -> Path:
    path = (folder or Path()) / name
    try:
        found = path.is_file()
    except (OSError, ValueError):
        found = False
    if not found:
        raise top.error(f"{key!r} names the file {name!r}, which does not exist beside the scene.", key)
    return path


def _part(table: Table, kinds: Mapping[str, type], context: Context) -> Any:
    """A task, load, obstacle or criterion from its table."""
    kind = UNNAMED_KIND if UNNAMED_KIND in kinds else table.choice("kind", tuple(kinds))
    maker = kinds[kind]
    with table.locating_errors("kind"):
        fields = fields_of(maker, kind)
    table.finish(*(key for field in fields for key in field.keys))
    given = {}
    for field in fields:
        if any(key in table for key in field.keys):
            given[field.name] = field.codec.read(table, field.name, context)
        elif field.default is REQUIRED:
            raise table.error(f"{table.what} has no {field.keys[0]!r}.")
    return _checked(table, maker, given, context)


def _checked(table: Table, maker: type, given: Mapping[str, Any], context: Context) -> Any:
    try:
        part = maker(**given)
        check_part(context.figure, part)
    except (FigureError, TaskError) as problem:
        raise table.error(str(problem), _key_in_message(table, str(problem))) from None
    return part


def _key_in_message(table: Table, reason: str) -> str | None:
    """The key whose value an error message quotes, if any."""
    for key in table.all_keys():
        value = table.take(key)
        words = value if isinstance(value, list) else [value]
        if key not in ("kind", "name") and any(isinstance(word, str) and repr(word) in reason for word in words):
            return key
    return None


def _gravity(top: Table, context: Context) -> list[Any]:
    if "gravity" not in top:
        return []
    acceleration = VECTOR_CODEC.read(top, "gravity", context)
    with top.locating_errors("gravity"):
        return [Gravity(acceleration)]


def _start(top: Table, context: Context) -> Any:
    start = POSTURE_CODEC.read(top, "start", context)
    with top.locating_errors("start"):
        context.figure.posture(start)
    return start
