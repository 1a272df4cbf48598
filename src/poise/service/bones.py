"""Figures made of bones, as animation programs have them.

A bone has a frame at its head, with +y along the bone. Its joint turns that frame against the parent's: a ball, or a
hinge or two where some of the three axes are locked. The value of a ball joint is the rotation that the bone has been
given relative to its rest, in its own axes at rest, which is what animation programs store as well.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from poise.errors import FigureError
from poise.figure.model.body import Body, Site
from poise.figure.model.figure import Figure, UpAxis
from poise.figure.model.joints import Joint, Kind
from poise.figure.model.limits import BallLimits, Ellipse, Polygon, Twist
from poise.figure.model.mass import Mass
from poise.figure.model.names import suggestion
from poise.figure.model.pose import FloatArray, Pose, from_matrix, from_to, turn
from poise.formats.text.naming import Names
from poise.formats.text.toml_tables import Table
from poise.kernels.maths.quaternion import Quaternion, multiply

Axis = Literal["x", "y", "z"]
Limits: TypeAlias = dict[Axis, tuple[float, float]]
BONE_AXES: tuple[Axis, ...] = ("x", "y", "z")
MOST_BONES = 2000
LIMB_OF_BONE = turn("x", -90.0)
"""(4,) frame whose z axis is the y axis of a bone, as limits of balls want it."""
WIDEST = 0.99 * math.pi
"""Largest radius of a swing [rad]; a wider limit does not count as one."""
NARROWEST = 1e-3
"""Least radius of a swing towards one side [rad]."""
POLYGON_CORNERS = 24
"""Corners of a swing region that is wider towards one side than towards the other."""
THICKNESS = 0.15
"""Radius of a bone that states no mass, as a share of its length: it then counts as a cylinder of flesh."""
FLESH = 1000.0
"""Density of flesh [kg/m³]."""
LARGEST_SHEAR = 1e-3
"""Largest difference between the matrix of a bone, without its scale, and a rotation."""


def figure_of_bones(tables: Sequence[Table], name: str, up: UpAxis) -> Figure:
    """The figure of bones that are given in any order.

    Args:
        tables: The bones: see `docs/serve.md` for their keys.
        name: Name of the figure.
        up: The axis of the world that points up.
    """
    if not tables or len(tables) > MOST_BONES:
        raise FigureError(f"a figure has 1 to {MOST_BONES} bones, not {len(tables)}.")
    rests = {str(table.text("name")): _rest(table) for table in tables}
    names = Names(rests)
    bodies, joints, sites = [], [], []
    for table in tables:
        bone, parent = str(table.text("name")), table.text("parent", None)
        if parent is not None and parent not in rests:
            raise table.error(f"{table.what} has the parent {parent!r}, which is no bone.{suggestion(parent, rests)}")
        length = table.number("length", _length(table))
        bodies.append(Body(bone, Mass(_mass(table, length), (0.0, length / 2.0, 0.0))))  # type: ignore[arg-type]
        frame = rests[bone] if parent is None else rests[parent].inverse() @ rests[bone]
        with table.locating_errors():
            joints.append(_joint(table, bone, parent, frame))
        sites.append(Site(names.take(f"{bone}.tail"), bone, Pose((0.0, length, 0.0))))
        table.finish("matrix", "head", "tail", "roll")
    return Figure(name, bodies, joints, sites=sites, up=up)


def _length(table: Table) -> float:
    if "head" not in table:
        return 0.0
    head, tail = table.numbers("head", (3,)), table.numbers("tail", (3,))
    return math.dist(head, tail)


def _mass(table: Table, length: float) -> float:
    """The mass that a bone states, or that of a cylinder of its length."""
    return table.number("mass", FLESH * math.pi * (THICKNESS * length) ** 2 * length)


def _rest(table: Table) -> Pose:
    """The frame of a bone at rest, from its matrix, or from head, tail and roll."""
    if "matrix" not in table:
        head, tail = table.numbers("head", (3,)), table.numbers("tail", (3,))
        with table.locating_errors("tail"):
            return Pose(head, _rolled(np.subtract(tail, head), table.number("roll", 0.0)))
    rows = [table.as_numbers(row, "matrix", (4,)) for row in table.array("matrix")]
    if len(rows) not in (3, 4):
        raise table.error(f"'matrix' of {table.what} must have 3 or 4 rows of 4 numbers.", "matrix")
    matrix = np.array(rows[:3])
    with table.locating_errors("matrix"):
        return Pose(matrix[:, 3], _nearest_rotation(matrix[:, :3], table.what))


def _nearest_rotation(matrix: FloatArray, what: str) -> FloatArray:
    """(4,) the rotation in a matrix (3, 3) that may also scale, and that is rounded."""
    lengths = np.linalg.norm(matrix, axis=0)
    if not (np.isfinite(lengths).all() and lengths.min() > 0.0):
        raise FigureError(f"the matrix of {what} is singular.")
    u, _, v = np.linalg.svd(matrix / lengths)
    rotation: FloatArray = u @ v
    if np.abs(rotation - matrix / lengths).max() > LARGEST_SHEAR:
        raise FigureError(f"the matrix of {what} has a shear: apply the scale of its object first.")
    return from_matrix(rotation)


def _rolled(along: FloatArray, roll: float) -> FloatArray:
    """(4,) the smallest rotation from +y to the direction of a bone, after a roll about +y.

    A bone along -y is turned about z, as Blender does.
    """
    size = float(np.linalg.norm(along))
    if size < 1e-9:
        raise FigureError("a bone has a length: its tail must not be at its head.")
    direct = turn("z", 180.0) if along[1] <= -size * (1.0 - 1e-12) else from_to("y", along)
    return np.array(multiply(Quaternion(*direct.tolist()), Quaternion(*turn("y", math.degrees(roll)).tolist())))


def _joint(table: Table, bone: str, parent: str | None, frame: Pose) -> Joint:
    """The joint of a bone: free if it also moves, else with the axes that are not locked."""
    moves = table.flag("moves", default=parent is None)
    limits = _limits(table)
    open_axes = [axis for axis in BONE_AXES if limits.get(axis, (-1.0, 1.0)) != (0.0, 0.0)]
    if moves:
        if limits:
            raise FigureError(f"{table.what} moves, and so has no limits.")
        return Joint(bone, "free", parent, bone, parent_frame=frame)
    if len(open_axes) == len(BONE_AXES):
        return Joint(bone, "ball", parent, bone, parent_frame=frame, ball_limits=_ball_limits(limits))
    # The twist about the bone comes last, so that limits of the other axis do not depend on it.
    order = sorted(open_axes, key=lambda axis: axis == "y")
    kind: Kind = ("fixed", "revolute", "universal")[len(order)]
    ranges = [limits.get(axis, (-math.inf, math.inf)) for axis in order]
    lower, upper = tuple(low for low, _ in ranges), tuple(high for _, high in ranges)
    axes = tuple(tuple(float(axis == other) for other in BONE_AXES) for axis in order)
    return Joint(bone, kind, parent, bone, axes, parent_frame=frame, lower=lower, upper=upper)  # type: ignore[arg-type]


def _limits(table: Table) -> Limits:
    """The least and greatest turns about the axes of a bone that have limits [rad]."""
    given = table.as_table(table.take("limits", {}), "limits", f"'limits' of {table.what}")
    found: Limits = {}
    for axis in BONE_AXES:
        if axis in given:
            low, high = given.numbers(axis, (2,))
            if low > high:
                raise given.error(f"the limits about {axis} of {table.what} are {low:g} to {high:g}: swap them.")
            found[axis] = (low, high)
    given.finish()
    return found


def _ball_limits(limits: Mapping[Axis, tuple[float, float]]) -> BallLimits | None:
    """Limits of a ball: turns about x and z bound the swing by quarters of ellipses, those about y the twist."""
    if not limits:
        return None
    for axis, (low, high) in limits.items():
        if low > 0.0 or high < 0.0:
            raise FigureError(f"limits of a bone that turns about three axes contain 0; those about {axis} do not.")
    swing = None
    if "x" in limits or "z" in limits:
        x = limits.get("x", (-math.pi, math.pi))
        low, high = limits.get("z", (-math.pi, math.pi))
        swing = _swing(x, (-high, -low))  # the y axis of `LIMB_OF_BONE` is the -z axis of the bone
    twist = Twist.between(*limits["y"]) if "y" in limits else None
    return BallLimits(swing, twist, cone=LIMB_OF_BONE, limb=LIMB_OF_BONE)


def _swing(x: tuple[float, float], y: tuple[float, float]) -> Ellipse | Polygon:
    """The region of swings (s_x, s_y) between these limits: an ellipse, or quarters of different ones."""
    radii = [min(max(abs(bound), NARROWEST), WIDEST) for bound in (*x, *y)]
    if radii[0] == radii[1] and radii[2] == radii[3]:
        return Ellipse(radii[0], radii[2])
    corners = []
    for angle in np.linspace(0.0, 2.0 * math.pi, POLYGON_CORNERS, endpoint=False):
        c, s = math.cos(angle), math.sin(angle)
        sx, sy = c * radii[int(c > 0.0)], s * radii[2 + int(s > 0.0)]
        size = math.hypot(sx, sy)
        across = math.sin(size) / size
        corners.append((sy * across, -sx * across, math.cos(size)))
    return Polygon(tuple(corners))


def value_of_rotation(joint: Joint, rotation: Any) -> list[float]:
    """The values of the joint of a bone that turn it by a rotation (4,), or nearly so, where axes are locked."""
    if joint.kind == "ball":
        return [float(part) for part in rotation]
    matrix = Pose(rotation=rotation).matrix
    axes = [np.array(axis) for axis in joint.axes]
    if joint.kind == "revolute":
        w, *xyz = (float(part) for part in rotation)
        return [math.remainder(2.0 * math.atan2(float(np.dot(axes[0], xyz)), w), 2.0 * math.pi)]
    if joint.kind == "universal":
        a, b = axes
        c = np.cross(a, b)
        turned, back = matrix @ b, matrix.T @ a
        return [math.atan2(turned @ c, turned @ b), math.atan2(back @ c, back @ a)]
    return []
