"""Description of a figure as text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from poise.figure.model.facing import head_of
from poise.figure.model.joints import Joint, Term
from poise.figure.model.limits import Ellipse, Region
from poise.figure.model.pose import FloatArray

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure


STRAIGHT = 1.0 - 1e-9
"""Least component of a unit vector that is along an axis."""


def describe(figure: Figure) -> str:
    """Text with counts, base, face, the tree with one line per body, loops, couplings, sites and postures."""
    lines = [_title(figure), f"  base: {base_words(figure)}", *(f"  {line}" for line in _head(figure))]
    depth: dict[str | None, int] = {None: 0}
    for body, joint in figure.tree_order:
        depth[body] = depth[joint.parent if joint else None] + 1
        mass = figure.bodies[body].mass.mass
        weight = f", {mass:.3g} kg" if mass else ""
        lines.append(f"{'  ' * depth[body]}{body}{weight}{'  —  ' + _joint(joint) if joint else '  (root)'}")
    for loop in figure.loops:
        lines.append(f"  loop {_joint(loop)} closes {loop.parent or 'the world'} to {loop.child}")
    for coupling in figure.couplings:
        terms = " + ".join(_term(term) for term in coupling.terms)
        lines.append(f"  coupling {coupling.name}: {_range(coupling.lower, coupling.upper, terms)}")
    if len(figure.sites):
        lines.append(f"  sites: {', '.join(figure.sites.names)}")
    if figure.posture_names:
        lines.append(f"  postures: {', '.join(figure.posture_names)}")
    return "\n".join(lines)


def _term(term: Term) -> str:
    """A term of a coupling, such as "2 knee" or "-1 f(knee)" for one with a curve."""
    name = term.joint if term.coordinate is None else f"{term.joint}.{term.coordinate}"
    return f"{term.factor:.4g} {name if term.curve is None else f'f({name})'}"


def base_words(figure: Figure) -> str:
    """What holds the roots of a figure."""
    joints = [(body, joint) for body, joint in figure.tree_order if joint is None or joint.parent is None]
    return "; ".join(_held(body, joint) for body, joint in joints)


def _held(body: str, joint: Joint | None) -> str:
    """What holds one root."""
    if joint is None or joint.kind == "fixed":
        return f"{body} is fixed to the world"
    if joint.kind == "free":
        return (
            f"{body} is floating, held by tasks and criteria: Frame for a foot, CenterOfMass(over=[…]); "
            "a human on its feet also by solve, with stand=True"
        )
    return f"{body} is held by {joint.name} ({joint.kind})"


def facing_words(figure: Figure) -> list[str]:
    """Sentences about where bodies and sites face, of those that say it."""
    frames = figure.frames(figure.neutral())
    lines = []
    for part in (*figure.bodies, *figure.sites):
        if part.facing is not None:
            ahead = frames[part.name].matrix @ np.array(part.facing)
            lines.append(f"{part.name} looks along its own {_axis(part.facing)}: {_axis(ahead)} in the neutral posture")
    return lines


def _head(figure: Figure) -> list[str]:
    """Sentences about where the head and other parts face, if there are any that do or should."""
    head = head_of(figure)
    if head is None or figure.facing_axis(head) is not None:
        return facing_words(figure)
    return [
        *facing_words(figure),
        f"{head} looks along its own +Y, which may be its crown: nothing says where it faces",
    ]


def _axis(direction: Sequence[float] | FloatArray) -> str:
    """An axis as a letter with its sign if there is one, otherwise as three numbers."""
    for i, letter in enumerate("xyz"):
        if abs(direction[i]) > STRAIGHT:
            return f"{'+' if direction[i] > 0.0 else '-'}{letter.upper()}"
    return f"({', '.join(f'{part + 0.0:.2f}' for part in np.round(direction, 2))})"


def _title(figure: Figure) -> str:
    """Name, counts, mass and description."""
    parts = [
        f"{figure.nv} degrees of freedom",
        f"{len(figure.bodies)} bodies",
        f"{figure.mass:.3g} kg",
        f"up {figure.up}",
    ]
    if len(figure.loops):
        parts.insert(1, f"{len(figure.loops)} loops")
    return f"{figure.name}: {', '.join(parts)}" + (f"\n{figure.description}" if figure.description else "")


def _range(low: float, high: float, middle: str) -> str:
    """'low ≤ middle ≤ high' without infinite bounds, or 'middle = low'."""
    if low == high:
        return f"{middle} = {low:.4g}"
    left = f"{low:.4g} ≤ " if math.isfinite(low) else ""
    right = f" ≤ {high:.4g}" if math.isfinite(high) else ""
    return f"{left}{middle}{right}"


def _joint(joint: Joint) -> str:
    """Name, kind and limits of a joint."""
    passive = "" if joint.active else ", passive"
    return f"{joint.name} ({joint.kind}{passive}{_limits(joint)})"


def _limits(joint: Joint) -> str:
    """Limits of a joint, in degrees and metres, with a leading comma."""
    if joint.ball_limits is not None:
        swing = joint.ball_limits.swing
        if isinstance(swing, Ellipse):
            return f", swing {math.degrees(swing.x):.0f}° × {math.degrees(swing.y):.0f}°"
        if isinstance(swing, Region):
            return f", swing region of {len(swing.loops)} loops"
        return ", swing polygon" if swing else ""
    shown = []
    for primitive, low, high in zip(joint.scalars, joint.lower, joint.upper, strict=True):
        if math.isfinite(low) or math.isfinite(high):
            unit, factor = ("°", 180.0 / math.pi) if primitive == "turn" else (" m", 1.0)
            shown.append(f"{low * factor:.4g}{unit} … {high * factor:.4g}{unit}")
    return f", {', '.join(shown)}" if shown else ""
