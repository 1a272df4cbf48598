"""Limits of loop joints, as couplings or as joints of the tree.

A loop joint has no coordinates of its own. The angle of a hinge in a loop of parallel hinges is a sum of their angles,

    θ = θ₀ + Σ ±(q_k - q_k⁰)

so its limits become a coupling between joints of the tree, which the engine and `Figure.assemble` satisfy. Any other
loop joint with limits is moved into the tree: it carries a massless body, its *end*, and a weld between the end and the
joint's second body closes the loop. The joint then has coordinates, limits and a speed like any tree joint.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from poise.figure.assembly.loop_values import body_pose, loop_value
from poise.figure.model.body import Body
from poise.figure.model.joints import Coupling, Joint, Term
from poise.figure.model.posture import Posture
from poise.figure.model.structure import loop_joints
from poise.kernels.body.queries import node_frames

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure

PARALLEL_HINGES = 1e-3
"""Axes of hinges within this angle count as parallel [rad]."""


def with_cut_limits(figure: Figure) -> Figure:
    """`figure` with the limits of its loop joints as couplings, or with those joints moved into the tree."""
    neutral = figure.neutral()
    found = [coupling for loop in figure.loops if (coupling := _limits_of(figure, loop, neutral)) is not None]
    if found:
        names = {coupling.name for coupling in found}
        figure = figure.replaced(couplings=[*(c for c in figure.couplings if c.name not in names), *found])
    for loop in tuple(figure.loops):
        if _has_limits(loop) and loop.name not in figure.couplings:
            figure = _moved_into_tree(figure, loop)
    return figure


def without_ends(figure: Figure) -> Figure:
    """`figure` with the joints that `with_cut_limits` moved into the tree back as loop joints, their limits dropped."""
    for weld, joint in taken_in(figure):
        drawn = replace(joint, child=weld.child)
        if weld.parent is None:
            drawn = replace(joint.turned_around(), parent=None)
        named = {name: figure.named_values(name) for name in figure.posture_names}
        figure = figure.replaced(
            bodies=[body for body in figure.bodies if body.name != joint.child],
            joints=[other for other in figure.joints if other.name != joint.name],
            loops=[drawn if other.name == weld.name else other for other in figure.loops],
            postures={name: {k: v for k, v in values.items() if k != joint.name} for name, values in named.items()},
        )
    return figure


def taken_in(figure: Figure) -> list[tuple[Joint, Joint]]:
    """Every weld that `with_cut_limits` added, with the joint that it moved into the tree."""
    carries = {joint.child: joint for joint in figure.joints}
    found = []
    for weld in figure.loops:
        end = weld.child if weld.parent is None else weld.parent
        body, joint = figure.bodies[end], carries.get(end)
        is_end = body.mass.mass == 0.0 and not body.shapes
        if weld.kind == "fixed" and is_end and joint is not None and weld.name.startswith(f"{joint.name}_weld"):
            found.append((weld, joint))
    return found


def _has_limits(joint: Joint) -> bool:
    """Whether a joint has any limit."""
    return joint.ball_limits is not None or any(map(math.isfinite, (*joint.lower, *joint.upper)))


def _moved_into_tree(figure: Figure, loop: Joint) -> Figure:
    """`figure` with one loop joint moved into the tree and a weld that closes the loop."""
    end = _new_name(f"{loop.name}_end", figure.bodies)
    name = _new_name(f"{loop.name}_weld", [*figure.joints, *figure.loops])
    if loop.parent is None:
        # Only the root may have the world as parent, so the joint is turned around and its end is welded to the world.
        joint = replace(loop, parent=end).turned_around()
        weld = Joint(name, "fixed", None, end, active=False)
    else:
        joint = replace(loop, child=end)
        weld = Joint(name, "fixed", end, loop.child, active=False)
    values = {name: loop_value(figure, loop, figure.posture(name)) for name in figure.posture_names}
    neutral = loop_value(figure, loop, figure.neutral())
    if not np.array_equal(neutral, loop.rest()):
        values["neutral"] = neutral
    postures = {name: figure.named_values(name) if name in figure.posture_names else {} for name in values}
    return figure.replaced(
        bodies=[*figure.bodies, Body(end)],
        joints=[*figure.joints, joint],
        loops=[weld if other.name == loop.name else other for other in figure.loops],
        postures={name: {**postures[name], loop.name: tuple(values[name].tolist())} for name in values},
    )


def _new_name(wanted: str, taken: Iterable[Body | Joint]) -> str:
    """`wanted`, with underscores appended until no part has the name."""
    names = {part.name for part in taken}
    while wanted in names:
        wanted += "_"
    return wanted


def _limits_of(figure: Figure, loop: Joint, posture: Posture) -> Coupling | None:
    """The limits of a loop hinge as a coupling, or None if it has none or its angle is not a sum."""
    if loop.kind != "revolute" or not _has_limits(loop):
        return None
    terms = sum_of_hinges(figure, loop, posture)
    if terms is None:
        return None
    now = sum(term.factor * float(posture.q[figure.q_slice(term.joint).start]) for term in terms)
    shift = now - float(loop_value(figure, loop, posture)[0])
    return Coupling(loop.name, terms, loop.lower[0] + shift, loop.upper[0] + shift)


def sum_of_hinges(figure: Figure, loop: Joint, posture: Posture) -> tuple[Term, ...] | None:
    """The terms of a loop hinge's angle as a sum of tree hinges' angles; None if it is not such a sum."""
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
        if joint.kind != "revolute" or float(np.linalg.norm(np.cross(along, axis))) > PARALLEL_HINGES:
            return None
        terms.append(Term(name, math.copysign(1.0, float(along @ axis)) * (1.0 if outward else -1.0)))
    return tuple(terms) or None
