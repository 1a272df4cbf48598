"""What a figure looks like: for every body the surfaces of its shapes, or bones where it has none."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from poise.errors import FormatError
from poise.figure.model.body import Body
from poise.figure.model.figure import Figure
from poise.figure.model.frames import Frames
from poise.figure.model.pose import FloatArray, to_matrix
from poise.figure.model.shapes import Box, Capsule, Cylinder, Ellipsoid, Mesh, Shape, Sphere
from poise.pictures.bones import bones, joint_places
from poise.pictures.meshes import find_mesh, read_mesh, thinned
from poise.pictures.surface import AROUND, Surface, box, capsule, cylinder, ellipsoid, sphere

Color = tuple[float, float, float]


@dataclass(frozen=True)
class Part:
    """One coloured surface that rides on a body."""

    body: int
    """Number of the body, in whose frame the surface is."""
    surface: Surface
    color: Color | None
    """Red, green and blue in 0 … 1; None for the colour of the theme."""
    is_bone: bool = False


@dataclass(frozen=True)
class Appearance:
    """All parts of a figure."""

    parts: tuple[Part, ...]
    extent: float
    """Size of the figure in its neutral posture [m]."""
    notes: tuple[str, ...]
    """What could not be drawn, one sentence each."""

    def vertices(self, frames: Frames) -> FloatArray:
        """(v, 3) world vertices of all parts, one part after the other [m]."""
        rows = [
            part.surface.vertices @ to_matrix(frames.rotation[part.body]).T + frames.position[part.body]
            for part in self.parts
        ]
        return np.concatenate([np.empty((0, 3)), *rows])

    def normals(self, frames: Frames) -> FloatArray:
        """(v, 3) world normals of all parts, one part after the other."""
        rows = [part.surface.normals @ to_matrix(frames.rotation[part.body]).T for part in self.parts]
        return np.concatenate([np.empty((0, 3)), *rows])


def appearance(
    figure: Figure,
    *,
    skeleton: bool = False,
    collision: bool = False,
    folder: Path | None = None,
    around: int = AROUND,
) -> Appearance:
    """The parts of a figure.

    Args:
        figure: What to draw.
        skeleton: Draw bones only.
        collision: Draw the shapes that collide instead of those meant to be seen.
        folder: Where mesh files are looked for.
        around: Segments around what is round; with less than usual, meshes are simpler too.
    """
    notes: list[str] = []
    solids: list[list[Part]] = []
    for number, body in enumerate(figure.bodies):
        shapes = () if skeleton else _wanted(body.shapes, collision)
        others = () if skeleton else tuple(shape for shape in body.shapes if shape not in shapes)
        drawn = partial(_solids, number, body, folder=folder, around=around)
        solids.append(drawn(shapes, notes=notes) or drawn(others, notes=[]))
    flat = tuple(part for row in solids for part in row)
    extent = _extent(figure, Appearance(flat, 0.0, ()))
    parts: list[Part] = []
    for number, (body, own) in enumerate(zip(figure.bodies, solids, strict=True)):
        parts += own or [Part(number, bones(figure, body.name, bone_radius(extent), around), None, is_bone=True)]
    return Appearance(tuple(parts), extent, tuple(notes))


def bone_radius(extent: float) -> float:
    """How thick a bone looks right on a figure of this size [m]."""
    return 0.012 * extent


def _wanted(shapes: tuple[Shape, ...], collision: bool) -> tuple[Shape, ...]:
    """The shapes of the wanted role, or all where a body has none of it."""
    hidden = "visual" if collision else "collision"
    return tuple(shape for shape in shapes if shape.role != hidden) or shapes


def _solids(
    number: int, body: Body, shapes: tuple[Shape, ...], *, folder: Path | None, around: int, notes: list[str]
) -> list[Part]:
    """The parts of a body's shapes; a shape that cannot be drawn leaves a note."""
    parts = []
    for shape in shapes:
        try:
            parts.append(Part(number, surface_of(shape, folder, around), shape.color))
        except (FormatError, OSError) as problem:
            notes.append(f"a mesh of body {body.name!r} is not drawn: {problem}")
    return parts


def surface_of(shape: Shape, folder: Path | None = None, around: int = AROUND) -> Surface:
    """The surface of a shape in its body's frame."""
    return _unplaced(shape, folder, around).moved(shape.pose)


def _unplaced(shape: Shape, folder: Path | None, around: int) -> Surface:
    match shape:
        case Capsule():
            return capsule(shape.radius, shape.length, around)
        case Cylinder():
            return cylinder(shape.radius, shape.length, around)
        case Sphere():
            return sphere(shape.radius, around)
        case Box():
            return box(shape.size)
        case Ellipsoid():
            return ellipsoid(shape.radii, around)
        case Mesh():
            mesh = _mesh(shape.path, folder)
            return (mesh if around >= AROUND else thinned(mesh, around)).stretched(shape.scale)
    raise FormatError(f"shapes of type {type(shape).__name__} cannot be drawn.")


def _mesh(reference: str, folder: Path | None) -> Surface:
    found = find_mesh(reference, folder)
    if found is None:
        raise FormatError(f"there is no file {reference!r}.")
    return read_mesh(found)


def _extent(figure: Figure, solids: Appearance) -> float:
    """Diagonal of all joints, bodies, sites and solids in the neutral posture [m]; 1 for a figure of a single point."""
    frames = figure.frames(figure.neutral())
    joints = [place.on_parent.position for place in joint_places(figure, frames)]
    points = np.concatenate([frames.position, solids.vertices(frames), *(point[None] for point in joints)])
    size = float(np.linalg.norm(np.ptp(points, axis=0)))
    return size if size > 1e-9 else 1.0
