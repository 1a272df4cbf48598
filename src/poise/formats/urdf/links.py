"""Reads the links of a URDF: mass, visual shapes and collision shapes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from poise.figure.model.body import Body
from poise.figure.model.mass import Mass
from poise.figure.model.pose import FloatArray, Pose
from poise.figure.model.shapes import Box, Capsule, Color, Cylinder, Mesh, Role, Shape, Sphere
from poise.formats.text.xml_reader import Element
from poise.kernels.maths.quaternion import about, multiply
from poise.kernels.maths.vector import Vector

X_AXIS, Y_AXIS, Z_AXIS = Vector(1.0, 0.0, 0.0), Vector(0.0, 1.0, 0.0), Vector(0.0, 0.0, 1.0)


def read_origin(owner: Element) -> Pose:
    """The pose in an element's <origin>; the identity without one."""
    origin = owner.child("origin")
    if origin is None:
        return Pose()
    position = origin.numbers("xyz", 3, (0.0, 0.0, 0.0))
    roll, pitch, yaw = origin.numbers("rpy", 3, (0.0, 0.0, 0.0))
    return Pose(np.array(position), _turned(roll, pitch, yaw))


def _turned(roll: float, pitch: float, yaw: float) -> FloatArray:
    """The quaternion of R_z(yaw) R_y(pitch) R_x(roll), rotations about fixed axes."""
    return np.array(multiply(multiply(about(Z_AXIS, yaw), about(Y_AXIS, pitch)), about(X_AXIS, roll)))


def read_colors(robot: Element) -> dict[str, Color]:
    """Colours of all named materials, by name, wherever in the file they are defined."""
    colors: dict[str, Color] = {}
    for element in robot.everything():
        if element.tag == "material" and element.node.get("name"):
            color = _own_color(element)
            if color is not None:
                colors.setdefault(element.text("name"), color)
    return colors


def read_link(link: Element, colors: dict[str, Color]) -> Body:
    """Read a link as a body."""
    shapes = [shape for part in link.children("visual", "collision") if (shape := _shape(part, colors)) is not None]
    with link.locating_errors():
        return Body(link.text("name"), _mass(link), tuple(shapes))


def _mass(link: Element) -> Mass:
    """Mass, centre and inertia in the link's frame; the file gives the inertia in the frame of <inertial>."""
    inertial = link.child("inertial")
    if inertial is None:
        return Mass()
    mass = inertial.child("mass")
    weight = mass.number("value") if mass is not None else 0.0
    tensor = inertial.child("inertia")
    with (mass or inertial).locating_errors():
        own = Mass(weight, inertia=_tensor(tensor) if tensor is not None else np.zeros((3, 3)))
    return own.moved(read_origin(inertial))


def _tensor(element: Element) -> FloatArray:
    xx, xy, xz = (element.number(name, 0.0) for name in ("ixx", "ixy", "ixz"))
    yy, yz, zz = (element.number(name, 0.0) for name in ("iyy", "iyz", "izz"))
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _shape(part: Element, colors: dict[str, Color]) -> Shape | None:
    """The shape of a <visual> or <collision>; None if one of its sizes is zero."""
    geometry = part.child("geometry")
    solid = geometry.child() if geometry is not None else None
    if geometry is None or solid is None:
        raise part.error(f"<{part.tag}> has no geometry.")
    if solid.tag not in _GEOMETRY_SHAPES:
        raise solid.error(f"<{solid.tag}> is not a geometry of URDF. Geometries: {', '.join(_GEOMETRY_SHAPES)}.")
    if solid.tag != "mesh" and _is_flat(solid):
        return None
    role: Role = "visual" if part.tag == "visual" else "collision"
    with solid.locating_errors():
        return _GEOMETRY_SHAPES[solid.tag](solid, read_origin(part), role, _color(part, colors))


def _is_flat(solid: Element) -> bool:
    """Whether one of the sizes is exactly zero."""
    sizes = solid.numbers("size", 3) if solid.tag == "box" else (solid.number("radius"),)
    return 0.0 in sizes or (solid.tag == "cylinder" and solid.number("length") == 0.0)


def _box(solid: Element, pose: Pose, role: Role, color: Color | None) -> Shape:
    x, y, z = solid.numbers("size", 3)
    return Box((x, y, z), pose=pose, role=role, color=color)


def _cylinder(solid: Element, pose: Pose, role: Role, color: Color | None) -> Shape:
    return Cylinder(solid.number("radius"), solid.number("length"), pose=pose, role=role, color=color)


def _capsule(solid: Element, pose: Pose, role: Role, color: Color | None) -> Shape:
    radius, length = solid.number("radius"), solid.number("length")
    if length == 0.0:
        return Sphere(radius, pose=pose, role=role, color=color)
    return Capsule(radius, length, pose=pose, role=role, color=color)


def _sphere(solid: Element, pose: Pose, role: Role, color: Color | None) -> Shape:
    return Sphere(solid.number("radius"), pose=pose, role=role, color=color)


def _mesh(solid: Element, pose: Pose, role: Role, color: Color | None) -> Shape:
    x, y, z = solid.numbers("scale", 3, (1.0, 1.0, 1.0))
    return Mesh(solid.text("filename"), (x, y, z), pose=pose, role=role, color=color)


_GEOMETRY_SHAPES: dict[str, Callable[[Element, Pose, Role, Color | None], Shape]] = {
    "box": _box,
    "cylinder": _cylinder,
    "sphere": _sphere,
    "capsule": _capsule,
    "mesh": _mesh,
}


def _color(part: Element, colors: dict[str, Color]) -> Color | None:
    """The colour inside a part's <material>, else that of the material which it names; None if neither is defined."""
    material = part.child("material")
    if material is None:
        return None
    own = _own_color(material)
    return own if own is not None else colors.get(material.node.get("name") or "")


def _own_color(material: Element) -> Color | None:
    color = material.child("color")
    if color is None:
        return None
    red, green, blue, _ = (min(max(part, 0.0), 1.0) for part in color.numbers("rgba", 4))
    return red, green, blue
