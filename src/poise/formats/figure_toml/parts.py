"""What the reader and the writer of `*.figure.toml` must agree on."""

from __future__ import annotations

from collections.abc import Sequence

from poise.errors import FigureError
from poise.figure.model.builder import Builder
from poise.figure.model.mass import Mass
from poise.figure.model.pose import FloatArray, Pose, turn, unit_quaternion, unit_vector
from poise.figure.model.shapes import Box, Capsule, Cylinder, Ellipsoid, Mesh, Shape, Sphere
from poise.formats.text.toml_tables import Table

SHAPES: dict[str, tuple[type[Shape], tuple[str, ...]]] = {
    "sphere": (Sphere, ("radius",)),
    "box": (Box, ("size",)),
    "cylinder": (Cylinder, ("radius", "length")),
    "capsule": (Capsule, ("radius", "length")),
    "ellipsoid": (Ellipsoid, ("radii",)),
    "mesh": (Mesh, ("path", "scale")),
}
"""The kinds of shapes, each with its own keys."""

FARTHEST, HEAVIEST = 1e9, 1e15
"""Lengths [m], and masses [kg] and densities [kg/m³], beyond which a file is taken for broken."""

WORDS = ("x", "y", "z", "-x", "-y", "-z")
"""Axes that have a word."""


def spread_mass(mass: float | None, density: float | None, shapes: Sequence[Shape]) -> Mass:
    """The mass of a body whose file gives no centre and no inertia: spread over its shapes by volume.

    Nobody opens a mesh to read a figure, so meshes take no share; without other shapes the mass sits at the origin.
    """
    solids = [shape for shape in shapes if not isinstance(shape, Mesh)]
    if density is not None and not solids:
        raise FigureError("a density needs shapes other than meshes; give a mass instead.")
    builder = Builder("")
    builder.body("body", shapes=solids, mass=mass, density=density)
    return builder.bodies[0].mass


def read_pose(table: Table, prefix: str = "") -> Pose:
    """A frame from the keys `at` and `turned`."""
    position = table.numbers(f"{prefix}at", (3,), (0.0, 0.0, 0.0))
    table.within(f"{prefix}at", FARTHEST, position)
    with table.blaming(f"{prefix}at"):
        place = Pose(position)
    return Pose(place.position, read_rotation(table, f"{prefix}turned"))


def read_rotation(table: Table, key: str) -> FloatArray:
    """`[w, x, y, z]`, or `{ axis = "x", degrees = 90 }`; no rotation when the key is absent."""
    given = table.take(key, [1.0, 0.0, 0.0, 0.0])
    if not isinstance(given, dict):
        quaternion = table.as_numbers(given, key, (4,))
        with table.blaming(key):
            return unit_quaternion(quaternion)
    inner = table.as_table(given, key, f"{key!r} of {table.what}")
    axis = read_axis(inner, inner.take("axis"), "axis")
    degrees = inner.number("degrees")
    inner.finish()
    with inner.blaming():
        return unit_quaternion(turn(axis, degrees))


def read_axis(table: Table, value: object, key: str) -> FloatArray:
    """A direction of length 1 from a word or three numbers."""
    given = value if isinstance(value, str) else table.as_numbers(value, key, (3,))
    with table.blaming(key):
        return unit_vector(given, f"{key!r} of {table.what}")
