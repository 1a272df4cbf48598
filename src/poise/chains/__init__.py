"""Inverse kinematics of chains: many methods with one signature.

    from poise import chains
    result = chains.fabrik(poise.load("arm"), [0.3, 0.5, 0.4])
    result.posture, result.status, result.error, result.iterations

Each solver takes a figure and a target, and the options of `Options` by name. A target or joint that a solver does not
support raises an error that names it.
"""

from poise.chains.bwcd import bwcd
from poise.chains.ccd import ccd
from poise.chains.circles import circle_zones, circles
from poise.chains.fabrik import fabrik
from poise.chains.fabrik_points import PointsResult, fabrik_points
from poise.chains.jacobian import dls, jacobian_transpose, pseudoinverse, sdls
from poise.chains.options import Options
from poise.chains.result import ChainResult
from poise.chains.two_priority import two_priority_dls

__all__ = [
    "ChainResult",
    "Options",
    "PointsResult",
    "bwcd",
    "ccd",
    "circle_zones",
    "circles",
    "dls",
    "fabrik",
    "fabrik_points",
    "jacobian_transpose",
    "pseudoinverse",
    "sdls",
    "two_priority_dls",
]
