"""Where a support touches: the corners of the sole."""

from __future__ import annotations

import itertools

import numpy as np

from poise.figure.figure import Figure
from poise.figure.frames import Frames
from poise.figure.pose import FloatArray, Pose
from poise.figure.shapes import Box
from poise.forces.loads import Support


def ground_normal(figure: Figure, support: Support) -> FloatArray:
    """(3,) unit normal of the ground under a support, in world axes."""
    return figure.up_vector if support.normal is None else np.array(support.normal)


def contact_points(figure: Figure, support: Support, frames: Frames) -> FloatArray:
    """(k, 3) points of a support that touch, in the frame of its site [m].

    Without given contacts they are the corners of the face that looks at the ground in `frames`, of the body's box that
    reaches lowest; of a body without a box, the site itself.
    """
    if support.contacts is not None:
        return np.array(support.contacts)
    figure.frame_row(support.site)
    is_site = support.site in figure.sites.names
    body = figure.bodies[figure.sites[support.site].body if is_site else support.site]
    row = figure.bodies.names.index(body.name)
    world_from_body = Pose(frames.position[row], frames.rotation[row])
    normal = ground_normal(figure, support)
    faces = [_lowest_face(shape, world_from_body, normal) for shape in body.shapes if isinstance(shape, Box)]
    if not faces:
        return np.zeros((1, 3))
    lowest = min(faces, key=lambda corners: float((corners @ normal).mean()))
    site_from_world = frames[support.site].inverse()
    return np.array([site_from_world.apply(corner) for corner in lowest])


def _lowest_face(box: Box, world_from_body: Pose, normal: FloatArray) -> FloatArray:
    """(4, 3) world corners of the face of a box that looks most against `normal`."""
    place = world_from_body @ box.pose
    seen = normal @ place.matrix
    axis = int(np.argmax(np.abs(seen)))
    ranges = [(-0.5, 0.5)] * 3
    ranges[axis] = (-0.5 * np.sign(seen[axis]),)  # type: ignore[assignment]
    return np.array([place.apply(np.array(signs) * box.size) for signs in itertools.product(*ranges)])
