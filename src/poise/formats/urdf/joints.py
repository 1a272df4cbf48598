"""Reads the joints of a URDF: kinds, axes, limits and mimics.

A <limit> is not read as the specification says where existing files mean something else. A joint whose <limit> has
neither `lower` nor `upper` is unlimited, and so is one whose four values are all 0, which exporters write for unknown
values. A `velocity` or `effort` of 0 means that the value is unknown, so it does not limit the joint either.
"""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass

from poise.figure.model.joints import Coupling, Joint, Kind, Term
from poise.figure.model.names import listing, suggestion
from poise.formats.text.xml_reader import Element
from poise.formats.urdf.links import read_origin

URDF_KINDS: dict[str, Kind] = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "fixed": "fixed",
    "planar": "planar",
    "floating": "free",
    "spherical": "ball",
    "ball": "ball",
}
"""Kinds of joints by URDF type: those of the specification, and the ball joints that some tools add."""

_WITH_AXIS = ("revolute", "prismatic", "planar")
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Limit:
    """Values of a <limit>, infinite where it has none."""

    lower: float = -math.inf
    upper: float = math.inf
    speed: float = math.inf
    strength: float = math.inf


def read_joint(element: Element) -> Joint:
    """Read a joint; the caller checks that its links exist."""
    name = element.text("name")
    written = element.text("type")
    if written not in URDF_KINDS:
        hint = suggestion(written, URDF_KINDS)
        raise element.error(f"joint {name!r} has the unknown type {written!r}.{hint} Types: {', '.join(URDF_KINDS)}.")
    kind = URDF_KINDS[written]
    limit = _read_limit(element, name)
    interval = written in ("revolute", "prismatic")
    with element.locating_errors():
        return Joint(
            name,
            kind,
            _link_of(element, "parent"),
            _link_of(element, "child"),
            (_read_axis(element, name),) if kind in _WITH_AXIS else (),
            parent_frame=read_origin(element),
            lower=(limit.lower,) if interval else (),
            upper=(limit.upper,) if interval else (),
            speed=limit.speed,
            strength=limit.strength,
        )


def _link_of(element: Element, role: str) -> str:
    end = element.child(role)
    if end is None:
        raise element.error(f"joint {element.text('name')!r} has no <{role}>.")
    return end.text("link")


def _read_axis(element: Element, joint: str) -> tuple[float, float, float]:
    axis = element.child("axis")
    if axis is None:
        return 1.0, 0.0, 0.0
    x, y, z = axis.numbers("xyz", 3, (1.0, 0.0, 0.0))
    if math.hypot(x, y, z) < 1e-12:
        raise axis.error(f"joint {joint!r} has an axis of length 0; give a direction.")
    return x, y, z


def _read_limit(element: Element, joint: str) -> Limit:
    limit = element.child("limit")
    if limit is None:
        return Limit()
    speed, strength = limit.limit("velocity", 0.0), limit.limit("effort", 0.0)
    for what, value in (("velocity", speed), ("effort", strength)):
        if value < 0.0:
            raise limit.error(f"joint {joint!r} has the negative {what} limit {value:g}.")
    lower, upper = limit.limit("lower", 0.0), limit.limit("upper", 0.0)
    given = "lower" in limit.attributes() or "upper" in limit.attributes()
    if not given or lower == upper == speed == strength == 0.0:
        lower, upper = -math.inf, math.inf
    if lower > upper or lower == math.inf or upper == -math.inf:
        raise limit.error(f"joint {joint!r} has its lower limit {lower:g} above its upper limit {upper:g}.")
    return Limit(lower, upper, speed or math.inf, strength or math.inf)


def read_mimics(elements: dict[str, Element], joints: dict[str, Joint]) -> list[Coupling]:
    """Read every <mimic> as a coupling; those of fixed joints are left out."""
    mimics = {name: mimic for name, element in elements.items() if (mimic := element.child("mimic")) is not None}
    leaders = {name: _leader(name, mimic, joints) for name, mimic in mimics.items() if joints[name].kind != "fixed"}
    for name in leaders:
        _refuse_circle(name, leaders, mimics[name])
    return [_coupling(joints[name], joints[leader], mimics[name]) for name, leader in leaders.items()]


def _leader(name: str, mimic: Element, joints: dict[str, Joint]) -> str:
    """The joint that joint `name` mimics.

    Some files add a prefix for each side to the joints of a hand but not to their <mimic> tags. If the named joint does
    not exist, but exactly one does whose name has the beginning of `name` before it, that one is taken.
    """
    wanted = mimic.text("joint")
    if wanted in joints:
        return wanted
    prefixed = {name[:length] + wanted for length in range(1, len(name))} & joints.keys() - {name}
    if len(prefixed) == 1:
        meant = prefixed.pop()
        _log.warning("%s: joint %r mimics %r, which does not exist; %r is taken.", mimic.path, name, wanted, meant)
        return meant
    hint = suggestion(wanted, joints)
    raise mimic.error(f"joint {name!r} mimics joint {wanted!r}, which does not exist.{hint} Joints: {listing(joints)}.")


def _refuse_circle(name: str, leaders: dict[str, str], mimic: Element) -> None:
    seen = [name]
    while (leader := leaders.get(seen[-1])) is not None:
        if leader == name:
            raise mimic.error(f"joints mimic each other in a circle: {' → '.join([*seen, name])}.")
        if leader in seen:
            return
        seen.append(leader)


def _coupling(follower: Joint, leader: Joint, mimic: Element) -> Coupling:
    """The coupling follower − multiplier × leader = offset; the value of a fixed leader is 0."""
    multiplier, offset = mimic.number("multiplier", 1.0), mimic.number("offset", 0.0)
    for joint in (follower, leader):
        if joint.kind not in ("revolute", "prismatic", "fixed"):
            raise mimic.error(f"joint {joint.name!r} is {joint.kind}; only joints with one value can mimic.")
    terms = [Term(follower.name)]
    low = high = offset
    with mimic.locating_errors():
        if multiplier != 0.0 and leader.kind != "fixed":
            terms.append(Term(leader.name, -multiplier))
            low, high = sorted(multiplier * bound + offset for bound in (leader.lower[0], leader.upper[0]))
        if low > follower.upper[0] or high < follower.lower[0]:
            own = f"{follower.lower[0]:g} … {follower.upper[0]:g}"
            raise mimic.error(
                f"joint {follower.name!r} cannot mimic joint {leader.name!r}, which puts it at {low:g} … {high:g}: "
                f"its own limits are {own}."
            )
        return Coupling(f"{follower.name}_mimics_{leader.name}", tuple(terms), offset, offset)
