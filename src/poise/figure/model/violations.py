"""Limits that a posture violates, and limits that it has reached."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from poise.kernels.body.couplings import coupling_value
from poise.kernels.body.limits import ball_room, ball_split, swing_excess, twist_excess

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure, Violation
    from poise.figure.model.posture import Posture

VIOLATION_TOLERANCE = 1e-9
"""Violations up to this count as none [rad or m]."""


def find_violations(figure: Figure, posture: Posture) -> list[Violation]:
    """All limits violated by more than `VIOLATION_TOLERANCE`, joints first, then couplings."""
    from poise.figure.model.figure import Violation

    found = (*_joint_excesses(figure, posture), *_ball_excesses(figure, posture), *_coupling_excesses(figure, posture))
    return [Violation(*row) for row in found if row[2] > VIOLATION_TOLERANCE]


def reached_limits(figure: Figure, posture: Posture, within: float = 1e-6) -> list[str]:
    """Names of the joints and couplings at a limit; a joint with several coordinates with the name of the limit.

    Joints with equal limits and equality couplings are left out, since they are always at their limits.
    """
    stuck = {joint.name for joint in figure.joints if joint.lower and joint.lower == joint.upper}
    stuck |= {coupling.name for coupling in figure.couplings if coupling.is_equality}
    single = {joint.name for joint in figure.joints if len(joint.coordinates) == 1} | set(figure.couplings.names)
    rows = (*_joint_excesses(figure, posture), *_ball_rooms(figure, posture), *_coupling_excesses(figure, posture))
    near = [(part, limit) for part, limit, excess in rows if excess >= -within and part not in stuck]
    return [part if part in single else f"{part} ({limit})" for part, limit in near]


def _joint_excesses(figure: Figure, posture: Posture) -> Iterator[tuple[str, str, float]]:
    """Joint, coordinate and violation of every turn and slide; negative inside the limits."""
    for joint in figure.joints:
        if not joint.scalars:
            continue
        values = posture.q[figure.q_slice(joint.name)]
        for name, value, low, high in zip(joint.coordinates, values, joint.lower, joint.upper, strict=True):
            yield joint.name, name, float(max(low - value, value - high))


def _ball_excesses(figure: Figure, posture: Posture) -> Iterator[tuple[str, str, float]]:
    """Joint, 'swing' or 'twist', and violation of every limited ball joint; 0 inside the limits."""
    bounds = figure.compiled.bounds
    starts = {figure.q_slice(joint.name).start: joint.name for joint in figure.joints if joint.kind == "ball"}
    for ball, start in enumerate(bounds.ball_start):
        split = ball_split(bounds, ball, posture._q)
        yield starts[int(start)], "swing", swing_excess(bounds, ball, split.x, split.y)
        yield starts[int(start)], "twist", twist_excess(bounds, ball, split)


def _ball_rooms(figure: Figure, posture: Posture) -> Iterator[tuple[str, str, float]]:
    """Joint, 'swing' or 'twist', and the negative distance to the limit of every limited ball joint."""
    bounds = figure.compiled.bounds
    starts = {figure.q_slice(joint.name).start: joint.name for joint in figure.joints if joint.kind == "ball"}
    for ball, start in enumerate(bounds.ball_start):
        swing, twist = ball_room(bounds, ball, posture._q)
        yield starts[int(start)], "swing", -swing
        yield starts[int(start)], "twist", -twist


def _coupling_excesses(figure: Figure, posture: Posture) -> Iterator[tuple[str, str, float]]:
    """Coupling, 'coupling' and violation of every coupling; negative inside its bounds."""
    for k, coupling in enumerate(figure.couplings):
        value = coupling_value(figure.compiled.bounds, k, posture._q)
        yield coupling.name, "coupling", max(coupling.lower - value, value - coupling.upper)
