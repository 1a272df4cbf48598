"""Limits of hinges that close loops.

Such a hinge has no coordinate of its own. In a loop whose hinges are all parallel its angle is a sum of theirs,

    θ = θ₀ + Σ ±(q_k - q_k⁰)

so that limits of it are a coupling of joints of the tree, which the engine and `Figure.assemble` keep like any other.
Other loops have no such sum, and limits of what closes them are not looked at.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from poise.figure.couplings import Coupling, Term
from poise.figure.joints import Joint
from poise.figure.loop_values import body_pose, loop_value
from poise.figure.posture import Posture
from poise.figure.structure import loop_joints
from poise.kernels.queries import node_frames

if TYPE_CHECKING:
    from poise.figure.figure import Figure

PARALLEL = 1e-3
"""Angle up to which two axes count as parallel [rad]."""


def with_cut_limits(figure: Figure) -> Figure:
    """`figure` with a coupling for every hinge that closes a loop of parallel hinges and has limits."""
    neutral = figure.neutral()
    found = [coupling for loop in figure.loops if (coupling := _limits_of(figure, loop, neutral)) is not None]
    if not found:
        return figure
    names = {coupling.name for coupling in found}
    return figure.replaced(couplings=[*(c for c in figure.couplings if c.name not in names), *found])


def _limits_of(figure: Figure, loop: Joint, posture: Posture) -> Coupling | None:
    if loop.kind != "revolute" or not (math.isfinite(loop.lower[0]) or math.isfinite(loop.upper[0])):
        return None
    terms = sum_of_hinges(figure, loop, posture)
    if terms is None:
        return None
    now = sum(term.factor * float(posture.q[figure.q_slice(term.joint).start]) for term in terms)
    shift = now - float(loop_value(figure, loop, posture)[0])
    return Coupling(loop.name, terms, loop.lower[0] + shift, loop.upper[0] + shift)


def sum_of_hinges(figure: Figure, loop: Joint, posture: Posture) -> tuple[Term, ...] | None:
    """How the angle of a hinge that closes a loop changes with those of the tree; None where it is no plain sum."""
    _, _, axes = node_frames(figure.compiled.tree, posture._q)
    closing = body_pose(figure, loop.parent, figure.frames(posture)) @ loop.parent_frame
    axis = closing.matrix @ np.array(loop.axes[0]) * (-1.0 if loop.reversed else 1.0)
    terms, reached = [], loop.parent
    for name in loop_joints(figure, loop):
        joint = figure.joints[name]
        outward = joint.parent == reached
        reached = joint.child if outward else joint.parent
        if joint.nv == 0:
            continue
        along = axes[figure.v_slice(name).start]
        if joint.kind != "revolute" or float(np.linalg.norm(np.cross(along, axis))) > PARALLEL:
            return None
        terms.append(Term(name, math.copysign(1.0, float(along @ axis)) * (1.0 if outward else -1.0)))
    return tuple(terms) or None
