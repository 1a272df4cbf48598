"""Reads the geoms of a MuJoCo model as shapes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from poise.figure.model.pose import FloatArray, Pose
from poise.figure.model.shapes import Box, Capsule, Color, Cylinder, Ellipsoid, Mesh, Role, Shape, Sphere
from poise.formats.mjcf.model import Mjcf, pose_of

FIRST_HIDDEN_GROUP = 3
"""First geom group that MuJoCo's viewers do not draw by default; such geoms are for collision only."""

_SPHERE_GEOM, _CAPSULE_GEOM, _ELLIPSOID_GEOM, _CYLINDER_GEOM, _BOX_GEOM, _MESH_GEOM = 2, 3, 4, 5, 6, 7
_GEOM_SHAPES: dict[int, Callable[[FloatArray, Pose, Role, Color], Shape]] = {
    _SPHERE_GEOM: lambda size, pose, role, color: Sphere(size[0], pose=pose, role=role, color=color),
    _CAPSULE_GEOM: lambda size, pose, role, color: Capsule(size[0], 2.0 * size[1], pose=pose, role=role, color=color),
    _ELLIPSOID_GEOM: lambda size, pose, role, color: Ellipsoid(tuple(size), pose=pose, role=role, color=color),
    _CYLINDER_GEOM: lambda size, pose, role, color: Cylinder(size[0], 2.0 * size[1], pose=pose, role=role, color=color),
    _BOX_GEOM: lambda size, pose, role, color: Box(tuple(2.0 * size), pose=pose, role=role, color=color),
}
"""Makers of shapes from MuJoCo's half sizes, by type of geom."""


def shapes_of(mjcf: Mjcf, body: int) -> tuple[Shape, ...]:
    """The shapes of a body; planes, height fields and meshes without a file are left out."""
    m = mjcf.model
    first, count = int(m.body_geomadr[body]), int(m.body_geomnum[body])
    shapes = (_shape(mjcf, geom) for geom in range(first, first + count))
    return tuple(shape for shape in shapes if shape is not None)


def _shape(mjcf: Mjcf, geom: int) -> Shape | None:
    m = mjcf.model
    kind = int(m.geom_type[geom])
    pose = pose_of(m.geom_pos[geom], m.geom_quat[geom])
    if kind in _GEOM_SHAPES:
        return _GEOM_SHAPES[kind](
            np.array(m.geom_size[geom], dtype=np.float64), pose, _role(mjcf, geom), _color(mjcf, geom)
        )
    return _mesh(mjcf, geom, pose) if kind == _MESH_GEOM else None


def _mesh(mjcf: Mjcf, geom: int, pose: Pose) -> Shape | None:
    """A mesh in the axes of its file, since MuJoCo moves meshes to their principal axes; None without a file."""
    m, mesh = mjcf.model, int(mjcf.model.geom_dataid[geom])
    start = int(m.mesh_pathadr[mesh])
    if start < 0:
        return None
    path = bytes(m.paths)[start:].split(b"\0", 1)[0].decode("utf-8", "replace")
    own = pose @ pose_of(m.mesh_pos[mesh], m.mesh_quat[mesh]).inverse()
    x, y, z = (float(s) for s in m.mesh_scale[mesh])
    return Mesh(path, (x, y, z), pose=own, role=_role(mjcf, geom), color=_color(mjcf, geom))


def _role(mjcf: Mjcf, geom: int) -> Role:
    m = mjcf.model
    if m.geom_contype[geom] == 0 and m.geom_conaffinity[geom] == 0:
        return "visual"
    return "collision" if m.geom_group[geom] >= FIRST_HIDDEN_GROUP else "both"


def _color(mjcf: Mjcf, geom: int) -> Color:
    m, material = mjcf.model, int(mjcf.model.geom_matid[geom])
    red, green, blue, _ = m.mat_rgba[material] if material >= 0 else m.geom_rgba[geom]
    return float(red), float(green), float(blue)
