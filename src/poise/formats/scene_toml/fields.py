"""How a scene file says the arguments of tasks, forces, obstacles and criteria: one codec per type of argument."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from poise.engine.scene import joint_values
from poise.errors import TaskError
from poise.figure.model.figure import Figure
from poise.figure.model.pose import Pose, vector
from poise.formats.figure_toml.parts import FARTHEST, HEAVIEST, SHAPES, read_pose, read_rotation
from poise.formats.figure_toml.read import read_shape, read_values
from poise.formats.figure_toml.units import Units
from poise.formats.figure_toml.write import posture_pairs, shape_pairs
from poise.formats.figure_toml.write_joints import Pairs, axis_value, pose_pairs, rotation_value
from poise.formats.scene_toml.paths import mesh_beside, mesh_from
from poise.formats.table.posture_json import read_posture
from poise.formats.text.toml_tables import Table, shown
from poise.tasks.avoid import SELF

LARGEST_WHOLE = 10**9
"""No count or level is larger."""


class Context(NamedTuple):
    """What numbers and names in a scene file refer to."""

    figure: Figure
    units: Units
    folder: Path | None
    """Of the scene file; None for text without one."""


class Codec(NamedTuple):
    """Reads an argument from a table, and writes it as keys."""

    read: Callable[[Table, str, Context], Any]
    write: Callable[[str, Any, Context], Pairs]
    keys: tuple[str, ...] = ()
    """The keys it takes, where they are not the argument's name."""


def _as_it_is(key: str, value: Any, context: Context) -> Pairs:
    return {key: value}


def _as_numbers(key: str, value: Any, context: Context) -> Pairs:
    """A word, a number, or arrays of numbers."""
    return {key: value if isinstance(value, str) else np.asarray(value, dtype=np.float64).tolist()}


def _sane(table: Table, key: str, numbers: Any, most: float = FARTHEST) -> Any:
    """`numbers`, if arithmetic with them cannot overflow."""
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
    if abs(value) > LARGEST_WHOLE:
        raise table.error(f"{key!r} of {table.what} must lie within ±{LARGEST_WHOLE}, not {shown(value)}.", key)
    return value


def _number(table: Table, key: str, context: Context) -> Any:
    return _sane(table, key, table.number(key), HEAVIEST)


def _number_or_numbers(table: Table, key: str, context: Context) -> Any:
    value = table.take(key)
    given = table.as_numbers(value, key, ()) if isinstance(value, list) else table.as_number(value, key)
    return _sane(table, key, given, HEAVIEST)


def _vector(table: Table, key: str, context: Context) -> Any:
    """Three numbers, or a word such as "-y"."""
    value = table.take(key)
    return value if isinstance(value, str) else _sane(table, key, table.as_numbers(value, key, (3,)))


def _axis(table: Table, key: str, context: Context) -> Any:
    """A direction: three numbers, or a word."""
    value = _vector(table, key, context)
    with table.blaming(key):
        return vector(value, f"{key!r} of {table.what}").tolist() if isinstance(value, str) else value


def _write_axis(key: str, value: Any, context: Context) -> Pairs:
    return {key: axis_value(vector(value).tolist())}


def _vectors(table: Table, key: str, context: Context) -> list[list[float]]:
    return [_sane(table, key, table.as_numbers(row, key, (3,))) for row in table.array(key)]


def _axes(table: Table, key: str, context: Context) -> Any:
    """Letters, one direction, or several."""
    value = table.take(key)
    if isinstance(value, list) and value and isinstance(value[0], list):
        return _vectors(table, key, context)
    return _vector(table, key, context)


def _names(table: Table, key: str, context: Context) -> Any:
    """One name, or several."""
    value = table.take(key)
    if not isinstance(value, str) and not (isinstance(value, list) and all(isinstance(item, str) for item in value)):
        raise table.error(f"{key!r} of {table.what} must be a name, or names in brackets, not {shown(value)}.", key)
    return value


def _write_names(key: str, value: str | Iterable[str], context: Context) -> Pairs:
    return {key: value if isinstance(value, str) else list(value)}


def _pairs(table: Table, key: str, context: Context) -> list[list[str]]:
    """Pairs of names."""
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
            "a scene file has a table for each obstacle and avoids them all: give them to the scene as obstacles=[…], "
            'and leave Avoid("self") among its tasks.'
        )
    return {key: value}


def _rotation(table: Table, key: str, context: Context) -> Any:
    """Four numbers as they are, or { axis, degrees }."""
    value = table.take(key)
    return (
        read_rotation(table, key) if isinstance(value, dict) else _sane(table, key, table.as_numbers(value, key, (4,)))
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
    raise table.error(f"{table.what} has the forces of the whole scene: write them as [[force]] and [[support]].", key)


def _write_loads(key: str, value: Any, context: Context) -> Pairs:
    raise TaskError("a scene file has one set of forces: give them to the scene, not to one of its tasks or criteria.")


def _strength(table: Table, key: str, context: Context) -> Any:
    """One number for all joints, or numbers by joint."""
    value = table.take(key)
    if not isinstance(value, dict):
        return _sane(table, key, table.as_number(value, key), HEAVIEST)
    joints = table.as_table(value, key, f"{key!r} of {table.what}")
    return {joint: _sane(joints, joint, joints.number(joint), HEAVIEST) for joint in list(value)}


def shape_keys(kind: str) -> tuple[str, ...]:
    """The keys of a shape of some kind."""
    return (*SHAPES[kind][1], "shape_at", "shape_turned", "role", "color")


TEXT = Codec(_text, _as_it_is)
FLAG = Codec(_flag, _as_it_is)
WHOLE = Codec(_whole, _as_it_is)
NUMBER = Codec(_number, _as_it_is)
NUMBERS = Codec(_number_or_numbers, _as_numbers)
VECTOR = Codec(_vector, _as_numbers)
VECTORS = Codec(_vectors, _as_numbers)
AXIS = Codec(_axis, _write_axis)
AXES = Codec(_axes, _as_numbers)
NAMES = Codec(_names, _write_names)
PAIRS = Codec(_pairs, _write_pairs)
HAZARD = Codec(_hazard, _write_hazard)
ROTATION = Codec(_rotation, _write_rotation)
POSE = Codec(_pose, _write_pose, ("at", "turned"))
POSTURE = Codec(_posture, _write_posture)
SHAPE = Codec(_shape, _write_shape)
LOADS = Codec(_no_loads, _write_loads)
STRENGTH = Codec(_strength, _as_it_is)

BY_NAME = {"rotation": ROTATION, "axis": AXIS, "normal": AXIS}
"""Arguments whose type alone does not say what they are."""

BY_ANNOTATION = {
    "str": TEXT,
    "Axes": TEXT,
    "bool": FLAG,
    "int": WHOLE,
    "float": NUMBER,
    "Weight": NUMBERS,
    "ArrayLike": VECTOR,
    "ArrayLike | str": VECTOR,
    "Sequence[ArrayLike]": VECTORS,
    "str | ArrayLike": AXES,
    "Recruits": NAMES,
    "str | Iterable[str]": NAMES,
    "Names": PAIRS,
    "Hazards": HAZARD,
    "Pose": POSE,
    "PostureLike": POSTURE,
    "Shape": SHAPE,
    "Loads": LOADS,
    "Strength": STRENGTH,
}
"""Codecs by the type that a class writes at its argument, without `| None`."""
