"""Keys and values of `*.figure.toml` files, read and written: rotations, poses, axes, shapes, joint values.

A record lists the keys of one kind of table, in the order in which they are written. Reader and writer both follow it,
so that a key is described in one place: what it is called, how it is read and checked, how it is written, its default.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar, cast

import numpy as np

from poise.errors import FigureError
from poise.figure.model.joints import Kind
from poise.figure.model.names import look_up
from poise.figure.model.pose import FloatArray, Pose, turn, unit_quaternion, unit_vector, vector
from poise.figure.model.shapes import ROLES, Box, Capsule, Cylinder, Ellipsoid, Mesh, Role, Shape, Sphere
from poise.formats.figure_toml.units import Units, value_powers
from poise.formats.text.toml_emit import Raw
from poise.formats.text.toml_tables import Table, shown

Pairs = dict[str, Any]
"""Keys and values of a TOML table."""
Take = Callable[[Table, str], Any]
"""Reads and checks the value of a key that the table has."""
T = TypeVar("T")
_REQUIRED = object()
SHAPE_FIELDS: dict[str, tuple[type[Shape], tuple[str, ...]]] = {
    "sphere": (Sphere, ("radius",)),
    "box": (Box, ("size",)),
    "cylinder": (Cylinder, ("radius", "length")),
    "capsule": (Capsule, ("radius", "length")),
    "ellipsoid": (Ellipsoid, ("radii",)),
    "mesh": (Mesh, ("path", "scale")),
}
"""Kinds of shapes, each with its class and its own keys."""
_SIZES: dict[str, Take] = {
    "path": Table.text,
    "radius": Table.number,
    "length": Table.number,
    "size": lambda table, key: table.numbers(key, (3,)),
    "radii": lambda table, key: table.numbers(key, (3,)),
    "scale": lambda table, key: table.numbers(key, (3,), (1.0, 1.0, 1.0)),
}
"""How the keys of shapes are read."""
LARGEST_LENGTH = 1e9
"""Largest length in a file [m]."""
LARGEST_MASS = 1e15
"""Largest mass [kg] or density [kg/m³] in a file."""
_NO_ROTATION = [1.0, 0.0, 0.0, 0.0]


class Keys(NamedTuple):
    """One key of a table, or several that belong together."""

    names: tuple[str, ...]
    """The keys in the file."""
    read: Callable[[Table], dict[str, Any]]
    """The fields of an object that a table gives."""
    write: Callable[[Any], Pairs]
    """The keys of an object; those at their defaults are left out."""


def key(name: str, take: Take, default: Any = _REQUIRED) -> Keys:
    """The key of a field with the same name; without a default it must be in the file."""

    def read(table: Table) -> dict[str, Any]:
        return {name: take(table, name) if default is _REQUIRED or name in table else default}

    def write(thing: Any) -> Pairs:
        value = getattr(thing, name)
        return {} if default is not _REQUIRED and value == default else {name: value}

    return Keys((name,), read, write)


class Record(Generic[T]):
    """A kind of table: what it makes, and its keys."""

    def __init__(self, maker: Callable[..., T], *keys: Keys) -> None:
        """Make things by `maker` from the fields that `keys` give."""
        self.maker, self.keys = maker, keys

    def read(self, table: Table) -> T:
        """The thing that a table describes; refuses unknown keys."""
        fields = {field: value for part in self.keys for field, value in part.read(table).items()}
        table.finish(*(name for part in self.keys for name in part.names))
        with table.locating_errors():
            return self.maker(**fields)

    def write(self, thing: Any) -> Pairs:
        """The keys of a thing."""
        return {name: value for part in self.keys for name, value in part.write(thing).items()}


def same_bits(a: object, b: object) -> bool:
    """Whether two numbers or arrays are equal bit for bit; 0.0 and -0.0 differ."""
    return np.asarray(a, dtype=np.float64).tobytes() == np.asarray(b, dtype=np.float64).tobytes()


def read_rotation(table: Table, key: str) -> FloatArray:
    """A rotation as `[w, x, y, z]` or `{ axis = "x", degrees = 90 }`; the identity if the key is absent."""
    given = table.take(key, _NO_ROTATION)
    if not isinstance(given, dict):
        quaternion = table.as_numbers(given, key, (4,))
        with table.locating_errors(key):
            return unit_quaternion(quaternion)
    inner = table.as_table(given, key, f"{key!r} of {table.what}")
    axis = read_axis(inner, inner.take("axis"), "axis")
    degrees = inner.number("degrees")
    inner.finish()
    with inner.locating_errors():
        return unit_quaternion(turn(axis, degrees))


def rotation_value(q: FloatArray) -> object:
    """A rotation as `{ axis, degrees }` if that is exact, otherwise as a quaternion."""
    for i, axis in enumerate("xyz"):
        angle = math.degrees(2.0 * math.atan2(float(q[1 + i]), float(q[0])))
        if np.count_nonzero(q[1:]) == 1 and q[1 + i] != 0.0:
            for digits in range(7):
                if same_bits(unit_quaternion(turn(axis, round(angle, digits))), q):
                    return {"axis": axis, "degrees": round(angle, digits)}
    return q.tolist()


def rotation_pairs(key: str, q: FloatArray) -> Pairs:
    """The key of a rotation; the identity is left out."""
    return {} if same_bits(q, _NO_ROTATION) else {key: rotation_value(q)}


def read_pose(table: Table, prefix: str = "") -> Pose:
    """A pose from the keys `at` and `turned`, each after `prefix`."""
    position = table.numbers(f"{prefix}at", (3,), (0.0, 0.0, 0.0))
    table.within(f"{prefix}at", LARGEST_LENGTH, position)
    with table.locating_errors(f"{prefix}at"):
        place = Pose(position)
    return Pose(place.position, read_rotation(table, f"{prefix}turned"))


def pose_pairs(pose: Pose, prefix: str = "") -> Pairs:
    """The keys `at` and `turned` of a pose, each after `prefix`; zero positions and rotations are left out."""
    place = {} if same_bits(pose.position, np.zeros(3)) else {f"{prefix}at": pose.position.tolist()}
    return place | rotation_pairs(f"{prefix}turned", pose.rotation)


def pose_keys(field: str, prefix: str = "") -> Keys:
    """The keys of a pose in the field `field` of an object."""
    return Keys(
        (f"{prefix}at", f"{prefix}turned"),
        lambda table: {field: read_pose(table, prefix)},
        lambda thing: pose_pairs(getattr(thing, field), prefix),
    )


def read_inner_pose(table: Table, key: str, what: str) -> Pose:
    """A pose from a table inside a table."""
    inner = table.as_table(table.take(key), key, what)
    pose = read_pose(inner)
    inner.finish()
    return pose


def read_axis(table: Table, value: object, key: str) -> FloatArray:
    """A unit vector from a word such as "-y" or from three numbers."""
    given = value if isinstance(value, str) else table.as_numbers(value, key, (3,))
    with table.locating_errors(key):
        return unit_vector(given, f"{key!r} of {table.what}")


def axis_value(axis: Sequence[float]) -> object:
    """An axis as a word such as "-y" if there is one, otherwise as three numbers."""
    return next((word for word in ("x", "y", "z", "-x", "-y", "-z") if same_bits(vector(word), axis)), list(axis))


def read_shape(table: Table, prefix: str = "") -> Shape:
    """A shape from a table, which may have other keys too; the keys of its pose begin with `prefix`."""
    maker, fields = SHAPE_FIELDS[table.choice("kind", tuple(SHAPE_FIELDS))]
    sizes = {field: _SIZES[field](table, field) for field in fields}
    pose = read_pose(table, prefix)
    role = cast("Role", table.choice("role", ROLES, "both"))
    color = tuple(table.numbers("color", (3,))) if "color" in table else None
    with table.locating_errors():
        return maker(**sizes, pose=pose, role=role, color=color)  # type: ignore[arg-type]


def shape_pairs(shape: Shape, prefix: str = "") -> Pairs:
    """The keys of a shape; those of its pose begin with `prefix`."""
    kind = next((kind for kind, (maker, _) in SHAPE_FIELDS.items() if type(shape) is maker), None)
    if kind is None:
        raise FigureError(f"a shape of type {type(shape).__name__} cannot be saved; shapes: {', '.join(SHAPE_FIELDS)}.")
    pairs: Pairs = {"kind": kind} | {field: getattr(shape, field) for field in SHAPE_FIELDS[kind][1]}
    if kind == "mesh" and same_bits(pairs["scale"], [1.0] * 3):
        del pairs["scale"]
    pairs |= pose_pairs(shape.pose, prefix)
    if shape.role != "both":
        pairs["role"] = shape.role
    if shape.color is not None:
        pairs["color"] = shape.color
    return pairs


def read_values(table: Table, joint: str, units: Units, kinds: Mapping[str, Kind]) -> tuple[float, ...]:
    """The values of one joint in the table of a posture."""
    with table.locating_errors(joint):
        kind = look_up(kinds, joint, "joint", "the figure")
    powers = value_powers(kind)
    given = table.take(joint)
    if kind == "ball" and isinstance(given, dict):
        return tuple(read_rotation(table, joint).tolist())
    if kind == "free" and isinstance(given, dict):
        pose = read_inner_pose(table, joint, f"{joint!r} of {table.what}")
        return (*pose.position.tolist(), *pose.rotation.tolist())
    numbers = [given] if len(powers) == 1 and not isinstance(given, list) else given
    values = table.as_numbers(numbers, joint, (len(powers),))
    for value in values:
        if math.isinf(value):
            raise table.error(f"{joint!r} of {table.what} must be finite, not {shown(given)}.", joint)
    return tuple(units.read(value, power) for value, power in zip(values, powers, strict=True))


def posture_pairs(values: Mapping[str, Sequence[float]], units: Units, kinds: Mapping[str, Kind]) -> Pairs:
    """The keys of a posture table: values by joint."""
    pairs: Pairs = {}
    for joint, numbers in values.items():
        powers = value_powers(kinds[joint])
        written: list[Raw] = [units.write(value, power) for value, power in zip(numbers, powers, strict=True)]
        pairs[joint] = written[0] if len(written) == 1 else written
    return pairs
