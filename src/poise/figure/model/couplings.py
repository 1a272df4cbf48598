"""Couplings: linear equations and inequalities between joint values [Baerlocher 2001, 3.8]."""

from __future__ import annotations

import math
from dataclasses import dataclass

from poise.errors import FigureError


@dataclass(frozen=True)
class Term:
    """`factor` times one coordinate of a joint."""

    joint: str
    """Name of the joint."""
    factor: float = 1.0
    """Factor of the coordinate."""
    coordinate: str | None = None
    """Name of the coordinate; None for a joint with only one."""

    def __post_init__(self) -> None:
        """Refuse factors that are zero or not finite."""
        if not math.isfinite(self.factor) or self.factor == 0.0:
            raise FigureError(f"the factor of joint {self.joint!r} in a coupling must be finite and not 0.")


@dataclass(frozen=True)
class Coupling:
    """lower ≤ Σ factor × coordinate ≤ upper; equal bounds make an equality."""

    name: str
    terms: tuple[Term, ...]
    """Terms of the linear form."""
    lower: float = -math.inf
    """Least value of the linear form."""
    upper: float = math.inf
    """Greatest value of the linear form."""

    def __post_init__(self) -> None:
        """Refuse couplings without effect or without a solution."""
        if not self.terms:
            raise FigureError(f"coupling {self.name!r} has no terms.")
        seen = [(term.joint, term.coordinate) for term in self.terms]
        if len(set(seen)) != len(seen):
            raise FigureError(f"coupling {self.name!r} names the same coordinate twice.")
        if math.isnan(self.lower) or math.isnan(self.upper) or self.lower > self.upper:
            raise FigureError(f"coupling {self.name!r} needs lower ≤ upper, not {self.lower} and {self.upper}.")
        if math.isinf(self.lower) and math.isinf(self.upper):
            raise FigureError(f"coupling {self.name!r} has neither a lower nor an upper bound.")

    @property
    def is_equality(self) -> bool:
        """Whether both bounds are equal."""
        return self.lower == self.upper
