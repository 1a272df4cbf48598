"""The motion filter in the studio: its sliders' settings, what it did lately, and the limits beside that."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from poise.figure.model.posture import Posture
from poise.motion.filter.filter import MotionFilter
from poise.studio.session.driver import TICK
from poise.studio.session.samples import Samples

QUIET = 1e-3
"""Joints slower than this can be handed to another filter [rad/s]."""
RANGES: dict[str, tuple[float, float, float]] = {
    "velocity": (0.2, 12.0, 0.1),
    "acceleration": (2.0, 120.0, 1.0),
    "jerk": (20.0, 3000.0, 10.0),
    "smoothness": (0.0, 1.0, 0.01),
    "responsiveness": (0.0, 0.95, 0.01),
    "bounce": (0.0, 0.9, 0.01),
}
"""Least and greatest value and step of every slider."""
UNITS = {"velocity": "rad/s", "acceleration": "rad/s²", "jerk": "rad/s³"}
MOST_TRACES = 8
"""How many joints are plotted: the last ones, which move most."""


@dataclass(frozen=True)
class FilterSettings:
    """Limits and character of a motion: see `poise.MotionFilter`."""

    velocity: float = 4.0
    """[rad/s]"""
    acceleration: float = 30.0
    """[rad/s²]"""
    jerk: float = 600.0
    """[rad/s³]"""
    smoothness: float = 0.1
    responsiveness: float = 0.9
    bounce: float = 0.0

    def made(self) -> MotionFilter:
        """The filter."""
        return MotionFilter(**{setting.name: getattr(self, setting.name) for setting in fields(self)})

    def plots(self, joints: list[str]) -> dict[str, Any]:
        """The four plots of a figure's joints."""
        names = joints[-MOST_TRACES:]
        limits = {"velocity": self.velocity, "acceleration": self.acceleration, "jerk": self.jerk}
        plots: list[dict[str, Any]] = [{"title": "position", "unit": "°", "names": names, "limit": None, "faint": True}]
        plots += [
            {"title": what, "unit": UNITS[what], "names": names, "limit": limit} for what, limit in limits.items()
        ]
        return {"kind": "stream", "plots": plots}


class Filtered:
    """A filter that runs: where the figure is on its way to what the solver says."""

    def __init__(self, samples: Samples) -> None:
        """Begin without a figure; `samples` gets what the filter does."""
        self.samples = samples
        self._settings: FilterSettings | None = None
        self._filter: MotionFilter | None = None
        self._frames = 0

    def begin(self, posture: Posture) -> None:
        """Stand still in a posture."""
        self._filter, self._settings = None, None
        self._start = posture

    @property
    def is_still(self) -> bool:
        """Whether nothing moves."""
        return self._filter is None or bool(np.abs(self._filter.velocity).max(initial=0.0) < QUIET)

    def step(self, settings: FilterSettings, wanted: Posture) -> Posture:
        """The posture one frame on; new settings count once the figure has come to rest under the old ones."""
        if self._filter is None or (settings != self._settings and self.is_still):
            self._begin_filter(settings)
        assert self._filter is not None
        before = self._filter.acceleration
        waits = settings != self._settings
        goal = self._start._q if waits else wanted._q
        q = self._filter.step(goal, TICK)
        self._start = Posture(wanted.figure, q) if not waits else self._start
        self._note(wanted, q, before)
        return Posture(wanted.figure, q)

    def _begin_filter(self, settings: FilterSettings) -> None:
        at = self._filter.position if self._filter is not None else self._start._q
        figure = self._start.figure
        self._filter, self._settings = settings.made().within(figure), settings
        self._filter.reset(np.clip(at, figure.compiled.bounds.lower, figure.compiled.bounds.upper))

    def _note(self, wanted: Posture, q: np.ndarray[Any, np.dtype[np.float64]], before: Any) -> None:
        assert self._filter is not None
        kept = slice(-MOST_TRACES, None)
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


def shown(value: float) -> str:
    """A setting as its slider shows it."""
    return f"{value:.0f}" if value >= 10.0 else f"{value:.{2 if value < 1.0 else 1}f}"
