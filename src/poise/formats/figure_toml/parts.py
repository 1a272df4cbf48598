"""Definitions shared by the reader and the writer of `*.figure.toml`: shapes, masses, poses and axes."""

from __future__ import annotations

from collections.abc import Sequence

from poise.errors import FigureError
from poise.figure.model.builder import Builder
from poise.figure.model.mass import Mass
from poise.figure.model.pose import FloatArray, Pose, turn, unit_quaternion, unit_vector
from poise.figure.model.shapes import Box, Capsule, Cylinder, Ellipsoid, Mesh, Shape, Sphere
from poise.formats.text.toml_tables import Table

SHAPE_FIELDS: dict[str, tuple[type[Shape], tuple[str, ...]]] = {
    "sphere": (Sphere, ("radius",)),
    "box": (Box, ("size",)),
    "cylinder": (Cylinder, ("radius", "length")),
    "capsule": (Capsule, ("radius", "length")),
    "ellipsoid": (Ellipsoid, ("radii",)),
    "mesh": (Mesh, ("path", "scale")),
}
"""Kinds of shapes, each with its class and its own keys."""

LARGEST_LENGTH = 1e9
"""Largest length in a file [m]."""
LARGEST_MASS = 1e15
"""Largest mass [kg] or density [kg/m³] in a file."""

AXIS_WORDS = ("x", "y", "z", "-x", "-y", "-z")
"""Axes that can be written as a word."""


def spread_mass(mass: float | None, density: float | None, shapes: Sequence[Shape]) -> Mass:
    """The mass of a body without centre and inertia in the file: spread over its shapes by volume.

    Mesh files are not opened, so meshes get no share; without other shapes the mass is a point at the origin.
    """
    solids = [shape for shape in shapes if not isinstance(shape, Mesh)]
    if density is not None and not solids:
        raise FigureError("a density needs shapes other than meshes; give a mass instead.")
    builder = Builder("")
    builder.body("body", shapes=solids, mass=mass, density=density)
    return builder.bodies[0].mass


def read_pose(table: Table, prefix: str = "") -> Pose:
    """A pose from the keys `at` and `turned`, each after `prefix`."""
    position = table.numbers(f"{prefix}at", (3,), (0.0, 0.0, 0.0))
    table.within(f"{prefix}at", LARGEST_LENGTH, position)
    with table.locating_errors(f"{prefix}at"):
        place = Pose(position)
    return Pose(place.position, read_rotation(table, f"{prefix}turned"))


def read_rotation(table: Table, key: str) -> FloatArray:
    """A rotation as `[w, x, y, z]` or `{ axis = "x", degrees = 90 }`; the identity if the key is absent."""
    given = table.take(key, [1.0, 0.0, 0.0, 0.0])
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


def read_axis(table: Table, value: object, key: str) -> FloatArray:
    """A unit vector from a word such as "-y" or from three numbers."""
    given = value if isinstance(value, str) else table.as_numbers(value, key, (3,))
    with table.locating_errors(key):
        return unit_vector(given, f"{key!r} of {table.what}")
