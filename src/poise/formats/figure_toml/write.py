"""Writes figures as `*.figure.toml` files that a person can edit; default values are left out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from poise.errors import FigureError, FormatError
from poise.figure.model.body import Body, Site
from poise.figure.model.figure import Figure
from poise.figure.model.joints import Coupling, Kind, Term
from poise.figure.model.mass import Mass
from poise.figure.model.pose import FloatArray
from poise.figure.model.shapes import Shape
from poise.formats.figure_toml.parts import SHAPE_FIELDS, spread_mass
from poise.formats.figure_toml.units import InexactError, Units, coupling_power, value_powers
from poise.formats.figure_toml.write_joints import Pairs, joint_pairs, pose_pairs, same_bits
from poise.formats.text.files import write_atomically
from poise.formats.text.toml_emit import Dotted, Raw, key, section


def write_figure(figure: Figure, path: str | Path) -> None:
    """Write `figure`, which reads back equal; if writing fails, an existing file stays unchanged."""
    if Path(path).suffix.lower() != ".toml":
        raise FormatError("figures are saved as TOML; the name of the file must end in .figure.toml.", path)
    try:
        data = figure_text(figure).encode("utf-8")
    except UnicodeEncodeError:
        raise FormatError("a name in the figure has characters that UTF-8 cannot encode.", path) from None
    write_atomically(path, data)


def figure_text(figure: Figure) -> str:
    """The text of the file, with angles in degrees if they are all exact and the text is no longer than in radians."""
    in_radians = _text(figure, Units(degrees=False))
    try:
        in_degrees = _text(figure, Units(degrees=True))
    except InexactError:
        return in_radians
    return in_degrees if len(in_degrees) <= len(in_radians) else in_radians


def _text(figure: Figure, units: Units) -> str:
    angles = "degrees" if units.degrees else "radians"
    lines = ["# A poise figure. Metres, kilograms, seconds; rotations are [w, x, y, z] or { axis, degrees }."]
    top: Pairs = {"name": figure.name}
    if figure.description:
        top["description"] = figure.description
    top |= {"up": figure.up, "angles": angles}
    if placement := pose_pairs(figure.placement):
        top["placement"] = placement
    lines += section("", top)[2:]
    for body in figure.bodies:
        lines += section("[[body]]", _body(body))
    for joint in figure.joints:
        lines += section("[[joint]]", joint_pairs(joint, units))
    for site in figure.sites:
        lines += section("[[site]]", _site(site))
    for loop in figure.loops:
        lines += section("[[loop]]", joint_pairs(loop, units))
    kinds = {joint.name: joint.kind for joint in figure.joints}
    for coupling in figure.couplings:
        lines += section("[[coupling]]", _coupling(coupling, units, kinds))
    for name in figure.posture_names:
        lines += section(f"[posture.{key(name)}]", posture_pairs(figure.named_values(name), units, kinds))
    return "\n".join(lines) + "\n"


def _body(body: Body) -> Pairs:
    pairs: Pairs = {"name": body.name} | _mass(body.mass, body.shapes)
    if body.shapes:
        pairs["shapes"] = [shape_pairs(shape) for shape in body.shapes]
    return pairs


def _mass(mass: Mass, shapes: Sequence[Shape]) -> Pairs:
    pairs: Pairs = {} if same_bits(mass.mass, 0.0) else {"mass": mass.mass}
    if _follows_from_mass(mass, shapes):
        return pairs
    pairs["center"] = mass.center.tolist()
    if not same_bits(mass.inertia, np.zeros((3, 3))):
        pairs["inertia"] = _inertia(mass.inertia)
    return pairs


def _follows_from_mass(mass: Mass, shapes: Sequence[Shape]) -> bool:
    """Whether the reader computes the same centre and inertia from the mass alone."""
    try:
        derived = spread_mass(mass.mass, None, shapes)
    except FigureError:
        return False
    pairs = ((derived.mass, mass.mass), (derived.center, mass.center), (derived.inertia, mass.inertia))
    return all(same_bits(a, b) for a, b in pairs)


def _inertia(tensor: FloatArray) -> list[float]:
    diagonal: list[float] = np.diag(tensor).tolist()
    across = [float(tensor[0, 1]), float(tensor[0, 2]), float(tensor[1, 2])]
    return diagonal if same_bits(across, [0.0] * 3) else diagonal + across


def shape_pairs(shape: Shape, prefix: str = "") -> Pairs:
    """The keys of a shape; those of its pose begin with `prefix`."""
    for kind, (maker, fields) in SHAPE_FIELDS.items():
        if type(shape) is maker:
            pairs: Pairs = {"kind": kind} | {field: getattr(shape, field) for field in fields}
            break
    else:
        raise FigureError(f"a shape of type {type(shape).__name__} cannot be saved; shapes: {', '.join(SHAPE_FIELDS)}.")
    if kind == "mesh" and same_bits(pairs["scale"], [1.0] * 3):
        del pairs["scale"]
    pairs |= pose_pairs(shape.pose, prefix)
    if shape.role != "both":
        pairs["role"] = shape.role
    if shape.color is not None:
        pairs["color"] = shape.color
    return pairs


def _site(site: Site) -> Pairs:
    return {"name": site.name, "body": site.body} | pose_pairs(site.pose)


def _coupling(coupling: Coupling, units: Units, kinds: dict[str, Kind]) -> Pairs:
    pairs: Pairs = {"name": coupling.name, "terms": _terms(coupling.terms)}
    power = coupling_power(coupling.terms, kinds)
    if same_bits(coupling.lower, coupling.upper):
        return pairs | {"equals": units.write(coupling.lower, power)}
    for word, bound in (("lower", coupling.lower), ("upper", coupling.upper)):
        if not math.isinf(bound):
            pairs[word] = units.write(bound, power)
    return pairs


def _terms(terms: Sequence[Term]) -> object:
    """Terms of a coupling as `{ hip = 1, shoulder.twist = 0.5 }`, or as an array if a table would lose their order."""
    joints = [term.joint for term in terms]
    grouped = sorted(joints, key=joints.index)
    plain = [term.joint for term in terms if term.coordinate is None]
    if joints != grouped or any(joints.count(joint) > 1 for joint in plain):
        return [
            {"joint": term.joint, "factor": term.factor}
            | ({} if term.coordinate is None else {"coordinate": term.coordinate})
            for term in terms
        ]
    return {
        Dotted((term.joint,) if term.coordinate is None else (term.joint, term.coordinate)): term.factor
        for term in terms
    }


def posture_pairs(values: Mapping[str, Sequence[float]], units: Units, kinds: dict[str, Kind]) -> Pairs:
    """The keys of a posture table: values by joint."""
    pairs: Pairs = {}
    for joint, numbers in values.items():
        written: list[Raw] = [
            units.write(value, power) for value, power in zip(numbers, value_powers(kinds[joint]), strict=True)
        ]
        pairs[joint] = written[0] if len(written) == 1 else written
    return pairs
