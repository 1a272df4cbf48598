"""Convex hulls of few vertices, for distances of many postures by compiled code alone.

The hull of a mesh of a robot's file has up to thousands of vertices, most of them along rounded edges. A few dozen of
them span nearly the same hull. Vertices are chosen as in quickhull [Barber et al. 1996], but only while they are
farther than a tolerance outside the hull of those chosen before: that of each face whose vertices stick out farthest.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from poise.extras import require
from poise.figure.collision.solids import Core, Solid
from poise.figure.model.pose import FloatArray, Pose

HULL_TOLERANCE = 1.5e-3
"""Greatest distance of a vertex left out from the hull of those that are kept [m]."""
MAX_VERTICES = 96
"""Number of vertices from which on no more are added, whatever the tolerance."""


def with_simple_hull(solid: Solid) -> Solid:
    """A hull with few vertices, about its own centre, as `poise.kernels.distances.convex` needs it."""
    vertices, center, inside = simple_hull(solid.vertices)
    core = Core(solid.core.start - center, solid.core.end - center, solid.core.radius)
    pose = solid.pose @ Pose(center)
    return replace(solid, pose=pose, vertices=vertices - center, size=(inside, inside, inside), core=core)


def simple_hull(vertices: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """Some of the vertices of a hull, its centre (3,), and the radius of a ball about it that is inside [m]."""
    require("scipy", "a mesh that collides", extra="collision")
    from scipy.spatial import ConvexHull

    kept = _extremes(vertices)
    hull = ConvexHull(vertices[kept])
    while len(kept) < min(MAX_VERTICES, len(vertices)):
        beyond = vertices @ hull.equations[:, :3].T + hull.equations[:, 3]
        face = np.argmax(beyond, axis=1)
        outside = beyond[np.arange(len(vertices)), face]
        farthest = [
            members[np.argmax(outside[members])]
            for f in np.unique(face[outside > HULL_TOLERANCE])
            for members in [np.flatnonzero(face == f)]
        ]
        if not farthest:
            break
        kept = np.union1d(kept, farthest)
        hull = ConvexHull(vertices[kept])
    chosen = vertices[kept][hull.vertices]
    center = chosen.mean(axis=0)
    return chosen, center, float(-(hull.equations[:, :3] @ center + hull.equations[:, 3]).max())


def _extremes(vertices: FloatArray) -> FloatArray:
    """Indices of the vertices that are farthest along the axes and the diagonals between them."""
    steps = np.array([(x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1) if (x, y, z) != (0, 0, 0)])
    directions = steps / np.linalg.norm(steps, axis=1, keepdims=True)
    found: FloatArray = np.unique(np.argmax(vertices @ directions.T, axis=0))
    return found
