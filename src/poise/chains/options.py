"""Options that all chain solvers take by name, so that one solver can replace another."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypedDict

from poise.errors import TaskError
from poise.figure.model.figure import Figure, PostureLike
from poise.figure.model.names import suggestion
from poise.figure.model.posture import Posture


class Options(TypedDict, total=False):
    """Options that every chain solver takes by name."""

    tip: str | None
    """The site or body to move; a figure that does not branch needs none."""
    start: PostureLike | None
    """Initial posture; neutral by default. It is clamped to the limits first."""
    hold: Iterable[str]
    """Joints that keep their values in `start`."""
    limits: bool
    """Whether joint limits apply; True by default."""
    tolerance: float
    """The solve stops at this error [m or rad]; 1e-6 by default."""
    max_iterations: int
    """Largest number of sweeps, steps or passes; the default of each solver suffices in most cases."""
    trace: bool
    """Whether to record the posture after each iteration."""


@dataclass(frozen=True)
class Settings:
    """The options of one solve, checked and complete."""

    solver: str
    """Name of the solver, for error messages."""
    tip: str | None
    start: Posture
    held: frozenset[str]
    """Joints that stay fixed: those named, and a free base, which could otherwise simply be moved to the target."""
    limits: bool
    tolerance: float
    max_iterations: int
    trace: bool


def check_options(solver: str, figure: Figure, options: Options, max_iterations: int) -> Settings:
    """Check the options of a solve and fill in the defaults."""
    for name in options:
        if name not in Options.__annotations__:
            known = ", ".join(Options.__annotations__)
            hint = suggestion(name, Options.__annotations__)
            raise TypeError(f"{solver} has no option {name!r}.{hint} Options: {known}.")
    tolerance, most = options.get("tolerance", 1e-6), options.get("max_iterations", max_iterations)
    if not (tolerance >= 0.0 and most >= 0):
        raise TaskError(f"tolerance and max_iterations must not be negative, and they are {tolerance} and {most}.")
    hold = tuple(options.get("hold", ()))
    for name in hold:
        figure.q_slice(name)
    limits = bool(options.get("limits", True))
    return Settings(
        solver,
        options.get("tip"),
        _start_posture(figure, options.get("start"), limits),
        frozenset([*hold, *(joint.name for joint in figure.joints if joint.kind == "free")]),
        limits,
        float(tolerance),
        int(most),
        bool(options.get("trace", False)),
    )


def _start_posture(figure: Figure, start: PostureLike | None, limits: bool) -> Posture:
    """The initial posture, clamped to the limits if they apply."""
    if start is None:
        return figure.neutral()
    posture = figure.posture(start)
    return figure.clamp(posture) if limits and not _is_inside(figure, posture) else posture


def _is_inside(figure: Figure, posture: Posture) -> bool:
    """Whether a posture is certainly within limits: all limits are intervals, and all coordinates inside them."""
    bounds, q = figure.compiled.bounds, posture._q
    simple = not (bounds.ball_start.size or bounds.term_factor.size)
    return simple and bool(((bounds.lower <= q) & (q <= bounds.upper)).all())


def raise_coupling_error(solver: str, figure: Figure, coupling: str) -> None:
    """Raise an error: the solver moves every joint independently and cannot satisfy a coupling."""
    raise TaskError(
        f"{solver} moves every joint by itself and cannot keep the coupling {coupling!r} of figure {figure.name!r}; "
        "poise.reach can, or release it with figure.replaced(couplings=())."
    )
