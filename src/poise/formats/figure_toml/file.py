"""Reads and writes `*.figure.toml` files: their top, bodies, sites, couplings and postures.

Every mistake in a file raises a FormatError with file and line.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from poise.errors import FigureError, FormatError
from poise.figure.model.body import Body, Site
from poise.figure.model.builder import Builder
from poise.figure.model.curves import Curve
from poise.figure.model.figure import Figure
from poise.figure.model.joints import COORDINATES, Coupling, Joint, Kind, Term
from poise.figure.model.mass import Mass
from poise.figure.model.names import look_up, plural
from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import JointValues
from poise.figure.model.shapes import Mesh, Shape
from poise.formats.figure_toml.joints import joint_record
from poise.formats.figure_toml.units import InexactError, Units, coupling_power
from poise.formats.figure_toml.values import (
    LARGEST_LENGTH,
    LARGEST_MASS,
    Keys,
    Pairs,
    Record,
    axis_value,
    key,
    pose_keys,
    pose_pairs,
    posture_pairs,
    read_axis,
    read_inner_pose,
    read_shape,
    read_values,
    same_bits,
    shape_pairs,
)
from poise.formats.text import toml_emit
from poise.formats.text.files import read_bytes, write_atomically
from poise.formats.text.toml_emit import Dotted, section
from poise.formats.text.toml_tables import Source, Table
from poise.kernels.body.curves import DEGREE

_HEADING = "# A poise figure. Metres, kilograms, seconds; rotations are [w, x, y, z] or { axis, degrees }."
_PLURALS = {"body": "bodies", "joint": "joints", "site": "sites", "loop": "loops", "coupling": "couplings"}
"""The tables of a file in their order, each with the field of a figure that it belongs to."""


def read_figure(path: str | Path) -> Figure:
    """Read the figure in a file."""
    return parse_figure(read_bytes(path), path)


def parse_figure(text: str | bytes, path: str | Path | None = None) -> Figure:
    """Parse a figure from text; `path` is its file, whose folder the names of meshes are relative to."""
    source = Source(text, Path(path) if path is not None else None)
    top = source.top
    units = Units(top.choice("angles", ("radians", "degrees"), "radians") == "degrees")
    tables = {what: top.tables(what, what) for what in _PLURALS}
    given_postures = top.take("posture", {})
    if isinstance(given_postures, list):
        raise top.error("each posture is a table by its name: write [posture.NAME], not [[posture]].", "posture")
    postures = top.as_table(given_postures, "posture", "'posture'")
    # Top-level keys first, so that a misspelt table is reported as unknown and not as missing.
    beside = None if path is None else Path(path).resolve().parent
    given: dict[str, Any] = _top_record(units, beside).read(top)
    # The joints before other parts: couplings and postures depend on their kinds.
    joints = [joint_record(units).read(table) for table in tables["joint"]]
    kinds = _kinds(joints)
    records = _records(units, kinds)
    given |= {
        field: joints if what == "joint" else [records[what].read(table) for table in tables[what]]
        for what, field in _PLURALS.items()
    }
    given["postures"] = _read_postures(postures, units, kinds)
    try:
        return Figure(**given)
    except FigureError as problem:
        raise _located(str(problem), source, tables) from None


def write_figure(figure: Figure, path: str | Path) -> None:
    """Write `figure`, which reads back equal; if writing fails, an existing file stays unchanged."""
    if Path(path).suffix.lower() != ".toml":
        raise FormatError("figures are saved as TOML; the name of the file must end in .figure.toml.", path)
    try:
        data = figure_text(figure, Path(path).resolve().parent).encode("utf-8")
    except UnicodeEncodeError:
        raise FormatError("a name in the figure has characters that UTF-8 cannot encode.", path) from None
    write_atomically(path, data)


def figure_text(figure: Figure, beside: Path | None = None) -> str:
    """The text of the file, with angles in degrees if they are all exact and the text is no longer than in radians.

    Args:
        figure: The figure.
        beside: The folder of the file; the folder of the figure's meshes is written relative to it.
    """
    in_radians = _text(figure, Units(degrees=False), beside)
    try:
        in_degrees = _text(figure, Units(degrees=True), beside)
    except InexactError:
        return in_radians
    return in_degrees if len(in_degrees) <= len(in_radians) else in_radians


def _text(figure: Figure, units: Units, beside: Path | None) -> str:
    kinds = _kinds(figure.joints)
    lines = [_HEADING, *section("", _top_record(units, beside).write(figure))[2:]]
    for what, record in _records(units, kinds).items():
        for part in getattr(figure, _PLURALS[what]):
            lines += section(f"[[{what}]]", record.write(part))
    for name in figure.posture_names:
        values = posture_pairs(figure.named_values(name), units, kinds)
        lines += section(f"[posture.{toml_emit.key(name)}]", values)
    return "\n".join(lines) + "\n"


def _kinds(joints: Iterable[Joint]) -> dict[str, Kind]:
    return {joint.name: joint.kind for joint in joints}


def _records(units: Units, kinds: Mapping[str, Kind]) -> dict[str, Record[Any]]:
    """The kinds of tables of a file, in their order."""
    joint = joint_record(units)
    return {"body": BODY, "joint": joint, "site": SITE, "loop": joint, "coupling": coupling_record(units, kinds)}


def _top_record(units: Units, beside: Path | None) -> Record[dict[str, Any]]:
    """The keys above all tables, of a file in the folder `beside`; `up` and `angles` are always written."""
    return Record(
        dict,
        key("name", Table.text),
        key("description", Table.text, ""),
        Keys(
            ("up", "angles"),
            lambda top: {"up": top.choice("up", ("x", "y", "z"), "y")},
            lambda figure: {"up": figure.up, "angles": "degrees" if units.degrees else "radians"},
        ),
        Keys(
            ("placement",),
            lambda top: {"placement": read_inner_pose(top, "placement", "'placement'")} if "placement" in top else {},
            lambda figure: {"placement": placement} if (placement := pose_pairs(figure.placement)) else {},
        ),
        Keys(("folder",), lambda top: _read_folder(top, beside), lambda figure: _folder_pairs(figure, beside)),
    )


def _read_folder(top: Table, beside: Path | None) -> dict[str, Any]:
    """The folder of the meshes, which the file gives relative to its own; its own if it gives none."""
    given = top.text("folder", ".")
    if "\0" in given:
        raise top.error("'folder' of the file is no name of a folder.", "folder")
    return {"folder": None if beside is None and given == "." else (beside or Path()) / given}


def _folder_pairs(figure: Figure, beside: Path | None) -> Pairs:
    if figure.folder is None or not any(isinstance(shape, Mesh) for body in figure.bodies for shape in body.shapes):
        return {}
    home = figure.folder.resolve()
    if beside is None:
        return {"folder": home.as_posix()}
    try:
        relative = Path(os.path.relpath(home, beside)).as_posix()
    except ValueError:  # another drive of Windows
        relative = home.as_posix()
    return {} if relative == "." else {"folder": relative}


def _read_postures(all_postures: Table, units: Units, kinds: Mapping[str, Kind]) -> dict[str, JointValues]:
    """Joint values of the `[posture.name]` tables, by name."""
    found: dict[str, JointValues] = {}
    for name in all_postures.keys():  # noqa: SIM118
        table = all_postures.as_table(all_postures.take(name), name, f"posture {name!r}")
        found[name] = {joint: read_values(table, joint, units, kinds) for joint in table.keys()}  # noqa: SIM118
    return found


def _located(reason: str, source: Source, tables: Mapping[str, list[Table]]) -> FormatError:
    """An error about the whole figure, at the line of the part that it mentions first; of two such parts, the later."""
    found: list[tuple[int, int, Table]] = []
    for what, parts in tables.items():
        for i, table in enumerate(parts):
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


def _read_body(table: Table) -> dict[str, Any]:
    shapes = tuple(_read_body_shape(shape) for shape in table.tables("shapes", f"shape of {table.what},"))
    return {"mass": _read_mass(table, shapes), "shapes": shapes}


def _read_body_shape(table: Table) -> Shape:
    shape = read_shape(table)
    table.finish("color")
    return shape


def _body_pairs(body: Body) -> Pairs:
    shapes = {"shapes": [shape_pairs(shape) for shape in body.shapes]} if body.shapes else {}
    return _mass_pairs(body.mass, body.shapes) | shapes


def _read_mass(table: Table, shapes: Sequence[Shape]) -> Mass:
    mass = table.number("mass") if "mass" in table else None
    density = table.number("density") if "density" in table else None
    if density is not None and not 0.0 <= density < math.inf:
        raise table.error(f"'density' of {table.what} must be zero or a positive number, not {density:g}.", "density")
    name = "density" if density is not None else "mass"
    table.within(name, LARGEST_MASS, [mass or density or 0.0])
    explicit = "center" in table or "inertia" in table
    if density is not None and (explicit or mass is not None):
        raise table.error(f"{table.what} has a 'density' beside a 'mass', 'center' or 'inertia'; give one.", "density")
    with table.locating_errors(name):
        whole = Mass(mass or 0.0) if explicit else _spread_mass(mass, density, shapes)
    center = table.numbers("center", (3,), whole.center.tolist())
    table.within("center", LARGEST_LENGTH, center)
    tensor = _read_inertia(table) if "inertia" in table else whole.inertia.tolist()
    table.within("inertia", LARGEST_MASS * LARGEST_LENGTH**2, [number for row in tensor for number in row])
    with table.locating_errors("inertia" if "inertia" in table else name):
        return Mass(mass if explicit and mass is not None else whole.mass, center, tensor)  # type: ignore[arg-type]


def _mass_pairs(mass: Mass, shapes: Sequence[Shape]) -> Pairs:
    pairs: Pairs = {} if same_bits(mass.mass, 0.0) else {"mass": mass.mass}
    if _follows_from_mass(mass, shapes):
        return pairs
    pairs["center"] = mass.center.tolist()
    if not same_bits(mass.inertia, np.zeros((3, 3))):
        pairs["inertia"] = _inertia_value(mass.inertia)
    return pairs


def _spread_mass(mass: float | None, density: float | None, shapes: Sequence[Shape]) -> Mass:
    """The mass of a body without centre and inertia in the file: spread over its shapes by volume.

    Mesh files are not opened, so meshes get no share; without other shapes the mass is a point at the origin.
    """
    solids = [shape for shape in shapes if not isinstance(shape, Mesh)]
    if density is not None and not solids:
        raise FigureError("a density needs shapes other than meshes; give a mass instead.")
    builder = Builder("")
    builder.body("body", shapes=solids, mass=mass, density=density)
    return builder.bodies[0].mass


def _follows_from_mass(mass: Mass, shapes: Sequence[Shape]) -> bool:
    """Whether the reader computes the same centre and inertia from the mass alone."""
    try:
        derived = _spread_mass(mass.mass, None, shapes)
    except FigureError:
        return False
    pairs = ((derived.mass, mass.mass), (derived.center, mass.center), (derived.inertia, mass.inertia))
    return all(same_bits(a, b) for a, b in pairs)


def _read_inertia(table: Table) -> list[list[float]]:
    """(3, 3) an inertia tensor from three principal moments, from xx, yy, zz, xy, xz, yz, or from three rows."""
    given = table.take("inertia")
    if isinstance(given, list) and given and isinstance(given[0], list):
        rows = [table.as_numbers(row, "inertia", (3,)) for row in given]
        if len(rows) == 3:
            return rows
    xx, yy, zz, *across = table.as_numbers(given, "inertia", (3, 6))
    xy, xz, yz = across or (0.0, 0.0, 0.0)
    return [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]


def _inertia_value(tensor: FloatArray) -> list[float]:
    diagonal: list[float] = np.diag(tensor).tolist()
    across = [float(tensor[0, 1]), float(tensor[0, 2]), float(tensor[1, 2])]
    return diagonal if same_bits(across, [0.0] * 3) else diagonal + across


FACING = Keys(
    ("facing",),
    lambda table: {"facing": read_axis(table, table.take("facing"), "facing")} if "facing" in table else {},
    lambda part: {} if part.facing is None else {"facing": axis_value(part.facing)},
)
"""The axis with which a body or site looks."""
BODY = Record(
    Body,
    key("name", Table.text),
    FACING,
    Keys(("mass", "density", "center", "inertia", "shapes"), _read_body, _body_pairs),
)
"""The table of a body."""
SITE = Record(Site, key("name", Table.text), key("body", Table.text), pose_keys("pose"), FACING)
"""The table of a site."""


def _read_curve(table: Table) -> dict[str, Any]:
    """The curve of a term, in the units of the file: `points = [[0, 0], [90, 30]]`, or `polynomial = [0, 1, 0.2]`."""
    given = [name for name in ("points", "polynomial") if name in table]
    if len(given) > 1:
        raise table.error(f"{table.what} has 'points' beside 'polynomial'; give one.", "points")
    if not given:
        return {}
    with table.locating_errors(given[0]):
        if given == ["polynomial"]:
            return {"curve": Curve(polynomial=tuple(table.numbers("polynomial", range(1, DEGREE + 2))))}
        pairs = [table.as_numbers(point, "points", (2,)) for point in table.array("points")]
        return {"curve": Curve(points=tuple((x, y) for x, y in pairs))}


TERM = Record(
    Term,
    key("joint", Table.text),
    key("factor", Table.number, 1.0),
    key("coordinate", Table.text, None),
    Keys(("points", "polynomial"), _read_curve, lambda term: {}),
)
"""The table of one term of a coupling."""


def coupling_record(units: Units, kinds: Mapping[str, Kind]) -> Record[Coupling]:
    """The table of a coupling between joints of these kinds."""
    return Record(
        Coupling,
        key("name", Table.text),
        Keys(
            ("terms", "equals", "lower", "upper"),
            lambda table: _read_coupling(table, units, kinds),
            lambda coupling: _coupling_pairs(coupling, units, kinds),
        ),
    )


def _read_coupling(table: Table, units: Units, kinds: Mapping[str, Kind]) -> dict[str, Any]:
    terms = _read_terms(table)
    for term in terms:
        with table.locating_errors("terms"):
            _check_term(term, kinds)
    power = coupling_power(terms, kinds)
    terms = tuple(_in_radians(term, units, kinds, power) for term in terms)
    bounds = {name: units.read(table.number(name), power) for name in ("equals", "lower", "upper") if name in table}
    if "equals" in bounds and len(bounds) > 1:
        raise table.error(f"{table.what} has 'equals' beside 'lower' or 'upper'; give one.", "equals")
    if "equals" in bounds:
        bounds = dict.fromkeys(("lower", "upper"), bounds["equals"])
    return {"terms": terms} | bounds


def _coupling_pairs(coupling: Coupling, units: Units, kinds: Mapping[str, Kind]) -> Pairs:
    power = coupling_power(coupling.terms, kinds)
    pairs: Pairs = {"terms": _terms_value(coupling.terms, units, kinds)}
    if same_bits(coupling.lower, coupling.upper):
        return pairs | {"equals": units.write(coupling.lower, power)}
    bounds = {"lower": coupling.lower, "upper": coupling.upper}
    return pairs | {name: units.write(bound, power) for name, bound in bounds.items() if not math.isinf(bound)}


def _read_terms(table: Table) -> tuple[Term, ...]:
    """The terms of a coupling: `{ hip = 1, shoulder.twist = 0.5 }` or `[{ joint = "hip", factor = 1 }, …]`.

    Only the second form has terms with curves.
    """
    given = table.take("terms")
    if isinstance(given, list):
        return tuple(TERM.read(term) for term in table.tables("terms", f"term of {table.what},"))
    terms = []
    sums = table.as_table(given, "terms", f"'terms' of {table.what}")
    for joint, value in given.items():
        coordinates = value if isinstance(value, dict) else {None: value}
        for coordinate, factor in coordinates.items():
            with sums.locating_errors(joint):
                terms.append(Term(joint, sums.as_number(factor, joint), coordinate))
    return tuple(terms)


def _in_radians(term: Term, units: Units, kinds: Mapping[str, Kind], power: int) -> Term:
    """A term whose curve's points are no longer in the units of the file; those of polynomials never are."""
    if term.curve is None or not term.curve.points:
        return term
    own = coupling_power([term], kinds)
    return replace(
        term, curve=Curve(points=tuple((units.read(x, own), units.read(y, power)) for x, y in term.curve.points))
    )


def _curve_pairs(curve: Curve | None, units: Units, own: int, power: int) -> Pairs:
    """The keys of a curve of a coordinate with this power of the angle unit, in a coupling with that one."""
    if curve is None:
        return {}
    if curve.polynomial:
        return {"polynomial": list(curve.polynomial)}
    return {"points": [[units.write(x, own), units.write(y, power)] for x, y in curve.points]}


def _terms_value(terms: Sequence[Term], units: Units, kinds: Mapping[str, Kind]) -> object:
    """Terms of a coupling as `{ hip = 1, shoulder.twist = 0.5 }`, or as an array if a table would lose their order."""
    joints = [term.joint for term in terms]
    grouped = sorted(joints, key=joints.index)
    plain = [term.joint for term in terms if term.coordinate is None]
    curved = any(term.curve is not None for term in terms)
    if curved or joints != grouped or any(joints.count(joint) > 1 for joint in plain):
        power = coupling_power(terms, kinds)
        return [
            {"joint": term.joint, "factor": term.factor}
            | TERM.write(term)
            | _curve_pairs(term.curve, units, coupling_power([term], kinds), power)
            for term in terms
        ]
    return {
        Dotted((term.joint,) if term.coordinate is None else (term.joint, term.coordinate)): term.factor
        for term in terms
    }


def _check_term(term: Term, kinds: Mapping[str, Kind]) -> None:
    kind = look_up(kinds, term.joint, "joint", "the figure")
    if term.coordinate is not None:
        look_up(dict.fromkeys(COORDINATES[kind]), term.coordinate, "coordinate", f"joint {term.joint!r}")
