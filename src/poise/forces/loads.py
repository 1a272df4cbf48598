"""What acts on a figure: forces at its sites, supports that carry it, gravity [Baerlocher 2001, 6.2]."""

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
"""A shoe on a dry floor."""


def _numbers(value: ArrayLike | str, what: str) -> Numbers:
    x, y, z = vector(value, what).tolist()
    return x, y, z


@dataclass(frozen=True, init=False)
class Force:
    """A force and a torque of the environment on a site of the figure, as of a hand that pushes or carries."""

    site: str
    """Site or body on whose origin it acts."""
    force: Numbers
    """[N]"""
    torque: Numbers
    """[N m]"""
    axes: Axes
    """Whether both are given in world axes, or in those of the site and turn with it."""

    def __init__(
        self,
        site: str,
        force: ArrayLike | str = (0, 0, 0),
        torque: ArrayLike | str = (0, 0, 0),
        *,
        axes: Axes = "world",
    ) -> None:
        """Check the numbers; names are checked by whoever knows the figure."""
        if axes not in ("world", "site"):
            raise TaskError(f"the axes of the force on {site!r} must be 'world' or 'site', not {axes!r}.")
        object.__setattr__(self, "site", str(site))
        object.__setattr__(self, "force", _numbers(force, f"the force on {site!r}"))
        object.__setattr__(self, "torque", _numbers(torque, f"the torque on {site!r}"))
        object.__setattr__(self, "axes", axes)


@dataclass(frozen=True, init=False)
class Support:
    """A site by which the environment carries the figure: a foot on the ground, a hand on a rail.

    Supports carry the weight and all forces. Each takes its share; shares add up to one, supports without one divide
    what the others leave, and a negative share loads the figure further, as something it carries does. A support pushes
    along its normal, and sideways only as friction lets it: inside a cone of aperture atan(friction).
    """

    site: str
    """Site or body, at whose origin it carries."""
    share: float | None
    """Share of what acts along gravity."""
    brace: float | None
    """Share of what acts across gravity; supports brace as much as they bear, unless one of them says otherwise."""
    friction: float
    """Greatest ratio of sideways to normal force."""
    normal: Numbers | None
    """Unit normal of the ground in world axes; up unless given."""
    contacts: tuple[Numbers, ...] | None = field(default=None)
    """Points of the site's frame that touch [m]; unless given, the corners of its sole, or its origin on a wall."""

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
        """Check the numbers; names are checked by whoever knows the figure."""
        for what, value in (("share", share), ("brace", brace)):
            if value is not None and not math.isfinite(value):
                raise TaskError(f"the {what} of support {site!r} must be a finite number, not {value}.")
        if not math.isfinite(friction) or friction < 0.0:
            raise TaskError(f"the friction of support {site!r} must be zero or a positive number, not {friction}.")
        if contacts is not None and len(contacts) == 0:
            raise TaskError(f"support {site!r} needs at least one contact; leave them out to have them found.")
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
    """Gravity other than standard gravity along -up."""

    acceleration: Numbers
    """In world axes [m/s²]."""

    def __init__(self, acceleration: ArrayLike | str) -> None:
        """Check the numbers."""
        object.__setattr__(self, "acceleration", _numbers(acceleration, "gravity"))


Load: TypeAlias = "Force | Support | Gravity"


def shares_of(supports: Sequence[Support]) -> list[tuple[float, float]]:
    """Shares along and across gravity of all supports; each column adds up to one."""
    along = _completed([s.share for s in supports], "share")
    braced = any(s.brace is not None for s in supports)
    across = _completed([s.brace for s in supports], "brace") if braced else along
    return list(zip(along, across, strict=True))


def _completed(given: Sequence[float | None], what: str) -> list[float]:
    """Numbers for None such that all add up to one."""
    total, missing = math.fsum(value for value in given if value is not None), given.count(None)
    if missing == 0 and given and abs(total - 1.0) > 1e-9:
        raise TaskError(f"the {what}s of all supports must add up to 1, not to {total:g}; leave one out for the rest.")
    return [(1.0 - total) / missing if value is None else value for value in given]
