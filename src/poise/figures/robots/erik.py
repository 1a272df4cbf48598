"""The seven skeletons on which ERIK was evaluated [Ribeiro & Paiva 2019, table 5].

Root and end segments are 0.1 m long, all others 0.3 m: the paper's 10 and 30 centimetres. The 40 in its DH table for
the tip is 30 + 10, because the twist joint has no offset there.
"""

from __future__ import annotations

from typing import NamedTuple

from poise.figure.model.figure import Figure
from poise.figures.robots.chains import chain


class Skeleton(NamedTuple):
    """Axes and limits of the hinges of one skeleton."""

    axes: str
    """One letter per hinge, from root to tip."""
    limits: float
    """Limits of every hinge, ± this [degrees]."""


ERIK_SKELETONS = {
    "erik_a": Skeleton("YXY", 90.0),
    "erik_b": Skeleton("YXZY", 180.0),
    "erik_c": Skeleton("YXXZY", 90.0),
    "erik_d": Skeleton("YXZXY", 180.0),
    "erik_e": Skeleton("YXZXY", 90.0),
    "erik_f": Skeleton("YXXZXY", 90.0),
    "erik_g": Skeleton("YXZXYXZY", 90.0),
}
"""The skeletons by figure name."""


def build(name: str) -> Figure:
    """The skeleton whose letter ends `name`."""
    axes, limits = ERIK_SKELETONS[name]
    middle = len(axes) - 2
    sentence = (
        f"Skeleton {name[-1].upper()} of the ERIK evaluation: {len(axes)} hinges about {'-'.join(axes)}, ±{limits:g}°."
    )
    return chain(axes, [0.1, *[0.3] * middle, 0.1], limits=limits, name=name, description=sentence)
