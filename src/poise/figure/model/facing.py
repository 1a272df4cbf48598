"""Which way the parts of a figure face: the axis with which a site or body looks.

A site or body may state its axis (`facing`). A site that does not has that of its body: the crown of a head looks where
its face does. A body or site of which nothing is known looks along its own +Y, the pointing axis of chains.

The face of a head that was found by its role looks *forward*: to the left × up, where left is the mean way from the
right to the left parts of the body, at the neutral posture.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from poise.figure.model.names import look_up
from poise.figure.model.pose import FloatArray, vector

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure

POINTING = "y"
"""Axis with which a part looks if nothing else is known."""
LEAST_BREADTH = 0.02
"""Least distance between left and right parts of a body that tells its sides apart, as a share of its height."""
UP_AXIS_AGREEMENT = 0.5
"""Least rise from feet or pelvis to the head along the declared up axis, as a share of the largest along any axis."""
NEAR_AN_AXIS = math.cos(math.radians(10.0))
"""Least component along a world axis of the way forward of a body that is drawn along that axis."""
DIGITS = 12
"""Decimals of an axis that was computed."""


def facing_of(figure: Figure, part: str) -> FloatArray | None:
    """(3,) the axis with which a site or body looks, in its own axes; None if it is not known."""
    if part not in figure.sites:
        facing = look_up({body.name: body.facing for body in figure.bodies}, part, "site or body", repr(figure.name))
        return None if facing is None else vector(facing)
    site = figure.sites[part]
    if site.facing is not None:
        return vector(site.facing)
    facing = figure.bodies[site.body].facing
    return None if facing is None else np.round(site.pose.matrix.T @ vector(facing), DIGITS) + 0.0


def head_of(figure: Figure) -> str | None:
    """The body or site that is the head of a figure; None if there is none."""
    head = figure.roles.get("head")
    return None if head is None else head.part


def looks_with_crown(figure: Figure, part: str) -> bool:
    """Whether a part is on a head of which it is not known where it faces."""
    names = (part, figure.sites[part].body) if part in figure.sites else (part,)
    return head_of(figure) in names and facing_of(figure, part) is None


def warn_of_crown(figure: Figure, part: str, who: str, remedy: str) -> None:
    """Warn if a part would look with the crown of a head; `remedy` says what states where it faces."""
    if looks_with_crown(figure, part):
        warnings.warn(
            f"{who}: figure {figure.name!r} does not say where {part!r} faces, so it looks along its own +Y, which may "
            f"be its crown; give {remedy}.",
            stacklevel=3,
        )


def with_facing_head(figure: Figure, roles: Mapping[str, str] | None = None) -> Figure:
    """The figure with a head that faces forward, unless it has none, says where it faces, or has no left and right.

    Args:
        figure: The figure.
        roles: Its bodies and sites by role; those of `Figure.roles` if None.
    """
    known = {role: found.part for role, found in figure.roles.items()} if roles is None else roles
    head = known.get("head")
    if head is None or facing_of(figure, head) is not None:
        return figure
    forward = _forward(figure, known)
    if forward is None:
        return figure
    facing = figure.pose_of(head, figure.neutral()).matrix.T @ forward
    axis = tuple((np.round(facing, DIGITS) + 0.0).tolist())
    if head in figure.bodies:
        return figure.replaced(bodies=[replace(b, facing=axis) if b.name == head else b for b in figure.bodies])
    return figure.replaced(sites=[replace(site, facing=axis) if site.name == head else site for site in figure.sites])


def _forward(figure: Figure, roles: Mapping[str, str]) -> FloatArray | None:
    """(3,) unit vector of the way forward at the neutral posture; None if left and right cannot be told apart."""
    frames = figure.frames(figure.neutral())
    at = {role: frames[part].position for role, part in roles.items()}
    sides = [at[f"left_{part}"] - at[f"right_{part}"] for part in _sided_parts(at)]
    low = [at[role] for role in ("left_ankle", "right_ankle", "left_hip", "right_hip", "pelvis") if role in at]
    if not sides or not low:
        return None
    rise = at["head"] - np.mean(low[:2], axis=0)
    up = _up(figure.up_vector, rise)
    left = np.mean(sides, axis=0)
    left = left - (left @ up) * up
    if float(np.linalg.norm(left)) < LEAST_BREADTH * float(np.linalg.norm(rise)):
        return None
    forward = np.cross(left, up)
    size = float(np.linalg.norm(forward))
    return _straightened(forward / size) if size > 0.0 else None


def _straightened(direction: FloatArray) -> FloatArray:
    """(3,) the world axis nearest to a direction, if it is near; bodies are drawn along the axes, if not exactly."""
    axis = int(np.argmax(np.abs(direction)))
    if abs(float(direction[axis])) < NEAR_AN_AXIS:
        return direction
    straight: FloatArray = np.eye(3)[axis] * np.sign(direction[axis])
    return straight


def _sided_parts(roles: Mapping[str, object]) -> list[str]:
    """Parts that are known on both sides."""
    parts = [role.removeprefix("left_") for role in roles if role.startswith("left_")]
    return [part for part in parts if f"right_{part}" in roles]


def _up(declared: FloatArray, rise: FloatArray) -> FloatArray:
    """(3,) the declared up axis, unless the head is not above the rest along it; then the axis along which it is."""
    if float(rise @ declared) > UP_AXIS_AGREEMENT * float(np.abs(rise).max()):
        return declared
    axis = int(np.argmax(np.abs(rise)))
    up: FloatArray = np.eye(3)[axis] * np.sign(rise[axis])
    return up
