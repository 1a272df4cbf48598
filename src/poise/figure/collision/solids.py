"""Solids: shapes with their bounding capsules, as arrays for the distance kernels and as coal geometry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from poise.errors import FigureError
from poise.extras import require
from poise.figure.collision.mesh_files import find_mesh, read_triangles
from poise.figure.model.compiled import IntArray
from poise.figure.model.pose import FloatArray, Pose
from poise.figure.model.shapes import Box, Capsule, Cylinder, Ellipsoid, Mesh, Shape, Sphere
from poise.kernels.distances import solids as kernel

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure

NO_VERTICES = np.empty((0, 3))
"""Vertices of a solid that is no mesh."""
NO_TRIANGLES = np.empty((0, 3), dtype=np.int64)
"""Triangles of a solid that is no mesh."""
ROUND_KINDS = (kernel.SPHERE, kernel.CAPSULE)
"""Kinds that equal their bounding capsules."""
FORMULA_KINDS = (kernel.BOX, kernel.CYLINDER, kernel.ELLIPSOID)
"""Kinds with a formula for the signed distance of a point."""
SMOOTH_KINDS = (kernel.SPHERE, kernel.ELLIPSOID)
"""Kinds whose nearest point moves continuously, so that they need no extra rows."""


@dataclass(frozen=True)
class Core:
    """The bounding capsule of a solid, in the solid's frame."""

    start: FloatArray
    """(3,) one end of the axis [m]."""
    end: FloatArray
    """(3,) the other end [m]."""
    radius: float
    """[m]"""


@dataclass(frozen=True)
class Solid:
    """A colliding shape on a node of a figure's tree, or fixed to the world."""

    owner: str
    """Name of its body or obstacle."""
    node: int
    """Node that it is attached to; 0 for the world."""
    pose: Pose
    """Its frame in the node's frame."""
    kind: int
    """One of the kinds of `poise.kernels.distances.solids`."""
    size: tuple[float, float, float]
    """See `poise.kernels.distances.solids.Solids.size` [m]."""
    core: Core
    """Its bounding capsule."""
    vertices: FloatArray
    """(v, 3) vertices of a mesh, in its own frame [m]."""
    triangles: IntArray
    """(t, 3) triangles of a mesh."""
    is_obstacle: bool = False
    """Whether it belongs to an obstacle."""

    @cached_property
    def coal_mesh(self) -> Any:
        """The mesh as coal geometry, which takes long to make; it never changes, so that all measurements share it."""
        return _coal_mesh(self)

    @cached_property
    def ends(self) -> tuple[FloatArray, FloatArray]:
        """Both ends of the axis of its bounding capsule, in the node's frame [m]."""
        return self.pose.apply(self.core.start), self.pose.apply(self.core.end)


@dataclass(frozen=True)
class HalfSpace:
    """The half-space below the plane normal · x = offset, as an obstacle."""

    owner: str
    """Name of the obstacle."""
    normal: FloatArray
    """(3,) unit normal, towards the allowed side."""
    offset: float
    """[m]"""


def body_solids(figure: Figure, folder: Path | None = None) -> tuple[Solid, ...]:
    """All colliding shapes of a figure, body by body; meshes are looked for in `folder`, or in that of the figure."""
    return _solids_in(figure, folder or figure.folder)


@lru_cache(maxsize=64)
def _solids_in(figure: Figure, folder: Path | None) -> tuple[Solid, ...]:
    ride = figure.compiled.attached
    found = []
    for row, body in enumerate(figure.bodies):
        place = Pose(ride.position[row], ride.rotation[row])
        for shape in body.shapes:
            if shape.role != "visual":
                found.append(make_solid(shape, body.name, int(ride.node[row]), place, folder=folder))
    return tuple(found)


def make_solid(
    shape: Shape,
    owner: str,
    node: int,
    place: Pose,
    *,
    folder: Path | None = None,
    convex: bool = True,
    is_obstacle: bool = False,
) -> Solid:
    """The solid of a shape of a body fixed to `node` at `place`; a mesh is replaced by its hull if `convex`."""
    if isinstance(shape, Mesh):
        kind, size, core, vertices, triangles = _mesh(shape, owner, folder, convex)
    else:
        kind, size, core = _plain(shape)
        vertices, triangles = NO_VERTICES, NO_TRIANGLES
    return Solid(owner, node, place @ shape.pose, kind, size, core, vertices, triangles, is_obstacle)


def _plain(shape: Shape) -> tuple[int, tuple[float, float, float], Core]:
    """Kind, size and bounding capsule of a shape that is no mesh."""
    match shape:
        case Sphere(radius=r):
            return kernel.SPHERE, (r, r, r), _core((0.0, 0.0, 0.0), r)
        case Capsule(radius=r, length=long):
            return kernel.CAPSULE, (r, r, 0.5 * long), _core((0.0, 0.0, 0.5 * long), r)
        case Cylinder(radius=r, length=long):
            return kernel.CYLINDER, (r, r, 0.5 * long), _core((0.0, 0.0, 0.5 * long), r)
        case Box(size=(x, y, z)):
            half = (0.5 * x, 0.5 * y, 0.5 * z)
            return kernel.BOX, half, _around_box(np.zeros(3), half)
        case Ellipsoid(radii=radii):
            # (|x| - h)² + y² ≤ b² on x = a cos φ, y = b sin φ, b ≤ a needs h ≥ (a - b) cos φ.
            longest = int(np.argmax(radii))
            second = sorted(radii)[1]
            half_length = np.zeros(3)
            half_length[longest] = radii[longest] - second
            return kernel.ELLIPSOID, radii, _core(half_length, second)
    raise FigureError(f"a {type(shape).__name__} cannot collide: there are no distances for this shape.")


def _core(half_length: Sequence[float] | FloatArray, radius: float, center: FloatArray | None = None) -> Core:
    """The capsule from center - half_length to center + half_length."""
    middle = np.zeros(3) if center is None else center
    return Core(middle - np.asarray(half_length), middle + np.asarray(half_length), radius)


def _around_box(center: FloatArray, half: Sequence[float] | FloatArray) -> Core:
    """The bounding capsule of a box, along its longest edge."""
    along = np.zeros(3)
    longest = int(np.argmax(half))
    along[longest] = half[longest]
    return _core(along, float(np.linalg.norm(np.delete(half, longest))), center)


def _mesh(
    shape: Mesh, owner: str, folder: Path | None, convex: bool
) -> tuple[int, tuple[float, float, float], Core, FloatArray, IntArray]:
    """Read a mesh from its file; returns its kind, half the size of its box, bounding capsule, vertices, triangles."""
    path = find_mesh(shape.path, folder)
    if path is None:
        raise FigureError(
            f"the mesh {shape.path!r} of {owner!r} is not in {folder or Path.cwd()}, and distances need it: give the "
            "folder of the mesh files as folder=…, or make the shape visual."
        )
    vertices, triangles = read_triangles(path)
    vertices = vertices * np.asarray(shape.scale)
    if convex:
        vertices, triangles = _hull(vertices, shape.path, owner)
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    half = 0.5 * (high - low)
    core = _around_box(0.5 * (low + high), half)
    return kernel.HULL if convex else kernel.SURFACE, (half[0], half[1], half[2]), core, vertices, triangles


def _hull(vertices: FloatArray, path: str, owner: str) -> tuple[FloatArray, IntArray]:
    """Vertices and outward triangles of the convex hull."""
    require("scipy", "a mesh that collides", extra="collision")
    from scipy.spatial import ConvexHull, QhullError  # half a second, and only meshes need it

    try:
        hull = ConvexHull(vertices)
    except QhullError:
        raise FigureError(
            f"the mesh {path!r} of {owner!r} is flat, so it has no convex hull: give it some thickness."
        ) from None
    number = np.full(len(vertices), -1, dtype=np.int64)
    number[hull.vertices] = np.arange(len(hull.vertices))
    corners = vertices[hull.simplices]
    outward = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    flip = np.einsum("ij,ij->i", outward, hull.equations[:, :3]) < 0.0
    triangles = number[hull.simplices]
    triangles[flip] = triangles[flip][:, ::-1]
    return vertices[hull.vertices], triangles


def library() -> Any:
    """The coal library, imported when it is first needed."""
    require("coal", "avoiding meshes")
    return import_module("coal")


def coal_geometry(solid: Solid) -> Any:
    """The coal geometry of a solid, in its own frame."""
    coal = library()
    x, y, z = solid.size
    plain = {
        kernel.SPHERE: lambda: coal.Sphere(x),
        kernel.CAPSULE: lambda: coal.Capsule(x, 2.0 * z),
        kernel.CYLINDER: lambda: coal.Cylinder(x, 2.0 * z),
        kernel.BOX: lambda: coal.Box(2.0 * x, 2.0 * y, 2.0 * z),
        kernel.ELLIPSOID: lambda: coal.Ellipsoid(x, y, z),
    }
    return plain[solid.kind]() if solid.kind in plain else solid.coal_mesh


def _coal_mesh(solid: Solid) -> Any:
    """A hull or a surface as coal geometry."""
    coal = library()
    points, faces = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    points.extend(list(solid.vertices))
    faces.extend([coal.Triangle(*map(int, corners)) for corners in solid.triangles])
    if solid.kind == kernel.HULL:
        return coal.Convex(points, faces)
    surface = coal.BVHModelOBBRSS()
    surface.beginModel(len(faces), len(points))
    surface.addSubModel(points, faces)
    surface.endModel()
    return surface


def pack_solids(solids: Sequence[Solid]) -> kernel.Solids:
    """The arrays of these solids for the kernels."""
    hulls = [s.vertices if s.kind == kernel.HULL else NO_VERTICES for s in solids]
    vertices = np.concatenate([NO_VERTICES, *hulls])
    found = kernel.Solids(solids=len(solids), ends=len(solids) + 1, vertices=len(vertices), three=3, four=4)
    for k, s in enumerate(solids):
        found.kind[k], found.node[k], found.size[k], found.radius[k] = s.kind, s.node, s.size, s.core.radius
        found.position[k], found.rotation[k] = s.pose.position, s.pose.rotation
        found.start[k], found.end[k] = s.ends
    found.extent[:] = 0.5 * np.linalg.norm(found.end - found.start, axis=1) + found.radius
    found.vertex_start[:] = np.cumsum([0, *(len(hull) for hull in hulls)])
    found.vertices[:] = vertices
    return found
