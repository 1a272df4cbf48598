"""Reads and writes the arguments of tasks, forces, obstacles and criteria in a scene file: one codec per type."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from poise.engine.scene import joint_values
from poise.errors import TaskError
from poise.figure.model.figure import Figure
from poise.figure.model.pose import Pose, vector
from poise.formats.figure_toml.units import Units
from poise.formats.figure_toml.values import (
    LARGEST_LENGTH,
    LARGEST_MASS,
    SHAPE_FIELDS,
    Pairs,
    axis_value,
    pose_pairs,
    posture_pairs,
    read_pose,
    read_rotation,
    read_shape,
    read_values,
    rotation_value,
    shape_pairs,
)
from poise.formats.scene_toml.paths import mesh_beside, mesh_from
from poise.formats.table.posture_json import read_posture
from poise.formats.text.toml_tables import Table, shown
from poise.tasks.avoid import SELF

LARGEST_WHOLE_NUMBER = 10**9
"""Largest magnitude of a whole number in a scene file."""


class Context(NamedTuple):
    """The figure, unit of angles and folder that the values of a scene file refer to."""

    figure: Figure
    units: Units
    folder: Path | None
    """Folder of the scene file; None for text without a file."""


class Codec(NamedTuple):
    """Reads an argument from a table, and writes it as keys."""

    read: Callable[[Table, str, Context], Any]
    """The argument's value, from its table and name."""
    write: Callable[[str, Any, Context], Pairs]
    """Keys and values, from the argument's name and value."""
    keys: tuple[str, ...] = ()
    """Keys of the argument in the file; its name alone if empty."""


def _write_unchanged(key: str, value: Any, context: Context) -> Pairs:
    return {key: value}


def _write_numbers(key: str, value: Any, context: Context) -> Pairs:
    """Write a word unchanged, and a number or an array as floats."""
    return {key: value if isinstance(value, str) else np.asarray(value, dtype=np.float64).tolist()}


def _checked_size(table: Table, key: str, numbers: Any, most: float = LARGEST_LENGTH) -> Any:
    """`numbers`, if they are finite and at most `most` in magnitude."""
    table.within(key, most, np.ravel(numbers).tolist())
    if not np.isfinite(numbers).all():
        raise table.error(f"{key!r} of {table.what} must be finite, not {shown(numbers)}.", key)
    return numbers


def _text(table: Table, key: str, context: Context) -> Any:
    return table.text(key)


def _flag(table: Table, key: str, context: Context) -> bool:
    return table.flag(key, default=False)


def _whole(table: Table, key: str, context: Context) -> int:
    value = table.take(key)
    if isinstance(value, bool) or not isinstance(value, int):
        raise table.error(f"{key!r} of {table.what} must be a whole number, not {shown(value)}.", key)
    if abs(value) > LARGEST_WHOLE_NUMBER:
        raise table.error(f"{key!r} of {table.what} must lie within ±{LARGEST_WHOLE_NUMBER}, not {shown(value)}.", key)
    return value


def _number(table: Table, key: str, context: Context) -> Any:
    return _checked_size(table, key, table.number(key), LARGEST_MASS)


def _number_or_numbers(table: Table, key: str, context: Context) -> Any:
    value = table.take(key)
    given = table.as_numbers(value, key, ()) if isinstance(value, list) else table.as_number(value, key)
    return _checked_size(table, key, given, LARGEST_MASS)


def _vector(table: Table, key: str, context: Context) -> Any:
    """Three numbers, or a word such as "-y"."""
    value = table.take(key)
    return value if isinstance(value, str) else _checked_size(table, key, table.as_numbers(value, key, (3,)))


def _axis(table: Table, key: str, context: Context) -> Any:
    """A direction: three numbers, or a word."""
    value = _vector(table, key, context)
    with table.locating_errors(key):
        return vector(value, f"{key!r} of {table.what}").tolist() if isinstance(value, str) else value


def _write_axis(key: str, value: Any, context: Context) -> Pairs:
    return {key: axis_value(vector(value).tolist())}


def _vectors(table: Table, key: str, context: Context) -> list[list[float]]:
    return [_checked_size(table, key, table.as_numbers(row, key, (3,))) for row in table.array(key)]


def _axes(table: Table, key: str, context: Context) -> Any:
    """Axes as letters such as "xy", one direction, or several directions."""
    value = table.take(key)
    if isinstance(value, list) and value and isinstance(value[0], list):
        return _vectors(table, key, context)
    return _vector(table, key, context)


def _names(table: Table, key: str, context: Context) -> Any:
    """One name, or a list of names."""
    value = table.take(key)
    if not isinstance(value, str) and not (isinstance(value, list) and all(isinstance(item, str) for item in value)):
        raise table.error(f"{key!r} of {table.what} must be a name, or names in brackets, not {shown(value)}.", key)
    return value


def _write_names(key: str, value: str | Iterable[str], context: Context) -> Pairs:
    return {key: value if isinstance(value, str) else list(value)}


def _pairs(table: Table, key: str, context: Context) -> list[list[str]]:
    """A list of pairs of names."""
    pairs = table.array(key)
    for pair in pairs:
        if not (isinstance(pair, list) and len(pair) == 2 and all(isinstance(name, str) for name in pair)):
            raise table.error(f"{key!r} of {table.what} must be pairs of names in brackets, not {shown(pairs)}.", key)
    return pairs


def _write_pairs(key: str, value: Iterable[Iterable[str]], context: Context) -> Pairs:
    return {key: [list(pair) for pair in value]}


def _hazard(table: Table, key: str, context: Context) -> str:
    return table.choice(key, [SELF], SELF)


def _write_hazard(key: str, value: Any, context: Context) -> Pairs:
    if value != SELF:
        raise TaskError(
            "a scene file cannot hold an Avoid task for chosen obstacles, since a scene avoids all of its obstacles: "
            'give them to the scene as obstacles=[…], and keep only Avoid("self") among its tasks.'
        )
    return {key: value}


def _rotation(table: Table, key: str, context: Context) -> Any:
    """A rotation as four numbers, which are kept unnormalised, or as { axis, degrees }."""
    value = table.take(key)
    return (
        read_rotation(table, key)
        if isinstance(value, dict)
        else _checked_size(table, key, table.as_numbers(value, key, (4,)))
    )


def _write_rotation(key: str, value: Any, context: Context) -> Pairs:
    return {key: rotation_value(np.asarray(value, dtype=np.float64))}


def _pose(table: Table, key: str, context: Context) -> Pose:
    return read_pose(table)


def _write_pose(key: str, value: Any, context: Context) -> Pairs:
    return pose_pairs(value if isinstance(value, Pose) else Pose(*value))


def _posture(table: Table, key: str, context: Context) -> Any:
    """A posture's name, a file written by `poise solve`, or values by joint."""
    given = table.take(key)
    if isinstance(given, str):
        if not given.lower().endswith(".json"):
            return given
        return read_posture((context.folder or Path()) / given, context.figure)
    joints = table.as_table(given, key, f"{key!r} of {table.what}")
    kinds = {joint.name: joint.kind for joint in context.figure.joints}
    return {joint: read_values(joints, joint, context.units, kinds) for joint in joints.keys()}  # noqa: SIM118


def _write_posture(key: str, value: Any, context: Context) -> Pairs:
    if isinstance(value, str):
        return {key: value}
    kinds = {joint.name: joint.kind for joint in context.figure.joints}
    return {key: posture_pairs(joint_values(value, context.figure), context.units, kinds)}


def _shape(table: Table, key: str, context: Context) -> Any:
    return mesh_from(read_shape(table, "shape_"), context.folder)


def _write_shape(key: str, value: Any, context: Context) -> Pairs:
    pairs = shape_pairs(mesh_beside(value, context.folder), "shape_")
    del pairs["kind"]
    return pairs


def _no_loads(table: Table, key: str, context: Context) -> Any:
    raise table.error(
        f"{table.what} uses the forces of the whole scene: write them as [[force]] and [[support]], not here.", key
    )


def _write_loads(key: str, value: Any, context: Context) -> Pairs:
    raise TaskError("a scene file has one set of forces: give them to the scene, not to its tasks or criteria.")


def _strength(table: Table, key: str, context: Context) -> Any:
    """One number for all joints, or a table of numbers by joint."""
    value = table.take(key)
    if not isinstance(value, dict):
        return _checked_size(table, key, table.as_number(value, key), LARGEST_MASS)
    joints = table.as_table(value, key, f"{key!r} of {table.what}")
    return {joint: _checked_size(joints, joint, joints.number(joint), LARGEST_MASS) for joint in list(value)}


def shape_keys(kind: str) -> tuple[str, ...]:
    """The keys of an obstacle's shape of this kind."""
    return (*SHAPE_FIELDS[kind][1], "shape_at", "shape_turned", "role", "color")


TEXT_CODEC = Codec(_text, _write_unchanged)
VECTOR_CODEC = Codec(_vector, _write_numbers)
AXIS_CODEC = Codec(_axis, _write_axis)
NAMES_CODEC = Codec(_names, _write_names)
POSTURE_CODEC = Codec(_posture, _write_posture)
SHAPE_CODEC = Codec(_shape, _write_shape)

CODEC_BY_NAME = {"rotation": Codec(_rotation, _write_rotation), "axis": AXIS_CODEC, "normal": AXIS_CODEC}
"""Codecs by name, for arguments whose annotation is ambiguous."""

CODEC_BY_ANNOTATION = {
    "str": TEXT_CODEC,
    "Axes": TEXT_CODEC,
    "bool": Codec(_flag, _write_unchanged),
    "int": Codec(_whole, _write_unchanged),
    "float": Codec(_number, _write_unchanged),
    "Weight": Codec(_number_or_numbers, _write_numbers),
    "ArrayLike": VECTOR_CODEC,
    "ArrayLike | str": VECTOR_CODEC,
    "Sequence[ArrayLike]": Codec(_vectors, _write_numbers),
    "str | ArrayLike": Codec(_axes, _write_numbers),
    "Recruits": NAMES_CODEC,
    "str | Iterable[str]": NAMES_CODEC,
    "Names": Codec(_pairs, _write_pairs),
    "Hazards": Codec(_hazard, _write_hazard),
    "Pose": Codec(_pose, _write_pose, ("at", "turned")),
    "PostureLike": POSTURE_CODEC,
    "Shape": SHAPE_CODEC,
    "Loads": Codec(_no_loads, _write_loads),
    "Strength": Codec(_strength, _write_unchanged),
}
"""Codecs by the annotation of the argument, without `| None`."""
