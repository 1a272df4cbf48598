"""Reads `*.figure.toml` files; every mistake in one raises a FormatError with file and line."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, cast

from poise.errors import FigureError, FormatError
from poise.figure.model.body import Body, Site
from poise.figure.model.figure import Figure, UpAxis
from poise.figure.model.joints import COORDINATES, Coupling, Kind, Term
from poise.figure.model.mass import Mass
from poise.figure.model.names import look_up, plural
from poise.figure.model.pose import Pose
from poise.figure.model.posture import JointValues
from poise.figure.model.shapes import ROLES, Role, Shape
from poise.formats.figure_toml.parts import (
    LARGEST_LENGTH,
    LARGEST_MASS,
    SHAPE_FIELDS,
    read_pose,
    read_rotation,
    spread_mass,
)
from poise.formats.figure_toml.read_joints import read_joint
from poise.formats.figure_toml.units import Units, coupling_power, value_powers
from poise.formats.text.files import read_bytes
from poise.formats.text.toml_tables import Source, Table, shown


def read_figure(path: str | Path) -> Figure:
    """Read the figure in a file."""
    return parse_figure(read_bytes(path), path)


def parse_figure(text: str | bytes, path: str | Path | None = None) -> Figure:
    """Parse a figure from text; `path` is for error messages only."""
    source = Source(text, Path(path) if path is not None else None)
    top = source.top
    units = Units(top.choice("angles", ("radians", "degrees"), "radians") == "degrees")
    parts = {what: top.tables(what, what) for what in ("body", "joint", "site", "loop", "coupling")}
    joints = [read_joint(table, units) for table in parts["joint"]]
    kinds: dict[str, Kind] = {joint.name: joint.kind for joint in joints}
    given: dict[str, Any] = {
        "name": top.text("name"),
        "bodies": [_body(table) for table in parts["body"]],
        "joints": joints,
        "sites": [_site(table) for table in parts["site"]],
        "loops": [read_joint(table, units) for table in parts["loop"]],
        "couplings": [_coupling(table, units, kinds) for table in parts["coupling"]],
        "postures": _postures(top, units, kinds),
        "up": cast("UpAxis", top.choice("up", ("x", "y", "z"), "y")),
        "placement": _placement(top),
        "description": top.text("description", ""),
    }
    top.finish()
    try:
        return Figure(**given)
    except FigureError as problem:
        raise _located(str(problem), source, parts) from None


def _located(reason: str, source: Source, parts: dict[str, list[Table]]) -> FormatError:
    """An error about the whole figure, at the line of the part that it mentions first; of two such parts, the later."""
    found: list[tuple[int, int, Table]] = []
    for what, tables in parts.items():
        for i, table in enumerate(tables):
            places = [reason.find(words) for words in _mentions(what, table.take("name"))]
            found += [(place, -i, table) for place in places if place >= 0]
    return min(found, key=lambda row: row[:2])[2].error(reason) if found else source.top.error(reason, "name")


def _mentions(what: str, name: str) -> tuple[str, ...]:
    """Phrases by which error messages of the figure mention a part."""
    word = "joint" if what == "loop" else what
    return (
        f"{word} {name!r}",
        f"{plural(word)} {name!r}",
        f"{plural(word)} named {name!r}",
        f"{name} exceeds its {word}",
    )


def _placement(top: Table) -> Pose:
    if "placement" not in top:
        return Pose()
    table = top.as_table(top.take("placement"), "placement", "'placement'")
    pose = read_pose(table)
    table.finish()
    return pose


def _body(table: Table) -> Body:
    name = table.text("name")
    shapes = tuple(_shape(shape) for shape in table.tables("shapes", f"shape of {table.what},"))
    mass = _mass(table, shapes)
    table.finish("mass", "density", "inertia")
    with table.locating_errors():
        return Body(name, mass, shapes)


def _mass(table: Table, shapes: tuple[Shape, ...]) -> Mass:
    mass = table.number("mass") if "mass" in table else None
    density = table.number("density") if "density" in table else None
    if density is not None and not 0.0 <= density < math.inf:
        raise table.error(f"'density' of {table.what} must be zero or a positive number, not {density:g}.", "density")
    key = "density" if density is not None else "mass"
    table.within(key, LARGEST_MASS, [mass or density or 0.0])
    explicit = "center" in table or "inertia" in table
    if density is not None and (explicit or mass is not None):
        raise table.error(f"{table.what} has a 'density' beside a 'mass', 'center' or 'inertia'; give one.", "density")
    with table.locating_errors(key):
        whole = Mass(mass or 0.0) if explicit else spread_mass(mass, density, shapes)
    center = table.numbers("center", (3,), whole.center.tolist())
    table.within("center", LARGEST_LENGTH, center)
    tensor = _inertia(table) if "inertia" in table else whole.inertia.tolist()
    table.within("inertia", LARGEST_MASS * LARGEST_LENGTH**2, [number for row in tensor for number in row])
    with table.locating_errors("inertia" if "inertia" in table else key):
        return Mass(mass if explicit and mass is not None else whole.mass, center, tensor)  # type: ignore[arg-type]


def _inertia(table: Table) -> list[list[float]]:
    """(3, 3) an inertia tensor from three principal moments, from xx, yy, zz, xy, xz, yz, or from three rows."""
    given = table.take("inertia")
    if isinstance(given, list) and given and isinstance(given[0], list):
        rows = [table.as_numbers(row, "inertia", (3,)) for row in given]
        if len(rows) == 3:
            return rows
    xx, yy, zz, *across = table.as_numbers(given, "inertia", (3, 6))
    xy, xz, yz = across or (0.0, 0.0, 0.0)
    return [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]


def _shape(table: Table) -> Shape:
    shape = read_shape(table)
    table.finish("color")
    return shape


def read_shape(table: Table, prefix: str = "") -> Shape:
    """A shape from a table, which may have other keys too; the keys of its pose begin with `prefix`."""
    kind = table.choice("kind", tuple(SHAPE_FIELDS))
    maker, fields = SHAPE_FIELDS[kind]
    sizes: dict[str, Any] = {}
    for field in fields:
        if field == "path":
            sizes[field] = table.text(field)
        elif field in ("radius", "length"):
            sizes[field] = table.number(field)
        else:
            sizes[field] = table.numbers(field, (3,), (1.0, 1.0, 1.0) if field == "scale" else None)
    pose = read_pose(table, prefix)
    role = cast("Role", table.choice("role", ROLES, "both"))
    color = tuple(table.numbers("color", (3,))) if "color" in table else None
    with table.locating_errors():
        return maker(**sizes, pose=pose, role=role, color=color)  # type: ignore[arg-type]


def _site(table: Table) -> Site:
    name, body = table.text("name"), table.text("body")
    pose = read_pose(table)
    table.finish()
    with table.locating_errors():
        return Site(name, body, pose)


def _coupling(table: Table, units: Units, kinds: dict[str, Kind]) -> Coupling:
    name = table.text("name")
    terms = _terms(table)
    for term in terms:
        with table.locating_errors("terms"):
            _check_term(term, kinds)
    power = coupling_power(terms, kinds)
    bounds = {key: units.read(table.number(key), power) for key in ("equals", "lower", "upper") if key in table}
    table.finish("equals", "lower", "upper")
    if "equals" in bounds and len(bounds) > 1:
        raise table.error(f"{table.what} has 'equals' beside 'lower' or 'upper'; give one.", "equals")
    lower = bounds.get("equals", bounds.get("lower", -math.inf))
    upper = bounds.get("equals", bounds.get("upper", math.inf))
    with table.locating_errors():
        return Coupling(name, terms, lower, upper)


def _terms(table: Table) -> tuple[Term, ...]:
    """The terms of a coupling: `{ hip = 1, shoulder.twist = 0.5 }` or `[{ joint = "hip", factor = 1 }, …]`."""
    given = table.take("terms")
    if isinstance(given, list):
        return tuple(_term(term) for term in table.tables("terms", f"term of {table.what},"))
    terms = []
    sums = table.as_table(given, "terms", f"'terms' of {table.what}")
    for joint, value in given.items():
        coordinates = value if isinstance(value, dict) else {None: value}
        for coordinate, factor in coordinates.items():
            with sums.locating_errors(joint):
                terms.append(Term(joint, sums.as_number(factor, joint), coordinate))
    return tuple(terms)


def _check_term(term: Term, kinds: dict[str, Kind]) -> None:
    kind = look_up(kinds, term.joint, "joint", "the figure")
    if term.coordinate is not None:
        look_up(dict.fromkeys(COORDINATES[kind]), term.coordinate, "coordinate", f"joint {term.joint!r}")


def _term(table: Table) -> Term:
    joint = table.text("joint")
    factor, coordinate = table.number("factor", 1.0), table.text("coordinate", None)
    table.finish()
    with table.locating_errors():
        return Term(joint, factor, coordinate)


def _postures(top: Table, units: Units, kinds: dict[str, Kind]) -> dict[str, JointValues]:
    """Joint values of the `[posture.name]` tables, by name."""
    all_postures = top.as_table(top.take("posture", {}), "posture", "'posture'")
    found: dict[str, JointValues] = {}
    for name in all_postures.keys():  # noqa: SIM118
        table = all_postures.as_table(all_postures.take(name), name, f"posture {name!r}")
        found[name] = {joint: read_values(table, joint, units, kinds) for joint in table.keys()}  # noqa: SIM118
    return found


def read_values(table: Table, joint: str, units: Units, kinds: dict[str, Kind]) -> tuple[float, ...]:
    """The values of one joint in the table of a posture."""
    if joint not in kinds:
        with table.locating_errors(joint):
            look_up(kinds, joint, "joint", "the figure")
    kind = kinds[joint]
    powers = value_powers(kind)
    given = table.take(joint)
    if kind == "ball" and isinstance(given, dict):
        return tuple(read_rotation(table, joint).tolist())
    if kind == "free" and isinstance(given, dict):
        place = table.as_table(given, joint, f"{joint!r} of {table.what}")
        pose = read_pose(place)
        place.finish()
        return (*pose.position.tolist(), *pose.rotation.tolist())
    numbers = [given] if len(powers) == 1 and not isinstance(given, list) else given
    values = table.as_numbers(numbers, joint, (len(powers),))
    for value in values:
        if math.isinf(value):
            raise table.error(f"{joint!r} of {table.what} must be finite, not {shown(given)}.", joint)
    return tuple(units.read(value, power) for value, power in zip(values, powers, strict=True))
