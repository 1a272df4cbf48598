"""Linear relations between joints: fingers that curl together, hips that stop a knee (thesis 3.8)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from poise.errors import FigureError


@dataclass(frozen=True)
class Term:
    """`factor` times one coordinate of a joint."""

    joint: str
    factor: float = 1.0
    coordinate: str | None = None
    """Which coordinate; None for the only one of the joint."""

    def __post_init__(self) -> None:
        """Refuse factors that bind nothing."""
        if not math.isfinite(self.factor) or self.factor == 0.0:
            raise FigureError(f"the factor of joint {self.joint!r} in a coupling must be finite and not 0.")


@dataclass(frozen=True)
class Coupling:
    """lower ≤ Σ factor × coordinate ≤ upper; equal bounds make an equality."""

    name: str
    terms: tuple[Term, ...]
    lower: float = -math.inf
    upper: float = math.inf

    def __post_init__(self) -> None:
        """Refuse couplings that bind nothing or cannot be met."""
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
        """Whether it fixes the sum."""
        return self.lower == self.upper
