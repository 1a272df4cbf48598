"""Loads on a figure: forces at its sites, supports that carry it, and gravity [Baerlocher 2001, 6.2]."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from numpy.typing import ArrayLike

from poise.errors import TaskError
from poise.figure.model.pose import unit_vector, vector

Axes = Literal["world", "site"]
Numbers: TypeAlias = "tuple[float, float, float]"

DEFAULT_FRICTION = 0.7
"""Coefficient of friction of a shoe on a dry floor."""


def _numbers(value: ArrayLike | str, what: str) -> Numbers:
    """Three finite numbers, from numbers or from a word for an axis."""
    x, y, z = vector(value, what).tolist()
    return x, y, z


@dataclass(frozen=True, init=False)
class Force:
    """A force and a torque of the environment on a site of the figure, such as a weight in its hand."""

    site: str
    """Name of the site or body on whose origin it acts."""
    force: Numbers
    """(3,) force [N]."""
    torque: Numbers
    """(3,) torque [N m]."""
    axes: Axes
    """"world" if force and torque are given in world axes; "site" if they are in the site's axes and turn with it."""

    def __init__(
        self,
        site: str,
        force: ArrayLike | str = (0, 0, 0),
        torque: ArrayLike | str = (0, 0, 0),
        *,
        axes: Axes = "world",
    ) -> None:
        """Check the numbers; the site is checked against a figure later."""
        if axes not in ("world", "site"):
            raise TaskError(f"the axes of the force on {site!r} must be 'world' or 'site', not {axes!r}.")
        object.__setattr__(self, "site", str(site))
        object.__setattr__(self, "force", _numbers(force, f"the force on {site!r}"))
        object.__setattr__(self, "torque", _numbers(torque, f"the torque on {site!r}"))
        object.__setattr__(self, "axes", axes)


@dataclass(frozen=True, init=False)
class Support:
    """A site by which the environment carries the figure: a foot on the ground, a hand on a rail.

    The supports together carry the weight and all forces. Each carries its share of this load. Shares add up to 1;
    supports without a share divide the rest equally. A negative share adds load to the figure, like something that it
    carries. The force of a support lies in its friction cone, whose half-angle is atan(friction) about the normal.
    """

    site: str
    """Name of the site or body at whose origin the support carries the figure."""
    share: float | None
    """Share of the load along gravity; None to divide what the other supports leave."""
    brace: float | None
    """Share of the load across gravity; if no support gives one, the same as `share`."""
    friction: float
    """Coefficient of friction: greatest ratio of tangential to normal force."""
    normal: Numbers | None
    """Unit normal of the ground in world axes; the figure's up vector if None."""
    contacts: tuple[Numbers, ...] | None = field(default=None)
    """Contact points in the site's frame [m]; if None, the corners of its sole, or its origin on a wall."""

    def __init__(
        self,
        site: str,
        share: float | None = None,
        *,
        brace: float | None = None,
        friction: float = DEFAULT_FRICTION,
        normal: ArrayLike | str | None = None,
        contacts: Sequence[ArrayLike] | None = None,
    ) -> None:
        """Check the numbers; the site is checked against a figure later."""
        for what, value in (("share", share), ("brace", brace)):
            if value is not None and not math.isfinite(value):
                raise TaskError(f"the {what} of support {site!r} must be a finite number, not {value}.")
        if not math.isfinite(friction) or friction < 0.0:
            raise TaskError(f"the friction of support {site!r} must be zero or a positive number, not {friction}.")
        if contacts is not None and len(contacts) == 0:
            raise TaskError(f"support {site!r} needs at least one contact; contacts=None uses the corners of its sole.")
        upright = None if normal is None else tuple(unit_vector(normal, f"the normal of support {site!r}").tolist())
        points = None if contacts is None else tuple(_numbers(p, f"a contact of {site!r}") for p in contacts)
        object.__setattr__(self, "site", str(site))
        object.__setattr__(self, "share", None if share is None else float(share))
        object.__setattr__(self, "brace", None if brace is None else float(brace))
        object.__setattr__(self, "friction", float(friction))
        object.__setattr__(self, "normal", upright)
        object.__setattr__(self, "contacts", points)


@dataclass(frozen=True, init=False)
class Gravity:
    """Gravity, where it is not the standard gravity against the figure's up vector."""

    acceleration: Numbers
    """(3,) acceleration of gravity in world axes [m/s²]."""

    def __init__(self, acceleration: ArrayLike | str) -> None:
        """Check the numbers."""
        object.__setattr__(self, "acceleration", _numbers(acceleration, "gravity"))


Load: TypeAlias = "Force | Support | Gravity"


def shares_of(supports: Sequence[Support]) -> list[tuple[float, float]]:
    """Shares along and across gravity of all supports; each of the two columns adds up to 1."""
    along = _completed([s.share for s in supports], "share")
    braced = any(s.brace is not None for s in supports)
    across = _completed([s.brace for s in supports], "brace") if braced else along
    return list(zip(along, across, strict=True))


def _completed(given: Sequence[float | None], what: str) -> list[float]:
    """Shares with each None replaced by an equal part of the rest, so that all add up to 1."""
    total, missing = math.fsum(value for value in given if value is not None), given.count(None)
    if missing == 0 and given and abs(total - 1.0) > 1e-9:
        raise TaskError(f"the {what}s of all supports must add up to 1, not to {total:g}; leave one out for the rest.")
    return [(1.0 - total) / missing if value is None else value for value in given]
