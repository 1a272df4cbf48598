"""Checks of the arguments of a character; an invalid one raises an error of one sentence."""

from __future__ import annotations

import contextlib
import math
from numbers import Real
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from poise.arguments import shown
from poise.chains.targets import Gaze, GazeLike, facing, gaze
from poise.character.solver_thread import Solver
from poise.errors import FigureError, TaskError
from poise.figure.model.figure import Figure
from poise.figure.model.names import listing
from poise.figure.model.pose import FloatArray
from poise.motion.clip.clip import Clip
from poise.motion.filter.filter import MotionFilter

if TYPE_CHECKING:
    from poise.expressive.expressive import Hold

Target: TypeAlias = "GazeLike | str | None"


SHARE_OF_SPEED = 0.85
"""Fraction of the motion filter's speed that the solver uses, so that all joints arrive at the same time."""


def default_solver(figure: Figure, most: float, holds: Hold) -> Solver:
    """`poise.Expressive` for a figure whose joints turn by up to `most` per solve [rad]."""
    from poise.expressive.expressive import Expressive, ExpressiveSettings

    settings = ExpressiveSettings(rate=min(SHARE_OF_SPEED * most, math.pi))
    return Expressive(figure, hold=holds, settings=settings)


def check_figure(figure: Figure) -> None:
    """Raise an error if the argument is not a figure, or if its joints depend on each other."""
    if not isinstance(figure, Figure):
        raise TaskError(f"{shown(figure)} is no figure: poise.load makes one.")
    for what, names in (("loops", figure.loops.names), ("couplings", figure.couplings.names)):
        if names:
            raise FigureError(
                f"a character moves each joint by itself, and figure {figure.name!r} has {what}: {listing(names)}."
            )


def check_solver(solver: object) -> None:
    """Raise an error if the argument is neither None nor something that solves."""
    if solver is not None and not callable(getattr(solver, "solve", None)):
        raise TaskError(f"{shown(solver)} is no solver of a character: poise.Expressive(figure) is one.")


def own_clip(figure: Figure, clip: Clip) -> Clip:
    """Return a clip that this figure can play, or raise an error."""
    if not isinstance(clip, Clip):
        raise FigureError(f"{shown(clip)} is no clip: poise.load_clip reads one from a file.")
    if clip.figure is not figure and clip.figure.moving_joints != figure.moving_joints:
        raise FigureError(
            f"clip {clip.name!r} is of figure {clip.figure.name!r}, whose joints are "
            f"{listing(clip.figure.moving_joints)}; this character is {figure.name!r}: retarget it first."
        )
    return clip


def own_filter(figure: Figure, chosen: MotionFilter | None) -> MotionFilter:
    """A motion filter within the limits of this figure: the given one, or one with the speed of a fast servo."""
    if chosen is None:
        chosen = MotionFilter(velocity=6.0, acceleration=40.0, jerk=800.0)
    if not isinstance(chosen, MotionFilter):
        raise TaskError(f"{chosen!r} is no motion filter: poise.MotionFilter(velocity=…, acceleration=…, jerk=…) is.")
    return chosen.within(figure)


def gaze_of(target: GazeLike | str, roll: float | None) -> Gaze:
    """A target from a direction, a word for one, or any argument of `poise.chains.targets.gaze`."""
    if isinstance(target, str):
        return facing(target, roll)
    if not isinstance(target, Gaze):
        numbers: FloatArray = np.empty(0)
        with contextlib.suppress(TypeError, ValueError):
            numbers = np.asarray(target, dtype=np.float64)
        if numbers.shape == (3,):
            return facing(numbers, roll)
    return gaze(target)


def positive(what: str, number: float) -> float:
    """Return a number above 0, or raise an error."""
    if not (_is_finite(number) and number > 0.0):
        raise TaskError(f"the {what} of a character must be a positive number, not {number!r}.")
    return float(number)


def duration(what: str, seconds: float) -> float:
    """Return a non-negative number of seconds, or raise an error."""
    if not (_is_finite(seconds) and seconds >= 0.0):
        raise TaskError(f"the {what} must be a number of seconds from 0 up, not {seconds!r}.")
    return float(seconds)


def share(what: str, amount: float) -> float:
    """Return a number between 0 and 1, or raise an error."""
    if not (_is_finite(amount) and 0.0 <= amount <= 1.0):
        raise TaskError(f"the amount of {what} must be between 0 and 1, not {amount!r}.")
    return float(amount)


def _is_finite(number: object) -> bool:
    return isinstance(number, Real) and math.isfinite(number)
