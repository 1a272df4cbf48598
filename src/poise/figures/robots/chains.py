"""`chain`: a serial chain of hinges, described by letters for their axes.

Each segment extends along +Y at rest and is moved by the hinge at its lower end, as in the skeletons of the ERIK papers
[Ribeiro & Paiva 2019, table 5]. The site "tip" at the end of the last segment points along its own +Y.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from poise.arguments import number, positive
from poise.errors import FigureError
from poise.figure.model.builder import Builder, revolute
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray, unit_vector
from poise.figure.model.shapes import Color
from poise.figures.parts import BLUE, DARK_GREY, GOLD, GREEN, RED, WHITE, bar, knob, rod

Interval = tuple[float, float]
Axes = str | Sequence[str | Sequence[float]]

WOOD_DENSITY = 400.0
"""Density of the segments, about that of pine [kg/m³]."""


def chain(
    axes: Axes,
    lengths: Sequence[float],
    *,
    limits: ArrayLike = 90.0,
    name: str = "chain",
    description: str = "",
) -> Figure:
    """A chain of hinges on segments along +Y.

        chain("YXXZY", lengths=[0.1, 0.3, 0.3, 0.3, 0.1], limits=90)

    Args:
        axes: One letter X, Y or Z per hinge, from the root up, each with an optional sign ("Y-XZ"); or a sequence whose
            items are such letters or axes as three numbers.
        lengths: Length of each segment [m]; 0 for hinges whose axes cross, as those of a pan-tilt bracket do, but
            not for the last one.
        limits: Limits of the hinges [degrees]: one number for ± that, a (lower, upper) pair, or one of these per
            hinge.
        name: Name of the figure.
        description: One sentence about the figure.
    """
    directions = _directions(axes)
    sizes = _sizes(lengths, len(directions))
    intervals = _intervals(limits, len(directions))
    thick = 0.08 * max(sizes)
    builder = Builder(name, description=description or _sentence(axes, len(directions)))
    upper = builder.body(
        "base", shapes=[rod((0, -0.5 * thick, 0), (0, 0, 0), 3.0 * thick, DARK_GREY)], density=WOOD_DENSITY
    )
    height = 0.0
    for k, (axis, size, interval) in enumerate(zip(directions, sizes, intervals, strict=True), start=1):
        joint = revolute(f"joint_{k}", axis, limits=interval)
        shapes = [
            bar((0, thick, 0), (0, max(size, 1.5 * thick), 0), 0.6 * thick, WHITE),
            knob((0, 0, 0), thick, _paint(axis)),
        ]
        upper = builder.body(
            f"segment_{k}", parent=upper, joint=joint, at=(0, height, 0), shapes=shapes, density=WOOD_DENSITY
        )
        height = size
    builder.site("tip", upper, at=(0, height, 0))
    return builder.build()


def _directions(axes: Axes) -> list[FloatArray]:
    """One unit vector per hinge."""
    words: Sequence[str | Sequence[float]] = axes
    if isinstance(axes, str):
        words = re.findall(r"[+-]?[XYZxyz]", axes)
        if "".join(words) != re.sub(r"[\s,]", "", axes):
            raise FigureError(
                f"the axes {axes!r} of a chain must be letters X, Y, Z with an optional sign, as in 'YX-Z'."
            )
    if not len(words):
        raise FigureError("a chain needs at least one axis.")
    return [unit_vector(word, "an axis of a chain") for word in words]


def _sizes(lengths: Sequence[float], count: int) -> list[float]:
    """Checked lengths of the segments [m]."""
    given = np.atleast_1d(np.asarray(lengths, dtype=object)).tolist()
    if len(given) != count:
        raise FigureError(f"a chain of {count} axes needs {count} lengths, not {len(given)}.")
    before = [number(size, "the length of a segment of a chain", least=0.0, error=FigureError) for size in given[:-1]]
    return [*before, positive(given[-1], "the length of the last segment of a chain", error=FigureError)]


def _intervals(limits: ArrayLike, count: int) -> list[Interval]:
    """(lower, upper) of every hinge [rad]."""
    if np.isscalar(limits) or _is_one_pair(limits, count):
        return [_interval(limits)] * count
    items = list(limits)  # type: ignore[arg-type]
    if len(items) != count:
        raise FigureError(f"a chain of {count} axes takes one limit, one pair, or {count} of these, not {len(items)}.")
    return [_interval(item) for item in items]


def _is_one_pair(limits: ArrayLike, count: int) -> bool:
    """Whether the limits are one (lower, upper) pair for all hinges; two positive numbers are limits of two hinges."""
    items = list(limits)  # type: ignore[arg-type]
    if len(items) != 2 or not all(np.isscalar(item) for item in items):
        return False
    return count != 2 or float(np.asarray(items[0])) < 0.0


def _interval(limit: ArrayLike) -> Interval:
    """(lower, upper) [rad] from a number or a pair [degrees]."""
    value = np.asarray(limit, dtype=np.float64)
    if value.shape not in ((), (2,)) or np.isnan(value).any():
        raise FigureError(
            f"a limit of a chain is one number of degrees or a (lower, upper) pair, not {value.tolist()}."
        )
    low, high = (-float(value), float(value)) if value.ndim == 0 else (float(value[0]), float(value[1]))
    if low > high:
        wrong = f"±{high:g}" if value.ndim == 0 else f"({low:g}, {high:g})"
        raise FigureError(
            f"a limit of a chain goes from a lower to an upper angle, and {wrong} does not: give ({-abs(high):g}, "
            f"{abs(high):g}) or {abs(high):g} for ±{abs(high):g} degrees."
        )
    return math.radians(low), math.radians(high)


def _paint(axis: FloatArray) -> Color:
    """Red for X, green for Y, blue for Z as in the papers' drawings; gold for an oblique axis."""
    k = int(np.argmax(np.abs(axis)))
    return (RED, GREEN, BLUE)[k] if abs(axis[k]) > 0.999 else GOLD


def _sentence(axes: Axes, count: int) -> str:
    """The default description."""
    return f"A chain of {count} hinges" + (f" about {axes}." if isinstance(axes, str) else ".")
