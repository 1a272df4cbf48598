"""Keeps hands out of the body, and legs out of each other, in every frame of a motion."""

from __future__ import annotations

from poise.figure.collision.self_distances import self_distances
from poise.figure.model.figure import Figure
from poise.kernels.motion.separation import Separation, make_separation

MARGIN = 0.01
"""Distance to keep between parts that are farther apart in the neutral posture [m]."""
DRAFT_SEPARATION_WEIGHT = 300.0
"""Weight of the springs in a draft, against that of a mapped point: a hand whose target is deep inside the body stays
out of it to a millimetre of the margin."""
FINAL_SEPARATION_WEIGHT = 100.0
"""Weight of the springs in the final solve, between those of the draft's postures and of the constraints."""


def separation(figure: Figure, weight: float, margin: float = MARGIN) -> Separation | None:
    """Springs that keep the parts of a figure apart by a margin [m]; None for a figure whose parts cannot collide."""
    found = self_distances(figure)
    if not found.pairs:
        return None
    tables = found.tables()
    tables.watched.reach[:] = found.allowed(margin)
    return make_separation(*tables, weight, figure.nv)


def is_made_of_hinges(figure: Figure) -> bool:
    """Whether a figure is a tree of hinges and slides on a base that may float, as most robots are."""
    return not len(figure.loops) and all(joint.nv <= 1 or joint.kind == "free" for joint in figure.joints)
