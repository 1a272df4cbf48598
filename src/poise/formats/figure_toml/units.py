"""Units of angles in figure files.

A file has `angles = "degrees"` or `angles = "radians"` (the default). This applies to: limits and posture values of
rotating coordinates, radii of swing ellipses, twist limits, bounds of couplings between rotating coordinates only, and
speeds of joints that only rotate. All other numbers are in metres, kilograms, seconds and radians.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from poise.figure.model.joints import COORDINATES, PRIMITIVES, Kind, Term
from poise.formats.text.toml_emit import Raw, number

ANGLE_KINDS: frozenset[Kind] = frozenset({"revolute", "universal", "elbow", "ball"})
"""Kinds of joints whose coordinates are all angles."""


class InexactError(Exception):
    """An angle in radians that no number of degrees converts to exactly."""


class Units:
    """Converts angles between a file and a figure."""

    def __init__(self, degrees: bool) -> None:
        """Whether the file's angles are in degrees."""
        self.degrees = degrees

    def read(self, value: float, power: int = 1) -> float:
        """The value in rad^power of a number in the file, for `power` 1, 0 or -1."""
        if not self.degrees or power == 0:
            return value
        return math.radians(value) if power > 0 else math.degrees(value)

    def write(self, value: float, power: int = 1) -> Raw:
        """The number for the file, which `read` converts back to `value` bit for bit."""
        if not self.degrees or power == 0:
            return Raw(number(value))
        back = math.degrees if power > 0 else math.radians
        return Raw(number(_preimage(value, lambda x: self.read(x, power), back(value))))

    def of(self, primitive: str) -> int:
        """The power of the angle unit in a coordinate: 1 for a turn, 0 for a slide."""
        return 1 if primitive == "turn" else 0


def _preimage(value: float, read: Callable[[float], float], guess: float) -> float:
    """The number with the fewest digits near `guess` that `read` converts to exactly `value`."""
    rounded = [float(f"{guess:.{digits}g}") for digits in range(1, 17)]
    for candidate in (*rounded, guess, math.nextafter(guess, math.inf), math.nextafter(guess, -math.inf)):
        if read(candidate) == value:
            return candidate
    raise InexactError


TWIST_POWERS = (1, 0, 0, -1, -1, -1)
"""Powers of the angle unit in the coefficients of 1, s_x, s_y, s_x², s_x s_y, s_y² of a twist limit."""


def value_powers(kind: Kind) -> tuple[int, ...]:
    """Powers of the angle unit in a joint's posture values; 0 for quaternions and positions."""
    sizes = {"turn": (1,), "slide": (0,), "ball": (0,) * 4, "free": (0,) * 7}
    return tuple(power for primitive in PRIMITIVES[kind] for power in sizes[primitive])


def coupling_power(terms: Sequence[Term], kinds: Mapping[str, Kind]) -> int:
    """Power of the angle unit in the bounds of a coupling: 1 if all its terms are angles, else 0."""
    return int(all(_is_angle(term, kinds.get(term.joint, "fixed")) for term in terms))


def _is_angle(term: Term, kind: Kind) -> bool:
    if kind in ANGLE_KINDS:
        return True
    names = COORDINATES[kind]
    name = names[0] if term.coordinate is None and len(names) == 1 else term.coordinate
    return name in names and PRIMITIVES[kind][names.index(name)] == "turn"
