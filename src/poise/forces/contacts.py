"""Contact points of a support: the corners of its sole."""

from __future__ import annotations

import math

import numpy as np

from poise.figure.collision.soles import sole_corners
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.forces.loads import Support

STEEPEST_STANDING_GROUND = math.radians(60.0)
"""Slope of the ground up to which a support touches it with the whole sole [rad]."""


def ground_normal(figure: Figure, support: Support) -> FloatArray:
    """(3,) unit normal of the ground under a support, in world axes."""
    return figure.up_vector if support.normal is None else np.array(support.normal)


def contact_points(figure: Figure, support: Support) -> FloatArray:
    """(k, 3) contact points of a support, in the frame of its site [m].

    If the support does not give them, they are the corners of its sole; on steeper ground, walls and ceilings, the
    origin of the site.
    """
    figure.frame_row(support.site)
    if support.contacts is not None:
        return np.array(support.contacts)
    if float(ground_normal(figure, support) @ figure.up_vector) < math.cos(STEEPEST_STANDING_GROUND):
        return np.zeros((1, 3))
    return np.array(sole_corners(figure, support.site))
