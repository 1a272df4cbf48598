"""Reads the joints and loop joints of a `*.figure.toml`."""

from __future__ import annotations

import math
from typing import Any, cast

from poise.figure.model.joints import KINDS, PRIMITIVES, Joint, Kind
from poise.figure.model.limits import BallLimits, Ellipse, Polygon, Twist
from poise.formats.figure_toml.parts import read_axis, read_pose, read_rotation
from poise.formats.figure_toml.units import ANGLE_KINDS, TWIST_POWERS, Units
from poise.formats.text.toml_tables import Table

_BALL_KEYS = ("swing", "twist", "cone", "limb")


def read_joint(table: Table, units: Units) -> Joint:
    """A joint or loop joint from its table."""
    kind = cast("Kind", table.choice("kind", KINDS))
    given: dict[str, Any] = {
        "name": table.text("name"),
        "kind": kind,
        "parent": table.text("parent", None),
        "child": table.text("child"),
        "axes": _axes(table),
        "parent_frame": read_pose(table),
        "child_frame": read_pose(table, "child_"),
        "active": table.flag("active", True),
        "speed": units.read(table.number("speed", math.inf), 1 if kind in ANGLE_KINDS else 0),
        "strength": table.number("strength", math.inf),
        "reversed": table.flag("reversed", False),
    }
    if kind == "fixed" and "active" in table and given["active"]:
        raise table.error(
            f"{table.what} is fixed and cannot have a motor: change its kind, or leave 'active' out.", "active"
        )
    given["lower"], given["upper"] = _limits(table, kind, units)
    given["ball_limits"] = _ball_limits(table, units)
    table.finish("axis", "axes")
    with table.locating_errors():
        return Joint(**given)


def _axes(table: Table) -> tuple[tuple[float, ...], ...]:
    """The axes from `axis = "x"` or `axes = ["x", [0, 0, 1]]`."""
    if "axis" in table and "axes" in table:
        raise table.error(f"{table.what} has both 'axis' and 'axes'; give one.", "axes")
    listed = [table.take("axis")] if "axis" in table else table.array("axes")
    key = "axis" if "axis" in table else "axes"
    return tuple(tuple(read_axis(table, value, key).tolist()) for value in listed)


def _limits(table: Table, kind: Kind, units: Units) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Lower and upper limits from `limits = [low, high]`, or from one such pair per coordinate."""
    scalars = [primitive for primitive in PRIMITIVES[kind] if primitive in ("turn", "slide")]
    given = table.take("limits", [])
    if not given and isinstance(given, list):
        return (), ()
    rows = [given] if len(scalars) == 1 and isinstance(given, list) and not isinstance(given[0], list) else given
    if not isinstance(rows, list) or len(rows) != len(scalars) or not all(isinstance(row, list) for row in rows):
        takes = f"takes {len(scalars)} pairs of limits" if scalars else "takes no limits"
        raise table.error(f"{table.what} is {kind} and {takes}: one [low, high] per coordinate.", "limits")
    pairs = [
        [units.read(bound, units.of(primitive)) for bound in table.as_numbers(row, "limits", (2,))]
        for row, primitive in zip(rows, scalars, strict=True)
    ]
    return tuple(low for low, _ in pairs), tuple(high for _, high in pairs)


def _ball_limits(table: Table, units: Units) -> BallLimits | None:
    given = [key for key in _BALL_KEYS if key in table]
    swing, twist = _swing(table, units), _twist(table, units)
    cone, limb = read_rotation(table, "cone"), read_rotation(table, "limb")
    if not given:
        return None
    with table.locating_errors(given[0]):
        return BallLimits(swing, twist, cone, limb)


def _swing(table: Table, units: Units) -> Ellipse | Polygon | None:
    """The swing limit: `swing = { ellipse = [r_x, r_y] }`, `{ polygon = [[x, y, z], …] }` or `"any"`."""
    given = table.take("swing", "any")
    if given == "any":
        return None
    region = table.as_table(given, "swing", f"'swing' of {table.what}")
    if "ellipse" in region and "polygon" in region:
        raise region.error(f"{region.what} has both an ellipse and a polygon; give one.")
    if "polygon" in region:
        rows = [tuple(region.as_numbers(row, "polygon", (3,))) for row in region.array("polygon")]
        region.finish("ellipse")
        with region.locating_errors("polygon"):
            return Polygon(cast("tuple[tuple[float, float, float], ...]", tuple(rows)))
    radii = [units.read(radius) for radius in region.numbers("ellipse", (2,))]
    region.finish("polygon")
    with region.locating_errors("ellipse"):
        return Ellipse(*radii)


def _twist(table: Table, units: Units) -> Twist | None:
    """The twist limit: `twist = [low, high]`, each a number or up to six coefficients."""
    given = table.take("twist", None)
    if given is None:
        return None
    if not isinstance(given, list) or len(given) != 2:
        raise table.error(f"'twist' of {table.what} must be [low, high].", "twist")
    forms = []
    for side in given:
        numbers = table.as_numbers(side if isinstance(side, list) else [side], "twist", range(1, 7))
        forms.append([units.read(value, power) for value, power in zip(numbers, TWIST_POWERS, strict=False)])
    with table.locating_errors("twist"):
        return Twist.between(*forms)
