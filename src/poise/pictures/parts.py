"""The appearance of a figure: for every body the surfaces of its shapes, or bones if it has none."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

import numpy as np

from poise.errors import FormatError
from poise.figure.model.body import Body
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray, Frames, to_matrix
from poise.figure.model.shapes import Box, Capsule, Color, Cylinder, Ellipsoid, Mesh, Shape, Sphere
from poise.pictures.bones import bones, joint_places
from poise.pictures.surface import (
    ROUND_SEGMENTS,
    Surface,
    box,
    capsule,
    cylinder,
    ellipsoid,
    find_mesh,
    read_mesh,
    sphere,
    thinned,
)

MESHES_KEPT = 64
"""Number of meshes that are kept, because the same ones are drawn again and again."""


@dataclass(frozen=True)
class Part:
    """One coloured surface that is attached to a body."""

    body: int
    """Row in `Frames` of the body in whose frame the surface is."""
    surface: Surface
    color: Color | None
    """Colour; None for that of the theme."""
    is_bone: bool = False


@dataclass(frozen=True)
class Appearance:
    """All parts of a figure."""

    parts: tuple[Part, ...]
    extent: float
    """Size of the figure in its neutral posture [m]."""
    notes: tuple[str, ...]
    """One sentence for each shape that could not be drawn."""

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
    segments: int = ROUND_SEGMENTS,
) -> Appearance:
    """The appearance of a figure.

    Args:
        figure: The figure.
        skeleton: Use bones only.
        collision: Use collision shapes instead of visual ones.
        folder: Folder of the mesh files; None for that of the figure.
        segments: Segments around round shapes; below `ROUND_SEGMENTS`, meshes are simplified too.
    """
    notes: list[str] = []
    solids: list[list[Part]] = []
    for number, body in enumerate(figure.bodies):
        shapes = () if skeleton else _preferred_shapes(body.shapes, collision)
        others = () if skeleton else tuple(shape for shape in body.shapes if shape not in shapes)
        drawn = partial(_shape_parts, number, body, folder=folder or figure.folder, segments=segments)
        solids.append(drawn(shapes, notes=notes) or drawn(others, notes=[]))
    flat = tuple(part for row in solids for part in row)
    extent = _extent(figure, Appearance(flat, 0.0, ()))
    parts: list[Part] = []
    for number, (body, own) in enumerate(zip(figure.bodies, solids, strict=True)):
        parts += own or [Part(number, bones(figure, body.name, bone_radius(extent), segments), None, is_bone=True)]
    return Appearance(tuple(parts), extent, tuple(notes))


def bone_radius(extent: float) -> float:
    """Greatest radius of bones for a figure of this size [m]."""
    return 0.012 * extent


def _preferred_shapes(shapes: tuple[Shape, ...], collision: bool) -> tuple[Shape, ...]:
    """The visual or the collision shapes of a body; all its shapes if it has none of that role."""
    hidden = "visual" if collision else "collision"
    return tuple(shape for shape in shapes if shape.role != hidden) or shapes


def _shape_parts(
    number: int, body: Body, shapes: tuple[Shape, ...], *, folder: Path | None, segments: int, notes: list[str]
) -> list[Part]:
    """The parts of a body's shapes; a shape that cannot be drawn leaves a note."""
    parts = []
    for shape in shapes:
        try:
            parts.append(Part(number, surface_of(shape, folder, segments), shape.color))
        except (FormatError, OSError) as problem:
            notes.append(f"a mesh of body {body.name!r} is not drawn: {problem}")
    return parts


def surface_of(shape: Shape, folder: Path | None = None, segments: int = ROUND_SEGMENTS) -> Surface:
    """The surface of a shape, in the frame of its body."""
    return _surface_at_origin(shape, folder, segments).moved(shape.pose)


def _surface_at_origin(shape: Shape, folder: Path | None, segments: int) -> Surface:
    match shape:
        case Capsule():
            return capsule(shape.radius, shape.length, segments)
        case Cylinder():
            return cylinder(shape.radius, shape.length, segments)
        case Sphere():
            return sphere(shape.radius, segments)
        case Box():
            return box(shape.size)
        case Ellipsoid():
            return ellipsoid(shape.radii, segments)
        case Mesh():
            return _mesh(shape.path, folder, segments).stretched(shape.scale)
    raise FormatError(f"shapes of type {type(shape).__name__} cannot be drawn.")


def _mesh(reference: str, folder: Path | None, segments: int) -> Surface:
    found = find_mesh(reference, folder)
    if found is None:
        raise FormatError(f"the mesh file {reference!r} does not exist.")
    return kept_mesh(found, segments)


def kept_mesh(path: Path, segments: int = ROUND_SEGMENTS) -> Surface:
    """The surface in a mesh file, simplified below `ROUND_SEGMENTS`; it is read again only when the file changes."""
    return _kept_mesh(path, path.stat().st_mtime_ns, min(segments, ROUND_SEGMENTS))


@lru_cache(maxsize=MESHES_KEPT)
def _kept_mesh(path: Path, changed: int, segments: int) -> Surface:
    """The surface in a mesh file that was last changed at a time [ns], simplified below `ROUND_SEGMENTS`."""
    if segments == ROUND_SEGMENTS:
        return read_mesh(path)
    return thinned(_kept_mesh(path, changed, ROUND_SEGMENTS), segments)


def _extent(figure: Figure, solids: Appearance) -> float:
    """Diagonal of the bounding box of joints, frames and shapes in the neutral posture [m]; 1 for a single point."""
    frames = figure.frames(figure.neutral())
    joints = [place.on_parent.position for place in joint_places(figure, frames)]
    points = np.concatenate([frames.position, solids.vertices(frames), *(point[None] for point in joints)])
    size = float(np.linalg.norm(np.ptp(points, axis=0)))
    return size if size > 1e-9 else 1.0
