"""The motion filter of the expressive mode: its settings, its state, and its plots."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from poise.figure.model.posture import Posture
from poise.motion.filter.filter import MotionFilter
from poise.studio.session.driver import TICK
from poise.studio.session.samples import Samples

RESTING_SPEED = 1e-3
"""Largest joint speed at which new filter settings may replace the old ones [rad/s]."""
SLIDER_RANGES: dict[str, tuple[float, float, float]] = {
    "velocity": (0.2, 12.0, 0.1),
    "acceleration": (2.0, 120.0, 1.0),
    "jerk": (20.0, 3000.0, 10.0),
    "smoothness": (0.0, 1.0, 0.01),
    "responsiveness": (0.0, 0.95, 0.01),
    "bounce": (0.0, 0.9, 0.01),
}
"""Smallest value, largest value and step of every slider."""
FILTER_UNITS = {"velocity": "rad/s", "acceleration": "rad/s²", "jerk": "rad/s³"}
JOINTS_PLOTTED = 8
"""Number of joints that are plotted: the last ones of the chain, which move most."""


@dataclass(frozen=True)
class FilterSettings:
    """Settings of the motion filter; see `poise.MotionFilter`."""

    velocity: float = 4.0
    """Velocity limit [rad/s]."""
    acceleration: float = 30.0
    """Acceleration limit [rad/s²]."""
    jerk: float = 600.0
    """Jerk limit [rad/s³]."""
    smoothness: float = 0.1
    """0 to 1."""
    responsiveness: float = 0.9
    """0 to 0.95."""
    bounce: float = 0.0
    """0 to 0.9."""

    def motion_filter(self) -> MotionFilter:
        """A motion filter with these settings."""
        return MotionFilter(**{setting.name: getattr(self, setting.name) for setting in fields(self)})

    def plots(self, joints: list[str]) -> dict[str, Any]:
        """Four plots of joints: position, velocity, acceleration and jerk."""
        names = joints[-JOINTS_PLOTTED:]
        limits = {"velocity": self.velocity, "acceleration": self.acceleration, "jerk": self.jerk}
        plots: list[dict[str, Any]] = [{"title": "position", "unit": "°", "names": names, "limit": None, "faint": True}]
        plots += [
            {"title": what, "unit": FILTER_UNITS[what], "names": names, "limit": limit}
            for what, limit in limits.items()
        ]
        return {"kind": "stream", "plots": plots}


class Filtered:
    """A running motion filter, which moves the figure towards the solver's postures."""

    def __init__(self, samples: Samples) -> None:
        """Start without a filter; `samples` receives the plotted values."""
        self.samples = samples
        self._settings: FilterSettings | None = None
        self._filter: MotionFilter | None = None
        self._frames = 0

    def begin(self, posture: Posture) -> None:
        """Reset the filter to rest in a posture."""
        self._filter, self._settings = None, None
        self._start = posture

    @property
    def is_still(self) -> bool:
        """Whether no joint moves."""
        return self._filter is None or bool(np.abs(self._filter.velocity).max(initial=0.0) < RESTING_SPEED)

    def step(self, settings: FilterSettings, wanted: Posture) -> Posture:
        """The posture after one frame; new settings apply once the figure has come to rest under the old ones."""
        if self._filter is None or (settings != self._settings and self.is_still):
            self._begin_filter(settings)
        assert self._filter is not None
        before = self._filter.acceleration
        waits = settings != self._settings
        goal = self._start._q if waits else wanted._q
        q = self._filter.step(goal, TICK)
        self._start = Posture(wanted.figure, q) if not waits else self._start
        self._add_sample(wanted, q, before)
        return Posture(wanted.figure, q)

    def _begin_filter(self, settings: FilterSettings) -> None:
        at = self._filter.position if self._filter is not None else self._start._q
        figure = self._start.figure
        self._filter, self._settings = settings.motion_filter().within(figure), settings
        self._filter.reset(np.clip(at, figure.compiled.bounds.lower, figure.compiled.bounds.upper))

    def _add_sample(self, wanted: Posture, q: np.ndarray[Any, np.dtype[np.float64]], before: Any) -> None:
        assert self._filter is not None
        kept = slice(-JOINTS_PLOTTED, None)
        jerk = (self._filter.acceleration - before) / TICK
        self._frames += 1
        self.samples.add(
            [
                self._frames * TICK,
                *np.degrees(q)[kept],
                *np.degrees(wanted._q)[kept],
                *self._filter.velocity[kept],
                *self._filter.acceleration[kept],
                *jerk[kept],
            ]
        )


def setting_text(value: float) -> str:
    """The value of a setting as text."""
    return f"{value:.0f}" if value >= 10.0 else f"{value:.{2 if value < 1.0 else 1}f}"
