"""The keys of joints and loop joints in a `*.figure.toml`, read and written."""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np

from poise.errors import FigureError
from poise.figure.model.joints import KINDS, PRIMITIVES, Joint, Kind
from poise.figure.model.limits import BallLimits, Ellipse, Polygon, Region, Twist, TwistForm, TwistTable
from poise.formats.figure_toml.units import ANGLE_KINDS, TWIST_POWERS, Units
from poise.formats.figure_toml.values import (
    Keys,
    Pairs,
    Record,
    axis_value,
    key,
    pose_keys,
    read_axis,
    read_rotation,
    rotation_pairs,
    same_bits,
)
from poise.formats.text.toml_tables import Table

MOST_SWINGS = 1000
"""Largest number of swings along each side of a twist table."""
_BALL_KEYS = ("swing", "twist", "cone", "limb")


def joint_record(units: Units) -> Record[Joint]:
    """The table of a joint or loop joint."""
    return Record(
        Joint,
        key("name", Table.text),
        key("kind", lambda table, name: table.choice(name, KINDS)),
        key("parent", Table.text, None),
        key("child", Table.text),
        Keys(("axis", "axes"), _read_axes, _axes_pairs),
        pose_keys("parent_frame"),
        pose_keys("child_frame", "child_"),
        Keys(("limits",), lambda table: _read_limits(table, units), lambda joint: _limits_pairs(joint, units)),
        Keys(_BALL_KEYS, lambda table: _read_ball_limits(table, units), lambda joint: _ball_pairs(joint, units)),
        key("active", _read_active, True),
        Keys(
            ("speed",),
            lambda table: {"speed": units.read(table.number("speed", math.inf), _speed_power(table.take("kind")))},
            lambda joint: (
                {"speed": units.write(joint.speed, _speed_power(joint.kind))} if joint.speed < math.inf else {}
            ),
        ),
        key("strength", Table.number, math.inf),
        key("reversed", Table.flag, False),
    )


def _read_active(table: Table, name: str) -> bool:
    active = table.flag(name)
    if active and table.take("kind") == "fixed":
        raise table.error(
            f"{table.what} is fixed and cannot have a motor: change its kind, or leave 'active' out.", name
        )
    return active


def _speed_power(kind: Kind) -> int:
    return 1 if kind in ANGLE_KINDS else 0


def _read_axes(table: Table) -> dict[str, Any]:
    """The axes from `axis = "x"` or `axes = ["x", [0, 0, 1]]`."""
    if "axis" in table and "axes" in table:
        raise table.error(f"{table.what} has both 'axis' and 'axes'; give one.", "axes")
    name = "axis" if "axis" in table else "axes"
    listed = [table.take("axis")] if "axis" in table else table.array("axes")
    return {"axes": tuple(tuple(read_axis(table, value, name).tolist()) for value in listed)}


def _axes_pairs(joint: Joint) -> Pairs:
    """The key `axis` or `axes`, with the fewest axes from which the joint derives all of its axes."""
    for count in range(len(joint.axes)):
        given = joint.axes[-1:] if joint.kind == "planar" and count == 1 else joint.axes[:count]
        try:
            follows = Joint("", joint.kind, None, "", given).axes
        except FigureError:
            continue
        if same_bits(follows, joint.axes):
            break
    else:
        given = joint.axes
    if not given:
        return {}
    return {"axis": axis_value(given[0])} if len(given) == 1 else {"axes": [axis_value(axis) for axis in given]}


def _read_limits(table: Table, units: Units) -> dict[str, Any]:
    """Lower and upper limits from `limits = [low, high]`, or from one such pair per coordinate."""
    kind: Kind = table.take("kind")
    scalars = [primitive for primitive in PRIMITIVES[kind] if primitive in ("turn", "slide")]
    given = table.take("limits", [])
    if not given and isinstance(given, list):
        return {}
    rows = [given] if len(scalars) == 1 and isinstance(given, list) and not isinstance(given[0], list) else given
    if not isinstance(rows, list) or len(rows) != len(scalars) or not all(isinstance(row, list) for row in rows):
        count = "1 pair" if len(scalars) == 1 else f"{len(scalars)} pairs"
        takes = f"takes {count} of limits" if scalars else "takes no limits"
        raise table.error(f"{table.what} is {kind} and {takes}: one [low, high] per coordinate.", "limits")
    pairs = [
        [units.read(bound, units.of(primitive)) for bound in table.as_numbers(row, "limits", (2,))]
        for row, primitive in zip(rows, scalars, strict=True)
    ]
    return {"lower": tuple(low for low, _ in pairs), "upper": tuple(high for _, high in pairs)}


def _limits_pairs(joint: Joint, units: Units) -> Pairs:
    if all(low == -math.inf for low in joint.lower) and all(high == math.inf for high in joint.upper):
        return {}
    rows = [
        [units.write(low, units.of(primitive)), units.write(high, units.of(primitive))]
        for primitive, low, high in zip(joint.scalars, joint.lower, joint.upper, strict=True)
    ]
    return {"limits": rows[0] if len(rows) == 1 else rows}


def _read_ball_limits(table: Table, units: Units) -> dict[str, Any]:
    given = [name for name in _BALL_KEYS if name in table]
    swing, twist = _read_swing(table, units), _read_twist(table, units)
    cone, limb = read_rotation(table, "cone"), read_rotation(table, "limb")
    if not given:
        return {}
    with table.locating_errors(given[0]):
        return {"ball_limits": BallLimits(swing, twist, cone, limb)}


def _ball_pairs(joint: Joint, units: Units) -> Pairs:
    limits = joint.ball_limits
    if limits is None:
        return {}
    pairs: Pairs = {}
    if isinstance(limits.swing, Ellipse):
        pairs["swing"] = {"ellipse": [units.write(limits.swing.x), units.write(limits.swing.y)]}
    elif isinstance(limits.swing, Region):
        pairs["swing"] = {"loops": [loop.vertices for loop in limits.swing.loops]}
    elif limits.swing is not None:
        pairs["swing"] = {"polygon": limits.swing.vertices}
    elif limits.twist is None:
        pairs["swing"] = "any"
    if isinstance(limits.twist, TwistTable):
        grids = {name: [units.write(value) for value in getattr(limits.twist, name)] for name in ("x", "y")}
        tables = {
            name: [[units.write(v) for v in line] for line in getattr(limits.twist, name)]
            for name in ("lower", "upper")
        }
        pairs["twist"] = {**grids, **tables}
    elif limits.twist is not None:
        pairs["twist"] = [_twist_value(form, units) for form in (limits.twist.lower, limits.twist.upper)]
    return pairs | rotation_pairs("cone", limits.cone) | rotation_pairs("limb", limits.limb)


def _read_swing(table: Table, units: Units) -> Ellipse | Polygon | Region | None:
    """The swing limit: `{ ellipse = [r_x, r_y] }`, `{ polygon = [[x, y, z], …] }`, `{ loops = [polygon, …] }`."""
    given = table.take("swing", "any")
    if given == "any":
        return None
    region = table.as_table(given, "swing", f"'swing' of {table.what}")
    kinds = [name for name in ("ellipse", "polygon", "loops") if name in region]
    if len(kinds) > 1:
        raise region.error(f"{region.what} has both {kinds[0]!r} and {kinds[1]!r}; give one.")
    if kinds == ["polygon"]:
        polygon = _polygon(region, region.array("polygon"), "polygon")
        region.finish("ellipse", "loops")
        return polygon
    if kinds == ["loops"]:
        loops = [_polygon(region, rows, "loops") for rows in region.array("loops")]
        region.finish("ellipse", "polygon")
        with region.locating_errors("loops"):
            return Region(tuple(loops))
    radii = [units.read(radius) for radius in region.numbers("ellipse", (2,))]
    region.finish("polygon", "loops")
    with region.locating_errors("ellipse"):
        return Ellipse(*radii)


def _polygon(region: Table, rows: object, key: str) -> Polygon:
    """A polygon from its vertices."""
    if not isinstance(rows, list):
        raise region.error(f"{key!r} of {region.what} must be a list of vertices [x, y, z].", key)
    vertices = [tuple(region.as_numbers(row, key, (3,))) for row in rows]
    with region.locating_errors(key):
        return Polygon(cast("tuple[tuple[float, float, float], ...]", tuple(vertices)))


def _read_twist_table(table: Table, given: object, units: Units) -> TwistTable:
    """A twist limit from a table: `{ x = […], y = […], lower = [[…], …], upper = [[…], …] }`."""
    inner = table.as_table(given, "twist", f"'twist' of {table.what}")
    grids = [[units.read(value) for value in inner.numbers(name, range(2, MOST_SWINGS))] for name in ("x", "y")]
    limits = [
        [[units.read(value) for value in inner.as_numbers(line, name, (len(grids[1]),))] for line in inner.array(name)]
        for name in ("lower", "upper")
    ]
    inner.finish()
    with inner.locating_errors():
        return TwistTable(*(np.array(part) for part in (*grids, *limits)))


def _read_twist(table: Table, units: Units) -> Twist | TwistTable | None:
    """The twist limit: `twist = [low, high]`, each a number or up to six coefficients, or a table."""
    given = table.take("twist", None)
    if given is None:
        return None
    if isinstance(given, dict):
        return _read_twist_table(table, given, units)
    if not isinstance(given, list) or len(given) != 2:
        raise table.error(f"'twist' of {table.what} must be [low, high].", "twist")
    forms = []
    for side in given:
        numbers = table.as_numbers(side if isinstance(side, list) else [side], "twist", range(1, 7))
        forms.append([units.read(value, power) for value, power in zip(numbers, TWIST_POWERS, strict=False)])
    with table.locating_errors("twist"):
        return Twist.between(*forms)


def _twist_value(form: TwistForm, units: Units) -> object:
    coefficients = [units.write(value, power) for value, power in zip(form, TWIST_POWERS, strict=True)]
    while len(coefficients) > 1 and coefficients[-1] == "0":
        coefficients.pop()
    return coefficients[0] if len(coefficients) == 1 else coefficients
