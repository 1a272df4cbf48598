"""The options that all chain solvers take by name, so that one can stand in for another."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypedDict

from poise.errors import TaskError
from poise.figure.model.figure import Figure, PostureLike
from poise.figure.model.names import suggestion
from poise.figure.model.posture import Posture


class Options(TypedDict, total=False):
    """What every chain solver takes by name."""

    tip: str | None
    """The site or body to move; a figure that does not branch needs none."""
    start: PostureLike | None
    """Where to begin; neutral when not given. It is moved inside the limits first."""
    hold: Iterable[str]
    """Joints that must stay as they are in `start`."""
    limits: bool
    """Whether joint limits count; they do when not given."""
    tolerance: float
    """Error that counts as none [m or rad]; 1e-6 when not given."""
    max_iterations: int
    """Sweeps, steps or passes to try; enough for most when not given."""
    trace: bool
    """Keep the posture after each iteration."""


@dataclass(frozen=True)
class Settings:
    """The options of one solve, checked and complete."""

    solver: str
    """Who asks, for errors."""
    tip: str | None
    start: Posture
    held: frozenset[str]
    """Joints that stay: those named, and a free base, which could simply be carried to the target."""
    limits: bool
    tolerance: float
    max_iterations: int
    trace: bool


def settle(solver: str, figure: Figure, options: Options, max_iterations: int) -> Settings:
    """Check the options of a solve and fill in the rest."""
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
        _begin(figure, options.get("start"), limits),
        frozenset([*hold, *(joint.name for joint in figure.joints if joint.kind == "free")]),
        limits,
        float(tolerance),
        int(most),
        bool(options.get("trace", False)),
    )


def _begin(figure: Figure, start: PostureLike | None, limits: bool) -> Posture:
    """The posture to begin in, inside the limits where they count."""
    if start is None:
        return figure.neutral()
    posture = figure.posture(start)
    return figure.clamp(posture) if limits and not _is_inside(figure, posture) else posture


def _is_inside(figure: Figure, posture: Posture) -> bool:
    """Whether a posture is inside limits that are all intervals, which is quick to see; others are not looked at."""
    bounds, q = figure.compiled.bounds, posture._q
    simple = not (bounds.ball_start.size or bounds.term_factor.size)
    return simple and bool(((bounds.lower <= q) & (q <= bounds.upper)).all())


def refuse_coupling(solver: str, figure: Figure, coupling: str) -> None:
    """Say that a solver moves every joint by itself."""
    raise TaskError(
        f"{solver} moves every joint by itself and cannot keep the coupling {coupling!r} of figure {figure.name!r}; "
        "poise.reach can, or release it with figure.replaced(couplings=())."
    )
