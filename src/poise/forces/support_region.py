"""The region of the effective centre of mass in which supports without shares can balance the figure.

The effective centre of mass is the point O + w × T / w² at which the weight w alone would have the moment T about O of
weight and loads together (see `kernels.goals.goals.effective_center`). Without loads it is the centre of mass.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from poise.figure.model.figure import PostureLike
from poise.figure.model.pose import FloatArray, Pose
from poise.forces.acting import Acting
from poise.forces.balance import EDGE, Cut, Region
from poise.forces.reactions import Ground
from poise.kernels.forces.statics import net_wrench
from poise.kernels.maths.vector import Vector

IntArray = npt.NDArray[np.int64]

OUTLINE_SIZE = 4.0
"""Half the side of the square from which the region is cut, in sizes of the support."""
UNIT_SQUARE = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
"""(4, 2) corners of a square, counter-clockwise."""
NOWHERE = 1e3
"""Distance of the corners of an outline without a region [m]."""
MAX_PROBES = 60
"""Largest number of points at which the balance is tested."""
MIN_CORNER_SHIFT = 1e-5
"""Shift of a corner by a cut that counts as none [m]."""
MIN_CORNER_DISTANCE = 1e-4
"""Distance below which two corners are merged [m]."""


class SupportRegion(NamedTuple):
    """Outline of the region in which the effective centre of mass is balanced."""

    corners: FloatArray
    """(k, 3) corners at the height of the contacts; the last one is repeated to fill the array [m]."""
    node: IntArray
    """(k,) node of the contact nearest to each corner, with which the corner moves."""
    place: FloatArray
    """(k, 3) the corners in the frames of those nodes [m]."""
    possible: bool
    """Whether the region is not empty; if it is, the corners are so far away that nothing is outside."""


def support_region(acting: Acting, posture: PostureLike, about: FloatArray, count: int) -> SupportRegion:
    """Find the region in which supports without shares balance the effective centre of mass in a posture.

    Args:
        acting: Forces, supports and gravity on the figure.
        posture: The posture.
        about: (3,) the point O that moments are taken about [m].
        count: Number of corners of the outline.
    """
    ground = Ground(acting.figure, posture, acting)
    region = Region(ground)
    center = Vector(*ground.center.tolist())
    _, moment = net_wrench(
        ground.tree, ground.position, ground.rotation, center, ground.table, acting.gravity, Vector(*about.tolist())
    )
    weight = region.weight
    effective_center = about + np.cross(weight, moment) / float(weight @ weight)
    reactions, reach = ground.react(shared=False)
    outline = _outline(region, OUTLINE_SIZE * reach)
    contacts = reactions.contact_point
    possible = len(outline) > 0
    if possible:
        fewer = _fewer(outline, count)
    else:
        # The region may be a point, or outside the square.
        nearest = region.nearest()
        possible = nearest is not None
        fewer = NOWHERE * UNIT_SQUARE if nearest is None else nearest[None]
    filled = np.concatenate([fewer, np.tile(fewer[-1], (count - len(fewer), 1))])
    corners = effective_center + filled @ region.across
    # The height of a corner does not matter for balance, but a high corner would swing when its foot tilts.
    corners += np.outer((contacts.mean(axis=0) - corners) @ weight, weight) / float(weight @ weight)
    away = np.linalg.norm((corners[:, None] - contacts[None]) @ region.across.T, axis=2)
    node = reactions.footholds.node[np.argmin(away, axis=1)]
    frames = [Pose(ground.position[i], ground.rotation[i]) for i in node]
    place = np.array([frame.inverse().apply(corner) for frame, corner in zip(frames, corners, strict=True)])
    return SupportRegion(corners, node, place, possible)


def _outline(region: Region, far: float) -> FloatArray:
    """(k, 2) corners of the region, relative to the centre of mass; (0, 2) where the region is empty.

    A large square is cut at its corners until every corner is in the region. A centre of mass that counts as inside
    stays inside: at the end of a thin region, exact cuts would leave it outside by much more than its residual.
    """
    corners = far * UNIT_SQUARE
    reactions, cut = region.probe(np.zeros(2))
    is_inside = reactions.rest <= EDGE
    if cut is not None and not is_inside:
        corners = clipped(corners, cut)
    sure: list[FloatArray] = []
    for _ in range(MAX_PROBES):
        unsure = [c for c in corners if not any(np.abs(c - s).max() < MIN_CORNER_SHIFT for s in sure)]
        if not unsure:
            break
        _, cut = region.probe(unsure[0])
        if cut is None or not cut.slope.any():
            sure.append(unsure[0])
            continue
        before = corners
        corners = clipped(corners, cut._replace(bound=max(cut.bound, 0.0)) if is_inside else cut)
        if len(corners) == len(before) and np.abs(corners - before).max() < MIN_CORNER_SHIFT:
            sure.append(unsure[0])
    return corners


def clipped(corners: FloatArray, cut: Cut) -> FloatArray:
    """The part of a convex polygon (k, 2) on the inner side of a cut."""
    heights = (corners @ cut.slope - cut.bound) / float(np.linalg.norm(cut.slope))
    kept: list[FloatArray] = []
    for i in range(len(corners)):
        a, b = heights[i - 1], heights[i]
        if (a > 0.0) != (b > 0.0):
            kept.append(corners[i - 1] + (corners[i] - corners[i - 1]) * (a / (a - b)))
        if b <= 0.0:
            kept.append(corners[i])
    return np.array(kept).reshape(-1, 2)


def _fewer(corners: FloatArray, count: int) -> FloatArray:
    """At most `count` corners, none nearer than MIN_CORNER_DISTANCE: ends of the shortest edges are removed first."""
    while len(corners) > 1:
        edges = np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=1)
        shortest = int(np.argmin(edges))
        if len(corners) <= count and edges[shortest] > MIN_CORNER_DISTANCE:
            break
        corners = np.delete(corners, shortest, axis=0)
    return corners
