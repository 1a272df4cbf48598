"""Smallest and largest distance that an end-point can reach: the safe zones [Ramachandran & John 2013, 4.1].

Links of lengths r_i joined at their ends bring their two ends to any distance between

    max(0, 2 max r_i - Σ r_i)   and   Σ r_i:

straight at the most, and at the least the longest link with all others folded back along it. Joint axes and limits may
forbid some of these distances; no chain reaches others.
"""

from __future__ import annotations

import math

import numpy as np

from poise.figure.model.figure import Figure
from poise.figure.model.path import ancestors, nodes_of
from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture
from poise.kernels.body.queries import node_frames
from poise.kernels.body.tree import SLIDE


def safe_zones(lengths: FloatArray) -> tuple[float, float]:
    """Smallest and largest distance between the ends of links of these lengths [m]."""
    total, longest = math.fsum(lengths), max(lengths, default=0.0)
    others = math.fsum([*lengths, -longest])
    return max(0.0, longest - others), total


def can_reach(figure: Figure, tip: str, target: FloatArray, posture: Posture, held: frozenset[str]) -> bool:
    """Whether a position is neither too far for the segments nor too near; always True if a joint slides."""
    points, slides = _points(figure, tip, posture, held)
    least, most = safe_zones(np.linalg.norm(np.diff(points, axis=0), axis=1))
    return slides or least <= float(np.linalg.norm(target - points[0])) <= most


def _points(figure: Figure, tip: str, posture: Posture, held: frozenset[str]) -> tuple[FloatArray, bool]:
    """Positions of the joints that move a tip, then of the tip, and whether one of the joints slides."""
    compiled = figure.compiled
    still = nodes_of(figure, held)
    way = ancestors(compiled.tree, int(compiled.attached.node[figure.frame_row(tip)]))
    moving = [node for node in way if node not in still]
    position, _, _ = node_frames(compiled.tree, posture._q)
    slides = bool((compiled.tree.kind[moving] == SLIDE).any())
    return np.vstack([position[moving], figure.pose_of(tip, posture).position]), slides
