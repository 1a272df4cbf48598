"""Critically damped followers: they go to a moving target without overshoot, and never jump.

A follower at x with velocity v goes to the target g as x'' = (g - x) / τ² - 2 x' / τ. Over a frame of length t in which
g stays, with e = x - g and c = v + e / τ, the solution is exact for frames of any length:

    x(t) = g + (e + c t) exp(-t / τ)        v(t) = (v - c t / τ) exp(-t / τ)

It trails a target that moves steadily by 2 τ.
"""

from __future__ import annotations

import math

import numpy as np

from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.kernels.body.tree import difference, integrate
from poise.motion.live.turning import Rotated


def moved(gap: FloatArray, velocity: FloatArray, lag: float, dt: float) -> tuple[FloatArray, FloatArray]:
    """The way gone in a frame towards a target at `gap` (g - x), and the velocity after it.

    Args:
        gap: (n,) vector to the target.
        velocity: (n,) velocity before the frame.
        lag: τ [s].
        dt: Length of the frame [s].
    """
    fade = math.exp(-dt / lag)
    pull = velocity - gap / lag
    return gap + (pull * dt - gap) * fade, (velocity - pull * (dt / lag)) * fade


class Point:
    """A follower of a point, or of several."""

    def __init__(self, place: FloatArray, lag: float) -> None:
        """Start at rest at a place (3,), or at places (k, 3); `lag` is τ [s]."""
        self.place, self.velocity, self.lag = np.array(place), np.zeros_like(place), lag

    def step(self, target: FloatArray, dt: float) -> None:
        """Go on for `dt` [s] towards `target`, of the same shape."""
        way, self.velocity = moved(target - self.place, self.velocity, self.lag, dt)
        self.place = self.place + way


class Turn:
    """A follower of rotations."""

    def __init__(self, turn: Rotated, lag: float) -> None:
        """Start at rest at a rotation; `lag` is τ [s]."""
        self.turn, self.velocity, self.lag = turn, np.zeros(3), lag

    def step(self, target: Rotated, dt: float) -> None:
        """Go on for `dt` [s] towards `target`."""
        way, self.velocity = moved((target * self.turn.inv()).as_rotvec(), self.velocity, self.lag, dt)
        self.turn = Rotated.by_vector(way) * self.turn


class PostureFollower:
    """A follower of postures, in the tangent space of the posture where it is."""

    def __init__(self, figure: Figure, q: FloatArray, lag: float) -> None:
        """Start at rest at a posture (nq,); `lag` is τ [s]."""
        self._tree, self.q, self.velocity, self.lag = figure.compiled.tree, q.copy(), np.zeros(figure.nv), lag
        self._gap, self._before = np.zeros(figure.nv), q.copy()

    def step(self, target: FloatArray, dt: float) -> FloatArray:
        """Go on for `dt` [s] towards `target` (nq,); returns the posture (nq,), which the next step overwrites."""
        self._before[:] = self.q
        difference(self._tree, self.q, target, self._gap)
        way, self.velocity = moved(self._gap, self.velocity, self.lag, dt)
        integrate(self._tree, self._before, way, self.q)
        return self.q
