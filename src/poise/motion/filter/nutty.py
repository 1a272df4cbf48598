"""The Nutty Motion Filter as published [Ribeiro & Paiva 2019, eq. 23], for comparison only: use `MotionFilter`.

    χ = x + λ(ψ, velocity_limit)
    ψ = ẋ + λ((ξ − ẋ)/Δt, acceleration_limit)
    ξ = ẍ + λ(((v H(v) − ẋ)/Δt − ẍ)/Δt, jerk_limit)
    v = Ω((s − x)/Δt),     λ(x, k) = k/2 tanh(2x/k)
    H(v) = v/2 (tanh((|v|/(1−ρ))^(1−σ) − π) + 1)

Taken *literally*, each line adds a quantity one derivative too high, and the output diverges. The nearest *consistent*
reading multiplies by Δt where the units need it, takes k as the width of a range so that a limit L is λ(·, 2L), applies
H once, measures v in units of the velocity limit, and starts Ω at the middle of the range, where the printed Ω compares
x with half the width of the range:

    a = ẍ + Δt λ((a* − ẍ)/Δt, 2J),   a* = (H(v) − ẋ)/Δt
    ẋ ← ẋ + Δt λ(a, 2A),             x ← x + Δt λ(ẋ, 2V)

The consistent reading respects the limits of velocity and acceleration but not of jerk, is much slower than the limits
allow, and depends on the frame rate. `docs/filter.md` compares both readings with `MotionFilter`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from poise.figure.model.pose import FloatArray

Reading = Literal["literal", "consistent"]


@dataclass(frozen=True)
class NuttyFilter:
    """Equation 23 for one joint; the settings are those of `MotionFilter`."""

    velocity: float
    acceleration: float
    jerk: float
    lower: float = -math.inf
    upper: float = math.inf
    smoothness: float = 0.0
    responsiveness: float = 0.9
    beta: float = 1.0
    reading: Reading = "consistent"
    """Which of the two interpretations of the equation to use."""

    def run(self, setpoints: ArrayLike, rate: float, start: float = 0.0) -> FloatArray:
        """(frames,) output for (frames,) set-points at `rate` frames per second, from rest at `start`."""
        step = self._literal if self.reading == "literal" else self._consistent
        state = (start, 0.0, 0.0)
        out = []
        for setpoint in np.asarray(setpoints, dtype=np.float64).tolist():
            state = step(setpoint, state, 1.0 / rate)
            out.append(state[0])
        return np.array(out)

    def _literal(self, s: float, state: tuple[float, float, float], dt: float) -> tuple[float, float, float]:
        x, dx, ddx = state
        v = self._slowed((s - x) / dt, x, self._half)
        xi = ddx + _soft(((v * self._eased(v, 1.0) - dx) / dt - ddx) / dt, self.jerk)
        psi = dx + _soft((xi - dx) / dt, self.acceleration)
        x1 = x + _soft(psi, self.velocity)
        dx1 = (x1 - x) / dt
        return x1, dx1, (dx1 - dx) / dt

    def _consistent(self, s: float, state: tuple[float, float, float], dt: float) -> tuple[float, float, float]:
        x, dx, ddx = state
        v = self._eased(self._slowed((s - x) / dt, x, self.lower + self._half), self.velocity)
        a = ddx + dt * _soft(((v - dx) / dt - ddx) / dt, 2.0 * self.jerk)
        v1 = dx + dt * _soft(a, 2.0 * self.acceleration)
        x1 = x + dt * _soft(v1, 2.0 * self.velocity)
        dx1 = (x1 - x) / dt
        return x1, dx1, (dx1 - dx) / dt

    def _eased(self, v: float, unit: float) -> float:
        """H(v), with the speed inside the bracket in units of `unit`."""
        power = (abs(v) / (unit * (1.0 - self.responsiveness))) ** (1.0 - self.smoothness)
        return 0.5 * v * (math.tanh(power - math.pi) + 1.0)

    @property
    def _half(self) -> float:
        """α of Ω: half the width of the range of positions."""
        return 0.5 * (self.upper - self.lower)

    def _slowed(self, v: float, x: float, middle: float) -> float:
        """Ω(v): the velocity v, reduced when it leads away from `middle`, towards a position limit."""
        if not math.isfinite(self._half) or (x - middle) * v <= 0.0:
            return v
        share: float = (abs(x - self.lower - self._half) / self._half) ** (2.0 * self.beta)
        return v * (1.0 - share)


def _soft(x: float, k: float) -> float:
    """λ(x, k) = k/2 tanh(2x/k)."""
    return 0.5 * k * math.tanh(2.0 * x / k)
